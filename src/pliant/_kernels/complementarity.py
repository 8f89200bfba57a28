"""Compiled solvers of dense linear complementarity problems.

Gauss-Seidel sweeps bring the unknowns near the solution; principal pivoting finishes to machine precision. Where
contacts are more than motions W is singular and pivots go in circles: there the problem is the optimality condition of
a quadratic program over nonnegative forces, whose active set can be walked downhill. Boxed rows and Coulomb contacts
are in `_kernels.coulomb`.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.lapack import NO, TRANS, address, dpotrf, dtrsv
from pliant._kernels.qp import OPTIMAL, solve_dense_qp

_LARGE = 40  # from this size on LAPACK is faster than loops
_PIVOTS = 60  # block pivots before a singular W is suspected


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
def _large_cholesky(A, b):
    """`cholesky_solve` by LAPACK. A is symmetric: rows may be taken for columns."""
    n = b.size
    own = np.diag(A).copy()
    if dpotrf(n, address(A, 0), n) != 0:
        return False
    for j in range(n):
        if not A[j, j] * A[j, j] > 1e-13 * own[j]:
            return False
    dtrsv(NO, n, address(A, 0), n, address(b, 0))
    dtrsv(TRANS, n, address(A, 0), n, address(b, 0))
    return True


@njit(cache=True)
def cholesky_solve(A, b):
    """Overwrite b with A^-1 b for symmetric A (overwritten); False if A is not safely positive definite."""
    n = b.size
    if n > _LARGE:
        return _large_cholesky(A, b)
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
def nonnegative(W, extra, q, lam, max_solves):
    """Least 1/2 lam' (W + diag(extra)) lam + q' lam over lam >= 0, downhill from face to face (Lawson and Hanson).

    W + diag(extra) is positive definite; lam >= 0 is where to start and is overwritten. True on success.
    """
    n = q.size
    on = lam > 0.0
    rows = np.empty(n, np.int64)
    pull = np.empty(n)
    alone = False  # add one row only: several at once were all refused
    for _ in range(max_solves):
        k = 0
        for i in range(n):
            if on[i]:
                rows[k] = i
                k += 1
            else:
                lam[i] = 0.0
        A, b = np.empty((k, k)), np.empty(k)
        for a in range(k):
            i = rows[a]
            b[a] = -q[i]
            for c in range(k):
                A[a, c] = W[i, rows[c]]
            A[a, a] += extra[i]
        if k and not cholesky_solve(A, b):
            return False
        part, refused, fresh = 1.0, 0, 0
        for a in range(k):
            i = rows[a]
            fresh += lam[i] == 0.0
            if b[a] <= 0.0:
                if lam[i] == 0.0:
                    on[i] = False
                    refused += 1
                else:
                    part = min(part, lam[i] / (lam[i] - b[a]))
        if refused > 0:
            alone = refused == fresh
            if not alone:
                continue
        if refused == 0 and part < 1.0:
            for a in range(k):
                i = rows[a]
                lam[i] += part * (b[a] - lam[i])
                if b[a] <= 0.0 and lam[i] <= 1e-14 * abs(b[a]):
                    lam[i], on[i] = 0.0, False
            continue
        if refused == 0:
            for a in range(k):
                lam[rows[a]] = b[a]
        worst = 0.0
        for i in range(n):
            pull[i] = 0.0
            if on[i]:
                continue
            d, scale = q[i], abs(q[i])
            for a in range(k):
                term = W[i, rows[a]] * lam[rows[a]]
                d += term
                scale += abs(term)
            if d < -1e-13 * scale:
                pull[i] = d / np.sqrt(W[i, i] + extra[i])
                worst = min(worst, pull[i])
        if worst == 0.0:
            return True
        for i in range(n):
            if pull[i] < 0.0 and (pull[i] <= worst if alone else pull[i] <= 0.3 * worst):
                on[i] = True
                if alone:
                    break
        alone = False
    return False


@njit(cache=True)
def downhill_lcp(W, q, lam, tolerance):
    """The LCP of a symmetric positive semidefinite W by proximal steps of `nonnegative`; returns the residual."""
    n = q.size
    extra, shifted, start = np.empty(n), np.empty(n), lam.copy()
    best = lcp_residual(W, q, lam)
    # without a solution forces grow as far as the proximal weight lets them
    most = 1e6 * np.max(np.abs(q) / np.diag(W))
    for eps in (1e-9, 1e-10, 1e-11, 1e-8, 1e-8):
        for i in range(n):
            extra[i] = eps * W[i, i]
            shifted[i] = q[i] - extra[i] * start[i]
        here = start.copy()
        if not nonnegative(W, extra, shifted, here, 3 * n + 50) or np.max(here) > most:
            continue
        residual = lcp_residual(W, q, here)
        start[:] = here
        if residual < best:
            best = residual
            lam[:] = here
        if best <= tolerance:
            break
    return best


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
def pivoted_lcp(W, q, lam, symmetric, tolerance, max_iterations):
    """A few sweeps, then pivoting, which nearly always ends. Returns (residual, iterations).

    Without success the residual is infinite and lam where the sweeps left it.
    """
    n = q.size
    used = sweep_lcp(W, q, lam, min(8, max_iterations), tolerance)
    keep = lam.copy()
    done, pivots = pivot_lcp(W, q, lam, symmetric, min(_PIVOTS, 5 * n + 30) if symmetric else 5 * n + 30)
    used += pivots
    residual = lcp_residual(W, q, lam)
    if done and residual <= tolerance:
        return residual, used
    lam[:] = keep
    return np.inf, used


@njit(cache=True)
def laborious_lcp(W, q, lam, symmetric, tolerance, max_iterations, used):
    """Where pivoting fails: downhill, more sweeps, the equivalent QP, Lemke. Returns (residual, iterations).

    used: iterations so far. Apart from `pivoted_lcp` because it takes half a minute to compile and is rarely needed.
    """
    n = q.size
    keep = lam.copy()
    if symmetric:
        residual = downhill_lcp(W, q, lam, tolerance)
        if residual <= tolerance:
            return residual, used
        keep[:] = lam
    used += sweep_lcp(W, q, lam, max(max_iterations - used, 0), 0.1 * tolerance)
    residual = lcp_residual(W, q, lam)
    if residual <= tolerance:
        return residual, used
    keep[:] = lam
    for attempt in range(3):
        if attempt == 0:
            done, pivots = pivot_lcp(W, q, lam, np.bool_(False), 5 * n + 30)  # typed: see `_kernels.arrays`
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
def solve_lcp(W, q, lam, symmetric, tolerance, max_iterations):
    """The easy way, then the laborious one. Returns (residual, iterations)."""
    residual, used = pivoted_lcp(W, q, lam, symmetric, tolerance, max_iterations)
    if residual <= tolerance:
        return residual, used
    return laborious_lcp(W, q, lam, symmetric, tolerance, max_iterations, used)
