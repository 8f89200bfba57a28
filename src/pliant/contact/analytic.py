"""Skin against an obstacle whose signed distance is known.

Every vertex is tested. Where an obstacle is small or sharp against the skin's triangles (or a curve's
segments), the lowest point of a primitive can lie between its vertices; such points are found by a
nested search on the primitives that a lower bound of the distance does not rule out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import numpy as np

from pliant._kernels.closest import may_be_lower_inside
from pliant._kernels.lowest import lowest_points, nearest_points, square_to
from pliant.contact.contacts import Contacts
from pliant.contact.lowering import lowered
from pliant.contact.obstacles import Obstacle
from pliant.contact.primitives import Capsule, Cylinder, Sphere
from pliant.contact.surface import Surface

Array = np.ndarray
_ROUNDING = 1e-9  # of the alarm distance
_VERTEX, _EDGE, _FACE = 8, 9, 10  # kinds in the keys; 1 to 6 belong to pairs of features


def pack(obstacle: int, kind: Array | int, first: Array, second: Array | int = 0) -> Array:
    """Keys (m,) int64 out of obstacle (8 bits), kind (5 bits) and two features (25 bits each)."""
    head = (np.int64(obstacle) << 5 | np.asarray(kind, dtype=np.int64)) << 50
    return head | np.asarray(first, dtype=np.int64) << 25 | np.asarray(second, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Sampling:
    """How the skin is tested against signed distances.

    Attributes:
        alarm: contacts with a larger gap are left out [m].
        offset: contact distance, subtracted from every gap [m].
        minimum: keep only vertices that are local minima of the gap.
        tolerance: sine of the angle that widens local minima [-].
        sag: interior points are added if they are lower than the vertices by this [m].
        interiors: look between the vertices at all.
    """

    alarm: float
    offset: float
    minimum: bool
    tolerance: float
    sag: float
    interiors: bool


def against_obstacle(
    surface: Surface, x: Array, obstacle: Obstacle, index: int, how: Sampling, *, interiors: bool = True
) -> list[Contacts]:
    """Contacts of the skin at positions x (n, 3) with one obstacle."""
    distance, normal = obstacle.distance_and_normals(x)
    gap = distance - surface.radius - how.offset
    near = gap < how.alarm
    if how.minimum and near.any():
        a, b = surface.edges.T
        step = how.tolerance * np.linalg.norm(x[a] - x[b], axis=1)
        near[a[gap[a] > gap[b] + step]] = False
        near[b[gap[b] > gap[a] + step]] = False
    chosen = np.flatnonzero(near)
    parts = []
    if len(chosen):
        n = normal[chosen]
        parts.append(
            Contacts.build(
                gap=gap[chosen], normal=n, vertices=chosen[:, None], weights=np.ones((len(chosen), 1)),
                position=x[chosen], point=x[chosen] - distance[chosen, None] * n,
                obstacle=np.full(len(chosen), index), key=pack(index, _VERTEX, chosen),
                friction=np.full(len(chosen), obstacle.friction),
            )
        )  # fmt: skip
    if how.interiors and interiors:
        for simplices in (surface.triangles, surface.segments):
            if len(simplices):
                inner = _between_vertices(surface, x, obstacle, index, how, simplices, gap, normal)
                if inner is not None:
                    parts.append(inner)
    return parts


def _candidates(
    x: Array, simplices: Array, gap: Array, normal: Array, how: Sampling, obstacle: Obstacle
) -> Array:
    """Simplices that may be lower inside than at their vertices, by more than the sag."""
    near = may_be_lower_inside(x, simplices, gap, normal, how.alarm, how.sag, obstacle.convex)
    keep = np.flatnonzero(near)
    if obstacle.convex or not len(keep) or (simplices.shape[1] == 2 and hasattr(obstacle, "lowest_on_segments")):
        return keep
    # Nothing bounds the distance from below; one coarse look decides.
    grid = _grid(4 if simplices.shape[1] == 3 else 8, simplices.shape[1])
    points = np.einsum("gk,mki->mgi", grid, x[simplices[keep]])
    value = obstacle.distance(points.reshape(-1, 3)).reshape(len(keep), -1)
    corner = grid.max(axis=1) == 1.0
    inner = value[:, ~corner].min(axis=1)
    return keep[inner < value[:, corner].min(axis=1)]


@cache
def _grid(order: int, size: int) -> Array:
    """Barycentric coordinates of a regular grid on a simplex."""
    if size == 2:
        t = np.arange(order + 1) / order
        return np.stack([1.0 - t, t], axis=1)
    rows = [(i, j, order - i - j) for i in range(order + 1) for j in range(order + 1 - i)]
    return np.array(rows, dtype=float) / order


def lowest_weights(corners: Array, thickness: Array, obstacle: Obstacle) -> Array:
    """Barycentric coordinates of the lowest point of each simplex (m, k), by nested grids."""
    m, size = corners.shape[:2]
    own = getattr(obstacle, "lowest_on_segments", None)
    if own is not None and size == 2:
        return own(corners, thickness)
    if isinstance(obstacle, Sphere) and not np.any(thickness != thickness[:, :1]):
        return nearest_points(obstacle.pose.apply(np.asarray(obstacle.centre)[None])[0], corners)
    if isinstance(obstacle, Cylinder | Capsule):
        pose, a = obstacle.pose, np.asarray(obstacle.a)
        own = np.ascontiguousarray(pose.undo(corners.reshape(-1, 3))).reshape(corners.shape)
        shift = _grid(4 if size == 3 else 8, size) - 1.0 / size
        return lowest_points(
            own, thickness, shift, 17, 0.5, a, obstacle.axis, obstacle.length, obstacle.radius, obstacle.ends
        )
    # Few fine grids rather than many coarse ones: the number of calls is what costs.
    grid = _grid(12, size)
    shift = grid - 1.0 / size
    centre = np.full((m, size), 1.0 / size)
    scale = 1.0
    rows = np.arange(m)
    for _ in range(7):  # down to 1e-5 of the simplex; the gap is exact to the square of that
        sample = centre[:, None] + scale * shift
        sample = np.maximum(sample, 0.0)
        sample /= sample.sum(axis=2, keepdims=True)
        points = np.einsum("mgk,mki->mgi", sample, corners)
        value = obstacle.distance(points.reshape(-1, 3)).reshape(m, -1)
        value = value - np.einsum("mgk,mk->mg", sample, thickness)
        centre = sample[rows, np.argmin(value, axis=1)]
        scale /= 6.0
    return centre


def _between_vertices(
    surface: Surface, x: Array, obstacle: Obstacle, index: int, how: Sampling,
    simplices: Array, gap: Array, normal: Array,
) -> Contacts | None:  # fmt: skip
    """Contacts at lowest points inside of triangles, edges or segments."""
    keep = _candidates(x, simplices, gap, normal, how, obstacle)
    if not len(keep):
        return None
    vertices = simplices[keep]
    weights, points, distance, depth = _at_lowest(surface, x, obstacle, how, vertices)
    zeros = (weights == 0.0).sum(axis=1)
    inside = depth < gap[vertices].min(axis=1) - how.sag
    if simplices.shape[1] == 2:
        feature = surface.prim_edges[len(surface.triangles) + keep, 0]
        chosen = np.flatnonzero(inside & (zeros == 0) & (depth < how.alarm))
        kind = np.full(len(keep), _EDGE)
    else:
        edges, on_edge = _on_edges(surface, x, obstacle, how, keep, points, depth, gap, normal)
        # A lowest point inside a face counts where the edges around it are higher, by more than rounding.
        around = np.full(len(surface.edges), np.inf)
        around[edges] = on_edge[3]
        least = np.minimum(around[surface.prim_edges[keep]].min(axis=1), gap[vertices].min(axis=1))
        face = np.flatnonzero((zeros == 0) & inside & (depth < least - _ROUNDING * how.alarm) & (depth < how.alarm))
        ends = surface.edges[edges]
        vertices = np.concatenate([vertices[face], np.column_stack([ends, ends[:, 1]])])
        wide = np.column_stack([on_edge[0], np.zeros(len(edges))])
        parts = zip((weights, points, distance, depth), (wide, *on_edge[1:]))
        weights, points, distance, depth = (np.concatenate([a[face], b]) for a, b in parts)
        feature = np.concatenate([keep[face], edges])
        kind = np.repeat([_FACE, _EDGE], [len(face), len(edges)])
        chosen = np.arange(len(feature))
    if not len(chosen):
        return None
    n = np.ascontiguousarray(obstacle.normals(points[chosen]))
    square_to(n, x[vertices[chosen]], weights[chosen])
    return Contacts.build(
        gap=depth[chosen], normal=n, vertices=vertices[chosen], weights=weights[chosen],
        position=points[chosen], point=points[chosen] - distance[chosen, None] * n,
        obstacle=np.full(len(chosen), index), key=pack(index, kind[chosen], feature[chosen]),
        friction=np.full(len(chosen), obstacle.friction),
    )  # fmt: skip


def _at_lowest(surface: Surface, x: Array, obstacle: Obstacle, how: Sampling, vertices: Array) -> tuple[Array, ...]:
    """Weights (m, k), positions (m, 3), distances and gaps (m,) of the lowest points of simplices."""
    thickness = surface.radius[vertices]
    weights = lowest_weights(x[vertices], thickness, obstacle)
    if isinstance(obstacle, Sphere | Capsule | Cylinder) and np.any(thickness != thickness[:, :1]):
        weights = lowered(x[vertices], thickness, weights, obstacle)
    weights = np.where(weights < 1e-4, 0.0, weights)
    weights /= weights.sum(axis=1, keepdims=True)
    points = np.einsum("mk,mki->mi", weights, x[vertices])
    distance = obstacle.distance(points)
    return weights, points, distance, distance - np.einsum("mk,mk->m", weights, surface.radius[vertices]) - how.offset


def _on_edges(
    surface: Surface, x: Array, obstacle: Obstacle, how: Sampling,
    keep: Array, lowest: Array, depth: Array, gap: Array, normal: Array,
) -> tuple[Array, tuple[Array, ...]]:  # fmt: skip
    """Edges of triangles `keep` that are lowest between their ends, and `_at_lowest` of them.

    Where an obstacle lies flat on a row of triangles, the lowest point of each is anywhere along a line, and a tilt by
    rounding moves it. So an edge need not be lowest in its triangles, whose lowest points and gaps are given: it counts
    while the way down from it is flatter than the `tolerance`.
    """
    edges = np.unique(surface.prim_edges[keep])
    edges = edges[_candidates(x, surface.edges[edges], gap, normal, how, obstacle)]
    if not len(edges):
        return edges, (np.zeros((0, 2)), np.zeros((0, 3)), np.zeros(0), np.zeros(0))
    ends = surface.edges[edges]
    found = weights, points, _, own = _at_lowest(surface, x, obstacle, how, ends)
    good = (weights > 0.0).all(axis=1) & (own < gap[ends].min(axis=1) - how.sag) & (own < how.alarm)
    number = np.full(len(surface.prims) + 1, -1)  # the last place is for the missing second triangle of a border
    number[keep] = np.arange(len(keep))
    for beside in number[surface.edge_prims[edges]].T:
        way = np.linalg.norm(points - lowest[beside], axis=1)
        good &= (beside < 0) | (own - depth[beside] <= how.tolerance * way + how.sag)
    return edges[good], tuple(part[good] for part in found)
