"""Measurements of a real robot: from a CSV file, or recorded by driving the robot through a plan.

A robot is anything with `send(u, seconds)` and `read() -> position`: the virtual one, or a `HardwareLink`
made of a sink for commands (a serial line) and a source of markers (a camera).
"""

from __future__ import annotations

import csv
import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from pliant.archive import replacing
from pliant.errors import ArgumentError, FileError, MissingExtraError

Array = np.ndarray


class RobotLink(Protocol):
    """What a recorder needs of a robot."""

    def send(self, u: Array, seconds: float = ...) -> None:
        """Command the actuators; returns when the time has passed."""

    def read(self) -> Array:
        """Position of the marker [m] (3,)."""


@dataclass(frozen=True, eq=False)
class Measurements:
    """Where a marker of a real robot was for which commands.

    Attributes:
        u: commands (n, nu).
        position: measured positions [m] (n, 3).
        load: known loads (n, l), usually a payload [kg]; no columns if there are none.
        point: name of the point.
    """

    u: Array
    position: Array
    load: Array
    point: str = "tip"

    def __post_init__(self) -> None:
        n = len(self.u)
        if (
            np.ndim(self.u) != 2
            or np.shape(self.position) != (n, 3)
            or np.shape(self.load)[:1] != (n,)
            or np.ndim(self.load) != 2
        ):
            raise ArgumentError(
                "measurements", "the sizes do not fit together", "u (n, nu), position (n, 3), load (n, l)"
            )
        for f in ("u", "position", "load"):
            if not np.isfinite(getattr(self, f)).all():
                raise ArgumentError(f, "not finite", "finite numbers")

    def __len__(self) -> int:
        return len(self.u)

    def select(self, rows: Array) -> Measurements:
        """Some of the rows."""
        return Measurements(self.u[rows], self.position[rows], self.load[rows], self.point)

    def and_also(self, other: Measurements) -> Measurements:
        """These and others of the same point."""
        if other.point != self.point or other.load.shape[1] != self.load.shape[1]:
            raise ArgumentError("other", "another point or other loads", f"point {self.point!r}")
        both = [np.concatenate([getattr(self, f), getattr(other, f)]) for f in ("u", "position", "load")]
        return Measurements(both[0], both[1], both[2], self.point)

    def save(self, path: str | Path, actuators: Sequence[str]) -> Path:
        """Write a CSV file: one column per actuator, x, y, z [m], and one per load."""
        path = Path(path)
        with replacing(path) as temporary, temporary.open("w", newline="") as f:
            out = csv.writer(f)
            out.writerow([*actuators, "x", "y", "z", *(f"load{k + 1}" for k in range(self.load.shape[1]))])
            out.writerows(np.column_stack([self.u, self.position, self.load]).tolist())
        return path

    @classmethod
    def load_csv(
        cls, path: str | Path, actuators: Sequence[str], *, point: str = "tip", unit: float = 1.0
    ) -> Measurements:
        """Read a CSV file with a header: the actuators' names, x, y, z, and any columns that start with
        "load".

        Args:
            path: the file.
            actuators: names of the actuators, in the order of u.
            point: name of the point.
            unit: metres per unit of x, y, z (1e-3 for millimetres).
        """
        path = Path(path)
        if not path.is_file():
            raise FileError(path, "there is no such file")
        try:
            rows = list(csv.reader(path.read_text().splitlines()))
        except (UnicodeDecodeError, csv.Error) as error:
            raise FileError(path, f"not a CSV file ({error})") from None
        if len(rows) < 2:
            raise FileError(path, "it has no rows")
        names = [c.strip() for c in rows[0]]
        missing = [n for n in (*actuators, "x", "y", "z") if n not in names]
        if missing:
            raise FileError(path, f"columns are missing: {', '.join(missing)}; there are {', '.join(names)}")
        problems, values = [], []
        for k, row in enumerate(rows[1:], 2):
            if not row:
                continue
            try:
                numbers = [float(c) for c in row]
            except ValueError:
                problems.append(f"line {k} is not all numbers")
                continue
            if len(numbers) != len(names) or not all(map(math.isfinite, numbers)):
                problems.append(f"line {k} has {len(numbers)} of {len(names)} values, or one that is not finite")
                continue
            values.append(numbers)
        if problems:
            raise FileError(path, problems[:20])
        table = np.array(values)

        def columns(wanted: Sequence[str]) -> Array:
            return table[:, [names.index(n) for n in wanted]]

        loads = [n for n in names if n.startswith("load")]
        return cls(columns(actuators), unit * columns(("x", "y", "z")), columns(loads), point)


def record(
    robot: RobotLink,
    u: Array,
    *,
    load: Sequence[float] = (),
    point: str = "tip",
    settle: float = np.inf,
    still: float = 5e-5,
    frames: int = 1,
    tries: int = 200,
    progress: Callable[[int, int], None] | None = None,
) -> Measurements:
    """Drive a robot through a plan and read its marker where it rests.

    Args:
        robot: anything with `send` and `read`.
        u: plan (n, nu).
        load: what hangs on it, recorded with every row.
        point: name of the marker.
        settle: time between looks at the marker [s]; infinite for a virtual robot, which rests at once.
        still: the marker rests when it moves less than this between two looks [m] (0.05 mm in the paper).
        frames: readings averaged per row.
        tries: looks before giving up.
        progress: called with (done, total).
    """
    u = np.atleast_2d(np.asarray(u, float))
    rows = []
    for k, command in enumerate(u):
        robot.send(command, settle)
        if np.isfinite(settle):
            before = robot.read()
            for _ in range(tries):
                robot.send(command, settle)
                now = robot.read()
                if np.linalg.norm(now - before) < still:
                    break
                before = now
            else:
                raise ArgumentError(
                    "robot", f"the marker does not come to rest in row {k}", "a longer settle or larger still"
                )
        rows.append(np.mean([robot.read() for _ in range(frames)], axis=0))
        if progress:
            progress(k + 1, len(u))
    loads = np.tile(np.atleast_1d(np.asarray(load, float)), (len(u), 1)) if len(load) else np.zeros((len(u), 0))
    return Measurements(u, np.array(rows), loads, point)


class HardwareLink:
    """A robot made of a sink for commands and a source of marker positions.

    Args:
        write: called with one line of text per command.
        markers: called to get the marker's position [m] (3,).
        factor: commands are multiplied by this before they are written (1e-5 for Pa to bar).
    """

    def __init__(self, write: Callable[[str], Any], markers: Callable[[], Array], *, factor: float = 1.0) -> None:
        self._write, self._markers, self._factor = write, markers, factor

    def send(self, u: Array, seconds: float = 0.0) -> None:
        """Write the command as comma-separated numbers and wait."""
        self._write(",".join(f"{self._factor * x:.6g}" for x in np.asarray(u, float)) + "\n")
        time.sleep(seconds if np.isfinite(seconds) else 1.0)

    def read(self) -> Array:
        """Position of the marker [m] (3,)."""
        return np.asarray(self._markers(), float)


def serial_sink(port: str, baud: int = 115200) -> Callable[[str], Any]:
    """A function that writes lines to a serial `port` at `baud` bits per second (extra "serial")."""
    try:
        import serial
    except ImportError:
        raise MissingExtraError("pyserial", "serial") from None
    line = serial.Serial(port, baud, timeout=1.0)
    return lambda text: line.write(text.encode())
