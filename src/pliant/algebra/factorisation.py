"""Factorise a symmetric matrix: one verb, `factorise`, in front of several methods.

    factor = factorise(stiffness)            # raises NotPositiveDefinite
    x = factor.solve(b)

| method       | how                                                                            |
|--------------|--------------------------------------------------------------------------------|
| `supernodal` | our multifrontal Cholesky after nested dissection, or, for slender bodies,     |
|              | a sweep from both ends; whichever a cost model prefers                         |
| `banded`     | LAPACK banded Cholesky after reverse Cuthill-McKee                             |
| `dense`      | LAPACK Cholesky                                                                |
| `pardiso`    | MKL Pardiso, where the extra `pardiso` is installed                            |
| `auto`       | `supernodal` for sparse input, `dense` for arrays                              |

`auto` never takes `banded`: on thin rods that factorises and solves a single right-hand side a little faster,
but several right-hand sides cost several times more, and the supernodal method is the faster on everything
else (docs/benchmarks/factorisation.md).

The compiled factorisation calls scipy's BLAS, keeps that to one thread, and shares its own tasks among threads
(`pliant.algebra.threads`) where there is enough to do. Factors and solutions are the same for any number of them, to
the last bit. The interpreter lock is released, so that several Python threads can factorise at once.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.factor import DenseFactor, Factor, GeneralFactor, NotPositiveDefinite
from pliant.algebra.supernodal import SupernodalFactor
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.errors import ArgumentError

__all__ = ["METHODS", "Factor", "NotPositiveDefinite", "factorise", "factorise_general"]

METHODS = ("auto", "supernodal", "banded", "dense", "pardiso")


def factorise(
    matrix: SymmetricMatrix | NDArray[Any],
    *,
    shift: float = 0.0,
    method: str = "auto",
    reuse: Factor | None = None,
) -> Factor:
    """Cholesky factorisation of a symmetric positive definite matrix plus `shift` times the identity.

    Args:
        matrix: the matrix; a dense array is factorised densely.
        shift: added to every diagonal entry, in the units of the matrix.
        method: one of `METHODS`.
        reuse: a factor that is no longer needed: its storage is taken over if it fits. It cannot solve
            any more afterwards, also when this factorisation fails.

    Raises:
        NotPositiveDefinite: with the column at which the factorisation broke down.
        ArgumentError: the matrix is not symmetric or not finite (dense input), or an option is unknown.
    """
    if method not in METHODS:
        raise ArgumentError("method", f"is {method!r}", ", ".join(METHODS))
    if not np.isfinite(shift):
        raise ArgumentError("shift", f"is {shift}", "a finite number")
    shift = float(shift)
    if not isinstance(matrix, SymmetricMatrix):
        dense = _checked(matrix)
        if method in ("auto", "dense"):
            return DenseFactor(dense, shift)
        matrix = SymmetricMatrix.from_scipy(dense)
    if method == "dense":
        return DenseFactor(matrix.toarray(), shift)
    if method == "banded":
        from pliant.algebra.banded import BandedFactor

        return BandedFactor(matrix, shift)
    if method == "pardiso":
        from pliant.algebra.pardiso import PardisoFactor

        return PardisoFactor(matrix, shift, reuse if isinstance(reuse, PardisoFactor) else None)
    return SupernodalFactor(matrix, shift, reuse if isinstance(reuse, SupernodalFactor) else None)


def factorise_general(matrix: Any) -> GeneralFactor:
    """Sparse LU of a square matrix that may be indefinite; slow, for the rare case that needs it.

    Args:
        matrix: SymmetricMatrix, scipy sparse, or dense array.

    Raises:
        SolveError: the matrix is singular.
    """
    from scipy.sparse import csc_array

    csc = matrix.tocsc() if isinstance(matrix, SymmetricMatrix) else csc_array(matrix, dtype=np.float64)
    if csc.ndim != 2 or csc.shape[0] != csc.shape[1] or csc.shape[0] == 0:
        raise ArgumentError("matrix", f"has shape {csc.shape}", "square, not empty")
    if not np.isfinite(csc.data).all():
        raise ArgumentError("matrix", "has entries that are not finite", "finite numbers")
    return GeneralFactor(csc)


def _checked(matrix: NDArray[Any]) -> NDArray[np.float64]:
    dense = np.asarray(matrix, dtype=np.float64)
    if dense.ndim != 2 or dense.shape[0] != dense.shape[1] or dense.shape[0] == 0:
        raise ArgumentError("matrix", f"has shape {dense.shape}", "square, not empty")
    difference = np.abs(dense - dense.T).max()
    if not difference <= 1e-9 * np.abs(dense).max():
        if not np.isfinite(dense).all():
            raise ArgumentError("matrix", "has entries that are not finite", "finite numbers")
        raise ArgumentError("matrix", f"is not symmetric (difference {difference:.3g})", "symmetric")
    return dense
