"""Kernels of the geometric model: shape energy, its force and its tangent.

The energy density of a body element with deformation gradient F = R S is

    W(F) = psi(d) + U,      d = |F - R|,

with psi'(d) = 2 d s(d) and s the secant shear modulus: constant for a linear body, a table for a hyperelastic one.
The volume is measured in one of three ways (`volume`):

    MEAN         U = lambda/2 (tr S - 3)^2           mean stretch; exact Euclidean projection, no det needed
    DETERMINANT  U = lambda/2 (J - 1)^2              J = det F; volume kept at every strain
    CUBE_ROOT    U = 9/2 lambda (J^(1/3) - 1)^2      the repaired formula of the source

The first Piola-Kirchhoff stress is P = 2 s(d) (F - R) + dU/dF. Arrays:

    x      (N, 3)       node positions
    cells  (ne, k)      nodes of the elements
    grads  (ne, ng, k, 3), weights (ne, ng)   shape gradients and volumes at the quadrature points
    row    (ne,)        material of each element: row of `lame` (nm,) and of `curves`
    curves (nm, nk, 5)  per interval of d: s as a cubic of the local coordinate (4), energy at its start (1)
    width  (nm,)        width of the intervals of d; 0 for a constant modulus, which is then curves[m, 0, 0]
    volume (nm,)        how the volume is measured
    scale  (ne,)        factor on the energy
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.elements import add_cofactor_derivative, cofactor
from pliant._kernels.materials import _corotational_tangent
from pliant._kernels.polar import rotation, svd_scalars

MEAN, DETERMINANT, CUBE_ROOT = 0, 1, 2
J_MIN = 0.25
_UNIT = np.array([1.0, 0.0])  # moduli that turn the co-rotational law into |F - R|^2


@njit(cache=True, nogil=True, error_model="numpy")
def secant(curve, width, d):
    """Energy psi, secant modulus s and its derivative s' at the distance d = |F - R|."""
    if width == 0.0:
        s = curve[0, 0]
        return s * d * d, s, 0.0
    last = curve.shape[0] - 1
    i = int(d / width)
    if i >= last:  # beyond the table: constant modulus, its start stored in the last row
        s, d0 = curve[last, 0], last * width
        return curve[last, 4] + s * (d * d - d0 * d0), s, 0.0
    a, b, c, e = curve[i, 0], curve[i, 1], curve[i, 2], curve[i, 3]
    d0 = i * width
    t = d - d0
    s = a + t * (b + t * (c + t * e))
    # integral of 2 (d0 + t) s(t)
    psi = 2.0 * d0 * t * (a + t * (b / 2.0 + t * (c / 3.0 + t * e / 4.0)))
    psi += 2.0 * t * t * (a / 2.0 + t * (b / 3.0 + t * (c / 4.0 + t * e / 5.0)))
    return curve[i, 4] + psi, s, b + t * (2.0 * c + 3.0 * t * e)


@njit(cache=True, nogil=True, error_model="numpy")
def _gradient(x, cell, dN, F):
    F[:, :] = 0.0
    for a in range(len(cell)):
        n = cell[a]
        for i in range(3):
            for j in range(3):
                F[i, j] += x[n, i] * dN[a, j]


@njit(cache=True, nogil=True, error_model="numpy")
def volume_law(lame, J, volume):
    """U(J), U' and U'' [Pa]. Below J = 1/4 the cube root is continued by its tangent parabola."""
    if volume == DETERMINANT:
        e = J - 1.0
        return 0.5 * lame * e * e, lame * e, lame
    x = J if J > J_MIN else J_MIN
    r = x ** (1.0 / 3.0)
    e = r - 1.0
    r2 = 1.0 / (r * r)
    U, dU, ddU = 4.5 * lame * e * e, 3.0 * lame * e * r2, lame * (r2 * r2 - 2.0 * e * r2 / x)
    t = J - x
    return U + t * (dU + 0.5 * t * ddU), dU + t * ddU, ddU


@njit(cache=True, nogil=True, error_model="numpy")
def stress(F, curve, width, lame, volume, P, C):
    """Write the stress into P; return the energy density. C is work space."""
    t = rotation(F, P)
    if volume == MEAN:
        q = lame * (t - 3.0)
        if width == 0.0:
            m = 2.0 * curve[0, 0]
            dd = 0.0
            for i in range(3):
                for j in range(3):
                    r = P[i, j]
                    e = F[i, j] - r
                    dd += e * e
                    P[i, j] = m * e + q * r
            return 0.5 * (m * dd + q * (t - 3.0))
        for i in range(3):
            for j in range(3):
                C[i, j] = P[i, j]
        U = 0.5 * q * (t - 3.0)
    else:
        J = cofactor(F, C)
        U, q, _ = volume_law(lame, J, volume)
    dd = 0.0
    for i in range(3):
        for j in range(3):
            P[i, j] = F[i, j] - P[i, j]
            dd += P[i, j] * P[i, j]
    psi, s, _ = secant(curve, width, math.sqrt(dd))
    for i in range(3):
        for j in range(3):
            P[i, j] = 2.0 * s * P[i, j] + q * C[i, j]
    return psi + U


@njit(cache=True, nogil=True, error_model="numpy")
def tangent(F, curve, width, lame, volume, P, C, A):
    """Write stress P (3, 3) and tangent A (9, 9); return the energy density. C is work space."""
    dd = _corotational_tangent(_UNIT, F, P, A)  # P = 2 (F - R), A = 2 (1 - dR/dF)
    d = math.sqrt(dd)
    psi, s, ds = secant(curve, width, d)
    turn = 0.0
    if volume == MEAN:
        t = 0.0
        for i in range(3):
            for j in range(3):
                C[i, j] = F[i, j] - 0.5 * P[i, j]
                t += C[i, j] * F[i, j]
        q, dq = lame * (t - 3.0), lame
        U = 0.5 * q * (t - 3.0)
        turn = q
    else:
        U, q, dq = volume_law(lame, cofactor(F, C), volume)
    k = 0.5 * ds / d if d > 1e-12 else 0.0
    a = s - 0.5 * turn  # of 2 (1 - dR/dF), since dR/dF = 1 - A/2
    for r in range(9):
        for c in range(9):
            A[r, c] *= a
            if k != 0.0:
                A[r, c] += k * P[r // 3, r % 3] * P[c // 3, c % 3]
            A[r, c] += dq * C[r // 3, r % 3] * C[c // 3, c % 3]
        A[r, r] += turn
    if volume != MEAN:
        add_cofactor_derivative(q, F, A)
    for i in range(3):
        for j in range(3):
            P[i, j] = s * P[i, j] + q * C[i, j]
    return psi + U


@njit(cache=True, nogil=True, error_model="numpy")
def projected_tangent(F, curve, width, lame, volume, P, C, A):
    """As `tangent`, with the negative eigenvalues of A set to zero.

    In the frames of the singular values s_i the tangent of an isotropic energy w(s) splits into the 3 x 3 matrix of
    the second derivatives and, per pair, a flip of eigenvalue (w_i - w_j)/(s_i - s_j) and a twist of
    (w_i + w_j)/(s_i + s_j).
    """
    W = stress(F, curve, width, lame, volume, P, C)
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    U = np.array([[u0, u1, u2], [u3, u4, u5], [u6, u7, u8]])
    V = np.array([[v0, v1, v2], [v3, v4, v5], [v6, v7, v8]])
    s = np.array([s0, s1, s2])
    d = math.sqrt((s0 - 1.0) ** 2 + (s1 - 1.0) ** 2 + (s2 - 1.0) ** 2)
    _, m, dm = secant(curve, width, d)
    k = 2.0 * dm / d if d > 1e-12 else 0.0
    w = np.empty(3)
    H = np.empty((3, 3))
    if volume == MEAN:
        q = lame * (s0 + s1 + s2 - 3.0)
        for i in range(3):
            w[i] = 2.0 * m * (s[i] - 1.0) + q
            for j in range(3):
                H[i, j] = k * (s[i] - 1.0) * (s[j] - 1.0) + lame
            H[i, i] += 2.0 * m
    else:
        _, q, dq = volume_law(lame, s0 * s1 * s2, volume)
        for i in range(3):
            ci = s[(i + 1) % 3] * s[(i + 2) % 3]
            w[i] = 2.0 * m * (s[i] - 1.0) + q * ci
            for j in range(3):
                cj = s[(j + 1) % 3] * s[(j + 2) % 3]
                H[i, j] = k * (s[i] - 1.0) * (s[j] - 1.0) + dq * ci * cj
                if i != j:
                    H[i, j] += q * s[3 - i - j]
            H[i, i] += 2.0 * m
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
    B = np.empty((9, 3))  # u_i v_i^T as columns
    for n in range(3):
        for i in range(3):
            for j in range(3):
                B[3 * i + j, n] = U[i, n] * V[j, n]
    A += B @ H @ B.T
    z = np.empty(9)
    for i in range(3):
        for j in range(i):
            total, gap = s[i] + s[j], s[i] - s[j]
            twist = (w[i] + w[j]) / max(total, 1e-2)
            flip = (w[i] - w[j]) / gap if abs(gap) > 1e-6 else H[i, i] - H[i, j]
            for sign, value in ((1.0, flip), (-1.0, twist)):
                if value > 0.0:
                    for a in range(3):
                        for b in range(3):
                            z[3 * a + b] = U[a, i] * V[b, j] + sign * U[a, j] * V[b, i]
                    for r in range(9):
                        for c in range(9):
                            A[r, c] += 0.5 * value * z[r] * z[c]
    return W


@njit(cache=True, nogil=True, error_model="numpy")
def energies(x, cells, grads, weights, row, curves, width, lame, volume, out):
    """Energy of each element [J], unscaled."""
    F, P, C = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(cells)):
        m = row[e]
        total = 0.0
        for g in range(weights.shape[1]):
            _gradient(x, cells[e], grads[e, g], F)
            total += weights[e, g] * stress(F, curves[m], width[m], lame[m], volume[m], P, C)
        out[e] = total


@njit(cache=True, nogil=True, error_model="numpy")
def forces(x, cells, grads, weights, row, curves, width, lame, volume, scale, first, last, out):
    """out -= d energy / d x for the elements first..last; returns their energy [J]."""
    k = cells.shape[1]
    F, P, C = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    total = 0.0
    for e in range(first, last):
        m = row[e]
        for g in range(weights.shape[1]):
            G = grads[e, g]
            _gradient(x, cells[e], G, F)
            v = weights[e, g] * scale[e]
            total += v * stress(F, curves[m], width[m], lame[m], volume[m], P, C)
            for a in range(k):
                n = cells[e, a]
                for i in range(3):
                    out[n, i] -= v * (P[i, 0] * G[a, 0] + P[i, 1] * G[a, 1] + P[i, 2] * G[a, 2])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def tangents(x, cells, grads, weights, row, curves, width, lame, volume, scale, projected, slots, data, out):
    """Tangent (projected to be positive semi-definite if asked) into data, out -= d energy / d x; the energy [J]."""
    k = cells.shape[1]
    n = 3 * k
    F, P, C = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    A, B, K = np.empty((9, 9)), np.empty((9, 3)), np.empty((n, n))
    total = 0.0
    for e in range(len(cells)):
        m = row[e]
        K[:, :] = 0.0
        for g in range(weights.shape[1]):
            G = grads[e, g]
            _gradient(x, cells[e], G, F)
            v = weights[e, g] * scale[e]
            if projected:
                total += v * projected_tangent(F, curves[m], width[m], lame[m], volume[m], P, C, A)
            else:
                total += v * tangent(F, curves[m], width[m], lame[m], volume[m], P, C, A)
            for b in range(k):
                g0, g1, g2 = v * G[b, 0], v * G[b, 1], v * G[b, 2]
                for i in range(3):
                    out[cells[e, b], i] -= P[i, 0] * g0 + P[i, 1] * g1 + P[i, 2] * g2
                for r in range(9):
                    for c in range(3):
                        B[r, c] = A[r, 3 * c] * g0 + A[r, 3 * c + 1] * g1 + A[r, 3 * c + 2] * g2
                for a in range(b + 1):
                    for i in range(3):
                        for c in range(3):
                            K[3 * a + i, 3 * b + c] += (
                                B[3 * i, c] * G[a, 0] + B[3 * i + 1, c] * G[a, 1] + B[3 * i + 2, c] * G[a, 2]
                            )
        S = slots[e]
        for b in range(k):
            for a in range(b + 1):
                for i in range(3):
                    for c in range(3):
                        r, s = 3 * a + i, 3 * b + c
                        if S[r, s] >= 0:
                            data[S[r, s]] += K[r, s]
                        if a != b and S[s, r] >= 0:
                            data[S[s, r]] += K[r, s]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def gradients(x, cells, grads, out):
    """Deformation gradient of each element at its first quadrature point (ne, 3, 3)."""
    for e in range(len(cells)):
        _gradient(x, cells[e], grads[e, 0], out[e])
