"""Compiled starts of the QPCC search: contact states at fixed efforts."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.complementarity import solve_lcp
from pliant._kernels.qpcc_table import CLOSED, NORMAL, OPEN, close_together, restore_rows, set_state


@njit(cache=True)
def start_states(problem, a, state, force):
    """States of the frictionless contact problem at fixed efforts a (scaled); force is start and result."""
    q = problem[6] @ a + problem[8]
    residual, _ = solve_lcp(problem[7], q, force, True, 1e-10, 1000)
    for i in range(q.size):
        state[i] = CLOSED if force[i] > 0.0 else OPEN
    return residual


@njit(cache=True)
def valid_states(problem, a, state, wanted, upgrade):
    """Are the states `wanted` a solution of the contact problem at fixed efforts a (three rows per contact)?

    With upgrade, every contact in the state NORMAL is tried as CLOSED, strongest first, and kept so if all
    normal forces and gaps stay non-negative. state receives the result. Returns the worst violation.
    """
    Wcc = problem[7]
    nc = state.size
    q = problem[6] @ a + problem[8]
    T = q.reshape(-1, 1).copy()
    L = np.zeros((q.size + 1, q.size + 1))
    rows = np.empty(q.size + 1, np.int64)
    at, step, k = np.int64(0), np.int64(3), np.int64(0)  # typed numbers: see `_kernels.arrays`
    state[:] = OPEN
    k = close_together(T, Wcc, at, L, rows, state, wanted, step)
    for i in range(nc):
        if state[i] != wanted[i]:
            k = set_state(T, Wcc, at, L, rows, k, state, i, wanted[i], step)
    if upgrade:
        order = np.argsort(-T[::3, 0].copy())
        for i in order:
            if state[i] != NORMAL:
                continue
            backup, held, count = T.copy(), rows.copy(), k
            k = set_state(T, Wcc, at, L, rows, k, state, i, np.int8(CLOSED), step)
            if np.min(T[::3, 0]) < -1e-12 * np.max(np.abs(T)):
                k = restore_rows(Wcc, at, L, rows, k, held, count)
                state[i] = NORMAL
                T[:, :] = backup
    return max(0.0, -np.min(T[::3, 0])) / max(np.max(np.abs(T)), 1e-300) if nc else 0.0
