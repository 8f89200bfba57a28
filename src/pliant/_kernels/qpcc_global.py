"""Compiled branch and bound over contact complementarities.

A node fixes some contacts open or closed and drops the complementarity of the others: a convex QP in efforts
and forces together, whose minimum bounds every contact set below the node.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.qp import OPTIMAL, solve_dense_qp


@njit(cache=True)
def branch_and_bound(Q, c, constant, G, lower, upper, na, nc, best, best_set, tolerance, slack, max_nodes):
    """Depth-first search in scaled units.

    Variables x = (efforts, forces). The first na + nc rows of G are the bounds on x, the next nc the gaps;
    a closed contact gets gap = 0, an open one force = 0. best, best_set: incumbent and its states, improved.
    Returns (best, lower bound, nodes, QP iterations, failures); failures counts nodes whose QP did not
    converge: they keep the bound of their parent.
    """
    n, m = na + nc, lower.size
    size = nc + 2
    fixed = np.empty((size, nc), np.int8)
    bounds = np.empty(size)
    guesses = np.zeros((size, m), np.int8)
    starts = np.zeros((size, n))
    fixed[0] = -1
    bounds[0] = -np.inf
    top = 1
    nodes, iterations, failures = 0, 0, 0
    lowest_failed = np.inf
    lo, hi = lower.copy(), upper.copy()
    choice = np.empty(nc, np.int8)
    while top > 0 and nodes < max_nodes:
        top -= 1
        parent = bounds[top]
        if parent >= best - tolerance * abs(best) - slack:
            continue
        choice[:] = fixed[top]
        guess = guesses[top].copy()
        centre = starts[top].copy()
        complete = True
        for i in range(nc):
            hi[na + i], hi[n + i] = np.inf, np.inf
            if choice[i] == 0:
                hi[na + i] = 0.0
            elif choice[i] == 1:
                hi[n + i] = lower[n + i]
            else:
                complete = False
        nodes += 1
        x, _, _, code, used, _ = solve_dense_qp(Q, c, G, lo, hi, centre, guess, 20 * (n + m) + 100)
        iterations += used
        if code != OPTIMAL:
            if code != 1:  # not proved infeasible: nothing below may be discarded
                failures += 1
                if complete:
                    lowest_failed = min(lowest_failed, parent)
                    continue
            else:
                continue
        value = constant
        for i in range(n):
            value += c[i] * x[i]
            for j in range(n):
                value += 0.5 * x[i] * Q[i, j] * x[j]
        if code != OPTIMAL:
            value = parent
        value = max(value, parent)
        if value >= best - tolerance * abs(best) - slack:
            continue
        # the most violated complementarity, in balanced units (force and gap alike)
        worst, at, closed = 0.0, -1, False
        biggest = 1e-300
        for i in range(nc):
            gap = 0.0
            for j in range(n):
                gap += G[n + i, j] * x[j]
            gap -= lower[n + i]
            force = x[na + i]
            biggest = max(biggest, abs(gap), abs(force))
            if choice[i] < 0 and min(gap, force) > worst:
                worst, at, closed = min(gap, force), i, force > gap
        if code != OPTIMAL:
            for i in range(nc):
                if choice[i] < 0:
                    at = i
                    break
        elif worst <= 1e-9 * biggest:
            # complementary: the sets that hold here; fix all and take the exact piece as the new incumbent
            if complete:
                best = value
                best_set[:] = choice
                continue
            at = -1
            for i in range(nc):
                if choice[i] < 0:
                    gap = 0.0
                    for j in range(n):
                        gap += G[n + i, j] * x[j]
                    gap -= lower[n + i]
                    choice[i] = 1 if x[na + i] > gap else 0
            best = value
            best_set[:] = choice
            continue
        if at < 0:
            continue
        # the likelier child last, so that it is taken first; the stack never exceeds the depth
        for turn in range(2):
            child = closed if turn == 1 else not closed
            if top >= size:
                lowest_failed = min(lowest_failed, value)
                break
            fixed[top] = choice
            fixed[top, at] = 1 if child else 0
            bounds[top] = value
            guesses[top] = guess
            starts[top] = x
            top += 1
    # nodes were discarded within the tolerance, so that much is not proved
    bound = min(best - tolerance * abs(best) - slack, lowest_failed) if np.isfinite(best) else lowest_failed
    for i in range(top):
        bound = min(bound, bounds[i])
    return best, bound, nodes, iterations, failures
