"""Which tet of a mesh holds a point, with a box tree (`pliant._kernels.bvh`)."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.bvh import box_distance2
from pliant._kernels.features import at, inner, minus


@njit(cache=True, forceinline=True)
def _cross(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True, error_model="numpy")
def containing_tets(points, nodes, tets, children, ranges, order, node_low, node_high, slack):
    """A tet that contains each point (p,), -1 if none, and barycentric weights (p, 4).

    Of all tets that hold the point within `slack` (barycentric), the one it is deepest in wins.
    """
    count = points.shape[0]
    index = np.full(count, -1)
    weights = np.zeros((count, 4))
    stack = np.empty(256, dtype=np.int64)
    for n in range(count):
        p = at(points, n)
        best = -slack
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if box_distance2(node_low, node_high, node, p) > 0.0:
                continue
            if children[node, 0] >= 0:
                stack[top], stack[top + 1] = children[node, 0], children[node, 1]
                top += 2
                continue
            first = ranges[node, 0]
            for s in range(first, first + ranges[node, 1]):
                t = order[s]
                a = at(nodes, tets[t, 0])
                e1, e2 = minus(at(nodes, tets[t, 1]), a), minus(at(nodes, tets[t, 2]), a)
                e3, r = minus(at(nodes, tets[t, 3]), a), minus(p, a)
                det = inner(e1, _cross(e2, e3))
                if det == 0.0:
                    continue
                w1, w2 = inner(r, _cross(e2, e3)) / det, inner(r, _cross(e3, e1)) / det
                w3 = inner(r, _cross(e1, e2)) / det
                w0 = 1.0 - w1 - w2 - w3
                least = min(w0, w1, w2, w3)
                if least >= best:
                    best = least
                    index[n] = t
                    weights[n, 0], weights[n, 1], weights[n, 2], weights[n, 3] = w0, w1, w2, w3
                    if least > 0.0:
                        top = 0
                        break
    return index, weights
