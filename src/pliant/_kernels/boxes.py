"""A tree of axis-aligned boxes over triangles or tets, with closest-point and containment queries."""

from __future__ import annotations

import numpy as np
from numba import njit

LEAF = 4


@njit(cache=True)
def build(low, high):
    """Median-split tree over boxes low, high (m, 3).

    Returns:
        (order (m,), box (2 m, 6), child (2 m, 2), span (2 m, 2)); node 0 is the root, child[i, 0] < 0
        marks a leaf that holds order[span[i, 0] : span[i, 1]].
    """
    m = low.shape[0]
    order = np.arange(m)
    size = max(2 * m, 1)
    box = np.zeros((size, 6))
    child = np.full((size, 2), -1)
    span = np.zeros((size, 2), dtype=np.int64)
    centre = 0.5 * (low + high)
    span[0, 1] = m
    used = 1
    todo = 0
    while todo < used:
        s, e = span[todo, 0], span[todo, 1]
        for k in range(3):
            box[todo, k], box[todo, 3 + k] = np.inf, -np.inf
        for i in range(s, e):
            for k in range(3):
                box[todo, k] = min(box[todo, k], low[order[i], k])
                box[todo, 3 + k] = max(box[todo, 3 + k], high[order[i], k])
        if e - s > LEAF:
            axis, widest = 0, -1.0
            for k in range(3):
                lo, hi = np.inf, -np.inf
                for i in range(s, e):
                    lo = min(lo, centre[order[i], k])
                    hi = max(hi, centre[order[i], k])
                if hi - lo > widest:
                    axis, widest = k, hi - lo
            part = order[s:e].copy()
            rank = np.argsort(centre[part, axis], kind="mergesort")
            order[s:e] = part[rank]
            mid = (s + e) // 2
            child[todo, 0], child[todo, 1] = used, used + 1
            span[used, 0], span[used, 1] = s, mid
            span[used + 1, 0], span[used + 1, 1] = mid, e
            used += 2
        todo += 1
    return order, box[:used].copy(), child[:used].copy(), span[:used].copy()


@njit(cache=True)
def _box_distance2(box, i, x, y, z):
    dx = max(max(box[i, 0] - x, x - box[i, 3]), 0.0)
    dy = max(max(box[i, 1] - y, y - box[i, 4]), 0.0)
    dz = max(max(box[i, 2] - z, z - box[i, 5]), 0.0)
    return dx * dx + dy * dy + dz * dz


@njit(cache=True)
def _closest_on_triangle(p, a, b, c, weights):
    """Barycentric weights of the point of triangle abc closest to p (Voronoi regions of its features)."""
    ab, ac, ap = b - a, c - a, p - a
    d1, d2 = ab @ ap, ac @ ap
    if d1 <= 0.0 and d2 <= 0.0:
        weights[0], weights[1], weights[2] = 1.0, 0.0, 0.0
        return
    bp = p - b
    d3, d4 = ab @ bp, ac @ bp
    if d3 >= 0.0 and d4 <= d3:
        weights[0], weights[1], weights[2] = 0.0, 1.0, 0.0
        return
    vc = d1 * d4 - d3 * d2
    if vc <= 0.0 and d1 >= 0.0 and d3 <= 0.0:
        t = d1 / (d1 - d3) if d1 != d3 else 0.0
        weights[0], weights[1], weights[2] = 1.0 - t, t, 0.0
        return
    cp = p - c
    d5, d6 = ab @ cp, ac @ cp
    if d6 >= 0.0 and d5 <= d6:
        weights[0], weights[1], weights[2] = 0.0, 0.0, 1.0
        return
    vb = d5 * d2 - d1 * d6
    if vb <= 0.0 and d2 >= 0.0 and d6 <= 0.0:
        t = d2 / (d2 - d6) if d2 != d6 else 0.0
        weights[0], weights[1], weights[2] = 1.0 - t, 0.0, t
        return
    va = d3 * d6 - d5 * d4
    if va <= 0.0 and d4 - d3 >= 0.0 and d5 - d6 >= 0.0:
        total = (d4 - d3) + (d5 - d6)
        t = (d4 - d3) / total if total != 0.0 else 0.0
        weights[0], weights[1], weights[2] = 0.0, 1.0 - t, t
        return
    total = va + vb + vc
    weights[1], weights[2] = vb / total, vc / total
    weights[0] = 1.0 - weights[1] - weights[2]


@njit(cache=True)
def closest_triangles(order, box, child, span, vertices, triangles, points):
    """The closest triangle (p,), its weights (p, 3) and the distance (p,) for every point."""
    count = points.shape[0]
    index = np.full(count, -1)
    weights = np.zeros((count, 3))
    distance = np.full(count, np.inf)
    stack = np.empty(128, dtype=np.int64)
    trial = np.empty(3)
    for n in range(count):
        p = points[n]
        x, y, z = p[0], p[1], p[2]
        best = np.inf
        top = 1
        stack[0] = 0
        while top > 0:
            top -= 1
            i = stack[top]
            if _box_distance2(box, i, x, y, z) >= best:
                continue
            if child[i, 0] < 0:
                for s in range(span[i, 0], span[i, 1]):
                    t = order[s]
                    a, b, c = vertices[triangles[t, 0]], vertices[triangles[t, 1]], vertices[triangles[t, 2]]
                    _closest_on_triangle(p, a, b, c, trial)
                    d2 = 0.0
                    for k in range(3):
                        r = trial[0] * a[k] + trial[1] * b[k] + trial[2] * c[k] - p[k]
                        d2 += r * r
                    if d2 < best:
                        best = d2
                        index[n] = t
                        weights[n] = trial
            else:
                far, near = child[i, 0], child[i, 1]
                if _box_distance2(box, far, x, y, z) < _box_distance2(box, near, x, y, z):
                    far, near = near, far  # the nearer child is popped first
                stack[top], stack[top + 1] = far, near
                top += 2
        distance[n] = np.sqrt(best)
    return index, weights, distance


@njit(cache=True)
def containing_tets(order, box, child, span, nodes, tets, points, slack):
    """A tet that contains each point (p,), -1 if none, and barycentric weights (p, 4).

    Of all tets that hold the point within `slack` (barycentric), the one it is deepest in wins.
    """
    count = points.shape[0]
    index = np.full(count, -1)
    weights = np.zeros((count, 4))
    stack = np.empty(128, dtype=np.int64)
    for n in range(count):
        x, y, z = points[n, 0], points[n, 1], points[n, 2]
        best = -slack
        top = 1
        stack[0] = 0
        while top > 0:
            top -= 1
            i = stack[top]
            if _box_distance2(box, i, x, y, z) > 0.0:
                continue
            if child[i, 0] >= 0:
                stack[top], stack[top + 1] = child[i, 0], child[i, 1]
                top += 2
                continue
            for s in range(span[i, 0], span[i, 1]):
                t = order[s]
                a = nodes[tets[t, 0]]
                e1, e2, e3 = nodes[tets[t, 1]] - a, nodes[tets[t, 2]] - a, nodes[tets[t, 3]] - a
                r = points[n] - a
                c23 = np.array(
                    [
                        e2[1] * e3[2] - e2[2] * e3[1],
                        e2[2] * e3[0] - e2[0] * e3[2],
                        e2[0] * e3[1] - e2[1] * e3[0],
                    ]
                )
                det = e1 @ c23
                if det == 0.0:
                    continue
                w1 = (r @ c23) / det
                c31 = np.array(
                    [
                        e3[1] * e1[2] - e3[2] * e1[1],
                        e3[2] * e1[0] - e3[0] * e1[2],
                        e3[0] * e1[1] - e3[1] * e1[0],
                    ]
                )
                w2 = (r @ c31) / det
                c12 = np.array(
                    [
                        e1[1] * e2[2] - e1[2] * e2[1],
                        e1[2] * e2[0] - e1[0] * e2[2],
                        e1[0] * e2[1] - e1[1] * e2[0],
                    ]
                )
                w3 = (r @ c12) / det
                w0 = 1.0 - w1 - w2 - w3
                least = min(min(w0, w1), min(w2, w3))
                if least >= best:
                    best = least
                    index[n] = t
                    weights[n, 0], weights[n, 1], weights[n, 2], weights[n, 3] = w0, w1, w2, w3
                    if least > 0.0:
                        top = 0
                        break
    return index, weights
