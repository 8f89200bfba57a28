"""Position, rotation and Jacobian of a point inside an element, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.polar import svd_scalars


@njit(cache=True)
def place_point(x, nodes, weights, grads, position, R, spin):
    """Position (3,), rotation R (3, 3) of F = R S, and d(angular vector)/dx, spin (k, 3, 3), of an embedded point.

    R^T dR = [w]x with (tr(S) I - S) w = axial(R^T dF - dF^T R); spin[k, a, i] = d(R w)_a / d x_ki.
    """
    F = np.zeros((3, 3))
    position[:] = 0.0
    n = nodes.size
    for k in range(n):
        for i in range(3):
            v = x[nodes[k], i]
            position[i] += weights[k] * v
            for j in range(3):
                F[i, j] += v * grads[k, j]
    u = svd_scalars(F)
    U = np.array(u[0:9]).reshape(3, 3)
    V = np.array(u[12:21]).reshape(3, 3)
    s = (u[9], u[10], u[11])
    for i in range(3):
        for j in range(3):
            R[i, j] = U[i, 0] * V[j, 0] + U[i, 1] * V[j, 1] + U[i, 2] * V[j, 2]
    # (tr(S) I - S)^-1 has the eigenvectors V and the eigenvalues 1 / (sum of the two other singular values)
    floor = 1e-9 * (abs(s[0]) + 1e-300)
    inverse = np.zeros((3, 3))
    for m in range(3):
        d = s[(m + 1) % 3] + s[(m + 2) % 3]
        d = d if abs(d) > floor else floor
        for a in range(3):
            for b in range(3):
                # R (tr S - S)^-1 = U diag(1/d) V^T
                inverse[a, b] += U[a, m] * V[b, m] / d
    for k in range(n):
        for i in range(3):
            # axial vector of R^T dF for dF_ij = dx_ki g_j: a_m = eps_mjl (R^T dF)_lj = eps_mjl R_il g_j
            a0 = grads[k, 1] * R[i, 2] - grads[k, 2] * R[i, 1]
            a1 = grads[k, 2] * R[i, 0] - grads[k, 0] * R[i, 2]
            a2 = grads[k, 0] * R[i, 1] - grads[k, 1] * R[i, 0]
            for a in range(3):
                spin[k, a, i] = inverse[a, 0] * a0 + inverse[a, 1] * a1 + inverse[a, 2] * a2


@njit(cache=True)
def point_rows(dof, nodes, weights, spin, out):
    """Rows (6, nv) of a point whose nodes are all free or held: angular, then linear."""
    for k in range(nodes.size):
        for i in range(3):
            d = dof[nodes[k], i]
            if d >= 0:
                out[3 + i, d] += weights[k]
                for a in range(3):
                    out[a, d] += spin[k, a, i]


@njit(cache=True)
def place_points(x, nodes, weights, grads, rest, dof, position, rotation, rows):
    """`place_point` and `point_rows` of several points with as many nodes each, all of them free or held.

    rest (n, 3, 3): orientations at rest. rows (n, 6, nv), zero; or empty, and then left alone.
    """
    R = np.empty((3, 3))
    spin = np.empty((nodes.shape[1], 3, 3))
    for p in range(len(nodes)):
        place_point(x, nodes[p], weights[p], grads[p], position[p], R, spin)
        for i in range(3):
            for j in range(3):
                rotation[p, i, j] = R[i, 0] * rest[p, 0, j] + R[i, 1] * rest[p, 1, j] + R[i, 2] * rest[p, 2, j]
        if len(rows):
            point_rows(dof, nodes[p], weights[p], spin, rows[p])


@njit(cache=True)
def settle_nodes(x, q, free):
    """x[free] = q over the flat coordinates of the free nodes."""
    flat = x.reshape(-1)
    for i in range(len(free)):
        flat[free[i]] = q[i]


@njit(cache=True)
def carry(x, q, nodes, part_of, axes, start, count):
    """Move nodes (m,) of x (n, 3) with the translating parts that carry them: x += axes[part] q[start[part] ...]."""
    for m in range(nodes.size):
        p = part_of[m]
        for i in range(3):
            moved = 0.0
            for k in range(count[p]):
                moved += axes[p, i, k] * q[start[p] + k]
            x[nodes[m], i] += moved
