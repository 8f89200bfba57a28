"""Where things on rods are: named points and the skin, their Jacobians, and the stiffness of loads on the skin."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant import lie
from pliant._kernels import rod as _rod
from pliant._kernels import rod_handle as _handle
from pliant._kernels import rod_points as _pts
from pliant.bodies import Point, RodBody
from pliant.errors import UnknownNameError
from pliant.models.rod_drives import NO_MOMENT
from pliant.models.rod_tables import RodLayout, Station
from pliant.state import Skin

Array = np.ndarray


class RodPlaces:
    """Points on the rods of a layout; all methods take the flat coordinates (nv,) of its tables.

    Args:
        layout: the rods, cut into steps.
        points: named points; besides them "<rod>.tip" is the tip of every rod (and "tip" of a single one).
        ends: ends of capsules per rod along the curve, for the skin.
    """

    def __init__(self, layout: RodLayout, points: Sequence[Point], ends: int) -> None:
        self.layout = layout
        self._work = _rod.make_work(layout.tables)
        self._twists = np.zeros((len(layout.tables.comp), 6))
        self._stations, self._frames = _named(layout, points)
        self._located: dict[tuple[str, ...], Any] = {}
        self.skin, stations = _capsules(layout.bodies, ends)
        self._vertices = layout.points(stations)

    def __getstate__(self) -> dict[str, Any]:
        """Everything but the compiled handles, which are made again when needed."""
        return {**self.__dict__, "_located": {}}

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the points."""
        return tuple(self._stations)

    def locate(self, q: Array, names: tuple[str, ...], jacobian: bool) -> tuple[Array, Array, Array | None]:
        """Positions [m] (n, 3), rotations (n, 3, 3) and, on request, d(angular; linear)/dq (n, 6, nv)."""
        table, frames, handle = self._tables(names)
        x = np.empty((len(names), 3))
        jac = np.empty((len(names) if jacobian else 0, *self._twists.T.shape))
        _handle.locate(handle, q, x, jac, jacobian)
        return x, table.R @ frames, jac if jacobian else None

    def skin_points(self, q: Array, jacobian: bool) -> tuple[Array, Array]:
        """Positions of the skin's vertices [m] (n, 3) and, on request, d(angular; linear)/dq (n, 6, nv), else empty."""
        x = np.empty((self.skin.size, 3))
        jac = np.empty((self.skin.size if jacobian else 0, *self._twists.T.shape))
        _pts.locate_points(self.layout.tables, self._work, self._vertices, q, x, self._twists, jac, jacobian)
        return x, jac

    def load_stiffness(self, q: Array, forces: Array) -> Array:
        """-d/dq of the generalised force of forces (n, 3) [N] on the skin's vertices (nv, nv): exact."""
        t, w, c = self.layout.tables, self._work, self._vertices
        n = len(t.comp)
        x, H = np.empty((self.skin.size, 3)), np.zeros((n, n))
        _rod.kinematics(t, w, q)
        _pts.place_points(t, w, c, q, x)
        _pts.point_columns(t, c, q)
        for i in np.flatnonzero(np.any(forces != 0.0, axis=1)):
            force = np.ascontiguousarray(forces[i])
            _pts.load_tangent(t, w, c, q, i, x, force, NO_MOMENT, False, self._twists, H)
        return -0.5 * (H + H.T)

    def _tables(self, names: tuple[str, ...]) -> Any:
        if names not in self._located:
            for name in names:
                if name not in self._stations:
                    raise UnknownNameError("point", name, self._stations)
            frames = np.array([self._frames[k] for k in names]).reshape(len(names), 3, 3)
            table = self.layout.points([self._stations[k] for k in names])
            handle = _handle.place_handle(self.layout.tables, self._work, table, self._twists)
            self._located[names] = (table, frames, handle)
        return self._located[names]


def _named(layout: RodLayout, points: Sequence[Point]) -> tuple[dict[str, Station], dict[str, Array]]:
    """Station of each named point, and its axes in the section's (3, 3)."""
    stations: dict[str, Station] = {}
    frames: dict[str, Array] = {}
    for point in points:
        station = layout.nearest(point.position, point.body, point.name)
        rest = layout.rest_frame(station.body, station.s)[:3, :3]
        stations[point.name] = station
        frames[point.name] = rest.T @ lie.matrix_from_quaternion(point.rotation)
    for i, rod in enumerate(layout.bodies):
        for name in (f"{rod.name}.tip", *(("tip",) if len(layout.bodies) == 1 else ())):
            if name not in stations:
                stations[name], frames[name] = Station(i, rod.length), np.eye(3)
    return stations, frames


def _capsules(rods: Sequence[RodBody], ends: int) -> tuple[Skin, list[Station]]:
    """The skin, capsules along every rod, and the stations of its vertices."""
    stations: list[Station] = []
    radius: list[Array] = []
    segments: list[tuple[int, int]] = []
    for i, rod in enumerate(rods):
        s = np.linspace(0.0, rod.length, ends)
        first = len(stations)
        stations += [Station(i, float(v)) for v in s]
        radius.append(rod.radii(s)[0])
        segments += [(first + k, first + k + 1) for k in range(ends - 1)]
    skin = Skin(
        np.zeros((0, 3), np.int64),
        np.array(segments, np.int64),
        np.concatenate(radius),
        np.repeat(np.arange(len(rods)), ends),
    )
    return skin, stations
