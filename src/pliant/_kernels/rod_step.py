"""Compiled implicit time stepping of trees of rods: the implicit midpoint rule, converged by Newton's method.

With qm = q + h/2 v + h^2/4 a and vm = v + h/2 a, a step solves

    r(a) = M(qm) a + bias(qm, vm) + gravity(qm) + K qm + D vm - tau(qm) = 0.

The usual iteration matrix keeps inertia, viscosity and elasticity, M + h/2 D + h^2/4 K: its articulated factor costs
O(segments), and one sweep gives the residual and the factor. Where that converges slowly (stiff and fast), the exact
tangent from the derivatives of inverse dynamics takes over. Both end at the same tolerance; nothing is accepted
unconverged.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST
from pliant._kernels.rod_dynamics import add_elastic, project, sweep
from pliant._kernels.rod_mass import factor_inertia, mass_matrix, solve_inertia
from pliant._kernels.rod_tangent import inverse_dynamics_derivatives
from pliant._kernels.rod_threads import thread_hessian, thread_values


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _subtract_loads(t, c, q, tau, effort, value, grad, r):
    """r -= tau + grad^T effort."""
    n = r.shape[0]
    for i in range(n):
        r[i] -= tau[i]
    if effort.shape[0]:
        thread_values(t, c, q, value, grad)
        for a in range(effort.shape[0]):
            for i in range(n):
                r[i] -= effort[a] * grad[a, i]


@njit(cache=True, error_model="numpy")
def rollout(t, w, tw, c, q0, v0, taus, efforts, lift, h, every, scale, tolerance, iterations, qs, vs, counts):
    """Fixed-step rollout of len(taus) steps; stores every `every`-th state in qs, vs (first: the start).

    taus (steps, n) and efforts (steps, nth): generalised forces and thread efforts held over each step (one row is
    used for all steps). scale (n,): metres of displacement per unit of each coordinate. tolerance [m]: error of the
    converged position per step. counts (3,): sweeps, exact tangents, failed step (-1 if none).
    Returns True if every step converged; on failure the states after counts[2] are not filled.
    """
    n = q0.shape[0]
    steps = counts[0]
    counts[0] = 0
    counts[1] = 0
    counts[2] = -1
    q, v = q0.copy(), v0.copy()
    a, a_old = np.zeros(n), np.zeros(n)
    qm, vm, r = np.zeros(n), np.zeros(n), np.zeros(n)
    still = np.zeros(6)
    value, grad = np.zeros(efforts.shape[1]), np.zeros((efforts.shape[1], n))
    extra = 0.5 * h * t.D + 0.25 * h * h * t.K
    Hq, Hv, T, P = np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n)), np.zeros((n, n))
    qs[0] = q
    vs[0] = v
    rate = 0.5
    for s in range(steps):
        tau = taus[min(s, taus.shape[0] - 1)]
        effort = efforts[min(s, efforts.shape[0] - 1)]
        for i in range(n):  # predictor: the acceleration continues on a line
            x = a[i]
            if s > 1:
                a[i] = 2.0 * a[i] - a_old[i]
            a_old[i] = x
        done = False
        before = 0.0
        exact = rate > 0.7
        for k in range(iterations):
            for i in range(n):
                vm[i] = v[i] + 0.5 * h * a[i]
                qm[i] = q[i] + 0.5 * h * v[i] + 0.25 * h * h * a[i]
            counts[0] += 1
            if exact:
                counts[1] += 1
                inverse_dynamics_derivatives(t, w, tw, qm, vm, a, still, lift, r, Hq, Hv, True)
                add_elastic(t, qm, vm, r)
                _subtract_loads(t, c, qm, tau, effort, value, grad, r)
                P[:, :] = 0.0
                thread_hessian(t, c, qm, effort, P)
                mass_matrix(t, w, T)
                for i in range(n):
                    for j in range(n):
                        T[i, j] += 0.5 * h * Hv[i, j] + 0.25 * h * h * (Hq[i, j] - P[i, j])
                for g in range(t.parent.shape[0]):
                    d0 = t.dof0[g]
                    for i in range(t.nb[g]):
                        for j in range(t.nb[g]):
                            T[d0 + i, d0 + j] += extra[d0 + i, j]
                if not np.isfinite(r).all():
                    break
                r[:] = np.linalg.solve(T, r)
            else:
                sweep(t, w, qm, vm, a, still, lift)
                project(t, w, r)
                add_elastic(t, qm, vm, r)
                _subtract_loads(t, c, qm, tau, effort, value, grad, r)
                factor_inertia(t, w, extra, True)
                solve_inertia(t, w, r)
            size = 0.0
            for i in range(n):
                a[i] -= r[i]
                size = max(size, abs(r[i]) * scale[i])
            size *= 0.25 * h * h
            if not math.isfinite(size):
                break
            if k > 0:
                rate = max(1e-3, min(size / before, 2.0)) if before > 0.0 else 1e-3
            before = size
            if size * min(rate, 0.9) / (1.0 - min(rate, 0.9)) < tolerance and (k > 0 or rate < 0.5):
                done = True
                break
            if not exact and k > 1 and rate > 0.5:
                exact = True
        if not done:
            counts[2] = s
            return False
        if exact:
            rate = 0.5
        for i in range(n):
            q[i] += h * v[i] + 0.5 * h * h * a[i]
            v[i] += h * a[i]
        if (s + 1) % every == 0:
            qs[(s + 1) // every] = q
            vs[(s + 1) // every] = v
    return True
