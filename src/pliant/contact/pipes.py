"""A skin of curves inside of a pipe: `pliant.contact.analytic` in one compiled pass."""

from __future__ import annotations

import numpy as np

from pliant._kernels.pipe import curves_in_pipe
from pliant.contact.analytic import Sampling
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.shapes import Pipe
from pliant.contact.surface import Surface

Array = np.ndarray


def against_pipe(surface: Surface, x: Array, obstacle: Obstacle, index: int, how: Sampling) -> list[Contacts] | None:
    """Contacts of the skin at positions x (n, 3) with one obstacle; None where this is for `against_obstacle` to find.

    That is the case for other obstacles, for a skin with triangles, and where only local minima are wanted.
    """
    if how.minimum or len(surface.triangles) or not isinstance(obstacle, Pipe):
        return None
    moved = not obstacle.pose.identity
    own = np.ascontiguousarray(obstacle.pose.undo(x)) if moved else x
    key, vertices, weights, gap, normal, position, point, plain = curves_in_pipe(
        own, surface.radius, surface.segments, surface.prim_edges[:, 0], obstacle.tubes,
        how.alarm, how.offset, how.sag, how.interiors, index,
    )  # fmt: skip
    m = len(gap)
    if not m:
        return []
    if plain:
        vertices, weights = vertices[:, :1], weights[:, :1]
    if moved:
        normal = np.ascontiguousarray(obstacle.pose.turn(normal))
        position, point = obstacle.pose.apply(position), obstacle.pose.apply(point)
    return [
        Contacts.build(
            gap=gap, normal=normal, vertices=vertices, weights=weights, position=position, point=point,
            obstacle=np.full(m, index), key=key, friction=np.full(m, obstacle.friction),
        )
    ]  # fmt: skip
