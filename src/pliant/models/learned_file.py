"""The file of a learned model: plain arrays and a JSON header in one .npz archive."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pliant.archive import read_archive, reading, write_archive
from pliant.models.correction import Correction
from pliant.models.learned import Knowledge, Shape
from pliant.models.network import Network

Array = np.ndarray
FORMAT = "pliant-learned-1"


def save_learned(k: Knowledge, path: Path) -> Path:
    """Write atomically; returns the path."""
    header = {
        "robot": k.robot,
        "actuators": [dict(a) for a in k.actuators],
        "points": list(k.points),
        "frames": bool(k.frames),
        "corrections": {n: c.kind for n, c in k.corrections.items()},
        "facts": dict(k.facts),
    }
    arrays: dict[str, Array] = {"ranges": k.ranges, "rest": k.rest, "base": k.base, "samples": k.samples}
    nets: dict[str, Network | None] = {"kinematics": k.kinematics, "jacobian": k.jacobian}
    if k.shape is not None:
        nets["shape/network"] = k.shape.network
        for f in ("mean", "basis", "triangles", "segments", "radius"):
            arrays[f"shape/{f}"] = getattr(k.shape, f)
    for name, net in nets.items():
        if net is not None:
            arrays |= {f"{name}/{key}": value for key, value in net.arrays().items()}
    for i, c in enumerate(k.corrections.values()):
        arrays |= {f"correction{i}/{key}": value for key, value in c.arrays().items()}
    return write_archive(path, FORMAT, header, arrays)


def load_learned(path: Path) -> Knowledge:
    """Read and check a learned model."""
    header, arrays = read_archive(path, FORMAT, "learned model")
    with reading(path, "learned model"):
        return _knowledge(header, arrays)


def _knowledge(header: dict[str, Any], arrays: dict[str, Array]) -> Knowledge:
    def part(prefix: str) -> dict[str, Array]:
        return {k[len(prefix) + 1 :]: v for k, v in arrays.items() if k.startswith(prefix + "/")}

    shape = None
    if "shape/mean" in arrays:
        s = part("shape")
        shape = Shape(
            np.asarray(s["mean"], float),
            np.asarray(s["basis"], float),
            Network.from_arrays(part("shape/network")),
            s["triangles"],
            s["segments"],
            np.asarray(s["radius"], float),
        )
    own = part("jacobian")
    kinds = header["corrections"]
    corrections = {
        n: Correction.from_arrays(str(kind), part(f"correction{i}")) for i, (n, kind) in enumerate(kinds.items())
    }
    actuators = tuple({str(k): str(v) for k, v in a.items()} for a in header["actuators"])
    for a in actuators:
        if "name" not in a:
            raise KeyError("name of an actuator")
    return Knowledge(
        robot=str(header["robot"]),
        actuators=actuators,
        ranges=np.asarray(arrays["ranges"], float),
        points=tuple(str(p) for p in header["points"]),
        kinematics=Network.from_arrays(part("kinematics")),
        frames=bool(header["frames"]),
        rest=np.asarray(arrays["rest"], float),
        base=np.asarray(arrays["base"], float),
        samples=np.asarray(arrays["samples"], float),
        jacobian=Network.from_arrays(own) if own else None,
        shape=shape,
        corrections=corrections,
        facts=dict(header["facts"]),
    )
