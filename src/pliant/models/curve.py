"""A body seen as a curve: its coordinates in a strain basis, and the generalised forces on them by virtual work.

The finer model (FEM) gives frames along an axis of the body. A virtual change of a strain coordinate moves its
sections rigidly, each with its frame; the same motion of all nodes moves the actuators, and

    G(q) = (d displacement / d x) (d x / d q)

is the generalised force per effort. It is exact for that virtual motion, because the finer state is an equilibrium:
whatever the joints or sections of the curve resist is what the actuators give, no regression in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant import lie
from pliant.bodies import Point, RodBody
from pliant.errors import ArgumentError
from pliant.materials import Linear
from pliant.models.basis import Basis
from pliant.models.modes import slice_frames
from pliant.models.rod import RodModel
from pliant.models.solid import SolidModel
from pliant.robot import Robot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Curve:
    """The axis of a body of a finer model, at stations.

    Attributes:
        model: the finer model.
        start, end: axis of the body in the rest pose [m].
        stations: frames along the axis.
    """

    model: SolidModel
    start: tuple[float, float, float]
    end: tuple[float, float, float]
    stations: int = 13

    @cached_property
    def length(self) -> float:
        """Of the axis [m]."""
        return float(np.linalg.norm(np.asarray(self.end, float) - np.asarray(self.start, float)))

    @cached_property
    def robot(self) -> Robot:
        """One rod of the body's length and mass, with a point at every station ("s0", "s1", ...) and at the "tip"."""
        model, n = self.model, self.stations
        mass = float(model.mass_total)
        axis = np.asarray(self.end, float) - np.asarray(self.start, float)
        rotation = lie.quaternion_from_matrix(self._rest[0][:3, :3])
        volume = mass / 1000.0
        radius = float(np.sqrt(volume / (np.pi * self.length)))
        body = RodBody(
            "curve", self.length, radius, Linear.from_young(1e5, 0.45, density=1000.0),
            position=self.start, rotation=tuple(rotation),
        )  # fmt: skip
        points = [
            Point(f"s{i}", as_vector(np.asarray(self.start) + axis * i / (n - 1)), rotation=tuple(rotation))
            for i in range(n)
        ]
        return Robot(f"{model.robot.name}_curve", (body,), points=(*points, Point("tip", self.end)), gravity=(0, 0, 0))

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the stations."""
        return tuple(f"s{i}" for i in range(self.stations))

    @cached_property
    def _rest(self) -> Array:
        return slice_frames(self.model, self.model.rest, self.start, self.end, stations=self.stations)

    @cached_property
    def _offsets(self) -> Array:
        """What takes the frames of the rest pose to the straight axis (n, 4, 4): ends are seen from one side only."""
        straight = np.tile(np.eye(4), (self.stations, 1, 1))
        straight[:, 0, 3] = np.linspace(0.0, self.length, self.stations)
        base = self._rest[0]
        return np.array([lie.inverse(lie.inverse(base) @ g) @ s for g, s in zip(self._rest, straight)])

    @property
    def base(self) -> Array:
        """Pose of the start of the axis at rest, x along it (4, 4)."""
        return lie.frame(self._rest[0][:3, :3], np.asarray(self.start, float))

    def frames(self, q: Array) -> Array:
        """Frames of a configuration, relative to the first, straight at rest (stations, 4, 4)."""
        g = slice_frames(self.model, q, self.start, self.end, stations=self.stations)
        return np.array([lie.inverse(g[0]) @ f @ o for f, o in zip(g, self._offsets)])

    def tip(self, frames: Array) -> Array:
        """Position of the tip in the world [m] (3,) of relative frames."""
        return (self.base @ frames[-1])[:3, 3]

    @cached_property
    def _along(self) -> tuple[Array, Array]:
        """Station below each node and the part of the way to the next."""
        X = self.model.positions(self.model.rest)
        axis = (np.asarray(self.end, float) - np.asarray(self.start, float)) / self.length
        s = np.clip((X - np.asarray(self.start, float)) @ axis / self.length, 0.0, 1.0) * (self.stations - 1)
        below = np.minimum(s.astype(int), self.stations - 2)
        return below, s - below

    def inputs(self, state: Any, rod: RodModel, q: Array) -> Array:
        """G at a state of the finer model, whose coordinates in the rod's basis are q (nv, nu)."""
        place = rod.locate(q, self.names, jacobian=True)
        assert place.jacobian is not None
        turn = place.jacobian[:, :3]
        # velocity of the point of the section that is at the origin: these can be interpolated
        shift = place.jacobian[:, 3:] + np.cross(place.position[:, :, None], turn, axisa=1, axisb=1, axisc=1)
        below, part = self._along
        w = part[:, None, None]
        omega = (1 - w) * turn[below] + w * turn[below + 1]
        x = self.model.positions(state.q)
        moved = (1 - w) * shift[below] + w * shift[below + 1] + np.cross(omega, x[:, :, None], 1, 1, axisc=1)
        lifted = _lift(self.model, state.q, x, moved.reshape(-1, rod.nv))
        return (self.model.displacement_rows(state.q) @ lifted).T


def strain_coordinates(curve: Curve, frames: Array, basis: Basis) -> Array:
    """Coordinates of a curve in a basis, least squares of the strains between its frames (nq,).

    Curvatures weigh with the length, so that a radian counts as a unit of stretch.
    """
    ds = curve.length / (curve.stations - 1)
    xi = np.array([lie.log(lie.inverse(a) @ b) for a, b in zip(frames[:-1], frames[1:])]) / ds
    xi = xi - np.array([0.0, 0.0, 0.0, 1.0, 0.0, 0.0])
    weight = np.array([curve.length] * 3 + [1.0] * 3)
    middle = (np.arange(curve.stations - 1) + 0.5) / (curve.stations - 1)
    table = segmented_table(basis, middle) * weight
    rows = np.moveaxis(table, 1, 2).reshape(-1, table.shape[1])
    return np.linalg.lstsq(rows, (xi * weight).ravel(), rcond=1e-10)[0]


def segmented_table(basis: Basis, s: Array) -> Array:
    """Phi at fractions s of the whole rod, all segments (len(s), size * segments, 6)."""
    n, size = basis.segments, basis.size
    out = np.zeros((len(s), n * size, 6))
    part = np.minimum((s * n).astype(int), n - 1)
    for i in range(n):
        inside = part == i
        if inside.any():
            out[inside, i * size : (i + 1) * size] = basis.table(s[inside] * n - i)
    return out


def held_out(count: int, share: float) -> Array:
    """Which of so many states are kept for the error: every so many, not the first (count,) bool."""
    if not 0.0 <= share < 1.0:
        raise ArgumentError("hold_out", f"{share}", "a share from 0 to below 1")
    held = np.zeros(count, bool)
    if share > 0:
        held[1 :: max(2, round(1.0 / share))] = True
    return held


def check_runs(model: SolidModel, states: Sequence[Any]) -> None:
    """Refuse runs from which nothing can be identified."""
    if len(states) < 4:
        raise ArgumentError("runs", f"{len(states)} states", "at least four")
    if np.any(np.abs(model.robot.gravity) > 0):
        raise ArgumentError("model", "has gravity", "the same robot with gravity=(0, 0, 0)")


def as_vector(x: ArrayLike) -> tuple[float, float, float]:
    """A point as three floats."""
    a, b, c = np.asarray(x, float)
    return float(a), float(b), float(c)


def _lift(model: SolidModel, q: Array, x: Array, moved: Array) -> Array:
    """Tangent vectors of the finer model whose nodes move as given, in the least-squares sense (nv, k)."""
    T = model.layout.tangent_map(q, x)
    right = T.T @ moved
    if not model.layout.parts:
        return right  # a selection of the free nodes
    from scipy.sparse.linalg import splu

    return splu((T.T @ T).tocsc()).solve(right)
