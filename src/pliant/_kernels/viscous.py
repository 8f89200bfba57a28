"""Stiffness of the elements in their rotated frames, always positive semi-definite: the basis of Rayleigh damping.

The exact tangent of a strongly compressed element can be indefinite, and a damping matrix made of it would feed energy
into the motion. This one is the small-strain stiffness carried along by the rotation R of each element.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.polar import polar


@njit(cache=True)
def rotated_stiffness(x, cells, grads, weights, lame, shear, slots, data):
    """Add the rotated small-strain stiffness of elements to data.

    lame, shear (ne,): moduli [Pa], already multiplied by any factor wanted.
    """
    k = cells.shape[1]
    F = np.empty((3, 3))
    R = np.empty((3, 3))
    S = np.empty((3, 3))
    A = np.empty((9, 9))
    B = np.empty((9, 3))
    K = np.empty((3 * k, 3 * k))
    for e in range(len(cells)):
        if lame[e] == 0.0 and shear[e] == 0.0:
            continue
        K[:, :] = 0.0
        for g in range(weights.shape[1]):
            G = grads[e, g]
            F[:, :] = 0.0
            for a in range(k):
                for i in range(3):
                    for j in range(3):
                        F[i, j] += x[cells[e, a], i] * G[a, j]
            polar(F, R, S)
            for i in range(3):
                for j in range(3):
                    for m in range(3):
                        for n in range(3):
                            v = lame[e] * R[i, j] * R[m, n] + shear[e] * R[i, n] * R[m, j]
                            if i == m and j == n:
                                v += shear[e]
                            A[3 * i + j, 3 * m + n] = v
            for b in range(k):
                for r in range(9):
                    for m in range(3):
                        B[r, m] = weights[e, g] * (
                            A[r, 3 * m] * G[b, 0] + A[r, 3 * m + 1] * G[b, 1] + A[r, 3 * m + 2] * G[b, 2]
                        )
                for a in range(k):
                    for i in range(3):
                        for m in range(3):
                            K[3 * a + i, 3 * b + m] += (
                                B[3 * i, m] * G[a, 0] + B[3 * i + 1, m] * G[a, 1] + B[3 * i + 2, m] * G[a, 2]
                            )
        place = slots[e]
        for r in range(3 * k):
            for s in range(3 * k):
                if place[r, s] >= 0:
                    data[place[r, s]] += K[r, s]
