"""Which of several equally good actuations: the one with the least actuator energy, the targets untouched."""

from __future__ import annotations

import numpy as np

from pliant.inverse.qp import QP, solve_qp
from pliant.inverse.qpcc import QPCC, QPCCSolution, piece_qp
from pliant.inverse.qpcc_problem import held_response, held_rows

Array = np.ndarray


def contact_response(problem: QPCC, solution: QPCCSolution) -> tuple[Array, Array]:
    """Contact forces as Z a + z of the efforts a, while the contact set of a solution stays: (mc, na), (mc,)."""
    na, mc = problem.da.size, problem.dc.size
    held = held_rows(solution.contact_set, problem.rows_per_contact)
    Z, z = np.zeros((mc, na)), np.zeros(mc)
    if held.any():
        both = np.column_stack([problem.Wca[held], problem.dc[held]])
        reduced = held_response(problem.Wcc[np.ix_(held, held)], both)
        Z[held], z[held] = -reduced[:, :na], -reduced[:, na]
    return Z, z


def least_effort(problem: QPCC, solution: QPCCSolution) -> tuple[Array, Array]:
    """Efforts and contact forces of least energy a' W a among those that leave every target row where it is.

    The contact set is that of the solution; limits and contact conditions are held.
    """
    if not solution.status.success:
        return solution.effort, solution.contact
    na = problem.da.size
    Z, z = contact_response(problem, solution)
    piece = piece_qp(problem, solution.contact_set)
    seen = problem.Wea + problem.Wec @ Z
    scale = 1.0 / np.sqrt(np.maximum(np.diag(problem.Waa), 1e-300))
    _, s, Vt = np.linalg.svd(seen * scale, full_matrices=False)
    rank = int((s > 1e-7 * max(s[0], 1e-300)).sum()) if len(s) else 0
    if rank >= na:
        return solution.effort, solution.contact
    rows = Vt[:rank] / scale
    Q = problem.Waa + 1e-12 * np.diag(np.diag(problem.Waa))
    G = np.asarray(piece.G)
    qp = QP(
        Q, np.zeros(na), A=rows if rank else None, b=rows @ solution.effort if rank else None,
        G=G, lower=np.minimum(np.asarray(piece.lower), G @ solution.effort),
        upper=np.maximum(np.asarray(piece.upper), G @ solution.effort), lo=piece.lo, hi=piece.hi,
    )  # fmt: skip
    better = solve_qp(qp, start=solution.effort)
    if not better.status.success:
        return solution.effort, solution.contact
    return better.x, Z @ better.x + z
