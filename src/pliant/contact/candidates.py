"""Candidates: pairs of features that may meet, kept while nothing has moved or turned too far.

From one query to the next little changes. So pairs are looked for with a reserve: boxes that are farther apart than the
alarm distance by a span, normals that oppose each other to within a small turn. As long as the two sides have
moved relative to each other by no more than the span and ranges of normals by no more than the turn, no other pair
can meet. What is found does not depend on the history: the candidates come in the order of the trees, and those that
are too far are left out by the tests.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import count
from typing import Any

import numpy as np

from pliant._kernels import bvh
from pliant._kernels.facing import features_facing
from pliant._kernels.features import Faces
from pliant.algebra.threads import thread_count, together
from pliant.contact.surface import Tree

Array = np.ndarray
_TURN = 0.2  # change of the sum of two unit normals' components that the longest list survives
_CALM = 3  # times in a row that a reserve must seem to pay before one is made: a solve ends after a few short steps
_USES = 6.0  # queries for which a list with a reserve is meant to serve; for fewer it does not pay
_SHRINKING = 0.3  # of the motion before: an iteration that converges, whose next motions are foreseen to shrink alike
_LITTLE = 0.25  # of the longest reserve: what a list gets for those; a longer one would cost more than it saves
NOTHING = np.zeros(0, dtype=np.int64)
_MANY = 16000  # primitives of both trees from which on several threads search for pairs
_PARTS = 8  # into which they divide the work; the list does not depend on it
_EMPTY = np.zeros((0, 2), dtype=np.int32)
_STILL = np.zeros((2, 0, 3))  # no normals to compare with
_ROUNDING = 1.0 + 1e-9


class Candidates:
    """Pairs of features of two surfaces (or of one with itself) that may meet.

    Args:
        alarm: distance below which features matter [m].
        allowed: which bodies of the first surface may meet which of the second (b1, b2).
        rest: positions of a surface that meets itself in its rest shape [m] (n, 3).
        separation: vertices closer than this at rest never meet [m].
        skip: sorted keys vertex * primitives + primitive that never meet.
        span: the most that the two sides may move relative to each other, along any axis, before the list is made
            anew [m]; None chooses.
        edges: look for pairs of edges too.
    """

    def __init__(
        self, *, alarm: float, allowed: Array, rest: Array, separation: float = 0.0, skip: Array = NOTHING,
        span: float | None = None, edges: bool = True,
    ) -> None:  # fmt: skip
        self.alarm = alarm
        self.allowed, self.rest, self.separation, self.skip = allowed, rest, separation, skip
        self._longest, self._edges = span, edges
        self._trees: tuple[Tree, ...] = ()  # one, or two different ones
        self._places: tuple[Array, ...] = ()  # of the vertices when the list was made, by tree
        self._normals: tuple[Array, ...] = ()  # ranges of normals then, by tree
        self._uses = 0  # queries that the list has served
        self._calm = 0  # lists in a row for which a reserve seemed to pay
        self._before = np.inf  # the motion between the last two lists [m]
        self._reserve = (0.0, 0.0)  # how much may move and turn before the list is too short
        self._lists: tuple[Array, Array, Array] = (_EMPTY,) * 3

    def refresh(self, tree1: Tree, first: Faces, tree2: Tree, second: Faces) -> tuple[Array, Array, Array]:
        """Candidates for refitted trees: vertices of the first with primitives of the second, the reverse, edges."""
        trees, faces = ((tree1,), (first,)) if tree1 is tree2 else ((tree1, tree2), (first, second))
        moved, turned = np.inf, 0.0
        if len(self._trees) == len(trees) and all(a is b for a, b in zip(self._trees, trees)):
            moved, turned = self._moved(faces)
        if moved > self._reserve[0] or turned > self._reserve[1]:
            self._renew(tree1, first, tree2, second, moved, turned)
            self._trees, self._places = trees, tuple(f.x.copy() for f in faces)
            self._uses = 0
        self._uses += 1
        return self._lists

    def _moved(self, faces: tuple[Faces, ...]) -> tuple[float, float]:
        """The largest motion along any axis [m], and turn of normals, of what is near something relative to that.

        Looked at piece by piece of the trees: a finger that bends moves far, but little relative to what it may meet.
        """
        parts = [
            bvh.motions(t.pieces, t.order, f.prims, f.x, old, t.low, t.high, normals)
            for t, f, old, normals in zip(self._trees, faces, self._places, self._normals)
        ]
        moved, turned = bvh.relative_motion(parts[0], parts[-1], len(parts) == 1, self.alarm * _ROUNDING)
        return float(moved), float(turned)

    def _renew(self, tree1: Tree, first: Faces, tree2: Tree, second: Faces, moved: float, turned: float) -> None:
        """Make the list, or take that of the rest shape, which every solve from rest asks for first."""
        if tree1 is not tree2 or not np.array_equal(first.x, self.rest):
            self._build(tree1, first, tree2, second, moved, turned)
            return
        bodies, shape = self.allowed.tobytes(), self.rest.tobytes()
        key = (self.alarm, self.separation, self._edges, tree1.slack, bodies, shape)
        known = tree1.surface.lists_at_rest
        skip, lists = known.get(key, (None, self._lists))
        if skip is self.skip:
            self._lists, self._reserve, self._normals, self._before = lists, (0.0, 0.0), (_STILL,), np.inf
            return
        self._build(tree1, first, tree2, second, np.inf, 0.0)
        known[key] = self.skip, self._lists

    def _build(self, tree1: Tree, first: Faces, tree2: Tree, second: Faces, moved: float, turned: float) -> None:
        if self._longest is None:
            edge = float(np.mean(tree1.high[:, :3] - tree1.low[:, :3])) if len(tree1.low) else 0.0
            self._longest = 0.25 * self.alarm + 0.1 * edge
        # A reserve makes the list longer; it pays where the list then serves for several queries.
        share = 0.0  # nothing is known of the motion yet
        if np.isfinite(moved) and self._longest > 0.0:
            share = _USES * max(moved / self._longest, turned / _TURN) / max(self._uses, 1)
            self._calm = 0 if share > 1.0 else self._calm + 1
            share = 0.0 if self._calm < _CALM else max(share, 0.1)
        span, turn = share * self._longest, share * _TURN
        if moved <= _SHRINKING * self._before < np.inf and moved**2 <= 2.0 * _LITTLE * self._longest * self._before:
            # an iteration that converges: its next steps will be shorter still
            span, turn = max(span, _LITTLE * self._longest), max(turn, 1.25 * _TURN)
        self._before = moved
        same = tree1 is tree2
        search = (self.alarm + span, turn, self.allowed)
        parts: Sequence[Array | None] = [None]
        if len(tree1.low) + len(tree2.low) > _MANY and thread_count() > 1:
            parts = np.array_split(tree1.work(tree2, search), _PARTS)

        def facing(part: Array | None) -> tuple[Array, Array, Array]:
            return features_facing(
                tree1.pairs(tree2, search, part), first, second, (tree1.low, tree1.high), (tree2.low, tree2.high), same,
                self.rest, self.separation, self.allowed, self.skip, self.alarm, span, self._edges,
            )  # fmt: skip

        found = _each(facing, parts)
        if len(found) == 1:
            self._lists = found[0]
        else:
            one, two, edges = (np.concatenate(lists) for lists in zip(*found))
            self._lists = one, two, edges
        trees = (tree1,) if same else (tree1, tree2)
        self._reserve, self._normals = (span, turn), (_STILL,) * len(trees)
        if span > 0.0:
            self._normals = tuple(np.stack([t.low[:, 3:], t.high[:, 3:]]) for t in trees)


def _each(work: Callable[[Array | None], Any], parts: Sequence[Array | None]) -> list[Any]:
    """work(part) of every part, in their order, by as many threads as may be used."""
    if len(parts) == 1:
        return [work(parts[0])]
    results: list[Any] = [None] * len(parts)
    numbers = count()  # handing out a number is one step of the interpreter: no two threads get the same

    def take(_: int) -> None:
        while (k := next(numbers)) < len(parts):
            results[k] = work(parts[k])

    together(take, thread_count())
    return results
