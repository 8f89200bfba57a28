"""The local step of the geometric model, for linear tetrahedra: targets, rotations and forces in one pass.

As `geometric.forces`, written out for four nodes: the hot path of the local/global iteration. `x` may hold several
poses at once (`batch_forces`). Also the enclosed volume of chambers with its gradient.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.geometric import stress
from pliant._kernels.polar import rotation_and_spin


@njit(cache=True, nogil=True, error_model="numpy")
def tet_forces(x, cells, grads, volumes, row, curves, width, lame, volume, scale, first, last, out):
    """out -= d energy / d x for the tets first..last; grads (ne, 3, 3) of their nodes 1..3; returns the energy."""
    F, P, C = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    total = 0.0
    for e in range(first, last):
        n0, n1, n2, n3 = cells[e, 0], cells[e, 1], cells[e, 2], cells[e, 3]
        a00, a01, a02 = grads[e, 0, 0], grads[e, 0, 1], grads[e, 0, 2]
        a10, a11, a12 = grads[e, 1, 0], grads[e, 1, 1], grads[e, 1, 2]
        a20, a21, a22 = grads[e, 2, 0], grads[e, 2, 1], grads[e, 2, 2]
        for i in range(3):
            o = x[n0, i]
            u, v, w = x[n1, i] - o, x[n2, i] - o, x[n3, i] - o
            F[i, 0] = u * a00 + v * a10 + w * a20
            F[i, 1] = u * a01 + v * a11 + w * a21
            F[i, 2] = u * a02 + v * a12 + w * a22
        m = row[e]
        k = volumes[e] * scale[e]
        total += k * stress(F, curves[m], width[m], lame[m], volume[m], P, C)
        for i in range(3):
            p0, p1, p2 = k * P[i, 0], k * P[i, 1], k * P[i, 2]
            u = p0 * a00 + p1 * a01 + p2 * a02
            v = p0 * a10 + p1 * a11 + p2 * a12
            w = p0 * a20 + p1 * a21 + p2 * a22
            out[n0, i] += u + v + w
            out[n1, i] -= u
            out[n2, i] -= v
            out[n3, i] -= w
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def batch_forces(x, cells, grads, volumes, row, curves, width, lame, volume, scale, first, last, out):
    """As `tet_forces` for the poses first..last of x (nb, N, 3)."""
    n = len(cells)
    for b in range(first, last):
        tet_forces(x[b], cells, grads, volumes, row, curves, width, lame, volume, scale, 0, n, out[b])


@njit(cache=True, nogil=True, error_model="numpy")
def enclosed_volume(x, triangles, out):
    """Volume inside a closed surface of triangles [m^3]; its gradient is added to out (N, 3)."""
    total = 0.0
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            bc = (x[b, j] * x[c, k] - x[b, k] * x[c, j]) / 6.0
            out[a, i] += bc
            out[b, i] += (x[c, j] * x[a, k] - x[c, k] * x[a, j]) / 6.0
            out[c, i] += (x[a, j] * x[b, k] - x[a, k] * x[b, j]) / 6.0
            total += x[a, i] * bc
    return total


@njit(cache=True, nogil=True, error_model="numpy")
def _exp(w0, w1, w2, Q):
    """Rotation matrix of a rotation vector, into Q."""
    t2 = w0 * w0 + w1 * w1 + w2 * w2
    if t2 < 1e-12:
        a, b = 1.0 - t2 / 6.0, 0.5 - t2 / 24.0
    else:
        t = math.sqrt(t2)
        a, b = math.sin(t) / t, (1.0 - math.cos(t)) / t2
    c = 1.0 - b * t2
    Q[0, 0], Q[0, 1], Q[0, 2] = c + b * w0 * w0, b * w0 * w1 - a * w2, b * w0 * w2 + a * w1
    Q[1, 0], Q[1, 1], Q[1, 2] = b * w0 * w1 + a * w2, c + b * w1 * w1, b * w1 * w2 - a * w0
    Q[2, 0], Q[2, 1], Q[2, 2] = b * w0 * w2 - a * w1, b * w1 * w2 + a * w0, c + b * w2 * w2


@njit(cache=True, nogil=True, error_model="numpy")
def turned_targets(x, dx, cells, grads, targets, strains):
    """Deformation gradients that a step dx leads to when its rotations are carried out exactly (ne, ng, 3, 3).

    F = R S and dF = R ([w]x S + dS) give the target R exp([w]x) (S + dS). `strains` (ne,) receives |dS|.
    """
    k = cells.shape[1]
    F, D, R, Q, T = np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3)), np.empty((3, 3))
    for e in range(len(cells)):
        worst = 0.0
        for g in range(grads.shape[1]):
            F[:, :] = 0.0
            D[:, :] = 0.0
            for a in range(k):
                n = cells[e, a]
                for i in range(3):
                    for j in range(3):
                        F[i, j] += x[n, i] * grads[e, g, a, j]
                        D[i, j] += dx[n, i] * grads[e, g, a, j]
            _, g00, g01, g02, g11, g12, g22 = rotation_and_spin(F, R)
            # B = R^T dF, in the rotated frame; its skew part turns
            for i in range(3):
                for j in range(3):
                    T[i, j] = R[0, i] * D[0, j] + R[1, i] * D[1, j] + R[2, i] * D[2, j]
            z0, z1, z2 = T[2, 1] - T[1, 2], T[0, 2] - T[2, 0], T[1, 0] - T[0, 1]
            w0 = g00 * z0 + g01 * z1 + g02 * z2
            w1 = g01 * z0 + g11 * z1 + g12 * z2
            w2 = g02 * z0 + g12 * z1 + g22 * z2
            size = 0.0
            for j in range(3):
                s0 = R[0, 0] * F[0, j] + R[1, 0] * F[1, j] + R[2, 0] * F[2, j]
                s1 = R[0, 1] * F[0, j] + R[1, 1] * F[1, j] + R[2, 1] * F[2, j]
                s2 = R[0, 2] * F[0, j] + R[1, 2] * F[1, j] + R[2, 2] * F[2, j]
                d0 = T[0, j] - (w1 * s2 - w2 * s1)
                d1 = T[1, j] - (w2 * s0 - w0 * s2)
                d2 = T[2, j] - (w0 * s1 - w1 * s0)
                size += d0 * d0 + d1 * d1 + d2 * d2
                T[0, j], T[1, j], T[2, j] = s0 + d0, s1 + d1, s2 + d2
            worst = max(worst, math.sqrt(size))
            _exp(w0, w1, w2, Q)
            for i in range(3):
                a0 = R[i, 0] * Q[0, 0] + R[i, 1] * Q[1, 0] + R[i, 2] * Q[2, 0]
                a1 = R[i, 0] * Q[0, 1] + R[i, 1] * Q[1, 1] + R[i, 2] * Q[2, 1]
                a2 = R[i, 0] * Q[0, 2] + R[i, 1] * Q[1, 2] + R[i, 2] * Q[2, 2]
                for j in range(3):
                    targets[e, g, i, j] = a0 * T[0, j] + a1 * T[1, j] + a2 * T[2, j]
        strains[e] = worst


@njit(cache=True, nogil=True, error_model="numpy")
def target_forces(x, cells, grads, weights, targets, out):
    """out += forces that draw elements to target gradients: -d/dx of sum weights/2 |F - target|^2."""
    k = cells.shape[1]
    F = np.empty((3, 3))
    for e in range(len(cells)):
        for g in range(grads.shape[1]):
            F[:, :] = 0.0
            for a in range(k):
                n = cells[e, a]
                for i in range(3):
                    for j in range(3):
                        F[i, j] += x[n, i] * grads[e, g, a, j]
            v = weights[e, g]
            for i in range(3):
                d0 = v * (targets[e, g, i, 0] - F[i, 0])
                d1 = v * (targets[e, g, i, 1] - F[i, 1])
                d2 = v * (targets[e, g, i, 2] - F[i, 2])
                for a in range(k):
                    out[cells[e, a], i] += d0 * grads[e, g, a, 0] + d1 * grads[e, g, a, 1] + d2 * grads[e, g, a, 2]
