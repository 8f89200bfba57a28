"""Swallowed: obstacles that stand inside of a soft body, where no vertex of its skin is inside of them.

Contacts are found from the skin: vertices, and lowest points of triangles. A thin post, or a ball that is small against
the triangles, may come to stand in the material unnoticed once its middle is through. Seen from the obstacle it is
plain: points of its surface lie inside of the body.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant._kernels.winding import depths_inside
from pliant.contact.obstacles import Obstacle
from pliant.contact.primitives import Plane

Array = np.ndarray
_MOST = 2000  # points along the edges of one obstacle
_NOTHING = 0.01  # of the spacing, half an edge of the skin: a depth that contacts may leave where edges are flat


def obstacle_points(obstacle: Obstacle, spacing: float, low: Array, high: Array) -> Array:
    """Points of the solid of an obstacle, on its surface, at most so far apart, within a box [m] (p, 3).

    Along the edges of its triangulation, which is coarse. Chords of hollow shapes leave the material: those points
    are left out. (Planes have no surface of their own; what a plane meets has vertices inside of it.)
    """
    if isinstance(obstacle, Plane):
        return np.zeros((0, 3))
    own, edges = _outline(obstacle)
    vertices = obstacle.pose.apply(own)
    if (vertices.max(axis=0) < low).any() or (vertices.min(axis=0) > high).any():
        return np.zeros((0, 3))
    a, b = vertices[edges[:, 0]], vertices[edges[:, 1]]
    long = np.linalg.norm(b - a, axis=1) > spacing
    a, b = a[long], b[long]
    near = ((np.maximum(a, b) >= low) & (np.minimum(a, b) <= high)).all(axis=1)
    a, b = a[near], b[near]
    steps = np.minimum(np.ceil(np.linalg.norm(b - a, axis=1) / spacing).astype(int), max(_MOST // max(len(a), 1), 2))
    inner = [a[i] + t * (b[i] - a[i]) for i, n in enumerate(steps) for t in np.arange(1, n) / n]
    points = np.concatenate([vertices, np.array(inner).reshape(-1, 3)])
    points = points[((points >= low) & (points <= high)).all(axis=1)]
    if not len(points):
        return points
    # one per cell, so that a finely drawn obstacle costs no more than a coarse one
    cell = np.floor((points - low) / min(spacing, 0.1 * float(np.ptp(vertices, axis=0).max()))).astype(np.int64)
    count = cell.max(axis=0) + 1
    _, first = np.unique((cell[:, 0] * count[1] + cell[:, 1]) * count[2] + cell[:, 2], return_index=True)
    points = points[first]
    return points[obstacle.distance(points) <= 1e-9 * float(np.abs(points).max())]


def _outline(obstacle: Obstacle) -> tuple[Array, Array]:
    """Vertices [m] (n, 3) and edges (m, 2) of an obstacle's triangulation, in its own frame; made once."""
    known: tuple[Array, Array] | None = vars(obstacle).get("_outline")
    if known is None:
        vertices, triangles = obstacle.triangulation()
        sides = np.concatenate([triangles[:, pair] for pair in ([0, 1], [1, 2], [2, 0])])
        known = vertices, np.unique(np.sort(sides, axis=1), axis=0)
        vars(obstacle)["_outline"] = known
    return known


def swallowed(obstacles: Sequence[Any], x: Array, triangles: Array, held: Array) -> tuple[float, tuple[str, ...]]:
    """How deep points of rigid obstacles lie inside of closed soft skins [m], and the names of those obstacles.

    Args:
        obstacles: what is in the way; soft ones do not count.
        x: positions of the skin [m] (n, 3).
        triangles: of the skin (nt, 3).
        held: vertices (n,) bool that cannot move: next to those a body may be built into what holds it.
    """
    if not len(triangles):
        return 0.0, ()
    low, high = x.min(axis=0), x.max(axis=0)
    corners = x[triangles]
    spacing = 0.5 * float(np.median(np.linalg.norm(corners[:, 1] - corners[:, 0], axis=1)))
    counts = ~held[triangles].any(axis=1)
    deepest, names = 0.0, []
    for obstacle in obstacles:
        points = obstacle_points(obstacle, spacing, low, high) if isinstance(obstacle, Obstacle) else ()
        if not len(points):
            continue
        depth = float(depths_inside(points, np.ascontiguousarray(x), np.ascontiguousarray(triangles), counts).max())
        if depth > _NOTHING * spacing:
            deepest = max(deepest, depth)
            names.append(obstacle.name)
    return deepest, tuple(names)
