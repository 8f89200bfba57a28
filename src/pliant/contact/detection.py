"""Detection: where is the skin of a model near an obstacle, another body or itself?

`Detector` keeps what depends on the topology only (box trees, neighbourhoods, thin walls of the rest
shape); `detect` is the same for a single call. There is no other detection code in pliant: every
model and every solver uses this one through `Model.skin`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant._kernels.crossing import crossing_depths
from pliant.contact.analytic import Sampling, against_obstacle, pack
from pliant.contact.candidates import NOTHING, Candidates
from pliant.contact.contacts import Contacts
from pliant.contact.layers import VolumeGrid, volume_contacts
from pliant.contact.mesh import MeshObstacle
from pliant.contact.obstacles import Obstacle, positive
from pliant.contact.pairs import BodyContact, ContactPairs, SelfContact, SoftContact
from pliant.contact.passage import flew_through, went_through
from pliant.contact.pipes import against_pipe
from pliant.contact.proximity import as_contacts, behind_at_rest, feature_pairs, without_vertices
from pliant.contact.retention import PAIR, retained
from pliant.contact.solids import against_solid
from pliant.contact.surface import Tree, surface_of
from pliant.errors import ArgumentError

Array = np.ndarray
_FLAT_EDGES = 0.01  # of the mean edge: half of the angle below which edges are no ridges, `Surface.faces`


class Detector:
    """Detection prepared for one model and one list of obstacles.

    Args:
        model: anything with `skin`, `skin_positions(q)` and `rest`.
        obstacles: rigid `Obstacle`s and soft markers (`SelfContact`, `BodyContact`, `ContactPairs`).
        alarm: contacts with a larger gap are left out [m]; choose it larger than the motion per step.
        contact_distance: offset subtracted from every gap [m].
        method: "proximity" (local minimum distance) or "volume" (layered grid).
        vertices: "all" tests every skin vertex against signed distances (wide patches are held
            everywhere), "minimum" keeps local minima only (fewest contacts).
        angle_tolerance: widening of normal cones [rad].
        interiors: look for lowest points between the vertices.
        sag: how much lower than the vertices such a point must be [m]; 2 % of the alarm by default.
        pixel: pixel size of the layered grid [m]; half of the alarm by default.
        cell: cell size of the layered grid [m]; four pixels by default.
    """

    def __init__(
        self,
        model: Any,
        obstacles: Sequence[Obstacle | SoftContact],
        *,
        alarm: float,
        contact_distance: float = 0.0,
        method: str = "proximity",
        vertices: str = "all",
        angle_tolerance: float = 0.05,
        interiors: bool = True,
        sag: float | None = None,
        pixel: float | None = None,
        cell: float | None = None,
    ) -> None:
        self.model = model
        self.alarm = positive("alarm", alarm)
        self.contact_distance = float(contact_distance)
        if not (np.isfinite(self.contact_distance) and self.contact_distance >= 0.0):
            raise ArgumentError("contact_distance", f"{contact_distance}", "a distance >= 0")
        if method not in ("proximity", "volume"):
            raise ArgumentError("method", f"{method!r} is unknown", "'proximity' or 'volume'")
        if vertices not in ("all", "minimum"):
            raise ArgumentError("vertices", f"{vertices!r} is unknown", "'all' or 'minimum'")
        if not 0.0 <= angle_tolerance < 1.0:
            raise ArgumentError("angle_tolerance", f"{angle_tolerance}", "an angle in [0, 1) rad")
        self.method = method
        self.tolerance = float(np.sin(angle_tolerance))
        self.obstacles = _checked(obstacles)
        self.surface = surface_of(model.skin)
        self.sampling = Sampling(
            alarm=self.alarm, offset=self.contact_distance, minimum=vertices == "minimum",
            tolerance=self.tolerance, sag=0.02 * self.alarm if sag is None else positive("sag", sag),
            interiors=interiors,
        )  # fmt: skip
        size = 0.5 * self.alarm if pixel is None else positive("pixel", pixel)
        self.grid = VolumeGrid(size, 4.0 * size if cell is None else positive("cell", cell))
        self.rest = np.ascontiguousarray(model.skin_positions(model.rest), dtype=float)
        self.bodies = int(self.surface.body.max()) + 1 if len(self.rest) else 1
        self.tree: Tree | None = None
        self._near: dict[int, Candidates] = {}
        self._meant: Array | None = None  # pairs of triangles that cross at rest
        meshes = any(isinstance(o, MeshObstacle | SelfContact | BodyContact) for o in self.obstacles)
        if meshes and method == "proximity":
            self.tree = Tree(self.surface, self.rest)
        for index, obstacle in enumerate(self.obstacles):
            self._prepare(index, obstacle)

    def _prepare(self, index: int, obstacle: Obstacle | SoftContact) -> None:
        allowed = np.zeros((self.bodies, self.bodies), dtype=np.bool_)
        if isinstance(obstacle, SelfContact):
            which = range(self.bodies) if obstacle.body is None else [self._body("body", obstacle.body)]
            for body in which:
                allowed[body, body] = True
        elif isinstance(obstacle, BodyContact):
            a, b = self._body("body_a", obstacle.body_a), self._body("body_b", obstacle.body_b)
            allowed[a, b] = allowed[b, a] = True
        elif isinstance(obstacle, ContactPairs):
            if obstacle.pairs.size and (obstacle.pairs.min() < 0 or obstacle.pairs.max() >= len(self.rest)):
                raise ArgumentError("pairs", "a vertex is out of range", f"0 to {len(self.rest) - 1}")
            if obstacle.normals is None:
                apart = self.rest[obstacle.pairs[:, 0]] - self.rest[obstacle.pairs[:, 1]]
                if np.any(np.linalg.norm(apart, axis=1) <= 0.0):
                    raise ArgumentError("normals", "two paired vertices coincide at rest", "give normals")
            return
        elif isinstance(obstacle, MeshObstacle):
            allowed = np.ones((self.bodies, 1), dtype=np.bool_)
        else:
            return
        if self.tree is None:
            return
        skip, separation, reach = NOTHING, 0.0, self.alarm + self.contact_distance
        if isinstance(obstacle, SelfContact):
            skip = behind_at_rest(self.tree, self.surface.faces(self.rest), allowed, depth=1.5 * reach)
            separation = obstacle.separation
        self._near[index] = Candidates(
            alarm=reach, allowed=allowed, rest=self.rest, separation=separation, skip=skip
        )

    def _body(self, argument: str, body: int) -> int:
        if not 0 <= int(body) < self.bodies:
            raise ArgumentError(argument, f"there is no body {body}", f"0 to {self.bodies - 1}")
        return int(body)

    def detect(
        self,
        q: Array,
        previous: Contacts | None = None,
        *,
        obstacles: Sequence[Obstacle | SoftContact] | None = None,
        positions: Array | None = None,
    ) -> Contacts:
        """Contacts at a configuration, with forces and anchors of `previous` where keys agree.

        `obstacles` may give the same obstacles at other poses (`moved`, `placed`, `at`); `positions` those of the
        skin at q [m] (n, 3), where they are known already.
        """
        x = np.ascontiguousarray(self.model.skin_positions(q) if positions is None else positions, dtype=float)
        if not np.isfinite(x).all():
            raise ArgumentError("q", "the skin's positions are not finite", "a finite configuration")
        current = self.obstacles
        if obstacles is not None and obstacles is not current:
            current = tuple(obstacles)
            if len(current) != len(self.obstacles) or any(
                type(a) is not type(b) for a, b in zip(current, self.obstacles, strict=True)
            ):
                raise ArgumentError("obstacles", "they differ from those of the detector", "the same, moved")
        parts = self._volume(x, current) if self.method == "volume" else self._proximity(x, current)
        names = [o.name for o in current]
        poses = [o.pose if isinstance(o, Obstacle) else None for o in current]
        found = Contacts.joined(parts, names, poses)
        if self._near and previous is not None and len(previous) and self.method == "proximity":
            found = Contacts.joined([found, *self._retained(x, current, found, previous)], names, poses)
        return (found.distinct() if self._near else found).matched(previous)

    def _retained(
        self, x: Array, obstacles: Sequence[Obstacle | SoftContact], found: Contacts, previous: Contacts
    ) -> list[Contacts]:
        soft = [i for i in self._near if not isinstance(obstacles[i], Obstacle)]
        return [
            retained(
                previous, found, x, self.surface.radius, index=i, alarm=self.alarm, offset=self.contact_distance
            )
            for i in soft
        ]

    def crossing_depth(self, q: Array) -> float:
        """How deep soft surfaces pass through each other or themselves [m], found or not by `detect`; 0 if nowhere.

        Surfaces that cross in the rest shape are meant to. Edges between nearly flat faces are not tested
        against each other by `detect` and may cross by a small part of their length; that is not counted.
        """
        soft = [i for i, o in enumerate(self.obstacles) if i in self._near and not isinstance(o, Obstacle)]
        if not soft or self.tree is None:
            return 0.0
        allowed = np.logical_or.reduce([self._near[i].allowed for i in soft])
        if self._meant is None:
            self._meant = self._crossings(self.rest, allowed)[0]
        pairs, depth = self._crossings(np.ascontiguousarray(self.model.skin_positions(q), dtype=float), allowed)
        ends = self.rest[self.surface.edges]
        counts = depth > _FLAT_EDGES * float(np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1).mean())
        return float(depth[counts & ~np.isin(pairs, self._meant)].max(initial=0.0))

    def _crossings(self, x: Array, allowed: Array) -> tuple[Array, Array]:
        """Keys of pairs of triangles that cross, and how deep [m]."""
        assert self.tree is not None
        self.tree.refit(self.surface.faces(x), slack=4.0)  # normals do not matter
        pairs = self.tree.pairs(self.tree, (0.0, 0.0, allowed))
        depth = crossing_depths(pairs, x, self.surface.prims, self.surface.body, allowed)
        chosen = np.flatnonzero(depth)
        return pairs[chosen, 0] * len(self.surface.prims) + pairs[chosen, 1], depth[chosen]

    def passed(
        self, before: Array, after: Array, previous: Contacts | None, obstacles: Sequence[Obstacle | SoftContact],
        *, tolerance: float,
    ) -> tuple[str, ...]:  # fmt: skip
        """Names of obstacles and bodies that the skin went through on its way between two configurations.

        Nothing is looked at where the way is shorter than the alarm distance: there contacts are foreseen. `previous`
        tells where the obstacles were before; `tolerance` is a depth that does not count [m].
        """
        x, y = (np.asarray(self.model.skin_positions(q), dtype=float) for q in (before, after))
        poses = () if previous is None else previous.poses
        names = []
        for index, o in enumerate(obstacles):
            if not isinstance(o, Obstacle):
                continue
            pose = (poses[index] if index < len(poses) else None) or o.pose
            still = pose is o.pose
            if still and float(np.abs(y - x).max(initial=0.0)) <= self.alarm:
                continue
            if went_through(self.surface, x, y, o, pose, tolerance=tolerance):
                names.append(o.name)
        if float(np.linalg.norm(np.ptp(y - x, axis=0))) > self.alarm:  # bodies that move together do not meet
            soft = [i for i, o in enumerate(obstacles) if i in self._near and not isinstance(o, Obstacle)]
            meeting = np.logical_or.reduce([self._near[i].allowed for i in soft]) if soft else np.zeros((0, 0))
            for a, b in np.argwhere(np.triu(meeting, 1)):
                if flew_through(self.surface, x, y, a, b, tolerance=tolerance):
                    names.append(f"{self.model.robot.bodies[b].name} (by {self.model.robot.bodies[a].name})")
        return tuple(names)

    def _pairs(self, x: Array, marker: ContactPairs, index: int) -> Contacts:
        a, b = marker.pairs.T
        n = marker.normals
        if n is None:
            n = self.rest[a] - self.rest[b]
            n = n / np.linalg.norm(n, axis=1)[:, None]
        apart = x[a] - x[b]
        gap = np.einsum("mi,mi->m", n, apart) - self.surface.radius[a] - self.surface.radius[b]
        return Contacts.build(
            gap=gap - self.contact_distance, normal=n, vertices=marker.pairs,
            weights=np.tile([1.0, -1.0], (len(a), 1)), position=apart, point=0.5 * (x[a] + x[b]),
            obstacle=np.full(len(a), index), key=pack(index, PAIR, a, b),
            friction=np.full(len(a), marker.friction),
        )  # fmt: skip

    def _proximity(self, x: Array, obstacles: Sequence[Obstacle | SoftContact]) -> list[Contacts]:
        parts: list[Contacts] = []
        faces = None
        reach = self.alarm + self.contact_distance
        slack = 2.0 * self.tolerance
        for index, o in enumerate(obstacles):
            if isinstance(o, ContactPairs):
                parts.append(self._pairs(x, o, index))
            elif isinstance(o, MeshObstacle):
                parts += self._mesh(x, o, index, reach, slack)
                faces = None  # the tree was refitted in the obstacle's frame
            elif isinstance(o, Obstacle):
                found = against_solid(self.surface, x, o, index, self.sampling)
                if found is None:
                    found = against_pipe(self.surface, x, o, index, self.sampling)
                parts += against_obstacle(self.surface, x, o, index, self.sampling) if found is None else found
            elif self.tree is not None:
                if faces is None:
                    faces = self.surface.faces(x)
                    self.tree.refit(faces, slack=slack)
                records, ids = feature_pairs(
                    self.tree, faces, self.tree, faces, self._near[index], tolerance=self.tolerance
                )
                soft = as_contacts(
                    records, ids, index, friction=o.friction, offset=self.contact_distance, x=x, soft=True
                )
                parts.append(_facing(soft, self.surface.body, o) if isinstance(o, BodyContact) else soft)
        return parts

    def _mesh(self, x: Array, o: MeshObstacle, index: int, reach: float, slack: float) -> list[Contacts]:
        local = o.pose.undo(x)
        low, high = o.vertices.min(axis=0) - reach, o.vertices.max(axis=0) + reach
        thick = self.surface.radius[:, None]
        inside = ((local + thick > low) & (local - thick < high)).all(axis=1)
        if not inside.any() and not len(self.surface.prims):
            return []
        parts = []
        lonely = not len(self.surface.prims)
        if not self.sampling.minimum or lonely:
            near = np.flatnonzero(inside)
            signed = o.placed(type(o.pose)())
            distance, normal = signed.distance_and_normals(local[near])
            gap = distance - self.surface.radius[near] - self.contact_distance
            keep = gap < self.alarm
            v, n = near[keep], o.pose.turn(normal[keep])
            parts.append(
                Contacts.build(
                    gap=gap[keep], normal=n, vertices=v[:, None], weights=np.ones((len(v), 1)),
                    position=x[v], point=x[v] - distance[keep, None] * n, obstacle=np.full(len(v), index),
                    key=pack(index, 8, v), friction=np.full(len(v), o.friction),
                )
            )  # fmt: skip
        if lonely or self.tree is None:
            return parts
        faces = self.surface.faces(local)
        self.tree.refit(faces, slack=slack)
        records, ids = feature_pairs(
            self.tree, faces, o.tree, o.faces, self._near[index], tolerance=self.tolerance
        )
        if not self.sampling.minimum:
            records, ids = without_vertices(records, ids)
        records = records.copy()
        records[:, 1:4] = o.pose.turn(records[:, 1:4])
        records[:, 8:11] = o.pose.apply(records[:, 8:11])
        parts.append(
            as_contacts(
                records, ids, index, friction=o.friction, offset=self.contact_distance, x=x, soft=False
            )
        )
        return parts

    def _volume(self, x: Array, obstacles: Sequence[Obstacle | SoftContact]) -> list[Contacts]:
        parts = []
        for index, o in enumerate(obstacles):
            if isinstance(o, ContactPairs):
                parts.append(self._pairs(x, o, index))
            else:
                parts.append(
                    volume_contacts(
                        self.surface, x, o, index, self.grid, alarm=self.alarm, offset=self.contact_distance
                    )
                )
        return parts


def _facing(contacts: Contacts, body: Array, marker: BodyContact) -> Contacts:
    """Turn contacts so that body_a is the first body."""
    lead = contacts.vertices[np.arange(len(contacts)), np.argmax(contacts.weights, axis=1)]
    turn = np.where(body[lead] == marker.body_a, 1.0, -1.0)
    if np.all(turn > 0.0):
        return contacts
    weights = contacts.weights * turn[:, None]
    return Contacts.build(
        gap=contacts.gap, normal=contacts.normal * turn[:, None], vertices=contacts.vertices,
        weights=weights, position=contacts.anchor * turn[:, None], point=contacts.point,
        obstacle=contacts.obstacle, key=contacts.key, friction=contacts.friction,
    )  # fmt: skip


def _checked(obstacles: Sequence[Obstacle | SoftContact]) -> tuple[Obstacle | SoftContact, ...]:
    result = tuple(obstacles)
    for o in result:
        if not isinstance(o, Obstacle | SoftContact):
            raise ArgumentError("obstacles", f"{type(o).__name__} is none", "an Obstacle or a marker")
    if len(result) > 255:
        raise ArgumentError("obstacles", f"{len(result)} are too many", "at most 255")
    return result


def detect(
    model: Any,
    q: Array,
    obstacles: Sequence[Obstacle | SoftContact],
    *,
    alarm: float,
    contact_distance: float = 0.0,
    previous: Contacts | None = None,
    method: str = "proximity",
    **options: Any,
) -> Contacts:
    """Contacts of a model at a configuration (see `Detector`, which is faster when used repeatedly).

    Args:
        model: any model.
        q: configuration (nq,).
        obstacles: what is in the way.
        alarm: distance below which a pair is a possible contact [m].
        contact_distance: distance at which surfaces touch [m].
        previous: contacts of the state before, whose memory (friction) is carried on.
        method: how pairs are found, as in `Detector`.
        options: further arguments of `Detector`.
    """
    detector = Detector(
        model, obstacles, alarm=alarm, contact_distance=contact_distance, method=method, **options
    )
    return detector.detect(q, previous)
