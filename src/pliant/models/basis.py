"""Strain bases of rods: xi(s) = rest(s) + Phi(s) q.

A basis says which of the six strains are free and how they vary along the rod. It is written on x in [0, 1]
of a segment; `segments` equal pieces of the rod have their own coordinates each (piecewise constant strain is
`constant(segments=n)`). Coordinates are strains in SI units: curvatures and twist [1/m], stretch, shear [-].

    legendre(order=3)                                   all six strains, 4 functions each
    constant(segments=4, strains=("bend_y", "bend_z"))  piecewise constant bending
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.polynomial import chebyshev as _cheb
from numpy.polynomial import legendre as _leg

from pliant.checks import count, instances, numbers
from pliant.errors import ArgumentError, UnknownNameError

Array = np.ndarray
STRAINS = ("twist", "bend_y", "bend_z", "stretch", "shear_y", "shear_z")
BENDING = ("bend_y", "bend_z")
INEXTENSIBLE = ("twist", "bend_y", "bend_z")

__all__ = [
    "BENDING",
    "INEXTENSIBLE",
    "STRAINS",
    "Basis",
    "chebyshev",
    "constant",
    "from_modes",
    "hermite",
    "legendre",
    "monomial",
    "piecewise_linear",
]


@dataclass(frozen=True, eq=False)
class Basis:
    """Shape functions of the strain on one segment.

    Attributes:
        kind: name of the family.
        order: polynomial order, number of elements, or number of modes less one, by kind.
        strains: the free strains, in the order of the coordinates.
        segments: number of equal pieces of the rod that have their own coordinates.
        points: Gauss points per smooth piece for mass and loads; 0 chooses by order.
        samples: sampled modes (modes, stations, 6) for kind "modes".
    """

    kind: str
    order: int
    strains: tuple[str, ...] = STRAINS
    segments: int = 1
    points: int = 0
    samples: Array | None = None

    def __post_init__(self) -> None:
        names = instances("strains", self.strains, str)
        for name in names:
            if name not in STRAINS:
                raise UnknownNameError("strain", name, STRAINS)
        if not names or len(set(names)) != len(names):
            raise ArgumentError("strains", f"{names} is empty or repeats a name", f"some of {STRAINS}")
        object.__setattr__(self, "strains", names)
        for field, low in (("order", 0), ("segments", 1), ("points", 0)):
            value = count(field, getattr(self, field), low)
            if value > 200:
                raise ArgumentError(field, f"{value}", f"an integer from {low} to 200")
            object.__setattr__(self, field, value)

    @property
    def functions(self) -> int:
        """Scalar functions per strain."""
        return 2 * (self.order + 1) if self.kind == "hermite" else self.order + 1

    @property
    def size(self) -> int:
        """Coordinates per segment."""
        return self.functions if self.kind == "modes" else self.functions * len(self.strains)

    @property
    def breaks(self) -> Array:
        """Places in [0, 1], ends included, between which the functions are smooth."""
        if self.kind in ("piecewise_linear", "hermite"):
            return np.linspace(0.0, 1.0, self.order + 1)
        return np.array([0.0, 1.0])

    @property
    def gauss(self) -> int:
        """Gauss points per smooth piece."""
        if self.points:
            return self.points
        if self.kind in ("piecewise_linear", "hermite"):
            return 3 if self.kind == "piecewise_linear" else 4
        return 5 if self.kind == "constant" else max(6, self.order + 5)

    @property
    def components(self) -> Array:
        """The strain of each coordinate, as an index of STRAINS; -1 if it has several (size,)."""
        if self.kind == "modes":
            return np.full(self.size, -1)
        return np.repeat([STRAINS.index(s) for s in self.strains], self.functions)

    def scalar(self, x: Array) -> Array:
        """Values of the scalar functions at x in [0, 1] (len(x), functions)."""
        x = np.atleast_1d(np.asarray(x, float))
        n = self.functions
        if self.kind == "constant":
            return np.ones((len(x), 1))
        if self.kind == "legendre":
            return _leg.legvander(2 * x - 1, n - 1)
        if self.kind == "chebyshev":
            return _cheb.chebvander(2 * x - 1, n - 1)
        if self.kind == "monomial":
            return np.vander(x, n, increasing=True)
        knots = self.breaks
        e = np.clip(np.searchsorted(knots, x, side="right") - 1, 0, self.order - 1)
        u = (x - knots[e]) * self.order
        out = np.zeros((len(x), n))
        rows = np.arange(len(x))
        if self.kind == "piecewise_linear":
            out[rows, e] = 1 - u
            out[rows, e + 1] = u
            return out
        # Hermite: value and slope (per element length) at every knot
        out[rows, 2 * e] = 1 - 3 * u**2 + 2 * u**3
        out[rows, 2 * e + 1] = u * (1 - u) ** 2
        out[rows, 2 * e + 2] = 3 * u**2 - 2 * u**3
        out[rows, 2 * e + 3] = u**2 * (u - 1)
        return out

    @cached_property
    def _spline(self):  # type: ignore[no-untyped-def]
        from scipy.interpolate import CubicSpline

        assert self.samples is not None
        stations = np.linspace(0.0, 1.0, self.samples.shape[1])
        return CubicSpline(stations, self.samples, axis=1)

    def table(self, x: Array) -> Array:
        """Phi at x in [0, 1] of a segment, as columns (len(x), size, 6)."""
        x = np.atleast_1d(np.asarray(x, float))
        if self.kind == "modes":
            return np.ascontiguousarray(np.moveaxis(self._spline(x), 0, 1))
        values = self.scalar(x)
        out = np.zeros((len(x), self.size, 6))
        for i, name in enumerate(self.strains):
            rows = slice(i * self.functions, (i + 1) * self.functions)
            out[:, rows, STRAINS.index(name)] = values
        return out


def constant(*, segments: int = 1, strains: str | Sequence[str] = STRAINS, points: int = 0) -> Basis:
    """Piecewise constant strain: each of `segments` equal pieces bends into a helix.

    Args:
        segments: equal pieces of the rod.
        strains: strains that have coordinates, some of `STRAINS`.
        points: Gauss points per smooth piece for mass and loads; 0 chooses by order.
    """
    return Basis("constant", 0, instances("strains", strains, str), segments, points)


def legendre(order: int, *, strains: str | Sequence[str] = STRAINS, segments: int = 1, points: int = 0) -> Basis:
    """Legendre polynomials P_0 .. P_order of 2x - 1 (orthogonal, not normalised: P_n(1) = 1).

    Args:
        order: of the highest polynomial.
        strains: strains that have coordinates, some of `STRAINS`.
        segments: equal pieces of the rod, each with polynomials of its own.
        points: Gauss points per smooth piece for mass and loads; 0 chooses by order.
    """
    return Basis("legendre", order, instances("strains", strains, str), segments, points)


def chebyshev(order: int, *, strains: str | Sequence[str] = STRAINS, segments: int = 1, points: int = 0) -> Basis:
    """Chebyshev polynomials T_0 .. T_order of 2x - 1.

    Args:
        order: of the highest polynomial.
        strains: strains that have coordinates, some of `STRAINS`.
        segments: equal pieces of the rod, each with polynomials of its own.
        points: Gauss points per smooth piece for mass and loads; 0 chooses by order.
    """
    return Basis("chebyshev", order, instances("strains", strains, str), segments, points)


def monomial(order: int, *, strains: str | Sequence[str] = STRAINS, segments: int = 1, points: int = 0) -> Basis:
    """Powers 1, x, .., x^order; badly conditioned beyond order 6 or so.

    Args:
        order: of the highest polynomial.
        strains: strains that have coordinates, some of `STRAINS`.
        segments: equal pieces of the rod, each with polynomials of its own.
        points: Gauss points per smooth piece for mass and loads; 0 chooses by order.
    """
    return Basis("monomial", order, instances("strains", strains, str), segments, points)


def piecewise_linear(elements: int, *, strains: str | Sequence[str] = STRAINS, points: int = 0) -> Basis:
    """Hat functions on `elements` equal pieces: the coordinates are the strains at the knots.

    Args:
        elements: equal pieces between the knots.
        strains: strains that have coordinates, some of `STRAINS`.
        points: Gauss points per smooth piece for mass and loads; 0 chooses by order.
    """
    return Basis("piecewise_linear", count("elements", elements), instances("strains", strains, str), 1, points)


def hermite(elements: int, *, strains: str | Sequence[str] = STRAINS, points: int = 0) -> Basis:
    """Cubic Hermite functions: strain and its slope (times the element length) at the knots.

    Args:
        elements: equal pieces between the knots.
        strains: strains that have coordinates, some of `STRAINS`.
        points: Gauss points per smooth piece for mass and loads; 0 chooses by order.
    """
    return Basis("hermite", count("elements", elements), instances("strains", strains, str), 1, points)


def from_modes(modes: Array, *, strain: str | None = None, points: int = 0) -> Basis:
    """Data-driven modes sampled at equally spaced stations from base to tip.

    Args:
        modes: (modes, stations, 6), all strains of each mode; or (modes, stations) for one strain.
        strain: the strain that (modes, stations) values belong to.
        points: Gauss points; 0 chooses by the number of stations.
    """
    values = numbers("modes", modes).copy()
    if values.ndim == 2 and strain is not None:
        if strain not in STRAINS:
            raise UnknownNameError("strain", strain, STRAINS)
        full = np.zeros((*values.shape, 6))
        full[:, :, STRAINS.index(strain)] = values
        values = full
    if values.ndim != 3 or values.shape[2] != 6 or values.shape[0] < 1 or values.shape[1] < 2:
        raise ArgumentError("modes", f"shape {values.shape}", "(modes, stations, 6)")
    values.setflags(write=False)
    free = tuple(s for i, s in enumerate(STRAINS) if np.any(values[:, :, i] != 0.0))
    if not free:
        raise ArgumentError("modes", "all modes are zero", "at least one non-zero strain")
    gauss = points or int(np.clip(values.shape[1] // 2, 8, 30))
    return Basis("modes", values.shape[0] - 1, free, 1, gauss, values)
