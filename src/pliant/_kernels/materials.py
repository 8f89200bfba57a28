"""Compiled constitutive laws: W(F) = Wd(F) + U(det F).

The first Piola-Kirchhoff stress is P = dW/dF and the tangent A[3i+j, 3k+l] = d P_ij / d F_kl.
`distortion_*` give Wd and its derivatives, `volumetric` gives U and its derivatives by J = det F. Linear,
Corotational and StVK have no part that depends on J alone: everything is in Wd and U = 0. For all laws
both Wd and U are free of stress at F = I.

`code` chooses the law, `p` holds its constants (N_PARAMETERS floats, the rest zero):

    LINEAR, COROTATIONAL, STVK, NEO_HOOKEAN (stable), NEO_HOOKEAN_LOG    mu, lambda (Lame, small strain)
    MOONEY_RIVLIN    c10, c01, bulk
    YEOH             c1, c2, c3, 1/d1, 1/d2, 1/d3
    OGDEN            bulk, number of terms (1..4), mu_1..mu_4, alpha_1..alpha_4

An inadmissible F (J <= 0 for a law with log J or J^(-2/3)) has energy inf; P and A are then left untouched.
No kernel allocates.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.material_codes import (
    COROTATIONAL,
    LINEAR,
    MOONEY_RIVLIN,
    N_PARAMETERS,
    NEO_HOOKEAN,
    NEO_HOOKEAN_LOG,
    OGDEN,
    STVK,
    YEOH,
)
from pliant._kernels.materials_invariants import (
    add_second_invariant,
    determinant,
    first_invariant,
    log_neo_hookean,
    mooney_rivlin,
    second_invariant,
    stable_neo_hookean,
    stress_from,
    tangent_from,
    yeoh,
)
from pliant._kernels.materials_ogden import ogden_energy, ogden_stress, ogden_tangent
from pliant._kernels.polar import _rotation, rotation, rotation_and_spin

__all__ = [
    "COROTATIONAL",
    "LINEAR",
    "MOONEY_RIVLIN",
    "NEO_HOOKEAN",
    "NEO_HOOKEAN_LOG",
    "N_PARAMETERS",
    "OGDEN",
    "STVK",
    "YEOH",
    "distortion_energy",
    "distortion_stress",
    "distortion_tangent",
    "volumetric",
]

# --- linear and co-rotational --------------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def _linear_stress(p, F, P):
    mu, lam = p[0], p[1]
    a, b, c = F[0, 0] - 1.0, F[1, 1] - 1.0, F[2, 2] - 1.0
    d, e, f = 0.5 * (F[0, 1] + F[1, 0]), 0.5 * (F[0, 2] + F[2, 0]), 0.5 * (F[1, 2] + F[2, 1])
    t = a + b + c
    m = 2.0 * mu
    P[0, 0], P[1, 1], P[2, 2] = m * a + lam * t, m * b + lam * t, m * c + lam * t
    P[0, 1], P[0, 2], P[1, 2] = m * d, m * e, m * f
    P[1, 0], P[2, 0], P[2, 1] = m * d, m * e, m * f
    return mu * (a * a + b * b + c * c + 2.0 * (d * d + e * e + f * f)) + 0.5 * lam * t * t


@njit(cache=True, error_model="numpy")
def _linear_energy(p, F):
    mu, lam = p[0], p[1]
    a, b, c = F[0, 0] - 1.0, F[1, 1] - 1.0, F[2, 2] - 1.0
    d, e, f = 0.5 * (F[0, 1] + F[1, 0]), 0.5 * (F[0, 2] + F[2, 0]), 0.5 * (F[1, 2] + F[2, 1])
    t = a + b + c
    return mu * (a * a + b * b + c * c + 2.0 * (d * d + e * e + f * f)) + 0.5 * lam * t * t


@njit(cache=True, error_model="numpy")
def _linear_tangent(p, F, P, A):
    mu, lam = p[0], p[1]
    for r in range(9):
        for s in range(9):
            A[r, s] = 0.0
    for i in range(3):
        for j in range(3):
            A[3 * i + j, 3 * i + j] += mu
            A[3 * i + j, 3 * j + i] += mu
            A[4 * i, 4 * j] += lam
    return _linear_stress(p, F, P)


@njit(cache=True, error_model="numpy")
def _finish_corotational(p, F, P, t):
    """Replace R, which P holds, by the stress 2 mu (F - R) + lambda tr(S - I) R; return the energy."""
    m, q = 2.0 * p[0], p[1] * (t - 3.0)
    W = 0.0
    for i in range(3):
        for j in range(3):
            d = F[i, j] - P[i, j]
            W += d * d
            P[i, j] = m * d + q * P[i, j]
    return p[0] * W + 0.5 * q * (t - 3.0)


@njit(cache=True, error_model="numpy")
def _corotational_energy(p, F):
    r0, r1, r2, r3, r4, r5, r6, r7, r8, t, _ = _rotation(F)
    a, b, c = F[0, 0] - r0, F[0, 1] - r1, F[0, 2] - r2
    d, e, f = F[1, 0] - r3, F[1, 1] - r4, F[1, 2] - r5
    g, h, i = F[2, 0] - r6, F[2, 1] - r7, F[2, 2] - r8
    W = a * a + b * b + c * c + d * d + e * e + f * f + g * g + h * h + i * i
    return p[0] * W + 0.5 * p[1] * (t - 3.0) * (t - 3.0)


@njit(cache=True, error_model="numpy")
def _corotational_tangent(p, F, P, A):
    """A = 2 mu 1 + lambda R (x) R + (lambda tr(S - I) - 2 mu) dR/dF; block (i, k) is [r_i]x g [r_k]x^T."""
    t, g00, g01, g02, g11, g12, g22 = rotation_and_spin(F, P)
    mu2, lam = 2.0 * p[0], p[1]
    w = lam * (t - 3.0) - mu2
    g00, g01, g02, g11, g12, g22 = w * g00, w * g01, w * g02, w * g11, w * g12, w * g22
    for k in range(3):
        x, y, z = P[k, 0], P[k, 1], P[k, 2]
        # Y = g [r_k]x^T, row by row: (row of g) x r_k
        y00, y01, y02 = g02 * y - g01 * z, g00 * z - g02 * x, g01 * x - g00 * y
        y10, y11, y12 = g12 * y - g11 * z, g01 * z - g12 * x, g11 * x - g01 * y
        y20, y21, y22 = g22 * y - g12 * z, g02 * z - g22 * x, g12 * x - g02 * y
        x, y, z = lam * x, lam * y, lam * z
        for i in range(k + 1):
            a, b, c = P[i, 0], P[i, 1], P[i, 2]
            r, s = 3 * i, 3 * k
            A[r, s] = b * y20 - c * y10 + a * x
            A[r, s + 1] = b * y21 - c * y11 + a * y
            A[r, s + 2] = b * y22 - c * y12 + a * z
            A[r + 1, s] = c * y00 - a * y20 + b * x
            A[r + 1, s + 1] = c * y01 - a * y21 + b * y
            A[r + 1, s + 2] = c * y02 - a * y22 + b * z
            A[r + 2, s] = a * y10 - b * y00 + c * x
            A[r + 2, s + 1] = a * y11 - b * y01 + c * y
            A[r + 2, s + 2] = a * y12 - b * y02 + c * z
    for r in range(9):
        A[r, r] += mu2
        for s in range(r):
            A[r, s] = A[s, r]
    return _finish_corotational(p, F, P, t)


# --- St. Venant-Kirchhoff ------------------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def _green(F):
    """Green strain (F^T F - I)/2 as e00, e01, e02, e11, e12, e22."""
    return (
        0.5 * (F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0] - 1.0),
        0.5 * (F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]),
        0.5 * (F[0, 0] * F[0, 2] + F[1, 0] * F[1, 2] + F[2, 0] * F[2, 2]),
        0.5 * (F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1] - 1.0),
        0.5 * (F[0, 1] * F[0, 2] + F[1, 1] * F[1, 2] + F[2, 1] * F[2, 2]),
        0.5 * (F[0, 2] * F[0, 2] + F[1, 2] * F[1, 2] + F[2, 2] * F[2, 2] - 1.0),
    )


@njit(cache=True, error_model="numpy")
def _stvk_energy(p, F):
    a, b, c, d, e, f = _green(F)
    t = a + d + f
    return p[0] * (a * a + d * d + f * f + 2.0 * (b * b + c * c + e * e)) + 0.5 * p[1] * t * t


@njit(cache=True, error_model="numpy")
def _stvk_stress(p, F, P):
    a, b, c, d, e, f = _green(F)
    t = a + d + f
    W = p[0] * (a * a + d * d + f * f + 2.0 * (b * b + c * c + e * e)) + 0.5 * p[1] * t * t
    m, q = 2.0 * p[0], p[1] * t
    a, d, f, b, c, e = m * a + q, m * d + q, m * f + q, m * b, m * c, m * e
    for i in range(3):
        x, y, z = F[i, 0], F[i, 1], F[i, 2]
        P[i, 0], P[i, 1], P[i, 2] = x * a + y * b + z * c, x * b + y * d + z * e, x * c + y * e + z * f
    return W


@njit(cache=True, error_model="numpy")
def _stvk_tangent(p, F, P, A):
    """A_ijkl = delta_ik S_jl + lambda F_ij F_kl + mu (F_il F_kj + (F F^T)_ik delta_jl)."""
    mu, lam = p[0], p[1]
    a, b, c, d, e, f = _green(F)
    q = lam * (a + d + f)
    m = 2.0 * mu
    a, d, f, b, c, e = m * a + q, m * d + q, m * f + q, m * b, m * c, m * e
    for i in range(3):
        for k in range(3):
            g = mu * (F[i, 0] * F[k, 0] + F[i, 1] * F[k, 1] + F[i, 2] * F[k, 2])
            for j in range(3):
                for n in range(3):
                    A[3 * i + j, 3 * k + n] = lam * F[i, j] * F[k, n] + mu * F[i, n] * F[k, j]
                A[3 * i + j, 3 * k + j] += g
        r = 3 * i
        A[r, r] += a
        A[r + 1, r + 1] += d
        A[r + 2, r + 2] += f
        A[r, r + 1] += b
        A[r + 1, r] += b
        A[r, r + 2] += c
        A[r + 2, r] += c
        A[r + 1, r + 2] += e
        A[r + 2, r + 1] += e
    return _stvk_stress(p, F, P)


# --- the contract --------------------------------------------------------------------------------


@njit(cache=True, error_model="numpy")
def _invariant_law(code, p, F):
    """Derivatives of a law in I1, I2, J: (W, g1, g2, gJ, g11, g1J, g2J, gJJ); W = inf when inadmissible."""
    J = determinant(F)
    I1 = first_invariant(F)
    if code == NEO_HOOKEAN:
        return stable_neo_hookean(p, I1, J)
    if not J > 0.0:
        return np.inf, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    if code == YEOH:
        return yeoh(p, I1, J)
    if code == MOONEY_RIVLIN:
        return mooney_rivlin(p, I1, second_invariant(F), J)
    return log_neo_hookean(p, I1, J)


@njit(cache=True, error_model="numpy")
def distortion_energy(code, p, F):
    """Energy density Wd(F) [J/m^3] of F (3, 3); inf when F is inadmissible."""
    if code == LINEAR:
        return _linear_energy(p, F)
    if code == COROTATIONAL:
        return _corotational_energy(p, F)
    if code == STVK:
        return _stvk_energy(p, F)
    if code == OGDEN:
        return ogden_energy(p, F)
    return _invariant_law(code, p, F)[0]


@njit(cache=True, error_model="numpy")
def distortion_stress(code, p, F, P):
    """Write P = dWd/dF (3, 3) [Pa]; return Wd, or inf with P untouched when F is inadmissible."""
    if code == LINEAR:
        return _linear_stress(p, F, P)
    if code == COROTATIONAL:
        return _finish_corotational(p, F, P, rotation(F, P))
    if code == STVK:
        return _stvk_stress(p, F, P)
    if code == OGDEN:
        return ogden_stress(p, F, P)
    W, g1, g2, gJ, _, _, _, _ = _invariant_law(code, p, F)
    if not math.isinf(W):
        stress_from(F, P, g1, g2, gJ)
    return W


@njit(cache=True, error_model="numpy")
def distortion_tangent(code, p, F, P, A):
    """Write P (3, 3) [Pa] and A = dP/dF (9, 9) [Pa]; return Wd, or inf (both untouched)."""
    if code == COROTATIONAL:
        return _corotational_tangent(p, F, P, A)
    if code == LINEAR:
        return _linear_tangent(p, F, P, A)
    if code == STVK:
        return _stvk_tangent(p, F, P, A)
    if code == OGDEN:
        return ogden_tangent(p, F, P, A)
    W, g1, g2, gJ, g11, g1J, g2J, gJJ = _invariant_law(code, p, F)
    if not math.isinf(W):
        tangent_from(F, P, A, g1, gJ, g11, g1J, gJJ)
        if g2 != 0.0:
            add_second_invariant(F, P, A, g2, g2J)
    return W


@njit(cache=True, error_model="numpy")
def volumetric(code, p, J):
    """U(J) [J/m^3] and its first and second derivatives by J; (inf, 0, 0) when J is inadmissible."""
    e = J - 1.0
    if code == NEO_HOOKEAN:
        k = p[1] + 2.0 / 3.0 * p[0]
        return 0.5 * k * e * e, k * e, k
    if code == MOONEY_RIVLIN:
        return 0.5 * p[2] * e * e, p[2] * e, p[2]
    if code == OGDEN:
        return 0.5 * p[0] * e * e, p[0] * e, p[0]
    if code == YEOH:
        x = e * e
        return (
            x * (p[3] + x * (p[4] + x * p[5])),
            e * (2.0 * p[3] + x * (4.0 * p[4] + x * 6.0 * p[5])),
            2.0 * p[3] + x * (12.0 * p[4] + x * 30.0 * p[5]),
        )
    if code == NEO_HOOKEAN_LOG:
        if not J > 0.0:
            return np.inf, 0.0, 0.0
        x = math.log(J)
        return 0.5 * p[1] * x * x, p[1] * x / J, p[1] * (1.0 - x) / (J * J)
    return 0.0, 0.0, 0.0
