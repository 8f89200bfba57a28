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

In VTK and VTU, regions are stored as 0/1 integer cell data "region:NAME", node sets as 0/1 integer point
data "nodes:NAME"; the triangles of surfaces and cavities are stored as triangle cells with integer cell data
"surface:NAME" and "cavity:NAME" (1 where the triangle belongs to it with its stored orientation, else 0).
Names are percent-encoded where they hold spaces or other special characters.
MSH uses physical groups, see `pliant.geometry.msh`. Nothing in a file is ever executed.
"""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from collections.abc import Callable, Mapping
from itertools import pairwise
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote

import numpy as np

from pliant.errors import ArgumentError, FileError, PliantError
from pliant.geometry import topology
from pliant.geometry.mesh import TetMesh
from pliant.geometry.msh import without_element_data, write_msh

UNITS = {"m": 1.0, "mm": 1e-3}
VOLUME_FORMATS = (".vtk", ".vtu", ".msh")
SURFACE_FORMATS = (".stl", ".obj", ".ply")
_FORMAT_NAMES = {".vtk": "vtk", ".vtu": "vtu", ".msh": "gmsh", ".stl": "stl", ".obj": "obj", ".ply": "ply"}
_MAX_BYTES = 4 << 30


def _scale(units: str) -> float:
    if units not in UNITS:
        raise ArgumentError("units", f"is {units!r}", "'m' or 'mm'")
    return UNITS[units]


def _load(path: str | Path, formats: tuple[str, ...]) -> Any:
    """Parse a file with meshio; whatever goes wrong inside becomes a `FileError`."""
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
            data = _parse(file)
    except (Exception, SystemExit) as error:
        said = " ".join(str(error).split())[:200]
        if not any(c.isalpha() for c in said):  # meshio exits with a bare number
            said = f"its content is not understood ({type(error).__name__})"
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


def _distrust(file: Path, kind: str) -> None:
    """Refuse files on which a trusting parser would hang, exhaust memory or follow external entities."""
    size = file.stat().st_size
    with file.open("rb") as stream:
        head = stream.read(1 << 16)
        stream.seek(max(0, size - 4096))
        tail = stream.read()
    if size == 0:
        raise ValueError("the file is empty")
    if kind == "ply" and not (head.startswith(b"ply") and b"end_header" in head):
        raise ValueError("the PLY header has no end")
    if kind == "stl":
        promised = int.from_bytes(head[80:84], "little")
        text = head.lstrip().startswith(b"solid") and b"facet" in head
        if not text and (len(head) < 84 or size != 84 + 50 * promised):
            raise ValueError(f"the STL header promises {promised} triangles, the file has {size} bytes")
        if text and b"endsolid" not in tail:
            raise ValueError("the STL text has no end")
    if kind == "vtu" and b"<VTKFile" not in head:
        raise ValueError("it has no VTKFile element, so it is no VTU file")
    if kind == "vtu" and (b"<!DOCTYPE" in head.upper() or b"<!ENTITY" in head.upper()):
        raise ValueError("document type declarations and entities are not accepted")
    if kind == "vtk" and not head.startswith(b"# vtk DataFile"):
        raise ValueError("the first line is not that of a VTK file")
    if kind == "gmsh" and not (head.lstrip().startswith(b"$") and b"$End" in tail):
        raise ValueError("the file is cut off or not a Gmsh file")


def _parse(file: Path) -> Any:
    import meshio

    kind = _FORMAT_NAMES[file.suffix.lower()]
    _distrust(file, kind)
    if kind == "gmsh":
        with tempfile.TemporaryDirectory() as folder:
            stripped = Path(folder) / "mesh.msh"
            if without_element_data(file, stripped):
                return meshio.read(stripped, file_format=kind)
    return meshio.read(file, file_format=kind)


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
    Gmsh physical volumes become regions, physical surfaces become surfaces of the same name.
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
                regions[unquote(label)] = np.flatnonzero(np.concatenate(values) > 0)
            elif kind in ("surface", "cavity") and label:
                chosen = triangles[_cell_values(data, name, "triangle") > 0]
                (surfaces if kind == "surface" else cavities)[unquote(label)] = chosen
        for name, values in data.point_data.items():
            kind, _, label = name.partition(":")
            if kind == "nodes" and label:
                node_sets[unquote(label)] = np.flatnonzero(np.asarray(values).reshape(-1) > 0)
        if "gmsh:physical" in data.cell_data:
            volumes = [_cell_values(data, "gmsh:physical", k) for k in ("tetra", "tetra10", "hexahedron")]
            tags = np.concatenate(volumes)
            on_triangles = _cell_values(data, "gmsh:physical", "triangle")
            for name, (tag, dimension) in data.field_data.items():
                kind, _, label = name.partition(":")
                if dimension == 3:
                    for part in map(unquote, name.split("|")):
                        cells = np.flatnonzero(tags == tag)
                        regions[part] = np.union1d(regions.get(part, cells), cells)
                elif dimension == 2 and label and kind in ("surface", "cavity"):
                    (surfaces if kind == "surface" else cavities)[unquote(label)] = triangles[
                        on_triangles == tag
                    ]
                elif dimension == 2:
                    surfaces[name] = _outward(triangles[on_triangles == tag], tets, hexes, points)
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


def _outward(triangles: np.ndarray, tets: np.ndarray, hexes: np.ndarray, points: np.ndarray) -> np.ndarray:
    """Triangles of a foreign group, turned as the boundary has them; those inside the body stay."""
    outer = topology.boundary_faces(topology.oriented(points, tets), hexes, len(points))[0]
    keys = topology.face_keys(outer, len(points))
    order = np.argsort(keys)
    mine = topology.face_keys(triangles, len(points))
    at = order[np.minimum(np.searchsorted(keys, mine, sorter=order), len(keys) - 1)]
    return np.where((keys[at] == mine)[:, None], outer[at], triangles)


def read_surface(path: str | Path, *, units: str = "m") -> tuple[np.ndarray, np.ndarray]:
    """Read a triangle surface: (vertices (n, 3) [m], triangles (k, 3)); quads are split.

    Args:
        path: an STL, OBJ or PLY file.
        units: of lengths in the file, "m" or "mm".
    """
    scale = _scale(units)
    data = _load(path, SURFACE_FORMATS)
    quads = _stack(data, "quad", 4)
    parts = [_stack(data, "triangle", 3), quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
    triangles = np.concatenate(parts)
    if len(triangles) == 0:
        raise FileError(path, "has no triangles")
    return np.asarray(data.points, dtype=float) * scale, triangles


def _write(path: str | Path, write: Callable[[Path], None]) -> Path:
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
            write(temporary)
        temporary.chmod(0o644)
        temporary.replace(file)
    except (Exception, SystemExit) as error:
        raise FileError(file, f"cannot be written: {' '.join(str(error).split())[:200]}") from None
    finally:
        temporary.unlink(missing_ok=True)
    return file


def write_surface(vertices: Any, triangles: Any, path: str | Path, *, units: str = "m") -> Path:
    """Write a triangle surface; returns the path.

    Args:
        vertices: positions [m] (n, 3).
        triangles: vertex indices (k, 3).
        path: of an STL (binary), OBJ or PLY file.
        units: of lengths in the file, "m" or "mm".
    """
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
    kind = _FORMAT_NAMES[file.suffix.lower()]
    options = {} if kind == "obj" else {"binary": True}
    return _write(file, lambda to: data.write(to, file_format=kind, **options))


def _data(argument: str, given: Mapping[str, Any] | None, rows: int) -> dict[str, np.ndarray]:
    found = {}
    for name, values in (given or {}).items():
        array = np.asarray(values)
        if array.ndim == 0 or len(array) != rows or array.dtype.kind not in "fiub":
            raise ArgumentError(f"{argument}[{name!r}]", f"has shape {array.shape}", f"({rows}, ...) numbers")
        found[name] = array.astype(np.int32) if array.dtype == bool else array
    return found


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
    given_points, given_cells = _data("point_data", point_data, n), _data("cell_data", cell_data, m + h)
    if suffix == ".msh":
        return _write(file, lambda to: write_msh(to, mesh, scale, given_points, given_cells))
    labelled = [("surface", k, v) for k, v in mesh.surfaces.items()]
    labelled += [("cavity", k, v) for k, v in mesh.cavities.items()]
    triangles = np.concatenate([v for _, _, v in labelled]) if labelled else np.zeros((0, 3), dtype=np.int64)
    blocks = [("tetra", mesh.tets), ("hexahedron", mesh.hexes), ("triangle", triangles)]
    blocks = [b for b in blocks if len(b[1])]
    ends = np.cumsum([0, *(len(b[1]) for b in blocks)])

    def split(values: np.ndarray) -> list[np.ndarray]:
        return [values[a:b] for a, b in pairwise(ends)]

    points: dict[str, np.ndarray] = dict(given_points)
    cells: dict[str, list[np.ndarray]] = {}
    for name, ids in mesh.node_sets.items():
        points[f"nodes:{quote(name)}"] = np.isin(np.arange(n), ids).astype(np.int32)
    for name, ids in mesh.regions.items():
        cells[f"region:{quote(name)}"] = split(np.isin(np.arange(ends[-1]), ids).astype(np.int32))
    at = m + h
    for kind, name, tris in labelled:
        flags = np.zeros(ends[-1], dtype=np.int32)
        flags[at : at + len(tris)] = 1
        at += len(tris)
        cells[f"{kind}:{quote(name)}"] = split(flags)
    for name, array in given_cells.items():
        padding = np.zeros((len(triangles), *array.shape[1:]), dtype=array.dtype)
        cells[name] = split(np.concatenate([array, padding]))
    data = meshio.Mesh(mesh.nodes / scale, blocks, point_data=points, cell_data=cells)
    return _write(file, lambda to: data.write(to, file_format=_FORMAT_NAMES[suffix]))
