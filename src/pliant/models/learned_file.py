"""The file of a learned model: plain arrays and a JSON header in one .npz archive."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, PliantError
from pliant.models.correction import Correction
from pliant.models.learned import Knowledge, Shape
from pliant.models.network import Network

Array = np.ndarray
FORMAT = "pliant-learned-1"
MAX_BYTES = 2_000_000_000  # unpacked; a small file may claim to hold much more


def save_learned(k: Knowledge, path: Path) -> Path:
    """Write atomically; returns the path."""
    header = {
        "format": FORMAT,
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
    arrays["header"] = np.frombuffer(json.dumps(header).encode(), dtype=np.uint8)
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with temporary.open("wb") as out:
            np.savez_compressed(out, **arrays)  # type: ignore[arg-type]
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise
    return path


def load_learned(path: Path) -> Knowledge:
    """Read and check a learned model."""
    if not path.is_file():
        raise FileError(path, "there is no such file")
    arrays = _arrays(path)
    try:
        header = json.loads(arrays.pop("header").tobytes().decode())
        if header["format"] != FORMAT:
            raise FileError(path, f"format {header['format']!r}; expected {FORMAT!r}")
        return _knowledge(header, arrays)
    except FileError:
        raise
    except (KeyError, TypeError, AttributeError, ValueError, PliantError) as error:
        raise FileError(path, f"not a learned model (missing or wrong: {error})") from None


def _arrays(path: Path) -> dict[str, Array]:
    try:
        with zipfile.ZipFile(path) as archive:
            size = sum(i.file_size for i in archive.infolist())
        if size > MAX_BYTES:
            raise FileError(path, f"it unpacks to {size} bytes; at most {MAX_BYTES} are read")
        with np.load(path, allow_pickle=False) as data:
            return {k: data[k] for k in data.files}
    except (
        ValueError,
        OSError,
        zipfile.BadZipFile,
        EOFError,
        KeyError,
        NotImplementedError,
        MemoryError,
    ) as error:
        if isinstance(error, FileError):
            raise
        raise FileError(path, f"not a learned model ({error})") from None
    except Exception as error:  # zlib and struct errors of damaged archives have no common base
        raise FileError(path, f"damaged ({type(error).__name__}: {error})") from None


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
