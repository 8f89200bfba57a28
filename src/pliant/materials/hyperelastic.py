"""Common part of the laws with an isochoric energy and a bulk modulus."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.errors import ArgumentError
from pliant.materials import moduli
from pliant.materials.material import Material


@dataclass(frozen=True)
class Hyperelastic(Material):
    """A law in isochoric invariants or stretches, for J > 0. Moduli follow from its constants."""

    @property
    def young(self) -> float:
        """Young's modulus at small strain [Pa]."""
        return moduli.young_of(self.shear, self.bulk)

    @property
    def poisson(self) -> float:
        """Poisson ratio at small strain."""
        return moduli.poisson_of(self.shear, self.bulk)

    def _check_shear(self, argument: str) -> None:
        if not self.shear > 0.0:
            raise ArgumentError(argument, f"gives a shear modulus of {self.shear:g} Pa", "more than 0")
