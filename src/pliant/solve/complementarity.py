"""Contact at fixed actuation: the LCP of Signorini and its mixed form with Coulomb friction.

On the condensed compliance, with multipliers lam (forces) and values delta (gaps, slip),

    delta = W lam + q,   W (m, m) = H K^-1 H^T,   q (m,) the values without any force.

`solve_lcp` holds 0 <= lam _|_ delta >= 0. `solve_contact` mixes prescribed rows, unilateral rows, rows whose
multiplier lives in a box, and Coulomb contacts of three rows (normal, tangent, tangent).
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant._kernels import complementarity as kernel
from pliant._kernels import coulomb
from pliant.contact.contacts import ContactState
from pliant.errors import ArgumentError

Array = NDArray[np.float64]
_FEW = 96  # Gauss-Seidel sweeps before a singular compliance is suspected


class ComplementarityStatus(Enum):
    """How a complementarity solve ended."""

    SOLVED = "all conditions hold to the tolerance"
    FALLBACK = "all conditions hold, but some contacts can neither open nor stick and were taken frictionless"
    NOT_CONVERGED = (
        "the conditions do not hold to the tolerance: see residual; try more iterations or less friction"
    )

    @property
    def success(self) -> bool:
        """True where the conditions hold."""
        return self is not ComplementarityStatus.NOT_CONVERGED


@dataclass(frozen=True)
class LCPSolution:
    """Result of `solve_lcp`.

    Attributes:
        force: (n,) lam >= 0.
        gap: (n,) W lam + q.
        residual: largest |min(lam_i, gap_i / W_ii)| relative to the largest force.
        iterations: sweeps and pivots together.
        status: a sentence; `status.success`.
    """

    force: Array
    gap: Array
    residual: float
    iterations: int
    status: ComplementarityStatus


@dataclass(frozen=True)
class ContactSolution:
    """Result of `solve_contact`.

    Attributes:
        force: (m,) multipliers of all rows.
        value: (m,) W lam + q of all rows.
        states: one `ContactState` per triple.
        friction_ratio: (k,) |lam_t| / lam_n per triple, 0 where open.
        residual: natural residual of all conditions, relative to the largest force.
        iterations: Gauss-Seidel sweeps.
        status: a sentence; `status.success`.
    """

    force: Array
    value: Array
    states: tuple[ContactState, ...]
    friction_ratio: Array
    residual: float
    iterations: int
    status: ComplementarityStatus


def _system(W: ArrayLike, q: ArrayLike) -> tuple[Array, Array]:
    try:
        W_, q_ = np.ascontiguousarray(W, dtype=np.float64), np.ascontiguousarray(q, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ArgumentError("W", f"or q is not numeric ({problem})") from None
    if q_.ndim != 1:
        raise ArgumentError("q", f"has shape {q_.shape}", "a vector")
    if W_.shape != (q_.size, q_.size):
        raise ArgumentError("W", f"has shape {W_.shape}", f"shape ({q_.size}, {q_.size})")
    if not np.isfinite(W_).all():
        raise ArgumentError("W", "contains NaN or infinity", "finite numbers")
    if not np.isfinite(q_).all():
        raise ArgumentError("q", "contains NaN or infinity", "finite numbers")
    if (np.diag(W_) <= 0.0).any():
        i = int(np.argmax(np.diag(W_) <= 0.0))
        raise ArgumentError(
            "W", f"has no compliance on its diagonal at row {i}", "W_ii > 0 (is the row free to move?)"
        )
    return W_, q_


def _guess(start: ArrayLike | None, size: int) -> Array:
    if start is None:
        return np.zeros(size)
    lam = np.array(start, dtype=np.float64)
    if lam.shape != (size,) or not np.isfinite(lam).all():
        raise ArgumentError("start", f"has shape {lam.shape} or is not finite", f"{size} finite numbers")
    return lam


def _limits(tolerance: float, max_iterations: int) -> None:
    if not tolerance > 0.0:
        raise ArgumentError("tolerance", f"is {tolerance}", "a positive number")
    if max_iterations < 1:
        raise ArgumentError("max_iterations", f"is {max_iterations}", "at least 1")


def solve_lcp(
    W: ArrayLike,
    q: ArrayLike,
    *,
    start: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> LCPSolution:
    """Find lam with 0 <= lam _|_ W lam + q >= 0.

    A few Gauss-Seidel sweeps, then principal pivoting, exact to rounding; a proximal QP or Lemke
    where W is singular.

    Args:
        W: (n, n) with positive diagonal, symmetric positive (semi)definite or a P-matrix.
        q: (n,) gaps without contact force.
        start: (n,) forces to start from.
        tolerance: on the relative residual.
        max_iterations: Gauss-Seidel sweeps at most.
    """
    W_, q_ = _system(W, q)
    _limits(tolerance, max_iterations)
    lam = np.maximum(_guess(start, q_.size), 0.0)
    if q_.size == 0:
        return LCPSolution(lam, q_, 0.0, 0, ComplementarityStatus.SOLVED)
    symmetric = bool(np.abs(W_ - W_.T).max() <= 1e-10 * np.abs(W_).max())
    residual, iterations = kernel.pivoted_lcp(W_, q_, lam, symmetric, tolerance, max_iterations)
    if residual > tolerance:  # its code is compiled only if it is needed
        residual, iterations = kernel.laborious_lcp(W_, q_, lam, symmetric, tolerance, max_iterations, iterations)
    solved = residual <= tolerance
    status = ComplementarityStatus.SOLVED if solved else ComplementarityStatus.NOT_CONVERGED
    return LCPSolution(lam, W_ @ lam + q_, float(residual), int(iterations), status)


@dataclass
class _Close:
    """How a proximal iteration ended."""

    residual: float
    sweeps: int
    mu: Array


def _proximal(
    problem: tuple[Any, ...], friction: Array, lam: Array, states: Any, tolerance: float, max_iterations: int
) -> _Close:
    """Proximal iteration on a contact problem with a singular W, in place: (W + eps D) lam + q - eps D lam_before.

    Each problem has a unique linearisation, so that Newton's method solves it; forces that W does not feel stay as they
    are, and all others converge at a rate of about eps over the smallest eigenvalue of W that is not zero.
    """
    W, q, rows, lo, hi, triples = problem
    m = len(q)
    own = np.diag(W).copy()
    F, J, decided = np.empty(m), np.empty((0, 0)), np.empty(m, dtype=np.bool_)
    best, kept, used = np.inf, lam.copy(), friction.copy()
    here, sweeps, eps = lam.copy(), 0, 1e-3
    while sweeps < max_iterations:
        mu, what = friction.copy(), states.copy()
        before = here.copy()
        inner, spent = coulomb.solve_contact(
            W + np.diag(eps * own), q - eps * own * before, rows, lo, hi, triples, mu, here, what, 0.1 * tolerance,
            min(_FEW, max_iterations - sweeps),
        )  # fmt: skip
        sweeps += spent
        residual = float(coulomb.natural_map(W, q, rows, lo, hi, triples, mu, here, F, J, decided))
        if residual < best:
            gained = residual < 0.3 * best
            best, kept, used = residual, here.copy(), mu
            states[:] = what
            if residual <= tolerance:
                break
            eps = eps if gained else max(0.1 * eps, 1e-9)
        elif inner > tolerance:
            eps *= 10.0
            if eps > 1.0:
                break
        else:
            eps *= 0.1
            if eps < 1e-9:
                break
    lam[:] = kept
    return _Close(best, sweeps, used)


def solve_contact(
    W: ArrayLike,
    q: ArrayLike,
    *,
    triples: ArrayLike | None = None,
    friction: ArrayLike = 0.0,
    lower: ArrayLike | None = None,
    upper: ArrayLike | None = None,
    value: ArrayLike | None = None,
    start: ArrayLike | None = None,
    tolerance: float = 1e-10,
    max_iterations: int = 1000,
) -> ContactSolution:
    """Solve a mixed contact problem delta = W lam + q.

    Rows outside `triples` obey lower <= lam <= upper: inside the box delta = value; at the lower bound
    delta >= value; at the upper bound delta <= value. So a unilateral row (the default) is the box [0, inf),
    a prescribed row (cable pulled to a length, joint) the box (-inf, inf), a force-limited motor [-f, f].

    Each triple (n, t, s) obeys 0 <= lam_n _|_ delta_n >= 0, |lam_t| <= mu lam_n, and slips only against a
    force on the cone: delta_t = -k lam_t, k >= 0. With mu = inf contacts stick or open, without a cone; where
    neither is possible (spec 12.3) the contact is taken frictionless and the status says so.

    Args:
        W: (m, m) compliance with positive diagonal.
        q: (m,) values without forces.
        triples: (k, 3) row indices of the Coulomb contacts.
        friction: (k,) or scalar Coulomb coefficient mu >= 0 (inf allowed).
        lower, upper: (m,) multiplier boxes of the other rows, default [0, inf).
        value: (m,) prescribed value of the other rows, default 0.
        start: (m,) multipliers to start from.
        tolerance: on the relative natural residual.
        max_iterations: Gauss-Seidel sweeps at most.
    """
    W_, q_ = _system(W, q)
    m = q_.size
    _limits(tolerance, max_iterations)
    lam = _guess(start, m)
    index = np.zeros((0, 3), np.int64) if triples is None else np.ascontiguousarray(triples, dtype=np.int64)
    index = index.reshape(0, 3) if index.size == 0 else index
    if index.ndim != 2 or index.shape[1] != 3:
        raise ArgumentError("triples", f"has shape {index.shape}", "(k, 3) row indices")
    if index.size and (index.min() < 0 or index.max() >= m or np.unique(index).size != index.size):
        raise ArgumentError("triples", "repeats a row or leaves the range", f"distinct rows of 0..{m - 1}")
    mu = np.array(np.broadcast_to(np.asarray(friction, dtype=np.float64), (index.shape[0],)))
    if np.isnan(mu).any() or (mu < 0.0).any():
        raise ArgumentError("friction", "is negative or NaN", "mu >= 0, inf for sticking only")
    low = (
        np.zeros(m) if lower is None else np.array(np.broadcast_to(np.asarray(lower, dtype=np.float64), (m,)))
    )
    high = np.full(m, np.inf) if upper is None else np.array(np.broadcast_to(np.asarray(upper, float), (m,)))
    if np.isnan(low).any() or np.isnan(high).any() or (low > high).any():
        raise ArgumentError("lower", "exceeds upper or is NaN", "lower <= upper")
    shift = np.zeros(m) if value is None else np.array(np.broadcast_to(np.asarray(value, float), (m,)))
    if not np.isfinite(shift).all():
        raise ArgumentError("value", "contains NaN or infinity", "finite numbers")
    shift[index.ravel()] = 0.0
    rows = np.setdiff1d(np.arange(m), index.ravel())
    states = np.zeros(index.shape[0], np.int64)
    wanted = mu.copy()
    lo, hi = np.ascontiguousarray(low[rows]), np.ascontiguousarray(high[rows])
    lam[rows] = np.clip(lam[rows], lo, hi)
    residual, sweeps = np.inf, 0
    if not index.size and not lo.any() and np.isposinf(hi).all():
        # unilateral rows alone can be pivoted, where sweeps crawl if contacts are nearly one
        pivoted = solve_lcp(W_, q_ - shift, start=lam, tolerance=tolerance, max_iterations=max_iterations)
        lam, residual, sweeps = pivoted.force, pivoted.residual, pivoted.iterations
    if residual > tolerance:
        # more contacts than motions make W singular, where sweeps crawl: few of them decide whether they do
        first = min(max_iterations, _FEW) if index.size and np.isfinite(mu).all() else max_iterations
        problem: tuple[Any, ...] = (W_, q_ - shift, rows, lo, hi, index if index.size else None)
        other = lam.copy()
        found, more = coulomb.solve_contact(*problem, mu, other, states, tolerance, first)
        sweeps += more
        if found < residual:
            lam, residual = other, found
        if residual > tolerance and first < max_iterations:
            close = _proximal(problem, wanted, lam, states, tolerance, max_iterations - first)
            residual, sweeps, mu = min(close.residual, residual), sweeps + close.sweeps, close.mu
            if close.residual > tolerance and sweeps < max_iterations:
                again, mu = lam.copy(), wanted.copy()
                left, more = coulomb.solve_contact(*problem, mu, again, states, tolerance, max_iterations - sweeps)
                lam, residual, sweeps = again, left, sweeps + more
    delta = W_ @ lam + q_
    if residual > tolerance:
        status = ComplementarityStatus.NOT_CONVERGED
    elif any(s == ContactState.FRICTIONLESS and w > 0.0 for s, w in zip(states, wanted)):
        status = ComplementarityStatus.FALLBACK
    else:
        status = ComplementarityStatus.SOLVED
    normal = lam[index[:, 0]]
    tangent = np.hypot(lam[index[:, 1]], lam[index[:, 2]])
    closed = normal > 1e-12 * np.abs(lam).max(initial=1e-300)
    ratio = np.where(closed, tangent / np.where(closed, normal, 1.0), 0.0)
    named = tuple(ContactState(int(s)) for s in states)
    return ContactSolution(lam, delta, named, ratio, float(residual), int(sweeps), status)
