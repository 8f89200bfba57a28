"""Compiled dense dual active-set method (after Goldfarb and Idnani) for small convex QPs.

    minimise 1/2 x'Qx + c'x   subject to   lower <= G x <= upper      (lower = upper: equality)

The Hessian metric is carried as J = L^-T (Q = L L^T), the active rows as a triangular factor R with
J^T N = [R; 0]; both are updated by plane rotations, O(n^2) per change. Duals y satisfy Qx + c = G'y:
y_i >= 0 at the lower bound, y_i <= 0 at the upper one, so y_i is the change of the optimum per unit of bound.
"""

from __future__ import annotations

import numpy as np
from numba import njit

OPTIMAL, INFEASIBLE, ITERATION_LIMIT, UNBOUNDED, INDEFINITE = 0, 1, 2, 3, 4

FEASIBLE = 1e-11  # violation relative to the size of the numbers that enter the row
DEPENDENT = 1e-9  # sine of the angle below which a row counts as dependent on the active ones
SINGULAR = 1e-10  # Cholesky pivot of the unit-diagonal Hessian below which proximal steps are used
PROXIMAL = 1e-8  # their weight, relative to the unit diagonal
FLAT = 1e-10  # slope, relative to the largest one, along which nothing is gained


@njit(cache=True)
def metric_factor(Q, ridge, JT):
    """JT <- rows of J = L^-T with Q + ridge I = L L^T; returns the smallest pivot (<= 0: not definite)."""
    n = Q.shape[0]
    L = np.empty((n, n))
    smallest = np.inf
    for j in range(n):
        pivot = Q[j, j] + ridge
        for k in range(j):
            pivot -= L[j, k] * L[j, k]
        smallest = min(smallest, pivot)
        if not pivot > 0.0:
            return pivot
        root = np.sqrt(pivot)
        L[j, j] = root
        for i in range(j + 1, n):
            v = Q[i, j]
            for k in range(j):
                v -= L[i, k] * L[j, k]
            L[i, j] = v / root
    # J = L^-T, so the row j of JT is the column j of J, i.e. the row j of L^-1
    for j in range(n):
        for i in range(n):
            JT[i, j] = 0.0
        JT[j, j] = 1.0 / L[j, j]
        for i in range(j + 1, n):
            v = 0.0
            for k in range(j, i):
                v -= L[i, k] * JT[k, j]
            JT[i, j] = v / L[i, i]
    return smallest


@njit(cache=True)
def _rotate(JT, i, j, cs, sn):
    for k in range(JT.shape[1]):
        a, b = JT[i, k], JT[j, k]
        JT[i, k] = cs * a + sn * b
        JT[j, k] = -sn * a + cs * b


@njit(cache=True)
def _append(JT, R, d, q):
    """Bring d (= J^T n) to zero below its entry q by rotations and store it as column q of R."""
    for j in range(JT.shape[0] - 1, q, -1):
        if d[j] == 0.0:
            continue
        h = np.hypot(d[j - 1], d[j])
        cs, sn = d[j - 1] / h, d[j] / h
        d[j - 1], d[j] = h, 0.0
        _rotate(JT, j - 1, j, cs, sn)
    for i in range(q + 1):
        R[i, q] = d[i]


@njit(cache=True)
def _remove(JT, R, rows, signs, q, at):
    """Delete the active row at position `at`; returns the new number of active rows."""
    for j in range(at, q - 1):
        rows[j], signs[j] = rows[j + 1], signs[j + 1]
        for i in range(j + 2):
            R[i, j] = R[i, j + 1]
    q -= 1
    for j in range(at, q):
        if R[j + 1, j] == 0.0:
            continue
        h = np.hypot(R[j, j], R[j + 1, j])
        cs, sn = R[j, j] / h, R[j + 1, j] / h
        R[j, j], R[j + 1, j] = h, 0.0
        for k in range(j + 1, q):
            a, b = R[j, k], R[j + 1, k]
            R[j, k] = cs * a + sn * b
            R[j + 1, k] = -sn * a + cs * b
        _rotate(JT, j, j + 1, cs, sn)
    return q


@njit(cache=True)
def _point(JT, R, x0, G, lower, upper, rows, signs, q, x, u):
    """Minimiser x on the active rows and its multipliers u, computed afresh from the factors."""
    n = x0.size
    w = np.empty(q)
    for j in range(q):
        i = rows[j]
        v = lower[i] if signs[j] > 0 else -upper[i]
        s = 0.0
        for k in range(n):
            s += G[i, k] * x0[k]
        v -= signs[j] * s
        for k in range(j):
            v -= R[k, j] * w[k]
        w[j] = v / R[j, j]
    for k in range(n):
        x[k] = x0[k]
    for j in range(q):
        for k in range(n):
            x[k] += w[j] * JT[j, k]
    for j in range(q - 1, -1, -1):
        v = w[j]
        for k in range(j + 1, q):
            v -= R[j, k] * u[k]
        u[j] = v / R[j, j]


@njit(cache=True)
def dual_active_set(JT, x0, G, lower, upper, norm, guess, max_iterations, x, y, conflict):
    """Solve from the unconstrained minimiser x0 and the metric factor JT (overwritten).

    guess (m,): +1 at lower, -1 at upper, 0 free; the active set to begin with, any set is admissible.
    On return x (n,), y (m,), guess (the final active set) and conflict (rows that prove infeasibility).
    Returns (status, iterations).
    """
    m, n = G.shape
    R = np.zeros((n + 1, n + 1))
    rows = np.empty(n + 1, np.int64)
    signs = np.empty(n + 1, np.int64)
    u = np.zeros(n + 1)
    d = np.empty(n)
    z = np.empty(n)
    r = np.empty(n + 1)
    on = np.zeros(m, np.int8)
    ignored = np.zeros(m, np.bool_)
    q = 0
    n_equal = 0
    # equalities first, then the guess: both enter without a sign condition on their multiplier
    for phase in range(2):
        for i in range(m):
            equal = lower[i] == upper[i]
            if (phase == 0) != equal or (phase == 1 and guess[i] == 0) or norm[i] == 0.0:
                continue
            if phase == 1 and not np.isfinite(lower[i] if guess[i] > 0 else upper[i]):
                continue
            sign = 1 if equal else guess[i]
            total, free = 0.0, 0.0
            for j in range(n):
                v = 0.0
                for k in range(n):
                    v += JT[j, k] * G[i, k]
                d[j] = sign * v
                total += v * v
                if j >= q:
                    free += v * v
            if q >= n or free <= (1e3 * DEPENDENT) ** 2 * total:
                continue
            _append(JT, R, d, q)
            rows[q], signs[q], on[i] = i, sign, sign
            q += 1
        if phase == 0:
            n_equal = q
    _point(JT, R, x0, G, lower, upper, rows, signs, q, x, u)
    while q > n_equal:
        worst, at = 0.0, -1
        for j in range(n_equal, q):
            if u[j] < worst:
                worst, at = u[j], j
        if at < 0:
            break
        on[rows[at]] = 0
        q = _remove(JT, R, rows, signs, q, at)
        _point(JT, R, x0, G, lower, upper, rows, signs, q, x, u)

    largest = 0.0
    for i in range(m):
        for bound in (lower[i], upper[i]):
            if np.isfinite(bound):
                largest = max(largest, abs(bound))
    status = ITERATION_LIMIT
    iteration = 0
    refined = False
    while iteration < max_iterations:
        size = 0.0
        for k in range(n):
            size = max(size, abs(x[k]))
        worst, p, sign = 0.0, -1, 1
        for i in range(m):
            if on[i] != 0 or ignored[i]:
                continue
            v = 0.0
            for k in range(n):
                v += G[i, k] * x[k]
            low, high = lower[i] - v, v - upper[i]
            bad = max(low, high)
            if bad <= 0.0:
                continue
            if norm[i] == 0.0:
                if bad > FEASIBLE * largest:  # zero times x: other bounds tell what is small
                    conflict[i] = True
                    _scatter(rows, signs, u, q, y, guess)
                    return INFEASIBLE, iteration
                continue
            bound = lower[i] if low > high else upper[i]
            bad /= norm[i]
            if bad > worst and bad > FEASIBLE * max(size, abs(bound) / norm[i]):
                worst, p, sign = bad, i, (1 if low > high else -1)
        if p < 0:
            if refined or q == 0:
                status = OPTIMAL
                break
            # rounding of the steps is removed by recomputing the point; then check feasibility once more
            _point(JT, R, x0, G, lower, upper, rows, signs, q, x, u)
            refined = True
            continue
        refined = False
        up = 0.0
        while True:
            iteration += 1
            total, free = 0.0, 0.0
            for j in range(n):
                v = 0.0
                for k in range(n):
                    v += JT[j, k] * G[p, k]
                v *= sign
                d[j] = v
                total += v * v
                if j >= q:
                    free += v * v
            for k in range(n):
                z[k] = 0.0
            dependent = q >= n or free <= DEPENDENT**2 * total
            if not dependent:
                for j in range(q, n):
                    for k in range(n):
                        z[k] += d[j] * JT[j, k]
            for j in range(q - 1, -1, -1):
                v = d[j]
                for k in range(j + 1, q):
                    v -= R[j, k] * r[k]
                r[j] = v / R[j, j]
            t1, at = np.inf, -1
            for j in range(n_equal, q):
                if r[j] > 0.0 and u[j] < t1 * r[j]:
                    t1, at = max(u[j], 0.0) / r[j], j
            t2 = np.inf
            if not dependent:
                v = 0.0
                for k in range(n):
                    v += G[p, k] * x[k]
                s = lower[p] - v if sign > 0 else v - upper[p]
                t2 = max(s, 0.0) / free
            if t1 == np.inf and t2 == np.inf:
                if worst <= 1e3 * FEASIBLE * max(size, 1e-300):
                    ignored[p] = True  # violated by rounding only
                    break
                conflict[p] = True
                for j in range(q):
                    if abs(r[j]) > 1e-9:
                        conflict[rows[j]] = True
                _scatter(rows, signs, u, q, y, guess)
                return INFEASIBLE, iteration
            t = min(t1, t2)
            for j in range(q):
                u[j] -= t * r[j]
            up += t
            if t2 < np.inf:
                for k in range(n):
                    x[k] += t * z[k]
            if t2 <= t1:
                _append(JT, R, d, q)
                rows[q], signs[q], u[q], on[p] = p, sign, up, sign
                q += 1
                break
            for j in range(at, q - 1):
                u[j] = u[j + 1]
            on[rows[at]] = 0
            q = _remove(JT, R, rows, signs, q, at)
            if iteration >= max_iterations:
                break
    _scatter(rows, signs, u, q, y, guess)
    return status, iteration


@njit(cache=True)
def _scatter(rows, signs, u, q, y, guess):
    y[:] = 0.0
    guess[:] = 0
    for j in range(q):
        y[rows[j]] = signs[j] * u[j]
        guess[rows[j]] = signs[j]


@njit(cache=True)
def solve_dense_qp(Q, c, G, lower, upper, centre, guess, max_iterations):
    """Minimise 1/2 x'Qx + c'x, lower <= Gx <= upper; Q symmetric positive semidefinite.

    Variables are scaled to a unit Hessian diagonal. A singular Q is handled by proximal-point steps
    that begin at `centre` (n,) and are repeated until they stop moving: no bias remains.
    guess (m,) int8: active set to start from, overwritten with the final one.
    Returns (x, y, conflict, status, iterations, proximal steps).
    """
    m, n = G.shape
    scale = np.ones(n)
    largest = 0.0
    for i in range(n):
        largest = max(largest, Q[i, i])
    for i in range(n):
        if Q[i, i] > 1e-30 * largest:
            scale[i] = 1.0 / np.sqrt(Q[i, i])
        elif largest > 0.0:
            scale[i] = 1.0 / np.sqrt(largest)
    Qs = np.empty((n, n))
    cs = np.empty(n)
    Gs = np.empty((m, n))
    norm = np.empty(m)
    for i in range(n):
        cs[i] = c[i] * scale[i]
        for j in range(n):
            Qs[i, j] = 0.5 * (Q[i, j] + Q[j, i]) * scale[i] * scale[j]
    for i in range(m):
        v = 0.0
        for j in range(n):
            g = G[i, j] * scale[j]
            Gs[i, j] = g
            v += g * g
        norm[i] = np.sqrt(v)
    JT = np.empty((n, n))
    x = np.zeros(n)
    x0 = np.empty(n)
    y = np.zeros(m)
    conflict = np.zeros(m, np.bool_)
    weight = 0.0
    if not (largest > 0.0 and metric_factor(Qs, 0.0, JT) > SINGULAR):
        weight = PROXIMAL if largest > 0.0 else 1.0
        if not metric_factor(Qs, weight, JT) > 0.0:
            return x, y, conflict, INDEFINITE, 0, 0
    keep = JT.copy()
    before = centre / scale
    shifted = np.empty(n)
    pull = 0.0
    for k in range(n):
        pull = max(pull, abs(cs[k]))
    last, leap = 0.0, 4.0
    leapt = False
    steps, iterations = 0, 0
    status = ITERATION_LIMIT
    while steps < 60:
        steps += 1
        for k in range(n):
            shifted[k] = cs[k] - weight * before[k]
        JT[:, :] = keep
        _minimiser(JT, shifted, x0)
        code, used = dual_active_set(JT, x0, Gs, lower, upper, norm, guess, max_iterations, x, y, conflict)
        iterations += used
        if code != OPTIMAL or weight == 0.0:
            status = code
            break
        move, size = 0.0, 0.0
        for k in range(n):
            move = max(move, abs(x[k] - before[k]))
            size = max(size, abs(x[k]))
        slope = weight * move  # what remains in the stationarity condition
        steep = pull > 0.0 and slope > 1e-8 * pull
        steady = move >= 0.9 * last and not leapt and steps > 2
        if (pull > 0.0 and size > 1e12 * pull) or (steady and steep and steps > 20):
            status = UNBOUNDED
            break
        # below this it is rounding, which makes the null space drift for ever, hence the slow growth of the threshold
        noise = 3e-15 * steps * steps * (max(size, pull) if largest > 0.0 else pull)
        if slope <= (noise if steps < 60 else max(noise, FLAT * pull)) and not steep:
            status = OPTIMAL
            break
        # a drift that does not slow down ends at a limit, or nowhere: the next step begins further and further down
        ahead = leap if largest > 0.0 and steady and move > 0.99 * last and slope > FLAT * pull else 0.0
        leap = 4.0 * leap if ahead > 0.0 else leap
        for k in range(n):
            before[k] = x[k] + ahead * (x[k] - before[k])
        if not leapt:
            last = move
        leapt = ahead > 0.0
        if largest == 0.0:  # a linear program: larger and larger steps show whether it is bounded
            weight *= 0.1
            keep *= np.sqrt(10.0)
    return x * scale, y, conflict, status, iterations, steps


@njit(cache=True)
def _minimiser(JT, c, x0):
    """x0 <- -J J^T c."""
    n = c.size
    x0[:] = 0.0
    for j in range(n):
        v = 0.0
        for k in range(n):
            v -= JT[j, k] * c[k]
        for k in range(n):
            x0[k] += v * JT[j, k]
