"""Stiffness of rubber over its principal stretches: how strongly each direction of an element goes back to its length.

An element with the principal stretches s_i has the energy f(s_0) + f(s_1) + f(s_2) per volume, besides that of its
volume: direction i is drawn to the target stretch s_i - f'(s_i) / (2 w), with the weight w of the body. (Valanis and
Landel, J. Appl. Phys. 38, 1967: neo-Hookean and Ogden rubber are of this form, Mooney-Rivlin rubber too where it keeps
its volume.)

One curve f' follows from one uniaxial test, in tension and in compression. With x = ln s and g(x) = s f'(s) the
incompressible bar has the true stress T(x) = g(x) - g(-x/2), hence

    g(x) = T(x) + T(-x/2) + T(x/4) + T(-x/8) + ...

The compression of a bar is the tension of a sheet in two directions: T(-2 x) = -(true stress of the sheet at x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from pliant._kernels.geometric_laws import STRETCH_LOW
from pliant.errors import ArgumentError
from pliant.materials import Material

Array = np.ndarray
INTERVALS = 256
STRETCH_HIGH = 7.0
_TERMS = 44  # halvings after which the argument of T is below rounding


@dataclass(frozen=True, eq=False)
class StretchCurve:
    """f'(s) [Pa] of a principal stretch s as a table of cubics from `STRETCH_LOW` on, continued linearly.

    Attributes:
        width: width of the intervals of s.
        table: (n, 5) coefficients of f' in the local coordinate, and the energy f at their start [J/m^3].
    """

    width: float
    table: Array

    @classmethod
    def from_true_stress(cls, stress: Callable[[Array], Array], *, high: float = STRETCH_HIGH) -> StretchCurve:
        """The curve of an incompressible bar.

        Args:
            stress: T(x), true stress [Pa] of the bar over the logarithm of its stretch; for x of both signs.
            high: largest stretch of the table.
        """
        knots = np.linspace(STRETCH_LOW, high, INTERVALS + 1)
        x = np.log(knots)
        g = sum(np.asarray(stress(x * (-0.5) ** k), float) for k in range(_TERMS))
        slope = g / knots
        if not np.isfinite(slope).all():
            raise ArgumentError("stress", "not finite over the whole range", f"stretches {STRETCH_LOW} to {high}")
        spline = CubicSpline(knots, slope)
        width = float(knots[1] - knots[0])
        table = np.zeros((INTERVALS + 1, 5))
        table[:-1, :4] = spline.c[::-1].T
        table[-1, :2] = spline(knots[-1]), spline(knots[-1], 1)
        table[:, 4] = spline.antiderivative()(knots) - spline.antiderivative()(1.0)
        if not (table[:, 1] > 0.0).all():
            worst = float(knots[np.argmin(table[:, 1])])
            raise ArgumentError("stress", f"the response falls at stretch {worst:.2f}", "stresses that grow")
        return cls(width, table)

    @classmethod
    def from_tests(cls, tension: tuple[ArrayLike, ArrayLike], equibiaxial: tuple[ArrayLike, ArrayLike]) -> StretchCurve:
        """The curve of an incompressible rubber from two tests.

        Args:
            tension: stretches > 1 and nominal stresses [Pa] of a bar.
            equibiaxial: stretches > 1 and nominal stresses [Pa] of a sheet pulled in two directions.
        """
        points = [(0.0, 0.0)]
        for name, (stretch, nominal), sign, power in (
            ("tension", tension, 1.0, 1.0), ("equibiaxial", equibiaxial, -1.0, -2.0),
        ):  # fmt: skip
            s, P = np.asarray(stretch, float), np.asarray(nominal, float)
            if s.ndim != 1 or s.shape != P.shape or len(s) < 2:
                raise ArgumentError(name, f"shapes {s.shape} and {P.shape}", "two lists of equal length, 2 or more")
            if not (np.isfinite(s).all() and np.isfinite(P).all() and (s > 1.0).all() and (P > 0.0).all()):
                raise ArgumentError(name, "not finite or not tensile", "stretches above 1, positive stresses")
            points += list(zip(power * np.log(s), sign * s * P))
        x, T = np.array(sorted(points)).T
        if not (np.diff(x) > 0.0).all():
            raise ArgumentError("tension", "a stretch occurs twice", "each stretch once")
        curve = CubicSpline(x, T)

        def stress(at: Array) -> Array:
            inside = np.clip(at, x[0], x[-1])
            return curve(inside) + curve(inside, 1) * (at - inside)

        return cls.from_true_stress(stress)

    @classmethod
    def of(cls, material: Material) -> StretchCurve:
        """The curve of a material as if it kept its volume."""
        x = np.linspace(np.log(STRETCH_LOW), np.log(STRETCH_HIGH), 600)
        stretch = np.exp(x)
        T = CubicSpline(x, stretch * material.with_poisson(0.49999).uniaxial(stretch))
        return cls.from_true_stress(T)

    def __call__(self, stretch: ArrayLike) -> Array:
        """f' at principal stretches [Pa]."""
        s = np.asarray(stretch, float)
        i = np.clip(((s - STRETCH_LOW) / self.width).astype(int), 0, len(self.table) - 1)
        t = s - (STRETCH_LOW + i * self.width)
        a, b, c, e = np.moveaxis(self.table[i, :4], -1, 0)
        return np.where(t < 0.0, a + t * b, a + t * (b + t * (c + t * e)))

    @property
    def shear(self) -> float:
        """Shear modulus at rest, f''(1) / 2 [Pa]."""
        h = 1e-6
        return float(self(1.0 + h) - self(1.0 - h)) / (4.0 * h)

    def secant(self, stretch: ArrayLike) -> Array:
        """Secant modulus s with f' = 2 s (stretch - 1) [Pa]: the stiffness of spec 2.5, per direction."""
        e = np.asarray(stretch, float) - 1.0
        return self(1.0 + e) / np.where(np.abs(e) > 1e-9, 2.0 * e, np.inf) + np.where(np.abs(e) > 1e-9, 0.0, self.shear)
