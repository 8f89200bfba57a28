"""One Newton system: mechanics, prescribed displacements and contacts, linearised and solved together.

At a configuration q with efforts e the unknowns are a step dq, new efforts of the displacement-driven
actuators and the contact forces lam:

    K dq = f(q, e) + A (e_new - e) + H^T lam
    C dq + delta(q) - u = 0            (or >= 0 with a tension >= 0 where the cable may go slack)
    0 <= lam  _|_  g(q) + H dq >= 0    (Coulomb friction in addition)

All but dq are few, so the system is condensed onto them: W = [C; H] K^-1 [A, H^T].
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg import lu_factor, lu_solve

from pliant.algebra.factor import DenseFactor
from pliant.algebra.factorisation import NotPositiveDefinite, factorise, factorise_general
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.errors import PliantError
from pliant.solve.complementarity import solve_contact

Array = np.ndarray
_SINGULAR = 1e11  # a compliance that is larger than this times 1 / K_ii comes from rounding
_FAINT = 1e8  # and one larger than this is not to be trusted where it takes part in differences
_REPEATED = 1e-11  # of a compliance scaled to a unit diagonal
_PROBES = 12  # rows at which is looked first whether a body floats
_WIDE = 100  # rows from which on their zeros are worth to be skipped
_LIGHT = 1e-6  # of the mean diagonal: holds a body that only its drives or contacts hold, and hardly slows Newton


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
    """A tangent stiffness and constraint rows, factorised once and solved for several residuals.

    Args:
        K: tangent stiffness.
        rows: constraint rows.
        shift: added to the diagonal of K.
        indefinite: K need not be positive definite. Drives that pull are then held exactly, and what counts is
            whether K is positive definite on the motions that they leave free.
        held: the rows that are held then (m,) bool; the drives that pull if None.

    Attributes:
        stable: whether it is; None where that could not be told.
        turned: what contact forces lose by turning in a motion (nv,) -> (nv,), where K knows about it.
    """

    turned: Callable[[Array], Array] | None = None

    def __init__(
        self, K: Any, rows: Rows, shift: float = 0.0, *, indefinite: bool = False, held: Array | None = None
    ) -> None:
        self.rows = rows
        self.shift = shift
        self._held = (_pulling(rows) if held is None else held) if indefinite else None
        matrix = raised(K, shift)
        self.factor: Any = factorise_general(matrix) if indefinite else factorise_any(matrix)
        if shift == 0.0 and rows.size > 2 * _PROBES:
            some = np.unique(np.linspace(0, rows.size - 1, _PROBES).astype(int))  # what floats shows in most rows
            yields = self.factor.solve(rows.columns[:, some])
            if self._floating(K, some, np.einsum("ij,ji->i", rows.rows[some], yields)):
                raise NotPositiveDefinite(0)
        self.flexibility, self.W = _compliance(self.factor, rows)
        if shift == 0.0 and self._floating(K, slice(None), np.einsum("ii->i", self.W)):
            raise NotPositiveDefinite(0)
        _soften(self.W, rows.drives)
        self.stable: bool | None = None if self.factor.method == "lu" else True
        self.exact = shift == 0.0  # whether Newton's method converges with it as it should
        if self._held is not None:
            self.stable = self._constrained_definite(self._held)

    def _floating(self, K: Any, chosen: Any, own: Array, *, most: float = _SINGULAR) -> bool:
        """Does rounding alone hold the body against some row? Then K is singular, whatever its pivots say.

        `own` is what chosen rows yield to a unit force along themselves.
        """
        if not self.rows.size or isinstance(K, np.ndarray):
            return False
        some = self.rows.rows[chosen]
        size = np.einsum("ij,ij->i", some, some) / max(float(np.abs(_diagonal(K)).mean()), 1e-300)
        return bool((np.abs(own) > most * np.maximum(size, 1e-300))[size > 0.0].any())

    def fits(self, rows: Rows) -> bool:
        """Can the same factorisation serve other rows? What was built on certain rows needs as many of them."""
        return self._held is None or len(self._held) == rows.size

    def at(self, rows: Rows) -> LinearSystem:
        """The same factorisation with other rows that fit (a simplified Newton step)."""
        other = copy(self)
        other.rows = rows
        other.flexibility, other.W = _compliance(self.factor, rows)
        _soften(other.W, rows.drives)
        return other

    def _constrained_definite(self, held: Array) -> bool | None:
        """True if C K^-1 C^T has as many negative eigenvalues as K: then K is definite where C is null."""
        negative = self.factor.negative_eigenvalues
        if negative is None:
            return None
        W = self.W[np.ix_(held, held)]
        return negative == int((np.linalg.eigvalsh(0.5 * (W + W.T)) < 0).sum())

    def solve(self, force: Array, value: Array | None = None, start: Array | None = None) -> Step:
        """The Newton step for an unbalanced force (without the multipliers' share) and row values."""
        return self.solve_from(self.factor.solve(force), value, start)

    def solve_from(self, free: Array, value: Array | None = None, start: Array | None = None) -> Step:
        """The Newton step where it is known what the force alone would do (nv,)."""
        rows = self.rows
        if rows.size == 0:
            return Step(free, np.zeros(0))
        value = rows.value if value is None else value
        offset = value + rows.rows @ free
        if rows.bilateral:
            lam = _solve_small(self.W, -offset)
            return Step(free + self.flexibility @ lam, lam)
        begin = rows.force if start is None else start
        exact = self._held is not None
        held = self._held if self._held is not None else _pulling(rows)
        if held.any():
            # A stiffness that hardly resists what drives hold makes all compliances alike: take those motions out.
            lam, states, residual = self._solve_held(held, offset, begin)
            if exact or not (lam[held] < rows.lower[held]).any():
                lam[held] = np.maximum(lam[held], rows.lower[held])
                return Step(free + self.flexibility @ lam, lam, states, residual)
        found = _complementarity(self.W, offset, rows, np.ones(rows.size, dtype=bool), begin)
        return Step(free + self.flexibility @ found.force, found.force, found.states, found.residual)

    def _solve_held(self, held: Array, offset: Array, start: Array) -> tuple[Array, tuple, float]:
        """Eliminate the held rows exactly; the others are complementary on what remains."""
        others = ~held
        W = self.W
        across = _solve_small(W[np.ix_(held, held)], np.column_stack([W[np.ix_(held, others)], offset[held]]))
        lam = np.zeros(len(offset))
        states: tuple = ()
        residual = 0.0
        if others.any():
            reduced = W[np.ix_(others, others)] - W[np.ix_(others, held)] @ across[:, :-1]
            _soften(reduced, 0, definite=True)
            rest = offset[others] - W[np.ix_(others, held)] @ across[:, -1]
            found = _complementarity(reduced, rest, self.rows, others, start)
            lam[others], states, residual = found.force, found.states, found.residual
        lam[held] = -across[:, -1] - across[:, :-1] @ lam[others]
        return lam, states, residual

    def correct(self, unbalanced: Array, value: Array, active: Array) -> Array:
        """Simplified Newton correction with the active rows as equalities; for the monotonicity test."""
        free = self.factor.solve(unbalanced)
        if not active.any():
            return free
        C = self.rows.rows[active]
        lam = _solve_small(self.W[np.ix_(active, active)], -(value[active] + C @ free))
        return free + self.flexibility[:, active] @ lam


class _Stiffened(LinearSystem):
    """A dense tangent that is definite only where its bilateral drives and its pressing contacts leave it free.

    C dq = -delta is prescribed there (a base that only a motor holds), so rho A (C dq + delta) may be added to the
    equations: K + rho A C is definite wherever the remaining motions are stable, and step and multipliers stay exact. A
    contact that opens in this step keeps a wrong push for one step; in the next it is no longer counted.
    """

    def __init__(self, K: Array, rows: Rows, shift: float = 0.0) -> None:
        self._fixed = _prescribed(rows)
        if not len(self._fixed):
            raise NotPositiveDefinite(0)
        C = rows.rows[self._fixed]
        rho = 1e3 * float(np.abs(_diagonal(K)).max()) / max(float((C * C).sum(axis=1).min()), 1e-300)
        self._rho, self._push = rho, rho * rows.columns[:, self._fixed]
        super().__init__(K + self._push @ C, rows, shift)

    def fits(self, rows: Rows) -> bool:
        return rows.size == self.rows.size

    def solve(self, force: Array, value: Array | None = None, start: Array | None = None) -> Step:
        value = self.rows.value if value is None else value
        step = super().solve(force - self._push @ value[self._fixed], value, start)
        on = self._fixed
        total = step.force.copy()
        total[on] -= self._rho * (value[on] + self.rows.rows[on] @ step.dq)
        total[on] = np.maximum(total[on], self.rows.lower[on])  # tangential forces have either sign
        return replace(step, force=total)

    def correct(self, unbalanced: Array, value: Array, active: Array) -> Array:
        return super().correct(unbalanced - self._push @ value[self._fixed], value, active)


def build(K: Any, rows: Rows, *, previous_shift: float = 0.0) -> LinearSystem | None:
    """A linear system with the smallest shift that makes the stiffness positive definite where it must be.

    With prescribed displacements an indefinite stiffness can still belong to a stable equilibrium (a chamber driven
    by volume past its pressure maximum, a cable past its largest tension): it is then solved as it is. None if
    nothing works.
    """
    try:
        return LinearSystem(K, rows)
    except NotPositiveDefinite:
        pass
    if isinstance(K, np.ndarray) and rows.size:
        try:
            return _Stiffened(K, rows)
        except NotPositiveDefinite:
            pass
    if isinstance(K, np.ndarray):
        bilateral = bool(np.isneginf(rows.lower[: rows.drives]).any())  # those were tried as prescribed motions
        system = (None if bilateral else _held_system(K, rows)) or reflected(K, rows)
        return regularised(K, rows, previous_shift) if system is None else system
    system = _light_system(K, rows) or pressed_system(K, rows) or _held_system(K, rows)
    return regularised(K, rows, previous_shift) if system is None else system


def _light_system(K: Any, rows: Rows) -> LinearSystem | None:
    """The system of bodies that only drives or contacts hold: K is singular, but not unstable.

    The light shift is proximal: it changes the path to the equilibrium, not the equilibrium, and Newton's method
    loses as much of its order as the shift is of the stiffness that drives and contacts give.
    """
    if isinstance(K, np.ndarray) or not rows.size:
        return None
    try:
        system = LinearSystem(K, rows, _LIGHT * float(np.abs(_diagonal(K)).mean()))
    except NotPositiveDefinite:
        return None
    # The softest motion that any row can cause: it must cost nothing, not less than nothing.
    soft = system.flexibility[:, np.argmax(np.einsum("ii->i", system.W))]
    if float(soft @ (K @ soft)) < -1e-3 * _LIGHT * float(soft @ (np.abs(_diagonal(K)) * soft)):
        return None
    system.exact = True
    held = _pulling(rows)
    system._held = held if held.any() else None  # their rows feel the light shift most
    return system


def pressed_system(K: Any, rows: Rows, *, shift: float = _LIGHT) -> LinearSystem | None:
    """The system of bodies that lie on others without friction: what presses is held, what is left must be stable.

    A body under load tips in its linearisation, which contacts prevent; along them it may be neutral (the light shift).
    A body that is held elsewhere needs no shift, and is given one only if it turns out not to be.
    """
    if isinstance(K, np.ndarray) or len(rows.triples):
        return None
    held = _pulling(rows)
    held[_prescribed(rows)] = True
    if not held[rows.drives :].any():
        return None
    try:
        system = LinearSystem(K, rows, shift * float(np.abs(_diagonal(K)).mean()), indefinite=True, held=held)
    except (PliantError, RuntimeError):
        return None
    if shift == 0.0 and system._floating(K, slice(None), np.einsum("ii->i", system.W), most=_FAINT):
        return pressed_system(K, rows)
    if system.stable is not True or _dependent(system.W):
        return None
    system.exact = True
    return system


def _dependent(W: Array) -> bool:
    """Do rows repeat each other, to rounding (flat on flat)? Then none of their forces alone can be told."""
    size = 1.0 / np.sqrt(np.maximum(np.abs(np.einsum("ii->i", W)), 1e-300))
    return bool(np.abs(np.linalg.eigvalsh(0.5 * (W + W.T) * np.outer(size, size))).min(initial=1.0) < _REPEATED)


def regularised(K: Any, rows: Rows, shift: float = 0.0, *, least: float = 1e-4) -> LinearSystem | None:
    """A linear system shifted until its stiffness is positive definite; None if that is hopeless."""
    size = float(np.abs(_diagonal(K)).mean())
    shift = max(0.25 * shift, least)
    kind = _Stiffened if isinstance(K, np.ndarray) and len(_prescribed(rows)) else LinearSystem
    for attempt in range(14):
        try:
            return kind(K, rows, shift * size)
        except NotPositiveDefinite:
            # A smaller shift saves iterations; on large systems the general factorisation costs more than that.
            system = _held_system(K, rows, shift * size) if len(rows.rows.T) < 2000 or attempt == 0 else None
            if system is not None:
                return system
            shift *= 6.0
    return None


def reflected(K: Array, rows: Rows, shift: float = 0.0) -> LinearSystem | None:
    """A system whose stiffness resists every motion as much as the true one resists or drives it; None if that fails.

    Strain coordinates are so unevenly stiff that a shift which outweighs the worst direction freezes all others.
    Turning the sign of negative eigenvalues (of K scaled to a unit diagonal) does not.

    Args:
        K: dense tangent.
        rows: constraint rows.
        shift: added to the scaled eigenvalues.
    """
    size = np.sqrt(np.maximum(np.abs(_diagonal(K)), 1e-9 * float(np.abs(_diagonal(K)).max(initial=0.0)) + 1e-300))
    try:
        values, axes = np.linalg.eigh(0.5 * (K + K.T) / np.outer(size, size))
        stiff = np.maximum(np.abs(values), 1e-8) + shift
        kind = _Stiffened if len(_prescribed(rows)) else LinearSystem
        system = kind(np.outer(size, size) * ((axes * stiff) @ axes.T), rows)
    except (np.linalg.LinAlgError, NotPositiveDefinite):
        return None
    system.exact = False
    system.shift = float(np.abs(values[values < 0.0]).max(initial=0.0)) * float(np.abs(_diagonal(K)).mean())
    return system


def _held_system(K: Any, rows: Rows, shift: float = 0.0) -> LinearSystem | None:
    """The system with its pulling drives held exactly, unless that leaves it unstable."""
    if not _pulling(rows).any():
        return None
    try:
        system = LinearSystem(K, rows, shift, indefinite=True)
    except (PliantError, RuntimeError):
        return None
    known = system.stable is not None or _pulling(rows).all()  # complementarity needs a compliance that is definite
    return system if known and system.stable is not False else None


def _prescribed(rows: Rows) -> Array:
    """Bilateral drives and normals of contacts that press: rows whose motion is known before the step."""
    held = np.isneginf(rows.lower) & (np.arange(rows.size) < rows.drives)
    normal = rows.triples[:, 0] if len(rows.triples) else np.arange(rows.drives, rows.size)
    # A step that was cut short leaves forces on contacts that are still open: those may stay open.
    closed = rows.value[normal] <= max(1e-2 * float(rows.value[normal].max(initial=0.0)), 1e-9)
    held[normal] = (rows.force[normal] > 0.0) & closed
    return np.flatnonzero(held)


def _pulling(rows: Rows) -> Array:
    """Drives that are taut: they prescribe a displacement."""
    taut = np.isneginf(rows.lower) | (rows.force > rows.lower)
    return taut & (np.arange(rows.size) < rows.drives)


def _complementarity(W: Array, offset: Array, rows: Rows, chosen: Array, start: Array) -> Any:
    """Contact forces and slack drives among the chosen rows."""
    number = np.cumsum(chosen) - 1
    return solve_contact(
        W,
        offset,
        triples=number[rows.triples] if len(rows.triples) else None,
        friction=rows.friction,
        lower=rows.lower[chosen],
        upper=rows.upper[chosen],
        start=start[chosen],
        tolerance=1e-12,
        max_iterations=2000,
    )


def raised(K: Any, shift: float) -> Any:
    """K with its diagonal raised: by `shift` on average, by the same share everywhere (rotations are not lengths)."""
    if shift == 0.0:
        return K
    own = np.abs(_diagonal(K))
    mean = max(float(own.mean()), 1e-300)
    extra = shift * np.maximum(own / mean, 1e-9)
    return K.add_diagonal(extra) if isinstance(K, SymmetricMatrix) else K + np.diag(extra)


def _diagonal(K: Any) -> Array:
    return K.diagonal() if isinstance(K, SymmetricMatrix) else np.diagonal(K)


def _solve_small(W: Array, b: Array) -> Array:
    try:
        return np.linalg.solve(W, b)
    except np.linalg.LinAlgError:
        return np.linalg.lstsq(W, b, rcond=None)[0]


def factorise_any(K: Any, *, reuse: Any = None) -> Any:
    """A factor of a tangent: Cholesky, or LU where loads that follow the body make it unsymmetric."""
    if not isinstance(K, np.ndarray):
        return factorise(K, reuse=reuse)
    return _Unsymmetric(K) if np.abs(K - K.T).max() > 1e-9 * np.abs(K).max() else DenseFactor(K)


class _Unsymmetric:
    """Dense LU."""

    method = "lu"
    negative_eigenvalues: int | None = None

    def __init__(self, matrix: Array) -> None:
        if not np.isfinite(matrix).all():
            raise NotPositiveDefinite(0)
        self.n, self._lu = len(matrix), lu_factor(matrix, check_finite=False)

    def solve(self, b: Array) -> Array:
        """A^-1 b for one or several right-hand sides."""
        return lu_solve(self._lu, b, check_finite=False)


def _compliance(factor: Any, rows: Rows) -> tuple[Array, Array]:
    """What unit forces move (nv, m), and what rows see of that (m, m)."""
    if not rows.size:
        return np.zeros((len(rows.rows.T), 0)), np.zeros((0, 0))
    flexibility = factor.solve(rows.columns)
    if rows.size < _WIDE:
        return flexibility, rows.rows @ flexibility
    return flexibility, sp.csr_array(rows.rows) @ flexibility  # many rows are those of contacts, with few entries


def dense_rows(rows: Any) -> Array:
    """Rows as a dense array (m, nv)."""
    return rows.toarray() if sp.issparse(rows) else np.asarray(rows)


def _soften(W: Array, drives: int, *, definite: bool = False) -> None:
    """Give contact rows a trace of compliance where there is none: directions in which a node is held.

    Where the stiffness is indefinite a compliance may be negative, and stays so unless W must be `definite`.
    """
    diagonal = np.einsum("ii->i", W)[drives:]
    size = diagonal if definite else np.abs(diagonal)
    floor = 1e-12 * float(size.max(initial=0.0))
    diagonal[size <= floor] = max(floor, 1e-300)
