"""Motion of a rigid part along an axis (platforms, insertion, servomotors, fingertips)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.actuators.actuator import Actuator, Drive, Vector, check_direction, check_name


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
        self._set("axis", check_direction(f"{self.name}.axis", self.axis))
