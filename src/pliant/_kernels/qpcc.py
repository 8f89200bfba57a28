"""Compiled local solver of QPs with contact complementarity: decomposition, pivoting, reduced pieces.

The unknowns are actuator efforts a (na,) and contact forces; contact i owns `step` consecutive rows (normal,
or normal and two tangents) and is in one of the states OPEN (no force), CLOSED (all its rows held at zero) or
NORMAL (only its normal row held). For given states the forces are affine in a: a piece is a QP in a.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.qp import INFEASIBLE, OPTIMAL, solve_dense_qp
from pliant._kernels.qpcc_table import (
    CLOSED,
    NORMAL,
    OPEN,
    close_together,
    outputs,
    quieten,
    restore_rows,
    set_state,
)

SOLVED, PIVOT_LIMIT, NO_START, NO_LIMITS = 0, 1, 2, 3
VANISHING = 1e-12  # of the size of the numbers that enter a force: below it is rounding


@njit(cache=True)
def _times(W, left, right):
    out = np.empty(W.shape)
    for i in range(W.shape[0]):
        for j in range(W.shape[1]):
            out[i, j] = left[i] * W[i, j] * right[j]
    return out


@njit(cache=True)
def scale_problem(problem):
    """Copy in balanced units: every force is measured in sqrt(energy), so that its own compliance is one.

    Returns (problem, sa, sc, sr): efforts, contact forces and extra rows are multiplied by these to come back
    (rows: by 1 / sr).
    """
    Wea, Wec, de, Waa, Wac, da, Wca, Wcc, dc, lo, hi, dlo, dhi, Ca, Cc, d = problem
    na, mc, nr = da.size, dc.size, d.size
    sa, sc, sr, se = np.ones(na), np.ones(mc), np.ones(nr), np.ones(de.size)
    for i in range(na):
        if Waa[i, i] > 0.0:
            sa[i] = 1.0 / np.sqrt(Waa[i, i])
    for i in range(mc):
        sc[i] = 1.0 / np.sqrt(Wcc[i, i])
    for i in range(nr):
        size = 0.0
        for j in range(na):
            size += (Ca[i, j] * sa[j]) ** 2
        for j in range(mc):
            size += (Cc[i, j] * sc[j]) ** 2
        sr[i] = 1.0 / np.sqrt(size) if size > 0.0 else 1.0
    vectors = np.empty((5, na))
    for i in range(na):
        vectors[0, i], vectors[1, i], vectors[2, i] = da[i] * sa[i], lo[i] / sa[i], hi[i] / sa[i]
        vectors[3, i], vectors[4, i] = dlo[i] * sa[i], dhi[i] * sa[i]
    gaps, floors = np.empty(mc), np.empty(nr)
    for i in range(mc):
        gaps[i] = dc[i] * sc[i]
    for i in range(nr):
        floors[i] = d[i] * sr[i]
    scaled = (
        _times(Wea, se, sa), _times(Wec, se, sc), de, _times(Waa, sa, sa), _times(Wac, sa, sc), vectors[0],
        _times(Wca, sc, sa), _times(Wcc, sc, sc), gaps, vectors[1], vectors[2], vectors[3], vectors[4],
        _times(Ca, sr, sa), _times(Cc, sr, sc), floors,
    )  # fmt: skip
    return scaled, sa, sc, sr


@njit(cache=True)
def piece_qp(T, problem, energy, proximal, reference, step):
    """Reduced QP of a piece: (Q, c, constant, G, lower, upper); rows: efforts, strokes, extra, contacts."""
    de, Waa, da, dc = problem[2], problem[3], problem[5], problem[8]
    lo, hi, dlo, dhi, d = problem[9], problem[10], problem[11], problem[12], problem[15]
    na, ne, nr, nc = da.size, de.size, d.size, dc.size // step
    Q, c = np.zeros((na, na)), np.zeros(na)
    constant = 0.0
    for e in range(ne):
        for i in range(na):
            c[i] += T[e, i] * T[e, na]
            for j in range(i + 1):
                Q[i, j] += T[e, i] * T[e, j]
        constant += 0.5 * T[e, na] * T[e, na]
    m = 2 * na + nr + nc
    G = np.zeros((m, na))
    lower, upper = np.full(m, -np.inf), np.full(m, np.inf)
    for i in range(na):
        G[i, i] = 1.0
        lower[i], upper[i] = lo[i], hi[i]
        line = T[ne + i]
        for j in range(na):
            G[na + i, j] = line[j]
        lower[na + i], upper[na + i] = dlo[i] - line[na], dhi[i] - line[na]
        if energy > 0.0:  # work of the actuators: a Schur complement, hence convex (spec 9.9)
            c[i] += energy * (line[na] - da[i])
            for j in range(na):
                if j <= i:
                    Q[i, j] += energy * line[j]
                if j >= i:
                    Q[j, i] += energy * line[j]
        if proximal > 0.0:
            for j in range(na):
                w = 0.5 * proximal * (Waa[i, j] + Waa[j, i])
                c[i] -= w * reference[j]
                constant += 0.5 * w * reference[i] * reference[j]
                if j <= i:
                    Q[i, j] += w
    for i in range(na):
        for j in range(i):
            Q[j, i] = Q[i, j]
    for i in range(nr):
        line = T[ne + na + i]
        for j in range(na):
            G[2 * na + i, j] = line[j]
        lower[2 * na + i] = d[i] - line[na]
    first = 2 * na + nr
    for i in range(nc):
        line = T[ne + na + nr + step * i]
        for j in range(na):
            G[first + i, j] = line[j]
        lower[first + i] = -line[na]
    return Q, c, constant, G, lower, upper


@njit(cache=True)
def _limits_qp(G, lower, upper, na, nr):
    """Least largest violation t of the strokes and extra rows: variables (a, t), minimise t^2 / 2."""
    m = G.shape[0]
    soft = na + nr
    G2 = np.zeros((m + soft + 1, na + 1))
    low, high = np.full(m + soft + 1, -np.inf), np.full(m + soft + 1, np.inf)
    for r in range(m):
        for j in range(na):
            G2[r, j] = G[r, j]
        low[r], high[r] = lower[r], upper[r]
    for i in range(soft):
        r = na + i
        G2[r, na] = 1.0
        high[r] = np.inf
        for j in range(na):
            G2[m + i, j] = G[r, j]
        G2[m + i, na] = -1.0
        high[m + i] = upper[r]
    G2[m + soft, na] = 1.0
    low[m + soft] = 0.0
    Q = np.zeros((na + 1, na + 1))
    Q[na, na] = 1.0
    return Q, np.zeros(na + 1), G2, low, high


@njit(cache=True)
def solve_piece(T, problem, energy, proximal, reference, step, phase, a, guess):
    """Solve the piece of T (phase 1: least violation of the limits). guess: active set, overwritten.

    Returns (code, a, objective, duals, iterations).
    """
    na, nr = problem[5].size, problem[15].size
    Q, c, constant, G, lower, upper = piece_qp(T, problem, energy, proximal, reference, step)
    m = lower.size
    active, centre = guess, a
    if phase == 1:
        Q, c, G, lower, upper = _limits_qp(G, lower, upper, na, nr)
        active = np.zeros(lower.size, np.int8)
        centre = np.zeros(na + 1)
        for i in range(na):
            centre[i] = a[i]
        constant = 0.0
    x, y, _, code, iterations, _ = solve_dense_qp(Q, c, G, lower, upper, centre, active, 20 * (m + na) + 100)
    value = constant
    for i in range(c.size):
        value += c[i] * x[i]
        for j in range(c.size):
            value += 0.5 * x[i] * Q[i, j] * x[j]
    return code, x[:na].copy(), value, y[:m].copy(), iterations


@njit(cache=True)
def _seen(visited, count, state):
    for v in range(count):
        same = True
        for i in range(state.size):
            if visited[v, i] != state[i]:
                same = False
                break
        if same:
            return True
    return False


@njit(cache=True)
def _candidates(y, first, state, third, order, goal, weight):
    """Contact rows on their bound whose dual promises a decrease, with the states they could take."""
    largest = 0.0
    for i in range(state.size):
        largest = max(largest, y[first + i])
    n = 0
    for i in range(state.size):
        dual = y[first + i]
        if dual <= 1e-9 * largest or dual <= 0.0:
            continue
        for choice in range(2):
            if state[i] == OPEN:
                new = CLOSED if choice == 0 else NORMAL
            elif state[i] == CLOSED:
                new = OPEN if choice == 0 else NORMAL
            else:
                new = CLOSED if choice == 0 else OPEN
            if new == NORMAL and not third[i]:
                continue
            order[n], goal[n], weight[n] = i, new, dual * (1.0 - 1e-6 * choice)
            n += 1
    return n


@njit(cache=True)
def _touching(T, at, step, x, state, order):
    """Contacts whose force or gap vanishes at x, but for those that follow from others."""
    na = x.size
    n = 0
    for i in range(state.size):
        line = T[at + step * i]
        slack, size = line[na], abs(line[na])
        for j in range(na):
            slack += line[j] * x[j]
            size += abs(line[j] * x[j])
        if size > 0.0 and slack <= 1e-9 * size:
            order[n] = i
            n += 1
    return n


_FIRST, _SINGLE, _TOGETHER = 0, 1, 2


@njit(cache=True)
def pivot_search(problem, energy, proximal, reference, step, state, third, a, max_pieces, combine, tolerance):
    """Guarded pivoting from the given states (spec 9.6), in scaled units.

    third (nc,): contacts that may take the state NORMAL. combine: once no single pivot helps, all sets of up
    to this many touching contacts are swapped together; if none helps either, the point is a local minimum.
    Returns (code, a, forces, objective, pivots, visited, values, path, iterations, proved, duals): visited
    (pieces, nc) holds the states of every piece solved, values its objective (inf: infeasible, nan: while the
    limits could not be held yet), path the indices of those that were moved to.
    """
    ne, na, nr, mc, nc = problem[2].size, a.size, problem[15].size, problem[8].size, state.size
    at, first = ne + na + nr, 2 * na + nr
    T, V = outputs(problem)
    L = np.zeros((mc + 1, mc + 1))
    rows = np.empty(mc + 1, np.int64)
    held = rows.copy()
    k = 0
    wanted = state.copy()
    state[:] = OPEN
    visited = np.empty((max_pieces + 1, nc), np.int8)
    values = np.empty(max_pieces + 1)
    path = np.empty(max_pieces + 1, np.int64)
    guess = np.zeros(first + nc, np.int8)
    order, goal = np.empty(2 * nc, np.int64), np.empty(2 * nc, np.int8)
    weight = np.empty(2 * nc)
    backup = T.copy()
    y = np.zeros(first + nc)
    x = a.copy()
    noise = 1e-16 * (0.5 * np.sum(problem[2] ** 2))
    pivots, count, iterations, n, subset = 0, np.int64(0), 0, 0, 0
    phase, stage, restored = np.int64(2), _FIRST, False  # typed numbers: see `_kernels.arrays`
    status, proved = SOLVED, False
    value = np.inf
    pick, new = 0, 0
    while True:
        # 1. propose the states of the next piece
        if stage == _SINGLE:
            if n == 0:
                n = _touching(T, at, step, x, state, order)
                if combine <= 0 or n > combine or step != 1:
                    break
                stage, subset, proved = _TOGETHER, 0, True
                continue
            best = 0
            for b in range(1, n):
                if weight[b] > weight[best]:
                    best = b
            pick, new = order[best], goal[best]
            n -= 1
            order[best], goal[best], weight[best] = order[n], goal[n], weight[n]
            wanted[:] = state
            wanted[pick] = new
        elif stage == _TOGETHER:
            subset += 1
            if subset >= 1 << n:
                break
            wanted[:] = state
            for b in range(n):
                if (subset >> b) & 1:
                    wanted[order[b]] = CLOSED if state[order[b]] == OPEN else OPEN
        if stage != _FIRST:
            if _seen(visited, count, wanted):
                continue
            if count >= max_pieces:
                status, proved = PIVOT_LIMIT, False
                break
        # 2. move there and solve
        before = state.copy()
        held[:], held_before = rows, k
        backup[:, :] = T
        trial = guess.copy()
        if stage == _FIRST and k == 0:
            k = close_together(T, V, at, L, rows, state, wanted, step)
        for opening in (True, False):  # what opens first may be what another contact depends on
            for i in range(nc):
                if wanted[i] != state[i] and (wanted[i] == OPEN) == opening:
                    k = set_state(T, V, at, L, rows, k, state, i, wanted[i], step)
                    trial[first + i] = 0
        if stage != _FIRST and _seen(visited, count, state):  # dependent contacts stayed open
            k = restore_rows(V, at, L, rows, k, held, held_before)
            state[:] = before
            T[:, :] = backup
            continue
        quieten(T, problem, at, rows, k, step)
        code, x2, value2, y2, used = solve_piece(
            T, problem, energy, proximal, reference, step, phase, x, trial
        )
        iterations += used
        if stage == _FIRST and code != OPTIMAL:
            if phase == 2 and code == INFEASIBLE:
                phase = 1  # the limits cannot be held in this piece: first reduce their violation
                if restored:  # they could be but for rounding: that would go on for ever
                    break
                continue
            status = NO_START
            break
        better = code == OPTIMAL and value2 < value - tolerance * abs(value) - (noise if phase == 2 else 0.0)
        for i in range(nc):
            visited[count, i] = state[i]
        values[count] = np.nan if phase == 1 else (value2 if code == OPTIMAL else np.inf)
        count += 1
        # 3. accept only a strict decrease
        if stage == _FIRST or better:
            if stage != _FIRST:
                pivots += 1
            path[pivots] = count - 1
            x, value, y = x2, value2, y2
            if phase == 2:
                guess[:] = trial
            proved = False
            if phase == 1 and value <= 1e-20:
                # the limits can be held here: minimise the real cost from now on, in this piece first
                phase, stage, count, pivots, value, restored = 2, _FIRST, 0, 0, np.inf, True
                wanted[:] = state
                continue
            stage = _SINGLE
            n = _candidates(y, first, state, third, order, goal, weight)
        else:
            k = restore_rows(V, at, L, rows, k, held, held_before)
            state[:] = before
            T[:, :] = backup
    forces = np.zeros(mc)
    for b in range(k):
        line = T[at + rows[b]]
        v, size = line[na], abs(line[na])
        for j in range(na):
            v += line[j] * x[j]
            size += abs(line[j] * x[j])
        # a force that vanishes is zero, not what rounding leaves of it: others ask which contacts press
        forces[rows[b]] = v if rows[b] % step or abs(v) > VANISHING * size else 0.0
    if phase == 1 and status != NO_START:
        status = NO_LIMITS
    return (status, x, forces, value, pivots, visited[:count].copy(), values[:count].copy(),
            path[: pivots + 1].copy(), iterations, proved, y)  # fmt: skip
