"""Candidates: pairs of features that may meet, kept while nothing has moved or turned too far.

Finding pairs of boxes that meet costs more than testing the features in them, and from one query to the next
little changes. So pairs are looked for with a skin: boxes that are farther apart than the alarm distance by up to twice
the skin, normals that oppose each other to within twice a small turn. As long as no box has moved by more than the skin
and no range of normals by more than the turn, no other pair can meet. What is found does not depend on the
history: the candidates come in the order of the trees, and those that are too far are left out by the tests.
"""

from __future__ import annotations

import numpy as np

from pliant._kernels import bvh
from pliant._kernels.features import Faces
from pliant._kernels.proximity import edges_facing, vertices_facing
from pliant.contact.surface import Tree

Array = np.ndarray
_TURN = 0.1  # change of a unit normal's component that a list survives
NOTHING = np.zeros(0, dtype=np.int64)


class Candidates:
    """Pairs of features of two surfaces (or of one with itself) that may meet.

    Args:
        alarm: distance below which features matter [m].
        allowed: which bodies of the first surface may meet which of the second (b1, b2).
        rest: positions of a surface that meets itself in its rest shape [m] (n, 3).
        separation: vertices closer than this at rest never meet [m].
        skip: sorted keys vertex * primitives + primitive that never meet.
        skin: how far boxes may move before the list is made anew [m]; None chooses.
    """

    def __init__(
        self, *, alarm: float, allowed: Array, rest: Array, separation: float = 0.0, skip: Array = NOTHING,
        skin: float | None = None,
    ) -> None:  # fmt: skip
        self.alarm = alarm
        self.allowed, self.rest, self.separation, self.skip = allowed, rest, separation, skip
        self._skin = skin
        self._trees: tuple[Tree, Tree] | None = None
        self._boxes: tuple[Array, ...] = ()
        self._uses = 0  # queries that the list has served
        self._reach = (0.0, 0.0)  # how much may move and turn before the list is too short
        self._lists: tuple[Array, Array, Array] = (np.zeros((0, 2), dtype=np.int64),) * 3

    def refresh(self, tree1: Tree, first: Faces, tree2: Tree, second: Faces) -> tuple[Array, Array, Array]:
        """Candidates for refitted trees: vertices of the first with primitives of the second, the reverse, edges."""
        moved, turned = np.inf, np.inf
        if self._trees is not None and self._trees[0] is tree1 and self._trees[1] is tree2:
            moved, turned = bvh.changes(tree1.low, tree1.high, *self._boxes[:2])
            if tree1 is not tree2:
                other = bvh.changes(tree2.low, tree2.high, *self._boxes[2:])
                moved, turned = max(moved, other[0]), max(turned, other[1])
        if moved > self._reach[0] or turned > self._reach[1]:
            self._build(tree1, first, tree2, second, moved)
            self._uses = 0
        self._uses += 1
        return self._lists

    def _build(self, tree1: Tree, first: Faces, tree2: Tree, second: Faces, moved: float) -> None:
        if self._skin is None:
            edge = float(np.mean(tree1.high[:, :3] - tree1.low[:, :3])) if len(tree1.low) else 0.0
            self._skin = 0.25 * self.alarm + 0.1 * edge
        # A skin makes the list longer; it pays where the list then serves for several queries.
        paid = self._uses > 2 if self._reach[0] > 0.0 else moved < 0.5 * self._skin
        reach = (self._skin, _TURN) if paid or moved == np.inf else (0.0, 0.0)
        pairs = tree1.pairs(tree2, margin=self.alarm + 2.0 * reach[0], turn=2.0 * reach[1])
        same = tree1 is tree2
        rule = (same, self.rest, self.separation, self.allowed)
        self._lists = (
            vertices_facing(pairs, False, first, second, *rule, self.skip),
            vertices_facing(pairs, True, second, first, *rule[:3], np.ascontiguousarray(self.allowed.T), self.skip),
            edges_facing(pairs, first, second, *rule),
        )
        self._trees, self._reach = (tree1, tree2), reach
        boxes = (tree1.low, tree1.high) if same else (tree1.low, tree1.high, tree2.low, tree2.high)
        self._boxes = tuple(b.copy() for b in boxes)
