"""Goals that can be reached: where points are at forward equilibria, with contact, under commands that wander."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

import pliant as pl


class Reached:
    """Targets at the positions that a forward equilibrium gives points, under a command that depends on the phase.

    Args:
        points: names of the points.
        drive: phase -> command.
        axes: world directions that count.
        obstacles, alarm: of the scene.
    """

    def __init__(
        self,
        points: Sequence[str],
        drive: Callable[[float], dict[str, float]],
        *,
        axes: str = "xyz",
        obstacles: tuple = (),
        alarm: float | None = None,
    ) -> None:
        self.points, self.drive, self.axes = tuple(points), drive, axes
        self.obstacles, self.alarm = obstacles, alarm
        self._known: dict[float, np.ndarray] = {}
        self._last: pl.State | None = None

    def __call__(self, model: Any, start: pl.State, phase: float) -> list:
        """Point targets at a phase; solved once and kept."""
        if phase not in self._known:
            u = self.drive(phase)
            for begin in (self._last or start, None):
                state = pl.equilibrium(model, u, obstacles=self.obstacles, alarm=self.alarm, start=begin)
                # solved once more from itself: an end that is not an equilibrium of freshly detected contacts moves
                again = pl.equilibrium(model, u, obstacles=self.obstacles, alarm=self.alarm, start=state)
                if again.ok:
                    break
            self._last = again.require()
            self._known[phase] = model.locate(again, self.points).position
        goals = zip(self.points, self._known[phase])
        return [pl.PointTarget(name, tuple(goal), axes=self.axes) for name, goal in goals]


def strokes(phase: float) -> dict[str, float]:
    """The two cables of the beam [m]: bent against both posts, both taut."""
    return {"top": 5.4e-3 + 1.0e-3 * np.sin(phase), "bottom": 2.5e-3 + 0.4e-3 * np.sin(0.7 * phase)}


def pressures(phase: float) -> dict[str, float]:
    """The four chambers of the tower [Pa]."""
    return {f"chamber{i}": 20e3 + 1.5e3 * np.sin(phase + 0.9 * i) for i in range(1, 5)}
