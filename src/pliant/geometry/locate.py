"""Which tet holds a point, and with which barycentric weights."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant._kernels import boxes


def box_tree(
    corners: np.ndarray, padding: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Tree over the boxes of cells given by their corners (m, k, 3), each box grown by `padding` [m]."""
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

    def __post_init__(self) -> None:
        extent = float(np.ptp(self.nodes, axis=0).max())
        object.__setattr__(self, "_cells", box_tree(self.nodes[self.tets], 1e-12 * extent))
        object.__setattr__(self, "_surface", box_tree(self.nodes[self.triangles]))

    def __call__(self, points: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(tet (p,), weights (p, 4), distance outside (p,) [m]) of points (p, 3); see `TetMesh.locate`."""
        points = np.ascontiguousarray(points)
        index, weights = boxes.containing_tets(
            *self._cells,
            self.nodes,
            self.tets,
            points,
            1e-12,  # type: ignore[attr-defined]
        )
        distance = np.zeros(len(points))
        outside = np.flatnonzero(index < 0)
        if len(outside):
            near, on_triangle, far = boxes.closest_triangles(
                *self._surface,
                self.nodes,
                self.triangles,
                points[outside],  # type: ignore[attr-defined]
            )
            owner = self.owners[near]
            index[outside], distance[outside] = owner, far
            # The closest point lies on a face of the owner: move its three weights to the face's nodes.
            match = self.tets[owner][:, :, None] == self.triangles[near][:, None, :]
            weights[outside] = np.einsum("pij,pj->pi", match, on_triangle)
        weights = np.clip(weights, 0.0, 1.0)
        return index, weights / weights.sum(axis=1, keepdims=True), distance
