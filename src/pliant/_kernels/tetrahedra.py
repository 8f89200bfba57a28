"""Tangent and viscous stiffness of linear tetrahedra in one pass.

Co-rotational elements have a shorter way than through the 9 x 9 tangent of their law: with the rotation R, its rows
r_i, and c_a,i = G_a x r_i, the block of nodes a and b is

    2 mu G_a . G_b delta_ik + lambda (R G_a)_i (R G_b)_k + w c_a,i . (tr S I - S)^-1 c_b,k

with w = lambda tr(S - I) - 2 mu.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.elements import _add_tet_forces, _gradient, _total_tangent, scatter_rows
from pliant._kernels.material_codes import COROTATIONAL
from pliant._kernels.materials import _finish_corotational
from pliant._kernels.polar import rotation_and_spin
from pliant._kernels.viscous import add_viscous_blocks


@njit(cache=True, nogil=True, error_model="numpy")
def _corotational_blocks(p, F, G, v, P, R, c, d, K):
    """Upper blocks of all nodes into K and the stress into P; returns the energy density.

    c (12, 4), d (4, 12): workspace.
    """
    t, g00, g01, g02, g11, g12, g22 = rotation_and_spin(F, R)
    w = v * (p[1] * (t - 3.0) - 2.0 * p[0])
    g00, g01, g02, g11, g12, g22 = w * g00, w * g01, w * g02, w * g11, w * g12, w * g22
    lam = v * p[1]
    for a in range(4):
        x, y, z = G[a, 0], G[a, 1], G[a, 2]
        for i in range(3):
            R0, R1, R2 = R[i, 0], R[i, 1], R[i, 2]
            n = 3 * a + i
            c0, c1, c2 = y * R2 - z * R1, z * R0 - x * R2, x * R1 - y * R0
            r = R0 * x + R1 * y + R2 * z
            c[n, 0], c[n, 1], c[n, 2], c[n, 3] = c0, c1, c2, lam * r
            d[0, n] = g00 * c0 + g01 * c1 + g02 * c2
            d[1, n] = g01 * c0 + g11 * c1 + g12 * c2
            d[2, n] = g02 * c0 + g12 * c1 + g22 * c2
            d[3, n] = r
    for m in range(12):
        c0, c1, c2, c3 = c[m, 0], c[m, 1], c[m, 2], c[m, 3]
        for n in range(K.shape[1]):  # 12, which the compiler must not know: it would unroll instead of using vectors
            K[m, n] = c0 * d[0, n] + c1 * d[1, n] + c2 * d[2, n] + c3 * d[3, n]
    stretch = 2.0 * v * p[0]
    for a in range(4):
        for b in range(a, 4):
            dot = stretch * (G[a, 0] * G[b, 0] + G[a, 1] * G[b, 1] + G[a, 2] * G[b, 2])
            for i in range(3):
                K[3 * a + i, 3 * b + i] += dot
    for i in range(3):
        for j in range(3):
            P[i, j] = R[i, j]
    return _finish_corotational(p, F, P, t)


@njit(cache=True, nogil=True)
def _general_blocks(A, G, v, B, K):
    """Upper blocks of all nodes into K from the tangent A (9, 9) of any law; B (9, 3) is workspace.

    Those of node 0 follow from translation invariance.
    """
    for b in range(1, 4):
        g0, g1, g2 = v * G[b, 0], v * G[b, 1], v * G[b, 2]
        for r in range(9):
            for k in range(3):
                B[r, k] = A[r, 3 * k] * g0 + A[r, 3 * k + 1] * g1 + A[r, 3 * k + 2] * g2
        for a in range(1, b + 1):
            for i in range(3):
                for k in range(3):
                    K[3 * a + i, 3 * b + k] = (
                        B[3 * i, k] * G[a, 0] + B[3 * i + 1, k] * G[a, 1] + B[3 * i + 2, k] * G[a, 2]
                    )
    for b in range(1, 4):
        for i in range(3):
            for k in range(3):  # the blocks (1, b)..(b, b), then those below the diagonal by symmetry
                w = 0.0
                for a in range(1, 4):
                    w -= K[3 * a + i, 3 * b + k] if a <= b else K[3 * b + k, 3 * a + i]
                K[i, 3 * b + k] = w
    for i in range(3):
        for k in range(3):
            K[i, k] = -(K[k, 3 + i] + K[k, 6 + i] + K[k, 9 + i])


@njit(cache=True, nogil=True)
def linear_tangents(
    x, cells, grads, volumes, material, codes, params, viscous, scale, chosen, owner, part, energies, slots, data, out,
    others,
):
    """Tangent into data and out -= d energy / d x for linear tetrahedra.

    viscous (nm, 2): moduli lambda and mu [Pa] of a viscous stiffness that is added to the tangent.
    others: None if all materials are co-rotational: then no other law is compiled, which takes ten seconds. Else True.
    """
    F = np.empty((3, 3))
    P = np.empty((3, 3))
    C = np.empty((3, 3))
    R = np.empty((3, 3))
    A = np.empty((9, 9))
    B = np.empty((9, 3))
    c = np.empty((12, 4))
    d = np.empty((4, 12))
    carried = np.empty((4, 3))
    K = np.empty((12, 12))
    for e in chosen:
        G = grads[e]
        _gradient(x, cells[e], G, F)
        m = material[e]
        v = volumes[e] * scale[e]
        lam, mu = v * viscous[m, 0], v * viscous[m, 1]
        if others is None:  # noqa: SIM114  numba leaves out whole branches of such conditions
            W = _corotational_blocks(params[m], F, G, v, P, R, c, d, K)
        elif codes[m] == COROTATIONAL:
            W = _corotational_blocks(params[m], F, G, v, P, R, c, d, K)
        else:
            W = _total_tangent(codes[m], params[m], F, P, C, A)
            if np.isfinite(W):
                _general_blocks(A, G, v, B, K)
        if not np.isfinite(W):
            energies[e] = np.inf
            return
        if part < 0 or owner[cells[e, 0]] == part:
            energies[e] = v * W
        _add_tet_forces(cells, e, G, v, P, owner, part, out)
        if lam != 0.0 or mu != 0.0:
            add_viscous_blocks(F, G, lam, mu, carried, K)
        for r in range(1, 12):
            for s in range(r):
                K[r, s] = K[s, r]
        scatter_rows(K, 12, cells, e, slots, owner, part, data)
