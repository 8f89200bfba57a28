"""Cables whose displacement is prescribed, and that may go slack.

A cable pulls or hangs: 0 <= tension _|_ d - u >= 0, where d is by how much the robot shortened it and u how much of it
was pulled in. As an equality, d = u, it would keep the robot from moving where the cable merely hangs. So each is taken
taut (d = u) or slack (no tension, d >= u), and taken the other way where the answer says so.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pliant.inverse.work import Options, Work
from pliant.solve.commands import slackable
from pliant.solve.problem import Problem

_TAUT = 1e-9  # of the robot's size: a cable that is longer by no more than this is taut


@dataclass(frozen=True)
class Hanging:
    """The cables with a prescribed displacement.

    Attributes:
        setting: model and surroundings.
        given: actuator -> prescribed displacement [m], of those that may go slack.
    """

    setting: Problem
    given: dict[int, float]

    @classmethod
    def of(cls, setting: Problem, prescribed: dict[int, float]) -> Hanging:
        """Those among prescribed displacements that belong to cables."""
        may = slackable(setting.model.robot)
        return cls(setting, {i: u for i, u in prescribed.items() if may[i]})

    def options(self, options: Options, slack: Collection[int]) -> Options:
        """The same problem with some of them slack."""
        if not slack:
            return options
        low, high = options.bounds["displacement"]
        low = low.copy()
        for i in slack:
            low[i] = max(low[i], self.given[i])
        return replace(
            options,
            bounds={**options.bounds, "displacement": (low, np.maximum(high, low))},
            fixed_effort={**options.fixed_effort, **dict.fromkeys(slack, 0.0)},
            fixed_displacement={i: u for i, u in options.fixed_displacement.items() if i not in slack},
        )

    def misjudged(self, work: Work, slack: Collection[int]) -> frozenset[int]:
        """Those that were slack and came taut, or were taut and do not pull."""
        d, most = self.setting.model.displacement(work.q), _TAUT * self.setting.length
        pulls = 1e-9 * float(np.abs(work.effort).max(initial=0.0))
        wrong = [i for i, u in self.given.items() if (d[i] <= u + most if i in slack else work.effort[i] <= pulls)]
        return frozenset(wrong)

    def notes(self, slack: Collection[int]) -> list[str]:
        """What is slack, in words."""
        names = self.setting.model.robot.actuator_names
        return [f"{names[i]} is slack: it is longer than the prescribed displacement leaves it" for i in sorted(slack)]

    def commanded(self, u: Any, slack: Collection[int]) -> Any:
        """Commands (nu,) with what was prescribed where a cable hangs, not what it would take to make it taut."""
        out = u.copy()
        for i in slack:
            out[i] = self.given[i]
        return out
