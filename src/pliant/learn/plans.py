"""Plans: at which commands to sample. The rows depend on the plan and the seed only."""

from __future__ import annotations

import numpy as np

from pliant import checks
from pliant.errors import ArgumentError

Array = np.ndarray
PLANS = ("grid", "latin", "sobol", "active")
MAX_ROWS = 50_000_000


def make_plan(
    plan: str, ranges: Array, *, count: int | None = None, per_axis: int | None = None, seed: int = 0
) -> Array:
    """Commands to sample (n, m).

    Args:
        plan: "grid" (per_axis values on every axis, neighbours next to each other), "latin" (hypercube) or
            "sobol".
        ranges: (m, 2).
        count: number of rows; for a grid, per_axis is the largest whose power does not exceed it.
        per_axis: values per axis of a grid.
        seed: of the random plans.
    """
    m = len(ranges)
    if plan == "grid":
        if per_axis is None:
            per_axis = int(np.floor(row_count(m, count=count) ** (1.0 / m) + 1e-9))
        if row_count(m, per_axis=per_axis) < 2**m:
            raise ArgumentError("per_axis", f"{per_axis}", f"at least 2, which takes {2**m} samples")
        return scaled(_snake(per_axis, m), ranges)
    return scaled(unit_rows(plan, row_count(m, count=count, per_axis=per_axis), m, seed), ranges)


def row_count(m: int, *, count: int | None = None, per_axis: int | None = None) -> int:
    """Number of rows of a plan over m axes: the count, or else that of a grid of per_axis values on every axis."""
    if count is None and per_axis is None:
        raise ArgumentError("count", "missing", "count or per_axis")
    name, rows = ("per_axis", checks.count("per_axis", per_axis) ** m) if count is None else ("count", count)
    if checks.count(name, rows) > MAX_ROWS:
        raise ArgumentError(name, f"{rows} samples", f"at most {MAX_ROWS} in all")
    return int(rows)


def unit_rows(plan: str, count: int, m: int, seed: int) -> Array:
    """Rows in the unit cube (count, m)."""
    import warnings

    from scipy.stats import qmc

    if plan == "latin":
        return qmc.LatinHypercube(m, rng=np.random.default_rng(seed)).random(count)
    if plan == "sobol":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # a count that is no power of two is fine here
            return qmc.Sobol(m, rng=np.random.default_rng(seed)).random(count)
    raise ArgumentError("plan", f"{plan!r}", ", ".join(PLANS))


def scaled(rows: Array, ranges: Array) -> Array:
    """Rows of the unit cube in the ranges."""
    return ranges[:, 0] + rows * (ranges[:, 1] - ranges[:, 0])


def _snake(n: int, m: int) -> Array:
    """A grid of the unit cube in boustrophedon order: consecutive rows are neighbours."""
    line = np.linspace(0.0, 1.0, n)
    rows = np.zeros((1, 0))
    for _ in range(m):
        blocks = [
            np.column_stack([np.full(len(rows), x), rows if i % 2 == 0 else rows[::-1]]) for i, x in enumerate(line)
        ]
        rows = np.concatenate(blocks)
    return rows
