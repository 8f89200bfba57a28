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

    `pull` > 0 moves the null space towards `prefer` (scaled) once the target is met, for up to `settle`
    steps.
    """
    m, n = len(u), len(target)
    mid, half = 0.5 * (high + low), np.maximum(0.5 * (high - low), 1e-300)
    v, d, g, trial = np.empty(m), np.empty(m), np.empty(m), np.empty(m)
    H, J, r = np.empty((m, m)), np.empty((n, m)), np.empty(n)
    r1, p1 = np.empty(n), np.empty(n)
    for j in range(m):
        v[j] = min(max((u[j] - mid[j]) / half[j], -1.0), 1.0)
        u[j] = mid[j] + half[j] * v[j]
    damping, settled = 1e-9, 0
    cost = _residual(chain, work, u, target, weight, p, J, r, True, own)
    status, iteration = MAX_ITERATIONS, 0
    while True:
        if not np.isfinite(cost):
            return DIVERGED, iteration, np.inf
        met = cost <= tolerance * tolerance
        if met and (pull <= 0.0 or settled >= settle):
            status = CONVERGED
            break
        if iteration >= limit:
            break
        for i in range(n):
            for j in range(m):
                J[i, j] *= weight[i] * half[j]
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
        if trace <= 0.0:
            status = CONVERGED if met else STUCK
            break
        if met:
            # Null-space step: as far towards the preferred pose as the linearised target allows.
            settled += 1
            small = 0.0
            for a in range(m):
                g[a] += -1e-6 * trace * pull * (prefer[a] - v[a])
                H[a, a] += 1e-6 * trace * pull + 1e-12 * trace
            box_step(H, g, v, d)
            for a in range(m):
                small = max(small, abs(d[a]))
            if small < 1e-5:
                status = CONVERGED
                break
            scale = min(1.0, 0.2 / small)
            for j in range(m):
                v[j] += scale * d[j]
                u[j] = mid[j] + half[j] * v[j]
            iteration += 1
            cost = _residual(chain, work, u, target, weight, p, J, r, True, own)
            continue
        # How much the box still allows: the projected gradient, relative to what a step could gain.
        gain = 0.0
        for a in range(m):
            t = v[a] - g[a] / trace
            t = min(max(t, -1.0), 1.0) - v[a]
            gain += g[a] * -t
        if gain <= 1e-12 * cost + 1e-300:
            status = NEAREST
            break
        iteration += 1
        accepted = False
        for _ in range(14):
            shift = damping * trace
            for a in range(m):
                H[a, a] += shift
            box_step(H, g, v, d)
            for a in range(m):
                H[a, a] -= shift
            size = 0.0
            for j in range(m):
                trial[j] = min(max(v[j] + d[j], -1.0), 1.0)
                size = max(size, abs(trial[j] - v[j]))
                u[j] = mid[j] + half[j] * trial[j]
            if size < 1e-12:
                break
            new = _residual(chain, work, u, target, weight, p1, J, r1, False, own)
            predicted = 0.0
            for a in range(m):
                predicted -= 2.0 * g[a] * d[a]
                for b in range(m):
                    predicted -= d[a] * H[a, b] * d[b]
            if np.isfinite(new) and cost - new > 1e-4 * max(predicted, 0.0) and new < cost:
                accepted = True
                good = cost - new > 0.5 * predicted
                break
            damping = max(damping * 20.0, 1e-6)
        if not accepted:
            for j in range(m):
                u[j] = mid[j] + half[j] * v[j]
            chain_value(chain, work, u, p, J, False, own)
            # With exact derivatives a refused step means a stationary point; a network of its own may
            # simply disagree.
            status = STUCK if own else NEAREST
            break
        if good:
            damping = max(0.05 * damping, 1e-9)
        fall = 1.0 - new / cost
        for j in range(m):
            v[j] = trial[j]
        cost = _residual(chain, work, u, target, weight, p, J, r, True, own)
        if fall < 1e-9 and cost > tolerance * tolerance:
            status = NEAREST
            break
    return status, iteration, np.sqrt(cost)


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

    Returns (status, iterations, error).
    """
    m, n = len(u), len(target)
    half = np.maximum(0.5 * (high - low), 1e-300)
    J, r, r1, p1 = np.empty((n, m)), np.empty(n), np.empty(n), np.empty(n)
    d, trial, best = np.empty(m), np.empty(m), np.empty(m)
    none = np.empty((n, m))
    for j in range(m):
        u[j] = min(max(u[j], low[j]), high[j])
    cost = _residual(chain, work, u, target, weight, p, J, r, True, own)
    for iteration in range(limit + 1):
        if not np.isfinite(cost):
            return DIVERGED, iteration, np.inf
        if cost < tolerance * tolerance:
            return CONVERGED, iteration, np.sqrt(cost)
        if iteration == limit:
            break
        size = 0.0
        for j in range(m):
            s = 0.0
            for i in range(n):
                s -= 2.0 * weight[i] * r[i] * J[i, j]
            d[j] = s * half[j] * half[j]  # the gradient in scaled unknowns, as a step of u
            for i in range(n):
                size += (weight[i] * J[i, j] * half[j]) ** 2
        if size <= 0.0:
            return STUCK, iteration, np.sqrt(cost)
        h = 1.0 / size
        found = np.inf
        for _ in range(12):
            for j in range(m):
                trial[j] = min(max(u[j] + h * d[j], low[j]), high[j])
            found = _residual(chain, work, trial, target, weight, p1, none, r1, False, own)
            if found < cost:
                break
            h *= shrink
        if not found < cost:
            return NEAREST, iteration, np.sqrt(cost)
        best[:] = trial
        t = 2.0 * h
        for _ in range(30):
            for j in range(m):
                trial[j] = min(max(u[j] + t * d[j], low[j]), high[j])
            value = _residual(chain, work, trial, target, weight, p1, none, r1, False, own)
            if not value < found:
                break
            found = value
            best[:] = trial
            t += h
        fall = 1.0 - found / cost
        u[:] = best
        cost = _residual(chain, work, u, target, weight, p, J, r, True, own)
        if fall < least_fall and cost >= tolerance * tolerance:
            return NEAREST, iteration + 1, np.sqrt(cost)
    return MAX_ITERATIONS, limit, np.sqrt(cost)


@njit(cache=True)
def follow_targets(
    chain: Chain,
    start: Array,
    targets: Array,
    weight: Array,
    low: Array,
    high: Array,
    tolerance: float,
    limit: int,
    own: bool,
    gradient: bool,
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
        if gradient:
            status[i], count[i], error[i] = gradient_iteration(
                chain, work, now, targets[i], weight, low, high, tolerance, limit, own, p[i], 0.1, 1e-4
            )
        else:
            status[i], count[i], error[i] = gauss_newton(
                chain, work, now, targets[i], weight, low, high, tolerance, limit, own, p[i], prefer, pull, 20
            )
        u[i] = now
    return u, p, error, status, count
