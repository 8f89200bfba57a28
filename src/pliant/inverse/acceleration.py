"""Acceleration of the inverse over a time step, where its targets cannot all be met, or leave efforts open.

Then the linearised targets are not all there is to the cost: the curvature that they leave out makes the
iteration contract slowly, or overshoot back and forth. Both are told by how the last steps followed upon each other.
Efforts are mixed (Anderson) as long as contacts and limits stay as they are and hold; the contact forces follow them.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.anderson import Anderson
from pliant.inverse.qpcc import QPCC
from pliant.inverse.qpcc_problem import held_response

Array = np.ndarray
_WINDOW = 5
_PATIENCE = 2  # plain steps with the same contacts and limits before the first mixed one


class Acceleration:
    """Remembers how efforts answered to efforts."""

    def __init__(self) -> None:
        self._mixing = Anderson(_WINDOW)
        self._piece: bytes = b""
        self._seen = 0
        self._step: Array | None = None

    def mixed(self, before: Array, effort: Array, contact: Array, qpcc: QPCC) -> tuple[Array, Array] | None:
        """Better efforts and contact forces than those of a solution, or None to take the solution as it is.

        Args:
            before: efforts where the step starts (na,).
            effort, contact: efforts and contact forces of the solution (na,), (mc,).
            qpcc: the linearised problem.
        """
        low, high = np.asarray(qpcc.effort_min), np.asarray(qpcc.effort_max)
        bound = np.int8(effort <= low) - np.int8(effort >= high)
        piece = bound.tobytes() + (contact != 0.0).tobytes()
        if piece != self._piece:
            self._piece, self._seen = piece, 0
            self._mixing.restart()
        self._seen += 1
        unit = np.sqrt(np.maximum(np.diagonal(qpcc.Waa), 1e-300))  # efforts of all kinds in the root of work
        step = (effort - before) * unit
        last, self._step = self._step, step
        proposed = step.copy()
        proposed[bound == 0] = self._mixing.step(step[bound == 0])
        if self._seen <= _PATIENCE:
            # back and forth between limits that hold and do not hold: the truth is in between
            turned = last is not None and step @ last < -0.5 * float(np.linalg.norm(step) * np.linalg.norm(last))
            proposed = 0.5 * step if turned else step
        better = before + proposed / unit
        long = np.abs(proposed).max() > 20.0 * np.abs(step).max()
        slack = 1e-12 * (np.abs(better) + 1e-300)
        inside = ((better >= low - slack) & (better <= high + slack)).all()
        better = np.clip(better, low, high)
        forces = None if proposed is step or long or not inside else _following(qpcc, contact, better)
        if forces is None or not _within(qpcc, better, forces):
            self._mixing.moved(step[bound == 0])
            return None
        self._mixing.moved(proposed[bound == 0])
        return better, forces


def _following(qpcc: QPCC, contact: Array, effort: Array) -> Array | None:
    """Contact forces (mc,) for other efforts with the same contacts closed; None if others would open or close."""
    forces = np.zeros(len(qpcc.dc))
    rows = np.flatnonzero(contact)
    free = qpcc.dc + qpcc.Wca @ effort
    if len(rows):
        forces[rows] = held_response(qpcc.Wcc[np.ix_(rows, rows)], -free[rows])
    gap = free + qpcc.Wcc @ forces
    each = qpcc.rows_per_contact
    scale = float(np.abs(qpcc.dc).max(initial=0.0))
    holds = (forces[::each] >= 0.0).all() and (gap[::each] >= -1e-9 * scale).all()
    return forces if holds else None


def _within(qpcc: QPCC, effort: Array, contact: Array) -> bool:
    """Whether limits on displacements and other rows hold for these forces: joints must not open for speed."""
    stroke = qpcc.da + qpcc.Waa @ effort + qpcc.Wac @ contact
    shortest, longest = np.asarray(qpcc.displacement_min), np.asarray(qpcc.displacement_max)
    slack = 1e-12 * float(np.abs(qpcc.da).max(initial=0.0))
    if (stroke < shortest - slack).any() or (stroke > longest + slack).any():
        return False
    least = np.asarray(qpcc.d)
    rows = np.asarray(qpcc.C) @ np.concatenate([effort, contact])
    return bool((rows >= least - 1e-12 * float(np.abs(least).max(initial=0.0))).all())
