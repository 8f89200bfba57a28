"""sensitivity: exact derivatives of an equilibrium with respect to its actuation.

They follow from the equilibrium itself (implicit function theorem) with the factorisation that the solve left
behind:
for efforts dq/de = K^-1 A; for displacement-driven actuators the efforts follow from C dq = du.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.algebra.factorisation import NotPositiveDefinite, factorise_general
from pliant.errors import ArgumentError
from pliant.solve.commands import check_state, driven_by_displacement, linearise, slackable
from pliant.solve.newton import dense_rows, factorise_any
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


def sensitivity(model: Any, state: State) -> Sensitivity:
    """Exact derivatives of a converged state with respect to its command.

    Closed contacts stay closed and open ones open (one-sided where that changes); slack cables stay slack.
    """
    check_state(model, state, needed=True)
    if not state.ok:
        raise ArgumentError("state", f"it is not an equilibrium ({state.status})", "a converged state")
    factor = state.factor
    if factor is None:
        _, K = linearise(model, state.q, state.effort)
        try:
            factor = factorise_any(K)
        except NotPositiveDefinite:
            factor = factorise_general(K)
    driven = driven_by_displacement(model.robot)
    slack = driven & slackable(model.robot) & (state.effort <= 0.0)
    held = driven & ~slack
    A = model.actuation(state.q, state.effort)
    C = model.displacement_rows(state.q)
    rows, columns = [C[held]], [A[:, held]]
    contacts = state.contacts
    if contacts is not None and len(contacts) and (contacts.forces > 0).any():
        from pliant.contact.contacts import ContactState

        closed = contacts.selected(contacts.forces > 0)
        H = dense_rows(closed.frictional_rows(model, state.q)).reshape(len(closed), 3, -1)
        stick = closed.states == ContactState.STICK
        keep = np.column_stack([np.ones(len(closed), bool), stick, stick])
        rows.append(H[keep])
        columns.append(H[keep].T)
    R, F = np.vstack(rows), np.hstack(columns)
    X = factor.solve(F) if F.shape[1] else np.zeros((model.nv, 0))
    W = R @ X
    # Unknown multipliers respond so that the held rows move as commanded.
    dq = np.zeros((model.nv, model.nu))
    effort = np.zeros((model.nu, model.nu))
    by_effort = ~driven
    if by_effort.any():
        dq[:, by_effort] = factor.solve(A[:, by_effort])
        effort[by_effort, by_effort] = 1.0
    wanted = np.zeros((len(R), model.nu))
    wanted[np.arange(int(held.sum())), np.flatnonzero(held)] = 1.0
    if len(R):
        multipliers = np.linalg.solve(W, wanted - R @ dq)
        dq = dq + X @ multipliers
        effort[np.flatnonzero(held)] += multipliers[: int(held.sum())]
    return Sensitivity(dq, effort, C @ dq, model, state.q)
