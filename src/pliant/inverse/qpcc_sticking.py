"""Inverse problem with sticking contacts (spec 12): every contact is open or stuck, without a friction cone.

Two states alone need not have a solution at fixed efforts: releasing a contact may let it penetrate while
holding it makes it pull. Such contacts take a third state, closed without friction, and the solution says so.
Whatever the states, the ratio of tangential to normal force is reported: nothing in this model bounds it.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from pliant._kernels import complementarity as contact_kernel
from pliant._kernels import qpcc as kernel
from pliant._kernels.qpcc_start import valid_states
from pliant.inverse.qpcc import finish, pivoting
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
        contact_kernel.solve_contact(W, q, rows, none, none, triples, mu, lam, codes, 1e-9, sweeps)
        wanted = _STATE[codes]
        if valid_states(scaled, a, state, wanted, False) <= 1e-10:
            return state
    normal = np.ascontiguousarray(W[::3, ::3])
    force = np.zeros(nc)
    contact_kernel.solve_lcp(normal, np.ascontiguousarray(q[::3]), force, True, 1e-10, 1000)
    wanted = np.where(force > 0.0, FRICTIONLESS, OPEN).astype(np.int8)
    valid_states(scaled, a, state, wanted, True)
    return state


def sticking_search(problem: QPCC, effort: Array, first: States | None, **options: Any) -> QPCCSolution:
    """Decomposition and pivoting with the states open, sticking and (where needed) frictionless."""
    scaled, sa, sc, sr = kernel.scale_problem(problem.data())
    a = np.clip(effort / sa, scaled[9], scaled[10])
    given = first is not None
    state = first.copy() if first is not None else starting_states(scaled, a)
    third = state == FRICTIONLESS
    result = pivoting(problem, scaled, sa, state, third, a, **options)
    if result[0] == kernel.NO_START and given:
        state = starting_states(scaled, a)
        third = state == FRICTIONLESS
        result = pivoting(problem, scaled, sa, state, third, a, **options)
    solution = finish(problem, scaled, (sa, sc, sr), result, third, **options)
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
