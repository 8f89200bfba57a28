"""Measured pressure-volume curves of a chamber, with hysteresis."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ArgumentError

Array = np.ndarray


@dataclass(frozen=True)
class PressureCurve:
    """Volume ratio and pressure of a chamber, filling and emptying (hysteresis).

    Attributes:
        ratio: volume over rest volume, increasing (n,).
        filling: pressures while the chamber is filled [Pa] (n,).
        emptying: pressures while it is emptied [Pa] (n,).
    """

    ratio: tuple[float, ...]
    filling: tuple[float, ...]
    emptying: tuple[float, ...]

    def __post_init__(self) -> None:
        for name in ("ratio", "filling", "emptying"):
            try:
                values = np.asarray(getattr(self, name), dtype=float)
            except (TypeError, ValueError):
                raise ArgumentError(name, "not a list of numbers", "finite numbers") from None
            if values.ndim != 1 or len(values) < 2 or not np.isfinite(values).all():
                raise ArgumentError(name, f"shape {values.shape}, or not finite", "two or more finite numbers")
            object.__setattr__(self, name, tuple(float(v) for v in values))
        if not len(self.ratio) == len(self.filling) == len(self.emptying):
            raise ArgumentError("ratio", "the lists differ in length", "as many pressures as ratios")
        if self.ratio[0] <= 0.0 or not (np.diff(self.ratio) > 0.0).all():
            raise ArgumentError("ratio", "not positive or not increasing", "increasing ratios greater than 0")
        for name in ("filling", "emptying"):
            if not (np.diff(getattr(self, name)) >= 0.0).all():
                raise ArgumentError(name, "the pressure falls", "pressures that grow (see PressureCurve.from_samples)")

    @classmethod
    def from_samples(
        cls,
        filling: tuple[ArrayLike, ArrayLike],
        emptying: tuple[ArrayLike, ArrayLike] | None = None,
        *,
        points: int = 33,
    ) -> PressureCurve:
        """The monotone curves nearest to measured (ratio, pressure [Pa]) pairs.

        Args:
            filling: ratios and pressures while the chamber is filled.
            emptying: the same while it is emptied; equal to filling if None.
            points: points of the table.
        """
        branches = [_clean(*filling), _clean(*(emptying if emptying is not None else filling))]
        low = max(b[0][0] for b in branches)
        high = min(b[0][-1] for b in branches)
        if not high > low:
            raise ArgumentError("filling", "the two branches do not overlap", "the same range of volume ratios")
        grid = np.linspace(low, high, points)
        return cls(tuple(grid), *(tuple(np.interp(grid, *b)) for b in branches))

    def pressure(self, ratio: float, *, emptying: bool = False) -> float:
        """Pressure [Pa] at a volume ratio."""
        self._inside("ratio", ratio, self.ratio)
        return float(np.interp(ratio, self.ratio, self.emptying if emptying else self.filling))

    def volume_ratio(self, pressure: float, *, emptying: bool = False) -> float:
        """Volume ratio at a pressure [Pa]."""
        table = self.emptying if emptying else self.filling
        self._inside("pressure", pressure, table)
        return float(np.interp(pressure, table, self.ratio))

    @property
    def hysteresis(self) -> float:
        """Largest difference of the branches over the range of pressures [-]."""
        span = max(float(np.ptp(self.filling)), 1e-300)
        return float(np.abs(np.subtract(self.filling, self.emptying)).max()) / span

    @staticmethod
    def _inside(name: str, value: float, table: tuple[float, ...]) -> None:
        slack = 1e-9 * (table[-1] - table[0])
        if not table[0] - slack <= value <= table[-1] + slack:
            raise ArgumentError(name, f"{value}", f"inside of the measured range {table[0]:.4g} to {table[-1]:.4g}")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for a robot file."""
        return {name: list(getattr(self, name)) for name in ("ratio", "filling", "emptying")}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> PressureCurve:
        """The curve saved by `to_dict`."""
        if not isinstance(data, Mapping) or set(data) != {"ratio", "filling", "emptying"}:
            raise ArgumentError("curve", "not a pressure curve", "a table with ratio, filling and emptying")
        return cls(**data)


def _clean(ratio: ArrayLike, pressure: ArrayLike) -> tuple[Array, Array]:
    """Sorted samples with increasing pressures (pool adjacent violators)."""
    x, y = np.asarray(ratio, float).ravel(), np.asarray(pressure, float).ravel()
    if x.shape != y.shape or len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ArgumentError("samples", f"{x.shape} ratios, {y.shape} pressures", "two finite lists of equal length")
    order = np.argsort(x)
    x, y = x[order], y[order]
    if x[0] <= 0.0:
        raise ArgumentError("samples", f"a volume ratio of {x[0]}", "positive ratios")
    blocks: list[list[float]] = []
    for value in y:
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            v, n = blocks.pop()
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + v * n) / (blocks[-1][1] + n), blocks[-1][1] + n]
    fitted = np.concatenate([np.full(int(n), v) for v, n in blocks])
    return x, fitted
