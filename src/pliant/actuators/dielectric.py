"""Dielectric elastomer layers: capacity and voltage squared."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from pliant.actuators.actuator import Actuator, Interval, Vector, check_direction, check_name
from pliant.checks import positive

VACUUM = 8.8541878128e-12


@dataclass(frozen=True, kw_only=True)
class DielectricLayer(Actuator):
    """A soft capacitor: a layer of the body between two compliant electrodes.

    Ideal dielectric of constant volume: where the layer's area has grown by the factor a, its thickness has shrunk
    by 1/a, and a voltage Phi stores the co-energy eps/2 (Phi/H)^2 a^2 per rest volume (H: rest thickness). So the
    coordinate is half of the capacity gained,

        delta = eps / (2 H^2) * integral of (a^2 - 1) over the layer [F],     effort = Phi^2 [V^2],

    and Maxwell's stress eps (Phi / h)^2 follows. For a uniform layer delta = C_0/2 (lambda^2 - 1), with lambda the
    area ratio; `GeometricModel.command({"layer": lambda})` converts.

    Attributes:
        region: name of a region of the body's mesh, "" for the actuator's own name.
        body: name of the body; "" looks the region up in all bodies.
        normal: direction of the thickness in the rest pose; normalised.
        thickness: rest thickness H [m].
        permittivity: relative permittivity of the elastomer [-].
        prestretch: area ratio that the glued layer would take if it were released (0.7 in the source); 1 for none.
            It is below 1 if the layer was stretched before it was glued.
    """

    kind: ClassVar[str] = "dielectric_layer"
    effort_unit: ClassVar[str] = "V^2"
    displacement_unit: ClassVar[str] = "F"

    region: str = ""
    body: str = ""
    normal: Vector = (0.0, 0.0, 1.0)
    thickness: float = 1e-3
    permittivity: float = 4.7
    prestretch: float = 1.0
    effort_limits: Interval = (0.0, math.inf)

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("region", check_name(f"{self.name}.region", self.region or self.name))
        self._set("normal", check_direction(f"{self.name}.normal", self.normal))
        for f in ("thickness", "permittivity", "prestretch"):
            self._set(f, positive(f"{self.name}.{f}", getattr(self, f)))

    @property
    def factor(self) -> float:
        """eps / (2 H^2) [F/m^3]: half the capacity per rest volume."""
        return 0.5 * VACUUM * self.permittivity / self.thickness**2

    def voltage(self, effort: float) -> float:
        """Voltage [V] of an effort [V^2]; nan where the effort is negative (no voltage can contract the layer)."""
        return math.sqrt(effort) if effort >= 0.0 else math.nan

    def field(self, effort: float, ratio: float = 1.0) -> float:
        """True electric field [V/m] at an area ratio; elastomers break down around 1e8 V/m."""
        return self.voltage(effort) * ratio / self.thickness
