"""Sparse Cholesky on bodies of tetrahedra: ours beside scipy's SuperLU, banded LAPACK and MKL Pardiso.

    OMP_NUM_THREADS=1 MKL_NUM_THREADS=1 python benchmarks/factorisation.py [--large] [--write]

Stiffness of linear elasticity (Poisson's ratio 0.45) on P1 tetrahedra, one end held, nodes numbered at
random. Times are medians of CPU milliseconds on one thread: `analyse` once per pattern; `numeric` the
factorisation with the pattern kept; `solve 1` and `solve 50` dense right-hand sides; `condense 50` the half
solve of 50 sparse right-hand sides of 3 entries each, as `W = H K^-1 H^T` needs it.
"""

from __future__ import annotations

import argparse
import itertools
import os
import platform
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import splu

from pliant.algebra.factorisation import factorise
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.algebra.threads import one_blas_thread
from pliant.errors import MissingExtraError

BODIES = {  # nodes along x, y, z; those at x = 0 are held
    "cube 1k": (11, 10, 10),
    "slender 1k": (41, 5, 5),
    "cube 4k": (17, 16, 16),
    "slender 4k": (112, 6, 6),
}
LARGE = {"cube 12k": (24, 23, 23), "slender 12k": (149, 9, 9)}
REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "factorisation.md"
COLUMNS = (
    "body", "unknowns", "method", "analyse", "numeric", "solve 1", "solve 50", "condense 50", "factor",
    "residual",
)


def elastic_body(shape: tuple[int, int, int], *, poisson: float = 0.45, seed: int = 0) -> SymmetricMatrix:
    """Stiffness of a block of jittered unit cells, six tetrahedra each, Young's modulus one."""
    rng = np.random.default_rng(seed)
    grid = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), -1).reshape(-1, 3)
    strides = np.array([shape[1] * shape[2], shape[2], 1])
    corner = np.arange(len(grid)).reshape(shape)[:-1, :-1, :-1].ravel()
    paths = [np.cumsum([np.zeros(3, dtype=int), *np.eye(3, dtype=int)[list(p)]], axis=0)
             for p in itertools.permutations(range(3))]
    tets = np.concatenate([corner[:, None] + path @ strides for path in paths])
    points = grid + rng.uniform(-0.15, 0.15, grid.shape)

    edges = points[tets[:, 1:]] - points[tets[:, :1]]
    volumes = np.abs(np.linalg.det(edges)) / 6
    inner = np.linalg.inv(edges).transpose(0, 2, 1)
    slopes = np.concatenate((-inner.sum(axis=1, keepdims=True), inner), axis=1)
    first, second = poisson / ((1 + poisson) * (1 - 2 * poisson)), 0.5 / (1 + poisson)
    dots = np.einsum("eak,ebk->eab", slopes, slopes)
    stiffness = (
        first * np.einsum("eai,ebj->eaibj", slopes, slopes)
        + second * np.einsum("eaj,ebi->eaibj", slopes, slopes)
        + second * np.einsum("eab,ij->eaibj", dots, np.eye(3))
    ) * volumes[:, None, None, None, None]

    free = grid[:, 0] > 0
    number = np.full(len(grid), -1)
    number[free] = rng.permutation(int(free.sum()))
    nodes = number[tets]
    pairs = np.stack(np.broadcast_arrays(nodes[:, :, None], nodes[:, None, :]), -1).reshape(-1, 2)
    pattern = SymmetricPattern.from_blocks(pairs[(pairs >= 0).all(axis=1)], int(free.sum()))
    unknowns = np.where(nodes[:, :, None] >= 0, 3 * nodes[:, :, None] + np.arange(3), -1).reshape(-1, 12)
    rows, cols = np.broadcast_arrays(unknowns[:, :, None], unknowns[:, None, :])
    kept = (rows >= 0) & (cols >= 0)
    slots = pattern.slots(rows[kept], cols[kept])
    values = stiffness.reshape(-1, 12, 12)[kept]
    return SymmetricMatrix(pattern, np.bincount(slots, weights=values, minlength=pattern.nnz))


class _SuperLU:
    """scipy's general sparse LU, in symmetric mode, as the baseline everyone has."""

    def __init__(self, matrix: SymmetricMatrix) -> None:
        self._lu = splu(
            matrix.tocsc(), permc_spec="MMD_AT_PLUS_A", diag_pivot_thresh=0.0, options={"SymmetricMode": True}
        )
        self.nnz = self._lu.L.nnz
        self.solve = self._lu.solve

    def half_solve_sparse(self, B: Any) -> np.ndarray:  # it has none: a full solve
        return self._lu.solve(B.toarray())


def _milliseconds(work: Callable[[], Any], repeats: int) -> float:
    times = []
    for _ in range(repeats):
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return 1e3 * float(np.median(times))


def measure(body: str, matrix: SymmetricMatrix, method: str, repeats: int = 7) -> dict[str, Any]:
    """One row of the table, with BLAS held to one thread."""
    rng = np.random.default_rng(0)
    b = rng.normal(size=(matrix.n, 50))
    picked = rng.choice(matrix.n // 3, 50, replace=False)
    entries = (3 * picked[:, None] + np.arange(3)).ravel()
    columns = sp.csc_array((rng.normal(size=150), entries, 3 * np.arange(51)), (matrix.n, 50))
    analyse = 0.0
    if method == "scipy splu":  # does its analysis again every time
        factor: Any = _SuperLU(matrix)
        numeric = _milliseconds(lambda: _SuperLU(matrix), 3)
    else:
        factorise(matrix, method=method)  # compile and load
        fresh = SymmetricMatrix(replace(matrix.pattern), matrix.data)  # a copy has not been analysed yet
        first = _milliseconds(lambda: factorise(fresh, method=method), 1)
        factor = factorise(matrix, method=method)

        def again() -> None:
            nonlocal factor
            factor = factorise(matrix, method=method, reuse=factor)

        numeric = _milliseconds(again, repeats)
        analyse = max(0.0, first - numeric)
    x = factor.solve(b)
    return {
        "body": body,
        "unknowns": matrix.n,
        "method": method,
        "analyse": analyse,
        "numeric": numeric,
        "solve 1": _milliseconds(lambda: factor.solve(b[:, 0]), repeats),
        "solve 50": _milliseconds(lambda: factor.solve(b), repeats),
        "condense 50": _milliseconds(lambda: factor.half_solve_sparse(columns), repeats),
        "factor": factor.nnz,
        "residual": float(np.abs(matrix @ x - b).max() / np.abs(b).max()),
    }


def main(*, large: bool = False, quick: bool = False) -> list[dict[str, Any]]:
    """Measure every method on every body; print the table and return its rows.

    Args:
        large: also the bodies of 12,000 nodes (without SuperLU, which takes too long there).
        quick: only a cube of 125 nodes, twice each (for tests).
    """
    bodies = {"cube 125": (5, 5, 5)} if quick else {**BODIES, **(LARGE if large else {})}
    rows, missing = [], set()
    with one_blas_thread():
        for body, shape in bodies.items():
            matrix = elastic_body(shape)
            for method in ("supernodal", "banded", "pardiso", "scipy splu"):
                if method == "scipy splu" and body in LARGE:
                    continue
                try:
                    rows.append(measure(body, matrix, method, 2 if quick else 7))
                except MissingExtraError as error:
                    missing.add(f"{method} skipped: {error}")
                    continue
                print(_line(rows[-1]), flush=True)
    for note in missing:
        print(note)
    return rows


def _cells(row: dict[str, Any]) -> list[str]:
    cells = []
    for name in COLUMNS:
        value = row[name]
        if name == "residual":
            cells.append(f"{value:.0e}")
        elif name == "factor":
            cells.append(f"{value / 1e6:.2f} M")
        else:
            cells.append(f"{value:.2f}" if isinstance(value, float) else str(value))
    return cells


def _line(row: dict[str, Any]) -> str:
    return "  ".join(f"{name} {cell}" for name, cell in zip(COLUMNS, _cells(row)))


def write(rows: list[dict[str, Any]], path: Path = REPORT) -> None:
    """Write the rows as a Markdown page."""
    machine = f"Python {platform.python_version()}, {os.cpu_count()} cores ({platform.machine()}), one thread"
    lines = ["# Sparse factorisation", "", (__doc__ or "").split("\n\n", 2)[2].strip(), "", machine + ".", ""]
    lines += ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(_cells(row)) + " |" for row in rows]
    lines += ["", "`analyse` of SuperLU is inside its `numeric`: it keeps no pattern. Its `condense 50` is a"]
    lines += ["full solve. Written by `benchmarks/factorisation.py --write`.", ""]
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sparse Cholesky factorisations side by side.")
    parser.add_argument("--large", action="store_true", help="also bodies of 12,000 nodes")
    parser.add_argument("--write", action="store_true", help=f"write {REPORT.name}")
    options = parser.parse_args()
    result = main(large=options.large)
    if options.write:
        write(result)
