"""Chord steps: Newton's method with a factor that is kept, its steps mixed by Anderson's method.

Near the answer a force and a back-substitution gain a digit or two, at a seventh of the price of a factorisation. The
mixing makes up for most of what an old factor lacks: the few soft motions along which the stiffness has changed.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra.anderson import Anderson
from pliant.solve.newton import LinearSystem
from pliant.solve.problem import Problem

Array = np.ndarray
#: Chord steps that cost as much as a factorisation and the steps after it.
AFFORDABLE = 9
#: Steps before their pace is judged: mixing needs some to learn from.
PATIENCE = 4
#: A step longer than this part of the one before is not worth mixing.
CONTRACTION = 0.4
#: Steps longer than this part of the robot's size are carried out with their rotations exact.
TURNED = 1e-3


@dataclass(frozen=True, eq=False)
class Chord:
    """Where chord steps have led.

    Attributes:
        q: configuration.
        effort: efforts (nu,).
        size: length of the last step [m].
        steps: how many were tried.
        converged: whether the last step was short enough.
    """

    q: Array
    effort: Array
    size: float
    steps: int
    converged: bool


def chord(
    problem: Problem, system: LinearSystem, q: Array, effort: Array, u: Array, *, size: float, goal: float
) -> Chord:
    """Go on with the factor at hand while that is cheaper than a new one; without contacts, and with no cable slack.

    Args:
        problem: the problem.
        system: linear system of the last step; its rows are the drives.
        q, effort: where to begin.
        u: the command (nu,).
        size: length of the last step [m].
        goal: length of a step that ends the iteration [m].
    """
    model, driven = problem.model, problem.driven
    C, n = system.rows.rows, system.rows.drives
    reach = np.abs(system.flexibility[:, :n]).max(axis=0, initial=0.0)
    advance: Callable[[Array, Array], Array] = getattr(model, "advance", model.retract)
    history = Anderson(5)
    sizes = [size, size]
    for steps in range(1, AFFORDABLE + 1):
        force = model.force(q, effort)
        dq = system.factor.solve(force)
        change = np.zeros(n)
        if n:
            value = model.displacement(q)[driven] - u[driven]
            change = np.linalg.lstsq(system.W[:n, :n], -(value + C[:n] @ dq), rcond=None)[0]
            dq = dq + system.flexibility[:, :n] @ change
        new = float(np.abs(dq).max(initial=0.0))
        slack = problem.slackable & ((effort[driven] + change) < 0.0)
        # every second step counts: where a soft motion is over-corrected they come in pairs
        if not new <= CONTRACTION * sizes[-2] or slack.any():
            break
        if new <= goal:
            return Chord(model.retract(q, dq), _plus(effort, driven, change), new, steps, True)
        mixed = history.step(np.concatenate([dq, change * reach]))
        q = (advance if new > TURNED * problem.length else model.retract)(q, mixed[: len(dq)])
        effort = _plus(effort, driven, mixed[len(dq) :] / np.where(reach > 0.0, reach, 1.0))
        sizes.append(new)
        pace = np.log(sizes[-3] / new) / min(2.0, steps)  # digits per step, in natural logarithms
        if steps >= PATIENCE and np.log(new / goal) > (AFFORDABLE - steps) * pace:
            break
    return Chord(q, effort, sizes[-1], steps, False)


def _plus(effort: Array, driven: Array, change: Any) -> Array:
    out = effort.copy()
    out[driven] += change
    return out
