"""Contacts on the way of `flex`: which are kept from step to step, and which are doubted at the end."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.retention import followable
from pliant.solve.problem import Problem

Array = np.ndarray


def smooth(problem: Problem, contacts: Contacts | None) -> bool:
    """Do the equations change smoothly while contacts stay as they are?"""
    if contacts is None or not len(contacts):
        return True
    return not contacts.friction.any() and followable(contacts, problem.obstacles)


def doubted(problem: Problem, q: Array, contacts: Contacts | None) -> tuple[Contacts | None, Contacts | None]:
    """The contacts as they are looked for afresh, if those that carry force are not among them; else None.

    The second result is for then: what carries force, and all else that is near.

    Contacts are carried along while an iteration settles. One whose features are no longer the nearest is real if
    its neighbours touch. And what was not watched must not have come through.
    """
    if contacts is None:
        return None, None
    fresh = problem.fresh(q, contacts)
    assert fresh is not None
    near = 1e-5 * problem.length
    overlooked = fresh.gap < -1e-6 * problem.length
    if (overlooked & ~np.isin(fresh.key, contacts.key)).any():
        return fresh, contacts
    touching = fresh.selected(np.abs(fresh.gap) <= near)
    x = problem.model.skin_positions(q)
    for i in np.flatnonzero((contacts.forces > 0.0) & ~np.isin(contacts.key, touching.key)):
        corners, weights = x[contacts.vertices[i]], contacts.weights[i]
        obstacle = problem.obstacles[contacts.obstacle[i]]
        if isinstance(obstacle, Obstacle) and contacts.gradients is None:
            thickness = float(weights @ problem.model.skin.radius[contacts.vertices[i]])
            gap = float(obstacle.distance((weights @ corners)[None])[0]) - thickness - problem.contact_distance
            if abs(gap) > near:
                return fresh, contacts
            continue
        away = np.linalg.norm(touching.point[:, None] - corners, axis=2).min(axis=1)
        same = touching.obstacle == contacts.obstacle[i]
        if not (same & (away <= float(np.ptp(corners, axis=0).max()))).any():
            return fresh, contacts
    pressing = contacts.selected(contacts.forces > 0.0)
    others = fresh.selected(~np.isin(fresh.key, pressing.key))
    return None, Contacts.joined([pressing, others], fresh.names, fresh.poses)


def kept_along(found: Contacts | None, previous: Contacts | None, gaps: Array) -> Contacts | None:
    """Contacts found, and those that carried force and are no longer found because a neighbouring feature is nearer.

    Where two features of a surface are equally near, the detection names one or the other as the pose changes by a
    hair; both must hold for the iteration to settle.
    """
    if found is None or previous is None or not len(previous) or len(gaps) != len(previous):
        return found
    lost = (previous.forces > 0.0) & ~np.isin(previous.key, found.key)
    if not lost.any():
        return found
    stale = replace(previous.selected(lost), gap=gaps[lost])
    return Contacts.joined([found, stale], found.names, found.poses)


def motion(model: Any, before: Array, after: Array, contacts: Contacts) -> Array:
    """How much each gap changed by a step, to first order (m,)."""
    change = model.skin_positions(after) - model.skin_positions(before)
    if contacts.gradients is not None:
        return np.einsum("mki,mki->m", contacts.gradients, change[contacts.vertices])
    return np.einsum("mk,mi,mki->m", contacts.weights, contacts.normal, change[contacts.vertices])
