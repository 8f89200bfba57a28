"""Signed distance and gradient of capsules and of cylinders with flat ends, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

ROUND, FLAT = 0, 1


@njit(cache=True)
def signed_round(points, a, axis, length, radius, ends, aside, distance, gradient):
    """distance (n,) and gradient (n, 3) at points (n, 3).

    a: start of the axis; ends: ROUND (capsule) or FLAT (cylinder); aside: the gradient on the axis itself, a unit
    vector across it.
    """
    radial = np.empty(3)
    for p in range(points.shape[0]):
        t = 0.0
        for i in range(3):
            t += (points[p, i] - a[i]) * axis[i]
        foot = min(max(t, 0.0), length) if ends == ROUND else t
        square = 0.0
        for i in range(3):
            radial[i] = points[p, i] - a[i] - foot * axis[i]
            square += radial[i] * radial[i]
        rho = np.sqrt(square)
        for i in range(3):
            radial[i] = radial[i] / rho if rho > 1e-150 else aside[i]
        side = rho - radius
        if ends == ROUND:
            distance[p] = side
            for i in range(3):
                gradient[p, i] = radial[i]
            continue
        cap = abs(t - 0.5 * length) - 0.5 * length
        sign = -1.0 if t < 0.5 * length else 1.0
        s, c = max(side, 0.0), max(cap, 0.0)
        size = np.sqrt(s * s + c * c)
        if size > 0.0:
            distance[p] = size
            s, c = s / size, c / size
        else:
            distance[p] = max(side, cap)
            s, c = (1.0, 0.0) if side >= cap else (0.0, 1.0)
        for i in range(3):
            gradient[p, i] = s * radial[i] + c * sign * axis[i]
