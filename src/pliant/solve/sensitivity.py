"""sensitivity: exact derivatives of an equilibrium with respect to its actuation.

They follow from the equilibrium itself (implicit function theorem) with the factorisation that the solve left
behind:
for efforts dq/de = K^-1 A; for displacement-driven actuators the efforts follow from C dq = du.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import block_diag
from scipy.sparse.linalg import splu

from pliant.algebra.factorisation import NotPositiveDefinite, factorise_general
from pliant.errors import ArgumentError, PliantError
from pliant.models.contract import Model
from pliant.solve.commands import check_state, driven_by_displacement, linearise, slackable
from pliant.solve.contact_slopes import Slopes, slopes
from pliant.solve.curvature import stiffened
from pliant.solve.newton import factorise_any
from pliant.state import State

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """Derivatives of an equilibrium with respect to the command u.

    Attributes:
        configuration: dq/du (nv, nu).
        effort: d effort / du (nu, nu).
        displacement: d displacement / du (nu, nu).
        model, q: where they hold.
    """

    configuration: Array
    effort: Array
    displacement: Array
    model: Any
    q: Array

    def of(self, points: str | Sequence[str]) -> Array:
        """d(angular; linear)/du of named points (n, 6, nu); without the first axis for a single name."""
        place = self.model.locate(self.q, points, jacobian=True)
        return place.jacobian @ self.configuration


def sensitivity(model: Model, state: State) -> Sensitivity:
    """Exact derivatives of a converged state of a model with respect to its command.

    Closed contacts stay closed and open ones open, sticking ones stick and sliding ones slide (one-sided where that
    changes); slack cables stay slack. Contact forces turn and wander on curved obstacles, and friction follows the slip
    since the start of the solve.
    """
    check_state(model, state, needed=True)
    if not state.ok:
        raise ArgumentError("state", f"it is not an equilibrium ({state.status})", "a converged state")
    contacts = state.contacts
    pressing = None
    if contacts is not None and len(contacts) and (contacts.forces > 0).any():
        pressing = contacts.selected(contacts.forces > 0)
    driven = driven_by_displacement(model.robot)
    held = driven & ~(slackable(model.robot) & (state.effort <= 0.0))
    A = model.actuation(state.q, state.effort)
    C = model.displacement_rows(state.q)
    n = int(held.sum())
    touch = None if pressing is None else slopes(model, state.q, pressing)
    rows, columns, own = C[held], A[:, held], np.zeros((n, n))
    if touch is not None:
        rows = np.vstack([rows, touch.rows, touch.skew @ touch.spread])
        columns = np.hstack([columns, touch.columns, touch.spread.T])
        own = block_diag(own, touch.own, np.eye(len(touch.spread)))
    solve = _solver(model, state, pressing, touch, rows, columns, own)
    given = np.zeros((model.nv, model.nu))
    given[:, ~driven] = A[:, ~driven]
    wanted = np.zeros((len(rows), model.nu))
    wanted[np.arange(n), np.flatnonzero(held)] = 1.0
    dq, multipliers = solve(given, wanted)
    effort = np.zeros((model.nu, model.nu))
    effort[~driven, ~driven] = 1.0
    effort[np.flatnonzero(held)] += multipliers[:n]
    return Sensitivity(dq, effort, C @ dq, model, state.q)


Solver = Callable[[Array, Array], tuple[Array, Array]]


def _solver(
    model: Any, state: State, pressing: Any, touch: Slopes | None, rows: Array, columns: Array, own: Array
) -> Solver:
    """A solver of K dq = given + columns z, rows dq + own z = wanted; bordered where K alone is singular."""
    factor = state.factor if touch is None or not _turned(model, touch) else None
    if factor is None:
        _, K = linearise(model, state.q, state.effort)
        if touch is not None:
            K = _with_contacts(model, state.q, K, pressing, touch)
        try:
            factor = factorise_any(K)
        except NotPositiveDefinite:
            try:
                factor = factorise_general(K)
            except (PliantError, RuntimeError):
                return _bordered(K, rows, columns, own)
    X = factor.solve(columns) if columns.shape[1] else np.zeros((model.nv, 0))
    W = rows @ X + own

    def solve(given: Array, wanted: Array) -> tuple[Array, Array]:
        free = factor.solve(given) if given.any() else np.zeros_like(given)
        if not len(rows):
            return free, np.zeros((0, given.shape[1]))
        z = np.linalg.solve(W, wanted - rows @ free)
        return free + X @ z, z

    return solve


def _turned(model: Any, touch: Slopes) -> bool:
    """Do contact forces add to the stiffness?"""
    return bool(touch.blocks) or hasattr(model, "load_stiffness")


def _with_contacts(model: Any, q: Array, K: Any, pressing: Any, touch: Slopes) -> Any:
    """The stiffness with the symmetric part of what contact forces add."""
    own = getattr(model, "load_stiffness", None)
    if own is not None:
        K = K + own(q, pressing.forces_on_vertices(model.skin.size))
    return stiffened(model, q, K, touch.blocks, convex=False) if touch.blocks else K


def _bordered(K: Any, rows: Array, columns: Array, own: Array) -> Solver:
    """Stiffness, drives and contacts in one unsymmetric system: for bodies that only those hold."""
    full = sp.csc_matrix(K) if isinstance(K, np.ndarray) else K.tocsc()
    lu = splu(sp.bmat([[full, -columns], [rows, own]], format="csc"))

    def solve(given: Array, wanted: Array) -> tuple[Array, Array]:
        both = lu.solve(np.vstack([given, wanted]))
        return both[: len(given)], both[len(given) :]

    return solve
