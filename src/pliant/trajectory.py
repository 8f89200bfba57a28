"""Trajectory: what happened over time, in one compressed file."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant.archive import read_archive, reading, write_archive
from pliant.errors import ArgumentError, FileError
from pliant.state import State, Status

Array = np.ndarray
_FORMAT = "pliant-trajectory-1"


@dataclass(frozen=True, eq=False)
class Trajectory:
    """States over time (or over a load), with actuation, efforts, points and sensor readings.

    Attributes:
        robot: name of the robot.
        time: times [s] (n,).
        q: configurations (n, nq).
        v: velocities (n, nv).
        u: commands (n, nu).
        effort: efforts [N, Pa, ...] (n, nu).
        displacement: displacements [m, m^3, ...] (n, nu).
        status: how each step ended (n,).
        residual: of each step (n,).
        iterations: of each step (n,).
        elapsed: wall-clock time of each step [s] (n,).
        actuators: names of the actuators (nu,).
        points: positions of the named points [m], name -> (n, 3).
        readings: sensor readings, name -> (n,).
        targets: what was wanted, name -> (n, 3), where there was a target.
        contact_force: total normal contact force [N] (n,).
    """

    robot: str
    time: Array
    q: Array
    v: Array
    u: Array
    effort: Array
    displacement: Array
    status: tuple[Status, ...]
    residual: Array
    iterations: Array
    elapsed: Array
    actuators: tuple[str, ...] = ()
    points: Mapping[str, Array] = field(default_factory=dict)
    readings: Mapping[str, Array] = field(default_factory=dict)
    targets: Mapping[str, Array] = field(default_factory=dict)
    contact_force: Array = field(default_factory=lambda: np.zeros(0))

    def __post_init__(self) -> None:
        if len(self.contact_force) == 0:
            object.__setattr__(self, "contact_force", np.zeros(len(self.time)))

    def __len__(self) -> int:
        return len(self.time)

    def __iter__(self) -> Iterator[State]:
        return (self[i] for i in range(len(self)))

    def __getitem__(self, i: int) -> State:
        """The i-th state (without contacts and factorisation)."""
        return State(
            self.q[i], self.v[i], self.u[i], self.effort[i], self.displacement[i],
            time=float(self.time[i]), status=self.status[i], residual=float(self.residual[i]),
            iterations=int(self.iterations[i]), elapsed=float(self.elapsed[i]),
        )  # fmt: skip

    @property
    def ok(self) -> bool:
        """True if every step satisfied its equations."""
        return all(s.ok for s in self.status)

    @property
    def speed(self) -> float:
        """Simulated time over wall-clock time [-]."""
        spent = float(self.elapsed.sum())
        return (
            float(self.time[-1] - self.time[0]) / spent if spent > 0 and len(self.time) > 1 else float("nan")
        )

    def error(self, point: str) -> Array:
        """Distance of a point to its target over time [m] (n,)."""
        if point not in self.targets:
            raise ArgumentError(
                "point", f"{point!r} has no recorded target", ", ".join(self.targets) or "none"
            )
        return np.linalg.norm(self.points[point] - self.targets[point], axis=1)

    @classmethod
    def from_states(
        cls,
        model: Any,
        states: Sequence[State],
        *,
        targets: Mapping[str, Array] | None = None,
        time: Array | None = None,
    ) -> Trajectory:
        """Record states of a model, with all its points and sensors."""
        if not states:
            raise ArgumentError("states", "empty", "at least one state")
        names = [p.name for p in model.robot.points]
        placed = [model.locate(s.q, names).position if names else np.zeros((0, 3)) for s in states]
        read = getattr(model, "read", None)
        readings = [read(s) for s in states] if read else [{} for _ in states]
        return cls(
            robot=model.robot.name,
            time=np.array([s.time for s in states]) if time is None else np.asarray(time, float),
            q=np.array([s.q for s in states]),
            v=np.array([s.v for s in states]),
            u=np.array([s.u for s in states]),
            effort=np.array([s.effort for s in states]),
            displacement=np.array([s.displacement for s in states]),
            status=tuple(s.status for s in states),
            residual=np.array([s.residual for s in states]),
            iterations=np.array([s.iterations for s in states]),
            elapsed=np.array([s.elapsed for s in states]),
            actuators=model.robot.actuator_names,
            points={n: np.array([p[i] for p in placed]) for i, n in enumerate(names)},
            readings={k: np.array([r[k] for r in readings]) for k in readings[0]},
            targets=dict(targets or {}),
            contact_force=np.array(
                [0.0 if s.contacts is None else float(np.sum(s.contacts.forces)) for s in states]
            ),
        )

    def save(self, path: str | Path) -> Path:
        """Write everything to one compressed .npz file (atomically); returns its path."""
        path = Path(path).with_suffix(".npz")
        arrays: dict[str, Array] = {
            k: getattr(self, k)
            for k in (
                "time",
                "q",
                "v",
                "u",
                "effort",
                "displacement",
                "residual",
                "iterations",
                "elapsed",
                "contact_force",
            )
        }
        for group in _GROUPS:
            for name, values in getattr(self, group).items():
                arrays[f"{group}/{name}"] = values
        header = {
            "robot": self.robot,
            "actuators": list(self.actuators),
            "status": [s.name for s in self.status],
            **{group: list(getattr(self, group)) for group in _GROUPS},
        }
        return write_archive(path, _FORMAT, header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Trajectory:
        """Read a trajectory; nothing in the file can execute code.

        Steps that succeeded must hold finite numbers; only a sensor may have read nothing (nan).
        """
        path = Path(path)
        header, arrays = read_archive(path, _FORMAT, "trajectory file")
        with reading(path, "trajectory file"):
            status = tuple(Status[s] for s in header["status"])
            robot, actuators = str(header["robot"]), tuple(str(a) for a in header["actuators"])
            listed = {f"{group}/{name}" for group in _GROUPS for name in header.get(group, ())}
        groups: dict[str, dict[str, Array]] = {group: {} for group in _GROUPS}
        for key in [k for k in arrays if "/" in k]:
            group, name = key.split("/", 1)
            if group in groups:
                groups[group][name] = arrays.pop(key)
        found = arrays | {f"{group}/{name}": a for group, named in groups.items() for name, a in named.items()}
        problems = [f"{k} is missing" for k in sorted(listed - found.keys())]
        problems += _problems(found, np.array([s.ok for s in status], dtype=bool), len(actuators))
        if problems:
            raise FileError(path, problems)
        return cls(
            robot=robot,
            status=status,
            actuators=actuators,
            points=groups["points"],
            readings=groups["readings"],
            targets=groups["targets"],
            **arrays,
        )


_GROUPS: dict[str, tuple[str | int, ...]] = {"points": ("n", 3), "readings": ("n",), "targets": ("n", 3)}
# Axes of every array: n steps, m actuators, None for any length.
_SHAPES: dict[str, tuple[str | int | None, ...]] = {
    "time": ("n",),
    "q": ("n", None),
    "v": ("n", None),
    "u": ("n", "m"),
    "effort": ("n", "m"),
    "displacement": ("n", "m"),
    "residual": ("n",),
    "iterations": ("n",),
    "elapsed": ("n",),
    "contact_force": ("n",),
}


def _problems(found: Mapping[str, Array], ok: Array, m: int) -> list[str]:
    """What is wrong with the arrays of a file of m actuators whose steps succeeded where ok (n,)."""
    axes = _SHAPES | {k: _GROUPS[k.split("/")[0]] for k in found if k.split("/")[0] in _GROUPS and "/" in k}
    problems = [f"{k} is missing" for k in axes if k not in found]
    problems += [f"{k} does not belong in a trajectory" for k in found if k not in axes]
    for key in [k for k in axes if k in found]:
        values, shape = found[key], tuple(len(ok) if a == "n" else m if a == "m" else a for a in axes[key])
        if len(shape) != values.ndim or any(a not in (None, b) for a, b in zip(shape, values.shape)):
            problems.append(f"{key} has shape {values.shape}, expected {shape}")
        elif values.dtype.kind not in "fiu":
            problems.append(f"{key} holds no real numbers")
        elif not key.startswith("readings/") and not np.isfinite(values[ok] if key not in _ALWAYS else values).all():
            problems.append(f"{key} is not finite")
    return problems


_ALWAYS = ("time", "u", "iterations", "elapsed")  # finite in steps that failed, too
