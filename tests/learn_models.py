"""Models that misbehave, for the sampling tests; importable by worker processes."""

from __future__ import annotations

import os
import time

from pliant.learn.sources import ConstantCurvatureArm


class Slow(ConstantCurvatureArm):
    """Takes its time, and notes every evaluation in a file."""

    def __init__(self, log: str = "", seconds: float = 0.0) -> None:
        super().__init__()
        self.log, self.seconds = log, seconds

    def kinematics_many(self, u):
        if self.log:
            with open(self.log, "a") as f:
                f.write("".join(f"{x[0]:.9g} {x[1]:.9g} {x[2]:.9g}\n" for x in u))
        time.sleep(self.seconds)
        return super().kinematics_many(u)


class Failing(ConstantCurvatureArm):
    """Cannot be evaluated where the first chamber is full."""

    def kinematics(self, u, *, derivative):
        if u[0] > 0.9 * self.pressure:
            raise ValueError("the first chamber bursts")
        return super().kinematics(u, derivative=derivative)


class Deadly(ConstantCurvatureArm):
    """Kills its process where all chambers are full."""

    def kinematics_many(self, u):
        if (u > 0.9 * self.pressure).all():
            os._exit(9)
        return super().kinematics_many(u)


def slow(log: str, seconds: float) -> Slow:
    return Slow(log, seconds)
