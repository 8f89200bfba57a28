"""How deep points lie inside of closed surfaces of triangles, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.closest import on_triangle
from pliant._kernels.features import at, inner, minus


@njit(cache=True, forceinline=True)
def _side(a, b, x, y):
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0])


@njit(cache=True, error_model="numpy", nogil=True)
def _odd_above(p, x, triangles):
    """Is the number of triangles above a point odd? So it is inside, unless the way up meets an edge: a first look."""
    odd = False
    for t in range(triangles.shape[0]):
        a, b, c = at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2])
        if max(a[2], b[2], c[2]) < p[2]:
            continue
        s0, s1, s2 = _side(a, b, p[0], p[1]), _side(b, c, p[0], p[1]), _side(c, a, p[0], p[1])
        if not ((s0 > 0.0 and s1 > 0.0 and s2 > 0.0) or (s0 < 0.0 and s1 < 0.0 and s2 < 0.0)):
            continue
        if (s1 * a[2] + s2 * b[2] + s0 * c[2]) / (s0 + s1 + s2) > p[2]:
            odd = not odd
    return odd


@njit(cache=True, error_model="numpy", nogil=True)
def depths_inside(points, x, triangles, counts):
    """Depth [m] (p,) of points (p, 3) below the closed surfaces of triangles (nt, 3) over vertices x (n, 3); 0 outside.

    Inside is where triangles turn all around a point: half of the sum of their solid angles is 2 pi there, 0 outside.
    Points whose nearest triangle does not count (counts (nt,) bool) have no depth.
    """
    out = np.zeros(points.shape[0])
    for i in range(points.shape[0]):
        p = at(points, i)
        if not _odd_above(p, x, triangles):
            continue
        half, nearest, which = 0.0, np.inf, -1
        for t in range(triangles.shape[0]):
            xa, xb, xc = at(x, triangles[t, 0]), at(x, triangles[t, 1]), at(x, triangles[t, 2])
            a, b, c = minus(xa, p), minus(xb, p), minus(xc, p)
            la, lb, lc = np.sqrt(inner(a, a)), np.sqrt(inner(b, b)), np.sqrt(inner(c, c))
            volume = (
                a[0] * (b[1] * c[2] - b[2] * c[1])
                + a[1] * (b[2] * c[0] - b[0] * c[2])
                + a[2] * (b[0] * c[1] - b[1] * c[0])
            )
            half += np.arctan2(volume, la * lb * lc + inner(a, b) * lc + inner(b, c) * la + inner(c, a) * lb)
            u0, u1, u2 = on_triangle(p, xa, xb, xc)
            d = (
                u0 * a[0] + u1 * b[0] + u2 * c[0],
                u0 * a[1] + u1 * b[1] + u2 * c[1],
                u0 * a[2] + u1 * b[2] + u2 * c[2],
            )
            distance = np.sqrt(inner(d, d))
            if distance < nearest:
                nearest, which = distance, t
        if half > np.pi and which >= 0 and counts[which]:
            out[i] = nearest
    return out
