"""The lowest point of a triangle or segment over a cylinder or capsule, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

ROUND, FLAT = 0, 1


@njit(cache=True)
def _distance(p, a, axis, length, radius, ends):
    """Signed distance of a point from a capsule (ends ROUND) or a cylinder with flat ends."""
    t = 0.0
    for i in range(3):
        t += (p[i] - a[i]) * axis[i]
    if ends == ROUND:
        t = min(max(t, 0.0), length)
    r = 0.0
    for i in range(3):
        r += (p[i] - a[i] - t * axis[i]) ** 2
    r = np.sqrt(r) - radius
    if ends == ROUND:
        return r
    beyond = max(-t, t - length)
    if r <= 0.0 and beyond <= 0.0:
        return max(r, beyond)
    return np.sqrt(max(r, 0.0) ** 2 + max(beyond, 0.0) ** 2)


@njit(cache=True)
def lowest_points(corners, thickness, shift, levels, shrink, a, axis, length, radius, ends):
    """Barycentric coordinates (m, k) of the lowest point of each simplex, by nested grids.

    corners (m, k, 3), thickness (m, k); shift (g, k): grid relative to its centre; each level shrinks the grid.
    """
    m, size = corners.shape[0], corners.shape[1]
    out = np.empty((m, size))
    trial, best, centre = np.empty(size), np.empty(size), np.empty(size)
    p = np.empty(3)
    for s in range(m):
        centre[:] = 1.0 / size
        scale = 1.0
        for _ in range(levels):
            least = np.inf
            for g in range(shift.shape[0]):
                total = 0.0
                for k in range(size):
                    trial[k] = max(centre[k] + scale * shift[g, k], 0.0)
                    total += trial[k]
                value = 0.0
                p[:] = 0.0
                for k in range(size):
                    trial[k] /= total
                    value -= trial[k] * thickness[s, k]
                    for i in range(3):
                        p[i] += trial[k] * corners[s, k, i]
                value += _distance(p, a, axis, length, radius, ends)
                if value < least:
                    least = value
                    best[:] = trial
            centre[:] = best
            scale *= shrink
        out[s] = centre
    return out
