"""A start near the answer, from a model that can take long steps.

Newton's method takes rotations for straight lines: on bodies that bend far it overshoots, and has to follow the load
in small steps. A model may offer to carry out a step with its rotations exact (`Turning` in the contract); then `flex`
finds the pose in a few steps, and `equilibrium` starts there. What it finds is a start and nothing more: balance,
stability and contacts are judged by the Newton iteration that follows, the same for every model.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.models.contract import turns
from pliant.solve.problem import Problem
from pliant.state import State

Array = np.ndarray
_ITERATIONS = 40  # per attempt
_STRIDES = (1.0, 0.5, 0.25)  # of the model's own


def far_start(
    problem: Problem, target: Array, start: State | None, *, budget: int = 600
) -> tuple[State | None, int]:
    """Where `flex` arrives (None if it does not, or for models without turning steps), and the linear solves spent.

    Args:
        problem: the model and its surroundings.
        target: command per actuator (nu,).
        start: where the body is now; the rest pose if None.
        budget: linear solves allowed.
    """
    model: Any = problem.model
    if not turns(model):
        return None, 0
    from pliant.solve.flex import Flexing  # it falls back to `equilibrium`, so neither can be first

    flexing: Any = Flexing
    solver = flexing(model, problem.obstacles, alarm=problem.alarm, contact_distance=problem.contact_distance)
    spent = 0
    for share in _STRIDES:
        iterations = min(_ITERATIONS, budget - spent)
        if iterations < 1:
            break
        found = solver.solve(target, start=start, iterations=iterations, stride=share * model.stride)
        spent += solver.factorisations if found is None else found.iterations
        if found is not None:
            return found, spent
    return None, spent
