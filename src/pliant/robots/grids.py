"""Structured meshes for the catalogue: cells of a warped grid, split into tets, welded where they meet.

Structured cells keep thin walls clean (a whole number of elements through the thickness) at a tenth of the
nodes that an unstructured mesh needs. Every cell is split into the six tets around its main diagonal, and
neighbouring cells are mirror images of each other: a grid that is symmetric about one of its planes gives a
mesh that is, too, so that a planar robot stays in its plane.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.checks import positive
from pliant.errors import ArgumentError, MeshError
from pliant.geometry import TetMesh, topology
from pliant.geometry.stuffing import MAX_NODES

Array = np.ndarray
Place = Callable[[Array, Array, Array], Array]
MAX_CELLS = MAX_NODES // 6
"""A cell becomes six tets: so that no grid asks for more memory than the lattice of `pliant mesh` may."""


def divisions(length: float, size: float, least: int = 1) -> int:
    """How many cells of about a size fit into a length (both [m])."""
    size = positive("size", size)
    check_cells(length / size)
    return max(least, math.ceil(length / size - 0.25))


def check_cells(cells: float) -> None:
    """An ArgumentError if a mesh would have more cells than fit into the memory, before it is built."""
    if not cells <= MAX_CELLS:
        raise ArgumentError("size", f"the mesh needs {cells:.2g} cells", f"at most {MAX_CELLS} cells")


def solid_cells(ni: int, nj: int, nk: int) -> Array:
    """A grid without holes, (ni, nj, nk) True, or an ArgumentError before it fills the memory."""
    check_cells(ni * nj * nk)
    return np.ones((ni, nj, nk), dtype=bool)


def graded(marks: Sequence[float], size: float, least: int = 1) -> tuple[Array, Array]:
    """Grid lines through given coordinates with cells of about a size.

    Args:
        marks: increasing coordinates where something begins or ends [m].
        size: wanted cell length [m].
        least: fewest cells between two marks.

    Returns:
        Coordinates of the grid lines, and for every cell the interval of the marks that it lies in.
    """
    counts = [divisions(b - a, size, least) for a, b in pairwise(marks)]
    check_cells(sum(counts))
    lines, owner = [float(marks[0])], []
    for i, (a, b, n) in enumerate(zip(marks, marks[1:], counts)):
        lines += [a + (b - a) * (j + 1) / n for j in range(n)]
        owner += [i] * n
    return np.array(lines), np.array(owner)


def structured(mask: Array, place: Place, *, hexes: bool = False) -> TetMesh:
    """Mesh of the True cells of a grid whose nodes are put anywhere; coinciding nodes are welded.

    Args:
        mask: (ni, nj, nk) booleans, the solid cells.
        place: positions (n, 3) [m] of the grid nodes with indices i, j, k (n,).
        hexes: hexahedra instead of tets (no welding, so no collapsed cells).
    """
    counts = np.array(mask.shape) + 1
    cell = np.stack(np.nonzero(mask), axis=1)
    index = np.stack(np.meshgrid(*(np.arange(c) for c in counts), indexing="ij"), axis=-1).reshape(-1, 3)
    nodes = np.asarray(place(*index.T), dtype=float)
    # Mirroring odd cells leaves the diagonals of the faces between neighbours equal.
    flip = np.zeros_like(cell) if hexes else cell % 2
    corners = []
    for offset in np.ndindex(2, 2, 2):
        i, j, k = (cell + (np.array(offset) ^ flip)).T
        corners.append((i * counts[1] + j) * counts[2] + k)
    stacked = np.stack(corners, axis=1)
    if hexes:
        cells = stacked[:, topology.CELL_TO_VTK]
        return TetMesh(nodes, np.zeros((0, 4), dtype=np.int64), cells).compacted()
    return welded(nodes, stacked[:, topology.CELL_TETS].reshape(-1, 4))


def welded(nodes: Array, tets: Array) -> TetMesh:
    """Merge nodes that coincide, drop the tets that collapse, and turn all tets the right way."""
    size = float(np.ptp(nodes, axis=0).max())
    keys = np.rint(nodes / (1e-7 * size)).astype(np.int64)
    _, first, index = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first)  # keep the order in which nodes came
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    nodes, tets = nodes[first[order]], rank[index.reshape(-1)][tets]
    corners = np.sort(tets, axis=1)
    tets = tets[(np.diff(corners, axis=1) != 0).all(axis=1)]
    return TetMesh(nodes, topology.oriented(nodes, tets)).compacted()


def mirrored(mesh: TetMesh, axis: int, at: float) -> TetMesh:
    """A mesh and its image in the plane where a coordinate has a value [m], welded there; labels are lost."""
    image = mesh.nodes.copy()
    image[:, axis] = 2.0 * at - image[:, axis]
    return welded(np.concatenate([mesh.nodes, image]), np.concatenate([mesh.tets, mesh.tets + len(image)]))


def rectilinear(xs: Array, ys: Array, zs: Array) -> Place:
    """Placement of grid nodes at the crossings of three families of lines [m]."""

    def place(i: Array, j: Array, k: Array) -> Array:
        return np.stack([xs[i], ys[j], zs[k]], axis=1)

    return place


def with_cavities(mesh: TetMesh, centres: Mapping[str, Any]) -> TetMesh:
    """Name the closed cavities of a mesh by the points nearest to their centres [m]; all must be named."""
    found = mesh.find_cavities()
    if len(found) != len(centres):
        raise MeshError(
            f"the mesh has {len(found)} cavities, {len(centres)} were expected; choose a smaller size"
        )
    middle = np.array([mesh.nodes[np.unique(c)].mean(axis=0) for c in found])
    for name, centre in centres.items():
        nearest = int(np.argmin(((middle - np.asarray(centre, dtype=float)) ** 2).sum(axis=1)))
        mesh = mesh.with_cavity(name, found[nearest])
    return mesh


def near(axis: int, value: float, tolerance: float = 1e-7) -> Callable[[Array], Array]:
    """Predicate of points on the plane where a coordinate has a value [m]."""
    return lambda x: np.abs(x[:, axis] - value) < tolerance


#: Rotation that turns a finger described along +x, curling down (-z), into one that hangs along -z and curls
# to +x.
HANGING = np.array([[0.0, 0.0, -1.0], [0.0, -1.0, 0.0], [-1.0, 0.0, 0.0]])


def hung(x: float, y: float, z: float) -> tuple[float, float, float]:
    """The point of a lying finger [m] after it is hung up (see `HANGING`)."""
    return (0.0 - z, 0.0 - y, 0.0 - x)
