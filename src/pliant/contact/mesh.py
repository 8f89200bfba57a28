"""MeshObstacle: a rigid triangle mesh as an obstacle."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from pliant._kernels.closest import nearest_on_mesh
from pliant._kernels.features import Faces
from pliant.contact.obstacles import Array, Obstacle
from pliant.contact.surface import Surface, Tree
from pliant.errors import ArgumentError, FileError, MeshError


@dataclass(frozen=True, eq=False)
class MeshObstacle(Obstacle):
    """A solid bounded by a closed triangle mesh.

    The sign of the distance comes from the normal of the closest feature (angle-weighted at
    vertices), which is exact for watertight meshes.

    Attributes:
        vertices: positions [m] (n, 3), or the path of a surface mesh file (STL, OBJ, PLY, ...).
        triangles: vertex indices (m, 3), outward; None with a path.
        open: accept a surface with holes or borders. Its front is then free and its back solid, as
            far as the closest feature tells.
        scale: factor on the vertices, e.g. 1e-3 for files in millimetres.
    """

    vertices: Any = None
    triangles: Any = None
    open: bool = False
    scale: float = 1.0
    watertight: bool = field(default=False, init=False)
    topology: Surface = field(init=False, repr=False)
    tree: Tree = field(init=False, repr=False)
    faces: Faces = field(init=False, repr=False)

    convex = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.vertices, str | Path):
            x, t = read_surface(self.vertices)
        elif self.vertices is None or self.triangles is None:
            raise ArgumentError("vertices", "give vertices and triangles, or the path of a file")
        else:
            x, t = np.array(self.vertices, dtype=float), np.array(self.triangles)
        if x.ndim != 2 or x.shape[1] != 3 or not np.all(np.isfinite(x)):
            raise ArgumentError("vertices", "they are not points", "finite numbers (n, 3)")
        if t.ndim != 2 or t.shape[1] != 3 or not len(t) or not np.issubdtype(t.dtype, np.integer):
            raise ArgumentError("triangles", f"shape {t.shape}, type {t.dtype}", "integers (m >= 1, 3)")
        x = x * self.scale
        nothing = np.zeros((0, 2), dtype=np.int64)
        surface = Surface(t, nothing, np.zeros(len(x)), np.zeros(len(x), dtype=np.int64))
        area = np.linalg.norm(np.cross(x[t[:, 1]] - x[t[:, 0]], x[t[:, 2]] - x[t[:, 0]]), axis=1)
        if np.any(area <= 0.0):
            raise MeshError("triangles without area", np.flatnonzero(area <= 0.0))
        if surface.watertight:
            volume = np.einsum("ni,ni->", x[t[:, 0]], np.cross(x[t[:, 1]], x[t[:, 2]])) / 6.0
            if volume <= 0.0:
                raise MeshError("the mesh is inside out: its triangles must be oriented outward")
        elif not self.open:
            lonely = np.flatnonzero((surface.edge_prims[:, 1] < 0)[surface.prim_edges].any(axis=1))
            raise MeshError("the mesh is not watertight; repair it, or pass open=True", lonely)
        faces = surface.faces(x)
        tree = Tree(surface, x)
        tree.refit(faces, slack=0.1)
        for name, value in (
            ("vertices", x), ("triangles", surface.triangles), ("scale", 1.0), ("topology", surface),
            ("tree", tree), ("faces", faces), ("watertight", surface.watertight),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and gradient (n, 3) in the own frame."""
        t, tree = self.triangles, self.tree
        which, bary = nearest_on_mesh(
            points, self.vertices, t, tree.children, tree.ranges, tree.order, tree.node_low, tree.node_high
        )
        corners = t[which]
        offset = points - np.einsum("nk,nki->ni", bary, self.vertices[corners])
        distance = np.linalg.norm(offset, axis=1)
        zeros = (bary == 0.0).sum(axis=1)
        pseudo = self.faces.normals[which]
        on_edge, on_vertex = zeros == 1, zeros == 2
        opposite = np.argmax(bary == 0.0, axis=1)
        edges = self.topology.prim_edges[which, (opposite + 1) % 3]
        pseudo[on_edge] = self.faces.edge_normals[edges[on_edge]]
        corner = corners[np.arange(len(points)), np.argmax(bary, axis=1)]
        pseudo[on_vertex] = self.faces.vertex_normals[corner[on_vertex]]
        side = np.einsum("ni,ni->n", offset, pseudo)
        sign = np.where(side < 0.0, -1.0, 1.0)
        sharp = (zeros > 0) & (distance > 1e-14)
        gradient = pseudo.copy()
        gradient[sharp] = (sign / np.maximum(distance, 1e-300))[sharp, None] * offset[sharp]
        return sign * distance, gradient

    def triangulation(self) -> tuple[Array, Array]:
        """The mesh itself."""
        return self.vertices, self.triangles


def read_surface(path: str | Path) -> tuple[Array, Array]:
    """Vertices (n, 3) and triangles (m, 3) of a surface mesh file; equal vertices are merged."""
    import meshio

    if not Path(path).is_file():
        raise FileError(path, "there is no such file")
    try:
        mesh = meshio.read(path)
    except (Exception, SystemExit) as error:  # meshio raises whatever a broken file makes it raise
        raise FileError(path, f"it cannot be read as a surface mesh: {error}") from error
    blocks = [np.asarray(c.data) for c in mesh.cells if c.type == "triangle"]
    if not blocks:
        raise FileError(path, "it contains no triangles")
    points = np.asarray(mesh.points, dtype=float)
    size = float(np.max(np.ptp(points, axis=0))) if len(points) else 0.0
    grid = np.round(points / max(size * 1e-9, 1e-300)).astype(np.int64)
    _, first, index = np.unique(grid, axis=0, return_index=True, return_inverse=True)
    triangles = index.reshape(-1)[np.concatenate(blocks)].astype(np.int64)
    good = (triangles[:, 0] != triangles[:, 1]) & (triangles[:, 1] != triangles[:, 2])
    good &= triangles[:, 2] != triangles[:, 0]
    return points[first], triangles[good]
