"""Motion of a rigid part along an axis (platforms, insertion, servomotors, fingertips)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.actuators.actuator import Actuator, Drive, check_name, check_vector
from pliant.errors import ArgumentError

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class Slide(Actuator):
    """A motor that moves a rigid part of the robot along an axis.

    Its displacement is the motion of the part along the axis [m]; its effort the force [N] along it. The
    part is a rigid region or rigid body of the robot; its other directions are free unless the part restricts them.

    Attributes:
        part: name of a rigid region or rigid body.
        axis: direction in the world; normalised.
    """

    kind: ClassVar[str] = "slide"

    part: str
    axis: Vector
    drive: Drive = "displacement"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("part", check_name(f"{self.name}.part", self.part))
        axis = np.array(check_vector(f"{self.name}.axis", self.axis))
        length = float(np.linalg.norm(axis))
        if length == 0:
            raise ArgumentError(f"{self.name}.axis", "the zero vector has no direction", "a non-zero vector")
        self._set("axis", check_vector(f"{self.name}.axis", axis / length))
