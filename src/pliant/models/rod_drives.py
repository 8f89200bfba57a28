"""How actuators act on rods: tendons, pressure channels, point forces, loads, slides, closures of loops.

Every actuator is a coordinate d(q) with exact first and second derivatives. Between via points on the body a
tendon runs in a channel of the material (straight in material coordinates); towards points fixed in the world
it runs straight through the air.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant._kernels.rod import RodWork
from pliant._kernels.rod_points import load_tangent, place_points, point_columns, point_jacobians
from pliant._kernels.rod_threads import thread_hessian, thread_values
from pliant.actuators import Actuator, Cable, Chamber, Closure, LineLoad, PointForce, Slide, Wrench
from pliant.actuators.actuator import check_points
from pliant.checks import instance, non_negative, positive
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.rod_closures import RodClosures
from pliant.models.rod_friction import RodFriction
from pliant.models.rod_tables import RodLayout, Station

Array = np.ndarray
NO_MOMENT = np.zeros(3)


@dataclass(frozen=True)
class ChamberPath:
    """The channel of a pressure chamber along a rod.

    Attributes:
        points: centreline of the channel in the rest pose, in world axes [m] (n, 3).
        area: cross-section of the channel [m^2].
    """

    points: tuple[tuple[float, float, float], ...]
    area: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "points", check_points("points", self.points))
        if len(self.points) < 2:
            raise ArgumentError("points", "a channel needs a length", "at least two points")
        object.__setattr__(self, "area", positive("area", self.area))


@dataclass(frozen=True)
class Fluid:
    """A fluid at rest around the rods; its drag is quadratic in the velocity.

    Attributes:
        density: density [kg/m^3]; water 1000.
        across: drag coefficient for flow across the rod, on its diameter [-] (0.5 to 1).
        along: friction coefficient for flow along the rod, on its circumference [-] (about 0.01).
    """

    density: float = 1000.0
    across: float = 1.0
    along: float = 0.01

    def __post_init__(self) -> None:
        for field in ("density", "across", "along"):
            object.__setattr__(self, field, non_negative(field, getattr(self, field)))


class RodDrives:
    """The actuators of a robot of rods, as coordinates with derivatives."""

    def __init__(
        self, layout: RodLayout, actuators: Sequence[Actuator], chambers: Mapping[str, ChamberPath]
    ) -> None:
        named = [a.name for a in actuators if isinstance(a, Chamber)]
        for name, channel in instance("chambers", chambers, Mapping).items():
            if name not in named:
                raise UnknownNameError("chamber", name, named)
            instance(f"chambers[{name!r}]", channel, ChamberPath)
        self.layout, self.n, self.channels = layout, len(actuators), dict(chambers)
        paths: list[tuple[Sequence[Station], float]] = []
        stations: list[Station] = []
        self._links: list[tuple[int, int, Array]] = []  # actuator, point, anchor in the world
        self._pushes: list[tuple[int, int, Array]] = []  # actuator, point, direction
        # actuator, point, force, moment, and whether they are in the section's axes and turn with it
        self._loads: list[tuple[int, int, Array, Array, bool]] = []
        self._slides: list[tuple[int, int, Array]] = []  # actuator, first coordinate, its row
        self._closures = RodClosures(layout)
        self._rough: list[tuple[int, RodFriction]] = []  # cables with friction
        self.thread_of: list[int] = []  # actuator of each thread
        for a, actuator in enumerate(actuators):
            if isinstance(actuator, Cable):
                if actuator.friction:
                    via = [layout.nearest(x, actuator.body, actuator.name) for x in actuator.points]
                    self._rough.append((a, RodFriction(layout, actuator, via)))
                for run in self._cable(actuator, a, stations):
                    paths.append((run, -1.0))
                    self.thread_of.append(a)
            elif isinstance(actuator, Chamber):
                if actuator.name not in chambers:
                    raise ArgumentError("chambers", f"no channel for {actuator.name!r}", "one ChamberPath per Chamber")
                if actuator.fluid_density:
                    raise ArgumentError(f"{actuator.name}.fluid_density", "not modelled on rods", "0")
                path = chambers[actuator.name]
                run = [layout.nearest(x, actuator.body, actuator.name) for x in path.points]
                paths.append((run, path.area))
                self.thread_of.append(a)
            elif isinstance(actuator, PointForce):
                self._pushes.append((a, len(stations), np.array(actuator.direction)))
                stations.append(layout.nearest(actuator.point, actuator.body, actuator.name))
            elif isinstance(actuator, Wrench | LineLoad):
                self._load(actuator, a, stations)
            elif isinstance(actuator, Slide):
                self._slide(actuator, a)
            elif isinstance(actuator, Closure):
                self._closures.add(actuator, a, stations)
            else:
                kinds = "Cable, Chamber, PointForce, Wrench, LineLoad, Slide, Closure"
                raise ArgumentError("actuators", f"{actuator.name!r} ({actuator.kind}) does not act on rods", kinds)
        self.threads = layout.threads(paths)
        self.points = layout.points(stations)
        n = len(layout.tables.comp)
        self._x = np.zeros((len(stations), 3))
        self._jac = np.zeros((len(stations), 6, n))
        self._twists = np.zeros((n, 6))
        self._value = np.zeros(len(paths))
        self._grad = np.zeros((len(paths), n))
        self.zero = np.zeros(self.n)  # rest values, set by `calibrate`
        self.thread_index = np.array(self.thread_of, np.int64)
        self.scratch = (np.zeros(len(paths)), np.zeros((len(paths), n)))
        self.embedded = not (stations or self._slides or self._rough)
        """True if all actuators are frictionless threads inside the body."""

    @property
    def pointed(self) -> bool:
        """True if some actuator needs the kinematics (not only the strains)."""
        return len(self.points.seg) > 0

    def _cable(self, cable: Cable, a: int, stations: list[Station]) -> list[list[Station]]:
        if cable.tube_stiffness:
            raise ArgumentError(f"{cable.name}.tube_stiffness", "not modelled on rods", "0")
        path: list[tuple[bool, Array]] = [(i in cable.world, np.array(x)) for i, x in enumerate(cable.points)]
        if cable.pull_point is not None:
            path.insert(0, (True, np.array(cable.pull_point)))
        runs: list[list[Station]] = []
        before: tuple[bool, Array | Station] | None = None
        for fixed, x in path:
            here: Array | Station = x if fixed else self.layout.nearest(tuple(x), cable.body, cable.name)
            if before is not None and fixed != before[0]:
                anchor = here if fixed else before[1]
                station = before[1] if fixed else here
                assert isinstance(anchor, np.ndarray)
                assert isinstance(station, Station)
                self._links.append((a, len(stations), anchor))
                stations.append(station)
            if not fixed:
                assert isinstance(here, Station)
                if before is None or before[0]:
                    runs.append([])
                runs[-1].append(here)
            before = (fixed, here)
        return [run for run in runs if len(run) > 1]

    def _load(self, load: Wrench | LineLoad, a: int, stations: list[Station]) -> None:
        layout = self.layout
        force, moment = np.array(load.force), np.array(load.moment)
        if isinstance(load, Wrench):
            at = layout.nearest(load.point, load.body, load.name)
            if load.follower:
                R = layout.rest_frame(at.body, at.s)[:3, :3]
                force, moment = R.T @ force, R.T @ moment
            self._loads.append((a, len(stations), force, moment, load.follower))
            stations.append(at)
            return
        names = [b.name for b in layout.bodies]
        if not load.body and len(names) > 1:
            raise ArgumentError(f"{load.name}.body", "not given", f"one of {names}")
        body = names.index(load.body) if load.body else 0
        for piece in layout.pieces:
            if piece.body == body:
                for s, w in zip(piece.nodes, piece.weights):
                    if w > 0.0:
                        self._loads.append((a, len(stations), w * force, w * moment, load.follower))
                        stations.append(Station(body, float(s)))

    def _slide(self, slide: Slide, a: int) -> None:
        bodies, t = self.layout.bodies, self.layout.tables
        i = [b.name for b in bodies].index(slide.part)
        if not bodies[i].axes:
            raise ArgumentError(f"{slide.name}.part", f"the base of {slide.part!r} is held", "a rod with axes")
        row = np.array(bodies[i].axes) @ np.array(slide.axis)
        if np.linalg.norm(row) < 1e-9:
            raise ArgumentError(f"{slide.name}.axis", "the base cannot move along it", f"along {bodies[i].axes}")
        k = self.layout.piece_at(i, 0.0) - 1 - int(bodies[i].rotates)
        self._slides.append((a, int(t.dof0[k]), row))

    def _world(self, i: int, force: Array, moment: Array, follower: bool) -> tuple[Array, Array]:
        if not follower:
            return force, moment
        R = self.points.R[i]
        return R @ force, R @ moment

    def calibrate(self, work: RodWork, q: Array) -> None:
        """Takes the values at the rest configuration as zero (not of closures); needs the kinematics at q."""
        self.zero = np.zeros(self.n)
        self.zero = self.evaluate(work, q)[0]
        self.zero[self._closures.actuators] = 0.0

    def evaluate(self, work: RodWork, q: Array) -> tuple[Array, Array]:
        """Displacements (nu,) and their rows (nu, n); needs the kinematics at q if `pointed`."""
        t = self.layout.tables
        value, rows = -self.zero, np.zeros((self.n, len(t.comp)))
        if len(self._value):
            thread_values(t, self.threads, q, self._value, self._grad)
            for i, a in enumerate(self.thread_of):
                value[a] += self._value[i]
                rows[a] += self._grad[i]
        if self.pointed:
            place_points(t, work, self.points, q, self._x)
            point_columns(t, self.points, q)
            point_jacobians(t, work, self.points, self._x, self._twists, self._jac)
            for a, i, anchor in self._links:
                d = self._x[i] - anchor
                length = float(np.linalg.norm(d))
                value[a] -= length
                rows[a] -= (d / length) @ self._jac[i, 3:]
            for a, i, direction in self._pushes:
                value[a] += float(direction @ self._x[i])
                rows[a] += direction @ self._jac[i, 3:]
            self._closures.evaluate(self.points, self._x, self._jac, value, rows)
        for a, d0, row in self._slides:
            value[a] += float(row @ q[d0 : d0 + len(row)])
            rows[a, d0 : d0 + len(row)] += row
        return value, rows

    @property
    def sliding(self) -> bool:
        """True if some actuator moves a base."""
        return bool(self._slides)

    @property
    def rough(self) -> bool:
        """True if some cable has friction."""
        return bool(self._rough)

    @property
    def loaded(self) -> bool:
        """True if some force is not effort times the gradient of a displacement: loads, cables with friction."""
        return bool(self._loads or self._rough)

    def add_loads(self, q: Array, rows: Array) -> None:
        """Adds to rows (nu, n) what is not the gradient of a displacement, per unit effort; call `evaluate` first."""
        for a, cable in self._rough:
            rows[a] += cable.column(q)
        for a, i, own_force, own_moment, follower in self._loads:
            force, moment = self._world(i, own_force, own_moment, follower)
            rows[a] += force @ self._jac[i, 3:] + moment @ self._jac[i, :3]

    def add_hessian(self, work: RodWork, q: Array, effort: Array, H: Array) -> None:
        """Adds sum effort d^2 displacement / dq^2 to H (n, n); call `evaluate` first."""
        t = self.layout.tables
        if len(self._value):
            thread_hessian(t, self.threads, q, np.ascontiguousarray(effort[self.thread_of]), H)
        for a, i, anchor in self._links:
            if effort[a] == 0.0:
                continue
            d = self._x[i] - anchor
            length = float(np.linalg.norm(d))
            d = d / length
            J = self._jac[i, 3:]
            across = J - np.outer(d, d @ J)
            H -= (effort[a] / length) * (J.T @ across)
            load_tangent(t, work, self.points, q, i, self._x, -effort[a] * d, NO_MOMENT, False, self._twists, H)
        for a, i, direction in self._pushes:
            if effort[a] != 0.0:
                force = effort[a] * direction
                load_tangent(t, work, self.points, q, i, self._x, force, NO_MOMENT, False, self._twists, H)
        for a, i, own_force, own_moment, follower in self._loads:
            if effort[a] != 0.0:
                force, moment = self._world(i, own_force, own_moment, follower)
                load_tangent(
                    t, work, self.points, q, i, self._x, effort[a] * force, effort[a] * moment, follower,
                    self._twists, H,
                )  # fmt: skip
        if len(self._closures):
            self._closures.add_hessian(t, work, self.points, q, self._x, self._jac, effort, H)
        for a, cable in self._rough:
            if effort[a] != 0.0:
                cable.add_hessian(q, float(effort[a]), H)
