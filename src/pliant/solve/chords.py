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
from pliant.contact.contacts import Contacts
from pliant.contact.retention import looked_at_again
from pliant.solve.balance import unbalanced
from pliant.solve.newton import LinearSystem
from pliant.solve.problem import Problem

Array = np.ndarray
#: Chord steps that cost as much as a factorisation and the steps after it.
AFFORDABLE = 9
#: Steps before their pace is judged: mixing needs some to learn from.
PATIENCE = 4
#: A step longer than this part of the one before is not worth mixing.
CONTRACTION = 0.4
#: Times that contacts may begin or cease to press.
SWITCHES = 4
#: A step after such a change may be longer than the one before, to this factor.
LONGER = 1.5
#: The same with contacts: a new look at them may undo what was gained.
PERSISTENT = 20, 0.7
#: Steps longer than this part of the robot's size are carried out with their rotations exact.
TURNED = 1e-3
#: Forces out of balance, in parts of the largest load, that are rounding.
BALANCED = 1e-6


@dataclass(frozen=True, eq=False)
class Chord:
    """Where chord steps have led.

    Attributes:
        q: configuration.
        effort: efforts (nu,).
        contacts: where they are then, with their forces.
        size: length of the last step [m].
        steps: how many were tried.
        converged: whether the last step was short enough.
        stale: whether the steps did not shrink as they should: the factor belongs to another pose.
    """

    q: Array
    effort: Array
    contacts: Contacts | None
    size: float
    steps: int
    converged: bool
    stale: bool = False


def chord(
    problem: Problem,
    system: LinearSystem,
    q: Array,
    effort: Array,
    u: Array,
    *,
    size: float,
    goal: float,
    contacts: Contacts | None = None,
) -> Chord:
    """Go on with the factor at hand while that is cheaper than a new one, with no cable slack.

    Contacts stay at the features that are near each other now, and press or not as it turns out. What else may touch by
    then is for the caller to find out.

    Args:
        problem: the problem.
        system: linear system of the last step; its rows are the drives and the contacts.
        q, effort: where to begin.
        u: the command (nu,).
        size: length of the last step [m].
        goal: length of a step that ends the iteration [m].
        contacts: without friction, see `followable`.
    """
    model, driven, n = problem.model, problem.driven, system.rows.drives
    held = _Held(problem, system, contacts)
    held.follow(q, held.forces)
    reach = np.abs(system.flexibility).max(axis=0, initial=0.0)
    scale = np.where(reach > 0.0, reach, 1.0)
    advance: Callable[[Array, Array], Array] = getattr(model, "advance", model.retract)
    history = Anderson(5)
    sizes, stale, switches = [size, size], False, 0
    most, contraction = (AFFORDABLE, CONTRACTION) if held.contacts is None else PERSISTENT
    for steps in range(1, most + 1):
        dq, change = held.step(q, effort, u)
        new = float(np.abs(dq).max(initial=0.0))
        switched = held.switched(change[n:])
        switches += switched
        slack = problem.slackable & ((effort[driven] + change[:n]) < 0.0)
        # every second step counts: where a soft motion is over-corrected they come in pairs
        shorter = new <= contraction * sizes[-2]
        # contacts that come and go make a step longer, and so does one that jumped to another feature at first
        stale = not shorter and switches == 0 and (steps > 1 or held.contacts is None)
        if slack.any() or not (shorter or (switched and new <= LONGER * sizes[-1])) or switches > SWITCHES:
            break
        if new <= goal:
            q, effort = model.retract(q, dq), _plus(effort, driven, change[:n])
            held.follow(q, held.forces + change[n:])
            # Contacts that share a load may have passed it on to each other, along the normals of before: a step of no
            # length that leaves forces out of balance. The caller's next step knows the normals of now.
            return Chord(q, effort, held.contacts, new, steps, held.in_balance(q, effort, u))
        if switched:
            history.restart()
        mixed = history.step(np.concatenate([dq, change * reach]))
        q = (advance if new > TURNED * problem.length else model.retract)(q, mixed[: len(dq)])
        change = mixed[len(dq) :] / scale
        effort = _plus(effort, driven, change[:n])
        held.follow(q, held.forces + change[n:])
        sizes.append(new)
        pace = np.log(sizes[-3] / new) / min(2.0, steps)  # digits per step, in natural logarithms
        if not switched and steps >= PATIENCE and np.log(new / goal) > (most - steps) * pace:
            stale = True
            break
    return Chord(q, effort, held.contacts, sizes[-1], steps, False, stale)


class _Held:
    """A linear system at a pose that has moved on, and the contacts that go with it."""

    def __init__(self, problem: Problem, system: LinearSystem, contacts: Contacts | None) -> None:
        self.problem, self.system = problem, system
        self.contacts = None if contacts is None or not len(contacts) else contacts
        self.forces = np.zeros(0) if self.contacts is None else self.contacts.forces

    def step(self, q: Array, effort: Array, u: Array) -> tuple[Array, Array]:
        """Step (nv,) and change of the multipliers (m,) at a configuration."""
        system, model, driven = self.system, self.problem.model, self.problem.driven
        rows, n = system.rows, system.rows.drives
        force = model.force(q, effort)
        value = model.displacement(q)[driven] - u[driven]
        if self.contacts is None:
            dq, change = system.factor.solve(force), np.zeros(n)
            if n:
                change = np.linalg.lstsq(system.W, -(value + rows.rows @ dq), rcond=None)[0]
                dq = dq + system.flexibility @ change
            return dq, change
        slopes = self.contacts.rows(model, q)
        now = np.concatenate([effort[driven], self.forces])
        load = force + np.asarray(slopes.T @ self.forces) - rows.columns @ now
        step = system.solve(load, np.concatenate([value, self.contacts.gap]), now)
        return step.dq, step.force - now

    def in_balance(self, q: Array, effort: Array, u: Array) -> bool:
        """Do forces balance with the contacts as they are at a configuration?"""
        if self.contacts is None:
            return True
        left, scale = unbalanced(self.problem, q, effort, u, self.contacts)
        return float(np.abs(left).max(initial=0.0)) <= BALANCED * scale

    def switched(self, change: Array) -> bool:
        """Do other contacts press after this change of their forces?"""
        return bool(((self.forces > 0.0) != (self.forces + change > 0.0)).any())

    def follow(self, q: Array, forces: Array) -> None:
        """Look at the contacts at a configuration, with their forces there."""
        if self.contacts is None:
            return
        problem, model = self.problem, self.problem.model
        self.forces = np.maximum(forces, 0.0)
        self.contacts = looked_at_again(
            self.contacts, model.skin_positions(q), model.skin.radius, offset=problem.contact_distance,
            obstacles=problem.obstacles,
        ).with_forces(self.forces)  # fmt: skip


def _plus(effort: Array, driven: Array, change: Any) -> Array:
    out = effort.copy()
    out[driven] += change
    return out
