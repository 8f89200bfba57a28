"""Writing a robot to its file form, all or nothing (see `pliant.robot_file` for the format)."""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from pliant.actuators import Actuator
from pliant.bodies import RigidBody, RodBody, SoftBody
from pliant.errors import FileError
from pliant.robot import Robot
from pliant.robot_fields import FILE_NAME, FORMAT, MESH_ENDINGS, SURFACE_ENDINGS, VERSION
from pliant.robot_toml import to_toml

_INLINE_VERTICES = 64


def save_robot(robot: Robot, folder: Path) -> Path:
    """Write `robot.toml` and its meshes into a folder; returns the path of the toml.

    The new toml replaces an old one in a single step after all meshes are in place, so a crash leaves the old
    robot or the new one, never half of either. Other files of the folder are left alone; meshes that only the
    old robot used are removed.
    """
    from pliant.geometry import write_mesh

    folder = Path(folder)
    target = folder / FILE_NAME
    if folder.exists() and not folder.is_dir():
        raise FileError(folder, "it is a file; a robot is saved into a folder")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise FileError(folder, f"cannot be made: {error.strerror or error}") from error
    old = _old_meshes(folder)
    placed: list[Path] = []
    try:
        with tempfile.TemporaryDirectory(prefix=".saving-", dir=folder) as work:
            data: dict[str, Any] = {"format": FORMAT, "version": VERSION, "units": "m", "name": robot.name}
            if robot.source:
                data["source"] = robot.source
            data["gravity"] = list(robot.gravity)
            data["bodies"] = []
            for body in robot.bodies:
                entry, ending = _body_entry(body)
                if ending:
                    staged = Path(work) / f"{body.name}{ending}"
                    if isinstance(body, SoftBody):
                        write_mesh(body.mesh, staged)
                    elif isinstance(body, RigidBody):
                        staged.write_text(_obj(body), encoding="ascii")
                    entry["mesh"] = _place(staged, folder, placed)
                data["bodies"].append(entry)
            for group in ("fixations", "rigid", "actuators", "points", "sensors"):
                items = [
                    a.to_dict() if isinstance(a, Actuator) else _plain_fields(a)
                    for a in getattr(robot, group)
                ]
                if items:
                    data[group] = items
            staged = Path(work) / FILE_NAME
            staged.write_text(
                to_toml(data, heading="A soft robot for pliant. Units are SI."), encoding="utf-8"
            )
            os.replace(staged, target)
    except BaseException as error:
        for path in placed:
            with contextlib.suppress(OSError):
                path.unlink()
        if isinstance(error, OSError):
            raise FileError(target, f"cannot be written: {error.strerror or error}") from error
        raise
    used = {entry.get("mesh") for entry in data["bodies"]}
    for name in old - used:
        with contextlib.suppress(OSError):
            (folder / name).unlink()
    return target


def _body_entry(body: Any) -> tuple[dict[str, Any], str]:
    """The table of a body, and the ending of its mesh file ("" if it needs none)."""
    if isinstance(body, SoftBody):
        entry = {"name": body.name, "kind": "soft", "mesh": "", "material": body.material.to_dict()}
        if body.materials:
            entry["materials"] = {region: m.to_dict() for region, m in body.materials.items()}
        return entry, ".vtu"
    if isinstance(body, RodBody):
        entry = {"name": body.name, "kind": "rod", **_plain_fields(body, skip=("name", "material"))}
        return {**entry, "material": body.material.to_dict()}, ""
    entry = {
        "name": body.name,
        "kind": "rigid",
        **_plain_fields(body, skip=("name", "vertices", "triangles")),
    }
    if len(body.vertices) <= _INLINE_VERTICES:
        return {**entry, "vertices": body.vertices.tolist(), "triangles": body.triangles.tolist()}, ""
    return {**entry, "mesh": ""}, ".obj"


def _plain_fields(item: Any, skip: tuple[str, ...] = ()) -> dict[str, Any]:
    """Fields of a description that differ from their default, as plain values."""
    out = {}
    for f in fields(item):
        value = getattr(item, f.name)
        if f.name not in skip and value != f.default:
            out[f.name] = _plain(value)
    return out


def _plain(value: Any) -> Any:
    return [_plain(v) for v in value] if isinstance(value, tuple) else value


def _place(staged: Path, folder: Path, placed: list[Path]) -> str:
    """Move a finished file into the folder under a name that nothing has yet."""
    stem, ending, count = staged.stem, staged.suffix, 1
    while True:
        name = f"{stem}{'' if count == 1 else f'-{count}'}{ending}"
        path = folder / name
        if not path.exists() and not path.is_symlink():
            os.rename(staged, path)
            placed.append(path)
            return name
        count += 1


def _old_meshes(folder: Path) -> set[str]:
    """Mesh files that the robot already in the folder uses."""
    try:
        data = tomllib.loads((folder / FILE_NAME).read_text(encoding="utf-8"))
        names = [b.get("mesh") for b in data.get("bodies", []) if isinstance(b, dict)]
    except (OSError, ValueError, AttributeError, RecursionError):
        return set()
    endings = (*MESH_ENDINGS, *SURFACE_ENDINGS)
    return {n for n in names if isinstance(n, str) and n == Path(n).name and n.endswith(endings)}


def _obj(body: RigidBody) -> str:
    """Wavefront text of a surface; unlike STL it keeps every digit and the numbering."""
    lines = [f"v {x!r} {y!r} {z!r}" for x, y, z in body.vertices.tolist()]
    lines += [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in body.triangles.tolist()]
    return "\n".join(lines) + "\n"
