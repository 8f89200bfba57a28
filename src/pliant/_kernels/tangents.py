"""Tangents of unit normals, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def tangents_of(normals):
    """Two unit tangents t, s per unit normal (m, 3) -> (m, 2, 3), t x s = n; smooth but where n_z changes its sign."""
    out = np.empty((normals.shape[0], 2, 3))
    for i in range(normals.shape[0]):
        x, y, z = normals[i]
        sign = -1.0 if z < 0.0 else 1.0
        a = -1.0 / (sign + z)
        b = x * y * a
        out[i, 0, 0], out[i, 0, 1], out[i, 0, 2] = 1.0 + sign * x * x * a, sign * b, -sign * x
        out[i, 1, 0], out[i, 1, 1], out[i, 1, 2] = b, sign + y * y * a, -y
    return out
