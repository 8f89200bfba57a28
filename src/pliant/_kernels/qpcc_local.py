"""Compiled local solve of a QPCC in the units of the problem: scale, start, search, check, all in one call."""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.qpcc import NO_START, pivot_search, scale_problem
from pliant._kernels.qpcc_check import evaluate, unit_weight
from pliant._kernels.qpcc_start import start_states


@njit(cache=True)
def solve_local(
    problem, energy, proximal, reference, step, effort, state, third, given, max_pieces, combine, tolerance
):
    """Pivoting from the given states, or (one row per contact) from those of the contact problem at `effort`.

    energy, proximal: dimensionless factors. state (nc,): overwritten with the last contact set. given: whether it holds
    states to begin with; if these hold nowhere, a frictionless problem begins with its contact problem.
    Returns (code, effort, contact, values, duals, objective, residual, pivots, visited, pieces, path, iterations,
    proved): values are (effector, displacement, gap), duals those of efforts, displacements and extra rows. See
    `pivot_search` for the rest.
    """
    scaled, sa, sc, sr = scale_problem(problem)
    lo, hi = problem[9], problem[10]
    na, nr, mc = sa.size, sr.size, sc.size
    unit = unit_weight(problem[0], problem[3]) if energy > 0.0 or proximal > 0.0 else 0.0
    a, centre = np.empty(na), np.empty(na)
    for i in range(na):
        a[i] = min(max(effort[i] / sa[i], scaled[9][i]), scaled[10][i])
        centre[i] = reference[i] / sa[i]
    if step == 1 and not given:
        start_states(scaled, a, state, np.zeros(mc))
    found = pivot_search(
        scaled, unit * energy, unit * proximal, centre, step, state, third, a, max_pieces, combine, tolerance
    )
    if found[0] == NO_START and given and step == 1:
        start_states(scaled, a, state, np.zeros(mc))
        found = pivot_search(
            scaled, unit * energy, unit * proximal, centre, step, state, third, a, max_pieces, combine, tolerance
        )
    code, x, forces, _, pivots, visited, pieces, path, iterations, proved, y = found
    best, contact = np.empty(na), np.empty(mc)
    for i in range(na):
        best[i] = min(max(x[i] * sa[i], lo[i]), hi[i])  # rounding
    for i in range(mc):
        contact[i] = forces[i] * sc[i]
    effector, displacement, gap, worst = evaluate(problem, best, contact, state, step, np.zeros(na + nr))
    objective = 0.0
    for e in range(effector.size):
        objective += 0.5 * effector[e] * effector[e]
    for i in range(na):
        objective += unit * energy * best[i] * (displacement[i] - problem[5][i])
        for j in range(na):
            w = 0.5 * unit * proximal * problem[3][i, j]
            objective += w * (best[i] - reference[i]) * (best[j] - reference[j])
    of_efforts, of_strokes, of_rows = np.empty(na), np.empty(na), np.empty(nr)
    for i in range(na):
        of_efforts[i], of_strokes[i] = y[i] / sa[i], y[na + i] * sa[i]
    for i in range(nr):
        of_rows[i] = y[2 * na + i] * sr[i]
    return (
        code, best, contact, (effector, displacement, gap), (of_efforts, of_strokes, of_rows), objective, worst, pivots,
        visited, pieces, path, iterations, proved,
    )  # fmt: skip
