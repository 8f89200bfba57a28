"""Small-strain moduli of isotropic solids: conversions and checks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pliant.checks import finite
from pliant.checks import non_negative as non_negative
from pliant.checks import positive as positive
from pliant.errors import ArgumentError


def lame(young: float, poisson: float) -> tuple[float, float]:
    """Shear modulus mu = E / (2 (1 + nu)) and lambda = E nu / ((1 + nu) (1 - 2 nu)) [Pa]."""
    return young / (2.0 * (1.0 + poisson)), young * poisson / ((1.0 + poisson) * (1.0 - 2.0 * poisson))


def bulk_modulus(young: float, poisson: float) -> float:
    """Bulk modulus E / (3 (1 - 2 nu)) [Pa]."""
    return young / (3.0 * (1.0 - 2.0 * poisson))


def bulk_of_shear(shear: float, poisson: float) -> float:
    """Bulk modulus [Pa] that goes with a shear modulus [Pa] and a Poisson ratio."""
    return 2.0 * shear * (1.0 + poisson) / (3.0 * (1.0 - 2.0 * poisson))


def young_of(shear: float, bulk: float) -> float:
    """Young's modulus 9 K G / (3 K + G) [Pa]."""
    return 9.0 * bulk * shear / (3.0 * bulk + shear)


def poisson_of(shear: float, bulk: float) -> float:
    """Poisson ratio (3 K - 2 G) / (2 (3 K + G))."""
    return (3.0 * bulk - 2.0 * shear) / (2.0 * (3.0 * bulk + shear))


def plate_modulus(shear: float, bulk: float) -> float:
    """lambda of plane stress, 2 lambda mu / (lambda + 2 mu) [Pa]: what is left where the thickness is free."""
    lame_first = bulk - 2.0 / 3.0 * shear
    return 2.0 * lame_first * shear / (lame_first + 2.0 * shear)


def poisson_ratio(argument: str, value: Any) -> float:
    """The value as a Poisson ratio in (-1, 0.5), or an ArgumentError."""
    x = finite(argument, value)
    if not -1.0 < x < 0.5:
        hint = "; for an incompressible rubber use 0.49 to 0.4999" if x == 0.5 else ""
        raise ArgumentError(argument, f"got {x}{hint}", "-1 < nu < 0.5")
    return x


def coefficients(argument: str, values: Any, most: int) -> tuple[float, ...]:
    """One to `most` finite floats as a tuple (a single number is taken as a tuple of one)."""
    if isinstance(values, int | float):
        values = (values,)
    if isinstance(values, str) or (not isinstance(values, Sequence) and not hasattr(values, "__iter__")):
        raise ArgumentError(argument, f"must be numbers, got {values!r}", f"1 to {most} numbers")
    result = tuple(finite(f"{argument}[{i}]", v) for i, v in enumerate(values))
    if not 1 <= len(result) <= most:
        raise ArgumentError(argument, f"has {len(result)} entries", f"1 to {most} numbers")
    return result
