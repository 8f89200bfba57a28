"""Forces applied from outside: at a point, or spread over a patch of the surface."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.actuators.actuator import Actuator, Vector, check_direction, check_vector
from pliant.checks import positive


@dataclass(frozen=True, kw_only=True)
class PointForce(Actuator):
    """A force of fixed direction at one point of the body.

    Its displacement is the motion of the point along the direction [m]; its effort the force [N].

    Attributes:
        point: where it acts, in the rest pose [m].
        direction: direction in the world; normalised.
        body: name of the body; "" takes the nearest.
    """

    kind: ClassVar[str] = "point_force"

    point: Vector
    direction: Vector
    body: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("point", check_vector(f"{self.name}.point", self.point))
        self._set("direction", check_direction(f"{self.name}.direction", self.direction))


@dataclass(frozen=True, kw_only=True)
class PatchForce(Actuator):
    """A force of fixed direction spread over the surface nodes within a radius, fading to the rim.

    The profile is 1 - (r / radius)^2, normalised to a total of 1: the effort is the total force [N]; the
    displacement is the weighted mean motion of the patch along the direction [m].

    Attributes:
        centre: centre of the patch in the rest pose [m].
        radius: radius of the patch [m].
        direction: direction in the world; normalised.
        body: name of the body; "" takes the nearest.
    """

    kind: ClassVar[str] = "patch_force"

    centre: Vector
    radius: float
    direction: Vector
    body: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("centre", check_vector(f"{self.name}.centre", self.centre))
        self._set("direction", check_direction(f"{self.name}.direction", self.direction))
        self._set("radius", positive(f"{self.name}.radius", self.radius))
