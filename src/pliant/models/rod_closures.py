"""Closed loops of rods: the coordinates of `Closure`s with exact first and second derivatives.

A translation is c = e . (x_a - x_b). A rotation is the sine of the angle about an axis e of section b,

    c = sum_m g_m . a_m,   g_m = 1/2 R_b (e x e_m),   a_m = R_a Q^T e_m,

with Q the joined orientation of a in b: g turns with b, a with a, so that dc = (w_a - w_b) . tau, tau = sum a_m x g_m.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant import lie
from pliant._kernels.rod import RodWork
from pliant._kernels.rod_points import PointTables, load_tangent
from pliant.actuators import Closure
from pliant.models.rod_tables import RodLayout, Station

Array = np.ndarray
_NONE = np.zeros(3)


@dataclass(frozen=True, eq=False)
class _Row:
    """Actuator, points (b is -1 for the world), axis, and for rotations the frames at rest."""

    actuator: int
    a: int
    b: int
    axis: Array
    anchor: Array
    turn: bool
    joined: Array


class RodClosures:
    """The closures of a robot of rods."""

    def __init__(self, layout: RodLayout) -> None:
        self.layout = layout
        self._rows: list[_Row] = []
        self._seen: dict[tuple[Any, ...], int] = {}

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def actuators(self) -> list[int]:
        """Indices of the actuators that are closures."""
        return [row.actuator for row in self._rows]

    def add(self, closure: Closure, actuator: int, stations: list[Station]) -> None:
        """Take in a closure; its places are appended to the stations (once for all directions of a joint)."""
        layout = self.layout
        a = self._station(closure.point, closure.body, stations)
        b = self._station(closure.other_point, closure.other, stations) if closure.other else -1
        if closure.rotation is not None:
            joined = lie.matrix_from_quaternion(closure.rotation)
        else:
            first, second = stations[a], stations[b]
            joined = layout.rest_frame(first.body, first.s)[:3, :3]
            if b >= 0:
                joined = layout.rest_frame(second.body, second.s)[:3, :3].T @ joined
        axis, anchor = np.array(closure.axis), np.array(closure.other_point)
        self._rows.append(_Row(actuator, a, b, axis, anchor, closure.turn, joined))

    def _station(self, point: Any, body: str, stations: list[Station]) -> int:
        key = (tuple(point), body)
        if key not in self._seen:
            self._seen[key] = len(stations)
            stations.append(self.layout.nearest(point, body, "closure"))
        return self._seen[key]

    def evaluate(self, points: PointTables, x: Array, jac: Array, value: Array, rows: Array) -> None:
        """Adds displacements to value (nu,) and their derivatives to rows (nu, n)."""
        for row in self._rows:
            i = row.actuator
            if row.turn:
                a, g = self._axes(row, points)
                value[i] += float(np.sum(a * g))
                tau = np.cross(a, g).sum(axis=0)
                rows[i] += tau @ jac[row.a, :3]
                if row.b >= 0:
                    rows[i] -= tau @ jac[row.b, :3]
                continue
            value[i] += float(row.axis @ x[row.a])
            rows[i] += row.axis @ jac[row.a, 3:]
            if row.b < 0:
                value[i] -= float(row.axis @ row.anchor)
            else:
                value[i] -= float(row.axis @ x[row.b])
                rows[i] -= row.axis @ jac[row.b, 3:]

    def add_hessian(
        self, t: Any, work: RodWork, points: PointTables, q: Array, x: Array, jac: Array, effort: Array, H: Array
    ) -> None:
        """Adds sum effort d^2 displacement / dq^2 to H (n, n); call `evaluate` first."""
        twists = np.zeros((H.shape[0], 6))
        for row in self._rows:
            e = float(effort[row.actuator])
            if e == 0.0:
                continue
            force, moment = e * row.axis, _NONE
            if row.turn:
                a, g = self._axes(row, points)
                force, moment = _NONE, e * np.cross(a, g).sum(axis=0)
                # hat(g) hat(a) summed: how tau changes as section a turns
                P = np.einsum("mi,mj->ij", a, g) - np.sum(a * g) * np.eye(3)
                Ja = jac[row.a, :3]
                Jb = jac[row.b, :3] if row.b >= 0 else np.zeros_like(Ja)
                H += e * ((Ja - Jb).T @ (P @ Ja - P.T @ Jb))
            load_tangent(t, work, points, q, row.a, x, force, moment, False, twists, H)
            if row.b >= 0:
                load_tangent(t, work, points, q, row.b, x, -force, -moment, False, twists, H)

    def _axes(self, row: _Row, points: PointTables) -> tuple[Array, Array]:
        """a (3, 3) and g (3, 3), one vector per row, in world axes."""
        a = (points.R[row.a] @ row.joined.T).T
        other = points.R[row.b] if row.b >= 0 else np.eye(3)
        g = 0.5 * (other @ np.cross(row.axis, np.eye(3)).T).T
        return a, g
