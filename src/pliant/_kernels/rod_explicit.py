"""Compiled explicit time stepping of trees of rods: Dormand and Prince's fifth-order pair with error control.

For comparison, and for accuracy where every oscillation is to be resolved: the step is bounded by the highest
frequency, but each evaluation is one sweep without any equation to solve beyond the inertia.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit

from pliant._kernels.lie import FAST
from pliant._kernels.rod_mass import forward_dynamics
from pliant._kernels.rod_step import start_counting
from pliant._kernels.rod_threads import add_pulls

STAGES = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0, 0.0],
        [1 / 5, 0.0, 0.0, 0.0, 0.0, 0.0],
        [3 / 40, 9 / 40, 0.0, 0.0, 0.0, 0.0],
        [44 / 45, -56 / 15, 32 / 9, 0.0, 0.0, 0.0],
        [19372 / 6561, -25360 / 2187, 64448 / 6561, -212 / 729, 0.0, 0.0],
        [9017 / 3168, -355 / 33, 46732 / 5247, 49 / 176, -5103 / 18656, 0.0],
        [35 / 384, 0.0, 500 / 1113, 125 / 192, -2187 / 6784, 11 / 84],
    ]
)
ERROR = np.array([71 / 57600, 0.0, -71 / 16695, 71 / 1920, -17253 / 339200, 22 / 525, -1 / 40])


@njit(cache=True, fastmath=FAST, error_model="numpy")
def _accelerate(t, w, c, q, v, tau, effort, still, lift, zero, load, value, grad, out):
    """out (n,) <- acceleration under generalised forces tau (n,) and thread efforts."""
    for i in range(q.shape[0]):
        load[i] = tau[i]
    add_pulls(t, c, q, effort, 1.0, value, grad, load)
    return forward_dynamics(t, w, q, v, load, still, lift, zero, out)


@njit(cache=True, error_model="numpy")
def explicit_rollout(t, w, c, q0, v0, taus, efforts, lift, h, every, scale, tolerance, qs, vs, counts):
    """Rollout by steps of controlled size that meet every multiple of h; arguments as in `rod_step.rollout`.

    tolerance [m]: local error of a step, as a displacement. counts (4,): the number of intervals h on input; sweeps,
    accepted steps, the failed interval (-1 if none) and rejected steps on output. Returns True if all went well.
    """
    n = q0.shape[0]
    steps = start_counting(counts)
    q, v, still, zero = q0.copy(), v0.copy(), np.zeros(6), np.zeros(n)
    kq, ka = np.zeros((7, n)), np.zeros((7, n))
    x, load = np.zeros(n), np.zeros(n)
    value, grad = np.zeros(efforts.shape[1]), np.zeros((efforts.shape[1], n))
    qs[0] = q
    vs[0] = v
    part = 0.01 * h
    for s in range(steps):
        tau = taus[min(s, taus.shape[0] - 1)]
        effort = efforts[min(s, efforts.shape[0] - 1)]
        gone = 0.0
        if s == 0 or taus.shape[0] > 1 or efforts.shape[0] > 1:  # the force may jump between intervals
            kq[0] = v
            if not _accelerate(t, w, c, q, v, tau, effort, still, lift, zero, load, value, grad, ka[0]):
                counts[2] = s
                return False
            counts[0] += 1
        while gone < h * (1.0 - 1e-9):
            left = h - gone
            step = part if part < 0.9 * left else (left if part >= left else 0.5 * left)
            good = True
            for k in range(1, 7):
                for i in range(n):
                    a = b = 0.0
                    for j in range(k):
                        a += STAGES[k, j] * kq[j, i]
                        b += STAGES[k, j] * ka[j, i]
                    x[i] = q[i] + step * a
                    kq[k, i] = v[i] + step * b
                good = _accelerate(
                    t, w, c, x, kq[k], tau, effort, still, lift, zero, load, value, grad, ka[k]
                ) and good  # fmt: skip
                counts[0] += 1
            size = 0.0
            total = 0.0  # max() drops NaN, a sum keeps it
            for i in range(n):
                a = b = 0.0
                for j in range(7):
                    a += ERROR[j] * kq[j, i]
                    b += ERROR[j] * ka[j, i]
                e = step * max(abs(a), step * abs(b)) * scale[i]
                total += e
                size = max(size, e)
            good = good and math.isfinite(total)
            grow = 0.2 if not good else min(4.0, max(0.2, 0.9 * (tolerance / max(size, 1e-300)) ** 0.2))
            if good and size <= tolerance:
                for i in range(n):
                    q[i] = x[i]
                    v[i] = kq[6, i]
                    kq[0, i] = kq[6, i]
                    ka[0, i] = ka[6, i]
                gone += step
                counts[1] += 1
                if step >= part or grow < 1.0:
                    part = step * grow
            else:
                counts[3] += 1
                part = step * min(grow, 0.9)
                if part < 1e-7 * h:
                    counts[2] = s
                    return False
        if (s + 1) % every == 0:
            qs[(s + 1) // every] = q
            vs[(s + 1) // every] = v
    return True
