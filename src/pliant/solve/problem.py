"""The forward problem of a model: which rows there are at a configuration, and how large things are."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts, ContactState
from pliant.errors import ArgumentError
from pliant.solve.chatter import Chatter
from pliant.solve.commands import driven_by_displacement, length_scale, slackable
from pliant.solve.newton import Rows, dense_rows

Array = np.ndarray


class Problem:
    """A model, its drives and its surroundings.

    Args:
        model: any mechanical model.
        obstacles: what is in the way.
        alarm: distance below which a pair is treated as a possible contact [m]; default 5 % of the
            robot's size.
        contact_distance: gap at which contact begins [m].
    """

    def __init__(
        self,
        model: Any,
        obstacles: Sequence[Any] = (),
        *,
        alarm: float | None = None,
        contact_distance: float = 0.0,
    ) -> None:
        if not all(hasattr(model, name) for name in ("robot", "force", "skin_positions")):
            raise ArgumentError("model", f"{type(model).__name__} is not a model", "FemModel, RodModel, ... (see Model)")
        self.model = model
        self.length = length_scale(model)
        self.driven = driven_by_displacement(model.robot)
        self.slackable = slackable(model.robot)[self.driven]
        self.obstacles = tuple(obstacles)
        self.alarm = 0.05 * self.length if alarm is None else float(alarm)
        self.detector: Any = None
        self._origin: Array | None = None
        self._sticking: Contacts | None = None
        self._chatter = Chatter(self.length)
        if self.obstacles:
            from pliant.contact.detection import Detector

            # A point between vertices counts as soon as it is the lowest: a larger threshold makes contacts jump.
            self.detector = Detector(
                model, self.obstacles, alarm=self.alarm, contact_distance=contact_distance, sag=1e-4 * self.alarm
            )
            self._held = _held_vertices(model)
            self._rigid = all(hasattr(o, "distance") for o in self.obstacles)

    def place(self, obstacles: Sequence[Any]) -> None:
        """Move the obstacles: the same ones in the same order, at other poses."""
        if self.detector is None or len(obstacles) != len(self.obstacles):
            raise ArgumentError("obstacles", f"{len(obstacles)}", f"the same {len(self.obstacles)}, moved")
        self.obstacles = tuple(obstacles)

    def furthest(self, q: Array, dq: Array) -> float:
        """The part of a step in which no vertex moves farther than contacts can be foreseen (1 without obstacles)."""
        if self.detector is None:
            return 1.0
        # Rigid shapes know their depth everywhere; soft surfaces find each other only while they are close.
        most = (2.0 if self._rigid else 0.5) * self.alarm
        x, out = self.model.skin_positions(q), 1.0
        for _ in range(3):  # the skin need not move linearly with the step
            moved = float(np.abs(self.model.skin_positions(self.model.retract(q, out * dq)) - x).max(initial=0.0))
            if moved <= most:
                break
            out *= 0.9 * most / moved
        return out

    def effort_driven(self) -> Problem:
        """The same problem with every actuator driven by its effort."""
        other = copy(self)
        other.driven = np.zeros_like(self.driven)
        other.slackable = np.zeros(0, dtype=bool)
        return other

    def begin(self, q: Array, contacts: Contacts | None) -> None:
        """Fix the configuration from which slip is measured until the next call (the start of a step).

        Contacts that stick there keep the anchor that they have; all others are anchored where they are now.
        """
        self._chatter = Chatter(self.length)
        if self.detector is None or not any(float(getattr(o, "friction", 0.0)) > 0 for o in self.obstacles):
            return
        self._origin = self.model.skin_positions(q)
        self._sticking = None
        if contacts is not None and len(contacts):
            self._sticking = contacts.selected(contacts.states == ContactState.STICK)

    def detect(self, q: Array, previous: Contacts | None) -> Contacts | None:
        """Contacts at a configuration, with the forces of the previous ones where they persist.

        Where successive configurations go back and forth between two sets of features, both sets are kept (`Chatter`).
        """
        if self.detector is None:
            return None
        x = self.model.skin_positions(q)
        held = self._chatter.held(x, previous)
        if held is not None:
            return held
        found = self._detect(q, previous)
        self._chatter.seen(x, found)
        return found

    def _detect(self, q: Array, previous: Contacts | None) -> Contacts:
        found = self.detector.detect(q, previous, obstacles=self.obstacles)
        if self._held.any() and len(found):
            # Nothing moves where the robot is held: such a pair has no compliance and cannot be pushed apart.
            fixed = (self._held[found.vertices] | (found.weights == 0.0)).all(axis=1)
            if fixed.any():
                found = found.selected(~fixed)
        if self._origin is None or not len(found):
            return found
        anchored = found.reanchored(self._origin).matched(self._sticking)
        return anchored.with_forces(found.forces, found.tangential, found.states)

    def rows(self, q: Array, effort: Array, u: Array, contacts: Contacts | None) -> Rows:
        """Actuator and contact rows at a configuration."""
        model, driven = self.model, self.driven
        n = int(driven.sum())
        blocks, columns = [], []
        value, lower, force = [], [], []
        if n:
            blocks.append(model.displacement_rows(q)[driven])
            columns.append(model.actuation(q, effort)[:, driven])
            value.append(model.displacement(q)[driven] - u[driven])
            lower.append(np.where(self.slackable, 0.0, -np.inf))
            force.append(effort[driven])
        triples, friction = np.zeros((0, 3), dtype=np.int64), np.zeros(0)
        m = 0 if contacts is None else len(contacts)
        if contacts is not None and m:
            if (contacts.friction > 0).any():
                H = dense_rows(contacts.frictional_rows(model, q))
                slip = contacts.slip(model.skin_positions(q))
                value.append(np.column_stack([contacts.gap, slip]).ravel())
                force.append(np.column_stack([contacts.forces, contacts.tangential]).ravel())
                triples = n + np.arange(3 * m).reshape(m, 3)
                friction = contacts.friction
            else:
                H = dense_rows(contacts.rows(model, q))
                value.append(contacts.gap)
                force.append(contacts.forces)
            blocks.append(H)
            columns.append(H.T)
            lower.append(np.zeros(len(H)))
        if not blocks:
            empty = np.zeros(0)
            return Rows(np.zeros((0, model.nv)), np.zeros((model.nv, 0)), empty, empty, empty, empty, 0)
        low = np.concatenate(lower)
        return Rows(
            rows=np.vstack(blocks),
            columns=np.hstack(columns),
            value=np.concatenate(value),
            lower=low,
            upper=np.full(len(low), np.inf),
            force=np.concatenate(force),
            drives=n,
            triples=triples,
            friction=friction,
        )

    def split(
        self, effort: Array, force: Array, contacts: Contacts | None, states: tuple
    ) -> tuple[Array, Contacts | None]:
        """Efforts and contacts that carry the multipliers of a solved step."""
        n = int(self.driven.sum())
        effort = effort.copy()
        effort[self.driven] = force[:n]
        if contacts is None or not len(contacts):
            return effort, contacts
        rest = force[n:]
        if len(rest) == 3 * len(contacts) and (contacts.friction > 0).any():
            triple = rest.reshape(-1, 3)
            return effort, contacts.with_forces(
                triple[:, 0], triple[:, 1:], np.array([int(s) for s in states])
            )
        return effort, contacts.with_forces(rest)


def _held_vertices(model: Any) -> Array:
    """Which vertices of the skin cannot move at all (n,) bool."""
    n = model.skin.size
    rows = model.skin_rows(
        model.rest, np.repeat(np.arange(n), 3)[:, None], np.ones((3 * n, 1)), np.tile(np.eye(3), (n, 1))
    )
    size = abs(rows).max(axis=1)
    size = size.toarray() if hasattr(size, "toarray") else np.asarray(size)
    return size.reshape(n, 3).max(axis=1) == 0.0
