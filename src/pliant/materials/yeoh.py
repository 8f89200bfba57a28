"""Yeoh law: a polynomial in the first isochoric invariant."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pliant._kernels import material_codes as codes
from pliant.errors import ArgumentError
from pliant.materials import moduli
from pliant.materials.hyperelastic import Hyperelastic
from pliant.materials.material import Array, parameter_vector


@dataclass(frozen=True)
class Yeoh(Hyperelastic):
    """W = sum_i c_i (J^(-2/3) I1 - 3)^i + sum_j (J - 1)^(2j) / d_j.

    Attributes:
        c: one to three coefficients [Pa]; shear modulus 2 c_1.
        d: one to three volumetric coefficients [1/Pa], greater than 0; bulk modulus 2 / d_1.
    """

    c: tuple[float, ...]
    d: tuple[float, ...]

    law: ClassVar[str] = "yeoh"
    code: ClassVar[int] = codes.YEOH

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("c", moduli.coefficients("c", self.c, 3))
        self._set("d", moduli.coefficients("d", self.d, 3))
        for j, value in enumerate(self.d):
            if value <= 0.0:
                raise ArgumentError(f"d[{j}]", f"is {value}", "more than 0; for fewer terms a shorter d")
        self._check_shear("c[0]")

    @property
    def shear(self) -> float:
        """Shear modulus 2 c_1 [Pa]."""
        return 2.0 * self.c[0]

    @property
    def bulk(self) -> float:
        """Bulk modulus 2 / d_1 [Pa]."""
        return 2.0 / self.d[0]

    @property
    def parameters(self) -> Array:
        """c_1, c_2, c_3, 1/d_1, 1/d_2, 1/d_3 (absent terms zero), then zeros."""
        c = (*self.c, 0.0, 0.0)[:3]
        return parameter_vector(*c, *(1.0 / d for d in self.d))

    @classmethod
    def from_young(
        cls, young: float, poisson: float, *, stiffening: tuple[float, ...] = (), **options: Any
    ) -> Self:
        """The law with small-strain moduli; `stiffening` gives c_2/c_1 and c_3/c_1 (none by default)."""
        young, nu = moduli.positive("young", young), moduli.poisson_ratio("poisson", poisson)
        c1 = 0.5 * moduli.lame(young, nu)[0]
        c = (c1, *(c1 * moduli.finite(f"stiffening[{i}]", s) for i, s in enumerate(stiffening)))
        return cls(c, (2.0 / moduli.bulk_modulus(young, nu),), **options)

    def scaled(self, factor: float) -> Self:
        """The same law with all stresses multiplied by a factor."""
        f = moduli.positive("factor", factor)
        return replace(self, c=tuple(f * c for c in self.c), d=tuple(d / f for d in self.d))

    def with_poisson(self, poisson: float) -> Self:
        """The same law with U = bulk/2 (J - 1)^2 only, its bulk modulus that of another Poisson ratio."""
        bulk = moduli.bulk_of_shear(self.shear, moduli.poisson_ratio("poisson", poisson))
        return replace(self, d=(2.0 / bulk,))
