"""Co-rotational beam elements between nodes with a position and a unit quaternion: energy, force, tangent.

The frame of an element is the mean of its node rotations, m = Q1 + Q2 (normalised); in it the deformation is

    gamma = R(m)^T (p2 - p1) / l,      kappa = log(R1^T R2) / l,

and the energy is quadratic in what these differ from their rest values. Linearised, this is the stiffness of the
Euler-Bernoulli (or Timoshenko) beam, so nodal deflections are exact for small loads; a constant moment bends a chain of
elements into a regular polygon. Everything is a polynomial of the quaternions but g(r) = 2 acos(r) / sqrt(1 - r^2), so
derivatives are taken in the quaternions and pulled back to rotations, Q -> exp(theta / 2) Q.

A node has six unknowns: its rotation theta in world axes and its translation, (theta, p).
"""

from __future__ import annotations

import numpy as np
from numba import njit


def _rotation_forms() -> np.ndarray:
    """Matrices A with R(m)[j, k] = m^T A[j, k] m."""
    A = np.zeros((3, 3, 4, 4))
    signs = np.array([[1, 1, -1, -1], [1, -1, 1, -1], [1, -1, -1, 1]], dtype=float)
    for j in range(3):
        A[j, j] = np.diag(signs[j])
    for j, k, (a, b), (c, d), s in (
        (0, 1, (1, 2), (0, 3), -1), (0, 2, (1, 3), (0, 2), 1), (1, 0, (1, 2), (0, 3), 1),
        (1, 2, (2, 3), (0, 1), -1), (2, 0, (1, 3), (0, 2), -1), (2, 1, (2, 3), (0, 1), 1),
    ):  # fmt: skip
        A[j, k, a, b] = A[j, k, b, a] = 1.0
        A[j, k, c, d] = A[j, k, d, c] = s
    return A


def _relative_forms() -> np.ndarray:
    """Matrices B with vec(Q1^* Q2)[k] = Q1^T B[k] Q2."""
    B = np.zeros((3, 4, 4))
    for k in range(3):
        i, j = (k + 1) % 3, (k + 2) % 3
        B[k, 0, k + 1], B[k, k + 1, 0] = 1.0, -1.0
        B[k, i + 1, j + 1], B[k, j + 1, i + 1] = -1.0, 1.0
    return B


_A = _rotation_forms()
_B = _relative_forms()


@njit(cache=True)
def _log_factor(r):
    """g(r) = 2 acos(r) / sqrt(1 - r^2) and its two derivatives."""
    x = 1.0 - r
    if x < 0.03:
        c, power = 1.0, 1.0
        g, g1, g2 = 0.0, 0.0, 0.0
        before, before2 = 0.0, 0.0
        for k in range(12):
            g += c * power
            if k >= 1:
                g1 += k * c * before
            if k >= 2:
                g2 += k * (k - 1) * c * before2
            before2, before, power = before, power, power * x
            c *= (k + 1.0) / (2.0 * k + 3.0)
        return 2.0 * g, -2.0 * g1, 2.0 * g2
    s2 = max(1.0 - r * r, 1e-300)
    g = 2.0 * np.arccos(max(r, -1.0)) / np.sqrt(s2)
    g1 = (g * r - 2.0) / s2
    return g, g1, (3.0 * r * g1 + g) / s2


@njit(cache=True)
def _measures(p1, Q1, p2, Q2, length, rest, y, J, H, weight):
    """Deformation y (6,) = (gamma, kappa) minus rest, its derivative J (6, 14); H += weight y d2y if not empty.

    The unknowns are (p1, Q1, p2, Q2); weight is the stiffness (6,).
    """
    J[:, :] = 0.0
    second = H.shape[0] > 0
    m, d, Am = np.empty(4), np.empty(3), np.empty((3, 4))
    w, a, mixed = np.empty(4), np.empty(3), np.empty((3, 4))
    n = 0.0
    for i in range(4):
        m[i] = Q1[i] + Q2[i]
        n += m[i] * m[i]
    for j in range(3):
        d[j] = p2[j] - p1[j]
    # loops throughout: products of matrices this small cost more to call than to do
    for k in range(3):
        value = 0.0
        for j in range(3):
            a[j] = 0.0
            for i in range(4):
                Am[j, i] = 0.0
                for h in range(4):
                    Am[j, i] += _A[j, k, i, h] * m[h]
                a[j] += m[i] * Am[j, i]
            a[j] /= n * length
            value += d[j] * a[j]
            for i in range(4):
                mixed[j, i] = 2.0 * Am[j, i] / (n * length) - 2.0 * a[j] * m[i] / n
        y[k] = value - rest[k]
        for i in range(4):
            w[i] = d[0] * mixed[0, i] + d[1] * mixed[1, i] + d[2] * mixed[2, i]
        for j in range(3):
            J[k, j], J[k, 7 + j] = -a[j], a[j]
        for i in range(4):
            J[k, 3 + i] = w[i]
            J[k, 10 + i] = w[i]
        if second:
            f = weight[k] * y[k]
            for i in range(4):
                for j in range(4):
                    bend = d[0] * _A[0, k, i, j] + d[1] * _A[1, k, i, j] + d[2] * _A[2, k, i, j]
                    v = 2.0 * bend / length - 2.0 * m[i] * w[j] - 2.0 * w[i] * m[j]
                    if i == j:
                        v -= 2.0 * value
                    v *= f / n
                    H[3 + i, 3 + j] += v
                    H[3 + i, 10 + j] += v
                    H[10 + i, 3 + j] += v
                    H[10 + i, 10 + j] += v
            for j in range(3):
                for i in range(4):
                    v = f * mixed[j, i]
                    for q in (3, 10):
                        H[j, q + i] -= v
                        H[q + i, j] -= v
                        H[7 + j, q + i] += v
                        H[q + i, 7 + j] += v
    r = Q1[0] * Q2[0] + Q1[1] * Q2[1] + Q1[2] * Q2[2] + Q1[3] * Q2[3]
    g, g1, g2 = _log_factor(r)
    b1, b2 = np.empty(4), np.empty(4)
    for k in range(3):
        v = 0.0
        for i in range(4):
            b1[i], b2[i] = 0.0, 0.0
            for j in range(4):
                b1[i] += _B[k, j, i] * Q1[j]
                b2[i] += _B[k, i, j] * Q2[j]
            v += Q1[i] * b2[i]
        y[3 + k] = g * v / length - rest[3 + k]
        for i in range(4):
            J[3 + k, 3 + i] = (g1 * v * Q2[i] + g * b2[i]) / length
            J[3 + k, 10 + i] = (g1 * v * Q1[i] + g * b1[i]) / length
        if second:
            f = weight[3 + k] * y[3 + k] / length
            for i in range(4):
                for j in range(4):
                    H[3 + i, 3 + j] += f * (g2 * v * Q2[i] * Q2[j] + g1 * (Q2[i] * b2[j] + b2[i] * Q2[j]))
                    H[10 + i, 10 + j] += f * (g2 * v * Q1[i] * Q1[j] + g1 * (Q1[i] * b1[j] + b1[i] * Q1[j]))
                    c = g2 * v * Q2[i] * Q1[j] + g1 * (Q2[i] * b1[j] + b2[i] * Q1[j]) + g * _B[k, i, j]
                    if i == j:
                        c += g1 * v
                    H[3 + i, 10 + j] += f * c
                    H[10 + j, 3 + i] += f * c


@njit(cache=True)
def _spread(Q, P):
    """P (4, 3) = dQ/dtheta for Q -> exp(theta / 2) Q."""
    w, x, y, z = Q[0], Q[1], Q[2], Q[3]
    P[0, 0], P[0, 1], P[0, 2] = -0.5 * x, -0.5 * y, -0.5 * z
    P[1, 0], P[1, 1], P[1, 2] = 0.5 * w, 0.5 * z, -0.5 * y
    P[2, 0], P[2, 1], P[2, 2] = -0.5 * z, 0.5 * w, 0.5 * x
    P[3, 0], P[3, 1], P[3, 2] = 0.5 * y, -0.5 * x, 0.5 * w


@njit(cache=True)
def _same_side(Q1, Q2, out):
    """out (4,): the quaternion of the rotation Q2 that is nearer to Q1."""
    dot = Q1[0] * Q2[0] + Q1[1] * Q2[1] + Q1[2] * Q2[2] + Q1[3] * Q2[3]
    for k in range(4):
        out[k] = -Q2[k] if dot < 0.0 else Q2[k]


@njit(cache=True)
def _pull(J, P1, P2, out):
    """out (m, 12): derivatives J (m, 14) with respect to (p1, Q1, p2, Q2), with respect to (theta, p) of both nodes."""
    for r in range(J.shape[0]):
        for k in range(3):
            out[r, k], out[r, 6 + k] = 0.0, 0.0
            for i in range(4):
                out[r, k] += J[r, 3 + i] * P1[i, k]
                out[r, 6 + k] += J[r, 10 + i] * P2[i, k]
            out[r, 3 + k], out[r, 9 + k] = J[r, k], J[r, 7 + k]


@njit(cache=True)
def _pull_rows(half, P1, P2, K):
    """K (12, 12) += what `_pull` does, on the rows of half (14, 12)."""
    for c in range(12):
        for k in range(3):
            first, second = 0.0, 0.0
            for i in range(4):
                first += P1[i, k] * half[3 + i, c]
                second += P2[i, k] * half[10 + i, c]
            K[k, c] += first
            K[6 + k, c] += second
            K[3 + k, c] += half[k, c]
            K[9 + k, c] += half[7 + k, c]


@njit(cache=True)
def element_forces(p, Q, ends, lengths, stiffness, rest, mode, force, blocks):
    """Elastic energy [J]; force (n, 6) -= its gradient; blocks (ne, 12, 12): tangent.

    Args:
        p, Q: positions (n, 3) and unit quaternions (n, 4) of the nodes.
        ends: nodes of the elements (ne, 2).
        lengths: rest lengths (ne,).
        stiffness: l (EA, GA, GA, GJ, EI, EI) (ne, 6), the shear terms reduced so that bending is exact.
        rest: rest values of (gamma, kappa) (ne, 6).
        mode: 0 force only, 1 exact tangent, 2 only its material (positive semi-definite) part and no force.
    """
    total = 0.0
    y, J = np.empty(6), np.empty((6, 14))
    H = np.zeros((14 if mode == 1 else 0, 14))
    P1, P2, Q2, stress = np.empty((4, 3)), np.empty((4, 3)), np.empty(4), np.empty(6)
    T, half = np.empty((6, 12)), np.empty((14, 12))
    for e in range(len(ends)):
        a, b = ends[e]
        Q1 = Q[a]
        _same_side(Q1, Q[b], Q2)
        H[:, :] = 0.0
        c = stiffness[e]
        _measures(p[a], Q1, p[b], Q2, lengths[e], rest[e], y, J, H, c)
        _spread(Q1, P1)
        _spread(Q2, P2)
        _pull(J, P1, P2, T)
        for k in range(6):
            stress[k] = c[k] * y[k]
            total += 0.5 * stress[k] * y[k]
        if mode != 2:
            for k in range(6):
                for i in range(6):
                    force[a, i] -= stress[k] * T[k, i]
                    force[b, i] -= stress[k] * T[k, 6 + i]
        if mode != 0:
            K = blocks[e]
            for i in range(12):
                for j in range(12):
                    v = 0.0
                    for k in range(6):
                        v += c[k] * T[k, i] * T[k, j]
                    K[i, j] = v
        if mode == 1:
            _pull(H, P1, P2, half)
            _pull_rows(half, P1, P2, K)
            # Second derivative of Q along exp(theta / 2) Q: -1/4 Q on the diagonal.
            first, second = 0.0, 0.0
            for k in range(6):
                for i in range(4):
                    first += stress[k] * J[k, 3 + i] * Q1[i]
                    second += stress[k] * J[k, 10 + i] * Q2[i]
            for i in range(3):
                K[i, i] -= 0.25 * first
                K[6 + i, 6 + i] -= 0.25 * second
    return total


@njit(cache=True)
def measure(p, Q, ends, lengths, out):
    """Deformation (gamma, kappa) of the elements (ne, 6)."""
    y, J = np.empty(6), np.empty((6, 14))
    zero, Q2 = np.zeros(6), np.empty(4)
    H = np.zeros((0, 14))
    for e in range(len(ends)):
        a, b = ends[e]
        _same_side(Q[a], Q[b], Q2)
        _measures(p[a], Q[a], p[b], Q2, lengths[e], zero, y, J, H, zero)
        out[e] = y


@njit(cache=True)
def add_moment(r, f, block):
    """block (6, 6) += second derivative of f . exp(theta) r with respect to theta."""
    dot = r @ f
    for i in range(3):
        for j in range(3):
            block[i, j] += 0.5 * (f[i] * r[j] + r[i] * f[j])
        block[i, i] -= dot
