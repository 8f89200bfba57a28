"""Chambers: volume and pressure, filled with gas or with a heavy liquid."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar

from pliant.actuators.actuator import Actuator, check_name
from pliant.actuators.pressure_curve import PressureCurve
from pliant.checks import non_negative
from pliant.errors import ArgumentError


@dataclass(frozen=True, kw_only=True)
class Chamber(Actuator):
    """A closed cavity of the body under uniform gauge pressure (a follower load).

    Its displacement is the volume gained, V - V_0 [m^3]; its effort is the gauge pressure [Pa],
    positive when it inflates.

    Attributes:
        cavity: name of a cavity of the body's mesh; "" means the actuator's own name.
        body: name of the body; "" looks the cavity up in all bodies.
        fluid_density: density of the liquid that fills the chamber [kg/m^3]; 0 for gas. The weight of the
            liquid is carried by the walls as a hydrostatic load, exactly: its sum is rho V g.
        curve: measured pressure over volume ratio with its hysteresis, or None; a record of the real chamber, which
            converts commands (`GeometricModel.command_pressures`) and does not change the mechanics.
    """

    kind: ClassVar[str] = "chamber"
    effort_unit: ClassVar[str] = "Pa"
    displacement_unit: ClassVar[str] = "m^3"

    cavity: str = ""
    body: str = ""
    fluid_density: float = 0.0
    curve: PressureCurve | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("cavity", check_name(f"{self.name}.cavity", self.cavity or self.name))
        self._set("fluid_density", non_negative(f"{self.name}.fluid_density", self.fluid_density))
        if isinstance(self.curve, Mapping):
            self._set("curve", PressureCurve.from_dict(self.curve))
        elif self.curve is not None and not isinstance(self.curve, PressureCurve):
            raise ArgumentError(f"{self.name}.curve", f"{self.curve!r}", "a PressureCurve or None")
