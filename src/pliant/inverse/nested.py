"""Nested iteration: every trial is brought to its own equilibrium, and only trials that lower the cost are taken.

Slower than the all-at-once iteration of `invert`, and safe: the cost falls monotonically to a stationary point. It is what
`invert` falls back to when a target is far out of reach or the mechanics is too far from linear.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.inverse.qpcc import QPCC, QPCCSolution
from pliant.inverse.targets import Target
from pliant.solve.equilibrium import settle
from pliant.solve.problem import Problem
from pliant.state import State, Status

Array = np.ndarray


def target_cost(model: Any, targets: Sequence[Target], state: Any) -> float:
    """Half the sum of squares of the weighted objective rows at a state."""
    rows = [t.evaluate(model, state.q, state.effort, state.contacts) for t in targets]
    return 0.5 * sum(float(((r.value * r.weight) ** 2).sum()) * (1e6 if r.exact else 1.0) for r in rows)


def descend(
    setting: Problem,
    targets: Sequence[Target],
    state: State,
    linearised: Callable[[State, float], tuple[QPCC, QPCCSolution, Array, Any]],
    *,
    iterations: int,
) -> tuple[State, QPCC | None, QPCCSolution | None, Any, Status, int]:
    """Levenberg-Marquardt over equilibria.

    Args:
        setting: model and surroundings.
        targets: what is wanted.
        state: an equilibrium to start from.
        linearised: solves the QPCC at a state with a proximal weight; returns it, its solution, the step dq and the
            condensed problem.
        iterations: outer iterations allowed.

    Returns:
        (state, QPCC, its solution, condensed problem, status, iterations); the status is CONVERGED when no step lowers
        the cost any further.
    """
    model = setting.model
    cost = target_cost(model, targets, state)
    proximal = 1e-6
    problem, solution, condensed = None, None, None
    for count in range(1, iterations + 1):
        moved = False
        for _ in range(14):
            problem, solution, dq, condensed = linearised(state, proximal)
            if not solution.status.success and not solution.notices:
                return state, problem, solution, condensed, Status.STALLED, count
            size = float(np.abs(dq).max())
            if not np.isfinite(size):
                return state, problem, solution, condensed, Status.DIVERGED, count
            if size <= 1e-8 * setting.length:
                return state, problem, solution, condensed, Status.CONVERGED, count
            if size <= 0.25 * setting.length:
                trial = settle(setting, model.retract(state.q, dq), solution.effort, state.contacts)
                if trial.ok:
                    new = target_cost(model, targets, trial)
                    if new < cost * (1.0 - 1e-12):
                        moved = True
                        break
            proximal = min(max(proximal * 8.0, 1e-8), 1e6)
        if not moved:
            return state, problem, solution, condensed, Status.CONVERGED, count
        done = (cost - new) <= 1e-12 * cost
        state, cost = trial, new
        proximal = max(proximal / 8.0, 1e-10)
        if done:
            return state, problem, solution, condensed, Status.CONVERGED, count
    return state, problem, solution, condensed, Status.MAX_ITERATIONS, iterations
