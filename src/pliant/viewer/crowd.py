"""Obstacles that are dragged: they come to the robot in strides, however far the mouse jumps between two pictures.

A page sends few places of a drag while it is busy. An obstacle that appears deep inside the body leaves the solver with
no idea on which side the body should be; one that comes in strides pushes it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

Array = np.ndarray


class Crowd:
    """The obstacles of a page and how far each was dragged.

    Args:
        obstacles: where they begin.
        stride: how far one may go at once near the robot [m].
    """

    def __init__(self, obstacles: Sequence[Any], *, stride: float) -> None:
        self._given, self._stride = tuple(obstacles), stride
        self._wish = np.zeros((len(self._given), 3))

    def __len__(self) -> int:
        return len(self._given)

    @property
    def wish(self) -> Array:
        """How far each obstacle was dragged from where it began [m] (n, 3)."""
        return self._wish.copy()

    @property
    def begin(self) -> Array:
        """The same at the beginning: zeros (n, 3)."""
        return np.zeros_like(self._wish)

    def drag(self, index: int, step: Array) -> None:
        """Move an obstacle by a step [m] (3,)."""
        wish = self._wish.copy()
        wish[index] += step
        self._wish = wish  # one assignment: other threads read it

    def at(self, offsets: Array) -> tuple[Any, ...]:
        """The obstacles, moved by offsets [m] (n, 3)."""
        return tuple(o.moved(by) if by.any() else o for o, by in zip(self._given, offsets))

    def towards(self, known: Array, wish: Array, skin: Array) -> Array:
        """Offsets (n, 3) [m] one stride farther from those that the robot knows; `wish` itself if it is that near.

        An obstacle can go as far as it is away from the skin (m, 3) [m], and a stride in any case.
        """
        step = wish - known
        share = 1.0
        for obstacle, length in zip(self.at(known), np.linalg.norm(step, axis=1)):
            if length and hasattr(obstacle, "distance"):
                room = max(self._stride, float(np.min(obstacle.distance(skin))))
                share = min(share, room / length)
        return wish if share >= 1.0 else known + share * step
