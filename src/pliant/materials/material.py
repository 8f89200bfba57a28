"""What every constitutive law offers: constants, moduli, energy, stress, tangent, test curves, file form."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant._kernels.material_codes import N_PARAMETERS
from pliant.errors import ArgumentError
from pliant.materials import moduli

Array = NDArray[np.float64]
Mode = Literal["uniaxial", "equibiaxial", "planar"]

#: Density taken when none is given: platinum-cure silicone [kg/m^3] (Smooth-On data sheets, 1.07 g/cc).
SILICONE_DENSITY = 1070.0


@dataclass(frozen=True, kw_only=True)
class Material:
    """Base of the constitutive laws: W(F) = Wd(F) + U(det F) [J/m^3], P = dW/dF [Pa], A = dP/dF [Pa].

    A law is a frozen description; its numbers go to the compiled kernels as `code` and `parameters`.

    Attributes:
        density: mass per rest volume [kg/m^3].
        rayleigh_mass: damping per mass [1/s]; damping matrix = rayleigh_mass M + rayleigh_stiffness K.
        rayleigh_stiffness: damping per stiffness [s].
        source: where the numbers come from.
    """

    law: ClassVar[str]
    code: ClassVar[int]

    density: float = SILICONE_DENSITY
    rayleigh_mass: float = 0.0
    rayleigh_stiffness: float = 0.0
    source: str = ""

    if TYPE_CHECKING:
        # Fields of some laws and properties of others, so they cannot be defined here at run time.
        @property
        def young(self) -> float:
            """Young's modulus at small strain [Pa]."""

        @property
        def poisson(self) -> float:
            """Poisson ratio at small strain."""

        @property
        def shear(self) -> float:
            """Shear modulus at small strain [Pa]."""

        @property
        def bulk(self) -> float:
            """Bulk modulus at small strain [Pa]."""

    def __post_init__(self) -> None:
        self._set("density", moduli.positive("density", self.density))
        self._set("rayleigh_mass", moduli.non_negative("rayleigh_mass", self.rayleigh_mass))
        self._set("rayleigh_stiffness", moduli.non_negative("rayleigh_stiffness", self.rayleigh_stiffness))
        if not isinstance(self.source, str):
            raise ArgumentError("source", f"must be text, got {self.source!r}")

    def _set(self, name: str, value: object) -> None:
        """Store a checked value during construction."""
        object.__setattr__(self, name, value)

    # --- what a law defines ----------------------------------------------------------------------

    @property
    def parameters(self) -> Array:
        """Constants in the layout of the compiled kernels (N_PARAMETERS,)."""
        raise NotImplementedError

    @classmethod
    def from_young(cls, young: float, poisson: float, **options: Any) -> Self:
        """The law with the given small-strain Young's modulus [Pa] and Poisson ratio."""
        raise NotImplementedError

    def scaled(self, factor: float) -> Self:
        """The same law with all stresses multiplied by a factor greater than 0 (density unchanged)."""
        raise NotImplementedError

    def with_poisson(self, poisson: float) -> Self:
        """The same law with the same shear modulus and another small-strain Poisson ratio."""
        raise NotImplementedError

    # --- what follows ----------------------------------------------------------------------------

    def energy(self, F: ArrayLike) -> Array:
        """Energy density [J/m^3] of deformation gradients F (..., 3, 3); inf where F is inadmissible."""
        from pliant._kernels.materials_batch import energy_batch

        flat, shape = _gradients(F)
        W = np.empty(len(flat))
        energy_batch(self.code, self.parameters, flat, W)
        return W.reshape(shape)

    def stress(self, F: ArrayLike) -> Array:
        """First Piola-Kirchhoff stress P (..., 3, 3) [Pa]; nan where F is inadmissible."""
        from pliant._kernels.materials_batch import stress_batch

        flat, shape = _gradients(F)
        P = np.empty_like(flat)
        stress_batch(self.code, self.parameters, flat, P)
        return P.reshape(*shape, 3, 3)

    def tangent(self, F: ArrayLike) -> Array:
        """Tangent A (..., 9, 9) [Pa], A[3i+j, 3k+l] = d P_ij / d F_kl; nan where F is inadmissible."""
        from pliant._kernels.materials_batch import tangent_batch

        flat, shape = _gradients(F)
        P, A = np.empty_like(flat), np.empty((len(flat), 9, 9))
        tangent_batch(self.code, self.parameters, flat, P, A)
        return A.reshape(*shape, 9, 9)

    def uniaxial(self, stretch: ArrayLike) -> Array:
        """Nominal stress [Pa] of a bar pulled to a stretch, its sides free (contraction is solved for)."""
        from pliant.materials.response import nominal_stress

        return nominal_stress(self, stretch, "uniaxial")[0]

    def equibiaxial(self, stretch: ArrayLike) -> Array:
        """Nominal stress [Pa] of a sheet pulled to the same stretch in two directions, its faces free."""
        from pliant.materials.response import nominal_stress

        return nominal_stress(self, stretch, "equibiaxial")[0]

    def planar(self, stretch: ArrayLike) -> Array:
        """Nominal stress [Pa] of a wide sheet pulled to a stretch, its width held (pure shear)."""
        from pliant.materials.response import nominal_stress

        return nominal_stress(self, stretch, "planar")[0]

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, lists and text for a robot file; `material_from_dict` reads it back."""
        data: dict[str, Any] = {"law": self.law}
        for f in fields(self):
            value = getattr(self, f.name)
            if f.default is MISSING or value != f.default or f.name == "density":
                data[f.name] = list(value) if isinstance(value, tuple) else value
        return data

    def replace(self, **changes: Any) -> Self:
        """A copy with some fields changed."""
        return replace(self, **changes)


def parameter_vector(*values: float) -> Array:
    """The values, followed by zeros up to N_PARAMETERS."""
    p = np.zeros(N_PARAMETERS)
    p[: len(values)] = values
    return p


def _gradients(F: ArrayLike) -> tuple[Array, tuple[int, ...]]:
    """F as (n, 3, 3) floats and the shape in front of the last two axes."""
    try:
        array = np.ascontiguousarray(F, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("F", "must be an array of numbers", "shape (3, 3) or (n, 3, 3)") from None
    if array.ndim < 2 or array.shape[-2:] != (3, 3):
        raise ArgumentError("F", f"has shape {array.shape}", "shape (3, 3) or (n, 3, 3)")
    if not np.isfinite(array).all():
        raise ArgumentError("F", "contains nan or inf", "finite numbers")
    return array.reshape(-1, 3, 3), array.shape[:-2]
