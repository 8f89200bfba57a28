"""Actuators: each is a coordinate of the robot and the effort that works along it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pliant.actuators.actuator import Actuator, Drive, Interval
from pliant.actuators.cable import Cable
from pliant.actuators.chamber import Chamber
from pliant.actuators.closure import Closure, pin, weld
from pliant.actuators.dielectric import DielectricLayer
from pliant.actuators.forces import PatchForce, PointForce
from pliant.actuators.loads import LineLoad, Wrench
from pliant.actuators.pressure_curve import PressureCurve
from pliant.actuators.slide import Slide
from pliant.actuators.stiffness import Stiffness
from pliant.errors import ArgumentError, UnknownNameError

__all__ = [
    "Actuator",
    "Cable",
    "Chamber",
    "Closure",
    "DielectricLayer",
    "Drive",
    "Interval",
    "LineLoad",
    "PatchForce",
    "PointForce",
    "PressureCurve",
    "Slide",
    "Stiffness",
    "Wrench",
    "actuator_from_dict",
    "pin",
    "weld",
]

_KINDS: dict[str, type[Actuator]] = {
    c.kind: c
    for c in (Cable, Chamber, Closure, DielectricLayer, PointForce, PatchForce, Stiffness, Slide, Wrench, LineLoad)
}


def actuator_from_dict(data: Mapping[str, Any]) -> Actuator:
    """The actuator described by plain values (see `Actuator.to_dict`)."""
    values = dict(data)
    kind = values.pop("kind", None)
    if kind not in _KINDS:
        raise UnknownNameError("kind of actuator", kind, _KINDS)
    try:
        return _KINDS[kind](**values)
    except TypeError as error:
        raise ArgumentError(str(values.get("name", kind)), str(error).split(") ")[-1]) from None
