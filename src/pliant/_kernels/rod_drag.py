"""Compiled drag of a fluid at rest on rods: quadratic, with its own coefficients along and across the rod."""

from __future__ import annotations

import math

from numba import njit

from pliant._kernels.lie import FAST


@njit(cache=True, fastmath=FAST, error_model="numpy")
def drag_wrenches(R, p, V, along, across, F):
    """F (nst, 6) <- resisting wrenches of the nodes, to be added to the bias; V (nst, 6) spatial twists.

    along, across (nst,): 1/2 rho c A of the piece of rod at each node [kg/m].
    """
    for m in range(p.shape[0]):
        p0, p1, p2 = p[m, 0], p[m, 1], p[m, 2]
        w0, w1, w2 = V[m, 0], V[m, 1], V[m, 2]
        v0 = V[m, 3] + w1 * p2 - w2 * p1
        v1 = V[m, 4] + w2 * p0 - w0 * p2
        v2 = V[m, 5] + w0 * p1 - w1 * p0
        t0, t1, t2 = R[m, 0, 0], R[m, 1, 0], R[m, 2, 0]
        s = t0 * v0 + t1 * v1 + t2 * v2
        n0, n1, n2 = v0 - s * t0, v1 - s * t1, v2 - s * t2
        a = along[m] * abs(s) * s
        b = across[m] * math.sqrt(n0 * n0 + n1 * n1 + n2 * n2)
        f0, f1, f2 = a * t0 + b * n0, a * t1 + b * n1, a * t2 + b * n2
        F[m, 0] = p1 * f2 - p2 * f1
        F[m, 1] = p2 * f0 - p0 * f2
        F[m, 2] = p0 * f1 - p1 * f0
        F[m, 3] = f0
        F[m, 4] = f1
        F[m, 5] = f2
