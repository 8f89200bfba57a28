"""Passage: did a skin go through an obstacle from one pose to the next, so fast that neither pose shows it?"""

from __future__ import annotations

import numpy as np

from pliant.contact.obstacles import Obstacle, Pose
from pliant.contact.surface import Surface

Array = np.ndarray
_STEPS = 400  # along a path, at most


def went_through(
    surface: Surface, before: Array, after: Array, obstacle: Obstacle, pose: Pose, *, tolerance: float
) -> bool:
    """True if a point of the skin went in on one side of an obstacle and came out on another.

    Looked at are vertices and middles of triangles and segments, on straight paths in the frame of the obstacle. A
    point that slides around a corner cuts it too; it counts only if the normals where it was and where it is oppose.

    Args:
        surface: of the skin.
        before: positions of its vertices [m] (n, 3).
        after: positions later [m] (n, 3).
        obstacle: where it is later.
        pose: where it was before.
        tolerance: depth that does not count [m].
    """
    start, end = pose.undo(_points(surface, before)), obstacle.pose.undo(_points(surface, after))
    (near, n0), (far, n1) = obstacle.signed(start), obstacle.signed(end)
    length = np.linalg.norm(end - start, axis=1)
    # The distance changes by no more than the way: a long way between two small distances may lead through.
    open_ended = (near > -tolerance) & (far > -tolerance) & (near + far < length)
    chosen = np.flatnonzero(open_ended & (np.einsum("ni,ni->n", n0, n1) < 0.0))
    along = np.zeros(len(chosen))
    for _ in range(_STEPS):
        if not len(chosen):
            break
        share = (along / length[chosen])[:, None]
        distance = obstacle.signed((1.0 - share) * start[chosen] + share * end[chosen])[0]
        if (distance < -tolerance).any():
            return True
        along = along + np.maximum(distance, tolerance)
        on = along < length[chosen]
        chosen, along = chosen[on], along[on]
    return False


def _points(surface: Surface, x: Array) -> Array:
    parts = [x, *(x[simplices].mean(axis=1) for simplices in (surface.triangles, surface.segments) if len(simplices))]
    return np.concatenate(parts)
