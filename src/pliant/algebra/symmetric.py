"""Symmetric sparse matrices whose pattern is analysed once and whose values change often.

A `SymmetricPattern` says where the entries are; it is built once per mesh. A `SymmetricMatrix` is a
pattern and its values; it is rebuilt at every Newton iteration by scattering into `data` at positions
that `SymmetricPattern.slots` gave once. Both triangles are stored, so CSC and CSR are the same arrays.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant._kernels import symmetric as kernels
from pliant.errors import ArgumentError

if TYPE_CHECKING:
    import scipy.sparse

    from pliant.algebra.banded import Band
    from pliant.algebra.symbolic import Symbolic

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SymmetricPattern:
    """Sparsity of an n x n symmetric matrix: both triangles, rows sorted, diagonal always present.

    Build it with `from_blocks` or `from_coo`; the constructor trusts its arguments.

    Attributes:
        n: number of rows.
        indptr: start of each row in `indices` (n + 1,).
        indices: column of each entry (nnz,).
        block: size of the dense blocks the pattern is known to be made of (1 when unknown).
        node_indptr: pattern of the blocks, as `indptr` (n / block + 1,).
        node_indices: pattern of the blocks, as `indices`.
    """

    n: int
    indptr: NDArray[np.int32]
    indices: NDArray[np.int32]
    block: int
    node_indptr: NDArray[np.int32]
    node_indices: NDArray[np.int32]

    @classmethod
    def from_blocks(cls, node_pairs: ArrayLike, n_nodes: int, block: int = 3) -> SymmetricPattern:
        """Pattern of a matrix with a full block x block coupling for each pair of nodes.

        Args:
            node_pairs: coupled nodes, in any order, repeated or not, one orientation is enough (m, 2).
            n_nodes: number of nodes; row block * node + component belongs to `node`.
            block: unknowns per node.
        """
        if block < 1:
            raise ArgumentError("block", f"is {block}", "1 or more")
        pairs = np.asarray(node_pairs)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int64)
        if pairs.ndim != 2 or pairs.shape[1] != 2:
            raise ArgumentError("node_pairs", f"has shape {pairs.shape}", "(m, 2)")
        node_indptr, node_indices = _compress("node_pairs", pairs[:, 0], pairs[:, 1], n_nodes)
        if block == 1:
            return cls(int(n_nodes), node_indptr, node_indices, 1, node_indptr, node_indices)
        n = block * int(n_nodes)
        nnz = block * block * node_indices.size
        if nnz >= 2**31:
            raise ArgumentError("node_pairs", f"give {nnz} entries", "fewer than 2^31")
        indptr = np.empty(n + 1, dtype=np.int32)
        indices = np.empty(nnz, dtype=np.int32)
        kernels.expand_blocks(node_indptr, node_indices, block, indptr, indices)
        return cls(n, indptr, indices, block, node_indptr, node_indices)

    @classmethod
    def from_coo(cls, rows: ArrayLike, cols: ArrayLike, n: int) -> SymmetricPattern:
        """Pattern with entries at (rows, cols), their mirror images, and the diagonal.

        Args:
            rows: row of each entry, in any order, repeated or not (m,).
            cols: column of each entry (m,).
            n: number of rows.
        """
        row, col = np.atleast_1d(np.asarray(rows)), np.atleast_1d(np.asarray(cols))
        if row.shape != col.shape or row.ndim != 1:
            raise ArgumentError("rows, cols", f"have shapes {row.shape} and {col.shape}", "(m,) twice")
        indptr, indices = _compress("rows, cols", row, col, n)
        return cls(int(n), indptr, indices, 1, indptr, indices)

    @property
    def nnz(self) -> int:
        """Number of stored entries, both triangles."""
        return int(self.indices.size)

    def slots(self, rows: ArrayLike, cols: ArrayLike) -> NDArray[np.int64]:
        """Positions in `data` of the entries (rows, cols), which broadcast together.

        Raises:
            ArgumentError: an entry is outside the matrix or absent from the pattern.
        """
        row, col = np.broadcast_arrays(_integers("rows", rows), _integers("cols", cols))
        for name, index in (("rows", row), ("cols", col)):
            if index.size and (index.min() < 0 or index.max() >= self.n):
                raise ArgumentError(name, f"has an index outside 0..{self.n - 1}", f"0 <= index < {self.n}")
        out = np.empty(row.size, dtype=np.int64)
        flat_row, flat_col = np.ascontiguousarray(row).ravel(), np.ascontiguousarray(col).ravel()
        absent = kernels.find_slots(self.indptr, self.indices, flat_row, flat_col, out)
        if absent >= 0:
            entry = (int(flat_row[absent]), int(flat_col[absent]))
            raise ArgumentError("rows, cols", f"entry {entry} is not in the pattern", "an entry of it")
        return out.reshape(row.shape)

    @cached_property
    def diagonal_slots(self) -> NDArray[np.int64]:
        """Positions in `data` of the diagonal (n,)."""
        every = np.arange(self.n)
        return self.slots(every, every)

    @cached_property
    def symbolic(self) -> Symbolic:
        """Ordering, elimination tree and supernodes of the Cholesky factor; computed at first use."""
        from pliant.algebra.symbolic import analyse

        return analyse(self)

    @cached_property
    def band(self) -> Band:
        """Layout as a band after reverse Cuthill-McKee; computed at first use."""
        from pliant.algebra.banded import lay_out

        return lay_out(self)

    def zeros(self) -> SymmetricMatrix:
        """The zero matrix with this pattern."""
        return SymmetricMatrix(self, np.zeros(self.nnz))

    def same_as(self, other: SymmetricPattern) -> bool:
        """Whether the two patterns hold the same entries."""
        return self is other or (
            self.n == other.n
            and np.array_equal(self.indptr, other.indptr)
            and np.array_equal(self.indices, other.indices)
        )


@dataclass(frozen=True, eq=False)
class SymmetricMatrix:
    """A symmetric sparse matrix: a pattern and one value per entry of it.

    Attributes:
        pattern: where the entries are.
        data: their values, both triangles, in the order of `pattern.indices` (nnz,). The caller fills
            both triangles alike; `from_scipy` checks it, the constructor does not.
        diagonal_only: all entries off the diagonal are zero, and products may pass over them (`simplified`).
    """

    pattern: SymmetricPattern
    data: Array
    diagonal_only: bool = False

    # numpy must hand `array @ matrix` and `array + matrix` to us rather than loop over elements
    __array_ufunc__ = None

    def __post_init__(self) -> None:
        data = np.ascontiguousarray(self.data, dtype=np.float64)
        if data.shape != (self.pattern.nnz,):
            raise ArgumentError("data", f"has shape {data.shape}", f"({self.pattern.nnz},)")
        object.__setattr__(self, "data", data)

    @classmethod
    def from_scipy(cls, matrix: Any, *, tolerance: float = 1e-9) -> SymmetricMatrix:
        """Take a scipy sparse or a dense array; explicit zeros are kept in the pattern.

        Args:
            matrix: square symmetric matrix.
            tolerance: largest |a_ij - a_ji| accepted, relative to the largest |a_ij|.
        """
        from scipy.sparse import coo_array

        coo = coo_array(matrix)
        if coo.ndim != 2 or coo.shape[0] != coo.shape[1]:
            raise ArgumentError("matrix", f"has shape {coo.shape}", "square")
        pattern = SymmetricPattern.from_coo(coo.row, coo.col, coo.shape[0])
        values = np.asarray(coo.data, dtype=np.float64)
        if not np.isfinite(values).all():
            raise ArgumentError("matrix", "has entries that are not finite", "finite numbers")
        slots = pattern.slots(coo.row, coo.col)
        data = np.bincount(slots, weights=values, minlength=pattern.nnz).astype(np.float64, copy=False)
        scale = float(np.abs(data).max(initial=0.0))
        worst = kernels.max_asymmetry(pattern.indptr, pattern.indices, data)
        if worst > tolerance * scale:
            raise ArgumentError("matrix", f"is not symmetric (difference {worst:.3g})", "symmetric")
        return cls(pattern, data)

    @property
    def n(self) -> int:
        """Number of rows."""
        return self.pattern.n

    @property
    def shape(self) -> tuple[int, int]:
        """(n, n)."""
        return self.pattern.n, self.pattern.n

    def __matmul__(self, other: ArrayLike) -> Array:
        x = np.ascontiguousarray(other, dtype=np.float64)
        pattern = self.pattern
        if x.ndim not in (1, 2) or x.shape[0] != pattern.n:
            raise ArgumentError("vector", f"has shape {x.shape}", f"({pattern.n},) or ({pattern.n}, k)")
        if self.diagonal_only:
            return self.diagonal() * x if x.ndim == 1 else self.diagonal()[:, None] * x
        y = np.empty(x.shape)
        if x.ndim == 2:
            kernels.matmat(pattern.indptr, pattern.indices, self.data, x, y)
        elif pattern.block == 3:
            kernels.matvec_blocks(pattern.indptr, pattern.node_indptr, pattern.node_indices, self.data, x, y)
        else:
            kernels.matvec(pattern.indptr, pattern.indices, self.data, x, y)
        return y

    def __rmatmul__(self, other: ArrayLike) -> Array:
        return (self @ np.asarray(other, dtype=np.float64).T).T

    def __add__(self, other: SymmetricMatrix) -> SymmetricMatrix:
        if not isinstance(other, SymmetricMatrix):
            return NotImplemented
        if not self.pattern.same_as(other.pattern):
            raise ArgumentError("other", "has another pattern", "a matrix of the same pattern")
        return SymmetricMatrix(self.pattern, self.data + other.data)

    def combined(self, *others: tuple[SymmetricMatrix, float]) -> SymmetricMatrix:
        """The matrix plus others times a number each; all of the same pattern."""
        data = self.data.copy()
        for other, factor in others:
            if not self.pattern.same_as(other.pattern):
                raise ArgumentError("others", "one has another pattern", "matrices of the same pattern")
            if other.diagonal_only:
                data[self.pattern.diagonal_slots] += float(factor) * other.diagonal()
            else:
                kernels.add_scaled(other.data, float(factor), data)
        return SymmetricMatrix(self.pattern, data)

    def simplified(self) -> SymmetricMatrix:
        """The same matrix, with `diagonal_only` set if that is so; its values must not be changed afterwards."""
        off = self.data.copy()
        off[self.pattern.diagonal_slots] = 0.0
        return self if off.any() else SymmetricMatrix(self.pattern, self.data, diagonal_only=True)

    def scaled(self, factor: float) -> SymmetricMatrix:
        """The matrix times a number."""
        return SymmetricMatrix(self.pattern, factor * self.data)

    def add_diagonal(self, diagonal: ArrayLike) -> SymmetricMatrix:
        """The matrix plus a diagonal, a number or (n,)."""
        extra = np.asarray(diagonal, dtype=np.float64)
        if extra.shape not in ((), (self.n,)):
            raise ArgumentError("diagonal", f"has shape {extra.shape}", f"a number or ({self.n},)")
        data = self.data.copy()
        data[self.pattern.diagonal_slots] += extra
        return SymmetricMatrix(self.pattern, data)

    def diagonal(self) -> Array:
        """The diagonal (n,)."""
        return self.data[self.pattern.diagonal_slots]

    def tocsc(self) -> scipy.sparse.csc_array:
        """As a scipy CSC array sharing memory with this matrix."""
        from scipy.sparse import csc_array

        result = csc_array((self.data, self.pattern.indices, self.pattern.indptr), shape=self.shape)
        result.has_sorted_indices = True
        return result

    def toarray(self) -> Array:
        """As a dense array (n, n)."""
        return self.tocsc().toarray()


def _integers(name: str, values: ArrayLike) -> NDArray[np.int64]:
    array = np.asarray(values)
    if array.size == 0:
        return array.astype(np.int64)
    if array.dtype.kind not in "iu":
        raise ArgumentError(name, f"has type {array.dtype}", "integers")
    return array.astype(np.int64, copy=False)


def _compress(
    name: str, rows: NDArray[Any], cols: NDArray[Any], n: int
) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Symmetrise, add the diagonal, sort and remove repetitions: (indptr, indices)."""
    if n < 1 or int(n) != n:
        raise ArgumentError("n", f"is {n}", "a whole number, 1 or more")
    row, col = _integers(name, rows), _integers(name, cols)
    for index in (row, col):
        if index.size and (index.min() < 0 or index.max() >= n):
            raise ArgumentError(name, f"has an index outside 0..{n - 1}", f"0 <= index < {n}")
    every = np.arange(n, dtype=np.int64)
    keys = np.unique(np.concatenate((row * n + col, col * n + row, every * (n + 1))))
    if keys.size >= 2**31:
        raise ArgumentError(name, f"give {keys.size} entries", "fewer than 2^31")
    indptr = np.zeros(n + 1, dtype=np.int32)
    np.cumsum(np.bincount(keys // n, minlength=n), out=indptr[1:])
    return indptr, (keys % n).astype(np.int32)
