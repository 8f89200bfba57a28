"""KinematicModel: a map from actuation to points, behind the contract of a mechanical model.

The command is the configuration: q = scale * u, with a fictitious spring of 1 N/m per actuator. For an actuator
driven by effort the spring turns the effort into the configuration; for one driven by displacement the
configuration is the displacement. The scale makes q a length of the robot's size, so that the solvers' tolerances
mean what they say. So `equilibrium(model, u)`, `invert`, control and viewer take such a model unchanged. Efforts of
actuators driven by displacement (and displacements of those driven by effort) are those of the fictitious spring:
they mean nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant import checks
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.sizes import Flat
from pliant.robot import Robot
from pliant.state import Placement, Skin

Array = np.ndarray


class KinematicModel(Flat):
    """Base of learned and analytical models; a subclass gives `kinematics` (and, to be fast,
    `kinematics_many`).

    Args:
        robot: its actuators name the commands, its points name the outputs.
        ranges: commanded range of each actuator (nu, 2).
        length: size of the robot [m].
        base: where the robot is held [m].
    """

    forceless = True  # read by viewer and shell: only the commanded quantity means something

    def __init__(self, robot: Robot, ranges: Array, *, length: float, base: Array | None = None) -> None:
        self.robot = robot
        self.ranges = check_ranges(robot, ranges)
        if not (np.isfinite(length) and length > 0):
            raise ArgumentError("length", f"{length}", "a positive number [m]")
        self.length = float(length)
        self.base = np.zeros(3) if base is None else np.asarray(base, float)
        self.scale = self.length / np.maximum(np.abs(self.ranges).max(axis=1), 1e-300)
        driven = np.array([a.drive == "displacement" for a in robot.actuators], dtype=bool)
        self._lever = np.where(driven, 1.0 / self.scale, self.scale)  # d displacement / d q
        self._rest = np.zeros(self.nu)
        self._rest.setflags(write=False)
        self._names = tuple(p.name for p in robot.points)

    # ---- what a subclass gives ---------------------------------------------------------------------
    def kinematics(self, u: Array, *, derivative: bool) -> tuple[Array, Array, Array | None]:
        """Positions [m] (p, 3), rotations (p, 3, 3) and d(angular; linear)/du (p, 6, nu) of all points."""
        raise NotImplementedError

    def kinematics_many(self, u: Array) -> tuple[Array, Array, Array]:
        """The same with derivatives at many commands (k, nu): (k, p, 3), (k, p, 3, 3), (k, p, 6, nu)."""
        rows = [self.kinematics(x, derivative=True) for x in u]
        return tuple(np.array([r[i] for r in rows]) for i in range(3))  # type: ignore[return-value]

    # ---- names and commands ------------------------------------------------------------------------
    @property
    def point_names(self) -> tuple[str, ...]:
        """Names that `locate` knows."""
        return self._names

    def command(self, q: Any) -> Array:
        """The command u that belongs to a configuration or state (nu,)."""
        return checks.configuration(self, q) / self.scale

    # ---- the fictitious mechanics ------------------------------------------------------------------
    def energy(self, q: Array, effort: Array) -> float:
        """Energy of the fictitious springs, actuators included [J]."""
        return 0.5 * float(q @ q) - float(np.asarray(effort) @ self.displacement(q))

    def force(self, q: Array, effort: Array) -> Array:
        """-d energy / d q (nv,)."""
        return self._lever * np.asarray(effort, float) - q

    def stiffness(self, q: Array, effort: Array) -> Array:
        """Identity (nv, nv)."""
        return np.eye(self.nv)

    def actuation(self, q: Array, effort: Array) -> Array:
        """d force / d effort (nv, nu)."""
        return np.diag(self._lever)

    def displacement(self, q: Array) -> Array:
        """Actuator coordinates (nu,)."""
        return self._lever * np.asarray(q, float)

    def displacement_rows(self, q: Array) -> Array:
        """d displacement / d q (nu, nv)."""
        return np.diag(self._lever)

    def retract(self, q: Array, dq: Array) -> Array:
        """q + dq."""
        return np.asarray(q, float) + dq

    def inertia(self, q: Array) -> Array:
        """A mass that follows within a millisecond (nv, nv)."""
        return 1e-6 * np.eye(self.nv)

    def bias(self, q: Array, v: Array) -> Array:
        """Zero (nv,)."""
        return np.zeros(self.nv)

    def damping(self, q: Array, effort: Array) -> Array:
        """Critical damping of the fictitious springs (nv, nv)."""
        return 2e-3 * np.eye(self.nv)

    # ---- where things are --------------------------------------------------------------------------
    def locate(self, q: Any, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Positions, orientations and Jacobians of named points; q may be a State."""
        place = self.place(self.command(q), points, jacobian=jacobian)
        if place.jacobian is None:
            return place
        return Placement(place.names, place.position, place.rotation, place.jacobian / self.scale)

    def place(self, u: Array, points: str | Sequence[str], *, jacobian: bool = False) -> Placement:
        """Where named points are for a command u; the Jacobian is d(angular; linear)/du (n, 6, nu)."""
        u = np.asarray(u, float)
        if u.shape != (self.nu,):
            raise ArgumentError("u", f"shape {u.shape}", f"({self.nu},)")
        names = checks.name_list("points", points)
        rows = [self._index(n) for n in names]
        x, R, J = self.kinematics(u, derivative=jacobian)
        Jp = None if J is None or not jacobian else J[rows]
        if isinstance(points, str):
            return Placement(names, x[rows[0]], R[rows[0]], None if Jp is None else Jp[0])
        return Placement(names, x[rows], R[rows], Jp)

    def _index(self, name: str) -> int:
        try:
            return self._names.index(name)
        except ValueError:
            raise UnknownNameError("point", name, self._names) from None

    def centre_of_mass(self, q: Array) -> tuple[Array, Array]:
        """Mean of the skin's vertices [m] (3,) and its derivative (3, nv): the mass is not known."""
        x, J = self._skin_both(np.asarray(q, float))
        return x.mean(axis=0), J.mean(axis=0)

    # ---- the surface: a line from the base through the points, unless a subclass knows the shape -------
    @property
    def skin(self) -> Skin:
        """Capsules from the base through the points."""
        n = len(self._names) + 1
        segments = np.stack([np.arange(n - 1), np.arange(1, n)], axis=1)
        return Skin(np.zeros((0, 3), np.int64), segments, np.full(n, 0.05 * self.length), np.zeros(n, np.int64))

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        x, _, _ = self.kinematics(self.command(q), derivative=False)
        return np.concatenate([self.base[None], x])

    def _skin_both(self, q: Array) -> tuple[Array, Array]:
        """Skin positions (n, 3) and their derivatives (n, 3, nv)."""
        x, _, J = self.kinematics(self.command(q), derivative=True)
        assert J is not None
        rows = np.concatenate([np.zeros((1, 3, self.nv)), J[:, 3:] / self.scale])
        return np.concatenate([self.base[None], x]), rows

    def skin_rows(self, q: Array, vertices: Array, weights: Array, directions: Array) -> Array:
        """d/dq of sum_k weights[i,k] directions[i] . x[vertices[i,k]], dense (m, nv)."""
        J = self._skin_both(np.asarray(q, float))[1]
        return np.einsum("ik,ic,ikcn->in", weights, directions, J[np.asarray(vertices)], optimize=True)


def check_ranges(robot: Any, ranges: Any) -> Array:
    """Ranges (nu, 2) from an array or a mapping of actuator names; `ArgumentError` if they are not usable."""
    names = robot.actuator_names
    if hasattr(ranges, "items"):
        for name in ranges:
            robot.actuator_index(name)
        missing = [n for n in names if n not in ranges]
        if missing:
            raise ArgumentError("ranges", f"nothing for {', '.join(missing)}", "(low, high) for every actuator")
        ranges = [ranges[n] for n in names]
    try:
        out = np.array(ranges, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError("ranges", "not numbers", "(low, high) for every actuator") from None
    if out.shape != (len(names), 2):
        raise ArgumentError("ranges", f"shape {out.shape}", f"({len(names)}, 2)")
    bad = ~(np.isfinite(out).all(axis=1) & (out[:, 0] < out[:, 1]))
    if bad.any():
        i = int(np.argmax(bad))
        raise ArgumentError(f"ranges[{names[i]!r}]", f"({out[i, 0]}, {out[i, 1]})", "finite, low < high")
    return out
