"""Compiled table of a QPCC: every output as an affine function of the efforts, kept up to date as contacts change.

Contact i owns `step` consecutive rows (normal, or normal and two tangents) and is in one of the states OPEN (no force),
CLOSED (all its rows held at zero) or NORMAL (only its normal row held). A Cholesky factor of the compliance of the held
rows is updated row by row.

A row that follows from those already held (the same wall given twice, more contacts than motions) is not held: its
value is theirs, its force zero. Any other share of the force would be one of many that do the same.
"""

from __future__ import annotations

import numpy as np
from numba import njit

OPEN, CLOSED, NORMAL = 0, 1, 2

_SUMS = {"reassoc", "nsz", "contract"}  # sums in any order, so that they use vectors

DEPENDENT = 1e-10  # part of its own compliance that the held rows leave to a row: below this it follows from them


@njit(cache=True, fastmath=_SUMS)
def factor_add(L, rows, k, V, at, i):
    """Append contact row i to the factor of the active block, O(k^2); returns the new size."""
    norm = 0.0
    new = L[k]
    for a in range(k):
        line = L[a]
        v = 0.0
        for b in range(a):
            v += line[b] * new[b]
        v = (V[i, at + rows[a]] - v) / line[a]
        new[a] = v
        norm += v * v
    L[k, k] = np.sqrt(max(V[i, at + i] - norm, DEPENDENT * V[i, at + i]))
    rows[k] = i
    return k + 1


@njit(cache=True)
def factor_remove(L, rows, k, i):
    """Delete contact row i from the factor: shift, then a rank-one update of the trailing block, O(k^2)."""
    at = 0
    while rows[at] != i:
        at += 1
    u = np.empty(k)
    for a in range(at + 1, k):
        u[a - 1] = L[a, at]
        rows[a - 1] = rows[a]
        for b in range(at):
            L[a - 1, b] = L[a, b]
        for b in range(at + 1, a + 1):
            L[a - 1, b - 1] = L[a, b]
    k -= 1
    for j in range(at, k):
        r = np.hypot(L[j, j], u[j])
        c, s = r / L[j, j], u[j] / L[j, j]
        L[j, j] = r
        for a in range(j + 1, k):
            L[a, j] = (L[a, j] + s * u[a]) / c
            u[a] = c * u[a] - s * L[a, j]
    return k


@njit(cache=True)
def is_held(rows, k, i):
    """Whether contact row i is among the k held ones."""
    for a in range(k):  # noqa: SIM110 - compiled: a loop is what it becomes
        if rows[a] == i:
            return True
    return False


@njit(cache=True, fastmath=_SUMS)
def flip_row(T, V, at, L, rows, k, i):
    """Swap contact row i between held (its line of T is its force) and free (its line of T is its value).

    A row that depends on those held stays free. T (R, na+1): every output (effectors, strokes, extra rows, contact
    rows from line `at` on) as an affine function of the efforts. V (mc, R): effect of each contact force on every
    output. Only one column of the inverse of the active block is needed: O(k^2 + k R). Returns the new k.
    """
    R, n = T.shape
    held = is_held(rows, k, i)
    if held:
        k = factor_remove(L, rows, k, i)
    z = np.empty(k)
    for a in range(k):
        line = L[a]
        v = 0.0
        for b in range(a):
            v += line[b] * z[b]
        z[a] = (V[i, at + rows[a]] - v) / line[a]
    for a in range(k - 1, -1, -1):
        line = L[a]
        v = z[a] / line[a]
        z[a] = v
        for b in range(a):
            z[b] -= line[b] * v
    column = V[i].copy()
    for a in range(k):
        line = V[rows[a]]
        f = z[a]
        for j in range(R):
            column[j] -= f * line[j]
    for a in range(k):
        column[at + rows[a]] = -z[a]
    own = column[at + i]
    if own <= DEPENDENT * V[i, at + i]:
        if not held:
            return k
        own = DEPENDENT * V[i, at + i]  # it was independent when it was taken: rounding
    column[at + i] = 0.0
    force = np.empty(n)
    for c in range(n):
        force[c] = -T[at + i, c] if held else -T[at + i, c] / own
    for j in range(R):
        f = column[j]
        if f != 0.0:
            for c in range(n):
                T[j, c] += f * force[c]
    for c in range(n):
        T[at + i, c] = own * force[c] if held else force[c]
    if not held:
        k = factor_add(L, rows, k, V, at, i)
    return k


@njit(cache=True)
def set_state(T, V, at, L, rows, k, state, i, new, step):
    """Move contact i to state `new`, keeping table and factor up to date; returns the new k.

    A contact of one row that depends on the held ones stays open.
    """
    for x in range(step):
        will = new == CLOSED or (new == NORMAL and x == 0)
        if is_held(rows, k, step * i + x) != will:
            k = flip_row(T, V, at, L, rows, k, step * i + x)
    state[i] = new if step > 1 or is_held(rows, k, i) else OPEN
    return k


@njit(cache=True)
def quieten(T, problem, at, rows, k, step):
    """Set what rounding left of normal rows that follow from the held ones to what it stands for: a constant gap.

    Else a piece would have to keep the sign of noise.
    """
    Wca, dc = problem[6], problem[8]
    na = Wca.shape[1]
    largest = 0.0
    for i in range(dc.size):
        largest = max(largest, abs(dc[i]))
    for i in range(0, dc.size, step):
        line = T[at + i]
        left, own = 0.0, 0.0
        for j in range(na):
            left += line[j] * line[j]
            own += Wca[i, j] * Wca[i, j]
        if left <= 1e-18 * own and not is_held(rows, k, i):
            line[:na] = 0.0
            if abs(line[na]) <= 1e-9 * largest:
                line[na] = 0.0


@njit(cache=True)
def restore_rows(V, at, L, rows, k, wanted, count):
    """Bring the factor back to the first `count` rows of `wanted`, where the table is taken from a copy; returns k."""
    for a in range(k - 1, -1, -1):
        if not is_held(wanted, count, rows[a]):
            k = factor_remove(L, rows, k, rows[a])
    for a in range(count):
        if not is_held(rows, k, wanted[a]):
            k = factor_add(L, rows, k, V, at, wanted[a])
    return k


@njit(cache=True)
def close_together(T, V, at, L, rows, state, wanted, step):
    """Move all contacts from OPEN to their wanted states at once: one factor instead of many flips; returns k.

    Contacts that depend on each other are left to `set_state`, which is more careful: then nothing is moved.
    """
    n = T.shape[1]
    k = np.int64(0)  # typed numbers: see `_kernels.arrays`
    for i in range(state.size):
        for x in range(step):
            if wanted[i] == CLOSED or (wanted[i] == NORMAL and x == 0):
                k = factor_add(L, rows, k, V, at, step * i + x)
                own = V[step * i + x, at + step * i + x]
                if L[k - 1, k - 1] ** 2 <= 1e2 * DEPENDENT * own:
                    return 0
    for i in range(state.size):
        state[i] = wanted[i]
    force = np.empty((k, n))
    for a in range(k):
        line = force[a]
        for c in range(n):
            line[c] = -T[at + rows[a], c]
        for b in range(a):
            f = L[a, b]
            for c in range(n):
                line[c] -= f * force[b, c]
        for c in range(n):
            line[c] /= L[a, a]
    for a in range(k - 1, -1, -1):
        line = force[a]
        for c in range(n):
            line[c] /= L[a, a]
        for b in range(a):
            f = L[a, b]
            for c in range(n):
                force[b, c] -= f * line[c]
    for a in range(k):
        line, effect = force[a], V[rows[a]]
        for j in range(T.shape[0]):
            f = effect[j]
            for c in range(n):
                T[j, c] += f * line[c]
    for a in range(k):
        T[at + rows[a]] = force[a]
    return k


@njit(cache=True)
def outputs(problem):
    """(T, V) with all contacts open: T = [own | offset] of every output, V the effect of contact forces."""
    Wea, Wec, de, Waa, Wac, da, Wca, Wcc, dc, _, _, _, _, Ca, Cc, d = problem
    ne, na, nr, mc = de.size, da.size, d.size, dc.size
    T = np.empty((ne + na + nr + mc, na + 1))
    V = np.empty((mc, ne + na + nr + mc))
    for own, offset, across, first in ((Wea, de, Wec, 0), (Waa, da, Wac, ne), (Ca, d, Cc, ne + na)):
        for i in range(offset.size):
            T[first + i, :na] = own[i]
            T[first + i, na] = offset[i]
            for j in range(mc):
                V[j, first + i] = across[i, j]
    T[ne + na : ne + na + nr, na] = 0.0
    for i in range(mc):
        T[ne + na + nr + i, :na] = Wca[i]
        T[ne + na + nr + i, na] = dc[i]
        for j in range(mc):
            V[j, ne + na + nr + i] = Wcc[i, j]
    return T, V
