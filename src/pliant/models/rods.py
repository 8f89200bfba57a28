"""What the models of rods ask of a robot: that it is made of rods, and which bases they can move."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.actuators import Slide
from pliant.checks import instance
from pliant.errors import ArgumentError
from pliant.robot import Robot, RodBody


def rods_of(robot: Robot) -> list[RodBody]:
    """The bodies of a robot of rods, or an ArgumentError."""
    other = [b.name for b in instance("robot", robot, Robot).bodies if not isinstance(b, RodBody)]
    if other:
        raise ArgumentError("robot", f"bodies {other} are not rods", "a robot of RodBody only")
    return [b for b in robot.bodies if isinstance(b, RodBody)]


def check_held(rods: Sequence[RodBody], model: str) -> None:
    """Refuse rods whose base may move, for a model that holds it."""
    for rod in rods:
        for field in ("axes", "rotates"):
            if getattr(rod, field):
                raise ArgumentError(
                    f"{rod.name}.{field}", f"{model} holds the base of its rods", "a RodModel for bases that move"
                )


def check_slides(rods: Sequence[RodBody], slides: Sequence[Slide], model: str) -> None:
    """Refuse bases that move otherwise than by one `Slide` along its axis."""
    for rod in rods:
        own = [slide for slide in slides if slide.part == rod.name]
        if not own:
            check_held([rod], model)
        elif rod.rotates:
            raise ArgumentError(f"{rod.name}.rotates", f"{model} keeps the direction of a base", "False, or a RodModel")
        elif len(own) > 1:
            raise ArgumentError(f"{own[1].name}.part", f"{rod.name!r} is moved by two slides", "one, or a RodModel")
        elif rod.axes and not (
            len(rod.axes) == 1 and np.isclose(abs(np.dot(rod.axes[0], own[0].axis)), 1.0, rtol=0.0, atol=1e-9)
        ):
            raise ArgumentError(
                f"{rod.name}.axes", f"{model} moves a base along its slide only", f"{own[0].axis}, or a RodModel"
            )
