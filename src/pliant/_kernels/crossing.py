"""Do surfaces pass through each other? Edges against triangles, and how deep the crossing is."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.facing import share_vertex
from pliant._kernels.features import at, inner, minus


@njit(cache=True, forceinline=True)
def _across(a, b):
    return a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]


@njit(cache=True, error_model="numpy")
def _edge_through(p, q, a, b, c):
    """How far the segment p-q has to be moved to leave the triangle a, b, c alone; 0 if it does.

    It leaves by one of its ends, or over an edge of the triangle: along the common normal of the two, which is
    a shorter way than within the plane of the triangle where the segment nearly lies in that plane.
    """
    n = _across(minus(b, a), minus(c, a))
    area = np.sqrt(inner(n, n))
    if area == 0.0:
        return 0.0
    n = n[0] / area, n[1] / area, n[2] / area
    hp, hq = inner(n, minus(p, a)), inner(n, minus(q, a))
    if hp * hq >= 0.0:
        return 0.0
    t = hp / (hp - hq)
    x = p[0] + t * (q[0] - p[0]), p[1] + t * (q[1] - p[1]), p[2] + t * (q[2] - p[2])
    depth = min(abs(hp), abs(hq))
    for k in range(3):
        e, f = (a, b) if k == 0 else ((b, c) if k == 1 else (c, a))
        along = minus(f, e)
        if inner(n, _across(along, minus(x, e))) <= 0.0:
            return 0.0
        common = _across(along, minus(q, p))
        size = np.sqrt(inner(common, common))
        if size > 0.0:  # parallel to an edge, it leaves over another one
            depth = min(depth, abs(inner(common, minus(p, e))) / size)
    return depth


@njit(cache=True, error_model="numpy", nogil=True)
def crossing_depths(pairs, x, prims, body, allowed):
    """Depth [m] (n,) to which pairs (n, 2) of triangles of one surface pass through each other; 0 where they do not."""
    out = np.zeros(pairs.shape[0])
    for i in range(pairs.shape[0]):
        r, s = pairs[i, 0], pairs[i, 1]
        if prims[r, 2] < 0 or prims[s, 2] < 0 or not allowed[body[prims[r, 0]], body[prims[s, 0]]]:
            continue
        if share_vertex(prims, r, s):
            continue
        for turn in range(2):
            e, t = (r, s) if turn == 0 else (s, r)
            a, b, c = at(x, prims[t, 0]), at(x, prims[t, 1]), at(x, prims[t, 2])
            for k in range(3):
                p, q = at(x, prims[e, k]), at(x, prims[e, (k + 1) % 3])
                out[i] = max(out[i], _edge_through(p, q, a, b, c))
    return out
