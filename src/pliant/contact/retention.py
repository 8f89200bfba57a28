"""Retention: contacts that pressed and are no longer found, although nothing but rounding has changed.

Where flat meets flat, the features that touch are not unique: a vertex that lies over the border of a face by 1e-16
belongs to the face, to its edge or to the face around the corner. A contact that carried force is therefore kept
while its vertex still lies over the same triangle, unless the same vertex was found to touch something that faces the
same way.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from pliant._kernels.proximity import EDGE_EDGE, FACE_VERTEX, VERTEX_FACE
from pliant._kernels.retention import over_planes, pairs_followed, touches_alike
from pliant.contact.contacts import Contacts, tangent_basis
from pliant.contact.mesh import MeshObstacle

Array = np.ndarray
PAIR = 11  # kind of a predefined pair in the keys
_OVER = 0.005  # barycentric coordinate by which a vertex may lie beside its triangle
_ALIKE = 0.99  # cosine between normals that are the same contact


def _over_faces(contacts: Contacts) -> Array:
    """Which contacts (m,) are of a soft vertex with a soft triangle or segment."""
    if contacts.vertices.shape[1] < 4 or contacts.gradients is not None:
        return np.zeros(len(contacts), dtype=bool)
    kind = (contacts.key >> 50) & 31
    soft = ~contacts.rigid
    return soft & (kind < 7) & (kind != EDGE_EDGE)


def pairs_with_a_plane(contacts: Contacts) -> tuple[Array, Array]:
    """Which contacts (m,) are of a soft vertex inside of a soft triangle, and which of two soft edges that cross."""
    if contacts.vertices.shape[1] < 4 or contacts.gradients is not None:
        return np.zeros(len(contacts), dtype=bool), np.zeros(len(contacts), dtype=bool)
    kind, soft = (contacts.key >> 50) & 31, ~contacts.rigid
    return soft & ((kind == VERTEX_FACE) | (kind == FACE_VERTEX)), soft & (kind == EDGE_EDGE)


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


def followable(contacts: Contacts, obstacles: Sequence[Any]) -> bool:
    """Can `looked_at_again` tell where these contacts are at another pose?"""
    if contacts.gradients is not None:
        return False
    return not any(isinstance(obstacles[index], MeshObstacle) for index in np.unique(contacts.obstacle))


def looked_at_again(
    contacts: Contacts, x: Array, radius: Array, *, offset: float, obstacles: Sequence[Any]
) -> Contacts:
    """The same pairs of features at other positions of the skin [m] (n, 3), without looking for pairs.

    Gaps, normals and weights are those that a detection would find, as long as it found the same pairs. Points between
    the vertices that touch a rigid obstacle stay where they are in their triangle.

    Args:
        contacts: of an earlier pose, see `followable`; forces and keys are kept.
        x: positions of the skin [m] (n, 3).
        radius: thickness around each skin vertex [m] (n,).
        offset: contact distance [m].
        obstacles: what the contacts count, where it is now.
    """
    gap, normal, weights = contacts.gap.copy(), contacts.normal.copy(), contacts.weights.copy()
    kind = (contacts.key >> 50) & 31
    features, pairs = np.flatnonzero(kind < 7), np.flatnonzero(kind == PAIR)
    if len(features):
        gap[features], normal[features], weights[features] = pairs_followed(
            kind[features] == EDGE_EDGE, contacts.vertices[features], weights[features], normal[features], x, radius,
            offset,
        )  # fmt: skip
    if len(pairs):  # their normals are given
        ends = contacts.vertices[pairs]
        apart = np.einsum("mk,mki->mi", weights[pairs], x[ends])
        thick = np.einsum("mk,mk->m", np.abs(weights[pairs]), radius[ends])
        gap[pairs] = np.einsum("mi,mi->m", normal[pairs], apart) - thick - offset
    solid = (kind >= 7) & (kind != PAIR)
    for index in np.unique(contacts.obstacle[solid]):
        mine = np.flatnonzero(solid & (contacts.obstacle == index))
        ends, share = contacts.vertices[mine], weights[mine]
        distance, normal[mine] = obstacles[index].distance_and_normals(np.einsum("mk,mki->mi", share, x[ends]))
        gap[mine] = distance - np.einsum("mk,mk->m", share, radius[ends]) - offset
    return contacts._but(gap=gap, normal=normal, weights=weights, tangents=tangent_basis(normal))
