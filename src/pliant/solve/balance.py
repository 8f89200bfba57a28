"""Balance: what is left over of all forces at a configuration, and whether that is nothing."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.solve.problem import Problem
from pliant.solve.relaxation import Iterate

Array = np.ndarray
#: What is said of a pose in balance that is none of a real body.
INSIDE_OUT = "forces balance, but some elements are inside out: the material law is used beyond its range"


def unbalanced(
    problem: Problem, q: Array, effort: Array, u: Array, contacts: Contacts | None
) -> tuple[Array, float]:
    """The force that is left over (nv,), and the size of the largest load at play."""
    model = problem.model
    rows = problem.rows(q, effort, u, contacts)
    load = rows.columns[:, rows.drives :] @ rows.force[rows.drives :]
    driven = model.actuation(q, effort) @ effort if model.nu else np.zeros(model.nv)
    weight = model.force(model.rest, np.zeros(model.nu))
    scale = max(*(float(np.abs(x).max(initial=0.0)) for x in (load, driven, weight)), 1e-12)
    return model.force(q, effort) + load, scale


def balanced(problem: Problem, found: Iterate, u: Array, offset: Array | None, K: Any) -> bool:
    """Are forces balanced where Newton's method stopped? Where K is nearly singular a short step does not say so."""
    left, scale = unbalanced(problem, found.q, found.effort, u, found.contacts)
    if offset is not None:
        left = left - offset
    size = float(np.abs(left).max(initial=0.0))
    return size <= max(1e-6 * scale, 1e-9 * mean_diagonal(K) * problem.length)


def at_rest(problem: Problem, start: Iterate, u: Array, offset: Array | None) -> bool:
    """Is a start in balance already, with the contacts that press on it?"""
    contacts, driven = start.contacts, problem.driven
    if offset is not None or contacts is None or not contacts.forces.any():
        return False
    stroke = problem.model.displacement(start.q)[driven] - u[driven]
    if np.abs(stroke).max(initial=0.0) > 1e-9 * problem.length:
        return False
    left, scale = unbalanced(problem, start.q, start.effort, u, contacts)
    return float(np.abs(left).max(initial=0.0)) <= 1e-6 * scale


def inverted(model: Any, q: Array) -> bool:
    """Are elements inside out?"""
    check = getattr(model, "inverted", None)
    return check is not None and bool(check(q))


def mean_diagonal(K: Any) -> float:
    """Mean size of the diagonal of a tangent."""
    return float(np.abs(K.diagonal()).mean())
