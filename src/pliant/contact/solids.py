"""A skin of triangles against a plane, sphere, capsule or cylinder: `pliant.contact.analytic` in one compiled pass."""

from __future__ import annotations

import numpy as np

from pliant._kernels.solids import BALL, PLANE, VERTEX, skin_against_solid
from pliant.contact.analytic import Sampling, _grid
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.primitives import Capsule, Cylinder, Plane, Sphere
from pliant.contact.surface import Surface

Array = np.ndarray
Solid = tuple[Array, Array, float, float, int, Array]
_UP = np.array([0.0, 0.0, 1.0])
_GRIDS = (_grid(4, 3) - 1.0 / 3.0, _grid(8, 2) - 0.5)  # of triangles and segments, relative to their centres


def _solid(obstacle: Obstacle) -> Solid | None:
    """The obstacle in the world as `skin_against_solid` takes it; None if it is no such solid."""
    if isinstance(obstacle, Capsule | Cylinder):
        a, axis, aside = np.array(obstacle.a), np.array(obstacle.axis), np.array(obstacle._aside)
        length, radius, ends = obstacle.length, obstacle.radius, obstacle.ends
    elif isinstance(obstacle, Sphere):
        a, axis, aside = np.array(obstacle.centre), _UP, _UP
        length, radius, ends = 0.0, obstacle.radius, BALL
    elif isinstance(obstacle, Plane):
        a, axis, aside = np.array(obstacle.point), np.array(obstacle.normal), _UP
        length, radius, ends = 0.0, 0.0, PLANE
    else:
        return None
    if not obstacle.pose.identity:
        a = obstacle.pose.apply(a[None])[0]
        axis, aside = obstacle.pose.turn(np.stack([axis, aside]))
    return a, axis, float(length), float(radius), int(ends), aside


def against_solid(surface: Surface, x: Array, obstacle: Obstacle, index: int, how: Sampling) -> list[Contacts] | None:
    """Contacts of the skin at positions x (n, 3) with one obstacle; None where this is for `against_obstacle` to find.

    That is the case for other obstacles, for a skin of curves or with thickness (but at planes), and where only local
    minima are wanted.
    """
    plain = surface.thin and not len(surface.segments)
    solid = None if how.minimum else _solid(obstacle)
    if solid is None or not (plain or solid[4] == PLANE):
        return None
    between = how.interiors and solid[4] != PLANE
    kind, feature, vertices, weights, gap, normal, position, point = skin_against_solid(
        x, surface.radius, surface.triangles, surface.prim_edges, surface.edges, surface.edge_prims, solid, _GRIDS,
        how.alarm, how.offset, how.sag, how.tolerance, between,
    )  # fmt: skip
    m = len(gap)
    if not m:
        return []
    if kind[-1] == VERTEX:  # and nothing else
        vertices, weights = vertices[:, :1], weights[:, :1]
    head = (np.int64(index) << 5 | kind) << 50
    return [
        Contacts.build(
            gap=gap, normal=normal, vertices=vertices, weights=weights, position=position, point=point,
            obstacle=np.full(m, index), key=head | feature << 25, friction=np.full(m, obstacle.friction),
        )
    ]  # fmt: skip
