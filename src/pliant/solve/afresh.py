"""Contacts with curved obstacles, looked at afresh where an iteration has ended.

On the way, `flex` holds the point of the skin that met an obstacle, or both of two it went back and forth between. On
a curved obstacle the point that touches wanders with the pose: what is in balance with points that are held need not be
in balance with those that touch.
"""

from __future__ import annotations

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.contact.mesh import MeshObstacle
from pliant.contact.obstacles import Obstacle
from pliant.solve.problem import Problem

Array = np.ndarray


def presses_on_curved(problem: Problem, contacts: Contacts | None) -> bool:
    """Does anything press on a rigid obstacle that is not flat?"""
    return contacts is not None and bool((_curved(problem, contacts) & (contacts.forces > 0.0)).any())


def found_afresh(problem: Problem, q: Array, contacts: Contacts | None) -> Contacts | None:
    """Contacts with curved obstacles as they are found at a configuration, with their forces.

    Of the others, those that press stay as they are: where flat meets flat, the features that touch are not unique.
    """
    fresh = problem.fresh(q, contacts)
    if contacts is None or fresh is None:
        return None
    pressing = contacts.selected((contacts.forces > 0.0) & ~_curved(problem, contacts))
    others = fresh.selected(~np.isin(fresh.key, pressing.key))
    return Contacts.joined([pressing, others], fresh.names, fresh.poses)


def same_features_press(one: Contacts | None, other: Contacts | None) -> bool:
    """Do the same features press, each as often as in the other?"""
    if one is None or other is None:
        return one is other
    return np.array_equal(np.sort(one.key[one.forces > 0.0]), np.sort(other.key[other.forces > 0.0]))


def _curved(problem: Problem, contacts: Contacts) -> Array:
    """Which contacts (m,) are with a rigid obstacle, known by its distance, that is not flat."""
    curved = [
        isinstance(o, Obstacle) and not isinstance(o, MeshObstacle) and not getattr(o, "flat", False)
        for o in problem.obstacles
    ]
    return np.array(curved, dtype=bool)[contacts.obstacle]
