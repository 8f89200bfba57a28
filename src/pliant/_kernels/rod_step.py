"""Compiled implicit time stepping of trees of rods: the implicit midpoint rule, converged by Newton's method.

With qm = q + h/2 v + h^2/4 a and vm = v + h/2 a, a step solves

    r(a) = M(qm) a + bias(qm, vm) + gravity(qm) + K qm + D vm - tau(qm) = 0.

The usual iteration matrix keeps inertia, viscosity and elasticity, M + h/2 D + h^2/4 K: its articulated
factor costs O(segments), and one sweep gives both the residual and the factor. Where that converges slowly
(fast, large motion at large steps), the exact tangent from the derivatives of inverse dynamics takes over.
Both end at the same tolerance; nothing is accepted unconverged.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST
from pliant._kernels.rod_dynamics import add_elastic, project, sweep
from pliant._kernels.rod_mass import factor_inertia, mass_matrix, solve_inertia
from pliant._kernels.rod_tangent import inverse_dynamics_derivatives
from pliant._kernels.rod_threads import add_pulls, thread_hessian


@njit(cache=True, fastmath=FAST, error_model="numpy")
def subtract_loads(t, c, q, tau, effort, value, grad, r):
    """r -= tau + grad^T effort."""
    for i in range(r.shape[0]):
        r[i] -= tau[i]
    add_pulls(t, c, q, effort, -1.0, value, grad, r)


@njit(cache=True, error_model="numpy")
def add_blocks(t, rows, H):
    """H (n, n) += the block-diagonal matrix whose blocks have these rows (n, nbm), as in `RodTables.K`."""
    for g in range(t.parent.shape[0]):
        d0 = t.dof0[g]
        for i in range(t.nb[g]):
            for j in range(t.nb[g]):
                H[d0 + i, d0 + j] += rows[d0 + i, j]


@njit(cache=True, error_model="numpy")
def descend(a, da, scale):
    """a (n,) -= da; returns the largest |da| times scale (n,), infinite if some is no number."""
    size = 0.0
    total = 0.0  # max() drops NaN, a sum keeps it
    for i in range(a.shape[0]):
        a[i] -= da[i]
        x = abs(da[i]) * scale[i]
        total += x
        size = max(size, x)
    return size if math.isfinite(total) else np.inf


@njit(cache=True)
def start_counting(counts):
    """The number of steps asked for, counts[0]; counts (4,) <- sweeps, tangents, failed step (-1: none), halvings."""
    steps = counts[0]
    counts[:] = 0
    counts[2] = -1
    return steps


@njit(cache=True, error_model="numpy")
def midpoint_step(
    t,
    w,
    tw,
    c,
    q,
    v,
    tau,
    effort,
    lift,
    h,
    scale,
    tolerance,
    iterations,
    rate,
    a,
    b,
    still,
    nn,
    extra,
    value,
    grad,
    counts,
):
    """One implicit midpoint step from (q, v): a (n,) holds a predicted acceleration, receives the found one.

    rate: convergence rate seen before. b (3, n), nn (4, n, n): scratch; still: zeros (6,).
    Returns (converged, rate).
    """
    n = q.shape[0]
    qm, vm, r = b[0], b[1], b[2]
    Hq, Hv, T, P = nn[0], nn[1], nn[2], nn[3]
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
            subtract_loads(t, c, qm, tau, effort, value, grad, r)
            P[:, :] = 0.0
            thread_hessian(t, c, qm, effort, P)
            mass_matrix(t, w, T)
            T += 0.5 * h * Hv + 0.25 * h * h * (Hq - P)
            add_blocks(t, extra, T)
            if not (np.isfinite(r).all() and np.isfinite(T).all()):
                return False, rate
            r[:] = np.linalg.solve(T, r)
        else:
            sweep(t, w, qm, vm, a, still, lift)
            project(t, w, r)
            add_elastic(t, qm, vm, r)
            subtract_loads(t, c, qm, tau, effort, value, grad, r)
            if not factor_inertia(t, w, extra, True):
                return False, rate
            solve_inertia(t, w, r)
        size = descend(a, r, scale)
        if not math.isfinite(size):
            return False, rate
        size *= 0.25 * h * h
        if k > 0:
            rate = max(1e-3, min(size / before, 2.0)) if before > 0.0 else 1e-3
        before = size
        bound = min(rate, 0.9)
        if size * bound / (1.0 - bound) < tolerance and (k > 0 or rate < 0.5):
            return True, min(rate, 0.5)
        if not exact and k > 1 and rate > 0.5:
            exact = True
    return False, rate


@njit(cache=True, error_model="numpy")
def rollout(t, w, tw, c, q0, v0, taus, efforts, lift, h, every, scale, tolerance, iterations, qs, vs, counts):
    """Rollout by fixed steps h; stores every `every`-th state in qs, vs (first: the start).

    taus (steps, n) and efforts (steps, nth): generalised forces and thread efforts held over each step (one
    row is used for all steps). scale (n,): metres of displacement per unit of each coordinate. tolerance [m]:
    error of the converged position per step. counts (4,): the number of steps on input; sweeps, exact
    tangents, the failed step (-1 if none) and the number of halvings on output.
    A step whose Newton iteration fails is cut in halves, down to 1/256 of h. Returns True if all went well;
    on failure the states after counts[2] are not filled.
    """
    n = q0.shape[0]
    steps = start_counting(counts)
    q, v = q0.copy(), v0.copy()
    a, a_old, guess = np.zeros(n), np.zeros(n), np.zeros(n)
    b, still, nn = np.zeros((3, n)), np.zeros(6), np.zeros((4, n, n))
    value, grad = np.zeros(efforts.shape[1]), np.zeros((efforts.shape[1], n))
    extra = 0.5 * h * t.D + 0.25 * h * h * t.K
    qs[0] = q
    vs[0] = v
    rate = 0.5
    part, last = h, 0.0  # size of the present and of the previous (sub)step
    same = 0  # (sub)steps of this size done in a row
    for s in range(steps):
        tau = taus[min(s, taus.shape[0] - 1)]
        effort = efforts[min(s, efforts.shape[0] - 1)]
        gone = 0.0
        while gone < h * (1.0 - 1e-9):
            part = min(part, h - gone)
            if abs(part - last) > 1e-9 * h:
                extra[:, :] = 0.5 * part * t.D + 0.25 * part * part * t.K
                same = 0
            for i in range(n):  # predictor: the acceleration continues on a line
                guess[i] = 2.0 * a[i] - a_old[i] if same > 1 else a[i]
            good, rate = midpoint_step(
                t, w, tw, c, q, v, tau, effort, lift, part, scale, tolerance, iterations, rate,
                guess, b, still, nn, extra, value, grad, counts,
            )  # fmt: skip
            last = part
            if not good:
                same = 0
                rate = 0.5
                part *= 0.5
                counts[3] += 1
                if part < h / 256.0:
                    counts[2] = s
                    return False
                continue
            for i in range(n):
                a_old[i] = a[i]
                a[i] = guess[i]
                q[i] += part * v[i] + 0.5 * part * part * a[i]
                v[i] += part * a[i]
            gone += part
            same += 1
            if part < h and same > 1:
                part *= 2.0
        if (s + 1) % every == 0:
            qs[(s + 1) // every] = q
            vs[(s + 1) // every] = v
    return True
