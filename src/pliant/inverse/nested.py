"""Nested iteration: every trial is brought to its own equilibrium, and only trials that lower the cost are taken.

Slower than the all-at-once iteration of `invert`, and safe: the cost falls monotonically to a stationary point. It
is what `invert` falls back to when a target is far out of reach or the mechanics is too far from linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.inverse.qpcc import QPCC, QPCCSolution
from pliant.inverse.targets import Target
from pliant.solve.commands import travel
from pliant.solve.problem import Problem
from pliant.state import State, Status

Array = np.ndarray
_STEP = 1e-9  # of the robot's size: a smaller step ends the iteration
_HELD = 1e-7  # limits exceeded by less than this, relative, count as held


@dataclass(frozen=True, eq=False)
class Proposal:
    """Where a linearisation wants to go: its QPCC, the solution, the step (nv,) and the strokes then (nu,)."""

    problem: QPCC
    solution: QPCCSolution
    dq: Array
    stroke: Array


def target_cost(model: Any, targets: Sequence[Target], state: Any) -> float:
    """Half the sum of squares of the weighted objective rows at a state."""
    rows = [t.evaluate(model, state.q, state.effort, state.contacts) for t in targets]
    return 0.5 * sum(float(((r.value * r.weight) ** 2).sum()) * (1e6 if r.exact else 1.0) for r in rows)


def descend(
    setting: Problem,
    targets: Sequence[Target],
    state: State,
    excess: Callable[[State], float],
    linearised: Callable[[State], Any],
    solved: Callable[[Any, float], Proposal],
    settled: Callable[[State, Proposal], State],
    *,
    iterations: int,
) -> tuple[State, Proposal | None, Any, Status, int]:
    """Levenberg-Marquardt over equilibria.

    Args:
        setting: model and surroundings.
        targets: what is wanted.
        state: an equilibrium to start from.
        excess: by how much a state exceeds the limits [-]; where they are exceeded, lowering this comes first.
        linearised: condenses the mechanics at an equilibrium.
        solved: solves the QPCC of a condensed problem with a proximal weight.
        settled: the equilibrium that a proposal leads to from a state.
        iterations: outer iterations allowed; twice as many trials are settled at most.

    Returns:
        (state, last proposal, condensed problem, status, iterations); the status is CONVERGED when no step lowers
        the cost any further.
    """
    model = setting.model
    cost, over = target_cost(model, targets, state), excess(state)
    proximal, trials = 1e-6, 2 * iterations
    proposal, condensed = None, None
    for count in range(1, iterations + 1):
        condensed = linearised(state)
        moved = False
        for _ in range(14):
            proposal = solved(condensed, proximal)
            if not proposal.solution.status.success and not proposal.solution.notices:
                return state, proposal, condensed, Status.STALLED, count
            size = travel(model, proposal.dq)
            if not np.isfinite(size):
                return state, proposal, condensed, Status.DIVERGED, count
            if size <= _STEP * setting.length:
                return state, proposal, condensed, Status.CONVERGED, count
            if size <= 0.25 * setting.length and setting.furthest(state.q, proposal.dq) == 1.0:
                if trials == 0:
                    return state, proposal, condensed, Status.MAX_ITERATIONS, count
                trials -= 1
                trial = settled(state, proposal)
                if trial.ok:
                    new, new_over = target_cost(model, targets, trial), excess(trial)
                    better = new < cost * (1.0 - 1e-12) and new_over <= max(over, _HELD)
                    if better or (over > _HELD and new_over < 0.9 * over):
                        moved = True
                        break
            proximal = min(max(proximal * 8.0, 1e-8), 1e6)
        if not moved:
            return state, proposal, condensed, Status.CONVERGED, count
        done = over <= _HELD and (cost - new) <= 1e-12 * cost
        state, cost, over = trial, new, new_over
        proximal = max(proximal / 8.0, 1e-10)
        if done:
            return state, proposal, condensed, Status.CONVERGED, count
    return state, proposal, condensed, Status.MAX_ITERATIONS, iterations
