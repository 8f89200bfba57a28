"""Ogden law: powers of the isochoric principal stretches."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from pliant._kernels import material_codes as codes
from pliant.errors import ArgumentError
from pliant.materials import moduli
from pliant.materials.hyperelastic import Hyperelastic
from pliant.materials.material import Array, parameter_vector


@dataclass(frozen=True)
class Ogden(Hyperelastic):
    """W = sum_k mu_k / alpha_k (b_1^alpha_k + b_2^alpha_k + b_3^alpha_k - 3) + bulk/2 (J - 1)^2.

    b_a = J^(-1/3) lambda_a are the isochoric principal stretches. Beware of the other convention in use,
    2 mu_k / alpha_k^2: multiply its mu_k by 2 / alpha_k.

    Attributes:
        mu: one to four coefficients [Pa]; shear modulus sum_k mu_k alpha_k / 2.
        alpha: as many exponents, none of them 0.
        bulk: bulk modulus [Pa].
    """

    mu: tuple[float, ...]
    alpha: tuple[float, ...]
    bulk: float

    law: ClassVar[str] = "ogden"
    code: ClassVar[int] = codes.OGDEN

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set("mu", moduli.coefficients("mu", self.mu, 4))
        self._set("alpha", moduli.coefficients("alpha", self.alpha, 4))
        self._set("bulk", moduli.positive("bulk", self.bulk))
        if len(self.mu) != len(self.alpha):
            raise ArgumentError("alpha", f"has {len(self.alpha)} entries, not {len(self.mu)}", "one per mu")
        if 0.0 in self.alpha:
            raise ArgumentError("alpha", "an exponent is 0", "exponents other than 0")
        self._check_shear("mu, alpha")

    @property
    def shear(self) -> float:
        """Shear modulus sum_k mu_k alpha_k / 2 [Pa]."""
        return 0.5 * sum(m * a for m, a in zip(self.mu, self.alpha, strict=True))

    @property
    def parameters(self) -> Array:
        """bulk, number of terms, mu_1..4, alpha_1..4, then zeros."""
        n = len(self.mu)
        return parameter_vector(self.bulk, n, *self.mu, *(0.0,) * (4 - n), *self.alpha)

    @classmethod
    def from_young(cls, young: float, poisson: float, *, alpha: float = 2.0, **options: Any) -> Self:
        """The law with one term of the given exponent (2: isochoric neo-Hookean) and small-strain moduli."""
        young, nu = moduli.positive("young", young), moduli.poisson_ratio("poisson", poisson)
        exponent = moduli.finite("alpha", alpha)
        if exponent == 0.0:
            raise ArgumentError("alpha", "is 0", "an exponent other than 0")
        mu = 2.0 * moduli.lame(young, nu)[0] / exponent
        return cls((mu,), (exponent,), moduli.bulk_modulus(young, nu), **options)

    def scaled(self, factor: float) -> Self:
        """The same law with all stresses multiplied by a factor."""
        f = moduli.positive("factor", factor)
        return replace(self, mu=tuple(f * m for m in self.mu), bulk=f * self.bulk)

    def with_poisson(self, poisson: float) -> Self:
        """The same law with the bulk modulus of another Poisson ratio."""
        return replace(self, bulk=moduli.bulk_of_shear(self.shear, moduli.poisson_ratio("poisson", poisson)))
