"""Kernels of the geometric model: shape energy, its force and its tangent.

The energy density of a body element with deformation gradient F = R S is

    W(F) = psi(d) + U,      d = |F - R|,

with psi'(d) = 2 d s(d) and s the secant shear modulus: constant for a linear body, a table for a hyperelastic one.
The volume is measured in one of three ways (`volume`):

    MEAN         U = lambda/2 (tr S - 3)^2           mean stretch; exact Euclidean projection, no det needed
    DETERMINANT  U = lambda/2 (J - 1)^2              J = det F; volume kept at every strain
    CUBE_ROOT    U = 9/2 lambda (J^(1/3) - 1)^2      the repaired formula of the source

The first Piola-Kirchhoff stress is P = 2 s(d) (F - R) + dU/dF. With PRINCIPAL added to the way the volume is measured
the first part is a sum over the principal stretches instead, W = f(s_0) + f(s_1) + f(s_2) + U, see
`geometric_principal`. Arrays:

    x      (N, 3)       node positions
    cells  (ne, k)      nodes of the elements
    grads  (ne, ng, k, 3), weights (ne, ng)   shape gradients and volumes at the quadrature points
    row    (ne,)        material of each element: row of `lame` (nm,) and of `curves`
    curves (nm, nk, 5)  per interval of d: s as a cubic of the local coordinate (4), energy at its start (1);
                        per interval of the stretch, from STRETCH_LOW on: f' as a cubic (4), f at its start (1)
    width  (nm,)        width of the intervals; 0 for a constant modulus, which is then curves[m, 0, 0]
    volume (nm,)        how the volume is measured, plus PRINCIPAL for curves of the principal stretches
    share  (nm,)        part of `lame` that acts at the quadrature points; the rest acts on the mean dilatation
    scale  (ne,)        factor on the energy
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.elements import add_cofactor_derivative, cofactor
from pliant._kernels.geometric_laws import CUBE_ROOT, DETERMINANT, MEAN, PRINCIPAL, secant, volume_law
from pliant._kernels.geometric_principal import (
    add_volume,
    finish_frame,
    framed_block,
    principal_frame,
    principal_stress,
)
from pliant._kernels.materials import _corotational_tangent
from pliant._kernels.polar import rotation, svd_scalars

__all__ = [
    "CUBE_ROOT", "DETERMINANT", "MEAN", "PRINCIPAL",
    "energies", "forces", "gradients", "secant", "stress", "tangent", "tangents", "volume_law",
]  # fmt: skip
_UNIT = np.array([1.0, 0.0])  # moduli that turn the co-rotational law into |F - R|^2


@njit(cache=True, nogil=True, error_model="numpy")
def _gradient(x, cell, dN, F):
    F[:, :] = 0.0
    for a in range(len(cell)):
        n = cell[a]
        for i in range(3):
            for j in range(3):
                F[i, j] += x[n, i] * dN[a, j]


@njit(cache=True, nogil=True, error_model="numpy")
def stress(F, curve, width, lame, volume, P, C, push=0.0):
    """Write the stress into P; return the energy density. C is work space.

    `push` [Pa] adds the stress of push times the element's measure of volume, tr S or det F; its energy is not counted
    (mean dilatation, see `forces`).
    """
    if volume >= PRINCIPAL:
        return principal_stress(F, curve, width, lame, volume - PRINCIPAL, P, push)
    t = rotation(F, P)
    if volume == MEAN:
        q = lame * (t - 3.0) + push
        if width == 0.0:
            m = 2.0 * curve[0, 0]
            dd = 0.0
            for i in range(3):
                for j in range(3):
                    r = P[i, j]
                    e = F[i, j] - r
                    dd += e * e
                    P[i, j] = m * e + q * r
            return 0.5 * (m * dd + (q - push) * (t - 3.0))
        for i in range(3):
            for j in range(3):
                C[i, j] = P[i, j]
        U = 0.5 * (q - push) * (t - 3.0)
    else:
        J = cofactor(F, C)
        U, q, _ = volume_law(lame, J, volume)
        q += push
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
def tangent(F, curve, width, lame, volume, P, C, A, push=0.0):
    """Write stress P (3, 3) and tangent A (9, 9); return the energy density. C is work space, `push` as in `stress`.

    Not for curves over principal stretches: their tangent is sparse in the frames of the stretches, see `_frame`.
    """
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
        q += push
        turn = q
    else:
        U, q, dq = volume_law(lame, cofactor(F, C), volume)
        q += push
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
def _frame(F, curve, width, lame, volume, projected, push, P, C, U, V, T, w, H):
    """Stress, frames and moduli in them, see `geometric_principal.principal_frame`; return the energy density."""
    if volume >= PRINCIPAL:
        return principal_frame(F, curve, width, lame, volume - PRINCIPAL, projected, push, P, U, V, T, w, H)
    W = stress(F, curve, width, lame, volume, P, C, push)
    u0, u1, u2, u3, u4, u5, u6, u7, u8, s0, s1, s2, v0, v1, v2, v3, v4, v5, v6, v7, v8 = svd_scalars(F)
    U[0, 0], U[0, 1], U[0, 2], U[1, 0], U[1, 1], U[1, 2], U[2, 0], U[2, 1], U[2, 2] = u0, u1, u2, u3, u4, u5, u6, u7, u8
    V[0, 0], V[0, 1], V[0, 2], V[1, 0], V[1, 1], V[1, 2], V[2, 0], V[2, 1], V[2, 2] = v0, v1, v2, v3, v4, v5, v6, v7, v8
    s = (s0, s1, s2)
    d = math.sqrt((s0 - 1.0) ** 2 + (s1 - 1.0) ** 2 + (s2 - 1.0) ** 2)
    _, m, dm = secant(curve, width, d)
    k = 2.0 * dm / d if d > 1e-12 else 0.0
    for i in range(3):
        w[i] = 2.0 * m * (s[i] - 1.0)
        for j in range(3):
            H[i, j] = k * (s[i] - 1.0) * (s[j] - 1.0)
        H[i, i] += 2.0 * m
    add_volume(s, lame, volume, push, w, H)
    finish_frame(s, w, H, projected, T)
    return W


# Elements with several quadrature points lock where rubber keeps its volume at each of them. There the volume's energy
# acts on the mean dilatation of the element, U(mean J), and only a share of its modulus stays at the points:
#     E = sum_g w_g (W_share(F_g)) + V (U(mean) - U_share(mean)),      share (nm,) <= lame (nm,)


@njit(cache=True, nogil=True, error_model="numpy")
def _measure(F, volume, C):
    """How large an element is, 1 at rest: det F, or tr S - 2; its derivative into C."""
    if volume % PRINCIPAL == MEAN:
        return rotation(F, C) - 2.0
    return cofactor(F, C)


@njit(cache=True, nogil=True, error_model="numpy")
def _dilated(x, cell, G, w, lame, share, volume, F, C):
    """Volume of an element, and energy density, pressure and modulus of what acts on its mean dilatation."""
    if share == lame:
        return 0.0, 0.0, 0.0, 0.0
    J, V = 0.0, 0.0
    for g in range(len(w)):
        _gradient(x, cell, G[g], F)
        J += w[g] * _measure(F, volume, C)
        V += w[g]
    kind = volume % PRINCIPAL
    U, q, dq = volume_law(lame - share, J / V, DETERMINANT if kind == MEAN else kind)
    return V, U, q, dq


@njit(cache=True, nogil=True, error_model="numpy")
def energies(x, cells, grads, weights, row, curves, width, lame, volume, share, out):
    """Energy of each element [J], unscaled."""
    F, P, C = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(cells)):
        m = row[e]
        V, U, _, _ = _dilated(x, cells[e], grads[e], weights[e], lame[m], share[m], volume[m], F, C)
        total = V * U
        for g in range(weights.shape[1]):
            _gradient(x, cells[e], grads[e, g], F)
            total += weights[e, g] * stress(F, curves[m], width[m], share[m], volume[m], P, C)
        out[e] = total


@njit(cache=True, nogil=True, error_model="numpy")
def forces(x, cells, grads, weights, row, curves, width, lame, volume, share, scale, first, last, out):
    """out -= d energy / d x for the elements first..last; returns their energy [J]."""
    k = cells.shape[1]
    F, P, C = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    total = 0.0
    for e in range(first, last):
        m = row[e]
        V, U, push, _ = _dilated(x, cells[e], grads[e], weights[e], lame[m], share[m], volume[m], F, C)
        total += V * U * scale[e]
        for g in range(weights.shape[1]):
            G = grads[e, g]
            _gradient(x, cells[e], G, F)
            v = weights[e, g] * scale[e]
            total += v * stress(F, curves[m], width[m], share[m], volume[m], P, C, push)
            for a in range(k):
                n = cells[e, a]
                for i in range(3):
                    out[n, i] -= v * (P[i, 0] * G[a, 0] + P[i, 1] * G[a, 1] + P[i, 2] * G[a, 2])
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def tangents(
    x, cells, grads, weights, row, curves, width, lame, volume, share, scale, projected, chosen, owner, part, slots,
    data, out,
):  # fmt: skip
    """Tangent (projected to be positive semi-definite if asked) into data, out -= d energy / d x; the energy [J].

    Of the chosen elements, and only what belongs to nodes that a part owns: rows, forces, energies of elements whose
    first node it owns (as in `elements`, for several threads).
    """
    k = cells.shape[1]
    n = 3 * k
    F, P, C = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    A, B, K, D = np.empty((9, 9)), np.empty((9, 3)), np.empty((n, n)), np.empty(n)
    U, V, T, w, H = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3, 3)), np.empty(3), np.empty((3, 3))
    turned = np.empty((k, 3))
    total = 0.0
    for at in range(len(chosen)):
        e = chosen[at]
        m = row[e]
        K[:, :] = 0.0
        D[:] = 0.0
        energy = 0.0
        vol, dilated, push, ddU = _dilated(x, cells[e], grads[e], weights[e], lame[m], share[m], volume[m], F, C)
        energy += vol * dilated * scale[e]
        framed = projected or volume[m] >= PRINCIPAL
        for g in range(weights.shape[1]):
            G = grads[e, g]
            _gradient(x, cells[e], G, F)
            v = weights[e, g] * scale[e]
            if framed:
                energy += v * _frame(F, curves[m], width[m], share[m], volume[m], projected, push, P, C, U, V, T, w, H)
                T *= v
                for a in range(k):
                    for j in range(3):
                        turned[a, j] = G[a, 0] * V[0, j] + G[a, 1] * V[1, j] + G[a, 2] * V[2, j]
                for b in range(k):
                    for a in range(b + 1):
                        framed_block(T, U, turned[a], turned[b], K[3 * a : 3 * a + 3, 3 * b : 3 * b + 3])
            else:
                energy += v * tangent(F, curves[m], width[m], share[m], volume[m], P, C, A, push)
            if ddU != 0.0:
                _measure(F, volume[m], C)
            for b in range(k):
                g0, g1, g2 = v * G[b, 0], v * G[b, 1], v * G[b, 2]
                own = owner[cells[e, b]] == part
                for i in range(3):
                    if own:
                        out[cells[e, b], i] -= P[i, 0] * g0 + P[i, 1] * g1 + P[i, 2] * g2
                    if ddU != 0.0:
                        D[3 * b + i] += C[i, 0] * g0 + C[i, 1] * g1 + C[i, 2] * g2
                if framed:
                    continue
                for r in range(9):
                    for c in range(3):
                        B[r, c] = A[r, 3 * c] * g0 + A[r, 3 * c + 1] * g1 + A[r, 3 * c + 2] * g2
                for a in range(b + 1):
                    for i in range(3):
                        for c in range(3):
                            K[3 * a + i, 3 * b + c] += (
                                B[3 * i, c] * G[a, 0] + B[3 * i + 1, c] * G[a, 1] + B[3 * i + 2, c] * G[a, 2]
                            )
        if ddU != 0.0 and scale[e] != 0.0:
            for r in range(n):
                for c in range(n):
                    K[r, c] += ddU / (vol * scale[e]) * D[r] * D[c]
        if owner[cells[e, 0]] == part:
            total += energy
        S = slots[e]
        for b in range(k):
            below = owner[cells[e, b]] == part
            for a in range(b + 1):
                above = owner[cells[e, a]] == part
                for i in range(3):
                    for c in range(3):
                        r, s = 3 * a + i, 3 * b + c
                        if above and S[r, s] >= 0:
                            data[S[r, s]] += K[r, s]
                        if below and a != b and S[s, r] >= 0:
                            data[S[s, r]] += K[r, s]
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def gradients(x, cells, grads, out):
    """Deformation gradient of each element at its first quadrature point (ne, 3, 3)."""
    for e in range(len(cells)):
        _gradient(x, cells[e], grads[e, 0], out[e])
