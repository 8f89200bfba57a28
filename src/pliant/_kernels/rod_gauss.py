"""Compiled implicit time stepping of trees of rods at fourth order: Gauss collocation with two stages.

The accelerations a1, a2 at the two Gauss points of a step solve

    r(q_i, v_i, a_i) = 0,   v_i = v + h sum A_ij a_j,   q_i = q + h c_i v + h^2 sum (A A)_ij a_j.

A = T diag(z, conj z) T^-1, so the Newton matrix of both stages falls into one complex matrix of the size of the model,
Z = M + h z dr/dv + h^2 z^2 dr/dq. Its inverse is kept from step to step while the iteration contracts well: a step then
costs a few inverse dynamics. Like the midpoint rule it is stable at any step and keeps the energy of undamped rods.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.rod_dynamics import add_elastic, project, sweep
from pliant._kernels.rod_mass import mass_matrix
from pliant._kernels.rod_step import add_blocks, start_counting, subtract_loads
from pliant._kernels.rod_tangent import inverse_dynamics_derivatives
from pliant._kernels.rod_threads import thread_hessian

WINDOW = 2e-2  # [s]: an error of the velocity counts with the displacement it makes in this time, or in a step
ROOT = math.sqrt(3.0)
A = np.array([[0.25, 0.25 - ROOT / 6], [0.25 + ROOT / 6, 0.25]])
AA = A @ A
C = np.array([0.5 - ROOT / 6, 0.5 + ROOT / 6])
Z0 = complex(0.25, ROOT / 12)
# eigenvector (1, y) of A for Z0, and the first row of the inverse of [(1, y), (1, conj y)]
Y0 = (Z0 - 0.25) / A[0, 1]
LEFT = (-Y0.conjugate() / (Y0 - Y0.conjugate()), 1.0 / (Y0 - Y0.conjugate()))


@njit(cache=True, error_model="numpy")
def _tangent(t, w, tw, c, q, v, a, effort, still, lift, h, r, nn, inverse):
    """inverse (n, n) complex <- Z^-1 at a state; False if it is not finite."""
    Hq, Hv, M, P = nn[0], nn[1], nn[2], nn[3]
    inverse_dynamics_derivatives(t, w, tw, q, v, a, still, lift, r, Hq, Hv, True)
    mass_matrix(t, w, M)
    P[:, :] = 0.0
    thread_hessian(t, c, q, effort, P)
    add_blocks(t, t.K, Hq)
    add_blocks(t, t.D, Hv)
    Z = M + (h * Z0) * Hv + (h * h * Z0 * Z0) * (Hq - P)
    if not np.isfinite(Z).all():
        return False
    inverse[:, :] = np.linalg.inv(Z)
    return True


@njit(cache=True, error_model="numpy")
def _residual(t, w, c, q, v, a, tau, effort, still, lift, value, grad, r):
    """r (n,) <- unbalanced generalised force at a stage."""
    sweep(t, w, q, v, a, still, lift)
    project(t, w, r)
    add_elastic(t, q, v, r)
    subtract_loads(t, c, q, tau, effort, value, grad, r)


@njit(cache=True, error_model="numpy")
def gauss_rollout(
    t, w, tw, c, q0, v0, taus, efforts, lift, h, every, scale, tolerance, iterations, qs, vs, counts
):
    """Rollout by fixed steps h; arguments and counts as in `rod_step.rollout`."""
    n = q0.shape[0]
    steps = start_counting(counts)
    q, v, still = q0.copy(), v0.copy(), np.zeros(6)
    a, old, older = np.zeros((2, n)), np.zeros((2, n)), np.zeros((2, n))
    r, x, y = np.zeros((2, n)), np.zeros(n), np.zeros(n)
    nn, inverse, b = np.zeros((4, n, n)), np.zeros((n, n), np.complex128), np.zeros(n, np.complex128)
    value, grad = np.zeros(efforts.shape[1]), np.zeros((efforts.shape[1], n))
    qs[0] = q
    vs[0] = v
    part, made, rate = h, 0.0, 0.5  # step, the step of the kept inverse, and its rate of contraction
    same = 0
    u = np.zeros(4)
    for s in range(steps):
        tau = taus[min(s, taus.shape[0] - 1)]
        effort = efforts[min(s, efforts.shape[0] - 1)]
        gone = 0.0
        while gone < h * (1.0 - 1e-9):
            part = min(part, h - gone)
            if same >= 2:  # cubic through the four stages of the two steps before
                for e in range(2):
                    u[0], u[1], u[2], u[3] = C[0] - 2.0, C[1] - 2.0, C[0] - 1.0, C[1] - 1.0
                    for i in range(n):
                        a[e, i] = 0.0
                    for k in range(4):
                        f = 1.0
                        for m in range(4):
                            if m != k:
                                f *= (C[e] - u[m]) / (u[k] - u[m])
                        for i in range(n):
                            a[e, i] += f * (older[k, i] if k < 2 else old[k - 2, i])
            else:
                a[:, :] = old
            good, fresh = False, False
            before = 0.0
            k = 0
            while k < iterations:
                if abs(part - made) > 1e-9 * h or (rate > 0.5 and not fresh):
                    for i in range(n):
                        x[i] = q[i] + 0.5 * part * v[i]
                        y[i] = v[i] + 0.25 * part * (a[0, i] + a[1, i])
                    counts[1] += 1
                    if not _tangent(t, w, tw, c, x, y, a[0], effort, still, lift, part, r[0], nn, inverse):
                        break
                    made, fresh, rate = part, True, 0.3
                for e in range(2):
                    for i in range(n):
                        y[i] = v[i] + part * (A[e, 0] * a[0, i] + A[e, 1] * a[1, i])
                        x[i] = q[i] + part * (C[e] * v[i] + part * (AA[e, 0] * a[0, i] + AA[e, 1] * a[1, i]))
                    _residual(t, w, c, x, y, a[e], tau, effort, still, lift, value, grad, r[e])
                counts[0] += 2
                for i in range(n):
                    b[i] = LEFT[0] * r[0, i] + LEFT[1] * r[1, i]
                b[:] = inverse @ b
                size = total = 0.0
                for i in range(n):
                    d0, d1 = 2.0 * b[i].real, 2.0 * (Y0 * b[i]).real
                    a[0, i] -= d0
                    a[1, i] -= d1
                    f = (abs(d0) + abs(d1)) * scale[i]
                    total += f  # max() drops NaN, a sum keeps it
                    size = max(size, f)
                if not math.isfinite(total):
                    break
                size *= part * max(part, WINDOW)
                if k > 0 and before > 0.0:
                    rate = max(1e-2, min(size / before, 2.0))
                before = size
                if size * rate / (1.0 - min(rate, 0.9)) < tolerance:
                    good = True
                    break
                if rate > 0.9 and fresh:
                    break
                k += 1
            if not good:
                same, made, rate = 0, 0.0, 0.5
                part *= 0.5
                counts[3] += 1
                if part < h / 256.0:
                    counts[2] = s
                    return False
                continue
            for i in range(n):
                q[i] += part * (v[i] + part * ((0.25 + ROOT / 12) * a[0, i] + (0.25 - ROOT / 12) * a[1, i]))
                v[i] += 0.5 * part * (a[0, i] + a[1, i])
            older[:, :] = old
            old[:, :] = a
            gone += part
            same += 1
            if part < h and same > 1:
                part, same = 2.0 * part, 0
        if taus.shape[0] > 1 or efforts.shape[0] > 1:
            same = 0  # the force may jump: what was before it says little
        if (s + 1) % every == 0:
            qs[(s + 1) // every] = q
            vs[(s + 1) // every] = v
    return True
