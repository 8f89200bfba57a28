"""The file form of a robot: a readable `robot.toml` beside one mesh file per soft body.

    format = "pliant-robot"
    version = 1
    units = "mm"                    # of all lengths, volumes and curvatures; "m" if left out
    name = "finger"
    [[bodies]]
    name = "body"
    kind = "soft"                   # or "rod", "rigid"
    mesh = "body.vtu"
    [bodies.material]
    law = "corotational"
    young = 350e3                   # Pa: everything that is not a length is in SI units
    poisson = 0.45
    [[fixations]]
    nodes = "base"
    [[actuators]]
    kind = "cable"
    name = "cable"
    points = [[10, 0, 5], [90, 0, 5]]
    [[points]]
    name = "tip"
    position = [100, 0, 0]

The keys are the fields of the descriptions in `pliant.bodies`, `pliant.actuators` and `pliant.materials`. A
file can only name plain files inside its own folder, and nothing in it is executed.
"""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np

from pliant.actuators import _KINDS as ACTUATORS
from pliant.actuators import Actuator, Chamber, Slide, Stiffness, actuator_from_dict
from pliant.bodies import Fixation, Point, RigidBody, RigidRegion, RodBody, SoftBody, StrainGauge
from pliant.errors import FileError, PliantError
from pliant.geometry import TetMesh
from pliant.materials import Material, material_from_dict, preset_names
from pliant.materials.laws import LAWS
from pliant.robot import EARTH, Robot
from pliant.robot_fields import (
    FILE_NAME,
    FORMAT,
    MESH_ENDINGS,
    SURFACE_ENDINGS,
    VERSION,
    Problems,
    build,
    describe,
    number,
    numbers,
    tables,
    text,
)
from pliant.robot_saving import save_robot

__all__ = ["load_robot", "save_robot"]

UNITS = {"m": 1.0, "mm": 1e-3}
MAX_TOML_BYTES = 4 * 2**20
MAX_MESH_BYTES = 256 * 2**20
_TOP = ("format", "version", "units", "name", "source", "gravity")
_GROUPS = {"fixations": Fixation, "rigid": RigidRegion, "points": Point, "sensors": StrainGauge}


# ---- loading --------------------------------------------------------------------------------------------


def load_robot(path: Path) -> Robot:
    """Read a robot from its folder or its `robot.toml`.

    Raises:
        FileError: its `problems` list every mistake, each with the path of its key.
    """
    path = Path(path)
    toml = path / FILE_NAME if path.is_dir() else path
    data = _parse(toml)
    problems = Problems()
    robot = _Reader(toml, problems).robot(data)
    if problems.found or robot is None:
        raise FileError(toml, problems.found or "it describes no robot")
    return robot


def _parse(toml: Path) -> dict[str, Any]:
    if not toml.exists():
        raise FileError(toml, f"there is no such file; give a folder with a {FILE_NAME}, or the file itself")
    if not toml.is_file():
        raise FileError(toml, "it is not a plain file")
    size = toml.stat().st_size
    if size > MAX_TOML_BYTES:
        raise FileError(toml, f"it has {size} bytes; a robot file has at most {MAX_TOML_BYTES}")
    try:
        return tomllib.loads(toml.read_bytes().decode("utf-8"))
    except UnicodeDecodeError as error:
        raise FileError(toml, f"it is not UTF-8 text (byte {error.start})") from None
    except RecursionError:
        raise FileError(toml, "its values are nested too deeply") from None
    except ValueError as error:  # TOMLDecodeError names line and column
        raise FileError(toml, f"it is not TOML: {error}") from None
    except OSError as error:
        raise FileError(toml, f"cannot be read: {error.strerror or error}") from None


class _Reader:
    """Builds a robot from the values of a file, recording every mistake."""

    def __init__(self, toml: Path, problems: Problems) -> None:
        self.folder = toml.parent
        self.problems = problems
        self.scale = 1.0

    def robot(self, data: dict[str, Any]) -> Robot | None:
        p = self.problems
        p.keys("", data, (*_TOP, "bodies", "actuators", *_GROUPS), ("format", "name", "bodies"))
        if data.get("format", FORMAT) != FORMAT:
            p.add("format", f"must be {FORMAT!r}, not {data['format']!r}.")
        if data.get("version", VERSION) != VERSION:
            p.add("version", f"must be {VERSION}, not {data['version']!r}; a newer pliant may read it.")
        units = data.get("units", "m")
        if not isinstance(units, str) or units not in UNITS:
            p.unknown("units", units, UNITS)
        else:
            self.scale = UNITS[units]
        name = text(p, "name", data.get("name", "x"))
        source = text(p, "source", data.get("source", ""))
        gravity = numbers(p, "gravity", data.get("gravity", list(EARTH)), 3)
        listed = tables(p, "bodies", data.get("bodies", []))
        bodies = [self.body(f"bodies[{i}]", b) for i, b in enumerate(listed)]
        actuators = [
            self.actuator(f"actuators[{i}]", a)
            for i, a in enumerate(tables(p, "actuators", data.get("actuators", [])))
        ]
        groups: dict[str, list[Any]] = {"actuators": actuators}
        for group, kind in _GROUPS.items():
            groups[group] = []
            for i, item in enumerate(tables(p, group, data.get(group, []))):
                values = describe(p, f"{group}[{i}]", kind, item, self.scale)
                groups[group].append(None if values is None else build(p, f"{group}[{i}]", kind, **values))
        self._references(bodies, groups)
        if p.found:
            return None
        return build(
            p,
            "robot",
            Robot,
            name,
            tuple(bodies),
            gravity=gravity,
            source=source,
            **{k: tuple(v) for k, v in groups.items()},
        )

    # ---- bodies ---------------------------------------------------------------------------------
    def body(self, path: str, data: Any) -> Any:
        p = self.problems
        kind = data.get("kind") if isinstance(data, dict) else None
        if kind == "soft":
            known = p.keys(
                path, data, ("name", "kind", "mesh", "material", "materials"), ("name", "mesh", "material")
            )
            mesh = self.volume(f"{path}.mesh", data["mesh"]) if "mesh" in data else None
            material = self.material(f"{path}.material", data["material"]) if "material" in data else None
            regions, table = {}, data.get("materials", {})
            if not isinstance(table, dict):
                p.add(f"{path}.materials", "must be a table of materials by region.")
                table = {}
            for region, values in table.items():
                regions[region] = self.material(f"{path}.materials.{region}", values)
                if mesh is not None and region not in mesh.regions:
                    p.unknown(f"{path}.materials.{region}", region, mesh.regions)
                    known = False
            name = text(p, f"{path}.name", data.get("name", ""))
            if not known or mesh is None or material is None or None in regions.values() or not name:
                return None
            return build(p, path, SoftBody, name, mesh, material, regions)
        if kind == "rod":
            values = describe(p, path, RodBody, data, self.scale, skip=("kind", "material"))
            material = self.material(f"{path}.material", data.get("material"))
            return (
                None
                if values is None or material is None
                else build(p, path, RodBody, material=material, **values)
            )
        if kind == "rigid":
            values = describe(
                p, path, RigidBody, data, self.scale, skip=("kind", "mesh", "triangles", "vertices")
            )
            surface = self.surface(path, data)
            if values is None or surface is None:
                return None
            return build(p, path, RigidBody, vertices=surface[0], triangles=surface[1], **values)
        if not isinstance(data, dict):
            p.add(path, "must be a table.")
        else:
            p.unknown(f"{path}.kind", str(kind), ("soft", "rod", "rigid"))
        return None

    def material(self, path: str, data: Any) -> Material | None:
        p, before = self.problems, len(self.problems.found)
        if not isinstance(data, dict):
            p.add(path, 'must be a table with the key "law" or "preset".')
            return None
        common = [f.name for f in fields(Material)]
        if "preset" in data:
            p.keys(path, data, ("preset", "poisson", *common))
            if not isinstance(data["preset"], str) or data["preset"] not in preset_names():
                p.unknown(f"{path}.preset", str(data["preset"]), preset_names())
        elif not isinstance(data.get("law"), str) or data["law"] not in LAWS:
            p.unknown(f"{path}.law", str(data.get("law")), LAWS)
        else:
            own = [f.name for f in fields(LAWS[data["law"]]) if f.name not in common]
            p.keys(path, data, ("law", *own, *(k for k in ("young", "poisson") if k not in own), *common))
        for key, value in data.items():
            if isinstance(value, list):
                numbers(p, f"{path}.{key}", value)
            elif key in ("law", "preset", "source"):
                text(p, f"{path}.{key}", value)
            else:
                number(p, f"{path}.{key}", value)
        return build(p, path, material_from_dict, data) if len(p.found) == before else None

    def volume(self, path: str, name: Any) -> TetMesh | None:
        from pliant.geometry import read_mesh

        file = self.file(path, name, MESH_ENDINGS)
        if file is None:
            return None
        try:
            return read_mesh(file, units="m" if self.scale == 1.0 else "mm").validate()
        except (
            PliantError,
            OSError,
            ValueError,
            TypeError,
            KeyError,
            IndexError,
            RecursionError,
            MemoryError,
        ) as error:
            self.problems.add(path, f"{name!r} cannot be used: {error or type(error).__name__}")
            return None

    def surface(self, path: str, data: dict[str, Any]) -> tuple[np.ndarray, np.ndarray] | None:
        """Vertices [m] and triangles of a rigid body, inline or from a file."""
        p, before = self.problems, len(self.problems.found)
        if "mesh" in data:
            if "vertices" in data or "triangles" in data:
                p.add(f"{path}.mesh", "cannot stand together with vertices and triangles.")
                return None
            file = self.file(f"{path}.mesh", data["mesh"], SURFACE_ENDINGS)
            found = None if file is None else build(p, f"{path}.mesh", _read_surface, file)
            return None if found is None else (found[0] * self.scale, found[1])
        for key in ("vertices", "triangles"):
            if key not in data:
                p.add(f"{path}.{key}", "is missing (or give a mesh).")
        vertices = [numbers(p, f"{path}.vertices[{i}]", v, 3) for i, v in enumerate(data.get("vertices", []))]
        triangles = [
            numbers(p, f"{path}.triangles[{i}]", v, 3) for i, v in enumerate(data.get("triangles", []))
        ]
        if len(p.found) > before or not triangles:
            return None
        return np.array(vertices) * self.scale, np.array(triangles).astype(np.int64)

    def file(self, path: str, name: Any, endings: tuple[str, ...]) -> Path | None:
        """A plain file of the robot's own folder, or None with the reason recorded."""
        p, given = self.problems, text(self.problems, path, name)
        if not given:
            return None
        parts = given.replace("\\", "/").split("/")
        absolute = given.startswith(("/", "\\", "~")) or ":" in parts[0] or Path(given).is_absolute()
        if absolute or ".." in parts or "\0" in given:
            p.add(path, f"{given!r} leaves the folder of the robot; name a file inside it.")
            return None
        if not given.lower().endswith(endings):
            p.add(path, f"{given!r} has the wrong ending; valid: {', '.join(endings)}.")
            return None
        file = self.folder
        for part in parts:
            file = file / part
            if file.is_symlink():
                p.add(path, f"{given!r} is a link; name a plain file inside the folder of the robot.")
                return None
        if not file.is_file():
            p.add(path, f"there is no file {given!r} beside the {FILE_NAME}.")
            return None
        size = file.stat().st_size
        if size > MAX_MESH_BYTES:
            p.add(path, f"{given!r} has {size} bytes; at most {MAX_MESH_BYTES} are read.")
            return None
        if file.suffix.lower() == ".vtu" and (
            b"<!ENTITY" in (raw := file.read_bytes()) or b"<!DOCTYPE" in raw
        ):
            p.add(path, f"{given!r} declares XML entities, which no mesh needs; it is not read.")
            return None
        return file

    # ---- actuators and references ---------------------------------------------------------------
    def actuator(self, path: str, data: Any) -> Actuator | None:
        p = self.problems
        kind = data.get("kind") if isinstance(data, dict) else None
        if not isinstance(kind, str) or kind not in ACTUATORS:
            p.unknown(f"{path}.kind", str(kind), ACTUATORS)
            return None
        values = describe(p, path, ACTUATORS[kind], data, self.scale, skip=("kind",))
        return None if values is None else build(p, path, actuator_from_dict, {"kind": kind, **values})

    def _references(self, bodies: list[Any], groups: dict[str, list[Any]]) -> None:
        """Check every name that one part of the file uses for another."""
        p = self.problems
        for group, items in (("bodies", bodies), *groups.items()):
            seen: dict[str, int] = {}
            for i, item in enumerate(items):
                name = getattr(item, "name", None)
                if name is not None and seen.setdefault(name, i) != i:
                    p.add(f"{group}[{i}].name", f"{name!r} is also the name of {group}[{seen[name]}].")
        if any(b is None for b in bodies) or not bodies:
            if not bodies:
                p.add("bodies", "a robot needs at least one body.")
            return  # references into broken bodies would only repeat what is already said
        names = {b.name: b for b in bodies}
        soft = {n: b for n, b in names.items() if isinstance(b, SoftBody)}
        parts = [r.name for r in groups["rigid"] if r] + [n for n in names if n not in soft]
        for group in ("fixations", "rigid"):
            for i, held in enumerate(groups[group]):
                if held is None:
                    continue
                owner = soft.get(held.body) or (
                    next(iter(soft.values())) if not held.body and len(soft) == 1 else None
                )
                if owner is None:
                    p.unknown(f"{group}[{i}].body", held.body, soft)
                elif held.nodes not in owner.mesh.node_sets:
                    p.unknown(f"{group}[{i}].nodes", held.nodes, owner.mesh.node_sets)
        for group in ("actuators", "points", "sensors"):
            for i, item in enumerate(groups[group]):
                if getattr(item, "body", "") and item.body not in names:
                    p.unknown(f"{group}[{i}].body", item.body, names)
        for i, a in enumerate(groups["actuators"]):
            where = [b for n, b in soft.items() if getattr(a, "body", "") in ("", n)]
            if isinstance(a, Chamber) and soft and sum(a.cavity in b.mesh.cavities for b in where) != 1:
                p.unknown(f"actuators[{i}].cavity", a.cavity, [c for b in where for c in b.mesh.cavities])
            elif isinstance(a, Stiffness) and sum(a.region in b.mesh.regions for b in where) != 1:
                p.unknown(f"actuators[{i}].region", a.region, [r for b in where for r in b.mesh.regions])
            elif isinstance(a, Slide) and a.part not in parts:
                p.unknown(f"actuators[{i}].part", a.part, parts)


def _read_surface(file: Path) -> tuple[np.ndarray, np.ndarray]:
    """Vertices (n, 3) and triangles (k, 3) of a surface file, in the file's unit."""
    if file.suffix.lower() != ".obj":
        from pliant.contact.mesh import read_surface

        return read_surface(file)
    vertices: list[list[float]] = []
    triangles: list[list[int]] = []
    for line in file.read_text(encoding="ascii", errors="replace").splitlines():
        words = line.split()
        if words[:1] == ["v"]:
            vertices.append([float(w) for w in words[1:4]])
        elif words[:1] == ["f"]:
            corners = [int(w.split("/")[0]) for w in words[1:]]
            corners = [c - 1 if c > 0 else len(vertices) + c for c in corners]
            triangles += [[corners[0], corners[i], corners[i + 1]] for i in range(1, len(corners) - 1)]
    if not vertices or not triangles:
        raise FileError(file, "it has no triangles")
    return np.array(vertices), np.array(triangles, dtype=np.int64)
