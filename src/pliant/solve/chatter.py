"""Chatter: when an iteration goes back and forth between two contact geometries, hold both.

A vertex that slides over the edge between two triangles changes its normal abruptly. If the equilibrium lies on that
edge, Newton's method sees one triangle, steps over the edge, sees the other, and steps back, for ever. Then
the contacts of the last two configurations are kept together: the problem is smooth, nothing penetrates either
triangle, and the iteration ends. (Steps that stay long but lead on are none of this: the body slides along.)

Pairs of soft vertices and faces are carried along exactly. Contacts with rigid obstacles keep their normals, and are
looked at afresh when the motion has become much smaller, so that curved obstacles are met where they are. Whether that
was the case is asked once more at the end (`Problem.overlooked`).
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.contact.retention import carried_along

Array = np.ndarray
_SMALL = 1e-2  # of the robot's size: larger motions are not chatter
_TINY = 1e-5  # of the robot's size: chatter smaller than this is held to the end
_PATIENCE = 4  # motions in a row that did not become smaller
_ONWARD = 0.5  # of the way: a body that ends so far from where it began went somewhere, not back and forth


class Chatter:
    """Watches the configurations at which contacts are asked for.

    Args:
        length: size of the robot [m].
        radius: thickness around each vertex of the skin [m] (n,).
        offset: contact distance [m].
    """

    def __init__(self, length: float, radius: Array, offset: float) -> None:
        self._length, self._radius, self._offset = length, radius, offset
        self._past: list[tuple[Array, Contacts]] = []
        self._best, self._waited = np.inf, 0
        self._since: Array | None = None  # skin positions where the waiting began, and the way from there
        self._way = 0.0
        self._frozen: tuple[Array, Contacts] | None = None
        self._amplitude, self._patience = 0.0, _PATIENCE
        self._last: Array | None = None
        self.released = 0  # how often what was held turned out to be wrong

    def held(self, x: Array, previous: Contacts | None) -> Contacts | None:
        """The contacts that are held, at skin positions x [m] (n, 3); None if there is no chatter."""
        moved = np.inf if self._last is None else float(np.abs(x - self._last).max(initial=0.0))
        self._last = x
        if moved > _SMALL * self._length:
            self._forget()
            self._patience = _PATIENCE
            return None
        if self._frozen is not None and self._stale(moved):
            self._past = [self._frozen]
            self._forget()
            self._patience = 2
            return None
        if self._frozen is None:
            if moved < 0.7 * self._best:
                self._best = moved
                self._watch(x)
            elif moved > 1e-8 * self._length:
                self._waited += 1
                self._way += moved
            if self._waited < self._patience or len(self._past) < 2:
                return None
            if self._onward(x):
                self._watch(x)
                return None
            (x_old, old), (x_new, new) = self._past
            near = old.selected(old.gap < 1e-3 * self._length)
            self._frozen = x, self._union(self._carried(new, x_new, x), self._carried(near, x_old, x))
            self._amplitude = moved
        origin, contacts = self._frozen
        contacts = self._carried(contacts, origin, x)
        self._frozen = x, contacts
        if previous is not None and len(previous) == len(contacts) and np.array_equal(previous.key, contacts.key):
            return replace(
                contacts, forces=previous.forces, tangential=previous.tangential, states=previous.states
            )
        return contacts

    def _onward(self, x: Array) -> bool:
        """Does the body slide along a rigid obstacle? (Soft pairs are carried along exactly: those may be held.)"""
        if self._since is None or not self._past[-1][1].rigid.any():
            return False
        return float(np.abs(x - self._since).max(initial=0.0)) > _ONWARD * self._way

    def _watch(self, x: Array) -> None:
        """Wait anew, from skin positions x on."""
        self._waited, self._since, self._way = 0, x, 0.0

    def release(self) -> None:
        """Hold nothing any longer: what was held is not what touches."""
        self._past = [] if self._frozen is None else [self._frozen]
        self.released += 1
        self._forget()

    @property
    def holding(self) -> bool:
        """Are contacts held as they are?"""
        return self._frozen is not None

    def _carried(self, contacts: Contacts, before: Array, after: Array) -> Contacts:
        return carried_along(contacts, before, after, self._radius, offset=self._offset)

    def _stale(self, moved: float) -> bool:
        """Should rigid obstacles be looked at afresh?"""
        assert self._frozen is not None
        large = self._amplitude > _TINY * self._length
        return large and moved < 0.05 * self._amplitude and bool(self._frozen[1].rigid.any())

    def _forget(self) -> None:
        self._best, self._waited, self._frozen, self._since = np.inf, 0, None, None

    def seen(self, x: Array, contacts: Contacts) -> None:
        """Remember what was detected at skin positions x."""
        self._past = [*self._past[-1:], (x, contacts)]

    def extend(self, x: Array, solved: Contacts, missing: Contacts) -> bool:
        """Hold what was solved with, and what turned out to be missing, at skin positions x; was anything?"""
        self._frozen, self._last = (x, self._union(solved, missing)), x
        self._amplitude = max(self._amplitude, _TINY * self._length)
        return len(self._frozen[1]) > len(solved.distinct())  # joining drops what was there twice

    def _union(self, new: Contacts, old: Contacts) -> Contacts:
        extra = np.ones(len(old), dtype=bool)
        for i in range(len(old)):
            same = np.flatnonzero(new.key == old.key[i])
            # the same features with the same normal are one contact
            extra[i] = not any(float(old.normal[i] @ new.normal[j]) > 1.0 - 1e-10 for j in same)
        if not extra.any():
            return new
        wide = max(old.vertices.shape[1], new.vertices.shape[1])
        both = Contacts.joined([new.widened(wide), old.selected(extra).widened(wide)], new.names, new.poses)
        forces = both.forces.copy()
        forces[len(new) :] = 0.0
        tangential = both.tangential.copy()
        tangential[len(new) :] = 0.0
        return replace(both, forces=forces, tangential=tangential).distinct()
