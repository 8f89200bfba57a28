"""Constants of a law from test data.

The free direction's stretch is solved for with the requested Poisson ratio, so the fitted law reproduces the
curve as it will be simulated. With it, the nominal stress (tau_x - tau_z) / stretch is linear in the
coefficients of Mooney-Rivlin, Yeoh and, exponents given, Ogden: linear least squares, repeated to agreement.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ArgumentError, SolveError
from pliant.materials import moduli
from pliant.materials.elastic import Elastic
from pliant.materials.laws import law_of
from pliant.materials.material import Array, Material
from pliant.materials.mooney_rivlin import MooneyRivlin
from pliant.materials.ogden import Ogden
from pliant.materials.response import MODES, check_mode, check_stretch, incompressible_lateral, nominal_stress
from pliant.materials.yeoh import Yeoh


@dataclass(frozen=True)
class Fit:
    """A law fitted to data, and how well it does.

    Attributes:
        material: the fitted law.
        r2: coefficient of determination, 1 - residual variance / data variance.
        residual: root mean square of the stress error [Pa].
        relative: `residual` over the largest stress of the data.
        monotone: whether the fitted stress rises with stretch over the range of the data, in every test mode.
            A law that does not is unstable there and should not be simulated that far.
        points: number of data points.
    """

    material: Material
    r2: float
    residual: float
    relative: float
    monotone: bool
    points: int

    def __str__(self) -> str:
        state = "stress rises throughout" if self.monotone else "UNSTABLE: its stress falls somewhere here"
        return (
            f"{self.material.law} fitted to {self.points} points: R2 = {self.r2:.5f}, "
            f"rms error {self.residual:.4g} Pa ({100 * self.relative:.2g} % of the largest stress); {state}"
        )


def fit(
    law: type[Material] | str,
    stretch: ArrayLike,
    stress: ArrayLike,
    mode: str | Sequence[str] = "uniaxial",
    *,
    poisson: float = 0.495,
    terms: int | None = None,
    stable: bool = True,
    **options: Any,
) -> Fit:
    """Fit a law to nominal stress against stretch by least squares.

    Args:
        law: the class or its name.
        stretch: length over rest length (n,).
        stress: nominal (engineering) stress, force over rest area [Pa] (n,).
        mode: "uniaxial", "equibiaxial" or "planar", one for all points or one per point.
        poisson: small-strain Poisson ratio of the result; a tensile test alone does not determine it.
        terms: number of terms, Yeoh 1 to 3 (default 3), Ogden 1 to 3 (default 2).
        stable: keep Mooney-Rivlin (c10, c01 >= 0) and Ogden (mu_k alpha_k >= 0) to constants stable in
            every deformation; a tensile test alone easily gives others that fit better and collapse inflated.
        options: density, damping and source of the result.

    Raises:
        ArgumentError: the data cannot determine the law.
        SolveError: the best fit is no stable solid (shear modulus not positive, or no equilibrium in range).
    """
    cls = law_of(law) if isinstance(law, str) else law
    if not (isinstance(cls, type) and issubclass(cls, Material)):
        raise ArgumentError("law", f"is {law!r}", "a law of pliant.materials or its name")
    nu = moduli.poisson_ratio("poisson", poisson)
    s, y, modes = _data(stretch, stress, mode)
    if issubclass(cls, Elastic):
        _refuse_terms(terms, cls)
        curve = _curve(cls.from_young(1.0, nu), s, modes)
        young = float(curve @ y / (curve @ curve))
        if young <= 0.0:
            raise SolveError(f"the best Young's modulus is {young:g} Pa: stress must rise with stretch")
        material: Material = cls.from_young(young, nu, **options)
    elif issubclass(cls, MooneyRivlin):
        _refuse_terms(terms, cls)
        material = _iterate(_mooney, 2, s, y, modes, nu, stable, options)
    elif issubclass(cls, Yeoh):
        material = _iterate(_yeoh, _terms(terms, 3), s, y, modes, nu, stable, options)
    elif issubclass(cls, Ogden):
        material = _iterate(_ogden, _terms(terms, 2), s, y, modes, nu, stable, options)
    else:
        raise ArgumentError("law", f"{cls.__name__} cannot be fitted", "a law of pliant.materials")
    return _report(material, s, y, modes)


def _data(stretch: ArrayLike, stress: ArrayLike, mode: str | Sequence[str]) -> tuple[Array, Array, Array]:
    s = check_stretch(stretch)
    try:
        y = np.asarray(stress, dtype=np.float64)
    except (TypeError, ValueError):
        raise ArgumentError("stress", "must be numbers", "nominal stress [Pa]") from None
    if s.ndim != 1 or y.shape != s.shape:
        raise ArgumentError("stress", f"shape {y.shape}, stretch {s.shape}", "two equally long vectors")
    if not np.isfinite(y).all():
        raise ArgumentError("stress", "contains nan or inf", "finite numbers [Pa]")
    modes = np.full(len(s), mode) if isinstance(mode, str) else np.asarray(list(mode))
    if modes.shape != s.shape:
        raise ArgumentError("mode", f"has {len(modes)} entries for {len(s)} points", "one, or one per point")
    for m in np.unique(modes):
        check_mode(str(m))
    strained = np.abs(s - 1.0) > 1e-9
    if not strained.any():
        raise ArgumentError("stretch", "no point is stretched", "at least one stretch other than 1")
    return s, y, modes


def _terms(terms: int | None, default: int) -> int:
    n = default if terms is None else terms
    if isinstance(n, bool) or not isinstance(n, int | np.integer) or not 1 <= n <= 3:
        raise ArgumentError("terms", f"is {terms!r}", "1, 2 or 3")
    return int(n)


def _refuse_terms(terms: int | None, cls: type[Material]) -> None:
    if terms is not None:
        raise ArgumentError("terms", f"{cls.__name__} has no choice of terms", "leave it out")


def _curve(material: Material, s: Array, modes: Array) -> Array:
    """Nominal stress of a law at every data point."""
    result = np.empty_like(s)
    for m in MODES:
        at = modes == m
        if at.any():
            result[at] = nominal_stress(material, s[at], m)[0]  # type: ignore[arg-type]
    return result


def _isochoric(s: Array, t: Array, modes: Array) -> tuple[Array, Array, Array]:
    """Isochoric stretches along the pull, across it and along the free direction."""
    across = np.where(modes == "uniaxial", t, np.where(modes == "equibiaxial", s, 1.0))
    scale = (s * across * t) ** (-1.0 / 3.0)
    return s * scale, across * scale, t * scale


Builder = Callable[[Array, Array, Array, Array, int, float, bool, dict[str, Any]], Material]


def _iterate(
    build: Builder,
    terms: int,
    s: Array,
    y: Array,
    modes: Array,
    nu: float,
    stable: bool,
    options: dict[str, Any],
) -> Material:
    """Alternate between the coefficients and the free direction's stretch until they agree."""
    unknowns = 2 * terms if build is _ogden else terms
    if len(np.unique(s[np.abs(s - 1.0) > 1e-9])) < unknowns:
        problem = f"too few different stretches for {unknowns} constants"
        raise ArgumentError("stretch", problem, f"at least {unknowns}")
    t = np.empty_like(s)
    for m in MODES:
        t[modes == m] = incompressible_lateral(s[modes == m], m)
    material = build(s, t, y, modes, terms, nu, stable, options)
    for _ in range(30):
        previous = t.copy()
        for m in MODES:
            at = modes == m
            if at.any():
                t[at] = nominal_stress(material, s[at], m)[1]  # type: ignore[arg-type]
        if np.abs(t - previous).max() < 1e-9:
            break
        material = build(s, t, y, modes, terms, nu, stable, options)
    return material


def _solid(shear: float, nu: float) -> float:
    """Bulk modulus [Pa] for a positive shear modulus; SolveError otherwise."""
    if not shear > 0.0:
        raise SolveError(
            f"the best fit has a shear modulus of {shear:g} Pa, which is no solid: check the data (nominal "
            "stress in Pa against stretch, not strain) or use fewer terms"
        )
    return moduli.bulk_of_shear(shear, nu)


def _least_squares(basis: Array, y: Array, non_negative: bool) -> Array:
    """Coefficients of the columns of a basis, scaled because these differ by orders of magnitude."""
    from scipy.optimize import nnls

    size = np.linalg.norm(basis, axis=0)
    scaled = basis / size
    x = nnls(scaled, y)[0] if non_negative else np.linalg.lstsq(scaled, y, rcond=1e-10)[0]
    return x / size


def _mooney(
    s: Array, t: Array, y: Array, modes: Array, terms: int, nu: float, stable: bool, options: dict[str, Any]
) -> MooneyRivlin:
    a, _, c = _isochoric(s, t, modes)
    basis = np.column_stack([2.0 * (a**2 - c**2) / s, 2.0 * (c**-2.0 - a**-2.0) / s])
    c10, c01 = (float(x) for x in _least_squares(basis, y, stable))
    return MooneyRivlin(c10, c01, _solid(2.0 * (c10 + c01), nu), **options)


def _yeoh(
    s: Array, t: Array, y: Array, modes: Array, terms: int, nu: float, stable: bool, options: dict[str, Any]
) -> Yeoh:
    a, b, c = _isochoric(s, t, modes)
    x = a**2 + b**2 + c**2 - 3.0
    basis = np.column_stack([2.0 * (i + 1) * x**i * (a**2 - c**2) / s for i in range(terms)])
    k = tuple(float(v) for v in _least_squares(basis, y, non_negative=False))
    return Yeoh(k, (2.0 / _solid(2.0 * k[0], nu),), **options)


def _ogden(
    s: Array, t: Array, y: Array, modes: Array, terms: int, nu: float, stable: bool, options: dict[str, Any]
) -> Ogden:
    """Exponents by simplex search, coefficients by linear least squares inside it (variable projection)."""
    from scipy.optimize import minimize

    a, _, c = _isochoric(s, t, modes)

    def solve(alpha: Array) -> tuple[Array, float]:
        # With the sign of alpha in the column, a coefficient mu |alpha| >= 0 is a stable one.
        basis = np.sign(alpha) * (a[:, None] ** alpha - c[:, None] ** alpha) / s[:, None]
        x = _least_squares(basis, y, stable)
        return np.sign(alpha) * x, float(np.linalg.norm(basis @ x - y) / np.linalg.norm(y))

    def objective(alpha: Array) -> float:
        if (np.abs(alpha) < 0.05).any() or (np.abs(alpha) > 25.0).any():
            return 1e3
        mu, error = solve(alpha)
        return error if mu @ alpha > 0.0 else 1e2

    starts: list[list[tuple[float, ...]]] = [
        [(2.0,), (4.0,), (-2.0,)],
        [(1.5, 6.0), (2.0, -2.0)],
        [(1.5, 6.0, -2.0), (1.0, 3.0, 9.0)],
    ]
    effort = {"xatol": 1e-7, "fatol": 1e-12, "maxiter": 1500}
    best = min(
        (
            minimize(objective, np.array(x), method="Nelder-Mead", options=effort)
            for x in starts[terms - 1]
        ),
        key=lambda r: r.fun,
    )
    mu, _ = solve(best.x)
    bulk = _solid(0.5 * float(mu @ best.x), nu)
    return Ogden(tuple(map(float, mu)), tuple(map(float, best.x)), bulk, **options)


def _report(material: Material, s: Array, y: Array, modes: Array) -> Fit:
    error = _curve(material, s, modes) - y
    variance = float(np.sum((y - y.mean()) ** 2))
    rms = float(np.sqrt(np.mean(error**2)))
    r2 = 1.0 - float(error @ error) / variance if variance > 0.0 else float("nan")
    grid = np.linspace(min(1.0, s.min()), max(1.0, s.max()), 101)
    monotone = True
    for m in MODES:
        try:
            test = grid
            if not (modes == m).any():
                # An equibiaxial stretch is as severe as a uniaxial one of its square.
                top = np.sqrt(s.max()) if m == "equibiaxial" else s.max()
                test = grid[(grid >= 1.0) & (grid <= max(top, grid[1]))]
            monotone &= bool((np.diff(nominal_stress(material, test, m)[0]) > 0.0).all())  # type: ignore[arg-type]
        except SolveError:
            monotone = False
    return Fit(material, r2, rms, rms / float(np.abs(y).max() or 1.0), monotone, len(s))
