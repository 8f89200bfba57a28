"""Global minimum of a frictionless QPCC by branch and bound, with a proved gap.

Relaxing the complementarity of a contact leaves force >= 0 and gap >= 0, a convex QP whose minimum bounds all
contact sets below it. Forces and efforts stay variables together, so the energy term is used in its convex
form (see `qpcc_problem.py`). The number of nodes grows exponentially in the worst case (random problems: 15
nodes for 8 contacts, 150 for 20); the bound stays valid when stopped early.
"""

from __future__ import annotations

import numpy as np

from pliant._kernels import qpcc as local
from pliant._kernels.qpcc_global import branch_and_bound as search
from pliant.errors import ArgumentError
from pliant.inverse.qp import solve_qp
from pliant.inverse.qpcc_problem import QPCC, QPCCSolution, QPCCStatus, assemble, held_response, piece_qp


def branch_and_bound(problem: QPCC, incumbent: QPCCSolution, *, max_nodes: int = 100_000) -> QPCCSolution:
    """Prove or improve `incumbent`.

    Returns the best point with `lower_bound`, status GLOBAL when the gap is closed, else NODE_LIMIT; an
    infeasible or relaxed incumbent is kept with its status if no contact set satisfies the limits.
    """
    if problem.rows_per_contact != 1:
        raise ArgumentError("problem", "has sticking contacts", "one row per contact")
    if max_nodes < 1:
        raise ArgumentError("max_nodes", f"is {max_nodes}", "at least 1")
    na, nc = problem.da.size, problem.contacts
    scaled, sa, _, _ = local.scale_problem(problem.data())
    Wea, Wec, de, Waa, Wac, da, Wca, Wcc, dc, lo, hi, dlo, dhi, Ca, Cc, d = scaled
    n = na + nc
    We = np.hstack([Wea, Wec])
    W = np.block([[Waa, Wac], [Wca, Wcc]])
    energy, proximal = problem.weight(problem.energy), problem.weight(problem.proximal)
    reference = np.asarray(problem.reference) / sa
    Q = We.T @ We + energy * (W + W.T)
    c = We.T @ de
    c[na:] += energy * dc
    metric = 0.5 * proximal * (Waa + Waa.T)
    Q[:na, :na] += metric
    c[:na] -= metric @ reference
    constant = 0.5 * de @ de + 0.5 * reference @ metric @ reference
    strokes = np.isfinite(dlo) | np.isfinite(dhi)
    G = np.ascontiguousarray(np.vstack([np.eye(n), W[na:], W[:na][strokes], np.hstack([Ca, Cc])]))
    lower = np.concatenate([lo, np.zeros(nc), -dc, (dlo - da)[strokes], d])
    upper = np.concatenate([hi, np.full(2 * nc, np.inf), (dhi - da)[strokes], np.full(d.size, np.inf)])
    best_set = incumbent.contact_set.copy()
    best = incumbent.objective if incumbent.status.success else np.inf
    tolerance = 1e-9
    noise = 1e-14 * float(0.5 * de @ de) + 1e-300
    start = best
    best, bound, nodes, iterations, failures = search(
        Q, c, float(constant), G, lower, upper, na, nc, best, best_set, tolerance, noise, max_nodes
    )
    closed = failures == 0 and bound >= best - 1.01 * (tolerance * abs(best) + noise)
    effort, contact, status = incumbent.effort, incumbent.contact, incumbent.status
    duals = (incumbent.dual_effort, incumbent.dual_displacement, incumbent.dual_rows)
    if np.isfinite(best):
        status = QPCCStatus.GLOBAL if closed else QPCCStatus.NODE_LIMIT
    if best < start:
        qp = piece_qp(problem, best_set)
        solved = solve_qp(qp, start=effort)
        if solved.status.success:
            effort = solved.x
            contact = np.zeros(nc)
            held = best_set == local.CLOSED
            block = problem.Wcc[np.ix_(held, held)]
            contact[held] = -held_response(block, problem.Wca[held] @ effort + problem.dc[held])
            duals = (solved.dual_bounds, solved.dual_rows[:na], solved.dual_rows[na : na + d.size])
        else:
            status, best_set = incumbent.status, incumbent.contact_set
    return assemble(
        problem, effort, contact, best_set, status, pieces=incumbent.pieces, pivots=incumbent.pivots,
        iterations=incumbent.iterations + int(iterations), duals=duals, notices=incumbent.notices,
        lower_bound=float(bound) if np.isfinite(best) else -np.inf, nodes=int(nodes),
    )  # fmt: skip
