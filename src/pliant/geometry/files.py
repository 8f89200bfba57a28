"""Mesh files: VTK, VTU, MSH for volumes; STL, OBJ, PLY for surfaces (through meshio, imported on use).

What survives a round trip:

========  ======  =====  ===================================================
format    tets    hexes  labels
========  ======  =====  ===================================================
vtu, vtk  yes     yes    regions, node sets, surfaces and cavities
msh       yes     yes    regions, node sets, surfaces and cavities
stl       -       -      the boundary only
obj, ply  -       -      the boundary only
========  ======  =====  ===================================================

Regions are stored as 0/1 integer cell data "region:NAME", node sets as 0/1 integer point data "nodes:NAME";
the triangles of surfaces and cavities are stored as triangle cells with integer cell data "surface:NAME" and
"cavity:NAME" (1 where the triangle belongs to it with its stored orientation, 0 elsewhere). Any tool can read
them, and nothing in a file is ever executed.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, FileError, PliantError
from pliant.geometry import topology
from pliant.geometry.mesh import TetMesh

UNITS = {"m": 1.0, "mm": 1e-3}
VOLUME_FORMATS = (".vtk", ".vtu", ".msh")
SURFACE_FORMATS = (".stl", ".obj", ".ply")
_FORMAT_NAMES = {".vtk": "vtk", ".vtu": "vtu", ".msh": "gmsh", ".stl": "stl", ".obj": "obj", ".ply": "ply"}
# Gmsh 4 wants an entity for every node; 2.2 takes several cell types as they are.
_WRITE_NAMES = _FORMAT_NAMES | {".msh": "gmsh22"}
_MAX_BYTES = 4 << 30


def _scale(units: str) -> float:
    if units not in UNITS:
        raise ArgumentError("units", f"is {units!r}", "'m' or 'mm'")
    return UNITS[units]


def _load(path: str | Path, formats: tuple[str, ...]) -> Any:
    """Parse a file with meshio; whatever goes wrong inside becomes a `FileError`."""
    import meshio

    file = Path(path)
    if file.suffix.lower() not in formats:
        raise FileError(file, f"the ending {file.suffix!r} is not one of {', '.join(formats)}")
    if not file.is_file():
        raise FileError(file, "there is no such file")
    if file.stat().st_size > _MAX_BYTES:
        raise FileError(file, f"is larger than {_MAX_BYTES >> 30} GiB")
    try:
        # meshio prints and even exits on some broken files.
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            data = meshio.read(file, file_format=_FORMAT_NAMES[file.suffix.lower()])
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())[:200] or type(error).__name__
        raise FileError(file, f"cannot be read as {file.suffix[1:].upper()}: {said}") from None
    points = np.asarray(data.points)
    if (
        points.ndim != 2
        or points.shape[1] not in (2, 3)
        or points.dtype.kind not in "fiu"
        or len(points) == 0
    ):
        raise FileError(file, f"its points have shape {points.shape}, expected (n, 3)")
    if not np.isfinite(points).all():
        raise FileError(file, "some of its points are NaN or infinite")
    for block in data.cells:
        cells = np.asarray(block.data)
        if cells.size and (cells.dtype.kind not in "iu" or cells.min() < 0 or cells.max() >= len(points)):
            raise FileError(file, f"its {block.type} cells refer to points that do not exist")
    return data


def _stack(data: Any, kind: str, width: int) -> np.ndarray:
    blocks = [np.asarray(b.data, dtype=np.int64) for b in data.cells if b.type == kind]
    return np.concatenate(blocks) if blocks else np.zeros((0, width), dtype=np.int64)


def _cell_values(data: Any, name: str, kind: str) -> np.ndarray:
    parts = [np.asarray(v).reshape(-1) for b, v in zip(data.cells, data.cell_data[name]) if b.type == kind]
    return np.concatenate(parts) if parts else np.zeros(0)


def read_mesh(path: str | Path, *, units: str = "m") -> TetMesh:
    """Read a volume mesh (VTK, VTU, MSH) with its labels.

    Args:
        path: the file.
        units: "m" or "mm", the unit of the file; the mesh is always in metres.

    Hexahedra are kept in `hexes`; negatively oriented tets are turned; quadratic tets keep their corners.
    Gmsh physical groups become regions named after the group.
    """
    scale = _scale(units)
    file = Path(path)
    data = _load(file, VOLUME_FORMATS)
    tets, hexes = _stack(data, "tetra", 4), _stack(data, "hexahedron", 8)
    tets = np.concatenate([tets, _stack(data, "tetra10", 10)[:, :4]])
    if len(tets) + len(hexes) == 0:
        kinds = ", ".join(sorted({b.type for b in data.cells})) or "none"
        raise FileError(
            file, f"has no tetrahedra or hexahedra (its cells: {kinds}); use mesh_surface for surfaces"
        )
    points = np.asarray(data.points, dtype=float) * scale
    if points.shape[1] == 2:
        raise FileError(file, "its points are two-dimensional")
    nodes_count = len(points)
    regions: dict[str, np.ndarray] = {}
    surfaces: dict[str, np.ndarray] = {}
    cavities: dict[str, np.ndarray] = {}
    node_sets: dict[str, np.ndarray] = {}
    try:
        triangles = _stack(data, "triangle", 3)
        for name in data.cell_data:
            kind, _, label = name.partition(":")
            if kind == "region" and label:
                values = [_cell_values(data, name, k) for k in ("tetra", "tetra10", "hexahedron")]
                regions[label] = np.flatnonzero(np.concatenate(values) > 0)
            elif kind in ("surface", "cavity") and label:
                chosen = triangles[_cell_values(data, name, "triangle") > 0]
                (surfaces if kind == "surface" else cavities)[label] = chosen
        for name, values in data.point_data.items():
            kind, _, label = name.partition(":")
            if kind == "nodes" and label:
                node_sets[label] = np.flatnonzero(np.asarray(values).reshape(-1) > 0)
        groups = {
            int(v[0]): k for k, v in data.field_data.items() if len(np.atleast_1d(v)) == 2 and v[1] == 3
        }
        if groups and "gmsh:physical" in data.cell_data:
            values = [_cell_values(data, "gmsh:physical", k) for k in ("tetra", "tetra10", "hexahedron")]
            tags = np.concatenate(values)
            regions |= {
                name: np.flatnonzero(tags == tag) for tag, name in groups.items() if name not in regions
            }
        mesh = TetMesh(
            points,
            topology.oriented(points, tets),
            hexes,
            regions=regions,
            node_sets=node_sets,
            surfaces=surfaces,
            cavities=cavities,
        )
    except PliantError as error:
        raise FileError(file, str(error)) from None
    except (ValueError, IndexError, TypeError, KeyError) as error:
        raise FileError(file, f"its labels do not fit its cells ({error})") from None
    used = np.zeros(nodes_count, dtype=bool)
    used[tets.reshape(-1)] = True
    used[hexes.reshape(-1)] = True
    # Geometry points that only carry lines or loose triangles are common in Gmsh files.
    return (
        mesh
        if used.all() or any(not used[t].all() for t in (*surfaces.values(), *cavities.values()))
        else (mesh.compacted())
    )


def read_surface(path: str | Path, *, units: str = "m") -> tuple[np.ndarray, np.ndarray]:
    """Read a triangle surface (STL, OBJ, PLY): (vertices (n, 3) [m], triangles (k, 3)); quads are split."""
    scale = _scale(units)
    data = _load(path, SURFACE_FORMATS)
    quads = _stack(data, "quad", 4)
    parts = [_stack(data, "triangle", 3), quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
    triangles = np.concatenate(parts)
    if len(triangles) == 0:
        raise FileError(path, "has no triangles")
    return np.asarray(data.points, dtype=float) * scale, triangles


def _write(path: str | Path, data: Any, **options: Any) -> Path:
    """Write beside the target, then rename, so that a failure leaves no half-written file."""
    file = Path(path)
    if not file.parent.is_dir():
        raise FileError(file, f"the folder {file.parent} does not exist")
    try:
        handle, name = tempfile.mkstemp(prefix=f".{file.stem}-", suffix=file.suffix, dir=file.parent)
    except OSError as error:
        raise FileError(file, f"cannot be written: {error.strerror}") from None
    os.close(handle)
    temporary = Path(name)
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            data.write(temporary, file_format=_WRITE_NAMES[file.suffix.lower()], **options)
        temporary.chmod(0o644)
        temporary.replace(file)
    except (Exception, SystemExit) as error:
        raise FileError(file, f"cannot be written: {' '.join(str(error).split())[:200]}") from None
    finally:
        temporary.unlink(missing_ok=True)
    return file


def write_surface(vertices: Any, triangles: Any, path: str | Path, *, units: str = "m") -> Path:
    """Write triangles (k, 3) over vertices (n, 3) [m] to STL (binary), OBJ or PLY."""
    import meshio

    scale = _scale(units)
    file = Path(path)
    if file.suffix.lower() not in SURFACE_FORMATS:
        raise FileError(file, f"the ending {file.suffix!r} is not one of {', '.join(SURFACE_FORMATS)}")
    points, cells = np.asarray(vertices, dtype=float) / scale, np.asarray(triangles)
    if points.ndim != 2 or points.shape[1] != 3 or not np.isfinite(points).all():
        raise ArgumentError("vertices", f"has shape {points.shape} or is not finite", "(n, 3) [m]")
    if (
        cells.ndim != 2
        or cells.shape[1] != 3
        or not len(cells)
        or cells.min() < 0
        or cells.max() >= len(points)
    ):
        raise ArgumentError(
            "triangles", f"has shape {cells.shape} or indices out of range", "(k, 3) integers"
        )
    data = meshio.Mesh(points, [("triangle", cells)])
    return _write(file, data, **({"binary": True} if file.suffix.lower() in (".stl", ".ply") else {}))


def write_mesh(
    mesh: TetMesh,
    path: str | Path,
    *,
    units: str = "m",
    point_data: Mapping[str, Any] | None = None,
    cell_data: Mapping[str, Any] | None = None,
) -> Path:
    """Write a mesh; the ending chooses the format, surface formats get the boundary.

    Args:
        mesh: the mesh.
        path: target; it is replaced at once when all is written, never left half done.
        units: unit of the file, "m" or "mm".
        point_data: name -> (n,) or (n, k) values per node.
        cell_data: name -> (m + h,) or (m + h, k) values per cell (tets, then hexahedra).
    """
    import meshio

    file = Path(path)
    suffix = file.suffix.lower()
    if suffix in SURFACE_FORMATS:
        used, inverse = np.unique(mesh.boundary(), return_inverse=True)
        return write_surface(mesh.nodes[used], inverse.reshape(-1, 3), file, units=units)
    if suffix not in VOLUME_FORMATS:
        valid = ", ".join(VOLUME_FORMATS + SURFACE_FORMATS)
        raise FileError(file, f"the ending {file.suffix!r} is not one of {valid}")
    scale = _scale(units)
    m, h, n = len(mesh.tets), len(mesh.hexes), len(mesh.nodes)
    labelled = [("surface", k, v) for k, v in mesh.surfaces.items()]
    labelled += [("cavity", k, v) for k, v in mesh.cavities.items()]
    triangles = np.concatenate([v for _, _, v in labelled]) if labelled else np.zeros((0, 3), dtype=np.int64)
    blocks = [("tetra", mesh.tets), ("hexahedron", mesh.hexes), ("triangle", triangles)]
    blocks = [b for b in blocks if len(b[1])]
    ends = np.cumsum([0, *(len(b[1]) for b in blocks)])

    def split(values: np.ndarray) -> list[np.ndarray]:
        return [values[a:b] for a, b in pairwise(ends)]

    points: dict[str, np.ndarray] = {}
    cells: dict[str, list[np.ndarray]] = {}
    for name, ids in mesh.node_sets.items():
        points[f"nodes:{name}"] = np.isin(np.arange(n), ids).astype(np.int32)
    for name, ids in mesh.regions.items():
        cells[f"region:{name}"] = split(np.isin(np.arange(ends[-1]), ids).astype(np.int32))
    at = m + h
    for kind, name, tris in labelled:
        flags = np.zeros(ends[-1], dtype=np.int32)
        flags[at : at + len(tris)] = 1
        at += len(tris)
        cells[f"{kind}:{name}"] = split(flags)
    for name, given in (point_data or {}).items():
        array = np.asarray(given)
        if len(array) != n or array.dtype.kind not in "fiub":
            raise ArgumentError(f"point_data[{name!r}]", f"has shape {array.shape}", f"({n}, ...) numbers")
        points[name] = array.astype(np.int32) if array.dtype == bool else array
    for name, given in (cell_data or {}).items():
        array = np.asarray(given)
        if len(array) != m + h or array.dtype.kind not in "fiub":
            raise ArgumentError(f"cell_data[{name!r}]", f"has shape {array.shape}", f"({m + h}, ...) numbers")
        padding = np.zeros((len(triangles), *array.shape[1:]), dtype=array.dtype)
        whole = np.concatenate([array, padding])
        cells[name] = split(whole.astype(np.int32) if array.dtype == bool else whole)
    if suffix == ".msh":
        # meshio cannot read its own Gmsh 2.2 files back unless every cell has both tags.
        for tag in ("gmsh:physical", "gmsh:geometrical"):
            cells[tag] = split(np.concatenate([np.full(m + h, 1), np.full(len(triangles), 2)]).astype(np.int32))
    data = meshio.Mesh(mesh.nodes / scale, blocks, point_data=points, cell_data=cells)
    return _write(file, data)
