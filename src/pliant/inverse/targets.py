"""Targets: what is wanted of a robot. Each is a value, zero when met, and its derivative.

A target is evaluated at a state and returns `TargetRows`: how far it is from being met, and how that changes with the
configuration, with the efforts and with the contact forces. Rows are weighted; `exact=True` makes them equalities.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from pliant.actuators.actuator import check_points, check_vector
from pliant.checks import finite, name_list, positive
from pliant.errors import ArgumentError, UnknownNameError
from pliant.lie import log, matrix_from_quaternion

Array = np.ndarray
Vector = tuple[float, float, float]
# What other units count as beside a metre, unless a target says otherwise.
_RADIAN = 0.05  # [m/rad]
_CUBIC_METRE = 1e4  # [m/m^3]: a cubic centimetre as much as a centimetre
_NEWTON = 1e-3  # [m/N]


@dataclass(frozen=True, eq=False)
class TargetRows:
    """Rows of a target at one state.

    Attributes:
        value: zero when met [unit of the target] (m,).
        jacobian: d value / d q (m, nv).
        weight: factor in the objective (m,).
        effort: d value / d effort (m, nu), or None if it does not depend on it directly.
        contact: d value / d normal contact forces (m, nc), or None.
        exact: whether the rows are equalities instead of an objective.
        metre: what one unit of the value counts as when it is judged to be met [m per unit], whatever its weight: a
            weight is a preference among targets, no tolerance.
    """

    value: Array
    jacobian: Array
    weight: Array
    effort: Array | None = None
    contact: Array | None = None
    exact: bool = False
    metre: Array | float = 1.0


class Target(Protocol):
    """Anything that can be wanted."""

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Value and derivatives at a configuration."""


def _axes(axes: Any) -> str:
    if not isinstance(axes, str) or not axes or set(axes) - set("xyz"):
        raise ArgumentError("axes", f"{axes!r}", "some of 'xyz'")
    return axes


def normal_force(contacts: Any, obstacle: str) -> tuple[float, Array]:
    """Sum of the normal forces [N] on one obstacle (on all if its name is empty), and its derivative in them (1, m)."""
    names = () if contacts is None else contacts.names
    if obstacle and obstacle not in names:
        raise UnknownNameError("obstacle", obstacle, names)
    n = 0 if contacts is None else len(contacts)
    row = np.ones((1, n))
    if n and obstacle:
        row[0] = [names[i] == obstacle for i in contacts.obstacle]
    return float(row[0] @ contacts.forces) if n else 0.0, row


@dataclass(frozen=True)
class PointTarget:
    """A named point should be at a position.

    Attributes:
        point: name of the point.
        position: where it should be [m].
        axes: which world directions count, some of "xyz".
        weight: factor in the objective.
        exact: equality instead of objective.
    """

    point: str
    position: Vector
    axes: str = "xyz"
    weight: float = 1.0
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", check_vector("position", self.position))
        object.__setattr__(self, "weight", positive("weight", self.weight))
        _axes(self.axes)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Position error along the chosen axes [m]."""
        place = model.locate(q, self.point, jacobian=True)
        value, jacobian = place.position - np.array(self.position), place.jacobian[3:]
        if self.axes != "xyz":
            rows = ["xyz".index(a) for a in self.axes]
            value, jacobian = value[rows], jacobian[rows]
        return TargetRows(value, jacobian, np.full(len(value), self.weight), exact=self.exact)


@dataclass(frozen=True)
class DirectionTarget:
    """An axis carried by a named point should have a direction.

    Attributes:
        point: name of the point.
        direction: wanted direction in the world; normalised.
        axis: the axis in the point's own frame; normalised.
        weight: metres of position error that weigh as much as one radian [m/rad].
        exact: equality instead of objective: two rows, across the wanted direction.
    """

    point: str
    direction: Vector
    axis: Vector = (1.0, 0.0, 0.0)
    weight: float = _RADIAN
    exact: bool = False

    def __post_init__(self) -> None:
        for name in ("direction", "axis"):
            vector = np.array(check_vector(name, getattr(self, name)))
            if np.linalg.norm(vector) == 0:
                raise ArgumentError(name, "the zero vector has no direction", "a non-zero vector")
            object.__setattr__(self, name, check_vector(name, vector / np.linalg.norm(vector)))
        object.__setattr__(self, "weight", positive("weight", self.weight))

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Difference of the directions [rad for small errors]."""
        place = model.locate(q, self.point, jacobian=True)
        a = place.rotation @ np.array(self.axis)
        # d a = omega x a
        jacobian = -np.cross(a[None, :], place.jacobian[:3].T, axis=1).T
        wanted = np.array(self.direction)
        value = a - wanted
        if self.exact:
            # A unit vector has two freedoms: of three equations one would contradict the others before the end.
            side = np.eye(3)[np.argmin(np.abs(wanted))]
            first = np.cross(wanted, side) / np.linalg.norm(np.cross(wanted, side))
            across = np.stack([first, np.cross(wanted, first)])
            value, jacobian = across @ value, across @ jacobian
        return TargetRows(value, jacobian, np.full(len(value), self.weight), exact=self.exact, metre=_RADIAN)


@dataclass(frozen=True)
class FrameTarget:
    """A named point should be at a position with an orientation.

    Attributes:
        point: name of the point.
        position: where it should be [m].
        rotation: wanted orientation of its frame (wxyz).
        weight: factor on the position rows.
        rotation_weight: metres that weigh as much as one radian [m/rad].
        exact: equality instead of objective.
    """

    point: str
    position: Vector
    rotation: tuple[float, float, float, float]
    weight: float = 1.0
    rotation_weight: float = _RADIAN
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", check_vector("position", self.position))
        for name in ("weight", "rotation_weight"):
            object.__setattr__(self, name, positive(name, getattr(self, name)))
        matrix_from_quaternion(self.rotation)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Rotation vector from the wanted to the actual frame [rad] and position error [m]."""
        place = model.locate(q, self.point, jacobian=True)
        wanted = matrix_from_quaternion(self.rotation)
        turn = log(place.rotation @ wanted.T)
        # World-frame error vector: its derivative is the inverse left tangent, which tends to I at the target.
        from pliant.lie import left_tangent_inverse

        rows = np.vstack([left_tangent_inverse(turn) @ place.jacobian[:3], place.jacobian[3:]])
        value = np.concatenate([turn, place.position - np.array(self.position)])
        weight = np.repeat([self.rotation_weight, self.weight], 3)
        return TargetRows(value, rows, weight, exact=self.exact, metre=np.repeat([_RADIAN, 1.0], 3))


@dataclass(frozen=True)
class PointsTarget:
    """Several named points should be at positions.

    Attributes:
        points: names.
        positions: where they should be [m] (n, 3).
        weight: factor in the objective.
        exact: equality instead of objective.
    """

    points: tuple[str, ...]
    positions: tuple[Vector, ...]
    weight: float = 1.0
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", name_list("points", self.points))
        object.__setattr__(self, "positions", check_points("positions", self.positions))
        object.__setattr__(self, "weight", positive("weight", self.weight))
        if len(self.points) != len(self.positions):
            raise ArgumentError("positions", f"{len(self.positions)} for {len(self.points)} points", "one per point")

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Position errors, stacked [m] (3 n,)."""
        place = model.locate(q, self.points, jacobian=True)
        value = (place.position - np.array(self.positions)).ravel()
        rows = place.jacobian[:, 3:].reshape(len(value), -1)
        return TargetRows(value, rows, np.full(len(value), self.weight), exact=self.exact)


@dataclass(frozen=True)
class BarycentreTarget:
    """The mean of the surface vertices of a body should be at a position.

    Attributes:
        position: where it should be [m].
        body: name of the body; all bodies if empty.
        axes: which world directions count, some of "xyz".
        weight: factor in the objective.
        exact: equality instead of objective.
    """

    position: Vector
    body: str = ""
    axes: str = "xyz"
    weight: float = 1.0
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", check_vector("position", self.position))
        object.__setattr__(self, "weight", positive("weight", self.weight))
        _axes(self.axes)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Error of the barycentre along the chosen axes [m]."""
        vertices = np.arange(model.skin.size)
        if self.body:
            names = [b.name for b in model.robot.bodies]
            model.robot.body(self.body)
            vertices = vertices[model.skin.body == names.index(self.body)]
        rows = ["xyz".index(a) for a in self.axes]
        mean = model.skin_positions(q)[vertices].mean(axis=0)
        weights = np.full((len(rows), len(vertices)), 1.0 / len(vertices))
        jacobian = model.skin_rows(q, np.tile(vertices, (len(rows), 1)), weights, np.eye(3)[rows])
        value = (mean - np.array(self.position))[rows]
        return TargetRows(value, _dense(jacobian), np.full(len(rows), self.weight), exact=self.exact)


@dataclass(frozen=True)
class CentreOfMassTarget:
    """The centre of mass should be at a position.

    Attributes:
        position: where it should be [m].
        axes: which world directions count, some of "xyz".
        weight: factor in the objective.
        exact: equality instead of objective.
    """

    position: Vector
    axes: str = "xyz"
    weight: float = 1.0
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "position", check_vector("position", self.position))
        object.__setattr__(self, "weight", positive("weight", self.weight))
        _axes(self.axes)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Error of the centre of mass along the chosen axes [m]."""
        centre, jacobian = model.centre_of_mass(q)
        rows = ["xyz".index(a) for a in self.axes]
        value = (centre - np.array(self.position))[rows]
        return TargetRows(value, jacobian[rows], np.full(len(rows), self.weight), exact=self.exact)


@dataclass(frozen=True, eq=False)
class ShapeTarget:
    """The surface should take a shape, in the least-squares sense.

    Either vertex by vertex (`positions` has one row per vertex), or as a cloud (`cloud`): every chosen vertex
    should lie on the cloud's nearest point, re-paired at each iteration.

    Attributes:
        positions: wanted position of each chosen vertex [m] (n, 3), or None.
        cloud: points of the wanted surface [m] (k, 3), or None.
        vertices: indices of skin vertices (n,); all if None.
        weight: factor; the rows are divided by sqrt(n), so that the error is a root mean square.
    """

    positions: Array | None = None
    cloud: Array | None = None
    vertices: Array | None = None
    weight: float = 1.0
    exact: bool = field(default=False, init=False)

    def __post_init__(self) -> None:
        if (self.positions is None) == (self.cloud is None):
            raise ArgumentError("positions", "give either positions or cloud", "exactly one of the two")
        for name in ("positions", "cloud"):
            if getattr(self, name) is not None:
                object.__setattr__(self, name, np.array(check_points(name, getattr(self, name))))
        object.__setattr__(self, "weight", positive("weight", self.weight))

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Differences of the vertices to where they should be, divided by sqrt(n) [m]."""
        vertices = np.arange(model.skin.size) if self.vertices is None else np.asarray(self.vertices)
        x = model.skin_positions(q)[vertices]
        if self.positions is not None:
            if len(self.positions) != len(vertices):
                raise ArgumentError("positions", f"{len(self.positions)} rows", f"{len(vertices)}, one per vertex")
            wanted = self.positions
        else:
            from scipy.spatial import cKDTree

            cloud = np.asarray(self.cloud)
            wanted = cloud[cKDTree(cloud).query(x)[1]]
        n = len(vertices)
        repeated = np.repeat(vertices, 3)[:, None]
        rows = model.skin_rows(q, repeated, np.ones((3 * n, 1)), np.tile(np.eye(3), (n, 1)))
        scale = 1.0 / math.sqrt(n)
        return TargetRows((x - wanted).ravel() * scale, _dense(rows) * scale, np.full(3 * n, self.weight))


@dataclass(frozen=True)
class DisplacementTarget:
    """An actuator's coordinate should have a value.

    Attributes:
        actuator: its name.
        value: cable length pulled in [m], volume gained [m^3], ...
        weight: factor in the objective.
        exact: equality instead of objective.
    """

    actuator: str
    value: float
    weight: float = 1.0
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite("value", self.value))
        object.__setattr__(self, "weight", positive("weight", self.weight))

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Displacement minus its wanted value."""
        i = model.robot.actuator_index(self.actuator)
        value = model.displacement(q)[i : i + 1] - self.value
        rows = model.displacement_rows(q)[i : i + 1]
        metre = _CUBIC_METRE if model.robot.actuators[i].kind == "chamber" else 1.0
        return TargetRows(value, rows, np.array([self.weight]), exact=self.exact, metre=metre)


@dataclass(frozen=True)
class VolumeTarget:
    """The volume of a chamber should have grown by a value [m^3].

    Attributes:
        chamber: name of the actuator.
        gain: wanted volume minus that at rest [m^3].
        weight: metres of position error that weigh as much as one cubic metre [1/m^2]; by default a cubic centimetre
            weighs as much as a centimetre.
        exact: equality instead of objective.
    """

    chamber: str
    gain: float
    weight: float = _CUBIC_METRE
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "gain", finite("gain", self.gain))
        object.__setattr__(self, "weight", positive("weight", self.weight))

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Volume gained minus its wanted value [m^3]."""
        actuator = model.robot.actuators[model.robot.actuator_index(self.chamber)]
        if actuator.kind != "chamber":
            chambers = ", ".join(a.name for a in model.robot.actuators if a.kind == "chamber") or "this robot has none"
            raise ArgumentError("chamber", f"{self.chamber} is a {actuator.kind}", f"a chamber ({chambers})")
        return DisplacementTarget(self.chamber, self.gain, self.weight, self.exact).evaluate(model, q, effort, contacts)


@dataclass(frozen=True)
class EffortTarget:
    """An actuator's effort should have a value.

    Attributes:
        actuator: its name.
        value: wanted effort [N, Pa, ...].
        weight: factor in the objective.
        exact: equality instead of objective.
    """

    actuator: str
    value: float
    weight: float = 1.0
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite("value", self.value))
        object.__setattr__(self, "weight", positive("weight", self.weight))

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Effort minus its wanted value."""
        i = model.robot.actuator_index(self.actuator)
        row = np.zeros((1, model.nu))
        row[0, i] = 1.0
        return TargetRows(
            effort[i : i + 1] - self.value, np.zeros((1, model.nv)), np.array([self.weight]), row,
            exact=self.exact, metre=1.0 / max(1.0, abs(self.value)),
        )  # fmt: skip


@dataclass(frozen=True)
class ContactForceTarget:
    """The sum of the normal contact forces should have a value.

    Attributes:
        value: wanted sum [N].
        obstacle: name of the obstacle whose contacts count; all if empty.
        weight: factor in the objective.
        exact: equality instead of objective.
    """

    value: float
    obstacle: str = ""
    weight: float = _NEWTON
    exact: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "value", finite("value", self.value))
        object.__setattr__(self, "weight", positive("weight", self.weight))

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any) -> TargetRows:
        """Total normal force minus its wanted value [N]."""
        total, row = normal_force(contacts, self.obstacle)
        return TargetRows(
            np.array([total - self.value]), np.zeros((1, model.nv)), np.array([self.weight]), None, row,
            exact=self.exact, metre=_NEWTON,
        )  # fmt: skip


def stacked(targets: Sequence[Target], model: Any, q: Array, effort: Array, contacts: Any) -> list[TargetRows]:
    """Rows of all targets at a configuration."""
    return [t.evaluate(model, q, effort, contacts) for t in targets]


def _dense(rows: Any) -> Array:
    return rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
