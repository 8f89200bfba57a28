"""LearnedModel: kinematics learned from samples of any other model, behind the contract of a mechanical
model.

Evaluated by compiled code, without torch. Saved as one .npz file of plain arrays and a JSON header:
nothing in it can execute, and anything that reads numpy files can read it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from pliant.actuators.actuator import Actuator
from pliant.bodies import Point, RodBody
from pliant.errors import ArgumentError, FileError, PliantError, UnknownNameError
from pliant.models.correction import Correction
from pliant.models.kinematic import KinematicModel
from pliant.models.network import Network
from pliant.robot import Robot
from pliant.state import Skin, State, Status

Array = np.ndarray


@dataclass(frozen=True, kw_only=True)
class LearnedActuator(Actuator):
    """What a learned model knows of an actuator: its name, drive, unit and the range it was learned on."""

    kind: ClassVar[str] = "learned"
    measured_in: str = ""

    @property
    def unit(self) -> str:
        """Unit of the commanded quantity."""
        return self.measured_in or super().unit


@dataclass(frozen=True, eq=False)
class Shape:
    """A whole shape: x = mean + sum_k z_k(u) basis_k, for the vertices of a skin.

    Attributes:
        mean: mean positions [m] (n, 3).
        basis: modes (r, n, 3).
        network: u -> z (r,).
        triangles, segments, radius: the skin.
    """

    mean: Array
    basis: Array
    network: Network
    triangles: Array
    segments: Array
    radius: Array

    def __post_init__(self) -> None:
        n, r = len(self.mean), len(self.basis)
        ok = self.mean.shape == (n, 3) and self.basis.shape == (r, n, 3) and self.network.outputs == r
        ok = ok and self.radius.shape == (n,) and self.triangles.ndim == self.segments.ndim == 2
        if not ok:
            raise ArgumentError("shape", "the sizes do not fit together", "mean (n, 3), basis (r, n, 3)")
        for f in ("triangles", "segments"):
            index = np.asarray(getattr(self, f)).astype(np.int64)
            if index.size and (index.min() < 0 or index.max() >= n):
                raise ArgumentError(f"shape.{f}", "an index outside of the vertices", f"0 to {n - 1}")
            object.__setattr__(self, f, index)


@dataclass(frozen=True, eq=False)
class Knowledge:
    """What a learned model consists of (all plain data).

    Attributes:
        robot: name of the robot.
        actuators: per actuator a mapping with name, drive and unit.
        ranges: commands that it was learned on (nu, 2).
        points: names of the points.
        kinematics: u -> positions of all points [m], then (with frames) two axes of each frame.
        frames: whether orientations were learned.
        rest: positions of the points at u = 0 [m] (p, 3).
        base: where the robot is held [m].
        samples: inputs that it was learned on, thinned out (k, nu).
        jacobian: network of its own for d position / du, flattened (p, 3, nu), or None.
        shape: the whole shape, or None.
        corrections: point -> correction to reality.
        facts: errors, workspace width, sizes, provenance: anything that JSON holds.
    """

    robot: str
    actuators: tuple[Mapping[str, str], ...]
    ranges: Array
    points: tuple[str, ...]
    kinematics: Network
    frames: bool
    rest: Array
    base: Array
    samples: Array
    jacobian: Network | None = None
    shape: Shape | None = None
    corrections: Mapping[str, Correction] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        m, p = len(self.actuators), len(self.points)
        problems = []
        if np.shape(self.ranges) != (m, 2):
            problems.append(("ranges", f"({m}, 2)"))
        if self.kinematics.inputs != m or self.kinematics.outputs != p * (9 if self.frames else 3):
            problems.append(("kinematics", f"{m} inputs and {p * (9 if self.frames else 3)} outputs"))
        if np.shape(self.rest) != (p, 3) or np.shape(self.base) != (3,):
            problems.append(("rest", f"({p}, 3) and base (3,)"))
        if np.ndim(self.samples) != 2 or np.shape(self.samples)[1] != m or len(self.samples) < 1:
            problems.append(("samples", f"(k, {m})"))
        if self.jacobian is not None and (self.jacobian.inputs, self.jacobian.outputs) != (m, 3 * p * m):
            problems.append(("jacobian", f"{m} inputs and {3 * p * m} outputs"))
        if self.shape is not None and self.shape.network.inputs != m:
            problems.append(("shape", f"{m} inputs"))
        for name, c in self.corrections.items():
            if name not in self.points or len(c.low) != 3 + (m if c.use_u else 0) + len(c.load):
                problems.append(("corrections", "one per point, with matching inputs"))
        if problems:
            raise ArgumentError(problems[0][0], "the sizes do not fit together", problems[0][1])
        for f in ("ranges", "rest", "base", "samples"):
            if not np.isfinite(np.asarray(getattr(self, f), float)).all():
                raise ArgumentError(f, "not finite", "finite numbers")


class LearnedModel(KinematicModel):
    """A learned map from actuation to points, frames and (optionally) the whole shape.

    Made by `pliant.learn.fit`, refined by `pliant.learn.transfer`. Its actuators are limited to the range
    that it was learned on, so that `invert` stays there.

    Args:
        knowledge: the networks, and what they were learned on.
    """

    def __init__(self, knowledge: Knowledge) -> None:
        self.knowledge = knowledge
        k = knowledge
        reach = np.concatenate([k.rest, k.base[None]])
        length = float(max(np.linalg.norm(np.ptp(reach, axis=0)), k.facts.get("width", 0.0), 1e-6))
        super().__init__(_stand_in(k, length), k.ranges, length=length, base=k.base)
        self._position = 3 * len(k.points)
        self._offset = {name: 3 * i for i, name in enumerate(k.points)}

    def __repr__(self) -> str:
        k = self.knowledge
        corrected = f", corrected: {', '.join(k.corrections)}" if k.corrections else ""
        return f"LearnedModel({k.robot!r}, {self.nu} actuators, layers {k.kinematics.sizes}{corrected})"

    # ---- what was learned ----------------------------------------------------------------------------
    @property
    def width(self) -> float:
        """Width of the workspace that it was learned on [m]: largest extent of the first point."""
        return float(self.knowledge.facts.get("width", self.length))

    @property
    def facts(self) -> Mapping[str, Any]:
        """Errors on held-out samples, training and provenance."""
        return self.knowledge.facts

    def but(self, **changes: Any) -> LearnedModel:
        """A copy with other knowledge (jacobian, shape, corrections, facts, ...)."""
        return LearnedModel(replace(self.knowledge, **changes))

    def without_correction(self) -> LearnedModel:
        """The model as learned in simulation."""
        return self.but(corrections={})

    def with_load(self, load: Any) -> LearnedModel:
        """The model under another load, if its corrections were learned with loads."""
        return self.but(corrections={n: c.with_load(load) for n, c in self.knowledge.corrections.items()})

    def kinematics(self, u: Array, *, derivative: bool) -> tuple[Array, Array, Array | None]:
        """Positions (p, 3), rotations (p, 3, 3) and d(angular; linear)/du (p, 6, nu) of all points."""
        k, p = self.knowledge, len(self._names)
        y, J = k.kinematics.both(u) if derivative else (k.kinematics(u), None)
        x = y[: self._position].reshape(p, 3).copy()
        R, spin = _frames(y, J, self._position, p, k.frames, self.nu)
        jac = None
        if J is not None:
            jac = np.concatenate([spin, J[: self._position].reshape(p, 3, self.nu)], axis=1)
        for name in k.corrections:
            i = self._names.index(name)
            x[i], Jc = self.position(u, name, derivative=derivative)
            if jac is not None:
                jac[i, 3:] = Jc
        return x, R, jac

    def position(self, u: Array, point: str, *, derivative: bool = False) -> tuple[Array, Array | None]:
        """Corrected position (k, 3) of one point and its derivative (k, 3, nu); without k for one command."""
        from pliant._kernels.network_chain import chain_many

        u = np.asarray(u, float)
        single = u.ndim == 1
        p, J = chain_many(self.chain(point), np.ascontiguousarray(np.atleast_2d(u)), derivative, False)
        if single:
            return p[0], J[0] if derivative else None
        return p, J if derivative else None

    def chain(self, point: str) -> Any:
        """The compiled map of one point (see `_kernels.network_chain.Chain`)."""
        cache: dict[str, Any] = self.__dict__.setdefault("_chains", {})
        if point not in cache:
            cache[point] = _chain(self.knowledge, point, self._offset.get(point))
        return cache[point]

    # ---- how far it can be trusted -------------------------------------------------------------------
    @cached_property
    def _tree(self) -> tuple[Any, float]:
        from scipy.spatial import cKDTree

        scaled = self._scaled(self.knowledge.samples)
        tree = cKDTree(scaled)
        k = min(len(scaled), 2)
        near = tree.query(scaled, k=k)[0]
        spacing = float(np.quantile(near[:, -1], 0.95)) if k == 2 else 1.0
        return tree, max(spacing, 1e-3)

    def _scaled(self, u: Array) -> Array:
        return (np.atleast_2d(u) - self.ranges.mean(axis=1)) / (0.5 * np.ptp(self.ranges, axis=1))

    def trust(self, u: Array) -> Array:
        """How far commands are from what was learned, in spacings of the samples (k,); far is above 1.5."""
        tree, spacing = self._tree
        return tree.query(self._scaled(u))[0] / spacing

    def uncertainty(self, u: Array, point: str) -> Array:
        """Disagreement of the ensemble about a point's position [m] (k,); zero for a single network."""
        i = self._offset[point] if point in self._offset else self._index(point)
        return np.linalg.norm(self.knowledge.kinematics.spread(np.atleast_2d(u))[:, i : i + 3], axis=1)

    def extrapolates(self, u: Array) -> tuple[str, ...]:
        """Sentences about what lies outside of what was learned or measured; empty if nothing does."""
        u = np.atleast_1d(np.asarray(u, float))
        notes = []
        slack = 1e-6 * np.ptp(self.ranges, axis=1)
        outside = (u < self.ranges[:, 0] - slack) | (u > self.ranges[:, 1] + slack)
        if outside.any():
            names = ", ".join(np.array(self.robot.actuator_names)[outside])
            notes.append(f"outside of the learned range: {names}")
        elif float(self.trust(u)[0]) > 1.5:
            notes.append(f"{float(self.trust(u)[0]):.1f} sample spacings from the nearest learned command")
        for name, c in self.knowledge.corrections.items():
            i = self._offset[name]
            z = c.inputs(self.knowledge.kinematics(u)[None, i : i + 3], u[None])[0]
            margin = 0.1 * (c.high - c.low) + 1e-9
            if ((z < c.low - margin) | (z > c.high + margin)).any():
                notes.append(f"outside of where {name!r} was measured")
        return tuple(notes)

    def flag(self, state: State) -> State:
        """The state, with status EXTRAPOLATED and notes if it lies outside of what was learned."""
        notes = self.extrapolates(self.command(state))
        return state.but(status=Status.EXTRAPOLATED, notes=(*state.notes, *notes)) if notes else state

    # ---- the whole shape -------------------------------------------------------------------------------
    @property
    def skin(self) -> Skin:
        """The learned whole shape, or a line from the base through the points."""
        s = self.knowledge.shape
        if s is None:
            return super().skin
        return Skin(s.triangles, s.segments, s.radius, np.zeros(len(s.mean), np.int64))

    def skin_positions(self, q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3)."""
        s = self.knowledge.shape
        if s is None:
            return super().skin_positions(q)
        return s.mean + np.tensordot(s.network(self.command(q)), s.basis, axes=1)

    def _skin_both(self, q: Array) -> tuple[Array, Array]:
        s = self.knowledge.shape
        if s is None:
            return super()._skin_both(q)
        z, J = s.network.both(self.command(q))
        return s.mean + np.tensordot(z, s.basis, axes=1), np.einsum("rnc,ru->ncu", s.basis, J / self.scale)

    # ---- files -----------------------------------------------------------------------------------------
    def save(self, path: str | Path) -> Path:
        """Write everything to one file (atomically); returns its path."""
        from pliant.models.learned_file import save_learned

        return save_learned(self.knowledge, Path(path))

    @staticmethod
    def load(path: str | Path) -> LearnedModel:
        """Read a model; a broken or hostile file is refused with `FileError`, nothing in it is executed."""
        from pliant.models.learned_file import load_learned

        knowledge = load_learned(Path(path))
        try:
            return LearnedModel(knowledge)
        except (PliantError, ValueError, TypeError) as error:
            raise FileError(path, f"not a learned model ({error})") from None


def _stand_in(k: Knowledge, length: float) -> Robot:
    """A robot with the actuators and points that were learned; its body is only a place holder."""
    from pliant.materials import Corotational

    actuators = []
    for a, (low, high) in zip(k.actuators, k.ranges):
        limits = (float(low), float(high))
        drive = a.get("drive", "effort")
        bounds: dict[str, Any] = {"effort_limits" if drive == "effort" else "displacement_limits": limits}
        bounds["drive"] = drive
        actuators.append(LearnedActuator(name=a["name"], measured_in=a.get("unit", ""), **bounds))
    body = RodBody(
        "body",
        length,
        0.05 * length,
        Corotational.from_young(1e6, 0.45, density=1000.0),
        position=tuple(k.base),
    )
    points = tuple(Point(n, tuple(x)) for n, x in zip(k.points, k.rest))
    return Robot(
        k.robot,
        (body,),
        actuators=tuple(actuators),
        points=points,
        source=json.dumps(k.facts.get("source", "")),
    )


def _frames(y: Array, J: Array | None, start: int, p: int, frames: bool, nu: int) -> tuple[Array, Array]:
    """Rotations (p, 3, 3) from two learned axes each, and the angular Jacobians (p, 3, nu)."""
    if not frames:
        return np.tile(np.eye(3), (p, 1, 1)), np.zeros((p, 3, nu))
    axes = y[start:].reshape(p, 2, 3)
    R, spin = np.empty((p, 3, 3)), np.zeros((p, 3, nu))
    for i in range(p):
        a, b = axes[i]
        x = a / np.linalg.norm(a)
        c = b - (x @ b) * x
        yy = c / np.linalg.norm(c)
        R[i] = np.column_stack([x, yy, np.cross(x, yy)])
        if J is not None:
            d = J[start:].reshape(p, 2, 3, nu)[i]
            dx = (d[0] - np.outer(x, x @ d[0])) / np.linalg.norm(a)
            dc = d[1] - np.outer(x, x @ d[1]) - np.outer(x, b @ dx) - (x @ b) * dx
            dy = (dc - np.outer(yy, yy @ dc)) / np.linalg.norm(c)
            z = R[i, :, 2]
            # omega in the moving frame: (y'.z, z'.x, x'.y)
            spin[i] = np.outer(x, z @ dy) - np.outer(yy, z @ dx) + np.outer(z, yy @ dx)
    return R, spin


def _chain(k: Knowledge, point: str, offset: int | None) -> Any:
    from pliant._kernels.network_chain import Chain

    if offset is None:
        raise UnknownNameError("point", point, k.points)
    m = len(k.actuators)
    none, one = np.zeros((0, 1)), np.ones(1, np.int64)
    c = k.corrections.get(point)
    own = k.jacobian
    nz = 3 if c is None else len(c.low)
    net = None if c is None else c.network
    linear = np.zeros((0, nz))
    if c is not None:
        linear = c.linear.reshape(-1, nz) if c.linear.size else np.zeros((3, nz))
    return Chain(
        k.kinematics.folded,
        k.kinematics.layers,
        offset + np.arange(3),
        none if own is None else own.folded,
        one if own is None else own.layers,
        (offset + np.arange(3)) * m,
        1.0 if c is None else float(c.identity),
        linear,
        np.zeros(3) if c is None else c.constant,
        none if net is None else net.folded,
        one if net is None else net.layers,
        np.zeros((0, nz)) if c is None else c.centres,
        np.ones(nz) if c is None else 1.0 / c.lengths,
        np.zeros((0, 3)) if c is None else c.alpha,
        np.zeros(0) if c is None else c.load,
        False if c is None else c.use_u,
    )
