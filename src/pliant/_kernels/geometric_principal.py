"""Stress and tangent of an element in the frames of its principal stretches.

With F = U diag(s) V^T an isotropic energy w(s) has the stress U diag(w_i) V^T, w_i = dw/ds_i. Its tangent splits into
the 3 x 3 matrix H of the second derivatives and, per pair of stretches, a flip of eigenvalue
(w_i - w_j)/(s_i - s_j) and a twist of (w_i + w_j)/(s_i + s_j).

`principal_*` are for w = f(s_0) + f(s_1) + f(s_2) + U(J), f a curve of the material (`geometric_laws.stretch_law`).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.geometric_laws import MEAN, stretch_law, volume_law
from pliant._kernels.polar import SUM_FLOOR, svd_scalars


@njit(cache=True, nogil=True, error_model="numpy")
def principal_stress(F, curve, width, lame, volume, P, push):
    """Write the stress into P; return the energy density, without that of push * det F."""
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    f0, w0, _ = stretch_law(curve, width, s0)
    f1, w1, _ = stretch_law(curve, width, s1)
    f2, w2, _ = stretch_law(curve, width, s2)
    if volume == MEAN:
        t = s0 + s1 + s2 - 3.0
        W, q = 0.5 * lame * t * t, lame * t
        w0, w1, w2 = w0 + q, w1 + q, w2 + q
    else:
        W, q, _ = volume_law(lame, s0 * s1 * s2, volume)
        q += push
        w0, w1, w2 = w0 + q * s1 * s2, w1 + q * s0 * s2, w2 + q * s0 * s1
    a, b, c = u0 * w0, u1 * w1, u2 * w2
    P[0, 0], P[0, 1], P[0, 2] = a * v0 + b * v1 + c * v2, a * v3 + b * v4 + c * v5, a * v6 + b * v7 + c * v8
    a, b, c = u3 * w0, u4 * w1, u5 * w2
    P[1, 0], P[1, 1], P[1, 2] = a * v0 + b * v1 + c * v2, a * v3 + b * v4 + c * v5, a * v6 + b * v7 + c * v8
    a, b, c = u6 * w0, u7 * w1, u8 * w2
    P[2, 0], P[2, 1], P[2, 2] = a * v0 + b * v1 + c * v2, a * v3 + b * v4 + c * v5, a * v6 + b * v7 + c * v8
    return W + f0 + f1 + f2


@njit(cache=True, nogil=True, error_model="numpy")
def add_volume(s, lame, volume, push, w, H):
    """Add first and second derivatives of the volume's energy by the stretches to w (3,) and H (3, 3)."""
    if volume == MEAN:
        q = lame * (s[0] + s[1] + s[2] - 3.0)
        for i in range(3):
            w[i] += q
            for j in range(3):
                H[i, j] += lame
        return
    _, q, dq = volume_law(lame, s[0] * s[1] * s[2], volume)
    q += push
    for i in range(3):
        ci = s[(i + 1) % 3] * s[(i + 2) % 3]
        w[i] += q * ci
        for j in range(3):
            cj = s[(j + 1) % 3] * s[(j + 2) % 3]
            H[i, j] += dq * ci * cj
            if i != j:
                H[i, j] += q * s[3 - i - j]


@njit(cache=True, nogil=True, error_model="numpy")
def framed_tangent(U, V, s, w, H, projected, A):
    """Tangent A (9, 9) from the derivatives by the stretches; negative eigenvalues set to zero if `projected`."""
    if projected:
        values, vectors = np.linalg.eigh(H)
        H[:, :] = 0.0
        for n in range(3):
            if values[n] > 0.0:
                for i in range(3):
                    for j in range(3):
                        H[i, j] += values[n] * vectors[i, n] * vectors[j, n]
    for r in range(9):
        for c in range(9):
            A[r, c] = 0.0
    for m in range(3):
        for n in range(3):
            h = H[m, n]
            for r in range(9):
                x = h * U[r // 3, m] * V[r % 3, m]
                for c in range(9):
                    A[r, c] += x * U[c // 3, n] * V[c % 3, n]
    z = np.empty(9)
    for i in range(3):
        for j in range(i):
            total, gap = s[i] + s[j], s[i] - s[j]
            twist = (w[i] + w[j]) / max(total, SUM_FLOOR)
            flip = (w[i] - w[j]) / gap if abs(gap) > 1e-6 else 0.5 * (H[i, i] + H[j, j]) - H[i, j]
            for sign, value in ((1.0, flip), (-1.0, twist)):
                if value > 0.0 or not projected:
                    for a in range(3):
                        for b in range(3):
                            z[3 * a + b] = U[a, i] * V[b, j] + sign * U[a, j] * V[b, i]
                    for r in range(9):
                        for c in range(9):
                            A[r, c] += 0.5 * value * z[r] * z[c]


@njit(cache=True, nogil=True, error_model="numpy")
def principal_tangent(F, curve, width, lame, volume, projected, P, A, push):
    """Write stress P (3, 3) and tangent A (9, 9), positive semi-definite if `projected`; return the energy density."""
    W = principal_stress(F, curve, width, lame, volume, P, push)
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    U = np.array([[u0, u1, u2], [u3, u4, u5], [u6, u7, u8]])
    V = np.array([[v0, v1, v2], [v3, v4, v5], [v6, v7, v8]])
    s = np.array([s0, s1, s2])
    w, H = np.empty(3), np.zeros((3, 3))
    for i in range(3):
        _, w[i], H[i, i] = stretch_law(curve, width, s[i])
    add_volume(s, lame, volume, push, w, H)
    framed_tangent(U, V, s, w, H, projected, A)
    return W
