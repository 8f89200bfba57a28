"""Mooney-Rivlin law: linear in the two isochoric invariants."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pliant._kernels import material_codes as codes
from pliant.materials import moduli
from pliant.materials.hyperelastic import Hyperelastic
from pliant.materials.material import Array, parameter_vector


@dataclass(frozen=True)
class MooneyRivlin(Hyperelastic):
    """W = c10 (J^(-2/3) I1 - 3) + c01 (J^(-4/3) I2 - 3) + bulk/2 (J - 1)^2.

    Attributes:
        c10: coefficient of the first invariant [Pa].
        c01: coefficient of the second invariant [Pa]; 0 gives the isochoric neo-Hookean law.
        bulk: bulk modulus [Pa].
    """

    c10: float
    c01: float
    bulk: float

    law: ClassVar[str] = "mooney-rivlin"
    code: ClassVar[int] = codes.MOONEY_RIVLIN

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("c10", moduli.finite("c10", self.c10))
        self._set("c01", moduli.finite("c01", self.c01))
        self._set("bulk", moduli.positive("bulk", self.bulk))
        self._check_shear("c10 + c01")

    @property
    def shear(self) -> float:
        """Shear modulus 2 (c10 + c01) [Pa]."""
        return 2.0 * (self.c10 + self.c01)

    @property
    def parameters(self) -> Array:
        """c10, c01, bulk, then zeros."""
        return parameter_vector(self.c10, self.c01, self.bulk)

    @classmethod
    def from_young(cls, young: float, poisson: float, *, ratio: float = 0.25, **options: Any) -> Self:
        """The law with small-strain moduli and ratio = c01 / c10."""
        young, nu = moduli.positive("young", young), moduli.poisson_ratio("poisson", poisson)
        c10 = 0.5 * moduli.lame(young, nu)[0] / (1.0 + moduli.non_negative("ratio", ratio))
        return cls(c10, ratio * c10, moduli.bulk_modulus(young, nu), **options)

    def scaled(self, factor: float) -> Self:
        """The same law with all stresses multiplied by a factor."""
        f = moduli.positive("factor", factor)
        return replace(self, c10=f * self.c10, c01=f * self.c01, bulk=f * self.bulk)

    def with_poisson(self, poisson: float) -> Self:
        """The same law with the bulk modulus of another Poisson ratio."""
        return replace(self, bulk=moduli.bulk_of_shear(self.shear, moduli.poisson_ratio("poisson", poisson)))
