"""Sparse Cholesky on bodies of tetrahedra: ours on one and two threads beside SuperLU, banded LAPACK and MKL Pardiso.

    python benchmarks/factorisation.py [--small] [--write]

Stiffness of linear elasticity (Poisson's ratio 0.45) on P1 tetrahedra, one end held, nodes numbered at random.
Times are medians of wall-clock milliseconds; `CPU` is the processor time of `numeric`, of all threads together, which
another program on the machine disturbs less. `analyse` once per pattern (ordering by METIS; one thread); `numeric` the
factorisation with the pattern and its storage kept, `GFLOP/s` its rate; `solve 1` and `solve 50` dense right-hand
sides; `condense 50` the half solve of 50 sparse right-hand sides of 3 entries each, as `W = H K^-1 H^T` needs it;
`factor` the entries of the factor, the added zeros included. Above the table: what one thread of the BLAS reaches
by itself. Ours gives the same bits on one and on two threads, which is checked here. Pardiso is measured where
`pypardiso` can be imported (on its own, without other packages: PYTHONPATH=... leads to it).
"""

from __future__ import annotations

import argparse
import itertools
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from page import Page
from scipy.linalg.blas import dgemm, dsyrk
from scipy.linalg.lapack import dpotrf
from scipy.sparse.linalg import splu
from threadpoolctl import threadpool_limits

from pliant.algebra.factorisation import factorise
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.algebra.threads import one_blas_thread, use_threads
from pliant.errors import MissingExtraError

BODIES = {  # nodes along x, y, z, those at x = 0 held, and what is measured besides ours
    "cube 700": ((9, 9, 9), ("banded", "pardiso", "scipy splu")),
    "slender 700": ((28, 5, 5), ("banded", "pardiso", "scipy splu")),
    "cube 4k": ((17, 16, 16), ("pardiso", "scipy splu")),
    "slender 4k": ((112, 6, 6), ("banded", "pardiso", "scipy splu")),
    "cube 12k": ((24, 23, 23), ("pardiso",)),
    "slender 12k": ((149, 9, 9), ("banded", "pardiso", "scipy splu")),
    "beam 35k": ((89, 20, 20), ("pardiso",)),
    "beam 70k": ((179, 20, 20), ()),
}
PAGE = Page(
    name="factorisation",
    title="Sparse factorisation",
    text=__doc__ or "",
    columns=("body", "unknowns", "method", "threads", "analyse", "numeric", "CPU", "GFLOP/s", "solve 1", "solve 50",
             "condense 50", "factor", "residual"),
    formats={"factor": lambda v: f"{v / 1e6:.2f} M", "residual": lambda v: f"{v:.0e}", "GFLOP/s": lambda v: f"{v:.1f}"},
    notes="`analyse` of SuperLU is inside its `numeric`: it keeps no pattern. Its `condense 50` is a full solve.",
    command="factorisation.py --write",
)  # fmt: skip


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


def _times(work: Callable[[], Any], seconds: float = 0.4) -> tuple[float, float]:
    """Median wall-clock and processor time of some work, repeated for about so many seconds [ms]."""
    wall, cpu = [], []
    while not wall or (sum(wall) < seconds and len(wall) < 30):
        begin, spent = time.perf_counter(), time.process_time()
        work()
        wall.append(time.perf_counter() - begin)
        cpu.append(time.process_time() - spent)
    return 1e3 * float(np.median(wall)), 1e3 * float(np.median(cpu))


def measure(body: str, matrix: SymmetricMatrix, method: str, threads: int) -> dict[str, Any]:
    """One row of the table."""
    rng = np.random.default_rng(0)
    b = rng.normal(size=(matrix.n, 50))
    picked = rng.choice(matrix.n // 3, 50, replace=False)
    entries = (3 * picked[:, None] + np.arange(3)).ravel()
    columns = sp.csc_array((rng.normal(size=150), entries, 3 * np.arange(51)), (matrix.n, 50))
    row: dict[str, Any] = {"body": body, "unknowns": matrix.n, "method": method, "threads": threads}
    if method == "scipy splu":  # does its analysis again every time
        factor: Any = None

        def again() -> None:
            nonlocal factor
            factor = _SuperLU(matrix)

        row["numeric"], row["CPU"] = _times(again)
    else:
        fresh = SymmetricMatrix(replace(matrix.pattern), matrix.data)  # a copy has not been analysed yet
        if method == "supernodal":
            row["analyse"], _ = _times(lambda: fresh.pattern.symbolic, 0.0)
            factor = factorise(matrix, method=method)  # compiled, and the storage touched for the first time
        else:
            first, _ = _times(lambda: factorise(fresh, method=method), 0.0)
            factor = factorise(matrix, method=method)

        def again() -> None:
            nonlocal factor
            factor = factorise(matrix, method=method, reuse=factor)

        row["numeric"], row["CPU"] = _times(again)
        if method == "supernodal":
            row["GFLOP/s"] = 2e-6 * matrix.pattern.symbolic.flops / row["numeric"]
        else:
            row["analyse"] = max(0.0, first - row["numeric"])
    x = factor.solve(b)
    row["solve 1"], _ = _times(lambda: factor.solve(b[:, 0]), 0.1)
    row["solve 50"], _ = _times(lambda: factor.solve(b), 0.1)
    row["condense 50"], _ = _times(lambda: factor.half_solve_sparse(columns), 0.1)
    row["factor"] = factor.nnz
    row["residual"] = float(np.abs(matrix @ x - b).max() / np.abs(b).max())
    row["bits"] = x
    return row


def rates() -> str:
    """What one thread of the BLAS reaches on square matrices [GFLOP/s], as a sentence."""
    parts = []
    for n in (100, 300, 1000):
        a = np.asfortranarray(np.random.default_rng(0).random((n, n)))
        definite, c = np.asfortranarray(a @ a.T + n * np.eye(n)), np.zeros((n, n), order="F")
        product = 2e-6 * n**3 / _times(lambda: dgemm(1.0, a, a, 0.0, c, overwrite_c=1), 0.1)[0]
        half = 1e-6 * n**3 / _times(lambda: dsyrk(1.0, a, 0.0, c, lower=1, overwrite_c=1), 0.1)[0]
        cholesky = 1e-6 * n**3 / 3 / _times(lambda: dpotrf(definite, lower=1), 0.1)[0]
        parts.append(f"{product:.0f}, {half:.0f} and {cholesky:.0f} at {n}")
    return "dgemm, dsyrk and dpotrf on one thread: " + "; ".join(parts) + " rows [GFLOP/s]"


def main(*, small: bool = False, quick: bool = False) -> list[dict[str, Any]]:
    """Measure every method on every body; print the table and return its rows.

    Args:
        small: only bodies of up to 4,000 nodes.
        quick: only a cube of 125 nodes (for tests).
    """
    bodies = {"cube 125": ((5, 5, 5), ("banded", "scipy splu"))} if quick else BODIES
    rows: list[dict[str, Any]] = []
    missing = set()
    tiny = elastic_body((3, 3, 3))
    for body, (shape, others) in bodies.items():
        if small and np.prod(shape) > 5000:
            continue
        matrix = elastic_body(shape)
        runs = [("supernodal", 1), ("supernodal", 2)]
        runs += [(m, t) for m in others for t in ((1, 2) if m == "pardiso" else (1,))]
        answers: dict[str, Any] = {}
        for method, threads in runs:
            with ExitStack() as stack:
                stack.enter_context(use_threads(threads))
                if method == "pardiso":
                    stack.enter_context(threadpool_limits(threads))
                else:
                    stack.enter_context(one_blas_thread())
                try:
                    if method != "scipy splu":
                        factorise(tiny, method=method)  # compiled and loaded
                    row = measure(body, matrix, method, threads)
                except MissingExtraError as error:
                    missing.add(f"{method} skipped: {error}")
                    continue
            answer = row.pop("bits")
            if method == "supernodal" and not np.array_equal(answers.setdefault(method, answer), answer):
                raise AssertionError(f"{body}: two threads give other numbers than one")
            rows.append(row)
            PAGE.show(row)
    for note in missing:
        print(note)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Sparse Cholesky factorisations side by side.")
    parser.add_argument("--small", action="store_true", help="only bodies of up to 4,000 nodes")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.path.name}")
    options = parser.parse_args()
    with one_blas_thread():
        reached = rates()
    print(reached, flush=True)
    result = main(small=options.small)
    if options.write:
        replace(PAGE, threads=reached).write(result)
