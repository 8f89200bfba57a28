"""Passage: did a skin go through an obstacle or a body from one pose to the next, so fast that neither shows it?"""

from __future__ import annotations

import numpy as np

from pliant.contact.mesh import MeshObstacle
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


def flew_through(surface: Surface, before: Array, after: Array, a: int, b: int, *, tolerance: float) -> bool:
    """True if one of two soft bodies went through the other, on whichever side it came out.

    Each is in turn taken for a rigid obstacle in its later shape, moved as its points moved on the whole; points of the
    other then go through it or not. What it deformed in between is not seen.

    Args:
        surface: of the skin of all bodies.
        before: positions of its vertices [m] (n, 3).
        after: positions later [m] (n, 3).
        a, b: the bodies.
        tolerance: depth that does not count [m].
    """
    for solid, other in ((a, b), (b, a)):
        part, place = _of_body(surface, solid), surface.body == solid
        if not len(part.triangles):
            continue  # nothing is inside of a curve
        vertices = np.where(place[:, None], after, after[place].mean(axis=0))
        obstacle = MeshObstacle(vertices, part.triangles, open=True)
        earlier = _motion(after[place], before[place])
        if went_through(_of_body(surface, other), before, after, obstacle, earlier, tolerance=tolerance):
            return True
    return False


def _motion(x: Array, y: Array) -> Pose:
    """The rigid motion that takes points x (n, 3) to y (n, 3) on the whole (least squares)."""
    mx, my = x.mean(axis=0), y.mean(axis=0)
    U, _, V = np.linalg.svd((y - my).T @ (x - mx))
    turn = U @ np.diag([1.0, 1.0, np.linalg.det(U @ V)]) @ V
    return Pose(my - turn @ mx, turn)


def _of_body(surface: Surface, body: int) -> Surface:
    """The triangles and segments of one body, on the vertices of all."""
    triangles, segments = (s[surface.body[s[:, 0]] == body] for s in (surface.triangles, surface.segments))
    return Surface(triangles, segments, surface.radius, surface.body)


def _points(surface: Surface, x: Array) -> Array:
    kinds = [simplices for simplices in (surface.triangles, surface.segments) if len(simplices)]
    own = np.unique(np.concatenate([simplices.ravel() for simplices in kinds]))
    return np.concatenate([x[own], *(x[simplices].mean(axis=1) for simplices in kinds)])
