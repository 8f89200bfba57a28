"""Stiffness of a region as an actuator (jamming cells, shape-memory polymers, identification)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from pliant.actuators.actuator import Actuator, Drive, Interval, check_name
from pliant.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class Stiffness(Actuator):
    """Relative change of the stiffness of a region.

    Its effort e scales the region's elastic energy by (1 + e), so e = 0 is the material as described and
    e = -0.9 leaves a tenth of it. Its displacement is minus the region's elastic energy [J], the coordinate that
    is conjugate to e.

    Attributes:
        region: name of a region of the body's mesh.
        body: name of the body; "" looks the region up in all bodies.
    """

    kind: ClassVar[str] = "stiffness"
    effort_unit: ClassVar[str] = "1"
    displacement_unit: ClassVar[str] = "J"

    region: str
    body: str = ""
    effort_limits: Interval = (-0.99, math.inf)
    drive: Drive = "effort"

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("region", check_name(f"{self.name}.region", self.region))
        if self.drive != "effort":
            raise ArgumentError(f"{self.name}.drive", "a stiffness cannot be driven by displacement", "'effort'")
        if self.effort_limits[0] <= -1:
            raise ArgumentError(
                f"{self.name}.effort_limits", "a stiffness must stay positive", "a lower limit above -1"
            )
