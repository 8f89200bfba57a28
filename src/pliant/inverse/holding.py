"""Holding: a body that only its contacts keep in place, condensed without a shift.

A free body under pressing contacts has a tangent K that is indefinite by itself (pressed between two fingertips it
would turn away), though not on the motions that the closed contacts leave. A shift on its diagonal brakes every motion.
Here rho H_s^T (H_s dq + g_s) is added to the equations instead, where H_s and g_s are the rows of the contacts that
press: nothing where these stay closed, and K' = K + rho H_s^T H_s is positive definite. The unknown of such a row
becomes lam' = lam + rho (H_s dq + g_s). A contact that opens in this linearisation is pulled at by rho times its gap;
in the next one it no longer presses and is free. So an answer that repeats itself is exact.

H_s^T H_s couples bodies that share no entry of a sparse K. So what is factorised is F = K + sum_i e_i u_i u_i^T over
the coordinates that H_s touches, and K'^-1 (or K^-1, if that turns out to be definite) follows by Woodbury's
formula on those few coordinates. What H_s does follows from them as well: its rows are not solved for.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant._kernels import holding as kernels
from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.algebra.trusted import trusted_csr
from pliant.solve.newton import factorise_any

Array = np.ndarray
_STIFFNESS = np.array([1e-3, 1e-1, 1e1])  # rho as a part of the mean diagonal of K: the smallest that suffices is taken


@dataclass(frozen=True, eq=False)
class Holding:
    """Contacts that press, and the factor of the tangent with the coordinates they touch stiffened.

    Attributes:
        pressing: which contact rows press (m,) bool, r of them.
        rows: their derivatives over the coordinates they touch (r, k).
        value: their present values: gaps and slips [m] (r,).
        touched: those coordinates (k,); U are their unit rows.
        added: what was added on the diagonal of K there (k,).
        size: mean absolute diagonal of K.
        factor: of K with that added.
        solved: what has to be solved for: the rows that do not press, and below them U (m - r + k, nv), CSR.
    """

    pressing: Array
    rows: Array
    value: Array
    touched: Array
    added: Array
    size: float
    factor: Any
    solved: Any

    def resolved(self, flexibility: Array) -> tuple[Array, float] | None:
        """What takes F to the matrix wanted: (S, rho); None if no rho makes it positive definite.

        Args:
            flexibility: G = U F^-1 U^T on the touched coordinates (k, k).

        With S = M (I + G M)^-1 and F + U^T M U the matrix wanted, its inverse is F^-1 - F^-1 U^T S U F^-1. rho is zero
        where K itself is positive definite.
        """
        scale = self.size / max(float((self.rows**2).sum(axis=1).mean()), 1e-300)
        S, rho = kernels.resolve(np.ascontiguousarray(flexibility), self.added, self.rows, scale, _STIFFNESS)
        return None if rho < 0.0 else (S, rho)


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
    csr = rows if sp.issparse(rows) else sp.csr_matrix(rows)
    some, touched, *others = kernels.part_rows(csr.indptr, csr.indices, csr.data, pressing, csr.shape[1])
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
    data, columns, starts = others
    solved = trusted_csr(data, columns, starts, (len(starts) - 1, csr.shape[1]))
    return Holding(pressing, some, value[pressing], touched, added, size, factor, solved)
