"""Obstacles in one place: contacts that say the same are one contact."""

from __future__ import annotations

import numpy as np

from pliant._kernels.repeats import first_of_each
from pliant.contact.contacts import Contacts


def distinct(contacts: Contacts, depth: float) -> Contacts:
    """Contacts without those that say nothing new: where obstacles lie in one place, or behind each other, one counts.

    Of contacts of the same point along the same normal that is the nearest; else forces could be shared between them in
    many ways, and rounding would choose. One that presses stays until another is nearer by more than `depth`.

    Args:
        contacts: with the obstacles that were met.
        depth: how deep contacts may be [m].
    """
    if len(contacts) < 2 or contacts.gradients is not None or not np.ptp(contacts.obstacle):
        return contacts
    order = np.argsort(contacts.gap - depth * (contacts.forces > 0.0), kind="stable")
    alike = np.zeros(len(order), dtype=np.int64)
    keep = first_of_each(alike, contacts.vertices[order], contacts.weights[order], contacts.normal[order])
    return contacts if keep.all() else contacts.selected(np.sort(order[keep]))
