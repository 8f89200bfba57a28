"""Which tet holds a point, and with which barycentric weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Tree = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def box_tree(corners: np.ndarray, padding: float = 0.0) -> Tree:
    """Tree over the boxes of cells given by their corners (m, k, 3), each box grown by `padding` [m].

    Returns (children, ranges, order, node_low, node_high) of `pliant._kernels.bvh`.
    """
    from pliant._kernels import bvh  # imported on use: numba is slow to load

    low = np.ascontiguousarray(corners.min(axis=1) - padding)
    high = np.ascontiguousarray(corners.max(axis=1) + padding)
    children, ranges, order = bvh.build(0.5 * (low + high))
    node_low, node_high = np.zeros((len(children), 3)), np.zeros((len(children), 3))
    bvh.refit(children, ranges, order, low, high, node_low, node_high)
    return children, ranges, order, node_low, node_high


def closest_on_triangles(
    points: np.ndarray, vertices: np.ndarray, triangles: np.ndarray, tree: Tree
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The closest triangle (p,), its weights (p, 3) and the distance (p,) [m] for every point (p, 3)."""
    from pliant._kernels.closest import nearest_on_mesh

    index, weights = nearest_on_mesh(points, vertices, triangles, *tree)
    foot = np.einsum("pk,pki->pi", weights, vertices[triangles[index]])
    return index, weights, np.linalg.norm(points - foot, axis=1)


@dataclass(frozen=True, eq=False)
class TetLocator:
    """Search structure of one mesh: a box tree over its tets and one over its boundary triangles.

    Attributes:
        nodes: (n, 3) [m].
        tets: (m, 4).
        triangles: (k, 3) boundary.
        owners: (k,) the tet behind each boundary triangle.
    """

    nodes: np.ndarray
    tets: np.ndarray
    triangles: np.ndarray
    owners: np.ndarray

    @cached_property
    def _cells(self) -> Tree:
        extent = float(np.ptp(self.nodes, axis=0).max())
        return box_tree(self.nodes[self.tets], 1e-12 * extent)

    @cached_property
    def _surface(self) -> Tree:
        return box_tree(self.nodes[self.triangles])

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(tet (p,), weights (p, 4), distance outside (p,) [m]) of points (p, 3); see `TetMesh.locate`."""
        from pliant._kernels.inside import containing_tets

        points = np.ascontiguousarray(points)
        index, weights = containing_tets(points, self.nodes, self.tets, *self._cells, 1e-12)
        distance = np.zeros(len(points))
        outside = np.flatnonzero(index < 0)
        if len(outside):
            near, on_triangle, far = closest_on_triangles(
                points[outside], self.nodes, self.triangles, self._surface
            )
            owner = self.owners[near]
            index[outside], distance[outside] = owner, far
            # The closest point lies on a face of the owner: move its three weights to the face's nodes.
            match = self.tets[owner][:, :, None] == self.triangles[near][:, None, :]
            weights[outside] = np.einsum("pij,pj->pi", match, on_triangle)
        weights = np.clip(weights, 0.0, 1.0)
        return index, weights / weights.sum(axis=1, keepdims=True), distance
