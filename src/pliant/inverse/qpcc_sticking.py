"""Inverse problem with sticking contacts (spec 12): every contact is open or stuck, without a friction cone.

Two states alone need not have a solution at fixed efforts: releasing a contact may let it penetrate while
holding it makes it pull. Such contacts take a third state, closed without friction, and the solution says so.
Whatever the states, the ratio of tangential to normal force is reported: nothing in this model bounds it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant._kernels import qpcc as kernel
from pliant._kernels.complementarity import solve_lcp
from pliant._kernels.coulomb import solve_contact
from pliant._kernels.qpcc_start import valid_states
from pliant.inverse.qpcc import finish, local_search, pivoting
from pliant.inverse.qpcc_problem import CLOSED, FRICTIONLESS, OPEN, QPCC, Array, QPCCSolution, States

# contact states of the Gauss-Seidel solver (open, stick, slide, frictionless) in ours
_STATE = np.array([OPEN, CLOSED, CLOSED, FRICTIONLESS], np.int8)


def grasp_floor_row(actuators: int, contacts: int, rows_per_contact: int = 3) -> Array:
    """(na + mc,) row of `QPCC.C` that sums the normal forces: row @ [a; c] >= d keeps a grasp (spec 12.6)."""
    row = np.zeros(actuators + contacts * rows_per_contact)
    row[actuators::rows_per_contact] = 1.0
    return row


def starting_states(scaled: Any, a: Array) -> States:
    """Contact states at fixed scaled efforts: Gauss-Seidel with infinite friction, else a fallback.

    The fallback begins with the frictionless problem, which always has a solution, and lets contacts stick
    one by one where that keeps every normal force and gap non-negative.
    """
    q = scaled[6] @ a + scaled[8]
    nc = q.size // 3
    rows = np.zeros(0, np.int64)
    none = np.zeros(0)
    lam, codes = np.zeros(q.size), np.zeros(nc, np.int64)
    triples = np.arange(q.size).reshape(nc, 3)
    W = scaled[7]
    state = np.zeros(nc, np.int8)
    for sweeps in (5, 10, 25):
        # some sweeps at a time: once the states are right, the forces follow from one linear solve; the
        # solver zeroes mu where it used the third state, and only the last attempt keeps it so
        if sweeps < 25:
            mu = np.full(nc, np.inf)
        solve_contact(W, q, rows, none, none, triples, mu, lam, codes, 1e-9, sweeps)
        wanted = _STATE[codes]
        if valid_states(scaled, a, state, wanted, False) <= 1e-10:
            return state
    normal = np.ascontiguousarray(W[::3, ::3])
    force = np.zeros(nc)
    solve_lcp(normal, np.ascontiguousarray(q[::3]), force, True, 1e-10, 1000)
    wanted = np.where(force > 0.0, FRICTIONLESS, OPEN).astype(np.int8)
    valid_states(scaled, a, state, wanted, True)
    return state


def without_friction(problem: QPCC) -> QPCC:
    """The same problem with the normal rows of its contacts only."""
    na, rows = len(problem.da), slice(None, None, problem.rows_per_contact)
    C = problem.C
    return replace(
        problem, Wec=problem.Wec[:, rows], Wac=problem.Wac[:, rows], Wca=problem.Wca[rows],
        Wcc=problem.Wcc[rows, rows], dc=problem.dc[rows], rows_per_contact=1, friction=None,
        C=None if C is None else np.hstack([C[:, :na], C[:, na:][:, rows]]),
    )  # fmt: skip


def sticking_search(problem: QPCC, effort: Array, first: States | None, **options: Any) -> QPCCSolution:
    """Decomposition and pivoting with the states open, sticking and (where needed) frictionless."""
    data = problem.data()

    def begun() -> States:
        scaled, sa, _, _ = kernel.scale_problem(data)
        return starting_states(scaled, np.clip(effort / sa, scaled[9], scaled[10]))

    state = begun() if first is None else first.copy()
    third = state == FRICTIONLESS
    found = pivoting(problem, data, effort, state, third, True, **options)
    if found[0] == kernel.NO_START and first is not None:
        state = begun()
        third = state == FRICTIONLESS
        found = pivoting(problem, data, effort, state, third, True, **options)
    if found[0] == kernel.NO_LIMITS:
        # Limits (or strokes that must hold) may forbid to stick and to let go alike: without friction there is a set.
        ahead = local_search(without_friction(problem), effort, None, **options)
        if ahead.status.success:
            other = np.where(ahead.contact_set == OPEN, OPEN, FRICTIONLESS).astype(np.int8)
            slide = other == FRICTIONLESS
            again = pivoting(problem, data, ahead.effort, other, slide, True, **options)
            if again[0] not in (kernel.NO_LIMITS, kernel.NO_START):
                found, state, third = again, other, slide
    solution = finish(problem, found, state, third, **options)
    notices = [
        f"contact {i} can neither open nor stick and was taken frictionless"
        for i in np.flatnonzero(solution.contact_set == FRICTIONLESS)
    ]
    if problem.friction is not None:
        mu, ratio = np.asarray(problem.friction), solution.friction_ratio
        notices += [
            f"contact {i} would slip: it needs friction {ratio[i]:.3g}, there is {mu[i]:.3g}"
            for i in np.flatnonzero(ratio > mu)
        ]
    return replace(solution, notices=solution.notices + tuple(notices))
