"""Joints that close loops: two places of rods, or a place and the world, held together.

A closure is one direction of such a joint. It is an actuator driven by displacement: its displacement is what the two
places lack to meet, the solvers hold it at zero by a multiplier, and its effort is the reaction of the joint. `weld`
and `pin` give the closures of a whole joint.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.actuators.actuator import (
    Actuator,
    Drive,
    Interval,
    Quaternion,
    Vector,
    check_direction,
    check_quaternion,
    check_vector,
)


@dataclass(frozen=True, kw_only=True)
class Closure(Actuator):
    """One direction in which a place of a rod is held to another place.

    Its displacement is axis . (x - x_other) [m], or with `turn` the sine of the angle about the axis by which the
    section is turned off its joined orientation; its effort is the force [N] or moment [N m] of the joint on the rod
    along the axis, and its opposite on the other. At zero, which is the default command, the joint is closed. It need
    not be so at rest: `equilibrium` then bends the rods until it is.

    Attributes:
        point: the place on the rod, in the rest pose [m].
        other_point: the place it is held to: on `other` in the rest pose, or in the world [m].
        axis: direction in the world or, with `turn`, in the axes of the other section; normalised.
        turn: hold the rotation about the axis instead of the translation along it.
        rotation: orientation of the section in the axes of the other one (of the world) when joined, wxyz; None for
            that of the rest pose. Closing turns the sections by the shorter way: start within a right angle of it.
        body: name of the rod; "" takes the nearest.
        other: name of the rod it is held to (it may be the same one); "" for the world.
    """

    kind: ClassVar[str] = "closure"

    point: Vector
    other_point: Vector
    axis: Vector
    turn: bool = False
    rotation: Quaternion | None = None
    body: str = ""
    other: str = ""
    drive: Drive = "displacement"
    displacement_limits: Interval = (0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        for field in ("point", "other_point"):
            self._set(field, check_vector(f"{self.name}.{field}", getattr(self, field)))
        self._set("axis", check_direction(f"{self.name}.axis", self.axis))
        if self.rotation is not None:
            self._set("rotation", check_quaternion(f"{self.name}.rotation", self.rotation))


def pin(
    name: str, *, point: Sequence[float], other_point: Sequence[float], body: str = "", other: str = ""
) -> tuple[Closure, ...]:
    """The three closures of a ball joint: the places meet, the sections turn freely.

    Args:
        name: of the joint; the closures are called `name`.x, .y, .z.
        point, other_point: places that meet, as in `Closure` [m].
        body, other: the rods that they lie on, as in `Closure`.
    """
    return _joint(name, (False,), point, other_point, None, body, other)


def weld(
    name: str,
    *,
    point: Sequence[float],
    other_point: Sequence[float],
    rotation: Sequence[float] | None = None,
    body: str = "",
    other: str = "",
) -> tuple[Closure, ...]:
    """The six closures of a rigid joint: the places meet and the sections keep their relative orientation.

    Args:
        name: of the joint; the closures are called `name`.x, .y, .z, .rx, .ry, .rz.
        point, other_point: places that meet, as in `Closure` [m].
        rotation: of the other section as seen from the first, as in `Closure`.
        body, other: the rods that they lie on, as in `Closure`.
    """
    return _joint(name, (False, True), point, other_point, rotation, body, other)


def _joint(
    name: str,
    turns: Sequence[bool],
    point: Sequence[float],
    other_point: Sequence[float],
    rotation: Sequence[float] | None,
    body: str,
    other: str,
) -> tuple[Closure, ...]:
    return tuple(
        Closure(
            name=f"{name}.{'r' if turn else ''}{letter}",
            point=check_vector("point", point),
            other_point=check_vector("other_point", other_point),
            axis=check_vector("axis", axis),
            turn=turn,
            rotation=None if rotation is None or not turn else check_quaternion("rotation", rotation),
            body=body,
            other=other,
        )
        for turn in turns
        for letter, axis in zip("xyz", np.eye(3))
    )
