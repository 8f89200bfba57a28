"""Retention: contacts that pressed and are no longer found, although nothing but rounding has changed.

Where flat meets flat, the features that touch are not unique: a vertex that lies over the border of a face by 1e-16
belongs to the face, to its edge or to the face around the corner. A contact that carried force is therefore kept
while its vertex still lies over the same triangle, unless the same vertex was found to touch something that faces the
same way.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant._kernels.proximity import EDGE_EDGE
from pliant._kernels.retention import over_planes, touches_alike
from pliant.contact.contacts import Contacts, tangent_basis

Array = np.ndarray
_OVER = 0.005  # barycentric coordinate by which a vertex may lie beside its triangle
_ALIKE = 0.99  # cosine between normals that are the same contact


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
    planes, height, bary = over_planes(contacts.vertices[chosen], after, radius, offset)
    with np.errstate(invalid="ignore"):
        alike = np.einsum("mi,mi->m", contacts.normal[chosen], turn[:, None] * planes) > _ALIKE
    chosen, turn = chosen[alike], turn[alike, None]
    gap, normal, weights = moved.gap.copy(), moved.normal.copy(), moved.weights.copy()
    gap[chosen], normal[chosen] = height[alike], turn * planes[alike]
    weights[chosen, :4] = np.hstack([turn, -turn * bary[alike]])
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
    chosen = np.flatnonzero((previous.obstacle == index) & (previous.forces > 0.0) & _over_faces(previous))
    if not len(chosen):
        return Contacts.none()
    vertices, turn = previous.vertices[chosen, :4], np.sign(previous.weights[chosen, :1])
    planes, gap, bary = over_planes(vertices, x, radius, offset)
    n = turn * planes
    with np.errstate(invalid="ignore"):
        keep = (bary.min(axis=1) > -_OVER) & (np.abs(gap) < alarm)
        keep &= np.einsum("mi,mi->m", previous.normal[chosen], n) > _ALIKE
    mine = found.obstacle == index
    keep &= ~touches_alike(
        vertices[:, 0].copy(), n, found.vertices[mine], found.weights[mine], found.normal[mine], _ALIKE
    )
    if not keep.any():
        return Contacts.none()
    chosen, vertices, turn = chosen[keep], vertices[keep], turn[keep]
    weights = np.hstack([turn, -turn * bary[keep]])
    corners = x[vertices]
    return Contacts.build(
        gap=gap[keep], normal=n[keep], vertices=vertices, weights=weights,
        position=np.einsum("mk,mki->mi", weights, corners), point=corners[:, 0], obstacle=previous.obstacle[chosen],
        key=previous.key[chosen], friction=previous.friction[chosen],
    )  # fmt: skip
