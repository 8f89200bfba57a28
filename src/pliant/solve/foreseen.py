"""Foreseen contacts: which of the pairs nearby a step really meets.

A soft finger has hundreds of pairs within the alarm distance, of which a dozen press. Every row of the linear
system costs a back-substitution, so rows are added only as the step is seen to violate them; the step is the same as if
all of them had been there.
"""

from __future__ import annotations

from copy import copy
from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.solve.newton import LinearSystem, Rows, Step, _soften
from pliant.solve.problem import Problem

Array = np.ndarray
#: As few rows as this are all taken at once.
FEW = 12
#: Violated rows that are taken in one go, those that are violated most.
BATCH = 24


class Foreseen:
    """The rows of one linearisation, of which some are left out until they count.

    Args:
        problem: the problem.
        q: configuration.
        effort: efforts (nu,).
        u: command (nu,).
        contacts: all pairs within the alarm distance.
        rough: leave out pairs with friction too, unless they are soft on both sides: several pairs describe the same
            contact there, and which of them stick decides what is found.

    Attributes:
        contacts: those that are taken by now.
        rows: of the drives and of those contacts.
    """

    def __init__(
        self, problem: Problem, q: Array, effort: Array, u: Array, contacts: Contacts | None, *, rough: bool = False
    ) -> None:
        self._given = problem, q, effort, u
        self._all, self._slopes = contacts, None
        self._taken = np.zeros(0, dtype=np.int64)
        self.contacts = contacts
        many = contacts is not None and len(contacts) > FEW
        if contacts is not None and many and (not contacts.friction.any() or (rough and _rigid(contacts))):
            self._slopes = contacts.rows(problem.model, q)
            self._taken = np.flatnonzero((contacts.forces > 0.0) | (contacts.gap <= 0.0))
            self.contacts = contacts.selected(self._taken)
        self.rows: Rows = problem.rows(q, effort, u, self.contacts)

    def solve(self, system: LinearSystem, load: Array) -> tuple[LinearSystem, Step]:
        """The step that violates none of the pairs, and the system with the rows that it took."""
        free = system.factor.solve(load)
        step = system.solve_from(free)
        while self._slopes is not None and self._all is not None:
            problem = self._given[0]
            gap = self._all.gap + self._slopes @ step.dq
            gap[self._taken] = 0.0
            worst = np.argsort(gap, kind="stable")[: max(BATCH, len(self._taken))]
            worst = worst[gap[worst] < -1e-9 * problem.length]
            if not len(worst):
                break
            self._taken = np.concatenate([self._taken, worst])
            self.contacts = self._all.selected(self._taken)
            self.rows = problem.rows(*self._given[1:], self.contacts)
            system = _extended(system, self.rows, self._slopes[self._taken])
            step = system.solve_from(free)
        return system, step

    def spread(self, taken: Contacts | None) -> Contacts | None:
        """All pairs, with the forces of those that were taken; the others are open."""
        if self._slopes is None or self._all is None or taken is None:
            return taken
        forces, tangential = np.zeros(len(self._all)), np.zeros((len(self._all), 2))
        states = np.zeros(len(self._all), dtype=np.int8)
        forces[self._taken], tangential[self._taken] = taken.forces, taken.tangential
        states[self._taken] = taken.states
        return self._all.with_forces(forces, tangential, states)


def _rigid(contacts: Contacts) -> bool:
    """Is every pair one with a rigid obstacle?"""
    return bool(contacts.rigid.all())


def _extended(system: LinearSystem, rows: Rows, slopes: Any) -> LinearSystem:
    """The same factorisation with more rows; those that it has come first. `slopes` are the rows of the contacts."""
    known, n = system.rows.size, rows.drives
    other = copy(system)
    if system._held is not None:
        other._held = np.concatenate([system._held, np.zeros(rows.size - known, dtype=bool)])
    other.rows = rows
    other.flexibility = np.hstack([system.flexibility, system.factor.solve(rows.columns[:, known:])])
    if len(rows.triples):  # slopes are those of the gaps alone
        other.W = rows.rows @ other.flexibility
    else:  # rows of contacts have few entries
        other.W = np.vstack([rows.rows[:n] @ other.flexibility, slopes @ other.flexibility])
    _soften(other.W, n)
    return other
