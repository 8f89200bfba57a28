"""Common part of the laws whose constants are Young's modulus and Poisson ratio."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Self

from pliant.materials import moduli
from pliant.materials.material import Array, Material, parameter_vector


@dataclass(frozen=True)
class Elastic(Material):
    """A law given by its small-strain constants.

    Attributes:
        young: Young's modulus [Pa].
        poisson: Poisson ratio, -1 < nu < 0.5.
    """

    young: float
    poisson: float

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("young", moduli.positive("young", self.young))
        self._set("poisson", moduli.poisson_ratio("poisson", self.poisson))

    @property
    def shear(self) -> float:
        """Shear modulus mu = E / (2 (1 + nu)) [Pa]."""
        return moduli.lame(self.young, self.poisson)[0]

    @property
    def lame_lambda(self) -> float:
        """Lame's first constant lambda = E nu / ((1 + nu) (1 - 2 nu)) [Pa]."""
        return moduli.lame(self.young, self.poisson)[1]

    @property
    def bulk(self) -> float:
        """Bulk modulus E / (3 (1 - 2 nu)) [Pa]."""
        return moduli.bulk_modulus(self.young, self.poisson)

    @property
    def parameters(self) -> Array:
        """mu, lambda, then zeros."""
        return parameter_vector(self.shear, self.lame_lambda)

    @classmethod
    def from_young(cls, young: float, poisson: float, **options: Any) -> Self:
        """The law itself; every law has this constructor."""
        return cls(young, poisson, **options)

    def scaled(self, factor: float) -> Self:
        """The same law with Young's modulus multiplied by a factor."""
        return replace(self, young=self.young * moduli.positive("factor", factor))

    def with_poisson(self, poisson: float) -> Self:
        """The same shear modulus with another Poisson ratio."""
        nu = moduli.poisson_ratio("poisson", poisson)
        return replace(self, young=2.0 * self.shear * (1.0 + nu), poisson=nu)
