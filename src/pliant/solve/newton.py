"""One Newton system: mechanics, prescribed displacements and contacts, linearised and solved together.

At a configuration q with efforts e the unknowns are a step dq, new efforts of the displacement-driven actuators and
the contact forces lam:

    K dq = f(q, e) + A (e_new - e) + H^T lam
    C dq + delta(q) - u = 0            (or >= 0 with a tension >= 0 where the cable may go slack)
    0 <= lam  _|_  g(q) + H dq >= 0    (Coulomb friction in addition)

All but dq are few, so the system is condensed onto them: W = [C; H] K^-1 [A, H^T].
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant.algebra.factorisation import NotPositiveDefinite, factorise, factorise_general
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.errors import PliantError
from pliant.solve.complementarity import solve_contact

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Rows:
    """Constraint rows at one configuration.

    Attributes:
        rows: derivative of the values (m, nv), dense.
        columns: force directions (nv, m), dense.
        value: current values (m,): displacement minus command, gap, slip.
        lower, upper: bounds of the multipliers (m,).
        triples: rows (k, 3) of frictional contacts (normal, tangent, tangent).
        friction: Coulomb coefficient per triple (k,).
        force: current multipliers (m,).
        drives: how many of the first rows are actuators.
    """

    rows: Array
    columns: Array
    value: Array
    lower: Array
    upper: Array
    force: Array
    drives: int
    triples: Array = field(default_factory=lambda: np.zeros((0, 3), dtype=np.int64))
    friction: Array = field(default_factory=lambda: np.zeros(0))

    @property
    def size(self) -> int:
        """Number of rows."""
        return len(self.value)

    @property
    def bilateral(self) -> bool:
        """True if every row is an equality."""
        return self.size == 0 or bool(np.isneginf(self.lower).all() and np.isposinf(self.upper).all())


@dataclass(frozen=True, eq=False)
class Step:
    """A solved Newton system.

    Attributes:
        dq: step (nv,).
        force: multipliers after the step (m,).
        states: contact states per triple, or () if there is no friction.
        residual: of the condensed problem.
    """

    dq: Array
    force: Array
    states: tuple = ()
    residual: float = 0.0


class LinearSystem:
    """A tangent stiffness and constraint rows, factorised once and solved for several residuals."""

    def __init__(self, K: Any, rows: Rows, shift: float = 0.0, *, indefinite: bool = False) -> None:
        self.rows = rows
        self.shift = shift
        self.stable = not indefinite
        self.factor: Any = factorise_general(K) if indefinite else factorise(_shifted(K, shift))
        self.flexibility = self.factor.solve(rows.columns) if rows.size else np.zeros((len(rows.rows.T), 0))
        self.W = rows.rows @ self.flexibility

    def solve(self, force: Array, value: Array | None = None, start: Array | None = None) -> Step:
        """The Newton step for an unbalanced force (without the multipliers' share) and row values."""
        rows = self.rows
        free = self.factor.solve(force)
        if rows.size == 0:
            return Step(free, np.zeros(0))
        value = rows.value if value is None else value
        offset = value + rows.rows @ free
        if rows.bilateral:
            lam = _solve_small(self.W, -offset)
            return Step(free + self.flexibility @ lam, lam)
        found = solve_contact(
            self.W,
            offset,
            triples=rows.triples if len(rows.triples) else None,
            friction=rows.friction,
            lower=rows.lower,
            upper=rows.upper,
            start=rows.force if start is None else start,
            tolerance=1e-12,
            max_iterations=2000,
        )
        return Step(free + self.flexibility @ found.force, found.force, found.states, found.residual)

    def correct(self, unbalanced: Array, value: Array, active: Array) -> Array:
        """Simplified Newton correction with the active rows as equalities; for the monotonicity test."""
        free = self.factor.solve(unbalanced)
        if not active.any():
            return free
        C = self.rows.rows[active]
        lam = _solve_small(self.W[np.ix_(active, active)], -(value[active] + C @ free))
        return free + self.flexibility[:, active] @ lam


def build(K: Any, rows: Rows, *, previous_shift: float = 0.0) -> LinearSystem | None:
    """A linear system with the smallest shift that makes the stiffness positive definite.

    With prescribed displacements an indefinite stiffness can still belong to a stable equilibrium (a chamber driven by
    volume past its pressure maximum): it is then solved as it is. None if nothing works.
    """
    try:
        return LinearSystem(K, rows)
    except NotPositiveDefinite:
        pass
    if rows.drives and np.isneginf(rows.lower[: rows.drives]).any():
        try:
            return LinearSystem(K, rows, indefinite=True)
        except (PliantError, RuntimeError):
            pass
    return regularised(K, rows, previous_shift)


def regularised(K: Any, rows: Rows, shift: float = 0.0) -> LinearSystem | None:
    """A linear system shifted until its stiffness is positive definite; None if that is hopeless."""
    size = float(np.abs(_diagonal(K)).mean())
    shift = max(0.25 * shift, 1e-4)
    for _ in range(12):
        try:
            return LinearSystem(K, rows, shift * size)
        except NotPositiveDefinite:
            shift *= 6.0
    return None


def _shifted(K: Any, shift: float) -> Any:
    if shift == 0.0:
        return K
    if isinstance(K, SymmetricMatrix):
        return K.add_diagonal(np.full(K.pattern.n, shift))
    return K + shift * np.eye(len(K))


def _diagonal(K: Any) -> Array:
    return K.diagonal() if isinstance(K, SymmetricMatrix) else np.diagonal(K)


def _solve_small(W: Array, b: Array) -> Array:
    try:
        return np.linalg.solve(W, b)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(W, b, rcond=None)[0]


def dense_rows(rows: Any) -> Array:
    """Rows as a dense array (m, nv)."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)
