"""Compiled solvers of dense complementarity problems: LCP, boxed rows and Coulomb contacts.

Gauss-Seidel sweeps bring the unknowns near the solution; an exact step (principal pivoting for the LCP,
semismooth Newton on the natural map with friction) finishes to machine precision.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.qp import OPTIMAL, solve_dense_qp

OPEN, STICK, SLIDE, FRICTIONLESS = 0, 1, 2, 3


@njit(cache=True)
def lcp_residual(W, q, lam):
    """Largest |min(lam_i, delta_i / W_ii)| relative to the size of the forces."""
    n = q.size
    worst, size = 0.0, 1e-300
    for i in range(n):
        d = q[i]
        for j in range(n):
            d += W[i, j] * lam[j]
        worst = max(worst, abs(min(lam[i], d / W[i, i])))
        size = max(size, abs(lam[i]), -q[i] / W[i, i])
    return worst / size


@njit(cache=True)
def sweep_lcp(W, q, lam, sweeps, tolerance):
    """Projected Gauss-Seidel; returns the sweeps used."""
    n = q.size
    for sweep in range(sweeps):
        change, size = 0.0, 0.0
        for i in range(n):
            d = q[i]
            for j in range(n):
                d += W[i, j] * lam[j]
            new = max(0.0, lam[i] - d / W[i, i])
            change = max(change, abs(new - lam[i]))
            size = max(size, new)
            lam[i] = new
        if change <= tolerance * size:
            return sweep + 1
    return sweeps


@njit(cache=True)
def cholesky_solve(A, b):
    """Overwrite b with A^-1 b for symmetric A (overwritten); False if A is not safely positive definite."""
    n = b.size
    for j in range(n):
        floor = 1e-13 * A[j, j]
        v = A[j, j]
        for k in range(j):
            v -= A[j, k] * A[j, k]
        if not v > floor:
            return False
        A[j, j] = np.sqrt(v)
        for i in range(j + 1, n):
            v = A[i, j]
            for k in range(j):
                v -= A[i, k] * A[j, k]
            A[i, j] = v / A[j, j]
    for i in range(n):
        v = b[i]
        for k in range(i):
            v -= A[i, k] * b[k]
        b[i] = v / A[i, i]
    for i in range(n - 1, -1, -1):
        v = b[i]
        for k in range(i + 1, n):
            v -= A[k, i] * b[k]
        b[i] = v / A[i, i]
    return True


@njit(cache=True)
def lu_solve(A, b):
    """Overwrite b with A^-1 b (A overwritten, partial pivoting); False if A is numerically singular."""
    n = b.size
    size = np.max(np.abs(A)) if n else 0.0
    for j in range(n):
        p = j
        for i in range(j + 1, n):
            if abs(A[i, j]) > abs(A[p, j]):
                p = i
        if not abs(A[p, j]) > 1e-14 * size:
            return False
        if p != j:
            for k in range(n):
                A[j, k], A[p, k] = A[p, k], A[j, k]
            b[j], b[p] = b[p], b[j]
        for i in range(j + 1, n):
            f = A[i, j] / A[j, j]
            if f != 0.0:
                for k in range(j + 1, n):
                    A[i, k] -= f * A[j, k]
                b[i] -= f * b[j]
    for i in range(n - 1, -1, -1):
        v = b[i]
        for k in range(i + 1, n):
            v -= A[i, k] * b[k]
        b[i] = v / A[i, i]
    return True


@njit(cache=True)
def pivot_lcp(W, q, lam, symmetric, max_pivots):
    """Block principal pivoting from the set {lam > 0}, with the least-index rule when it does not progress.

    Finite for P-matrices. Returns (success, pivots); lam is left alone without success.
    """
    n = q.size
    on = lam > 0.0
    rows = np.empty(n, np.int64)
    bad = np.empty(n, np.bool_)
    fewest, patience = n + 1, 10
    for pivot in range(max_pivots):
        k = 0
        for i in range(n):
            if on[i]:
                rows[k] = i
                k += 1
        A = np.empty((k, k))
        b = np.empty(k)
        for a in range(k):
            b[a] = -q[rows[a]]
            for c in range(k):
                A[a, c] = W[rows[a], rows[c]]
        if not (cholesky_solve(A, b) if symmetric else lu_solve(A, b)):
            return False, pivot
        size = 1e-300
        for a in range(k):
            size = max(size, abs(b[a]))
        count, last = 0, -1
        for i in range(n):
            bad[i] = False
            if on[i]:
                continue
            d = q[i]
            scale = abs(q[i])
            for a in range(k):
                term = W[i, rows[a]] * b[a]
                d += term
                scale += abs(term)
            bad[i] = d < -1e-13 * scale
        for a in range(k):
            bad[rows[a]] = b[a] < -1e-14 * size
        for i in range(n):
            if bad[i]:
                count += 1
                last = i
        if count == 0:
            lam[:] = 0.0
            for a in range(k):
                lam[rows[a]] = max(b[a], 0.0)
            return True, pivot
        if count < fewest:
            fewest, patience = count, 10
        else:
            patience -= 1
        for i in range(n):
            if bad[i] and (patience > 0 or i == last):
                on[i] = not on[i]
    return False, max_pivots


@njit(cache=True)
def lemke(W, q, lam, max_pivots):
    """Lemke's method with a covering vector of ones; exact for positive semidefinite W. True on success."""
    n = q.size
    if n == 0 or np.min(q) >= 0.0:
        lam[:] = 0.0
        return True
    # columns: w (n), z (n), z0, right-hand side
    T = np.zeros((n, 2 * n + 2))
    basis = np.arange(n)
    for i in range(n):
        T[i, i] = 1.0
        for j in range(n):
            T[i, n + j] = -W[i, j]
        T[i, 2 * n] = -1.0
        T[i, 2 * n + 1] = q[i]
    row = np.argmin(q)
    entering = 2 * n
    for _ in range(max_pivots):
        leaving = basis[row]
        T[row] /= T[row, entering]
        for i in range(n):
            if i != row and T[i, entering] != 0.0:
                T[i] -= T[i, entering] * T[row]
        basis[row] = entering
        if leaving == 2 * n:
            lam[:] = 0.0
            for i in range(n):
                if n <= basis[i] < 2 * n:
                    lam[basis[i] - n] = max(T[i, 2 * n + 1], 0.0)
            return True
        entering = leaving + n if leaving < n else leaving - n
        best, row = np.inf, -1
        size = np.max(np.abs(T[:, entering]))
        for i in range(n):
            if T[i, entering] > 1e-11 * size:
                ratio = max(T[i, 2 * n + 1], 0.0) / T[i, entering]
                # prefer to let z0 leave on ties: it ends the path
                if row < 0 or ratio < best * (1.0 - 1e-14) or (ratio <= best and basis[i] == 2 * n):
                    best, row = ratio, i
        if row < 0:
            return False
    return False


@njit(cache=True)
def solve_lcp(W, q, lam, symmetric, tolerance, max_iterations):
    """Sweeps, then pivoting, else more sweeps, the equivalent QP, Lemke. Returns (residual, iterations)."""
    n = q.size
    used = sweep_lcp(W, q, lam, min(8, max_iterations), tolerance)
    keep = lam.copy()
    done, pivots = pivot_lcp(W, q, lam, symmetric, 5 * n + 30)
    used += pivots
    residual = lcp_residual(W, q, lam)
    if done and residual <= tolerance:
        return residual, used
    lam[:] = keep
    used += sweep_lcp(W, q, lam, max(max_iterations - used, 0), 0.1 * tolerance)
    residual = lcp_residual(W, q, lam)
    if residual <= tolerance:
        return residual, used
    keep[:] = lam
    for attempt in range(3):
        if attempt == 0:
            done, pivots = pivot_lcp(W, q, lam, False, 5 * n + 30)
        elif attempt == 1:
            if not symmetric:
                continue
            # the LCP is the optimality condition of this QP, whose proximal steps stand a singular W
            guess = (keep > 0.0).astype(np.int8)
            x, _, _, code, pivots, _ = solve_dense_qp(
                W, q, np.eye(n), np.zeros(n), np.full(n, np.inf), keep, guess, 20 * n + 100
            )
            done = code == OPTIMAL
            lam[:] = np.maximum(x, 0.0)
        else:
            done, pivots = lemke(W, q, lam, 50 * n + 100), 50 * n
        used += pivots
        other = lcp_residual(W, q, lam)
        if done and other < residual:
            residual = other
            keep[:] = lam
            if residual <= tolerance:
                break
    lam[:] = keep
    return residual, used


@njit(cache=True)
def _slide(Wb, b, mu, angle):
    """Normal force and out-of-line slip for sliding against the direction `angle`."""
    c, s = np.cos(angle), np.sin(angle)
    stiff = Wb[0, 0] + mu * (Wb[0, 1] * c + Wb[0, 2] * s)
    if stiff <= 1e-12 * Wb[0, 0]:
        return -1.0, 0.0, 0.0
    n = -b[0] / stiff
    t = b[1] + n * (Wb[1, 0] + mu * (Wb[1, 1] * c + Wb[1, 2] * s))
    u = b[2] + n * (Wb[2, 0] + mu * (Wb[2, 1] * c + Wb[2, 2] * s))
    return n, c * u - s * t, c * t + s * u


@njit(cache=True)
def coulomb_block(Wb, b, mu, out):
    """Exact solution of one contact (n, t, s) of compliance Wb and free motion b; returns its state."""
    out[:] = 0.0
    if b[0] >= 0.0:
        return OPEN
    out[0] = -b[0] / Wb[0, 0]
    if mu == 0.0:
        return FRICTIONLESS
    trial = -b
    if not lu_solve(Wb.copy(), trial):
        return FRICTIONLESS
    tangent = np.hypot(trial[1], trial[2])
    if trial[0] > 0.0 and tangent <= mu * trial[0]:
        out[:] = trial
        return STICK
    if np.isinf(mu):
        return FRICTIONLESS  # neither open nor stuck is possible: the third state
    centre = np.arctan2(trial[2], trial[1])
    best, found = -1.0, False
    parts = 24
    left = centre - np.pi
    n_left, g_left, _ = _slide(Wb, b, mu, left)
    for k in range(1, parts + 1):
        right = centre - np.pi + 2.0 * np.pi * k / parts
        n_right, g_right, _ = _slide(Wb, b, mu, right)
        if n_left > 0.0 and n_right > 0.0 and (g_left <= 0.0) != (g_right <= 0.0):
            lo, hi, g_lo = left, right, g_left
            for _ in range(60):
                mid = 0.5 * (lo + hi)
                _, g, _ = _slide(Wb, b, mu, mid)
                if (g <= 0.0) == (g_lo <= 0.0):
                    lo = mid
                else:
                    hi = mid
            mid = 0.5 * (lo + hi)
            n, _, along = _slide(Wb, b, mu, mid)
            closeness = np.cos(mid - centre) + 2.0
            if along <= 0.0 and closeness > best:
                best, found = closeness, True
                out[0] = n
                out[1], out[2] = mu * n * np.cos(mid), mu * n * np.sin(mid)
        left, n_left, g_left = right, n_right, g_right
    if found:
        return SLIDE
    # strong coupling (very large mu): the projection of the trial is not a solution but keeps the sweep going
    n = max(out[0], 0.0)
    if tangent > 0.0:
        out[1], out[2] = mu * n * trial[1] / tangent, mu * n * trial[2] / tangent
    return SLIDE


@njit(cache=True)
def natural_map(W, q, rows, lo, hi, triples, mu, lam, F, J, decided, want_jacobian):
    """Natural residual F (zero at a solution) and its generalised derivative J; returns its relative size.

    decided: rows whose derivative is a row of the identity (open contacts, multipliers at a bound).
    """
    m = q.size
    decided[:] = False
    delta = W @ lam + q
    size = 1e-300
    for i in range(m):
        size = max(size, abs(lam[i]))
    if want_jacobian:
        J[:, :] = 0.0
    for a in range(rows.size):
        i = rows[a]
        rho = 1.0 / W[i, i]
        v = lam[i] - rho * delta[i]
        if lo[a] < v < hi[a]:
            F[i] = rho * delta[i]
            if want_jacobian:
                J[i] = rho * W[i]
        else:
            F[i] = lam[i] - (lo[a] if v <= lo[a] else hi[a])
            decided[i] = True
            if want_jacobian:
                J[i, i] = 1.0
        size = max(size, -q[i] * rho if lo[a] == 0.0 else abs(q[i]) * rho)
    for a in range(mu.size):
        n, t, s = triples[a]
        rho = 1.0 / W[n, n]
        size = max(size, -q[n] * rho)
        if lam[n] - rho * delta[n] <= 0.0:
            for i in (n, t, s):
                F[i] = lam[i]
                decided[i] = True
                if want_jacobian:
                    J[i, i] = 1.0
            continue
        F[n] = rho * delta[n]
        if want_jacobian:
            J[n] = rho * W[n]
        rho = 2.0 / (W[t, t] + W[s, s])
        vt, vs = lam[t] - rho * delta[t], lam[s] - rho * delta[s]
        length = np.hypot(vt, vs)
        radius = mu[a] * max(lam[n], 0.0) if mu[a] > 0.0 else 0.0
        if length <= radius:
            F[t], F[s] = rho * delta[t], rho * delta[s]
            if want_jacobian:
                J[t], J[s] = rho * W[t], rho * W[s]
            continue
        et, es = vt / length, vs / length
        F[t], F[s] = lam[t] - radius * et, lam[s] - radius * es
        if want_jacobian:
            k = radius / length
            ptt, pts, pss = k * (1.0 - et * et), -k * et * es, k * (1.0 - es * es)
            J[t] = rho * (ptt * W[t] + pts * W[s])
            J[s] = rho * (pts * W[t] + pss * W[s])
            J[t, t] += 1.0 - ptt
            J[t, s] -= pts
            J[s, t] -= pts
            J[s, s] += 1.0 - pss
            J[t, n] -= mu[a] * et
            J[s, n] -= mu[a] * es
    return np.max(np.abs(F)) / size if m else 0.0


@njit(cache=True)
def _newton(W, q, rows, lo, hi, triples, mu, lam, tolerance, F, J, decided):
    """Semismooth Newton from lam; leaves the best point in lam and returns its residual."""
    best = natural_map(W, q, rows, lo, hi, triples, mu, lam, F, J, decided, False)
    keep = lam.copy()
    for _ in range(25):
        natural_map(W, q, rows, lo, hi, triples, mu, lam, F, J, decided, True)
        # only the undecided rows need a linear solve
        free = np.flatnonzero(~decided)
        A = np.empty((free.size, free.size))
        b = np.empty(free.size)
        for x in range(free.size):
            i = free[x]
            v = F[i]
            for j in range(q.size):
                if decided[j]:
                    v -= J[i, j] * F[j]
            b[x] = v
            for y in range(free.size):
                A[x, y] = J[i, free[y]]
        if not lu_solve(A, b):
            break
        for x in range(free.size):
            F[free[x]] = b[x]
        lam -= F
        residual = natural_map(W, q, rows, lo, hi, triples, mu, lam, F, J, decided, False)
        if not np.isfinite(residual):
            break
        if residual < best:
            gain = residual / best
            best = residual
            keep[:] = lam
            if residual <= 1e-3 * tolerance or (residual <= tolerance and gain > 0.1):
                break
    lam[:] = keep
    return best


@njit(cache=True)
def solve_contact(W, q, rows, lo, hi, triples, mu, lam, states, tolerance, max_iterations):
    """Block Gauss-Seidel with Newton attempts at doubling intervals.

    mu is overwritten: contacts with mu = inf that ended in the frictionless third state get 0.
    Returns (residual, sweeps).
    """
    m, k = q.size, mu.size
    F = np.empty(m)
    J = np.empty((m, m))
    Wb = np.empty((3, 3))
    b = np.empty(3)
    new = np.empty(3)
    decided = np.empty(m, np.bool_)
    third = np.zeros(k, np.int64)
    effective = mu.copy()
    attempt = 6
    residual = np.inf
    for sweep in range(max_iterations):
        for a in range(rows.size):
            i = rows[a]
            d = q[i]
            for j in range(m):
                d += W[i, j] * lam[j]
            lam[i] = min(max(lam[i] - d / W[i, i], lo[a]), hi[a])
        for a in range(k):
            for x in range(3):
                i = triples[a, x]
                d = q[i]
                for j in range(m):
                    d += W[i, j] * lam[j]
                for y in range(3):
                    Wb[x, y] = W[i, triples[a, y]]
                    d -= Wb[x, y] * lam[triples[a, y]]
                b[x] = d
            states[a] = coulomb_block(Wb, b, mu[a], new)
            effective[a] = mu[a]
            if states[a] == FRICTIONLESS and mu[a] > 0.0:
                effective[a] = 0.0
                third[a] += 1
                if third[a] > 40:
                    mu[a] = 0.0  # it keeps coming back: hold it there, so that the sweeps can settle
            for x in range(3):
                lam[triples[a, x]] = new[x]
        residual = natural_map(W, q, rows, lo, hi, triples, effective, lam, F, J, decided, False)
        if residual <= 1e-3 * tolerance:
            break
        if sweep + 1 >= attempt:
            attempt = 2 * attempt
            trial = lam.copy()
            better = _newton(W, q, rows, lo, hi, triples, effective, trial, tolerance, F, J, decided)
            if better <= tolerance:
                lam[:] = trial
                residual = better
                break
    delta = W @ lam + q
    for a in range(k):
        n, t, s = triples[a]
        size = max(np.max(np.abs(lam)), 1e-300)
        if lam[n] <= 1e-12 * size:
            states[a] = OPEN if lam[n] - delta[n] / W[n, n] <= 1e-12 * size else states[a]
        elif effective[a] == 0.0:
            states[a] = FRICTIONLESS
        else:
            slip = np.hypot(delta[t], delta[s]) * 2.0 / (W[t, t] + W[s, s])
            grip = np.hypot(lam[t], lam[s])
            stuck = grip < effective[a] * lam[n] * (1.0 - 1e-9) or slip <= 1e-9 * size
            states[a] = STICK if stuck else SLIDE
    mu[:] = effective
    return residual, sweep + 1
