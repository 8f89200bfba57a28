"""How much of a Newton step to take: the longest admissible part, or one that contacts allow."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts, ContactState
from pliant.solve.commands import travel
from pliant.solve.newton import LinearSystem
from pliant.solve.problem import Problem
from pliant.solve.relaxation import merit

Array = np.ndarray


def step_length(problem: Problem, q: Array, effort: Array, step: Any) -> float:
    """The longest admissible step, at most a third of the robot's size; 0 if there is none.

    No descent is asked for: on slender bodies every large rotation first stretches the body, and a monotone method
    needs ten times more iterations than the plain one, which recovers by itself. Whether it does is watched by the
    caller.
    """
    model = problem.model
    alpha = _longest(problem, q, step.dq)
    if not hasattr(model, "inverted"):
        return alpha  # every configuration is admissible
    for _ in range(12):
        if np.isfinite(model.force(model.retract(q, alpha * step.dq), effort)).all():
            return alpha
        alpha *= 0.5
    return 0.0


def _longest(problem: Problem, q: Array, dq: Array) -> float:
    """The part of a step that moves no point by more than a third of the robot, nor through anything."""
    return min(within_reach(problem, dq), problem.furthest(q, dq))


def within_reach(problem: Problem, dq: Array) -> float:
    """The part of a step that moves no point by more than a third of the robot."""
    return min(1.0, 0.33 * problem.length / max(travel(problem.model, dq), 1e-300))


def descent(
    problem: Problem,
    system: LinearSystem,
    q: Array,
    effort: Array,
    u: Array,
    step: Any,
    offset: Array | None,
    contacts: Contacts | None,
) -> float:
    """With contacts: the largest step that passes the natural monotonicity test; the shortest tried if none does.

    Without it contacts open and close for ever: each Newton step sees only one side of them.
    """
    model, rows = problem.model, system.rows
    size = float(np.linalg.norm(step.dq))
    if travel(model, step.dq) <= 1e-6 * problem.length:
        return 1.0
    n = rows.drives
    if not system.exact:
        return _lowering(problem, system, q, effort, u, step, offset, contacts)
    active = step.force > rows.lower
    for triple, what in zip(rows.triples, step.states):
        # A sliding contact is held along its normal only; its tangential force follows from the cone.
        active[triple] = (what != ContactState.OPEN, what == ContactState.STICK, what == ContactState.STICK)
    alpha = _longest(problem, q, step.dq)
    turned = None if system.turned is None else system.turned(step.dq)
    for _ in range(9):
        trial = model.retract(q, alpha * step.dq)
        multipliers = rows.force + alpha * (step.force - rows.force)
        new_effort = effort.copy()
        new_effort[problem.driven] = multipliers[:n]
        force = model.force(trial, new_effort)
        if np.isfinite(force).all():
            if offset is not None:
                force = force - offset
            force = force + rows.columns[:, n:] @ multipliers[n:]
            if turned is not None:
                force = force - alpha * turned
            value = rows.value + alpha * (rows.rows @ step.dq)
            if n:
                value[:n] = model.displacement(trial)[problem.driven] - u[problem.driven]
            correction = system.correct(force, value, active)
            if np.linalg.norm(correction) <= (1.0 - 0.25 * alpha) * size:
                return alpha
        alpha *= 0.5
    return 0.0


def _lowering(
    problem: Problem,
    system: LinearSystem,
    q: Array,
    effort: Array,
    u: Array,
    step: Any,
    offset: Array | None,
    contacts: Contacts | None,
) -> float:
    """The largest step that lowers the energy, where the tangent had to be changed; friction, without energy, any."""
    model = problem.model
    alpha = _longest(problem, q, step.dq)
    potential = np.where(problem.driven, 0.0, effort)
    along = 0.0 if offset is None else float(offset @ step.dq)
    smooth = not len(system.rows.triples)
    here = merit(problem, system, step, potential, u, q, q, contacts) if smooth else np.inf
    for _ in range(9):
        trial = model.retract(q, alpha * step.dq)
        admissible = np.isfinite(model.force(trial, effort)).all()
        if admissible and not smooth:
            return alpha
        if admissible and merit(problem, system, step, potential, u, trial, q, contacts) + alpha * along < here:
            return alpha
        alpha *= 0.5
    return 0.0
