"""The forward problem of a model: which rows there are at a configuration, and how large things are."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from copy import copy
from typing import Any

import numpy as np

from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.checks import non_negative, positive, several
from pliant.contact.contacts import Contacts, ContactState
from pliant.contact.distinct import distinct
from pliant.contact.obstacles import Obstacle
from pliant.contact.swallowed import swallowed
from pliant.errors import ArgumentError
from pliant.solve.chatter import Chatter
from pliant.solve.commands import check_model, driven_by_displacement, length_scale, slackable, travel
from pliant.solve.curvature import stiffened, turning_forces, turning_pairs
from pliant.solve.newton import LinearSystem, Rows, build, dense_rows, pressed_system
from pliant.solve.widening import Widening

Array = np.ndarray
_BURIED = 0.4  # of the robot's size: a body that begins so deep inside of an obstacle is there by mistake
_TURNED = 1e-6  # rad: a force that acts so far off its normal is not where it belongs
_RETRIES = 2  # how often contacts are looked at afresh for that
_TRAPPED = 2.0  # times its length: an edge would have to be as long to let what hangs on it out of an obstacle


def surroundings(obstacles: Any) -> tuple[Any, ...]:
    """One obstacle or several as a tuple."""
    return several("obstacles", obstacles, "friction", "Plane, Sphere, SelfContact, ...")


class Problem:
    """A model, its drives and its surroundings.

    Args:
        model: any mechanical model.
        obstacles: what is in the way.
        alarm: distance below which a pair is treated as a possible contact [m]; default 5 % of the
            robot's size.
        contact_distance: gap at which contact begins [m].
        gap_tolerance: allowed penetration relative to the robot's size [-].
        method: how contacts are found: "proximity" (local minimum distance) or "volume" (layered grid).
    """

    def __init__(
        self,
        model: Any,
        obstacles: Sequence[Any] = (),
        *,
        alarm: float | None = None,
        contact_distance: float = 0.0,
        gap_tolerance: float = 1e-6,
        method: str = "proximity",
    ) -> None:
        check_model(model)
        self.model = model
        self.length = length_scale(model)
        self.driven = driven_by_displacement(model.robot)
        self.slackable = slackable(model.robot)[self.driven]
        self.obstacles = surroundings(obstacles)
        self.alarm = 0.05 * self.length if alarm is None else positive("alarm", alarm)
        self.detector: Any = None
        self.contact_distance = non_negative("contact_distance", contact_distance)
        self.gap_tolerance = positive("gap_tolerance", gap_tolerance)
        self._radius = model.skin.radius if self.obstacles else np.zeros(0)
        self._origin: Array | None = None
        self._sticking: Contacts | None = None
        self._started: Contacts | None = None
        self._chatter = self._calm()
        self._wider = Widening()
        self.holding = False  # a guess for the next linearisation of an inverse: must contacts hold the body?
        if self.obstacles:
            from pliant.contact.detection import Detector

            # A point between vertices counts as soon as it is the lowest: a larger threshold makes contacts jump.
            self.detector = Detector(
                model, self.obstacles, alarm=self.alarm, contact_distance=contact_distance, sag=1e-4 * self.alarm,
                method=method,
            )  # fmt: skip
            self._held, self._partly = _held_vertices(model)
            self._any_held = bool(self._held.any())
            self._rigid = all(hasattr(o, "distance") for o in self.obstacles)

    @property
    def rough(self) -> bool:
        """Does some obstacle have friction?"""
        return any(float(getattr(o, "friction", 0.0)) > 0.0 for o in self.obstacles)

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
        if 10.0 * travel(self.model, dq) <= most:
            return 1.0
        x, out = self.model.skin_positions(q), 1.0
        for _ in range(3):  # the skin need not move linearly with the step
            moved = float(np.abs(self.model.skin_positions(self.model.retract(q, out * dq)) - x).max(initial=0.0))
            if moved <= most:
                break
            out *= 0.9 * most / moved
        return out

    def effort_driven(self, held: Collection[int] = ()) -> Problem:
        """The same problem with every actuator driven by its effort, but those that are `held` by displacement."""
        other = copy(self)
        other._chatter = self._calm()
        other.driven = np.isin(np.arange(len(self.driven)), list(held))
        other.slackable = slackable(self.model.robot)[other.driven]
        return other

    def _calm(self) -> Chatter:
        """Nothing was seen so far."""
        return Chatter(self.length, self._radius, self.contact_distance)

    def begin(self, q: Array, contacts: Contacts | None) -> None:
        """Fix the configuration from which slip is measured until the next call (the start of a step).

        Contacts that stick there keep the anchor that they have; all others are anchored where they are now.
        """
        self._chatter = self._calm()
        if not self.rough:
            return
        self._origin = self.model.skin_positions(q)
        self._started = contacts
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
        found = self._detect(q, previous, x)
        self._chatter.seen(x, found)
        return found

    def fresh(self, q: Array, previous: Contacts | None) -> Contacts | None:
        """Contacts as they are at a configuration, whatever is held for the sake of an iteration."""
        return None if self.detector is None else self._detect(q, previous)

    def keep(self, q: Array, contacts: Contacts) -> None:
        """Hold the contacts with which a body is at rest where a fresh look misses some: it rests on an edge."""
        found = self.detect(q, contacts)
        if found is not None and found.forces.sum() < (1.0 - 1e-9) * contacts.forces.sum():
            nothing = contacts.selected(np.zeros(len(contacts), dtype=bool))
            self._chatter.extend(self.model.skin_positions(q), contacts, nothing)

    def overlooked(self, q: Array, solved: Contacts | None) -> bool:
        """Is an answer wrong about what touches? Then the iteration must go on.

        Contacts that were held for its sake may press where nothing is, or not where their curved obstacle is lowest:
        they are held no longer (the latter for a few times only: it may be what they chatter about). Bodies may
        penetrate where no contact was solved for: those contacts are held with the others.
        """
        off, turned = self._astray(q, solved)
        if off > self.gap_tolerance * self.length or (turned > _TURNED and self._chatter.released < _RETRIES):
            self._chatter.release()
            return True
        fresh = self.fresh(q, solved)
        if fresh is None or solved is None or fresh.max_penetration <= self.gap_tolerance * self.length:
            return False
        deep = fresh.gap < -self.gap_tolerance * self.length
        return self._chatter.extend(self.model.skin_positions(q), solved, fresh.selected(deep))

    def _astray(self, q: Array, contacts: Contacts | None) -> tuple[float, float]:
        """How far contacts that are held press off their rigid obstacle [m], and off its normal where it is smooth."""
        off = turned = 0.0
        if contacts is None or not self._chatter.holding or contacts.gradients is not None:
            return off, turned
        pressing = np.flatnonzero((contacts.forces > 0.0) & contacts.rigid)
        corners, weights = contacts.vertices[pressing], contacts.weights[pressing]
        points = np.einsum("mk,mki->mi", weights, self.model.skin_positions(q)[corners])
        thick = (weights * self._radius[corners]).sum(axis=1) + self.contact_distance
        for index, obstacle in enumerate(self.obstacles):
            mine = contacts.obstacle[pressing] == index
            if not mine.any() or not isinstance(obstacle, Obstacle):
                continue
            distance, normal = obstacle.distance_and_normals(points[mine])
            off = max(off, float((distance - thick[mine]).max()))
            bending = getattr(obstacle, "curvature", None)
            if bending is not None and bending(points[mine]) is not None:
                apart = np.linalg.norm(normal - contacts.normal[pressing][mine], axis=1)
                turned = max(turned, float(apart.max()))
        return off, turned

    def depth(self, q: Array, contacts: Contacts | None) -> float:
        """How far bodies are inside of obstacles, of each other or of themselves [m], detected contacts or not."""
        if contacts is None:
            return 0.0
        depth = max(contacts.max_penetration, 0.0 if self._rigid else self.detector.crossing_depth(q))
        if depth > self.gap_tolerance * self.length:
            return depth
        return max(depth, self.swallowed(q)[0])

    def swallowed(self, q: Array) -> tuple[float, tuple[str, ...]]:
        """How deep rigid obstacles stand inside of the body [m], contacts or not, and their names."""
        return swallowed(self.obstacles, self.model.skin_positions(q), self.model.skin.triangles, self._held)

    def buried(self, q: Array) -> bool:
        """Does the skin lie so deep in a rigid obstacle that nothing frees it?

        What hangs on a held vertex deep inside gets out only if the edge between them becomes as long as that is deep.
        """
        rigid = [o for o in self.obstacles if isinstance(o, Obstacle)]
        if not rigid:
            return False
        x, triangles = self.model.skin_positions(q), self.model.skin.triangles
        for obstacle in rigid:
            depth = np.maximum(-obstacle.distance(x), 0.0)
            if not depth.any():
                continue
            if depth[~self._held].max(initial=0.0) > _BURIED * self.length:
                return True
            edges = np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0], [1, 0], [2, 1], [0, 2])])
            held, free = edges[self._held[edges[:, 0]] & ~self._held[edges[:, 1]]].T
            length = np.linalg.norm(x[held] - x[free], axis=1)
            if ((depth[held] > _TRAPPED * length) & (depth[free] > 0.1 * length)).any():
                return True
        return False

    def _detect(self, q: Array, previous: Contacts | None, positions: Array | None = None) -> Contacts:
        found = self.detector.detect(q, previous, obstacles=self.obstacles, positions=positions)
        if len(self.obstacles) > 1:
            found = distinct(found, 1e-6 * self.length)
        if self._any_held and len(found):
            # Nothing moves where the robot is held: such a pair has no compliance and cannot be pushed apart.
            fixed = (self._held[found.vertices] | (found.weights == 0.0)).all(axis=1)
            if fixed.any():
                found = found.selected(~fixed)
        if len(found) and self._partly:
            # A base on a slide moves, but not along every normal.
            moves = dense_rows(found.rows(self.model, q)).any(axis=1)
            if not moves.all():
                found = found.selected(moves)
        if self._origin is None or not len(found):
            return found
        anchored = found.reanchored(self._origin)
        if self._started is not None and self._started.names == found.names:
            # slip is relative to the obstacle: one that has moved since the start took its surface along
            anchored = anchored._but(anchor=anchored._but(poses=self._started.poses).carried_anchors(found.poses))
        anchored = anchored.matched(self._sticking)
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

    def system(
        self, q: Array, K: Any, rows: Rows, contacts: Contacts | None, *, previous_shift: float = 0.0, near: bool = True
    ) -> LinearSystem | None:
        """The linear system of a Newton step, with what contact forces add to the stiffness; None if it is singular.

        `near`: the contacts that press are those of the answer, and may hold the body.
        """
        turning = self.contact_stiffness(q, contacts)
        if turning is not None:
            return build(K + turning, rows, previous_shift=previous_shift)
        blocks, pairs = self._turning(q, contacts), self._turning_pairs(q, contacts)
        if not blocks and not pairs:
            return build(K, rows, previous_shift=previous_shift)
        total = stiffened(self.model, q, K, blocks + pairs, convex=False, wider=self._wider)
        system: LinearSystem | None
        try:
            system = LinearSystem(total, rows)
        except NotPositiveDefinite:
            # Drives and the contacts that press may hold it nonetheless: then Newton's method keeps its order.
            system = pressed_system(total, rows, shift=0.0) if near else None
        if system is None:
            # Forces that turn may push the body off what friction holds: whether, is not for this step to say. Bodies
            # that hold each other up are steadier without.
            total = stiffened(self.model, q, K, blocks, convex=True, wider=self._wider) if blocks else K
            system = build(total, rows, previous_shift=previous_shift)
        if system is not None and total is not K:
            system.turned = lambda dq: total @ dq - K @ dq
        return system

    def tangent(
        self, q: Array, K: Any, contacts: Contacts | None, *, convex: bool = False, weight: float = 1.0
    ) -> Any:
        """A stiffness with what contact forces add to it as they turn and wander.

        Args:
            q: configuration.
            K: stiffness of the model.
            contacts: with forces.
            convex: only what stiffens, for models whose points are their coordinates.
            weight: of the stiffness in the equations; contact forces count fully.
        """
        turning = self.contact_stiffness(q, contacts)
        if turning is not None:
            return K + turning / weight
        blocks = self._turning(q, contacts)
        if weight != 1.0:
            blocks = [(corners, block / weight) for corners, block in blocks]
        return stiffened(self.model, q, K, blocks, convex=convex) if blocks else K

    def bent(self, q: Array, contacts: Contacts | None) -> Contacts | None:
        """Contacts with the curvature of the obstacles that they press on, and how far they slipped."""
        if contacts is None or not contacts.forces.any() or contacts.gradients is not None:
            return contacts
        x, out = self.model.skin_positions(q), np.zeros((len(contacts), 3, 3))
        for index, obstacle in enumerate(self.obstacles):
            bending = getattr(obstacle, "curvature", None)
            mine = np.flatnonzero((contacts.forces > 0.0) & (contacts.obstacle == index))
            if bending is None and contacts.vertices.shape[1] == 4:
                for i in mine[contacts.vertices[mine, 2] == contacts.vertices[mine, 3]]:  # curves on themselves
                    apart = contacts.weights[i] @ x[contacts.vertices[i]]
                    n, distance = contacts.normal[i], max(float(np.linalg.norm(apart)), 1e-300)
                    out[i] = (np.eye(3) - np.outer(n, n)) / distance
            if bending is None or not len(mine):
                continue
            C = bending(np.einsum("mk,mki->mi", contacts.weights[mine], x[contacts.vertices[mine]]))
            if C is not None:
                out[mine] = C
        if self._origin is None:
            return contacts._but(curvature=out)
        moved = x[contacts.vertices] - self._origin[contacts.vertices]
        anchor = np.einsum("mk,mki->mi", contacts.weights, self._origin[contacts.vertices])
        # those that stuck before the start keep their own anchor
        fresh = np.abs(anchor - contacts.anchor).max(axis=1) <= 1e-12 * (self.length + float(np.abs(x).max()))
        return contacts._but(curvature=out, travelled=moved * fresh[:, None, None])

    def _turning(self, q: Array, contacts: Contacts | None) -> list[tuple[Array, Array]]:
        """What curved obstacles add to the tangent of a model whose points are its coordinates (`turning_forces`).

        Empty while contacts are held as they are: those do not turn.
        """
        if contacts is None or not contacts.forces.any() or self._chatter.holding:
            return []
        return turning_forces(self.obstacles, contacts, self.model.skin_positions(q))

    def _turning_pairs(self, q: Array, contacts: Contacts | None) -> list[tuple[Array, Array]]:
        """What pairs of soft features add to it; while contacts are held, vertices over faces turn all the same."""
        if contacts is None or not contacts.forces.any() or self._rigid:
            return []
        return turning_pairs(contacts, self.model.skin_positions(q), edges=not self._chatter.holding)

    def contact_stiffness(self, q: Array, contacts: Contacts | None) -> Array | None:
        """What contact forces add to the tangent of a model whose points move nonlinearly with q (nv, nv).

        None where positions are coordinates themselves: then only the curvature of obstacles counts (`system`).
        """
        own = getattr(self.model, "load_stiffness", None)
        if own is None or contacts is None or not len(contacts) or not contacts.forces.any():
            return None
        K = own(q, contacts.forces_on_vertices(self.model.skin.size))
        x = self.model.skin_positions(q)
        for i in np.flatnonzero(contacts.forces > 0):
            # the normal turns with the point that touches a curved obstacle
            ends, lam = contacts.vertices[i], contacts.forces[i]
            bending = getattr(self.obstacles[contacts.obstacle[i]], "curvature", None)
            if bending is None and contacts.vertices.shape[1] == 4 and ends[2] == ends[3]:
                K += lam * self._between_curves(q, x, ends[:3], contacts.weights[i, :3])
                continue
            C = None if bending is None else bending((contacts.weights[i] @ x[ends])[None])
            if C is None:
                continue
            C = C[0]
            J = dense_rows(
                self.model.skin_rows(q, np.tile(ends, (3, 1)), np.tile(contacts.weights[i], (3, 1)), np.eye(3))
            )
            K -= lam * (J.T @ C @ J)
            if np.count_nonzero(contacts.weights[i]) == 2:
                # and that point slides along its segment to where the gap is smallest
                e = x[ends[1]] - x[ends[0]]
                turn = dense_rows(
                    self.model.skin_rows(q, ends[None], np.array([[-1.0, 1.0]]), contacts.normal[i][None])
                )[0]
                bend, row = float(e @ C @ e), e @ C @ J + turn
                if bend > 1e-6 * float(e @ e) * float(np.abs(C).max()):
                    K += (lam / bend) * np.outer(row, row)
        return K

    def _between_curves(self, q: Array, x: Array, ends: Array, weights: Array) -> Array:
        """Minus the second derivative of the distance of a vertex to a segment (vertex, a, b), per unit force (nv, nv).

        The normal turns with the vertex around the segment, and the nearest point slides along it.
        """
        apart = weights @ x[ends]
        distance = float(np.linalg.norm(apart))
        n = apart / max(distance, 1e-300)
        C = (np.eye(3) - np.outer(n, n)) / max(distance, 1e-300)
        J = dense_rows(self.model.skin_rows(q, np.tile(ends, (3, 1)), np.tile(weights, (3, 1)), np.eye(3)))
        out = -J.T @ C @ J
        if (np.abs(weights) > 0.0).all():
            e = x[ends[2]] - x[ends[1]]
            turn = dense_rows(self.model.skin_rows(q, ends[None, 1:], np.array([[-1.0, 1.0]]), n[None]))[0]
            row = e @ C @ J + turn
            out += np.outer(row, row) / float(e @ C @ e)
        return out

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


def _held_vertices(model: Any) -> tuple[Array, bool]:
    """Which vertices of the skin cannot move at all (n,) bool, and whether some can move along a line or plane only."""
    n = model.skin.size
    rows = model.skin_rows(
        model.rest, np.repeat(np.arange(n), 3)[:, None], np.ones((3 * n, 1)), np.tile(np.eye(3), (n, 1))
    )
    size = abs(rows).max(axis=1)
    size = size.toarray() if hasattr(size, "toarray") else np.asarray(size)
    size = size.reshape(n, 3)
    held = size.max(axis=1) == 0.0
    return held, bool((size[~held] == 0.0).any())
