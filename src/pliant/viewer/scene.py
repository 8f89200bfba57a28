"""What is drawn of a model in a state, and nothing about how: the source of page, picture and replay alike.

A `Scene` is built from the contract only (skin, named points) and from what a model may offer besides:
`cable_paths(q)`, `cavity_surfaces(q)` and `field(q, effort, name)`. For each state it gives a `Picture`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.actuators import Cable
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.contract import Model
from pliant.state import Skin, State
from pliant.viewer.surface import BodySurface, skin_strain

Array = np.ndarray
Surface = tuple[Array, Array]

# What the optional fields of a model are called on the page, and how they are scaled to be read.
FIELD_UNITS: Mapping[str, tuple[str, float]] = {
    "displacement": ("mm", 1e3),
    "strain": ("%", 1e2),
    "stress": ("kPa", 1e-3),
}
PLAIN_FIELD = "none"
SLACK_TENSION = 1e-9  # [N] below rounding of any solve
MAX_FIXATION_POINTS = 400
PLANE_REACH = 0.8  # how far planes are drawn around the robot, relative to its size
# Enough to reach around a slender body: one face alone does not fix the motion across it.
NEIGHBOURS = 120


@dataclass(frozen=True, eq=False)
class Picture:
    """Everything that is drawn for one state; lengths in metres, world axes.

    Attributes:
        vertices: vertices of the body's surface (n, 3).
        triangles: its triangles (k, 3), the same array for every picture of a scene.
        values: scalar field at the vertices, in `unit` (n,).
        field: name of that field.
        unit: unit in which the values are given, for reading.
        cables: polyline of each cable (m, 3) by name.
        slack: names of the cables that carry no tension.
        chambers: surface (vertices, triangles) of each chamber by name.
        obstacles: surfaces of the obstacles, in order.
        fixations: points that are held (f, 3).
        points: position of each named point [m] (3,).
        contact_points: where contacts are (c, 3).
        contact_forces: force that each contact applies to the body [N] (c, 3).
    """

    vertices: Array
    triangles: Array
    values: Array
    field: str
    unit: str
    cables: Mapping[str, Array]
    slack: frozenset[str]
    chambers: Mapping[str, Surface]
    obstacles: tuple[Surface, ...]
    fixations: Array
    points: Mapping[str, Array]
    contact_points: Array
    contact_forces: Array

    @property
    def span(self) -> tuple[float, float]:
        """Lowest and highest finite value of the field."""
        finite = self.values[np.isfinite(self.values)]
        return (float(finite.min()), float(finite.max())) if len(finite) else (0.0, 0.0)


class Scene:
    """Drawing data of a model.

    Args:
        model: any model of the contract.
        obstacles: obstacles; drawn are those with a `surface()` giving (vertices, triangles). Contacts of the robot
            with itself have none.
    """

    def __init__(self, model: Model, *, obstacles: Sequence[Any] = ()) -> None:
        self.model: Any = model  # may offer fields, cable paths and cavities besides
        self.obstacles = tuple(obstacles)
        self.skin: Skin = model.skin
        self.rest: Array = np.asarray(model.skin_positions(model.rest), float)
        if not np.isfinite(self.rest).all() or len(self.rest) == 0:
            raise ArgumentError(
                "model", "its skin at rest is empty or not finite", "a model with a drawable skin"
            )
        self.surface = BodySurface.of(self.skin, self.rest)
        drawn = self.surface.vertices(self.rest)
        low, high = drawn.min(axis=0), drawn.max(axis=0)
        self.centre: Array = (low + high) / 2
        self.size = float(np.linalg.norm(high - low)) or 1.0
        self.fixations = _fixation_points(model.robot)
        self._carried = {
            a.name: self._carry(a) for a in getattr(model.robot, "actuators", ()) if isinstance(a, Cable)
        }

    @property
    def fields(self) -> tuple[str, ...]:
        """Names of the fields by which the body can be coloured."""
        offered = getattr(self.model, "fields", None)
        if offered is None:
            offered = ("strain", "stress") if hasattr(self.model, "field") else ("strain",)
        return ("displacement", *(f for f in offered if f != "displacement"), PLAIN_FIELD)

    def values(self, state: State, field: str) -> Array:
        """A scalar field at the skin's vertices (n,), in the unit for reading (`FIELD_UNITS`)."""
        if field not in self.fields:
            raise UnknownNameError("field", field, self.fields)
        if field == PLAIN_FIELD:
            return np.zeros(len(self.rest))
        if field == "displacement":
            values = np.linalg.norm(self.model.skin_positions(state.q) - self.rest, axis=1)
        elif field == "strain" and not hasattr(self.model, "field"):
            values = skin_strain(self.skin, self.rest, np.asarray(self.model.skin_positions(state.q), float))
        else:
            values = np.asarray(self.model.field(state.q, state.effort, field), float)
            if values.shape != (len(self.rest),):
                raise ArgumentError(
                    "field", f"{field!r} has shape {values.shape}", "one value per skin vertex"
                )
        return values * FIELD_UNITS.get(field, ("", 1.0))[1]

    def picture(
        self, state: State, *, field: str = "displacement", obstacles: Sequence[Any] | None = None
    ) -> Picture:
        """What is drawn for a state."""
        skin = np.asarray(self.model.skin_positions(state.q), float)
        points, forces = contact_arrows(state.contacts)
        return Picture(
            vertices=self.surface.vertices(skin),
            triangles=self.surface.triangles,
            values=self.values(state, field)[self.surface.source],
            field=field,
            unit=FIELD_UNITS.get(field, ("", 1.0))[0],
            cables=self.cables(state.q, skin),
            slack=_slack(self.model.robot, state),
            chambers=self.chambers(state.q),
            obstacles=tuple(
                obstacle_surface(o, near=skin.mean(axis=0), reach=PLANE_REACH * self.size)
                for o in (self.obstacles if obstacles is None else obstacles)
                if has_surface(o)
            ),
            fixations=self.fixations,
            points=self.points(state),
            contact_points=points,
            contact_forces=forces,
        )

    def span(self, *pictures: Picture) -> tuple[float, float]:
        """Range of colours for pictures of one field: from zero, never so narrow that it shows noise."""
        spans = [p.span for p in pictures]
        low, high = min(0.0, *(s[0] for s in spans)), max(s[1] for s in spans)
        # At least 1 % of the robot, 1 % of strain, 1 kPa.
        least = {"displacement": 10.0 * self.size, "strain": 1.0, "stress": 1.0}.get(pictures[0].field, 1e-12)
        return low, max(high, low + least)

    def cables(self, q: Array, skin: Array) -> dict[str, Array]:
        """Polylines of the cables [m]; carried by the nearest skin if the model does not offer them."""
        offered = getattr(self.model, "cable_paths", None)
        if offered is not None:
            return {name: np.asarray(path, float) for name, path in offered(q).items()}
        out = {}
        for name, (lead, near, weights) in self._carried.items():
            moved = np.einsum("pk,pkc->pc", weights, skin[near])
            out[name] = np.concatenate([lead, moved])
        return out

    def chambers(self, q: Array) -> dict[str, Surface]:
        """Surfaces (vertices, triangles) of the chambers; empty if the model does not offer them."""
        offered = getattr(self.model, "cavity_surfaces", None)
        if offered is None:
            return {}
        return {n: (np.asarray(v, float), np.asarray(t, np.int64)) for n, (v, t) in offered(q).items()}

    def points(self, state: State) -> dict[str, Array]:
        """Positions of the named points [m]."""
        names = [p.name for p in getattr(self.model.robot, "points", ())]
        if not names:
            return {}
        position = np.asarray(self.model.locate(state.q, names).position, float).reshape(-1, 3)
        return dict(zip(names, position))

    def _carry(self, cable: Cable) -> tuple[Array, Array, Array]:
        """Fixed lead-in points, and neighbours and weights that carry the via points with the skin.

        The weights reproduce affine motions exactly and prefer near vertices.
        """
        via = np.array(cable.points)
        lead = np.zeros((0, 3)) if cable.pull_point is None else np.array([cable.pull_point])
        k = min(NEIGHBOURS, len(self.rest))
        distance = np.linalg.norm(self.rest[None] - via[:, None], axis=2)
        near = np.argsort(distance, axis=1)[:, :k]
        weights = np.empty((len(via), k))
        for i, p in enumerate(via):
            local = (self.rest[near[i]] - p) / self.size
            favour = 1.0 / (distance[i, near[i]] / self.size + 1e-3)
            system = np.vstack([np.ones(k), local.T]) * favour
            weights[i] = favour * np.linalg.lstsq(system, np.array([1.0, 0, 0, 0]), rcond=1e-9)[0]
            weights[i] /= weights[i].sum()
        return lead, near, weights


def states_of(state_or_trajectory: Any) -> list[State]:
    """The states of a trajectory (anything with `states`, or a sequence of states), or the one state."""
    if isinstance(state_or_trajectory, State):
        return [state_or_trajectory]
    states = getattr(state_or_trajectory, "states", state_or_trajectory)
    if not isinstance(states, Iterable):
        raise ArgumentError(
            "state_or_trajectory", f"{type(state_or_trajectory).__name__}", "a State or a Trajectory"
        )
    out = list(states)
    if not out or not all(isinstance(s, State) for s in out):
        raise ArgumentError(
            "state_or_trajectory", "no states in it", "a State or a Trajectory of at least one state"
        )
    return out


def has_surface(obstacle: Any) -> bool:
    """Whether an obstacle can be drawn; contacts of a robot with itself cannot."""
    return hasattr(obstacle, "surface") or isinstance(obstacle, tuple)


def obstacle_surface(obstacle: Any, *, near: Array | None = None, reach: float = np.inf) -> Surface:
    """Vertices [m] (n, 3) and triangles (k, 3) of an obstacle.

    Of an unbounded one (a plane has an `extent` that is drawn), no more than a reach [m] around the place of it
    that is nearest to a point [m] (3,): a wall a metre wide would drown a robot of 10 cm.
    """
    surface = obstacle.surface() if hasattr(obstacle, "surface") else obstacle
    vertices, triangles = (
        (surface.vertices, surface.triangles) if hasattr(surface, "vertices") else surface[:2]
    )
    vertices = np.asarray(vertices, float)
    extent = getattr(obstacle, "extent", None)
    if near is not None and extent is not None and extent > reach:
        middle = obstacle.closest(np.reshape(near, (1, 3)))[0]
        vertices = middle + (vertices - vertices.mean(axis=0)) * (reach / extent)
    return vertices, np.asarray(triangles, np.int64)


def contact_arrows(contacts: Any) -> tuple[Array, Array]:
    """Where contacts are [m] (c, 3) and the force on the body [N] (c, 3), of a `State.contacts`."""
    if contacts is None or len(contacts.gap) == 0:
        return np.zeros((0, 3)), np.zeros((0, 3))
    points, normal = np.asarray(contacts.point, float), np.asarray(contacts.normal, float)
    forces = np.asarray(contacts.forces, float)[:, None] * normal
    tangential, tangents = getattr(contacts, "tangential", None), getattr(contacts, "tangents", None)
    if tangential is not None and tangents is not None:
        forces = forces + np.einsum("mk,mkc->mc", tangential, tangents)
    return points, forces


def _slack(robot: Any, state: State) -> frozenset[str]:
    names = (
        a.name
        for a, e in zip(getattr(robot, "actuators", ()), state.effort)
        if isinstance(a, Cable) and e <= SLACK_TENSION
    )
    return frozenset(names)


def _fixation_points(robot: Any) -> Array:
    """Held nodes on the surface of soft bodies, and the bases of rods [m] (f, 3), thinned out."""
    parts = []
    for fixation in getattr(robot, "fixations", ()):
        mesh = robot.soft_body(fixation.body).mesh
        on_surface = np.intersect1d(mesh.node_sets[fixation.nodes], np.unique(mesh.boundary()))
        parts.append(mesh.nodes[on_surface])
    for body in getattr(robot, "bodies", ()):
        if hasattr(body, "length") and not getattr(body, "parent", ""):
            parts.append(np.array([body.position]))
    points = np.concatenate(parts) if parts else np.zeros((0, 3))
    if len(points) > MAX_FIXATION_POINTS:
        points = points[np.linspace(0, len(points) - 1, MAX_FIXATION_POINTS).astype(int)]
    return points
