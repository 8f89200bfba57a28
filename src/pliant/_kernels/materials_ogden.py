"""Ogden's law in principal isochoric stretches: energy, stress and exact tangent.

W = sum_k mu_k / alpha_k (sum_a b_a^alpha_k - 3), b_a = J^(-1/3) lambda_a. p: bulk, number of terms, mu_1..4,
alpha_1..4. Differences of stress between two stretches are formed with expm1 and log1p, so that equal
and nearly equal stretches need no special case.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.materials_invariants import determinant
from pliant._kernels.polar import svd_scalars

MU, ALPHA = 2, 6


@njit(cache=True, error_model="numpy")
def _energy(p, l0, l1, l2):
    """Energy from the logarithms of the isochoric stretches."""
    W = 0.0
    for k in range(int(p[1])):
        a = p[ALPHA + k]
        W += p[MU + k] / a * (math.expm1(a * l0) + math.expm1(a * l1) + math.expm1(a * l2))
    return W


@njit(cache=True, error_model="numpy")
def ogden_energy(p, F):
    """Energy density; inf when det F <= 0."""
    if not determinant(F) > 0.0:
        return np.inf
    _, _, _, _, _, _, _, _, _, s0, s1, s2, _, _, _, _, _, _, _, _, _ = svd_scalars(F)
    l0, l1, l2 = math.log(s0), math.log(s1), math.log(s2)
    m = (l0 + l1 + l2) / 3.0
    return _energy(p, l0 - m, l1 - m, l2 - m)


@njit(cache=True, error_model="numpy")
def _kirchhoff(p, l0, l1, l2):
    """Principal Kirchhoff stresses (three) and the symmetric matrix of their derivatives by log stretch."""
    t0 = t1 = t2 = 0.0
    d00 = d01 = d02 = d11 = d12 = d22 = 0.0
    for k in range(int(p[1])):
        mu, a = p[MU + k], p[ALPHA + k]
        # expm1 keeps small strains accurate: the constant cancels in every difference below.
        x, y, z = math.expm1(a * l0), math.expm1(a * l1), math.expm1(a * l2)
        m = (x + y + z) / 3.0
        t0 += mu * (x - m)
        t1 += mu * (y - m)
        t2 += mu * (z - m)
        w = mu * a / 3.0
        d00 += w * (x + m + 2.0)
        d11 += w * (y + m + 2.0)
        d22 += w * (z + m + 2.0)
        d01 += w * (m - x - y - 1.0)
        d02 += w * (m - x - z - 1.0)
        d12 += w * (m - y - z - 1.0)
    return t0, t1, t2, d00, d01, d02, d11, d12, d22


@njit(cache=True, error_model="numpy")
def _compose(
    P, x, y, z, u0, u1, u2, u3, u4, u5, u6, u7, u8, v0, v1, v2, v3, v4, v5, v6, v7, v8
):  # fmt: skip
    """P = U diag(x, y, z) V^T."""
    P[0, 0] = x * u0 * v0 + y * u1 * v1 + z * u2 * v2
    P[0, 1] = x * u0 * v3 + y * u1 * v4 + z * u2 * v5
    P[0, 2] = x * u0 * v6 + y * u1 * v7 + z * u2 * v8
    P[1, 0] = x * u3 * v0 + y * u4 * v1 + z * u5 * v2
    P[1, 1] = x * u3 * v3 + y * u4 * v4 + z * u5 * v5
    P[1, 2] = x * u3 * v6 + y * u4 * v7 + z * u5 * v8
    P[2, 0] = x * u6 * v0 + y * u7 * v1 + z * u8 * v2
    P[2, 1] = x * u6 * v3 + y * u7 * v4 + z * u8 * v5
    P[2, 2] = x * u6 * v6 + y * u7 * v7 + z * u8 * v8


@njit(cache=True, error_model="numpy")
def ogden_stress(p, F, P):
    """Write P; return the energy density (inf, P untouched, when det F <= 0)."""
    if not determinant(F) > 0.0:
        return np.inf
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    l0, l1, l2 = math.log(s0), math.log(s1), math.log(s2)
    m = (l0 + l1 + l2) / 3.0
    l0, l1, l2 = l0 - m, l1 - m, l2 - m
    t0, t1, t2, _, _, _, _, _, _ = _kirchhoff(p, l0, l1, l2)
    _compose(
        P, t0 / s0, t1 / s1, t2 / s2,
        u0, u1, u2, u3, u4, u5, u6, u7, u8, v0, v1, v2, v3, v4, v5, v6, v7, v8,
    )  # fmt: skip
    return _energy(p, l0, l1, l2)


@njit(cache=True, error_model="numpy")
def _shear(p, sa, sb, lb, ta, tb):
    """Stiffness of a pair's symmetric and skew mode: (wa-wb)/(sa-sb) and (wa+wb)/(sa+sb), w = t/s."""
    x = (sa - sb) / sb
    slope = 0.0  # (ta - tb) / (sa - sb)
    lx = math.log1p(x)
    for k in range(int(p[1])):
        a = p[ALPHA + k]
        ratio = math.expm1(a * lx) / x if abs(x) > 1e-13 else a
        slope += p[MU + k] * math.exp(a * lb) * ratio
    return slope / (sb * sa) - tb / (sa * sb), (ta / sa + tb / sb) / (sa + sb)


@njit(cache=True, error_model="numpy")
def _dyad(a, x0, x1, x2, y0, y1, y2):
    """a = x (outer) y, row by row."""
    a[0], a[1], a[2] = x0 * y0, x0 * y1, x0 * y2
    a[3], a[4], a[5] = x1 * y0, x1 * y1, x1 * y2
    a[6], a[7], a[8] = x2 * y0, x2 * y1, x2 * y2


@njit(cache=True, error_model="numpy")
def ogden_tangent(p, F, P, A):
    """Write P and A; return the energy density (inf, nothing written, when det F <= 0).

    In the basis u_a (x) v_b the tangent is a full 3x3 block for a = b and a 2x2 block for each pair; it is
    turned into the global basis one index at a time: A = sum_q D_q (x) (H D)_q, D_q = u_a (x) v_b.
    """
    if not determinant(F) > 0.0:
        return np.inf
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    l0, l1, l2 = math.log(s0), math.log(s1), math.log(s2)
    m = (l0 + l1 + l2) / 3.0
    l0, l1, l2 = l0 - m, l1 - m, l2 - m
    t0, t1, t2, d00, d01, d02, d11, d12, d22 = _kirchhoff(p, l0, l1, l2)
    h00, h11, h22 = (d00 - t0) / (s0 * s0), (d11 - t1) / (s1 * s1), (d22 - t2) / (s2 * s2)
    h01, h02, h12 = d01 / (s0 * s1), d02 / (s0 * s2), d12 / (s1 * s2)
    a01, b01 = _shear(p, s0, s1, l1, t0, t1)
    a02, b02 = _shear(p, s0, s2, l2, t0, t2)
    a12, b12 = _shear(p, s1, s2, l2, t1, t2)
    x01, y01 = 0.5 * (a01 + b01), 0.5 * (a01 - b01)
    x02, y02 = 0.5 * (a02 + b02), 0.5 * (a02 - b02)
    x12, y12 = 0.5 * (a12 + b12), 0.5 * (a12 - b12)
    # The rows of A first hold the nine dyads D_q; column s of them is all that column s of the result needs.
    _dyad(A[0], u0, u3, u6, v0, v3, v6)
    _dyad(A[1], u0, u3, u6, v1, v4, v7)
    _dyad(A[2], u0, u3, u6, v2, v5, v8)
    _dyad(A[3], u1, u4, u7, v0, v3, v6)
    _dyad(A[4], u1, u4, u7, v1, v4, v7)
    _dyad(A[5], u1, u4, u7, v2, v5, v8)
    _dyad(A[6], u2, u5, u8, v0, v3, v6)
    _dyad(A[7], u2, u5, u8, v1, v4, v7)
    _dyad(A[8], u2, u5, u8, v2, v5, v8)
    for s in range(9):
        e0, e1, e2, e3, e4 = A[0, s], A[1, s], A[2, s], A[3, s], A[4, s]
        e5, e6, e7, e8 = A[5, s], A[6, s], A[7, s], A[8, s]
        k0 = h00 * e0 + h01 * e4 + h02 * e8
        k4 = h01 * e0 + h11 * e4 + h12 * e8
        k8 = h02 * e0 + h12 * e4 + h22 * e8
        k1, k3 = x01 * e1 + y01 * e3, y01 * e1 + x01 * e3
        k2, k6 = x02 * e2 + y02 * e6, y02 * e2 + x02 * e6
        k5, k7 = x12 * e5 + y12 * e7, y12 * e5 + x12 * e7
        # Column s of the result: K = U k V^T with k the 3x3 matrix of the nine k.
        w0, w1, w2 = k0 * v0 + k1 * v1 + k2 * v2, k0 * v3 + k1 * v4 + k2 * v5, k0 * v6 + k1 * v7 + k2 * v8
        w3, w4, w5 = k3 * v0 + k4 * v1 + k5 * v2, k3 * v3 + k4 * v4 + k5 * v5, k3 * v6 + k4 * v7 + k5 * v8
        w6, w7, w8 = k6 * v0 + k7 * v1 + k8 * v2, k6 * v3 + k7 * v4 + k8 * v5, k6 * v6 + k7 * v7 + k8 * v8
        A[0, s] = u0 * w0 + u1 * w3 + u2 * w6
        A[1, s] = u0 * w1 + u1 * w4 + u2 * w7
        A[2, s] = u0 * w2 + u1 * w5 + u2 * w8
        A[3, s] = u3 * w0 + u4 * w3 + u5 * w6
        A[4, s] = u3 * w1 + u4 * w4 + u5 * w7
        A[5, s] = u3 * w2 + u4 * w5 + u5 * w8
        A[6, s] = u6 * w0 + u7 * w3 + u8 * w6
        A[7, s] = u6 * w1 + u7 * w4 + u8 * w7
        A[8, s] = u6 * w2 + u7 * w5 + u8 * w8
    for r in range(9):
        for s in range(r):
            x = 0.5 * (A[r, s] + A[s, r])
            A[r, s] = x
            A[s, r] = x
    _compose(
        P, t0 / s0, t1 / s1, t2 / s2,
        u0, u1, u2, u3, u4, u5, u6, u7, u8, v0, v1, v2, v3, v4, v5, v6, v7, v8,
    )  # fmt: skip
    return _energy(p, l0, l1, l2)
