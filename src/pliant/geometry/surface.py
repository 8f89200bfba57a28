"""A watertight triangle surface as a signed-distance shape."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, MeshError
from pliant.geometry import topology
from pliant.geometry.locate import Tree, box_tree, closest_on_triangles
from pliant.geometry.shapes import Shape, Value


def weld(
    vertices: np.ndarray, triangles: np.ndarray, *, tolerance: float = 1e-7
) -> tuple[np.ndarray, np.ndarray]:
    """Merge vertices closer than tolerance times the extent; drop triangles that collapse.

    STL files repeat every vertex in every triangle, so this is needed before anything else.
    """
    extent = float(np.ptp(vertices, axis=0).max()) or 1.0
    key = np.round((vertices - vertices.min(axis=0)) / (tolerance * extent)).astype(np.int64)
    _, first, inverse = np.unique(key, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(np.argsort(first))  # keep the first-seen order of vertices
    triangles = order[inverse.reshape(-1)][triangles]
    a, b, c = triangles.T
    return vertices[np.sort(first)], triangles[(a != b) & (b != c) & (c != a)]


@dataclass(frozen=True, eq=False)
class SurfaceShape(Shape):
    """The inside of a closed triangle surface; exact distance, sign by angle-weighted pseudo-normals.

    Attributes:
        vertices: (n, 3) [m].
        triangles: (k, 3), all oriented the same way; an inward surface is turned around.
    """

    vertices: Any
    triangles: Any

    def __post_init__(self) -> None:
        vertices = np.array(self.vertices, dtype=float)
        triangles = np.asarray(self.triangles)
        if vertices.ndim != 2 or vertices.shape[1] != 3 or not np.isfinite(vertices).all():
            raise ArgumentError("vertices", f"has shape {vertices.shape} or is not finite", "(n, 3) [m]")
        if (
            triangles.ndim != 2
            or triangles.shape[1] != 3
            or triangles.dtype.kind not in "iu"
            or not len(triangles)
        ):
            raise ArgumentError(
                "triangles", f"has shape {triangles.shape}, type {triangles.dtype}", "(k, 3) integers"
            )
        if triangles.min() < 0 or triangles.max() >= len(vertices):
            raise ArgumentError("triangles", "has indices out of range", f"0 to {len(vertices) - 1}")
        vertices, triangles = weld(vertices, triangles.astype(np.int64))
        loose = topology.open_edges(triangles)
        if len(triangles) == 0 or len(loose):
            a = vertices[loose[0, 0]].round(6).tolist() if len(loose) else None
            raise MeshError(
                f"the surface is not watertight: {len(loose)} edges lack exactly one neighbour of the same "
                f"orientation (first near {a})"
            )
        volume = topology.enclosed_volume(vertices, triangles)
        if volume == 0.0:
            raise MeshError("the surface encloses no volume")
        if volume < 0.0:
            triangles = np.ascontiguousarray(triangles[:, [0, 2, 1]])
        for name, array in (("vertices", vertices), ("triangles", triangles)):
            array.setflags(write=False)
            object.__setattr__(self, name, array)

    @cached_property
    def _tree(self) -> Tree:
        return box_tree(self.vertices[self.triangles])

    @cached_property
    def _normals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Normals of faces (k, 3), vertices (n, 3) and of the edge after each corner (k, 3, 3)."""
        x = self.vertices[self.triangles]
        face = np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0])
        face /= np.maximum(np.linalg.norm(face, axis=1, keepdims=True), 1e-300)
        vertex = np.zeros_like(self.vertices)
        for i in range(3):
            u, v = x[:, (i + 1) % 3] - x[:, i], x[:, (i + 2) % 3] - x[:, i]
            angle = np.arctan2(np.linalg.norm(np.cross(u, v), axis=1), np.einsum("ki,ki->k", u, v))
            np.add.at(vertex, self.triangles[:, i], angle[:, None] * face)
        pairs = self.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
        key = np.unique(topology.edge_keys(pairs, len(self.vertices)), return_inverse=True)[1].reshape(-1)
        total = np.zeros((int(key.max()) + 1, 3))
        np.add.at(total, key, np.repeat(face, 3, axis=0))
        return face, vertex, total[key].reshape(-1, 3, 3)

    def evaluate(self, points: np.ndarray) -> Value:
        """Distance to the closest triangle; inside where the pseudo-normal points away."""
        points = np.ascontiguousarray(points, dtype=float)
        index, weights, length = closest_on_triangles(points, self.vertices, self.triangles, self._tree)
        face, vertex, edge = self._normals
        normal = face[index].copy()
        tiny = weights <= 1e-12
        zeros = tiny.sum(axis=1)
        rows = np.flatnonzero(zeros == 1)  # on an edge: opposite corner i has no weight, edge i+1 -> i+2
        opposite = np.argmax(tiny[rows], axis=1)
        normal[rows] = edge[index[rows], (opposite + 1) % 3]
        rows = np.flatnonzero(zeros == 2)
        corner = np.argmax(weights[rows], axis=1)
        normal[rows] = vertex[self.triangles[index[rows], corner]]
        foot = np.einsum("pj,pji->pi", weights, self.vertices[self.triangles[index]])
        away = points - foot
        sign = np.where(np.einsum("pi,pi->p", away, normal) < 0.0, -1.0, 1.0)
        far = length > 1e-12 * float(np.ptp(self.vertices, axis=0).max())
        normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-300)
        safe = np.where(far, length, 1.0)
        return sign * length, np.where(far[:, None], (sign / safe)[:, None] * away, normal)

    @property
    def bounds(self) -> np.ndarray:
        """Box of the vertices."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])
