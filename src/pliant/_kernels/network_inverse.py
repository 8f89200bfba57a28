"""Inverse of a learned map, compiled: bounded Gauss-Newton with an active set, and the gradient iteration
of the paper.

    minimise |W (p(u) - target)|^2 over low <= u <= high

Unknowns are scaled to v = (u - mid) / half in [-1, 1], so that actuators of different units count alike.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.network_chain import Chain, ChainWork, chain_value, make_work

Array = np.ndarray
CONVERGED, NEAREST, MAX_ITERATIONS, DIVERGED, STUCK = 0, 1, 2, 3, 4


@njit(cache=True)
def _solve_small(A: Array, b: Array, n: int) -> bool:
    """Solve A x = b (positive definite, n by n) in place by Cholesky; False if it is not."""
    for i in range(n):
        for j in range(i + 1):
            s = A[i, j]
            for k in range(j):
                s -= A[i, k] * A[j, k]
            if i == j:
                if not s > 0.0:
                    return False
                A[i, i] = np.sqrt(s)
            else:
                A[i, j] = s / A[j, j]
    for i in range(n):
        s = b[i]
        for k in range(i):
            s -= A[i, k] * b[k]
        b[i] = s / A[i, i]
    for i in range(n - 1, -1, -1):
        s = b[i]
        for k in range(i + 1, n):
            s -= A[k, i] * b[k]
        b[i] = s / A[i, i]
    return True


@njit(cache=True)
def box_step(H: Array, g: Array, v: Array, d: Array) -> None:
    """d minimises g.d + d.H d / 2 with -1 <= v + d <= 1, by an active set (H positive definite)."""
    m = len(v)
    fixed = np.zeros(m, np.bool_)
    d[:] = 0.0
    for i in range(m):
        fixed[i] = (v[i] >= 1.0 and g[i] < 0.0) or (v[i] <= -1.0 and g[i] > 0.0)
    A, b = np.empty((m, m)), np.empty(m)
    index = np.empty(m, np.int64)
    for _ in range(4 * m + 4):
        n = 0
        for i in range(m):
            if not fixed[i]:
                index[n] = i
                n += 1
        for r in range(n):
            i = index[r]
            b[r] = -g[i]
            for j in range(m):
                if fixed[j]:
                    b[r] -= H[i, j] * d[j]
            for c in range(n):
                A[r, c] = H[i, index[c]]
        if n and not _solve_small(A, b, n):
            return
        step, blocking = 1.0, -1
        for r in range(n):
            i = index[r]
            change = b[r] - d[i]
            room = (1.0 - v[i] - d[i]) if change > 0.0 else (-1.0 - v[i] - d[i])
            if change != 0.0 and room / change < step:
                step, blocking = max(room / change, 0.0), i
        for r in range(n):
            d[index[r]] += step * (b[r] - d[index[r]])
        if blocking >= 0:
            fixed[blocking] = True
            d[blocking] = (1.0 if d[blocking] + v[blocking] > 0.0 else -1.0) - v[blocking]
            continue
        worst, release = 0.0, -1
        for i in range(m):
            if fixed[i]:
                slope = g[i]
                for j in range(m):
                    slope += H[i, j] * d[j]
                pull = slope if v[i] + d[i] > 0.0 else -slope  # positive: going inside lowers the objective
                if pull > worst + 1e-14 * (1.0 + abs(g[i])):
                    worst, release = pull, i
        if release < 0:
            return
        fixed[release] = False


@njit(cache=True)
def _residual(
    chain: Chain,
    work: ChainWork,
    u: Array,
    target: Array,
    weight: Array,
    p: Array,
    J: Array,
    r: Array,
    derivative: bool,
    own: bool,
) -> float:
    chain_value(chain, work, u, p, J, derivative, own)
    s = 0.0
    for i in range(len(p)):
        r[i] = weight[i] * (p[i] - target[i])
        s += r[i] * r[i]
    return s


@njit(cache=True)
def gauss_newton(
    chain: Chain,
    work: ChainWork,
    u: Array,
    target: Array,
    weight: Array,
    low: Array,
    high: Array,
    tolerance: float,
    limit: int,
    own: bool,
    p: Array,
    prefer: Array,
    pull: float,
    settle: int,
) -> tuple[int, int, float]:
    """One target; u is the start and the answer. Returns (status, iterations, error).

    `pull` > 0 moves the null space towards `prefer` (scaled) once the target is met, for up to `settle` steps.
    The map is evaluated in one place only: the compiler copies it into every place.
    """
    m, n = len(u), len(target)
    v, d, g, trial = np.empty(m), np.zeros(m), np.zeros(m), np.empty(m)
    H, J, r = np.empty((m, m)), np.empty((n, m)), np.empty(n)
    r1, p1, J1 = np.empty(n), np.empty(n), np.empty((n, m))
    for j in range(m):
        half = max(0.5 * (high[j] - low[j]), 1e-300)
        trial[j] = min(max((u[j] - 0.5 * (high[j] + low[j])) / half, -1.0), 1.0)
    damping, settled, tries, iteration = 1e-9, 0, 0, 0
    cost, predicted, trace = np.inf, 0.0, 0.0
    free = True  # the point just evaluated need not be better than the last one
    status = MAX_ITERATIONS
    while True:
        for j in range(m):
            u[j] = 0.5 * (high[j] + low[j]) + 0.5 * (high[j] - low[j]) * trial[j]
        new = _residual(chain, work, u, target, weight, p1, J1, r1, True, own)
        if not np.isfinite(new) and free:
            return DIVERGED, iteration, np.inf
        if free or (np.isfinite(new) and new < cost and cost - new > 1e-4 * max(predicted, 0.0)):
            fall = 1.0 if free else 1.0 - new / cost
            if not free and cost - new > 0.5 * predicted:
                damping = max(0.05 * damping, 1e-9)
            cost, tries = new, 0
            for j in range(m):
                v[j] = trial[j]
            for i in range(n):
                p[i], r[i] = p1[i], r1[i]
                for j in range(m):
                    J[i, j] = J1[i, j] * weight[i] * 0.5 * (high[j] - low[j])
            met = cost <= tolerance * tolerance
            if met and (pull <= 0.0 or settled >= settle):
                status = CONVERGED
                break
            if fall < 1e-9 and not met:
                status = NEAREST
                break
            if iteration >= limit:
                break
            trace = _normal(J, r, H, g)
            if trace <= 0.0:
                status = CONVERGED if met else STUCK
                break
            iteration += 1
            if met:
                # Null-space step: as far towards the preferred pose as the linearised target allows.
                settled += 1
                for a in range(m):
                    g[a] -= 1e-6 * trace * pull * (prefer[a] - v[a])
                    H[a, a] += 1e-6 * trace * pull + 1e-12 * trace
            elif _gain(g, v, trace) <= 1e-12 * cost + 1e-300:
                # Nothing that the box allows lowers the error.
                iteration -= 1
                status = NEAREST
                break
            free = met
        else:
            damping = max(damping * 20.0, 1e-6)
            tries += 1
        if not free:
            for a in range(m):
                H[a, a] += damping * trace
        box_step(H, g, v, d)
        size = 0.0
        for j in range(m):
            size = max(size, abs(d[j]))
        if free:
            if size < 1e-5:
                status = CONVERGED
                break
            for j in range(m):
                d[j] *= min(1.0, 0.2 / size)
        else:
            predicted = 0.0
            for a in range(m):
                H[a, a] -= damping * trace
            for a in range(m):
                predicted -= 2.0 * g[a] * d[a]
                for b in range(m):
                    predicted -= d[a] * H[a, b] * d[b]
            if size < 1e-12 or tries > 14:
                # With exact derivatives a refused step means a stationary point; a Jacobian network may disagree.
                status = STUCK if own else NEAREST
                break
        for j in range(m):
            trial[j] = min(max(v[j] + d[j], -1.0), 1.0)
    for j in range(m):
        u[j] = 0.5 * (high[j] + low[j]) + 0.5 * (high[j] - low[j]) * v[j]
    return status, iteration, np.sqrt(cost)


@njit(cache=True)
def _normal(J: Array, r: Array, H: Array, g: Array) -> float:
    """H = J^T J and g = J^T r; returns the trace of H."""
    n, m = J.shape
    trace = 0.0
    for a in range(m):
        s = 0.0
        for i in range(n):
            s += J[i, a] * r[i]
        g[a] = s
        for b in range(a + 1):
            h = 0.0
            for i in range(n):
                h += J[i, a] * J[i, b]
            H[a, b] = h
            H[b, a] = h
        trace += H[a, a]
    return trace


@njit(cache=True)
def _gain(g: Array, v: Array, trace: float) -> float:
    """What a projected gradient step could gain inside of the box."""
    gain = 0.0
    for a in range(len(v)):
        gain -= g[a] * (min(max(v[a] - g[a] / trace, -1.0), 1.0) - v[a])
    return gain


@njit(cache=True)
def gradient_iteration(
    chain: Chain,
    work: ChainWork,
    u: Array,
    target: Array,
    weight: Array,
    low: Array,
    high: Array,
    tolerance: float,
    limit: int,
    own: bool,
    p: Array,
    shrink: float,
    least_fall: float,
) -> tuple[int, int, float]:
    """The paper's iteration: steepest descent with the soft line search, clamped.

    Returns (status, iterations, error). The search shrinks the step until the error falls, then lengthens it by
    equal amounts as long as it falls further.
    """
    m, n = len(u), len(target)
    J, r = np.zeros((n, m)), np.empty(n)
    d, trial, best = np.zeros(m), np.empty(m), np.empty(m)
    for j in range(m):
        trial[j] = min(max(u[j], low[j]), high[j])
    at, shrinking, lengthening = 0, 1, 2
    mode, iteration, tries = at, 0, 0
    cost, last, found, h, t = np.inf, np.inf, np.inf, 0.0, 0.0
    p1 = np.empty(n)
    while True:
        value = _residual(chain, work, trial, target, weight, p1, J, r, mode == at, own)
        if mode == at:
            last, cost = cost, value
            for j in range(m):
                u[j] = trial[j]
            for i in range(n):
                p[i] = p1[i]
            if not np.isfinite(cost):
                return DIVERGED, iteration, np.inf
            if cost < tolerance * tolerance:
                return CONVERGED, iteration, np.sqrt(cost)
            if iteration > 0 and 1.0 - cost / last < least_fall:
                return NEAREST, iteration, np.sqrt(cost)
            if iteration == limit:
                return MAX_ITERATIONS, iteration, np.sqrt(cost)
            size = 0.0
            for j in range(m):
                half = 0.5 * (high[j] - low[j])
                s = 0.0
                for i in range(n):
                    s -= 2.0 * weight[i] * r[i] * J[i, j]
                    size += (weight[i] * J[i, j] * half) ** 2
                d[j] = s * half * half  # the gradient in scaled unknowns, as a step of u
            if size <= 0.0:
                return STUCK, iteration, np.sqrt(cost)
            mode, h, tries = shrinking, 1.0 / size, 0
            t = h
        elif mode == shrinking:
            if value < cost:
                found, mode, tries = value, lengthening, 0
                for j in range(m):
                    best[j] = trial[j]
                t = 2.0 * h
            else:
                h *= shrink
                t = h
                tries += 1
                if tries == 12:
                    return NEAREST, iteration, np.sqrt(cost)
        else:
            better = value < found
            if better:
                found = value
                for j in range(m):
                    best[j] = trial[j]
                t += h
                tries += 1
            if not better or tries == 30:
                mode = at
                iteration += 1
                for j in range(m):
                    trial[j] = best[j]
                continue
        for j in range(m):
            trial[j] = min(max(u[j] + t * d[j], low[j]), high[j])


@njit(cache=True)
def follow_gauss_newton(
    chain: Chain,
    start: Array,
    targets: Array,
    weight: Array,
    low: Array,
    high: Array,
    tolerance: float,
    limit: int,
    own: bool,
    restart: bool,
    prefer: Array,
    pull: float,
) -> tuple[Array, Array, Array, Array, Array]:
    """Solve many targets, each from the last solution (or always from the start).

    Returns u (k, m), p (k, n), error (k,), status (k,), iterations (k,).
    """
    k, m, n = len(targets), len(start), targets.shape[1]
    work = make_work(chain)
    u, p = np.empty((k, m)), np.empty((k, n))
    error, status, count = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    now = start.copy()
    for i in range(k):
        if restart:
            now[:] = start
        status[i], count[i], error[i] = gauss_newton(
            chain, work, now, targets[i], weight, low, high, tolerance, limit, own, p[i], prefer, pull, 20
        )
        u[i] = now
    return u, p, error, status, count


@njit(cache=True)
def follow_gradient(
    chain: Chain,
    start: Array,
    targets: Array,
    weight: Array,
    low: Array,
    high: Array,
    tolerance: float,
    limit: int,
    own: bool,
    restart: bool,
) -> tuple[Array, Array, Array, Array, Array]:
    """The same by the paper's gradient iteration."""
    k, m, n = len(targets), len(start), targets.shape[1]
    work = make_work(chain)
    u, p = np.empty((k, m)), np.empty((k, n))
    error, status, count = np.empty(k), np.empty(k, np.int64), np.empty(k, np.int64)
    now = start.copy()
    for i in range(k):
        if restart:
            now[:] = start
        status[i], count[i], error[i] = gradient_iteration(
            chain, work, now, targets[i], weight, low, high, tolerance, limit, own, p[i], 0.1, 1e-4
        )
        u[i] = now
    return u, p, error, status, count
