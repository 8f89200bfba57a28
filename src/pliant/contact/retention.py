"""Retention: contacts that pressed and are no longer found, although nothing but rounding has changed.

Where flat meets flat, the features that touch are not unique: a vertex that lies over the border of a face by 1e-16
belongs to the face, to its edge or to the face around the corner. A contact that carried force is therefore kept
while its vertex still lies over the same triangle, unless the same vertex was found to touch something that faces the
same way.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from pliant._kernels.proximity import EDGE_EDGE
from pliant.contact.contacts import Contacts, tangent_basis

Array = np.ndarray
_OVER = 0.005  # barycentric coordinate by which a vertex may lie beside its triangle
_ALIKE = 0.99  # cosine between normals that are the same contact


@dataclass(frozen=True, eq=False)
class _Planes:
    """Vertices over planes of triangles or lines of segments: outward normal (m, 3), gap (m,), foot (m, 3)."""

    normal: Array
    gap: Array
    bary: Array

    @classmethod
    def of(cls, vertices: Array, x: Array, radius: Array, offset: float) -> _Planes:
        """For contacts whose vertices (m, 4) are the vertex and the triangle or segment; nan where it has no size."""
        v, (a, b, c) = vertices[:, 0], vertices[:, 1:4].T
        u, w, d = x[b] - x[a], x[c] - x[a], x[v] - x[a]
        across = np.cross(u, w)
        area = np.einsum("mi,mi->m", across, across)
        with np.errstate(divide="ignore", invalid="ignore"):
            n = across / np.sqrt(area)[:, None]
            second = np.einsum("mi,mi->m", np.cross(d, w), across) / area
            third = np.einsum("mi,mi->m", np.cross(u, d), across) / area
        bary = np.stack([1.0 - second - third, second, third], axis=1)
        line = b == c  # segments of a curve: the way to the nearest point of the line takes the place of the normal
        if line.any():
            t = np.einsum("mi,mi->m", d[line], u[line]) / np.einsum("mi,mi->m", u[line], u[line])
            away = d[line] - t[:, None] * u[line]
            with np.errstate(divide="ignore", invalid="ignore"):
                n[line] = away / np.linalg.norm(away, axis=1)[:, None]
            bary[line] = np.stack([1.0 - t, t, np.zeros_like(t)], axis=1)
        thickness = radius[v] + np.einsum("mk,mk->m", bary, radius[vertices[:, 1:4]])
        return cls(n, np.einsum("mi,mi->m", d, n) - thickness - offset, bary)


def _over_faces(contacts: Contacts) -> Array:
    """Which contacts (m,) are of a soft vertex with a soft triangle or segment."""
    if contacts.vertices.shape[1] < 4 or contacts.gradients is not None:
        return np.zeros(len(contacts), dtype=bool)
    kind = (contacts.key >> 50) & 31
    soft = np.abs(contacts.weights.sum(axis=1)) < 0.5
    return soft & (kind < 7) & (kind != EDGE_EDGE)


def carried_along(contacts: Contacts, before: Array, after: Array, radius: Array, *, offset: float) -> Contacts:
    """The same pairs of features after a motion of the skin (n, 3) -> (n, 3) [m].

    A vertex over a face is looked at afresh, as long as the face was what it touched; all others keep their normal
    and their gap follows to first order.
    """
    moved = contacts.followed(before, after)
    chosen = np.flatnonzero(_over_faces(contacts))
    if not len(chosen):
        return moved
    turn = np.sign(contacts.weights[chosen, 0])
    planes = _Planes.of(contacts.vertices[chosen], after, radius, offset)
    with np.errstate(invalid="ignore"):
        alike = np.einsum("mi,mi->m", contacts.normal[chosen], turn[:, None] * planes.normal) > _ALIKE
    chosen, turn, now = chosen[alike], turn[alike], planes.normal[alike]
    gap, normal, weights = moved.gap.copy(), moved.normal.copy(), moved.weights.copy()
    gap[chosen] = planes.gap[alike]
    normal[chosen] = turn[:, None] * now
    weights[chosen, :4] = np.column_stack([turn, -turn[:, None] * planes.bary[alike]])
    return replace(moved, gap=gap, normal=normal, weights=weights, tangents=tangent_basis(normal))


def retained(
    previous: Contacts, found: Contacts, x: Array, radius: Array, *, index: int, alarm: float, offset: float
) -> Contacts:
    """Contacts of one soft marker to be kept from an earlier pose, at skin positions x [m] (n, 3).

    Args:
        previous: contacts of an earlier pose, with forces.
        found: what was found now.
        radius: thickness around each skin vertex [m] (n,).
        index: of the marker among the obstacles.
        alarm: largest gap and depth [m].
        offset: contact distance [m].
    """
    chosen = (previous.obstacle == index) & (previous.forces > 0.0) & _over_faces(previous)
    if not chosen.any():
        return Contacts.none()
    old = previous.selected(chosen)
    turn = np.sign(old.weights[:, 0])
    planes = _Planes.of(old.vertices, x, radius, offset)
    n = turn[:, None] * planes.normal
    with np.errstate(invalid="ignore"):
        keep = (planes.bary.min(axis=1) > -_OVER) & (np.abs(planes.gap) < alarm)
        keep &= np.einsum("mi,mi->m", old.normal, n) > _ALIKE
    for i in np.flatnonzero(keep):
        same = _touches(found, int(old.vertices[i, 0])) & (found.obstacle == index)
        keep[i] = not (found.normal[same] @ n[i] > _ALIKE).any()
    if not keep.any():
        return Contacts.none()
    old, n, turn = old.selected(keep), n[keep], turn[keep]
    gap, bary = planes.gap[keep], planes.bary[keep]
    weights = np.column_stack([turn, -turn[:, None] * bary])
    corners = x[old.vertices[:, :4]]
    return Contacts.build(
        gap=gap, normal=n, vertices=old.vertices[:, :4], weights=weights,
        position=np.einsum("mk,mki->mi", weights, corners), point=corners[:, 0],
        obstacle=old.obstacle, key=old.key, friction=old.friction,
    )  # fmt: skip


def _touches(contacts: Contacts, v: int) -> Array:
    """Which contacts are of a vertex alone (m,): on one side nothing else carries weight."""
    mine = (contacts.vertices == v) & (np.abs(contacts.weights) > 1.0 - 1e-6)
    return mine.any(axis=1)
