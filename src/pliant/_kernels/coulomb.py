"""Compiled solver of boxed rows and Coulomb contacts, dense.

Block Gauss-Seidel sweeps bring the unknowns near the solution; semismooth Newton on the natural map finishes to machine
precision.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.complementarity import lu_solve
from pliant._kernels.lapack import TRANS, address, dgetrf, dgetrs

_MANY = 150  # unknowns from which on blocked factors are faster
OPEN, STICK, SLIDE, FRICTIONLESS = 0, 1, 2, 3


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
def natural_map(W, q, rows, lo, hi, triples, mu, lam, F, J, decided):
    """Natural residual F (zero at a solution) and its generalised derivative J; returns its relative size.

    J: (m, m), or (0, 0) where it is not wanted. (A flag would be compiled for both its values.)
    decided: rows whose derivative is a row of the identity (open contacts, multipliers at a bound).
    """
    m = q.size
    want_jacobian = J.size > 0
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
    if triples is None:
        return np.max(np.abs(F)) / size if m else 0.0
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
def _solve_many(A, b):
    """As `lu_solve`, for many unknowns."""
    n = b.size
    size = np.max(np.abs(A))
    pivots = np.empty(n, np.int32)
    if not np.isfinite(size) or dgetrf(n, address(A, 0), n, pivots.ctypes.data) != 0:
        return False
    for i in range(n):
        if not abs(A[i, i]) > 1e-14 * size:
            return False
    dgetrs(TRANS, n, address(A, 0), n, pivots.ctypes.data, address(b, 0))  # column by column it is the transpose
    return True


@njit(cache=True)
def _newton(W, q, rows, lo, hi, triples, mu, lam, tolerance, F, J, decided):
    """Semismooth Newton from lam; leaves the best point in lam and returns its residual."""
    none = np.empty((0, 0))
    best = natural_map(W, q, rows, lo, hi, triples, mu, lam, F, none, decided)
    keep = lam.copy()
    for _ in range(25):
        natural_map(W, q, rows, lo, hi, triples, mu, lam, F, J, decided)
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
        if not (lu_solve(A, b) if free.size < _MANY else _solve_many(A, b)):
            break
        for x in range(free.size):
            F[free[x]] = b[x]
        lam -= F
        residual = natural_map(W, q, rows, lo, hi, triples, mu, lam, F, none, decided)
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
def _sweep_contacts(W, q, triples, mu, lam, states, effective, third, Wb, b, new):
    """One Gauss-Seidel pass over the Coulomb contacts. Wb (3, 3), b, new (3,): workspace."""
    m = q.size
    for a in range(mu.size):
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


@njit(cache=True)
def _name_states(W, q, triples, effective, lam, states):
    """What each contact does at the forces lam."""
    delta = W @ lam + q
    for a in range(effective.size):
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


@njit(cache=True)
def solve_contact(W, q, rows, lo, hi, triples, mu, lam, states, tolerance, max_iterations):
    """Block Gauss-Seidel with Newton attempts at doubling intervals.

    triples: (k, 3) rows of the Coulomb contacts. With None there are none, and their code is not even compiled.
    mu is overwritten: contacts with mu = inf that ended in the frictionless third state get 0.
    Returns (residual, sweeps).
    """
    m = q.size
    F = np.empty(m)
    J = np.empty((m, m))
    none = np.empty((0, 0))
    Wb = np.empty((3, 3))
    b = np.empty(3)
    new = np.empty(3)
    decided = np.empty(m, np.bool_)
    third = np.zeros(mu.size, np.int64)
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
        if triples is not None:
            _sweep_contacts(W, q, triples, mu, lam, states, effective, third, Wb, b, new)
        residual = natural_map(W, q, rows, lo, hi, triples, effective, lam, F, none, decided)
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
    if triples is not None:
        _name_states(W, q, triples, effective, lam, states)
    mu[:] = effective
    return residual, sweep + 1
