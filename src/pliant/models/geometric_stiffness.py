"""Shape parameters of a material: how strongly an element goes back to its rest shape and to its rest volume.

The geometric model blends two targets of every element, its rest shape turned to the current orientation and its
current shape with the rest volume, with the shape parameter R in (0, 1] and a weight w [Pa]:

    mu = w R,   lambda = 2/3 w (1 - R)      <=>      R = (1 - 2 nu) / (1 + nu),   w = mu / R

For rubber the shear modulus depends on the deformation: s(d) with d = |F - R|. It is chosen such that one test of the
incompressible material is reproduced exactly; then psi(d) is its energy and s its secant modulus. Thin walls that bend
and bulge are mostly in planar tension (pure shear), which is therefore the default test.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from pliant.errors import ArgumentError
from pliant.materials import Material
from pliant.materials.material import Mode

Array = np.ndarray

#: Laws whose shear modulus does not depend on the strain.
LINEAR_LAWS = ("linear", "corotational", "st-venant-kirchhoff")
INTERVALS = 64
MAX_STRETCH = 7.0


def shape_parameter(poisson: float) -> float:
    """R of a Poisson ratio: 1 for nu = 0, towards 0 for nu = 1/2."""
    if not 0.0 <= poisson < 0.5:
        raise ArgumentError("poisson", f"{poisson}", "0 <= nu < 0.5: shape blending knows no other materials")
    return (1.0 - 2.0 * poisson) / (1.0 + poisson)


def moduli_of(shape: float, weight: float) -> tuple[float, float]:
    """Young's modulus [Pa] and Poisson ratio of a shape parameter R and a weight w [Pa]."""
    if not 0.0 < shape <= 1.0:
        raise ArgumentError("shape", f"{shape}", "0 < R <= 1")
    poisson = (1.0 - shape) / (2.0 + shape)
    return 2.0 * weight * shape * (1.0 + poisson), poisson


def distance(stretch: ArrayLike, mode: Mode = "uniaxial") -> tuple[Array, Array]:
    """d = |F - R| of an incompressible sample pulled to a stretch, and d * d'(stretch)."""
    x = np.asarray(stretch, float) - 1.0
    lam = x + 1.0
    if mode == "uniaxial":
        other, slope, count = lam**-0.5 - 1.0, -0.5 * lam**-1.5, 2
    elif mode == "planar":
        other, slope, count = 1.0 / lam - 1.0, -(lam**-2.0), 1
    elif mode == "equibiaxial":
        other, slope = lam**-2.0 - 1.0, -2.0 * lam**-3.0
        return np.sqrt(2.0 * x**2 + other**2), 2.0 * x + other * slope
    else:
        raise ArgumentError("mode", f"{mode!r}", "'uniaxial', 'planar' or 'equibiaxial'")
    return np.sqrt(x**2 + count * other**2), x + count * other * slope


@dataclass(frozen=True, eq=False)
class SecantCurve:
    """Secant shear modulus s(d) [Pa] as a table of cubics, or one constant.

    Attributes:
        width: width of the intervals of d; 0 for a constant.
        table: (n, 5) coefficients of the cubics in the local coordinate, and the energy at their start [J/m^3].
    """

    width: float
    table: Array

    @classmethod
    def constant(cls, shear: float) -> SecantCurve:
        """The curve of a linear body."""
        return cls(0.0, np.array([[shear, 0.0, 0.0, 0.0, 0.0]]))

    @classmethod
    def from_test(
        cls, stretch: ArrayLike, stress: ArrayLike, *, mode: Mode = "uniaxial", shear: float | None = None
    ) -> SecantCurve:
        """The curve that reproduces a test of an incompressible material.

        Args:
            stretch: stretches, increasing and greater than 1 (n,).
            stress: nominal stresses [Pa] (n,).
            mode: "uniaxial", "planar" or "equibiaxial".
            shear: shear modulus at rest [Pa]; extrapolated from the first points if None.
        """
        lam, P = np.asarray(stretch, float), np.asarray(stress, float)
        if lam.ndim != 1 or lam.shape != P.shape or len(lam) < 3:
            raise ArgumentError("stretch", f"shapes {lam.shape} and {P.shape}", "two lists of equal length, 3 or more")
        if not (np.isfinite(lam).all() and np.isfinite(P).all() and (np.diff(lam) > 0).all() and lam[0] > 1.0):
            raise ArgumentError("stretch", "not finite, not increasing or not above 1", "increasing stretches > 1")
        if not (P > 0).all():
            raise ArgumentError("stress", "not positive", "positive nominal stresses [Pa]")
        d, slope = distance(lam, mode)
        s = P * (2.0 if mode == "equibiaxial" else 1.0) / (2.0 * slope)
        if shear is None:
            shear = float(np.polynomial.Polynomial.fit(d[:3], s[:3], 1)(0.0))
        knots = np.linspace(0.0, d[-1], INTERVALS + 1)
        through = CubicSpline(np.concatenate([[0.0], d]), np.concatenate([[shear], s]))
        spline = CubicSpline(knots, through(knots))
        width = knots[1]
        table = np.zeros((INTERVALS + 1, 5))
        table[:-1, :4] = spline.c[::-1].T
        table[-1, 0] = spline(knots[-1])
        a, b, c, e = table[:-1, :4].T
        t = width
        energy = 2 * knots[:-1] * t * (a + t * (b / 2 + t * (c / 3 + t * e / 4)))
        energy += 2 * t * t * (a / 2 + t * (b / 3 + t * (c / 4 + t * e / 5)))
        table[1:, 4] = np.cumsum(energy)
        curve = cls(float(width), table)
        fine = np.linspace(0.0, knots[-1], 20 * INTERVALS)
        if not (np.diff(fine * curve(fine)) > 0).all():
            raise ArgumentError("stress", "the response is not monotone", "stresses that grow with the stretch")
        return curve

    @classmethod
    def of(cls, material: Material, *, mode: Mode = "planar") -> SecantCurve:
        """The curve of a material: constant for the linear laws, from one of its test curves for rubber."""
        if material.law in LINEAR_LAWS:
            return cls.constant(material.shear)
        if mode not in get_args(Mode):
            raise ArgumentError("calibration", f"{mode!r}", ", ".join(get_args(Mode)))
        stretch = 1.0 + np.linspace(0.02, 1.0, 80) ** 1.5 * (MAX_STRETCH - 1.0)
        stress = getattr(material.with_poisson(0.4999), mode)(stretch)
        good = np.isfinite(stress) & (stress > 0)
        n = len(good) if good.all() else int(np.argmin(good))
        return cls.from_test(stretch[:n], stress[:n], mode=mode, shear=material.shear)

    def __call__(self, d: ArrayLike) -> Array:
        """Secant modulus at distances d [Pa]."""
        d = np.asarray(d, float)
        if self.width == 0.0:
            return np.full(d.shape, self.table[0, 0])
        i = np.minimum((d / self.width).astype(int), len(self.table) - 1)
        t = d - i * self.width
        a, b, c, e = np.moveaxis(self.table[i, :4], -1, 0)
        return a + t * (b + t * (c + t * e))

    def shape_parameter(self, strain: ArrayLike, weight: float) -> Array:
        """R(strain) = s / w of a bar at an engineering strain, as the source states it (spec 2.5)."""
        return self(distance(1.0 + np.asarray(strain, float))[0]) / weight
