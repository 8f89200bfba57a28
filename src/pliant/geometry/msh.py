"""Gmsh 2.2 text files, the form that both Gmsh and meshio read reliably.

Labels are Gmsh's own physical groups: volumes carry their region's name (overlapping regions: "a|b"),
triangles "surface:NAME" or "cavity:NAME". Node sets are node data "nodes:NAME". meshio 5.3 cannot read back
the binary files and the element data that it writes for more than one cell type, hence this writer and
`without_element_data`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TextIO
from urllib.parse import quote

import numpy as np

from pliant.geometry.mesh import TetMesh

_TYPES = {"triangle": 2, "tetra": 4, "hexahedron": 5}


def write_msh(
    path: Path,
    mesh: TetMesh,
    scale: float,
    point_data: Mapping[str, np.ndarray],
    cell_data: Mapping[str, np.ndarray],
) -> None:
    """Write a mesh with positions divided by `scale`, and data of one, three or nine values per row."""
    labelled = {f"surface:{_escaped(k)}": v for k, v in mesh.surfaces.items()}
    labelled |= {f"cavity:{_escaped(k)}": v for k, v in mesh.cavities.items()}
    names, tags = _region_tags(mesh)
    groups = [(3, i, name) for i, name in enumerate(names, start=1)]
    groups += [(2, len(names) + i, name) for i, name in enumerate(labelled, start=1)]
    blocks = [
        ("tetra", mesh.tets, tags[: len(mesh.tets)]),
        ("hexahedron", mesh.hexes, tags[len(mesh.tets) :]),
    ]
    for group, triangles in zip(groups[len(names) :], labelled.values()):
        blocks.append(("triangle", triangles, np.full(len(triangles), group[1])))
    with path.open("w", encoding="utf-8", newline="\n") as out:
        out.write("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n")
        if groups:
            out.write(f"$PhysicalNames\n{len(groups)}\n")
            out.writelines(f'{dim} {tag} "{_plain(name)}"\n' for dim, tag, name in groups)
            out.write("$EndPhysicalNames\n")
        out.write(f"$Nodes\n{len(mesh.nodes)}\n")
        _rows(out, 1, mesh.nodes / scale)
        out.write(f"$EndNodes\n$Elements\n{sum(len(c) for _, c, _ in blocks)}\n")
        first = 1
        for kind, cells, marks in blocks:
            ids = np.arange(first, first + len(cells))
            same = np.ones(len(cells), dtype=np.int64)
            table = np.column_stack([ids, _TYPES[kind] * same, 2 * same, marks, same, cells + 1])
            np.savetxt(out, table, fmt="%d")
            first += len(cells)
        out.write("$EndElements\n")
        for name, ids in mesh.node_sets.items():
            _write_data(out, "NodeData", f"nodes:{_escaped(name)}", np.isin(np.arange(len(mesh.nodes)), ids))
        for name, values in point_data.items():
            _write_data(out, "NodeData", name, values)
        for name, values in cell_data.items():
            _write_data(out, "ElementData", name, values)


def _region_tags(mesh: TetMesh) -> tuple[list[str], np.ndarray]:
    """Names of the combinations of regions, and the combination of every cell (0: none, i: names[i - 1])."""
    member = np.zeros((len(mesh.tets) + len(mesh.hexes), len(mesh.regions)), dtype=bool)
    for i, ids in enumerate(mesh.regions.values()):
        member[ids, i] = True
    if member.shape[1] == 0:
        return [], np.zeros(len(member), dtype=np.int64)
    rows, inverse = np.unique(member, axis=0, return_inverse=True)
    labels = np.array([_escaped(k) for k in mesh.regions], dtype=object)
    names, tag = [], np.zeros(len(rows), dtype=np.int64)
    for i, row in enumerate(rows):
        if row.any():
            names.append("|".join(labels[row]))
            tag[i] = len(names)
    return names, tag[inverse.reshape(-1)]


def _escaped(name: str) -> str:
    return quote(name, safe=" :,.()[]+-_")


def _plain(name: str) -> str:
    return name.replace('"', "'").replace("\n", " ")


def _rows(out: TextIO, first: int, values: np.ndarray) -> None:
    numbered = np.column_stack([np.arange(first, first + len(values)), values])
    np.savetxt(out, numbered, fmt=["%d"] + ["%.17g"] * values.shape[1])


def _write_data(out: TextIO, section: str, name: str, values: np.ndarray) -> None:
    rows = np.asarray(values, dtype=float).reshape(len(values), -1)
    if rows.shape[1] > 9:
        raise ValueError(f"{name!r} has {rows.shape[1]} values per row; Gmsh takes at most 9")
    width = next(w for w in (1, 3, 9) if rows.shape[1] <= w)
    rows = np.column_stack([rows, np.zeros((len(rows), width - rows.shape[1]))])
    out.write(f'${section}\n1\n"{_plain(name)}"\n1\n0.0\n3\n0\n{width}\n{len(rows)}\n')
    _rows(out, 1, rows)
    out.write(f"$End{section}\n")


def without_element_data(source: Path, target: Path) -> bool:
    """Copy a text file without its element data; False (and no copy) for other kinds of files."""
    with source.open("rb") as file:
        head = file.read(64).split()
    if head[:1] != [b"$MeshFormat"] or len(head) < 4 or not head[1].startswith(b"2") or head[2] != b"0":
        return False
    skipping = False
    with source.open("rb") as file, target.open("wb") as out:
        for line in file:
            if line.startswith(b"$ElementData"):
                skipping = True
            if not skipping:
                out.write(line)
            if line.startswith(b"$EndElementData"):
                skipping = False
    return True
