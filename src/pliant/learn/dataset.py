"""Dataset: samples of a model in one HDF5 file that the field reads."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.archive import check_format, reading, replacing
from pliant.errors import ArgumentError, FileError
from pliant.state import Status

Array = np.ndarray
FORMAT = "pliant-dataset-1"
MAX_VALUES = 2_000_000_000
_NUMBERS = ("u", "position", "rotation", "jacobian", "elapsed")


@dataclass(frozen=True, eq=False)
class Dataset:
    """Samples of a robot: where its points are for which command.

    Rows that failed are kept, with NaN values, their status and the reason.

    Attributes:
        robot: name of the robot.
        actuators: per actuator a mapping with name, drive and unit.
        ranges: what was sampled (m, 2).
        points: names of the points (p).
        u: commands (n, m).
        position: positions [m] (n, p, 3).
        rotation: orientations (n, p, 3, 3).
        jacobian: exact d(angular; linear)/du (n, p, 6, m); NaN where it is not known.
        status: how each solve ended (n,).
        reason: why a row failed, "" for good ones (n,).
        elapsed: wall-clock time of each sample [s] (n,).
        shape: positions of the skin's vertices [m] (n, s, 3), or None.
        skin: triangles (t, 3), segments (k, 2) and radius (s,) of the skin, with the shape.
        facts: plan, seed, provenance: anything that JSON holds.
    """

    robot: str
    actuators: tuple[Mapping[str, str], ...]
    ranges: Array
    points: tuple[str, ...]
    u: Array
    position: Array
    rotation: Array
    jacobian: Array
    status: tuple[Status, ...]
    reason: tuple[str, ...]
    elapsed: Array
    shape: Array | None = None
    skin: Mapping[str, Array] = field(default_factory=dict)
    facts: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        problems = _problems(self)
        if problems:
            raise ArgumentError("dataset", "; ".join(problems), "arrays that belong together")

    def __len__(self) -> int:
        return len(self.u)

    @property
    def ok(self) -> Array:
        """Which rows can be learned from (n,) bool."""
        good = np.array([s.ok for s in self.status], dtype=bool)
        return good & np.isfinite(self.position).all(axis=(1, 2))

    @property
    def failed(self) -> int:
        """Number of rows that cannot be learned from."""
        return int((~self.ok).sum())

    @property
    def width(self) -> float:
        """Width of the workspace: largest extent of the first point [m]."""
        x = self.position[self.ok, 0]
        return float(np.ptp(x, axis=0).max()) if len(x) else float("nan")

    @property
    def has_slopes(self) -> bool:
        """Whether every good row has a Jacobian."""
        return bool(np.isfinite(self.jacobian[self.ok]).all())

    def select(self, rows: Array) -> Dataset:
        """Some of the rows (indices or a mask)."""
        index = np.arange(len(self))[rows]
        return replace(
            self,
            u=self.u[index],
            position=self.position[index],
            rotation=self.rotation[index],
            jacobian=self.jacobian[index],
            status=tuple(self.status[i] for i in index),
            reason=tuple(self.reason[i] for i in index),
            elapsed=self.elapsed[index],
            shape=None if self.shape is None else self.shape[index],
        )

    def split(self, share: float = 0.7, *, seed: int = 0) -> tuple[Dataset, Dataset]:
        """Good rows, divided at random: for training and for testing."""
        if not 0.0 < share < 1.0:
            raise ArgumentError("share", f"{share}", "between 0 and 1")
        rows = np.random.default_rng(seed).permutation(np.flatnonzero(self.ok))
        cut = round(share * len(rows))
        return self.select(np.sort(rows[:cut])), self.select(np.sort(rows[cut:]))

    def save(self, path: str | Path) -> Path:
        """Write one chunked, compressed HDF5 file (atomically); returns its path."""
        import h5py

        path = Path(path)
        names = [s.name for s in Status]
        header = {
            "robot": self.robot,
            "actuators": [dict(a) for a in self.actuators],
            "points": list(self.points),
            "status_names": names,
            "facts": dict(self.facts),
            "units": "SI: m, s; jacobian d(angular; linear)/du",
        }
        with replacing(path) as temporary, h5py.File(temporary, "w") as f:
            f.attrs["format"] = FORMAT
            f.attrs["header"] = json.dumps(header)
            f.create_dataset("ranges", data=self.ranges)
            for name in _NUMBERS:
                _chunked(f, name, getattr(self, name))
            _chunked(f, "status", np.array([names.index(s.name) for s in self.status], np.uint8))
            _chunked(f, "reason", np.array([r.encode()[:200] for r in self.reason], dtype="S200"))
            if self.shape is not None:
                _chunked(f, "shape", self.shape.astype(np.float32))
                for name, value in self.skin.items():
                    f.create_dataset(f"skin_{name}", data=value)
        return path

    @classmethod
    def load(cls, path: str | Path) -> Dataset:
        """Read and check a dataset; a broken or hostile file is refused with `FileError`."""
        import h5py

        path = Path(path)
        with reading(path, "dataset"), h5py.File(path, "r") as f:
            return _read(cls, f, path)


def _chunked(f: Any, name: str, data: Array) -> None:
    if len(data) == 0 or data[0].size == 0:
        f.create_dataset(name, data=data)
        return
    rows = max(1, min(len(data), 262_144 // max(1, data[0].nbytes)))
    f.create_dataset(name, data=data, chunks=(rows, *data.shape[1:]), compression="gzip", shuffle=True, fletcher32=True)


def _read(cls: type[Dataset], f: Any, path: Path) -> Dataset:
    """The dataset in an open file."""
    check_format(path, f.attrs.get("format"), FORMAT)
    header = json.loads(f.attrs["header"])
    arrays = {name: _array(f, name, path) for name in ("ranges", *_NUMBERS, "status", "reason")}
    shape, skin = None, {}
    if "shape" in f:
        shape = _array(f, "shape", path).astype(float)
        skin = {k[5:]: _array(f, k, path) for k in f if k.startswith("skin_")}
    names = header["status_names"]
    codes = arrays["status"]
    if codes.ndim != 1 or codes.dtype.kind != "u" or (len(codes) and codes.max() >= len(names)):
        raise FileError(path, "the status codes are out of range")
    return cls(
        robot=str(header["robot"]),
        actuators=tuple({str(k): str(v) for k, v in a.items()} for a in header["actuators"]),
        ranges=arrays["ranges"],
        points=tuple(str(p) for p in header["points"]),
        **{name: np.asarray(arrays[name], float) for name in _NUMBERS},
        status=tuple(Status[names[c]] for c in codes),
        reason=tuple(r.decode(errors="replace") for r in arrays["reason"]),
        shape=shape,
        skin=skin,
        facts=dict(header["facts"]),
    )


def _array(f: Any, name: str, path: Path) -> Array:
    """One array of the file, refusing anything that is not plain numbers inside this very file."""
    import h5py

    if name not in f:
        raise FileError(path, f"{name!r} is missing")
    if not isinstance(f.get(name, getlink=True), h5py.HardLink):
        raise FileError(path, f"{name!r} points out of the file")
    data = f[name]
    if not isinstance(data, h5py.Dataset) or data.dtype.kind not in "fiuS" or data.shape is None:
        raise FileError(path, f"{name!r} is not an array of numbers")
    if data.is_virtual or data.external:
        raise FileError(path, f"{name!r} is stored outside of the file")
    if data.size * data.dtype.itemsize > 8 * MAX_VALUES:
        raise FileError(path, f"{name!r} claims {data.shape} values, too many to be true")
    return data[()]


def _problems(d: Dataset) -> list[str]:
    """What does not fit together."""
    n, m, p = len(d.u), len(d.actuators), len(d.points)
    out = []
    shapes = {
        "ranges": (m, 2),
        "u": (n, m),
        "position": (n, p, 3),
        "rotation": (n, p, 3, 3),
        "jacobian": (n, p, 6, m),
        "elapsed": (n,),
    }
    for name, wanted in shapes.items():
        got = np.shape(getattr(d, name))
        if got != wanted:
            out.append(f"{name} has shape {got}, expected {wanted}")
    if len(d.status) != n or len(d.reason) != n:
        out.append("status and reason need one entry per row")
    if d.shape is not None and (d.shape.ndim != 3 or len(d.shape) != n or d.shape.shape[2] != 3):
        out.append(f"shape has shape {d.shape.shape}, expected ({n}, vertices, 3)")
    if not out and not np.isfinite(d.u).all():
        out.append("u is not finite")
    if not out and not (np.isfinite(d.ranges).all() and (d.ranges[:, 0] < d.ranges[:, 1]).all()):
        out.append("ranges are empty or not finite")
    if any("name" not in a for a in d.actuators):
        out.append("an actuator has no name")
    return out
