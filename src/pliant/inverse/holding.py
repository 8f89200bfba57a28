"""Holding: a body that only its contacts keep in place, condensed without a shift.

A free body under pressing contacts has a tangent K that is indefinite by itself (pressed between two fingertips it
would turn away), though not on the motions that the closed contacts leave. A shift on its diagonal brakes every motion.
Here rho H_s^T (H_s dq + g_s) is added to the equations instead, where H_s and g_s are the rows of the contacts that
press: nothing where these stay closed, and K' = K + rho H_s^T H_s is positive definite. The unknown of such a row
becomes lam' = lam + rho (H_s dq + g_s). A contact that opens in this linearisation is pulled at by rho times its gap;
in the next one it no longer presses and is free. So an answer that repeats itself is exact.

H_s^T H_s couples bodies that share no entry of a sparse K. So what is factorised is F = K + sum_i e_i u_i u_i^T over
the coordinates that H_s touches, and K'^-1 (or K^-1, if that turns out to be definite) follows by Woodbury's
formula on those few coordinates.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.solve.newton import factorise_any

Array = np.ndarray
_STIFFNESS = (1e-3, 1e-1, 1e1)  # rho as a part of the mean diagonal of K: the smallest that suffices is taken


@dataclass(frozen=True, eq=False)
class Holding:
    """Contacts that press, and the factor of the tangent with the coordinates they touch stiffened.

    Attributes:
        pressing: indices of the contact rows that press (r,).
        rows: their derivatives over the coordinates they touch (r, k).
        value: their present values: gaps and slips [m] (r,).
        touched: those coordinates (k,); U are their unit rows.
        added: what was added on the diagonal of K there (k,).
        size: mean absolute diagonal of K.
        factor: of K with that added.
    """

    pressing: Array
    rows: Array
    value: Array
    touched: Array
    added: Array
    size: float
    factor: Any

    def resolved(self, flexibility: Array) -> tuple[Array, float] | None:
        """What takes F to the matrix wanted: (S, rho); None if no rho makes it positive definite.

        Args:
            flexibility: G = U F^-1 U^T on the touched coordinates (k, k).

        With S = M (I + G M)^-1 and F + U^T M U the matrix wanted, its inverse is F^-1 - F^-1 U^T S U F^-1. rho is zero
        where K itself is positive definite.
        """
        half = np.linalg.cholesky(flexibility)  # positive definite, as F is
        stiff = np.sqrt(self.added)[:, None] * half
        alone = -(stiff.T @ stiff)
        alone.flat[:: len(alone) + 1] += 1.0
        if _definite(alone):  # I - L^T E L with G = L L^T: exactly where K = F - U^T E U is
            return np.linalg.inv(flexibility - np.diag(1.0 / self.added)), 0.0
        scale = self.size / max(float((self.rows**2).sum(axis=1).mean()), 1e-300)
        held = self.rows @ half
        square = held.T @ held
        for part in _STIFFNESS:
            if _definite(alone + part * scale * square):
                M = part * scale * (self.rows.T @ self.rows)
                M.flat[:: len(M) + 1] -= self.added
                product = M @ flexibility
                product.flat[:: len(M) + 1] += 1.0
                S = np.linalg.solve(product, M)
                return 0.5 * (S + S.T), part * scale
        return None


def hold(K: Any, rows: Any, value: Array, pressing: Array) -> Holding | None:
    """Stiffen what pressing contacts touch; None if nothing presses or it does not make K positive definite.

    Args:
        K: tangent, sparse or dense.
        rows: derivatives of all contact rows (m, nv), sparse or dense.
        value: their values (m,).
        pressing: which of them press (m,) bool.
    """
    if rows is None or not pressing.any():
        return None
    some, touched = _compact(rows if sp.issparse(rows) else sp.csr_matrix(rows), pressing)
    if not len(touched):
        return None
    sparse = isinstance(K, SymmetricMatrix)
    diagonal = np.abs(K.diagonal() if sparse else np.diagonal(K))
    size = float(diagonal.mean())
    added = np.maximum(diagonal[touched], 1e-3 * size)
    extra = np.zeros(len(diagonal))
    extra[touched] = added
    try:
        factor = factorise_any(K.add_diagonal(extra) if sparse else K + np.diag(extra))
    except NotPositiveDefinite:
        return None
    if not getattr(factor, "halves", False):
        return None
    return Holding(np.flatnonzero(pressing), some, value[pressing], touched, added, size, factor)


def _compact(rows: Any, chosen: Array) -> tuple[Array, Array]:
    """Some rows of a CSR matrix over the columns that they touch (r, k), dense, and those columns (k,)."""
    lengths, count = np.diff(rows.indptr), int(chosen.sum())
    entries = np.repeat(chosen, lengths)
    columns = rows.indices[entries]
    number = np.zeros(rows.shape[1], dtype=np.int64)
    number[columns] = 1
    touched = np.flatnonzero(number)
    number[touched] = np.arange(len(touched))
    line = np.repeat(np.arange(count), lengths[chosen])
    out = np.zeros((count, len(touched)))
    np.add.at(out, (line, number[columns]), rows.data[entries])
    return out, touched


def _definite(matrix: Array) -> bool:
    try:
        np.linalg.cholesky(matrix)
    except np.linalg.LinAlgError:
        return False
    return True
