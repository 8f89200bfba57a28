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
    r = np.empty((k, 3))
    for e in range(len(cells)):
        if lame[e] == 0.0 and shear[e] == 0.0:
            continue
        place = slots[e]
        for g in range(weights.shape[1]):
            G = grads[e, g]
            F[:, :] = 0.0
            for a in range(k):
                for i in range(3):
                    for j in range(3):
                        F[i, j] += x[cells[e, a], i] * G[a, j]
            polar(F, R, S)
            for a in range(k):
                for i in range(3):
                    r[a, i] = R[i, 0] * G[a, 0] + R[i, 1] * G[a, 1] + R[i, 2] * G[a, 2]
            # The isotropic small-strain stiffness, with the shape gradients turned: r = R G.
            lam, mu = weights[e, g] * lame[e], weights[e, g] * shear[e]
            for a in range(k):
                for b in range(k):
                    dot = mu * (r[a, 0] * r[b, 0] + r[a, 1] * r[b, 1] + r[a, 2] * r[b, 2])
                    for i in range(3):
                        line = place[3 * a + i]
                        left, right = lam * r[a, i], mu * r[b, i]
                        for j in range(3):
                            if line[3 * b + j] >= 0:
                                data[line[3 * b + j]] += left * r[b, j] + right * r[a, j] + (dot if i == j else 0.0)
