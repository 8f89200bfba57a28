"""Which tet holds a point, and with which barycentric weights."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

Tree = tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]


def box_tree(corners: np.ndarray, padding: float = 0.0) -> Tree:
    """Tree over the boxes of cells given by their corners (m, k, 3), each box grown by `padding` [m]."""
    from pliant._kernels import boxes  # imported on use: numba is slow to load

    low, high = corners.min(axis=1) - padding, corners.max(axis=1) + padding
    return boxes.build(np.ascontiguousarray(low), np.ascontiguousarray(high))


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
        from pliant._kernels import boxes

        points = np.ascontiguousarray(points)
        order, box, child, span = self._cells
        index, weights = boxes.containing_tets(order, box, child, span, self.nodes, self.tets, points, 1e-12)
        distance = np.zeros(len(points))
        outside = np.flatnonzero(index < 0)
        if len(outside):
            order, box, child, span = self._surface
            near, on_triangle, far = boxes.closest_triangles(
                order, box, child, span, self.nodes, self.triangles, points[outside]
            )
            owner = self.owners[near]
            index[outside], distance[outside] = owner, far
            # The closest point lies on a face of the owner: move its three weights to the face's nodes.
            match = self.tets[owner][:, :, None] == self.triangles[near][:, None, :]
            weights[outside] = np.einsum("pij,pj->pi", match, on_triangle)
        weights = np.clip(weights, 0.0, 1.0)
        return index, weights / weights.sum(axis=1, keepdims=True), distance
