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

    Contacts that press are held, at the features that touch now; the others are only watched. What else may touch by
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
    held = _Held(problem, contacts)
    held.moved(q, np.zeros(len(held.pressing)))
    on = np.concatenate([np.arange(n), n + held.pressing])
    C, flexibility, W = system.rows.rows[on], system.flexibility[:, on], system.W[np.ix_(on, on)]
    reach = np.abs(flexibility).max(axis=0, initial=0.0)
    advance: Callable[[Array, Array], Array] = getattr(model, "advance", model.retract)
    history = Anderson(5)
    sizes, stale = [size, size], False
    for steps in range(1, AFFORDABLE + 1):
        force, gap = held.load(q, model.force(q, effort))
        dq = system.factor.solve(force)
        change = np.zeros(len(on))
        if len(on):
            value = np.concatenate([model.displacement(q)[driven] - u[driven], gap])
            change = np.linalg.lstsq(W, -(value + C @ dq), rcond=None)[0]
            dq = dq + flexibility @ change
        new = float(np.abs(dq).max(initial=0.0))
        slack = problem.slackable & ((effort[driven] + change[:n]) < 0.0)
        # every second step counts: where a soft motion is over-corrected they come in pairs
        longer = not new <= CONTRACTION * sizes[-2]
        stale = longer and (steps > 1 or not len(held.pressing))  # contacts may have jumped to other features at first
        if longer or slack.any() or held.pulls(change[n:]):
            break
        if new <= goal:
            q, effort = model.retract(q, dq), _plus(effort, driven, change[:n])
            free = held.moved(q, change[n:])
            return Chord(q, effort, held.contacts, new, steps, free)
        mixed = history.step(np.concatenate([dq, change * reach]))
        q = (advance if new > TURNED * problem.length else model.retract)(q, mixed[: len(dq)])
        change = mixed[len(dq) :] / np.where(reach > 0.0, reach, 1.0)
        effort = _plus(effort, driven, change[:n])
        sizes.append(new)
        if not held.moved(q, change[n:]):
            break
        pace = np.log(sizes[-3] / new) / min(2.0, steps)  # digits per step, in natural logarithms
        stale = steps >= PATIENCE and bool(np.log(new / goal) > (AFFORDABLE - steps) * pace)
        if stale:
            break
    return Chord(q, effort, held.contacts, sizes[-1], steps, False, stale)


class _Held:
    """Contacts of a chord: those that press are held, the others are watched."""

    def __init__(self, problem: Problem, contacts: Contacts | None) -> None:
        self.problem = problem
        self.contacts: Contacts | None = None
        self.pressing = np.zeros(0, dtype=np.int64)
        if contacts is not None and len(contacts):
            self.contacts, self.pressing = contacts, np.flatnonzero(contacts.forces > 0.0)

    def load(self, q: Array, force: Array) -> tuple[Array, Array]:
        """The force with that of the contacts (nv,), and the gaps of those that press."""
        if self.contacts is None or not len(self.pressing):
            return force, np.zeros(0)
        held = self.contacts.selected(self.pressing)
        return force + np.asarray(held.rows(self.problem.model, q).T @ held.forces), held.gap

    def pulls(self, change: Array) -> bool:
        """Would a contact pull after this change of the forces?"""
        return self.contacts is not None and bool((self.contacts.forces[self.pressing] + change < 0.0).any())

    def moved(self, q: Array, change: Array) -> bool:
        """Follow the contacts to a configuration; do all of those that are only watched stay apart?"""
        if self.contacts is None:
            return True
        forces = self.contacts.forces.copy()
        forces[self.pressing] = np.maximum(forces[self.pressing] + change, 0.0)
        x, problem = self.problem.model.skin_positions(q), self.problem
        now = looked_at_again(
            self.contacts, x, problem.model.skin.radius, offset=problem.contact_distance, obstacles=problem.obstacles
        )
        self.contacts = now.with_forces(forces)
        watched = np.delete(self.contacts.gap, self.pressing)
        return not (watched < -problem.gap_tolerance * problem.length).any()


def _plus(effort: Array, driven: Array, change: Any) -> Array:
    out = effort.copy()
    out[driven] += change
    return out
