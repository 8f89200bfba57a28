"""Polar and singular value decomposition of 3x3 matrices, compiled, without allocation.

`F = R S` with `R` a proper rotation (det R = +1) and `S` symmetric, also for inverted `F` (det F < 0):
then `S` has one negative eigenvalue, the one of smallest magnitude. This `R` maximises `R : F`.

The fast path uses that t = tr S is the largest root of the quartic
t^4 - 2 |F|^2 t^2 - 8 det(F) t + |F|^4 - 4 |cof F|^2 = 0 and that R = d t / d F, which implicit
differentiation gives in closed form. Near a double root (two signed singular values that almost cancel)
a one-sided Jacobi SVD takes over.
"""

from __future__ import annotations

import math

from numba import njit

#: Sums of two signed singular values are not taken smaller than this in d R / d F, which is 1/sum there.
SUM_FLOOR = 1e-2


@njit(cache=True, error_model="numpy")
def _jacobi_pair(a0, a1, a2, b0, b1, b2, p0, p1, p2, q0, q1, q2):
    """Rotate columns a, b until orthogonal, and p, q with them. The last value says whether it turned."""
    alpha = a0 * a0 + a1 * a1 + a2 * a2
    beta = b0 * b0 + b1 * b1 + b2 * b2
    gamma = a0 * b0 + a1 * b1 + a2 * b2
    if not gamma * gamma > 1e-30 * alpha * beta:
        return a0, a1, a2, b0, b1, b2, p0, p1, p2, q0, q1, q2, False
    zeta = (beta - alpha) / (2.0 * gamma)
    t = 1.0 / (abs(zeta) + math.sqrt(1.0 + zeta * zeta))
    if zeta < 0.0:
        t = -t
    c = 1.0 / math.sqrt(1.0 + t * t)
    s = c * t
    return (
        c * a0 - s * b0, c * a1 - s * b1, c * a2 - s * b2,
        s * a0 + c * b0, s * a1 + c * b1, s * a2 + c * b2,
        c * p0 - s * q0, c * p1 - s * q1, c * p2 - s * q2,
        s * p0 + c * q0, s * p1 + c * q1, s * p2 + c * q2,
        True,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def svd_scalars(F):
    """Signed singular value decomposition F = U diag(s) V^T, det U = det V = +1, s0 >= s1 >= |s2|.

    Returns 21 floats: U row by row, s, V row by row. Scalars, because a kernel must not allocate.
    """
    a0, a1, a2 = F[0, 0], F[1, 0], F[2, 0]
    b0, b1, b2 = F[0, 1], F[1, 1], F[2, 1]
    c0, c1, c2 = F[0, 2], F[1, 2], F[2, 2]
    p0, p1, p2 = 1.0, 0.0, 0.0
    q0, q1, q2 = 0.0, 1.0, 0.0
    r0, r1, r2 = 0.0, 0.0, 1.0
    for _ in range(12):
        a0, a1, a2, b0, b1, b2, p0, p1, p2, q0, q1, q2, turned = _jacobi_pair(
            a0, a1, a2, b0, b1, b2, p0, p1, p2, q0, q1, q2
        )
        b0, b1, b2, c0, c1, c2, q0, q1, q2, r0, r1, r2, turned2 = _jacobi_pair(
            b0, b1, b2, c0, c1, c2, q0, q1, q2, r0, r1, r2
        )
        a0, a1, a2, c0, c1, c2, p0, p1, p2, r0, r1, r2, turned3 = _jacobi_pair(
            a0, a1, a2, c0, c1, c2, p0, p1, p2, r0, r1, r2
        )
        if not (turned or turned2 or turned3):
            break
    na = math.sqrt(a0 * a0 + a1 * a1 + a2 * a2)
    nb = math.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
    nc = math.sqrt(c0 * c0 + c1 * c1 + c2 * c2)
    # Sort the columns by decreasing length; one sign flips per swap, so that det V stays +1.
    if na < nb:
        a0, a1, a2, b0, b1, b2 = b0, b1, b2, -a0, -a1, -a2
        p0, p1, p2, q0, q1, q2 = q0, q1, q2, -p0, -p1, -p2
        na, nb = nb, na
    if nb < nc:
        b0, b1, b2, c0, c1, c2 = c0, c1, c2, -b0, -b1, -b2
        q0, q1, q2, r0, r1, r2 = r0, r1, r2, -q0, -q1, -q2
        nb, nc = nc, nb
    if na < nb:
        a0, a1, a2, b0, b1, b2 = b0, b1, b2, -a0, -a1, -a2
        p0, p1, p2, q0, q1, q2 = q0, q1, q2, -p0, -p1, -p2
        na, nb = nb, na
    if na > 0.0:
        a0, a1, a2 = a0 / na, a1 / na, a2 / na
    else:
        a0, a1, a2 = p0, p1, p2
    if nb > 1e-14 * na:
        b0, b1, b2 = b0 / nb, b1 / nb, b2 / nb
    else:
        # Rank one: any direction will do; the one nearest to V keeps R near the identity.
        b0, b1, b2 = q0, q1, q2
        d = a0 * b0 + a1 * b1 + a2 * b2
        if abs(d) > 0.9:
            b0, b1, b2 = r0, r1, r2
    d = a0 * b0 + a1 * b1 + a2 * b2
    b0, b1, b2 = b0 - d * a0, b1 - d * a1, b2 - d * a2
    d = 1.0 / math.sqrt(b0 * b0 + b1 * b1 + b2 * b2)
    b0, b1, b2 = b0 * d, b1 * d, b2 * d
    w0, w1, w2 = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0
    s2 = w0 * c0 + w1 * c1 + w2 * c2
    return (
        a0, b0, w0, a1, b1, w1, a2, b2, w2,
        na, nb, s2,
        p0, q0, r0, p1, q1, r1, p2, q2, r2,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def _times_symmetric(x, y, z, m00, m01, m02, m11, m12, m22):
    """Row vector times symmetric matrix."""
    return x * m00 + y * m01 + z * m02, x * m01 + y * m11 + z * m12, x * m02 + y * m12 + z * m22


@njit(cache=True, error_model="numpy")
def _rotation(F):
    """Rotation of F. Returns (R row by row, tr S, fast), fast False where the SVD was needed."""
    f0, f1, f2 = F[0, 0], F[0, 1], F[0, 2]
    f3, f4, f5 = F[1, 0], F[1, 1], F[1, 2]
    f6, f7, f8 = F[2, 0], F[2, 1], F[2, 2]
    c0, c1, c2 = f4 * f8 - f5 * f7, f5 * f6 - f3 * f8, f3 * f7 - f4 * f6
    c3, c4, c5 = f2 * f7 - f1 * f8, f0 * f8 - f2 * f6, f1 * f6 - f0 * f7
    c6, c7, c8 = f1 * f5 - f2 * f4, f2 * f3 - f0 * f5, f0 * f4 - f1 * f3
    J = f0 * c0 + f1 * c1 + f2 * c2
    I1 = f0 * f0 + f1 * f1 + f2 * f2 + f3 * f3 + f4 * f4 + f5 * f5 + f6 * f6 + f7 * f7 + f8 * f8
    I2 = c0 * c0 + c1 * c1 + c2 * c2 + c3 * c3 + c4 * c4 + c5 * c5 + c6 * c6 + c7 * c7 + c8 * c8
    # Newton from an upper bound: the quartic is convex beyond its largest root, so this descends to it.
    t = math.sqrt(3.0 * I1)
    constant = I1 * I1 - 4.0 * I2
    for _ in range(30):
        t2 = t * t
        slope = 4.0 * (t * (t2 - I1) - 2.0 * J)
        if not slope > 0.0:
            break
        change = ((t2 - 2.0 * I1) * t2 - 8.0 * J * t + constant) / slope
        t -= change
        if abs(change) < 1e-9 * t:
            break
    product = 0.5 * (t * (t * t - I1) - 2.0 * J)  # of the three sums of two singular values
    if product > 2.0 * SUM_FLOOR * I1 and product > 1e-3 * I1 * math.sqrt(I1):
        x = t * t + I1
        k = 0.5 / product
        # M = x I - 2 F^T F, so that R = k (F M + 2 t cof F)
        m00 = x - 2.0 * (f0 * f0 + f3 * f3 + f6 * f6)
        m11 = x - 2.0 * (f1 * f1 + f4 * f4 + f7 * f7)
        m22 = x - 2.0 * (f2 * f2 + f5 * f5 + f8 * f8)
        m01 = -2.0 * (f0 * f1 + f3 * f4 + f6 * f7)
        m02 = -2.0 * (f0 * f2 + f3 * f5 + f6 * f8)
        m12 = -2.0 * (f1 * f2 + f4 * f5 + f7 * f8)
        y = 2.0 * t
        r0 = k * (f0 * m00 + f1 * m01 + f2 * m02 + y * c0)
        r1 = k * (f0 * m01 + f1 * m11 + f2 * m12 + y * c1)
        r2 = k * (f0 * m02 + f1 * m12 + f2 * m22 + y * c2)
        r3 = k * (f3 * m00 + f4 * m01 + f5 * m02 + y * c3)
        r4 = k * (f3 * m01 + f4 * m11 + f5 * m12 + y * c4)
        r5 = k * (f3 * m02 + f4 * m12 + f5 * m22 + y * c5)
        r6 = k * (f6 * m00 + f7 * m01 + f8 * m02 + y * c6)
        r7 = k * (f6 * m01 + f7 * m11 + f8 * m12 + y * c7)
        r8 = k * (f6 * m02 + f7 * m12 + f8 * m22 + y * c8)
        # An error of t changes the stretch of R, not its directions: one Newton-Schulz step squares it away.
        m00 = 1.5 - 0.5 * (r0 * r0 + r3 * r3 + r6 * r6)
        m11 = 1.5 - 0.5 * (r1 * r1 + r4 * r4 + r7 * r7)
        m22 = 1.5 - 0.5 * (r2 * r2 + r5 * r5 + r8 * r8)
        m01 = -0.5 * (r0 * r1 + r3 * r4 + r6 * r7)
        m02 = -0.5 * (r0 * r2 + r3 * r5 + r6 * r8)
        m12 = -0.5 * (r1 * r2 + r4 * r5 + r7 * r8)
        r0, r1, r2 = _times_symmetric(r0, r1, r2, m00, m01, m02, m11, m12, m22)
        r3, r4, r5 = _times_symmetric(r3, r4, r5, m00, m01, m02, m11, m12, m22)
        r6, r7, r8 = _times_symmetric(r6, r7, r8, m00, m01, m02, m11, m12, m22)
        t = r0 * f0 + r1 * f1 + r2 * f2 + r3 * f3 + r4 * f4 + r5 * f5 + r6 * f6 + r7 * f7 + r8 * f8
        return r0, r1, r2, r3, r4, r5, r6, r7, r8, t, True
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    return (
        u0 * v0 + u1 * v1 + u2 * v2, u0 * v3 + u1 * v4 + u2 * v5, u0 * v6 + u1 * v7 + u2 * v8,
        u3 * v0 + u4 * v1 + u5 * v2, u3 * v3 + u4 * v4 + u5 * v5, u3 * v6 + u4 * v7 + u5 * v8,
        u6 * v0 + u7 * v1 + u8 * v2, u6 * v3 + u7 * v4 + u8 * v5, u6 * v6 + u7 * v7 + u8 * v8,
        s0 + s1 + s2, False,
    )  # fmt: skip


@njit(cache=True, error_model="numpy")
def rotation(F, R):
    """Write the rotation of F (3, 3) into R (3, 3); return tr S."""
    R[0, 0], R[0, 1], R[0, 2], R[1, 0], R[1, 1], R[1, 2], R[2, 0], R[2, 1], R[2, 2], t, _ = _rotation(F)
    return t


@njit(cache=True, error_model="numpy")
def rotation_and_spin(F, R):
    """Write the rotation of F into R; return tr S and the symmetric matrix (tr S I - S)^-1.

    Returns (tr S, g00, g01, g02, g11, g12, g22). With it d R = R [w]x, w = g axial(R^T dF - dF^T R).
    Sums of two singular values below SUM_FLOOR are clamped.
    """
    r0, r1, r2, r3, r4, r5, r6, r7, r8, t, fast = _rotation(F)
    R[0, 0], R[0, 1], R[0, 2] = r0, r1, r2
    R[1, 0], R[1, 1], R[1, 2] = r3, r4, r5
    R[2, 0], R[2, 1], R[2, 2] = r6, r7, r8
    if fast:
        f0, f1, f2 = F[0, 0], F[0, 1], F[0, 2]
        f3, f4, f5 = F[1, 0], F[1, 1], F[1, 2]
        f6, f7, f8 = F[2, 0], F[2, 1], F[2, 2]
        # S = R^T F, G = t I - S
        a = t - (r0 * f0 + r3 * f3 + r6 * f6)
        d = t - (r1 * f1 + r4 * f4 + r7 * f7)
        e = t - (r2 * f2 + r5 * f5 + r8 * f8)
        b = -0.5 * (r0 * f1 + r3 * f4 + r6 * f7 + r1 * f0 + r4 * f3 + r7 * f6)
        c = -0.5 * (r0 * f2 + r3 * f5 + r6 * f8 + r2 * f0 + r5 * f3 + r8 * f6)
        h = -0.5 * (r1 * f2 + r4 * f5 + r7 * f8 + r2 * f1 + r5 * f4 + r8 * f7)
        k0, k1, k2 = d * e - h * h, c * h - b * e, b * h - c * d
        k = 1.0 / (a * k0 + b * k1 + c * k2)
        return t, k * k0, k * k1, k * k2, k * (a * e - c * c), k * (b * c - a * h), k * (a * d - b * b)
    _, _, _, _, _, _, _, _, _, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    x = 1.0 / max(s1 + s2, SUM_FLOOR)
    y = 1.0 / max(s0 + s2, SUM_FLOOR)
    z = 1.0 / max(s0 + s1, SUM_FLOOR)
    return (
        t,
        x * v0 * v0 + y * v1 * v1 + z * v2 * v2,
        x * v0 * v3 + y * v1 * v4 + z * v2 * v5,
        x * v0 * v6 + y * v1 * v7 + z * v2 * v8,
        x * v3 * v3 + y * v4 * v4 + z * v5 * v5,
        x * v3 * v6 + y * v4 * v7 + z * v5 * v8,
        x * v6 * v6 + y * v7 * v7 + z * v8 * v8,
    )


@njit(cache=True, error_model="numpy")
def polar(F, R, S):
    """Polar decomposition F = R S of one matrix (3, 3), written into R and S."""
    rotation(F, R)
    for i in range(3):
        for j in range(i, 3):
            x = R[0, i] * F[0, j] + R[1, i] * F[1, j] + R[2, i] * F[2, j]
            y = R[0, j] * F[0, i] + R[1, j] * F[1, i] + R[2, j] * F[2, i]
            S[i, j] = 0.5 * (x + y)
            S[j, i] = S[i, j]


@njit(cache=True, error_model="numpy")
def polar_batch(F, R, S):
    """Polar decompositions F = R S of n matrices (n, 3, 3), written into R and S (n, 3, 3)."""
    for e in range(F.shape[0]):
        polar(F[e], R[e], S[e])


@njit(cache=True, error_model="numpy")
def svd(F, U, s, V):
    """Signed singular value decomposition of one matrix: F = U diag(s) V^T, U and V proper rotations."""
    x = svd_scalars(F)
    for k, value in enumerate(x):
        if k < 9:
            U[k // 3, k % 3] = value
        elif k < 12:
            s[k - 9] = value
        else:
            V[(k - 12) // 3, (k - 12) % 3] = value


@njit(cache=True, error_model="numpy")
def svd_batch(F, U, s, V):
    """Signed singular value decompositions of F (n, 3, 3), written into U, V (n, 3, 3) and s (n, 3)."""
    for e in range(F.shape[0]):
        svd(F[e], U[e], s[e], V[e])
