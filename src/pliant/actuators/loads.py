"""Loads on rods: wrenches at a point and loads along the length, dead or following the body."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from pliant.actuators.actuator import Actuator, check_vector
from pliant.errors import ArgumentError

Vector = tuple[float, float, float]


@dataclass(frozen=True, kw_only=True)
class _Load(Actuator):
    """A load (force, moment) times the effort; it has no displacement, so it is driven by effort only."""

    effort_unit: ClassVar[str] = "-"
    displacement_unit: ClassVar[str] = "-"

    force: Vector = (0.0, 0.0, 0.0)
    moment: Vector = (0.0, 0.0, 0.0)
    follower: bool = False
    body: str = ""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.drive != "effort":
            raise ArgumentError(f"{self.name}.drive", "a load has no displacement", "'effort'")
        for field in ("force", "moment"):
            self._set(field, check_vector(f"{self.name}.{field}", getattr(self, field)))
        if not any((*self.force, *self.moment)):
            raise ArgumentError(f"{self.name}.force", "force and moment are both zero", "a load")


@dataclass(frozen=True, kw_only=True)
class Wrench(_Load):
    """A force and a moment at a point of a rod, both times the effort [-]; a `BeamModel` takes dead forces only.

    Attributes:
        point: where it acts, in the rest pose [m].
        force: force per unit effort, in the rest pose's world axes [N].
        moment: moment per unit effort, in the rest pose's world axes [N m].
        follower: whether it turns with the section (a thruster, a motor) or keeps its direction (a weight).
        body: name of the rod; "" takes the nearest.
    """

    kind: ClassVar[str] = "wrench"

    point: Vector

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("point", check_vector(f"{self.name}.point", self.point))


@dataclass(frozen=True, kw_only=True)
class LineLoad(_Load):
    """A load spread evenly over the length of a rod, times the effort [-]; a `BeamModel` takes dead forces only.

    Attributes:
        force: force per length and unit effort, in world axes (dead) or in the section's axes (follower) [N/m].
        moment: moment per length and unit effort, same axes [N].
        follower: False: the load keeps its direction in the world. True: it is given in the axes of each section (x
            along the rod) and turns with it (a pressure from one side, a distributed muscle).
        body: name of the rod; may be left out if there is one.
    """

    kind: ClassVar[str] = "line_load"
