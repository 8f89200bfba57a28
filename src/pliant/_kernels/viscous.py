"""Viscous stiffness of the elements: the basis of Rayleigh damping, always positive semi-definite.

The exact tangent of a strongly compressed element can be indefinite, and a damping matrix made of it would feed energy
into the motion. This one resists the rate of Green's strain, E' = sym(F^T F'), with the moduli of small strains
(Kelvin-Voigt): with the shape gradients G_a and r_a = F G_a, the block of nodes a and b is

    lambda r_a r_b^T + mu r_b r_a^T + mu (G_a . G_b) F F^T

Rigid motions of a body, however strained, have no strain rate and so are not braked.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def add_viscous_blocks(F, G, lam, mu, r, K):
    """Add the upper blocks of all nodes to K (3k, 3k); r (k, 3) is workspace.

    F (3, 3): deformation gradient; G (k, 3): shape gradients [1/m]. lam, mu: viscous moduli times volume [Pa s m^3].
    """
    xx = F[0, 0] * F[0, 0] + F[0, 1] * F[0, 1] + F[0, 2] * F[0, 2]
    xy = F[0, 0] * F[1, 0] + F[0, 1] * F[1, 1] + F[0, 2] * F[1, 2]
    xz = F[0, 0] * F[2, 0] + F[0, 1] * F[2, 1] + F[0, 2] * F[2, 2]
    yy = F[1, 0] * F[1, 0] + F[1, 1] * F[1, 1] + F[1, 2] * F[1, 2]
    yz = F[1, 0] * F[2, 0] + F[1, 1] * F[2, 1] + F[1, 2] * F[2, 2]
    zz = F[2, 0] * F[2, 0] + F[2, 1] * F[2, 1] + F[2, 2] * F[2, 2]
    k = len(G)
    for a in range(k):
        for i in range(3):
            r[a, i] = F[i, 0] * G[a, 0] + F[i, 1] * G[a, 1] + F[i, 2] * G[a, 2]
    for a in range(k):
        ax, ay, az = r[a, 0], r[a, 1], r[a, 2]
        lx, ly, lz, mx, my, mz = lam * ax, lam * ay, lam * az, mu * ax, mu * ay, mu * az
        g0, g1, g2 = mu * G[a, 0], mu * G[a, 1], mu * G[a, 2]
        for b in range(a, k):
            bx, by, bz = r[b, 0], r[b, 1], r[b, 2]
            dot = g0 * G[b, 0] + g1 * G[b, 1] + g2 * G[b, 2]
            K[3 * a, 3 * b] += lx * bx + mx * bx + dot * xx
            K[3 * a, 3 * b + 1] += lx * by + my * bx + dot * xy
            K[3 * a, 3 * b + 2] += lx * bz + mz * bx + dot * xz
            K[3 * a + 1, 3 * b] += ly * bx + mx * by + dot * xy
            K[3 * a + 1, 3 * b + 1] += ly * by + my * by + dot * yy
            K[3 * a + 1, 3 * b + 2] += ly * bz + mz * by + dot * yz
            K[3 * a + 2, 3 * b] += lz * bx + mx * bz + dot * xz
            K[3 * a + 2, 3 * b + 1] += lz * by + my * bz + dot * yz
            K[3 * a + 2, 3 * b + 2] += lz * bz + mz * bz + dot * zz


@njit(cache=True)
def viscous_stiffness(x, cells, grads, weights, lame, shear, slots, data):
    """Add the viscous stiffness of elements to data.

    lame, shear (ne,): moduli [Pa], already multiplied by any factor wanted.
    """
    k = cells.shape[1]
    F = np.empty((3, 3))
    r = np.empty((k, 3))
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
            add_viscous_blocks(F, G, weights[e, g] * lame[e], weights[e, g] * shear[e], r, K)
        for m in range(3 * k):
            for n in range(3 * k):
                if slots[e, m, n] >= 0:
                    data[slots[e, m, n]] += K[m, n] if n // 3 >= m // 3 else K[n, m]
