"""Compiled mechanics of a serial chain of slides and hinges that carries point-like masses with inertia.

Joint kinds: 0 slide along z, 1 hinge about y, 2 hinge about x, 3 hinge about z (of the frame before the
joint).
For joints i <= j the second derivative of a carried point is a_i x (dx/dj) if i is a hinge and 0 if it is a
slide.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def walk(kind, attach, attach_R, attach_p, value, axes, origins, R, p):
    """Axes and origins of all joints and the frames after them.

    Attach[i] >= 0 puts a fixed frame before joint i.
    """
    M, o = np.eye(3), np.zeros(3)
    turn = np.empty((3, 3))
    for i in range(len(kind)):
        a = attach[i]
        if a >= 0:
            o = o + M @ attach_p[a]
            M = M @ attach_R[a]
        origins[i] = o
        k = kind[i]
        if k == 0:
            axes[i] = M[:, 2]
            o = o + value[i] * M[:, 2]
        else:
            c, s = np.cos(value[i]), np.sin(value[i])
            turn[:] = 0.0
            if k == 1:
                axes[i] = M[:, 1]
                turn[0, 0], turn[0, 2], turn[1, 1], turn[2, 0], turn[2, 2] = c, s, 1.0, -s, c
            elif k == 2:
                axes[i] = M[:, 0]
                turn[0, 0], turn[1, 1], turn[1, 2], turn[2, 1], turn[2, 2] = 1.0, c, -s, s, c
            else:
                axes[i] = M[:, 2]
                turn[0, 0], turn[0, 1], turn[1, 0], turn[1, 1], turn[2, 2] = c, -s, s, c, 1.0
            M = M @ turn
        R[i] = M
        p[i] = o


@njit(cache=True)
def point(kind, value, axes, R, p, joint, fraction, offset, x):
    """Position of a point carried after a joint; on a slide it may sit at a fraction of its length."""
    for c in range(3):
        x[c] = p[joint, c]
        for d in range(3):
            x[c] += R[joint, c, d] * offset[d]
        if kind[joint] == 0:
            x[c] -= (1.0 - fraction) * value[joint] * axes[joint, c]


@njit(cache=True)
def jacobian(kind, axes, origins, joint, fraction, x, J):
    """d(angular; linear)/d value of a carried point, J (6, n) (zero beyond its joint)."""
    J[:] = 0.0
    for i in range(joint + 1):
        a0, a1, a2 = axes[i, 0], axes[i, 1], axes[i, 2]
        if kind[i] == 0:
            f = fraction if i == joint else 1.0
            J[3, i], J[4, i], J[5, i] = f * a0, f * a1, f * a2
        else:
            r0, r1, r2 = x[0] - origins[i, 0], x[1] - origins[i, 1], x[2] - origins[i, 2]
            J[0, i], J[1, i], J[2, i] = a0, a1, a2
            J[3, i], J[4, i], J[5, i] = a1 * r2 - a2 * r1, a2 * r0 - a0 * r2, a0 * r1 - a1 * r0


@njit(cache=True)
def jacobians(kind, value, axes, origins, R, p, joints, fractions, offsets, x, J):
    """Positions (m, 3) and Jacobians (m, 6, n) of several points."""
    for k in range(len(joints)):
        point(kind, value, axes, R, p, joints[k], fractions[k], offsets[k], x[k])
        jacobian(kind, axes, origins, joints[k], fractions[k], x[k], J[k])


@njit(cache=True)
def gravity(kind, axes, joints, mass, J, g, force, hessian):
    """Generalised weight (n,) and its negative derivative (n, n) from the masses' Jacobians."""
    force[:] = 0.0
    hessian[:] = 0.0
    for k in range(len(joints)):
        w0, w1, w2 = mass[k] * g[0], mass[k] * g[1], mass[k] * g[2]
        for j in range(joints[k] + 1):
            b0, b1, b2 = J[k, 3, j], J[k, 4, j], J[k, 5, j]
            force[j] += w0 * b0 + w1 * b1 + w2 * b2
            # (b x w): a_i . (b_j x w) = w . (a_i x b_j)
            c0, c1, c2 = b1 * w2 - b2 * w1, b2 * w0 - b0 * w2, b0 * w1 - b1 * w0
            for i in range(j + 1):
                if kind[i] != 0:
                    h = axes[i, 0] * c0 + axes[i, 1] * c1 + axes[i, 2] * c2
                    hessian[i, j] -= h
                    if i != j:
                        hessian[j, i] -= h


@njit(cache=True)
def inertia(R, joints, mass, transverse, axial, J, M):
    """Mass matrix (n, n)."""
    n = M.shape[0]
    M[:] = 0.0
    for k in range(len(joints)):
        z = R[joints[k], :, 2]
        for i in range(joints[k] + 1):
            # I w with I = transverse (1 - z z^T) + axial z z^T
            along = J[k, 0, i] * z[0] + J[k, 1, i] * z[1] + J[k, 2, i] * z[2]
            extra = (axial[k] - transverse[k]) * along
            l0 = transverse[k] * J[k, 0, i] + extra * z[0]
            l1 = transverse[k] * J[k, 1, i] + extra * z[1]
            l2 = transverse[k] * J[k, 2, i] + extra * z[2]
            p0, p1, p2 = mass[k] * J[k, 3, i], mass[k] * J[k, 4, i], mass[k] * J[k, 5, i]
            for j in range(i + 1):
                M[i, j] += l0 * J[k, 0, j] + l1 * J[k, 1, j] + l2 * J[k, 2, j]
                M[i, j] += p0 * J[k, 3, j] + p1 * J[k, 4, j] + p2 * J[k, 5, j]
    for i in range(n):
        for j in range(i):
            M[j, i] = M[i, j]


@njit(cache=True)
def bias(kind, axes, R, joints, mass, transverse, axial, J, rate, drift, tau):
    """Velocity forces (n,); `drift` is the second rate of the joint values at zero acceleration (n,)."""
    tau[:] = 0.0
    for k in range(len(joints)):
        last = joints[k]
        w, dw, a = np.zeros(3), np.zeros(3), np.zeros(3)
        # v_j-weighted columns summed from the tip: a_i x (v_i v_i J_i + 2 sum_{j > i} v_i v_j J_j)
        tail = np.zeros(3)
        for i in range(last, -1, -1):
            for c in range(3):
                a[c] += J[k, 3 + c, i] * drift[i]
                dw[c] += J[k, c, i] * drift[i]
            if kind[i] != 0:
                v = rate[i]
                b = v * J[k, 3:, i] + 2.0 * tail
                a += v * np.cross(axes[i], b)
            tail = tail + rate[i] * J[k, 3:, i]
        for i in range(last + 1):
            if kind[i] != 0:
                dw += np.cross(w, axes[i]) * rate[i]
                w = w + rate[i] * axes[i]
        z = R[last, :, 2].copy()
        extra = axial[k] - transverse[k]
        spin = transverse[k] * w + extra * np.dot(z, w) * z
        moment = transverse[k] * dw + extra * np.dot(z, dw) * z + np.cross(w, spin)
        for i in range(last + 1):
            for c in range(3):
                tau[i] += J[k, c, i] * moment[c] + mass[k] * J[k, 3 + c, i] * a[c]
