"""Elastic energy, force and tangent of solid elements, scattered into global arrays.

Linear tetrahedra have their own kernels because they are the hot path (their tangent: `_kernels.tetrahedra`); every
other element (quadratic tetrahedron, hexahedron) goes through the quadrature kernels. Arrays:

    x       (N, 3)      node positions
    cells   (ne, k)     nodes of the elements
    material(ne,)       index into codes (nm,) and params (nm, np)
    scale   (ne,)       factor on the elastic energy of each element
    slots   (ne, 3k, 3k) positions in the values of the global matrix, -1 where a dof is held

Several threads share an assembly by nodes: each passes over the elements that touch its nodes, in ascending order, and
adds what belongs to these nodes, so that every sum is the same whoever computes it:

    chosen  (nc,)       the elements to pass over
    owner   (N,)        which part of the work each node belongs to
    part                the part to do: forces and rows of its nodes, energies of elements whose first node it owns;
                        -1 if there is one part alone, which then owns everything
    energies(ne,)       scaled energy of each element [J]; inf where the law does not admit the deformation
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.materials import distortion_energy, distortion_stress, distortion_tangent, volumetric
from pliant._kernels.materials_invariants import add_cofactor_derivative


@njit(cache=True, nogil=True)
def cofactor(F, C):
    """Write the cofactor matrix of F into C and return det F."""
    C[0, 0] = F[1, 1] * F[2, 2] - F[1, 2] * F[2, 1]
    C[0, 1] = F[1, 2] * F[2, 0] - F[1, 0] * F[2, 2]
    C[0, 2] = F[1, 0] * F[2, 1] - F[1, 1] * F[2, 0]
    C[1, 0] = F[0, 2] * F[2, 1] - F[0, 1] * F[2, 2]
    C[1, 1] = F[0, 0] * F[2, 2] - F[0, 2] * F[2, 0]
    C[1, 2] = F[0, 1] * F[2, 0] - F[0, 0] * F[2, 1]
    C[2, 0] = F[0, 1] * F[1, 2] - F[0, 2] * F[1, 1]
    C[2, 1] = F[0, 2] * F[1, 0] - F[0, 0] * F[1, 2]
    C[2, 2] = F[0, 0] * F[1, 1] - F[0, 1] * F[1, 0]
    return F[0, 0] * C[0, 0] + F[0, 1] * C[0, 1] + F[0, 2] * C[0, 2]


@njit(cache=True, nogil=True)
def _gradient(x, cell, dN, F):
    """F = sum_a x_a (x) dN_a."""
    F[:, :] = 0.0
    for a in range(len(cell)):
        n = cell[a]
        for i in range(3):
            for j in range(3):
                F[i, j] += x[n, i] * dN[a, j]


# ---- linear tetrahedra ---------------------------------------------------------------------------


@njit(cache=True, nogil=True)
def linear_energies(x, cells, grads, volumes, material, codes, params, first, last, out):
    """Energy of linear tetrahedra first..last, unscaled [J]; inf where the law does not admit the deformation."""
    F = np.empty((3, 3))
    C = np.empty((3, 3))
    for e in range(first, last):
        _gradient(x, cells[e], grads[e], F)
        J = cofactor(F, C)
        m = material[e]
        U, _, _ = volumetric(codes[m], params[m], J)
        out[e] = volumes[e] * (distortion_energy(codes[m], params[m], F) + U)


@njit(inline="always")
def _add_tet_forces(cells, e, G, v, P, owner, part, out):
    """out -= v P : G for the nodes of a linear tetrahedron that belong to a part; the sum over its nodes is zero."""
    for i in range(3):
        s = 0.0
        for a in range(1, 4):
            f = v * (P[i, 0] * G[a, 0] + P[i, 1] * G[a, 1] + P[i, 2] * G[a, 2])
            s += f
            if part < 0 or owner[cells[e, a]] == part:
                out[cells[e, a], i] -= f
        if part < 0 or owner[cells[e, 0]] == part:
            out[cells[e, 0], i] += s


@njit(inline="always")
def scatter_rows(K, n, cells, e, slots, owner, part, data):
    """Add the rows of an element matrix (n, n) that belong to nodes of a part to the values of the global matrix."""
    for a in range(n // 3):
        if part < 0 or owner[cells[e, a]] == part:
            for r in range(3 * a, 3 * a + 3):
                for s in range(n):
                    if slots[e, r, s] >= 0:
                        data[slots[e, r, s]] += K[r, s]


@njit(cache=True, nogil=True)
def linear_forces(x, cells, grads, volumes, material, codes, params, scale, chosen, owner, part, energies, out):
    """out -= d energy / d x for linear tetrahedra."""
    F = np.empty((3, 3))
    P = np.empty((3, 3))
    C = np.empty((3, 3))
    for e in chosen:
        G = grads[e]
        _gradient(x, cells[e], G, F)
        J = cofactor(F, C)
        m = material[e]
        W = distortion_stress(codes[m], params[m], F, P)
        U, dU, _ = volumetric(codes[m], params[m], J)
        v = volumes[e] * scale[e]
        if part < 0 or owner[cells[e, 0]] == part:
            energies[e] = v * (W + U)
        if not np.isfinite(W + U):
            energies[e] = np.inf
            return
        for i in range(3):
            for j in range(3):
                P[i, j] += dU * C[i, j]
        _add_tet_forces(cells, e, G, v, P, owner, part, out)


@njit(cache=True, nogil=True)
def _total_tangent(code, p, F, P, C, A):
    """Stress and tangent of the whole law at one point; returns the energy density."""
    W = distortion_tangent(code, p, F, P, A)
    J = cofactor(F, C)
    U, dU, ddU = volumetric(code, p, J)
    if dU != 0.0 or ddU != 0.0:
        for r in range(9):
            c = ddU * C[r // 3, r % 3]
            for s in range(9):
                A[r, s] += c * C[s // 3, s % 3]
        add_cofactor_derivative(dU, F, A)
        for i in range(3):
            for j in range(3):
                P[i, j] += dU * C[i, j]
    return W + U


# ---- elements with several quadrature points -------------------------------------------------------
# With `projected`, the volumetric energy acts on the mean dilatation of the element, so that it cannot lock; a share of
# bulk modulus `pointwise` (nm,), of the order of the shear modulus, stays at the quadrature points, so that dilatation
# that varies within the element is not free either (one element across a beam would otherwise be 40 % too soft).


@njit(cache=True, nogil=True)
def _mean_dilatation(x, cell, dN, w, F, C):
    """Mean of det F over an element."""
    volume = 0.0
    mean = 0.0
    for g in range(len(w)):
        _gradient(x, cell, dN[g], F)
        mean += w[g] * cofactor(F, C)
        volume += w[g]
    return mean / volume, volume


@njit(cache=True, nogil=True)
def quadrature_energies(x, cells, grads, weights, material, codes, params, projected, pointwise, first, last, out):
    """Energy of the elements first..last, unscaled [J]."""
    F = np.empty((3, 3))
    C = np.empty((3, 3))
    for e in range(first, last):
        m = material[e]
        mean, volume = _mean_dilatation(x, cells[e], grads[e], weights[e], F, C)
        total = 0.0
        if projected:
            U, _, _ = volumetric(codes[m], params[m], mean)
            total += volume * (U - 0.5 * pointwise[m] * (mean - 1.0) ** 2)
        for g in range(weights.shape[1]):
            _gradient(x, cells[e], grads[e, g], F)
            W = distortion_energy(codes[m], params[m], F)
            J = cofactor(F, C)
            if projected:
                W += 0.5 * pointwise[m] * (J - 1.0) ** 2
            else:
                U, _, _ = volumetric(codes[m], params[m], J)
                W += U
            total += weights[e, g] * W
        out[e] = total


@njit(cache=True, nogil=True)
def quadrature_forces(
    x, cells, grads, weights, material, codes, params, projected, pointwise, scale, chosen, owner, part, energies, out
):
    """out -= d energy / d x for elements with quadrature."""
    k = cells.shape[1]
    F = np.empty((3, 3))
    P = np.empty((3, 3))
    C = np.empty((3, 3))
    for e in chosen:
        m = material[e]
        total = 0.0
        dU, dM = 0.0, 0.0
        if projected:
            mean, volume = _mean_dilatation(x, cells[e], grads[e], weights[e], F, C)
            U, dM, _ = volumetric(codes[m], params[m], mean)
            dM -= pointwise[m] * (mean - 1.0)
            total += volume * (U - 0.5 * pointwise[m] * (mean - 1.0) ** 2)
        for g in range(weights.shape[1]):
            G = grads[e, g]
            _gradient(x, cells[e], G, F)
            J = cofactor(F, C)
            W = distortion_stress(codes[m], params[m], F, P)
            if projected:
                dU = dM + pointwise[m] * (J - 1.0)
                W += 0.5 * pointwise[m] * (J - 1.0) ** 2
            else:
                U, dU, _ = volumetric(codes[m], params[m], J)
                W += U
            if not np.isfinite(W):
                energies[e] = np.inf
                return
            total += weights[e, g] * W
            v = weights[e, g] * scale[e]
            for a in range(k):
                if part >= 0 and owner[cells[e, a]] != part:
                    continue
                for i in range(3):
                    f = 0.0
                    for j in range(3):
                        f += (P[i, j] + dU * C[i, j]) * G[a, j]
                    out[cells[e, a], i] -= v * f
        if part < 0 or owner[cells[e, 0]] == part:
            energies[e] = scale[e] * total


@njit(cache=True, nogil=True)
def quadrature_tangents(
    x, cells, grads, weights, material, codes, params, projected, pointwise, scale, chosen, owner, part, energies,
    slots, data, out,
):
    """Tangent into data and out -= d energy / d x for elements with quadrature."""
    k = cells.shape[1]
    n = 3 * k
    F = np.empty((3, 3))
    P = np.empty((3, 3))
    C = np.empty((3, 3))
    A = np.empty((9, 9))
    B = np.empty((9, 3))
    K = np.empty((n, n))
    c = np.empty(n)
    for e in chosen:
        m = material[e]
        total = 0.0
        K[:, :] = 0.0
        dM, ddU, volume = 0.0, 0.0, 1.0
        if projected:
            mean, volume = _mean_dilatation(x, cells[e], grads[e], weights[e], F, C)
            U, dM, ddU = volumetric(codes[m], params[m], mean)
            dM -= pointwise[m] * (mean - 1.0)
            ddU -= pointwise[m]
            total += volume * (U - 0.5 * pointwise[m] * (mean - 1.0) ** 2)
            c[:] = 0.0
        for g in range(weights.shape[1]):
            G = grads[e, g]
            v = weights[e, g] * scale[e]
            _gradient(x, cells[e], G, F)
            if projected:
                W = distortion_tangent(codes[m], params[m], F, P, A)
                J = cofactor(F, C)
                dU = dM + pointwise[m] * (J - 1.0)
                W += 0.5 * pointwise[m] * (J - 1.0) ** 2
                add_cofactor_derivative(dU, F, A)
                for r in range(9):
                    for t in range(9):
                        A[r, t] += pointwise[m] * C[r // 3, r % 3] * C[t // 3, t % 3]
                for i in range(3):
                    for j in range(3):
                        P[i, j] += dU * C[i, j]
                for a in range(k):
                    for i in range(3):
                        c[3 * a + i] += weights[e, g] * (C[i, 0] * G[a, 0] + C[i, 1] * G[a, 1] + C[i, 2] * G[a, 2])
            else:
                W = _total_tangent(codes[m], params[m], F, P, C, A)
            if not np.isfinite(W):
                energies[e] = np.inf
                return
            total += weights[e, g] * W
            for b in range(k):
                g0, g1, g2 = v * G[b, 0], v * G[b, 1], v * G[b, 2]
                if part < 0 or owner[cells[e, b]] == part:
                    for i in range(3):
                        out[cells[e, b], i] -= P[i, 0] * g0 + P[i, 1] * g1 + P[i, 2] * g2
                for r in range(9):
                    for j in range(3):
                        B[r, j] = A[r, 3 * j] * g0 + A[r, 3 * j + 1] * g1 + A[r, 3 * j + 2] * g2
                for a in range(b + 1):
                    for i in range(3):
                        for j in range(3):
                            K[3 * a + i, 3 * b + j] += (
                                B[3 * i, j] * G[a, 0] + B[3 * i + 1, j] * G[a, 1] + B[3 * i + 2, j] * G[a, 2]
                            )
        f = ddU * scale[e] / volume
        if f != 0.0:
            for r in range(n):
                for s in range(3 * (r // 3), n):
                    K[r, s] += f * c[r] * c[s]
        for r in range(n):  # what is left of the diagonal blocks, by symmetry
            for s in range(3 * (r // 3)):
                K[r, s] = K[s, r]
        scatter_rows(K, n, cells, e, slots, owner, part, data)
        if part < 0 or owner[cells[e, 0]] == part:
            energies[e] = scale[e] * total
