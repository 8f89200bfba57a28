"""Stress and tangent of an element in the frames of its principal stretches.

With F = U diag(s) V^T an isotropic energy w(s) has the stress U diag(w_i) V^T, w_i = dw/ds_i. Its tangent splits into
the 3 x 3 matrix H of the second derivatives and, per pair of stretches, a flip of eigenvalue
(w_i - w_j)/(s_i - s_j) and a twist of (w_i + w_j)/(s_i + s_j). In these frames it is sparse, and the stiffness of a
pair of nodes costs a few products (`framed_block`).

`principal_*` are for w = f(s_0) + f(s_1) + f(s_2) + U(J), f a curve of the material (`geometric_laws.stretch_law`).
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.geometric_laws import MEAN, stretch_law, volume_law
from pliant._kernels.materials_invariants import cofactor
from pliant._kernels.polar import SUM_FLOOR, _rotation, svd_scalars


@njit(cache=True, nogil=True, error_model="numpy")
def principal_stress(F, curve, width, lame, volume, P, push):
    """Write the stress into P; return the energy density, without that of push * det F.

    Without frames, twice as fast: f'(S) is the polynomial in S through the values at its eigenvalues. Its Newton form
    is stable where they coincide, errors of the divided differences are multiplied by the gaps again.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8, t, fast = _rotation(F)
    if not fast:
        return _inverted_stress(F, curve, width, lame, volume, P, push)
    m = t / 3.0
    # E = S - m, its eigenvalues e by the trigonometric formula
    a = r0 * F[0, 0] + r3 * F[1, 0] + r6 * F[2, 0] - m
    d = r1 * F[0, 1] + r4 * F[1, 1] + r7 * F[2, 1] - m
    f = -a - d
    b = 0.5 * (r0 * F[0, 1] + r3 * F[1, 1] + r6 * F[2, 1] + r1 * F[0, 0] + r4 * F[1, 0] + r7 * F[2, 0])
    c = 0.5 * (r0 * F[0, 2] + r3 * F[1, 2] + r6 * F[2, 2] + r2 * F[0, 0] + r5 * F[1, 0] + r8 * F[2, 0])
    e = 0.5 * (r1 * F[0, 2] + r4 * F[1, 2] + r7 * F[2, 2] + r2 * F[0, 1] + r5 * F[1, 1] + r8 * F[2, 1])
    p = math.sqrt((a * a + d * d + f * f + 2.0 * (b * b + c * c + e * e)) / 6.0)
    e0, e2 = 0.0, 0.0
    if p > 1e-15:
        x = (a * (d * f - e * e) - b * (b * f - c * e) + c * (b * e - c * d)) / (2.0 * p * p * p)
        x = math.acos(min(max(x, -1.0), 1.0)) / 3.0
        e0, e2 = 2.0 * p * math.cos(x), 2.0 * p * math.cos(x + 2.0943951023931953)
    e1 = -e0 - e2
    f0, w0, h0 = stretch_law(curve, width, m + e0)
    f1, w1, h1 = stretch_law(curve, width, m + e1)
    f2, w2, h2 = stretch_law(curve, width, m + e2)
    d01 = (w1 - w0) / (e1 - e0) if e0 - e1 > 1e-7 else 0.5 * (h0 + h1)
    d12 = (w2 - w1) / (e2 - e1) if e1 - e2 > 1e-7 else 0.5 * (h1 + h2)
    d012 = (d12 - d01) / (e2 - e0) if e0 - e2 > 1e-6 else 0.0
    # f'(S) = w0 + d01 (E - e0) + d012 (E - e0) (E - e1)
    k0, k1 = w0 - d01 * e0 + d012 * e0 * e1, d01 - d012 * (e0 + e1)
    h00 = k0 + k1 * a + d012 * (a * a + b * b + c * c)
    h11 = k0 + k1 * d + d012 * (b * b + d * d + e * e)
    h22 = k0 + k1 * f + d012 * (c * c + e * e + f * f)
    h01 = k1 * b + d012 * (a * b + b * d + c * e)
    h02 = k1 * c + d012 * (a * c + b * e + c * f)
    h12 = k1 * e + d012 * (b * c + d * e + e * f)
    if volume == MEAN:
        W, q = 0.5 * lame * (t - 3.0) ** 2, lame * (t - 3.0) + push
        h00, h11, h22 = h00 + q, h11 + q, h22 + q
        q = 0.0
        C0 = C1 = C2 = C3 = C4 = C5 = C6 = C7 = C8 = 0.0
    else:
        C0, C1, C2, C3, C4, C5, C6, C7, C8 = cofactor(F)
        W, q, _ = volume_law(lame, F[0, 0] * C0 + F[0, 1] * C1 + F[0, 2] * C2, volume)
        q += push
    P[0, 0] = r0 * h00 + r1 * h01 + r2 * h02 + q * C0
    P[0, 1] = r0 * h01 + r1 * h11 + r2 * h12 + q * C1
    P[0, 2] = r0 * h02 + r1 * h12 + r2 * h22 + q * C2
    P[1, 0] = r3 * h00 + r4 * h01 + r5 * h02 + q * C3
    P[1, 1] = r3 * h01 + r4 * h11 + r5 * h12 + q * C4
    P[1, 2] = r3 * h02 + r4 * h12 + r5 * h22 + q * C5
    P[2, 0] = r6 * h00 + r7 * h01 + r8 * h02 + q * C6
    P[2, 1] = r6 * h01 + r7 * h11 + r8 * h12 + q * C7
    P[2, 2] = r6 * h02 + r7 * h12 + r8 * h22 + q * C8
    return W + f0 + f1 + f2


@njit(cache=True, nogil=True, error_model="numpy")
def _inverted_stress(F, curve, width, lame, volume, P, push):
    """`principal_stress` by the singular value decomposition, for every F."""
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    f0, w0, _ = stretch_law(curve, width, s0)
    f1, w1, _ = stretch_law(curve, width, s1)
    f2, w2, _ = stretch_law(curve, width, s2)
    if volume == MEAN:
        t = s0 + s1 + s2 - 3.0
        W, q = 0.5 * lame * t * t, lame * t + push
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
    """Add first and second derivatives of the volume's energy by the stretches to w (3,) and H (3, 3); return it."""
    if volume == MEAN:
        t = s[0] + s[1] + s[2] - 3.0
        for i in range(3):
            w[i] += lame * t + push
            for j in range(3):
                H[i, j] += lame
        return 0.5 * lame * t * t
    W, q, dq = volume_law(lame, s[0] * s[1] * s[2], volume)
    q += push
    for i in range(3):
        ci = s[(i + 1) % 3] * s[(i + 2) % 3]
        w[i] += q * ci
        for j in range(3):
            cj = s[(j + 1) % 3] * s[(j + 2) % 3]
            H[i, j] += dq * ci * cj
            if i != j:
                H[i, j] += q * s[3 - i - j]
    return W


@njit(cache=True, nogil=True, error_model="numpy")
def finish_frame(s, w, H, projected, T):
    """Moduli in the frames from the derivatives w (3,), H (3, 3) by the stretches s (3,).

    T[0] receives H, T[1] and T[2] those of the other entries: dP_ij = T[1, i, j] D_ij + T[2, i, j] D_ji for
    D = U^T dF V. Negative eigenvalues are set to zero if `projected`.
    """
    for i in range(3):
        for j in range(i):
            total, gap = s[i] + s[j], s[i] - s[j]
            twist = (w[i] + w[j]) / max(total, SUM_FLOOR)
            flip = (w[i] - w[j]) / gap if abs(gap) > 1e-6 else 0.5 * (H[i, i] + H[j, j]) - H[i, j]
            if projected:
                twist, flip = max(twist, 0.0), max(flip, 0.0)
            T[1, i, j] = T[1, j, i] = 0.5 * (flip + twist)
            T[2, i, j] = T[2, j, i] = 0.5 * (flip - twist)
    T[0] = H
    if projected:
        values, vectors = np.linalg.eigh(H)
        if values[0] < 0.0:
            T[0] = 0.0
            for n in range(3):
                if values[n] > 0.0:
                    for i in range(3):
                        for j in range(3):
                            T[0, i, j] += values[n] * vectors[i, n] * vectors[j, n]


@njit(cache=True, nogil=True, error_model="numpy")
def framed_block(T, U, g, h, out):
    """out (3, 3) += second derivative by two nodes with shape gradients g, h (3,) in the frame V: U (T : g h) U^T."""
    k00 = T[0, 0, 0] * g[0] * h[0] + T[1, 0, 1] * g[1] * h[1] + T[1, 0, 2] * g[2] * h[2]
    k11 = T[0, 1, 1] * g[1] * h[1] + T[1, 0, 1] * g[0] * h[0] + T[1, 1, 2] * g[2] * h[2]
    k22 = T[0, 2, 2] * g[2] * h[2] + T[1, 0, 2] * g[0] * h[0] + T[1, 1, 2] * g[1] * h[1]
    k01 = T[0, 0, 1] * g[0] * h[1] + T[2, 0, 1] * g[1] * h[0]
    k10 = T[0, 0, 1] * g[1] * h[0] + T[2, 0, 1] * g[0] * h[1]
    k02 = T[0, 0, 2] * g[0] * h[2] + T[2, 0, 2] * g[2] * h[0]
    k20 = T[0, 0, 2] * g[2] * h[0] + T[2, 0, 2] * g[0] * h[2]
    k12 = T[0, 1, 2] * g[1] * h[2] + T[2, 1, 2] * g[2] * h[1]
    k21 = T[0, 1, 2] * g[2] * h[1] + T[2, 1, 2] * g[1] * h[2]
    for i in range(3):
        u, v, w = U[i, 0], U[i, 1], U[i, 2]
        a, b, c = u * k00 + v * k10 + w * k20, u * k01 + v * k11 + w * k21, u * k02 + v * k12 + w * k22
        for j in range(3):
            out[i, j] += a * U[j, 0] + b * U[j, 1] + c * U[j, 2]


@njit(cache=True, nogil=True, error_model="numpy")
def principal_frame(F, curve, width, lame, volume, projected, push, P, U, V, T, w, H):
    """Write stress P, frames U, V (3, 3) and moduli T (3, 3, 3) of `finish_frame`; return the energy density.

    w (3,) and H (3, 3) are work space.
    """
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    U[0, 0], U[0, 1], U[0, 2], U[1, 0], U[1, 1], U[1, 2], U[2, 0], U[2, 1], U[2, 2] = u0, u1, u2, u3, u4, u5, u6, u7, u8
    V[0, 0], V[0, 1], V[0, 2], V[1, 0], V[1, 1], V[1, 2], V[2, 0], V[2, 1], V[2, 2] = v0, v1, v2, v3, v4, v5, v6, v7, v8
    s = (s0, s1, s2)
    W = 0.0
    H[:, :] = 0.0
    for i in range(3):
        f, w[i], H[i, i] = stretch_law(curve, width, s[i])
        W += f
    W += add_volume(s, lame, volume, push, w, H)
    finish_frame(s, w, H, projected, T)
    for i in range(3):
        a, b, c = U[i, 0] * w[0], U[i, 1] * w[1], U[i, 2] * w[2]
        for j in range(3):
            P[i, j] = a * V[j, 0] + b * V[j, 1] + c * V[j, 2]
    return W
