"""The matrix-differential equation of the thesis, compiled: dynamics of constant-curvature links swept along the arm.

For comparison with the rollout of `pcc.py`, which finds the same dynamics without integrating along the arm.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.pcc import joint_law


@njit(cache=True)
def _adjoint(R, p, X):
    X[:3, :3] = R
    X[3:, 3:] = R
    X[:3, 3:] = 0.0
    for c in range(3):
        a, b, d = R[0, c], R[1, c], R[2, c]
        X[3, c] = p[1] * d - p[2] * b
        X[4, c] = p[2] * a - p[0] * d
        X[5, c] = p[0] * b - p[1] * a


@njit(cache=True)
def _adjoint_inverse(R, p, X):
    X[:3, :3] = R.T
    X[3:, 3:] = R.T
    X[:3, 3:] = 0.0
    for c in range(3):
        # -R^T hat(p)
        X[3 + c, 0] = -(R[1, c] * p[2] - R[2, c] * p[1])
        X[3 + c, 1] = -(R[2, c] * p[0] - R[0, c] * p[2])
        X[3 + c, 2] = -(R[0, c] * p[1] - R[1, c] * p[0])


@njit(cache=True)
def _bracket(x, X):
    """ad_x for x = (omega; v)."""
    X[:] = 0.0
    for b in range(2):
        o = 3 * b
        X[o, o + 1], X[o, o + 2], X[o + 1, o + 2] = -x[2], x[1], -x[0]
        X[o + 1, o], X[o + 2, o], X[o + 2, o + 1] = x[2], -x[1], x[0]
    X[3, 1], X[3, 2], X[4, 2] = -x[5], x[4], -x[3]
    X[4, 0], X[5, 0], X[5, 1] = x[5], -x[4], x[3]


@njit(cache=True)
def _flow(R, p, B1, B2, link, q, v, inertia, g, Rd, pd, B1d, B2d, Md, Cd, gd, X, Xi, A, J):
    """Derivatives along the arm of the pose, B1, B2, M, C and the weight."""
    o = 3 * link
    ky, kz, u = q[o + 1], q[o + 2], 1.0 + q[o]
    # R' = R hat(0, ky, kz), p' = R e_x (1 + eps)
    for c in range(3):
        Rd[c, 0] = R[c, 1] * kz - R[c, 2] * ky
        Rd[c, 1] = -R[c, 0] * kz
        Rd[c, 2] = R[c, 0] * ky
        pd[c] = u * R[c, 0]
    _adjoint(R, p, X)
    _adjoint_inverse(R, p, Xi)
    J[:] = Xi @ B1
    eta = J @ v
    _bracket(eta, A)
    B1d[:] = 0.0
    B2d[:] = 0.0
    # columns of the strain basis: stretch -> 3, bend_y -> 1, bend_z -> 2
    for c, s in ((0, 3), (1, 1), (2, 2)):
        for i in range(6):
            B1d[i, o + c] = X[i, s]
            total = 0.0
            for k in range(6):
                total += X[i, k] * A[k, s]
            B2d[i, o + c] = total
    S = Xi @ B2
    IJ = np.empty_like(J)
    IS = np.empty_like(J)
    for i in range(6):
        IJ[i] = inertia[i] * J[i]
        IS[i] = inertia[i] * S[i]
    Md[:] = J.T @ IJ
    # the form whose Mdot - 2C is skew: J^T I Ad^-1 B2 - J^T ad^T I J
    Cd[:] = J.T @ (IS - A.T @ IJ)
    acc = R.T @ g
    gd[:] = -inertia[3] * (J[3:].T @ acc)


@njit(cache=True)
def _rates(n):
    """Room for what `_flow` finds: derivatives of R, p, B1, B2, M, C and the weight."""
    return (
        np.zeros((3, 3)),
        np.zeros(3),
        np.zeros((6, n)),
        np.zeros((6, n)),
        np.zeros((n, n)),
        np.zeros((n, n)),
        np.zeros(n),
    )


@njit(cache=True)
def mde_sweep(q, v, length, inertia, g, R0, steps, M, C, fg, R, p, J):
    """Explicit second-order (Ralston) sweep along the arm: M, C (n, n), weight fg (n,), tip pose and
    Jacobian.

    inertia (6,): per length, angular first. J (6, n): body Jacobian of the tip.
    """
    n = q.shape[0]
    links = n // 3
    h = length / steps
    B1, B2 = np.zeros((6, n)), np.zeros((6, n))
    M[:], C[:], fg[:] = 0.0, 0.0, 0.0
    R[:], p[:] = R0, 0.0
    X, Xi, A = np.zeros((6, 6)), np.zeros((6, 6)), np.zeros((6, 6))
    Jw = np.zeros((6, n))
    k1, k2 = _rates(n), _rates(n)
    a = 2.0 / 3.0 * h
    for s in range(steps):
        link = min(int((s + 0.5) * links / steps), links - 1)
        _flow(R, p, B1, B2, link, q, v, inertia, g, k1[0], k1[1], k1[2], k1[3], k1[4], k1[5], k1[6], X, Xi, A, Jw)
        _flow(
            R + a * k1[0], p + a * k1[1], B1 + a * k1[2], B2 + a * k1[3], link, q, v, inertia, g,
            k2[0], k2[1], k2[2], k2[3], k2[4], k2[5], k2[6], X, Xi, A, Jw,
        )  # fmt: skip
        R += h * (0.25 * k1[0] + 0.75 * k2[0])
        p += h * (0.25 * k1[1] + 0.75 * k2[1])
        B1 += h * (0.25 * k1[2] + 0.75 * k2[2])
        B2 += h * (0.25 * k1[3] + 0.75 * k2[3])
        M += h * (0.25 * k1[4] + 0.75 * k2[4])
        C += h * (0.25 * k1[5] + 0.75 * k2[5])
        fg += h * (0.25 * k1[6] + 0.75 * k2[6])
        # two columns normalised, the third by the cross product
        x = R[:, 0] / np.sqrt(np.sum(R[:, 0] ** 2))
        y = R[:, 1] - np.sum(x * R[:, 1]) * x
        y = y / np.sqrt(np.sum(y**2))
        R[:, 0], R[:, 1], R[:, 2] = x, y, np.cross(x, y)
    _adjoint_inverse(R, p, Xi)
    J[:] = Xi @ B1


@njit(cache=True)
def mde_rollout(
    q, v, length, inertia, g, R0, elements, axial, bending, secant, damp, taus, h, steps, iterations, tol, qs, tips
):
    """Implicit trapezoidal steps (algorithm E2) on the swept dynamics; returns (steps done, sweeps)."""
    n = q.shape[0]
    M, C, fg = np.zeros((n, n)), np.zeros((n, n)), np.zeros(n)
    R, p, J = np.zeros((3, 3)), np.zeros(3), np.zeros((6, n))
    f, K = np.zeros(n), np.zeros((n, n))
    sweeps = 0
    mde_sweep(q, v, length, inertia, g, R0, elements, M, C, fg, R, p, J)
    joint_law(axial, bending, secant, q, f, K)
    a0 = np.linalg.solve(M, taus[0] - C @ v - fg - f - damp * v)
    qs[0], tips[0] = q, p
    for s in range(steps):
        tau = taus[min(s + 1, taus.shape[0] - 1)]
        q1, v1 = q + h * v, v.copy()
        good = False
        a1 = a0.copy()
        for _ in range(iterations):
            mde_sweep(q1, v1, length, inertia, g, R0, elements, M, C, fg, R, p, J)
            sweeps += 1
            f[:] = 0.0
            K[:, :] = 0.0
            joint_law(axial, bending, secant, q1, f, K)
            a1 = np.linalg.solve(M, tau - C @ v1 - fg - f - damp * v1)
            eq = q1 - q - 0.5 * h * (v + v1)
            ev = v1 - v - 0.5 * h * (a0 + a1)
            # (M + h/2 D + h^2/4 K) dv = -M ev + h/2 K eq,  dq = -eq + h/2 dv
            T = M + 0.5 * h * C + 0.25 * h * h * K
            for i in range(n):
                T[i, i] += 0.5 * h * damp[i]
            dv = np.linalg.solve(T, 0.5 * h * (K @ eq) - M @ ev)
            dq = 0.5 * h * dv - eq
            q1 = q1 + dq
            v1 = v1 + dv
            if not np.isfinite(q1).all():
                return s, sweeps
            if np.abs(dq).max() < tol:
                good = True
                break
        if not good:
            return s, sweeps
        q, v, a0 = q1, v1, a1
        qs[s + 1], tips[s + 1] = q, p
    return steps, sweeps
