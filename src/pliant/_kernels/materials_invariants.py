"""Stress and tangent of laws written in I1 = F:F, I2 = cof F : cof F and J = det F.

Each law gives the first and second derivatives of W(I1, I2, J); two assemblers turn them into
P (3, 3) and A (9, 9), A[3i+j, 3k+l] = d P_ij / d F_kl. Scalars are unrolled: a kernel must not allocate.
"""

from __future__ import annotations

import math

from numba import njit

from pliant._kernels import notice  # noqa: F401  says that kernels are being compiled


@njit(cache=True, error_model="numpy")
def determinant(F):
    """Determinant of F (3, 3)."""
    return (
        F[0, 0] * (F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1])
        + F[0, 1] * (F[1, 2] * F[2, 0] - F[1, 0] * F[2, 2])
        + F[0, 2] * (F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0])
    )


@njit(cache=True, error_model="numpy")
def first_invariant(F):
    """I1 = F : F."""
    x = 0.0
    for i in range(3):
        for j in range(3):
            x += F[i, j] * F[i, j]
    return x


@njit(cache=True, error_model="numpy")
def second_invariant(F):
    """I2 = cof F : cof F."""
    x = 0.0
    for i in range(3):
        for j in range(3):
            a, b, c, d = (i + 1) % 3, (i + 2) % 3, (j + 1) % 3, (j + 2) % 3
            y = F[a, c] * F[b, d] - F[a, d] * F[b, c]
            x += y * y
    return x


@njit(cache=True, error_model="numpy")
def cofactor(F):
    """Cofactor matrix d J / d F, nine floats row by row."""
    return (
        F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1],
        F[1, 2] * F[2, 0] - F[1, 0] * F[2, 2],
        F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0],
        F[0, 2] * F[2, 1] - F[0, 1] * F[2, 2],
        F[0, 0] * F[2, 2] - F[0, 2] * F[2, 0],
        F[0, 1] * F[2, 0] - F[0, 0] * F[2, 1],
        F[0, 1] * F[1, 2] - F[0, 2] * F[1, 1],
        F[0, 2] * F[1, 0] - F[0, 0] * F[1, 2],
        F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0],
    )


@njit(cache=True, error_model="numpy")
def stress_from(F, P, g1, g2, gJ):
    """P = g1 dI1/dF + g2 dI2/dF + gJ dJ/dF."""
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = cofactor(F)
    a = 2.0 * g1
    P[0, 0], P[0, 1], P[0, 2] = a * F[0, 0] + gJ * c0, a * F[0, 1] + gJ * c1, a * F[0, 2] + gJ * c2
    P[1, 0], P[1, 1], P[1, 2] = a * F[1, 0] + gJ * c3, a * F[1, 1] + gJ * c4, a * F[1, 2] + gJ * c5
    P[2, 0], P[2, 1], P[2, 2] = a * F[2, 0] + gJ * c6, a * F[2, 1] + gJ * c7, a * F[2, 2] + gJ * c8
    if g2 != 0.0:
        b = 2.0 * g2
        d0, d1, d2, d3, d4, d5, d6, d7, d8 = _second_gradient(F)
        P[0, 0] += b * d0
        P[0, 1] += b * d1
        P[0, 2] += b * d2
        P[1, 0] += b * d3
        P[1, 1] += b * d4
        P[1, 2] += b * d5
        P[2, 0] += b * d6
        P[2, 1] += b * d7
        P[2, 2] += b * d8


@njit(cache=True, error_model="numpy")
def _second_gradient(F):
    """Half of d I2 / d F = 2 (I1 F - F F^T F), nine floats row by row."""
    c00 = F[0, 0] * F[0, 0] + F[1, 0] * F[1, 0] + F[2, 0] * F[2, 0]
    c11 = F[0, 1] * F[0, 1] + F[1, 1] * F[1, 1] + F[2, 1] * F[2, 1]
    c22 = F[0, 2] * F[0, 2] + F[1, 2] * F[1, 2] + F[2, 2] * F[2, 2]
    c01 = F[0, 0] * F[0, 1] + F[1, 0] * F[1, 1] + F[2, 0] * F[2, 1]
    c02 = F[0, 0] * F[0, 2] + F[1, 0] * F[1, 2] + F[2, 0] * F[2, 2]
    c12 = F[0, 1] * F[0, 2] + F[1, 1] * F[1, 2] + F[2, 1] * F[2, 2]
    a, b, c = c11 + c22, c00 + c22, c00 + c11
    return (
        F[0, 0] * a - F[0, 1] * c01 - F[0, 2] * c02,
        F[0, 1] * b - F[0, 0] * c01 - F[0, 2] * c12,
        F[0, 2] * c - F[0, 0] * c02 - F[0, 1] * c12,
        F[1, 0] * a - F[1, 1] * c01 - F[1, 2] * c02,
        F[1, 1] * b - F[1, 0] * c01 - F[1, 2] * c12,
        F[1, 2] * c - F[1, 0] * c02 - F[1, 1] * c12,
        F[2, 0] * a - F[2, 1] * c01 - F[2, 2] * c02,
        F[2, 1] * b - F[2, 0] * c01 - F[2, 2] * c12,
        F[2, 2] * c - F[2, 0] * c02 - F[2, 1] * c12,
    )


@njit(cache=True, error_model="numpy")
def _row(a, x, y, f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8):
    """a = x f + y c. (It takes a row, not its number: numba would compile it for every number.)"""
    a[0] = x * f0 + y * c0
    a[1] = x * f1 + y * c1
    a[2] = x * f2 + y * c2
    a[3] = x * f3 + y * c3
    a[4] = x * f4 + y * c4
    a[5] = x * f5 + y * c5
    a[6] = x * f6 + y * c6
    a[7] = x * f7 + y * c7
    a[8] = x * f8 + y * c8


@njit(cache=True, error_model="numpy")
def tangent_from(F, P, A, g1, gJ, g11, g1J, gJJ):
    """P and A of W(I1, J) from its first and second derivatives."""
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = cofactor(F)
    f0, f1, f2 = F[0, 0], F[0, 1], F[0, 2]
    f3, f4, f5 = F[1, 0], F[1, 1], F[1, 2]
    f6, f7, f8 = F[2, 0], F[2, 1], F[2, 2]
    a = 2.0 * g1
    P[0, 0], P[0, 1], P[0, 2] = a * f0 + gJ * c0, a * f1 + gJ * c1, a * f2 + gJ * c2
    P[1, 0], P[1, 1], P[1, 2] = a * f3 + gJ * c3, a * f4 + gJ * c4, a * f5 + gJ * c5
    P[2, 0], P[2, 1], P[2, 2] = a * f6 + gJ * c6, a * f7 + gJ * c7, a * f8 + gJ * c8
    u, v, w = 4.0 * g11, 2.0 * g1J, gJJ
    _row(
        A[0], u * f0 + v * c0, v * f0 + w * c0,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[1], u * f1 + v * c1, v * f1 + w * c1,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[2], u * f2 + v * c2, v * f2 + w * c2,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[3], u * f3 + v * c3, v * f3 + w * c3,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[4], u * f4 + v * c4, v * f4 + w * c4,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[5], u * f5 + v * c5, v * f5 + w * c5,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[6], u * f6 + v * c6, v * f6 + w * c6,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[7], u * f7 + v * c7, v * f7 + w * c7,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    _row(
        A[8], u * f8 + v * c8, v * f8 + w * c8,
        f0, f1, f2, f3, f4, f5, f6, f7, f8, c0, c1, c2, c3, c4, c5, c6, c7, c8,
    )  # fmt: skip
    for r in range(9):
        A[r, r] += a
    add_cofactor_derivative(gJ, F, A)


@njit(cache=True, error_model="numpy")
def add_cofactor_derivative(a, F, A):
    """A[3i+j, 3k+l] += a * d cof(F)_ij / d F_kl, which is a d^2 J / dF dF."""
    for i in range(3):
        i1, i2 = (i + 1) % 3, (i + 2) % 3
        for j in range(3):
            j1, j2 = (j + 1) % 3, (j + 2) % 3
            r = 3 * i + j
            A[r, 3 * i1 + j1] += a * F[i2, j2]
            A[r, 3 * i2 + j2] += a * F[i1, j1]
            A[r, 3 * i1 + j2] -= a * F[i2, j1]
            A[r, 3 * i2 + j1] -= a * F[i1, j2]


@njit(cache=True, error_model="numpy")
def _add_row(
    a, x, y,
    c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
):  # fmt: skip
    """a += x c + y d."""
    a[0] += x * c0 + y * d0
    a[1] += x * c1 + y * d1
    a[2] += x * c2 + y * d2
    a[3] += x * c3 + y * d3
    a[4] += x * c4 + y * d4
    a[5] += x * c5 + y * d5
    a[6] += x * c6 + y * d6
    a[7] += x * c7 + y * d7
    a[8] += x * c8 + y * d8


@njit(cache=True, error_model="numpy")
def add_second_invariant(F, P, A, g2, g2J):
    """Add the terms of I2 to P and A: gradient, second derivative and product with J (g12 = g22 = 0)."""
    d0, d1, d2, d3, d4, d5, d6, d7, d8 = _second_gradient(F)
    c0, c1, c2, c3, c4, c5, c6, c7, c8 = cofactor(F)
    z, w = 2.0 * g2J, 2.0 * g2
    _add_row(
        A[0], z * d0, z * c0,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[1], z * d1, z * c1,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[2], z * d2, z * c2,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[3], z * d3, z * c3,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[4], z * d4, z * c4,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[5], z * d5, z * c5,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[6], z * d6, z * c6,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[7], z * d7, z * c7,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    _add_row(
        A[8], z * d8, z * c8,
        c0, c1, c2, c3, c4, c5, c6, c7, c8, d0, d1, d2, d3, d4, d5, d6, d7, d8,
    )  # fmt: skip
    P[0, 0] += w * d0
    P[0, 1] += w * d1
    P[0, 2] += w * d2
    P[1, 0] += w * d3
    P[1, 1] += w * d4
    P[1, 2] += w * d5
    P[2, 0] += w * d6
    P[2, 1] += w * d7
    P[2, 2] += w * d8
    I1 = first_invariant(F)
    for i in range(3):
        for k in range(3):
            b = F[i, 0] * F[k, 0] + F[i, 1] * F[k, 1] + F[i, 2] * F[k, 2]
            e = w * ((I1 if i == k else 0.0) - b)
            for j in range(3):
                for m in range(3):
                    A[3 * i + j, 3 * k + m] += w * (2.0 * F[i, j] * F[k, m] - F[i, m] * F[k, j])
                A[3 * i + j, 3 * k + j] += e
    for j in range(3):
        for m in range(3):
            b = w * (F[0, j] * F[0, m] + F[1, j] * F[1, m] + F[2, j] * F[2, m])
            for i in range(3):
                A[3 * i + j, 3 * i + m] -= b


# --- laws: (W, g1, g2, gJ, g11, g1J, g2J, gJJ); g12 = g22 = 0 for all of them ---------------------------


@njit(cache=True, error_model="numpy")
def stable_neo_hookean(p, I1, J):
    """Deviatoric part of Smith et al. (2018), regrouped: total = this + bulk/2 (J-1)^2. p: mu, lambda.

    With m = 4/3 mu: m/2 (I1-3) - m/2 log((I1+1)/4) - mu (J-1) + mu/12 (J-1)^2. The last two terms move
    what the published lambda/2 (J-alpha)^2 has beyond bulk/2 (J-1)^2 here, so that this part is free of
    stress at F = I and has no bulk stiffness there.
    """
    mu = p[0]
    x = 1.0 / (I1 + 1.0)
    h = (2.0 / 3.0) * mu
    e = J - 1.0
    W = h * ((I1 - 3.0) - math.log1p(0.25 * (I1 - 3.0))) + mu * e * (e / 12.0 - 1.0)
    return W, h * (1.0 - x), 0.0, mu * (e / 6.0 - 1.0), h * x * x, 0.0, 0.0, mu / 6.0


@njit(cache=True, error_model="numpy")
def log_neo_hookean(p, I1, J):
    """mu/2 (I1-3) - mu log J; the volumetric part is lambda/2 (log J)^2. p: mu, lambda."""
    mu = p[0]
    x = mu / J
    return 0.5 * mu * (I1 - 3.0) - mu * math.log(J), 0.5 * mu, 0.0, -x, 0.0, 0.0, 0.0, x / J


@njit(cache=True, error_model="numpy")
def mooney_rivlin(p, I1, I2, J):
    """c10 (J^(-2/3) I1 - 3) + c01 (J^(-4/3) I2 - 3). p: c10, c01, bulk."""
    q = J ** (-2.0 / 3.0)
    a, b = p[0] * q, p[1] * q * q
    k = 1.0 / J
    A, B = a * I1, b * I2
    return (
        A - 3.0 * p[0] + B - 3.0 * p[1],
        a,
        b,
        (-2.0 * A - 4.0 * B) * k / 3.0,
        0.0,
        -2.0 / 3.0 * a * k,
        -4.0 / 3.0 * b * k,
        (10.0 * A + 28.0 * B) * k * k / 9.0,
    )


@njit(cache=True, error_model="numpy")
def yeoh(p, I1, J):
    """c1 x + c2 x^2 + c3 x^3, x = J^(-2/3) I1 - 3. p: c1, c2, c3, then 1/d1, 1/d2, 1/d3."""
    q = J ** (-2.0 / 3.0)
    B = q * I1
    x = B - 3.0
    s = p[0] + x * (2.0 * p[1] + 3.0 * p[2] * x)
    t = 2.0 * p[1] + 6.0 * p[2] * x
    k = 1.0 / J
    g = -2.0 / 3.0 * B * k
    W = x * (p[0] + x * (p[1] + x * p[2]))
    g1J = q * (t * g - 2.0 / 3.0 * s * k)
    return W, s * q, 0.0, s * g, t * q * q, g1J, 0.0, t * g * g + s * B * k * k * 10.0 / 9.0
