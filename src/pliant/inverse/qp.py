"""Small dense convex quadratic programs: the last step of every inverse problem without contact.

    minimise   1/2 x'Qx + c'x
    subject to A x = b,   lower <= G x <= upper,   lo <= x <= hi

The default solver is a compiled dual active-set method (`method="active-set"`, see `_kernels/qp.py`); DAQP is
the alternative (`method="daqp"`). Measured by `benchmarks/qpcc.py` on one core of a 2-core server, 12
unknowns and 24 constraints: kernel 8 us, DAQP 7 us (the whole of `solve_qp`: 36 and 46 us).
Ours is the default because its proximal refinement leaves no bias on a singular Q (DAQP: up to 4e-6 relative
on the objective in 4 of 3000 random problems) and because it tells which rows contradict each other.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant._kernels import qp as kernel
from pliant.errors import ArgumentError

Array = NDArray[np.float64]


class QPStatus(Enum):
    """How a quadratic program ended."""

    OPTIMAL = "the minimum was found and all constraints hold"
    RELAXED = "the constraints contradict each other: some rows were relaxed as little as possible"
    INFEASIBLE = "the constraints contradict each other: relax the rows in `conflict` or use elastic=True"
    UNBOUNDED = "the objective decreases for ever: bound the unknowns or add a proximal term"
    ITERATION_LIMIT = "the iteration limit was reached: the result is not optimal, check the scaling"

    @property
    def success(self) -> bool:
        """True where the result may be used."""
        return self in (QPStatus.OPTIMAL, QPStatus.RELAXED)


def as_array(name: str, value: ArrayLike, shape: tuple[int, ...], *, infinite: bool = False) -> Array:
    """`value` as a contiguous float64 array of the given shape, or an ArgumentError that names it."""
    try:
        array = np.ascontiguousarray(value, dtype=np.float64)
    except (TypeError, ValueError) as problem:
        raise ArgumentError(name, f"is not a numeric array ({problem})", f"shape {shape}") from None
    if array.shape != shape and not (array.size == 0 and 0 in shape):
        raise ArgumentError(name, f"has shape {array.shape}", f"shape {shape}")
    if np.isnan(array).any() if infinite else not np.isfinite(array).all():
        raise ArgumentError(
            name, "contains NaN" if infinite else "contains NaN or infinity", "finite numbers"
        )
    return array.reshape(shape)


def as_bound(name: str, value: ArrayLike | None, size: int, default: float) -> Array:
    """A bound vector of the given size; None and scalars are spread over it."""
    if value is None:
        return np.full(size, default)
    array = np.asarray(value, dtype=np.float64)
    return as_array(name, np.full(size, float(array)) if array.ndim == 0 else array, (size,), infinite=True)


def check_order(low_name: str, low: Array, high_name: str, high: Array) -> None:
    """Raise if a lower bound exceeds its upper bound or an infinite bound has the wrong sign."""
    if (low > high).any():
        i = int(np.argmax(low > high))
        raise ArgumentError(low_name, f"exceeds {high_name} at index {i} ({low[i]:g} > {high[i]:g})")
    if np.isposinf(low).any() or np.isneginf(high).any():
        raise ArgumentError(
            low_name, f"or {high_name} excludes every number", f"{low_name} < inf, {high_name} > -inf"
        )


@dataclass(frozen=True)
class QP:
    """A convex quadratic program; every constraint may be left out.

    Attributes:
        Q: (n, n) symmetric positive semidefinite.
        c: (n,).
        A, b: (p, n), (p,) equalities A x = b.
        G, lower, upper: (m, n), (m,), (m,) rows lower <= G x <= upper (infinite where absent).
        lo, hi: (n,) or scalar, bounds on x.
    """

    Q: Array
    c: Array
    A: Array | None = None
    b: Array | None = None
    G: Array | None = None
    lower: Array | None = None
    upper: Array | None = None
    lo: Array | None = None
    hi: Array | None = None
    _rows: tuple[Array, Array, Array] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        set_ = object.__setattr__
        c = np.asarray(self.c, dtype=np.float64)
        if c.ndim != 1 or c.size == 0:
            raise ArgumentError("c", f"has shape {c.shape}", "a vector of at least one number")
        n = c.size
        set_(self, "c", as_array("c", c, (n,)))
        set_(self, "Q", as_array("Q", self.Q, (n, n)))
        size = np.abs(self.Q).max()
        if np.abs(self.Q - self.Q.T).max() > 1e-9 * size:
            raise ArgumentError("Q", "is not symmetric", "a symmetric positive semidefinite matrix")
        if (np.diag(self.Q) < -1e-12 * size).any():
            raise ArgumentError(
                "Q", "has a negative diagonal entry", "a symmetric positive semidefinite matrix"
            )
        lo, hi = as_bound("lo", self.lo, n, -np.inf), as_bound("hi", self.hi, n, np.inf)
        check_order("lo", lo, "hi", hi)
        if (self.A is None) != (self.b is None):
            raise ArgumentError("A", "and b must be given together")
        A = np.zeros((0, n)) if self.A is None else np.atleast_2d(np.asarray(self.A, dtype=np.float64))
        A = as_array("A", A, (A.shape[0], n))
        b = as_array("b", np.zeros(0) if self.b is None else np.atleast_1d(self.b), (A.shape[0],))
        if self.G is None and (self.lower is not None or self.upper is not None):
            raise ArgumentError("G", "is missing while lower or upper is given")
        G = np.zeros((0, n)) if self.G is None else np.atleast_2d(np.asarray(self.G, dtype=np.float64))
        G = as_array("G", G, (G.shape[0], n))
        lower = as_bound("lower", self.lower, G.shape[0], -np.inf)
        upper = as_bound("upper", self.upper, G.shape[0], np.inf)
        check_order("lower", lower, "upper", upper)
        for name, value in (
            ("A", A),
            ("b", b),
            ("G", G),
            ("lower", lower),
            ("upper", upper),
            ("lo", lo),
            ("hi", hi),
        ):
            set_(self, name, value)
        stacked = np.vstack([np.eye(n), A, G])
        set_(self, "_rows", (stacked, np.concatenate([lo, b, lower]), np.concatenate([hi, b, upper])))

    @property
    def stacked(self) -> tuple[Array, Array, Array]:
        """(rows, lower, upper) with the bounds on x first, then A x = b, then G x."""
        return self._rows

    def objective(self, x: ArrayLike) -> float:
        """1/2 x'Qx + c'x."""
        x = np.asarray(x, dtype=np.float64)
        return float(0.5 * x @ self.Q @ x + self.c @ x)


@dataclass(frozen=True)
class QPSolution:
    """Result of `solve_qp`.

    Attributes:
        x: (n,) minimiser (or the last iterate, see status).
        objective: 1/2 x'Qx + c'x.
        dual_bounds: (n,) d objective / d bound on x; >= 0 at lo, <= 0 at hi, 0 inside.
        dual_equalities: (p,) likewise for A x = b.
        dual_rows: (m,) likewise for G x.
        active: (n + p + m,) active set over the stacked rows: +1 at lower, -1 at upper, 0 free; reusable.
        iterations: active-set changes.
        residual: largest violation of stationarity or feasibility, each relative to its own scale.
        status: a sentence; `status.success`.
        conflict: indices of stacked rows that contradict each other (empty unless INFEASIBLE or RELAXED).
        violation: (m,) by how much each row of G was relaxed (elastic mode), zero otherwise.
    """

    x: Array
    objective: float
    dual_bounds: Array
    dual_equalities: Array
    dual_rows: Array
    active: NDArray[np.int8]
    iterations: int
    residual: float
    status: QPStatus
    conflict: NDArray[np.int64]
    violation: Array

    @property
    def relaxed(self) -> NDArray[np.int64]:
        """Indices of the rows of G that were relaxed."""
        return np.flatnonzero(self.violation)


_STATUS = {
    kernel.OPTIMAL: QPStatus.OPTIMAL,
    kernel.INFEASIBLE: QPStatus.INFEASIBLE,
    kernel.ITERATION_LIMIT: QPStatus.ITERATION_LIMIT,
    kernel.UNBOUNDED: QPStatus.UNBOUNDED,
}


def solve_qp(
    qp: QP,
    *,
    start: ArrayLike | None = None,
    active: ArrayLike | None = None,
    elastic: bool | ArrayLike = False,
    max_iterations: int = 1000,
    method: Literal["active-set", "daqp"] = "active-set",
) -> QPSolution:
    """Solve a small convex QP.

    Args:
        qp: the problem.
        start: (n,) reference point; where the minimiser is not unique, the answer is the one near it.
        active: active set of an earlier solution of the same shape (`QPSolution.active`).
        elastic: if the rows of G contradict the rest, relax them by the least sum (L1) and say which; a mask
            (m,) names the rows that may be relaxed.
        max_iterations: bound on active-set changes.
        method: "active-set" (compiled, default) or "daqp".
    """
    if not isinstance(qp, QP):
        raise ArgumentError("qp", f"is a {type(qp).__name__}", "a QP")
    n = qp.c.size
    rows, lower, upper = qp.stacked
    centre = np.zeros(n) if start is None else as_array("start", start, (n,))
    if active is None:
        guess = np.zeros(lower.size, np.int8)
    else:
        guess = np.array(active, dtype=np.int8)
        if guess.shape != lower.shape:
            raise ArgumentError("active", f"has shape {guess.shape}", f"shape {lower.shape}")
    if method == "daqp":
        x, y, conflict, code, iterations = _daqp(qp, guess, max_iterations)
    elif method == "active-set":
        x, y, conflict, code, iterations, _ = kernel.solve_dense_qp(
            qp.Q, qp.c, rows, lower, upper, centre, guess, max_iterations
        )
    else:
        raise ArgumentError("method", f"is {method!r}", '"active-set" or "daqp"')
    if code == kernel.INDEFINITE:
        raise ArgumentError("Q", "is indefinite", "a symmetric positive semidefinite matrix")
    status = _STATUS[code]
    count = qp.G.shape[0] if qp.G is not None else 0
    soft = np.asarray(elastic, dtype=bool)
    if soft.ndim and soft.shape != (count,):
        raise ArgumentError("elastic", f"has shape {soft.shape}", f"a bool or a mask of shape ({count},)")
    soft = np.broadcast_to(soft, (count,))
    if status is QPStatus.INFEASIBLE and soft.any():
        return _relax(qp, soft, centre, np.flatnonzero(conflict), max_iterations)
    return _solution(qp, x, y, guess, iterations, status, np.flatnonzero(conflict))


def _solution(
    qp: QP, x: Array, y: Array, guess: NDArray[Any], iterations: int, status: QPStatus, conflict: NDArray[Any]
) -> QPSolution:
    n, p = qp.c.size, qp.b.size if qp.b is not None else 0
    rows, lower, upper = qp.stacked
    value = rows @ x
    size = np.abs(rows) @ np.abs(x) + 1e-300
    pull = np.abs(qp.Q) @ np.abs(x) + np.abs(qp.c) + np.abs(rows.T) @ np.abs(y) + 1e-300
    residual = max(
        float(np.max(np.maximum(lower - value, value - upper) / size, initial=0.0)),
        float(np.max(np.abs(qp.Q @ x + qp.c - rows.T @ y) / pull)) if status.success else 0.0,
    )
    return QPSolution(
        x=x,
        objective=qp.objective(x),
        dual_bounds=y[:n],
        dual_equalities=y[n : n + p],
        dual_rows=y[n + p :],
        active=guess,
        iterations=int(iterations),
        residual=residual,
        status=status,
        conflict=conflict,
        violation=np.zeros(y.size - n - p),
    )


def _daqp(
    qp: QP, guess: NDArray[np.int8], max_iterations: int
) -> tuple[Array, Array, NDArray[Any], int, int]:
    import daqp  # optional path: imported only where asked for

    n = qp.c.size
    rows, lower, upper = qp.stacked
    sense = np.where(lower == upper, 5, np.abs(guess)).astype(np.int32)
    x, _, flag, info = daqp.solve(
        qp.Q.copy(),
        qp.c.copy(),
        np.ascontiguousarray(rows[n:]),
        np.minimum(upper, 1e30),
        np.maximum(lower, -1e30),
        sense,
        eps_prox=-1.0,
        iter_limit=max_iterations,
    )
    y = -np.asarray(info["lam"])
    guess[:] = np.sign(y)
    code = {
        1: kernel.OPTIMAL,
        2: kernel.OPTIMAL,
        -1: kernel.INFEASIBLE,
        -3: kernel.UNBOUNDED,
        -5: kernel.INDEFINITE,
    }
    return (
        np.asarray(x),
        y,
        np.zeros(y.size, bool),
        code.get(flag, kernel.ITERATION_LIMIT),
        info["iterations"],
    )


def _relax(
    qp: QP, soft: NDArray[np.bool_], centre: Array, conflict: NDArray[Any], max_iterations: int
) -> QPSolution:
    """Least L1 violation of the rows of G (a linear program), then the QP with those rows shifted by it."""
    assert qp.G is not None  # set by __post_init__, as the next two
    assert qp.lower is not None
    assert qp.upper is not None
    n, m = qp.c.size, qp.lower.size
    # every row is measured in its own scale, so that newtons and metres may be added
    size = np.linalg.norm(qp.G * _reach(qp), axis=1)
    size = np.where(size > 0, size, 1.0)
    slack = np.diag(size)
    first = QP(
        Q=np.zeros((n + m, n + m)),
        c=np.concatenate([np.zeros(n), np.ones(m)]),
        A=np.hstack([qp.A, np.zeros((qp.A.shape[0], m))]) if qp.A is not None else None,
        b=qp.b,
        G=np.vstack([np.hstack([qp.G, slack]), np.hstack([qp.G, -slack])]),
        lower=np.concatenate([qp.lower, np.full(m, -np.inf)]),
        upper=np.concatenate([np.full(m, np.inf), qp.upper]),
        lo=np.concatenate([as_bound("lo", qp.lo, n, -np.inf), np.zeros(m)]),
        hi=np.concatenate([as_bound("hi", qp.hi, n, np.inf), np.where(soft, np.inf, 0.0)]),
    )
    feasible = solve_qp(first, start=np.concatenate([centre, np.zeros(m)]), max_iterations=max_iterations)
    if not feasible.status.success:  # the bounds or equalities alone contradict each other
        empty = np.zeros(qp.stacked[1].size)
        return _solution(
            qp, feasible.x[:n], empty, empty.astype(np.int8), feasible.iterations, feasible.status, conflict
        )
    value = qp.G @ feasible.x[:n]
    unit = size * max(1.0, float(np.abs(feasible.x[:n] / _reach(qp)).max()))
    below, above = np.maximum(qp.lower - value, 0.0), np.maximum(value - qp.upper, 0.0)
    for tiny in (1e-9, 1e-6, 1e-3):  # many rows that meet in a point need some room, or rounding sends one around
        margin = tiny * unit
        second = replace(
            qp,
            lower=qp.lower - np.where(below > margin, below + margin, 0.0),
            upper=qp.upper + np.where(above > margin, above + margin, 0.0),
        )
        solved = solve_qp(second, start=centre, max_iterations=max_iterations)
        if solved.status is QPStatus.OPTIMAL:
            break
    status = QPStatus.RELAXED if solved.status is QPStatus.OPTIMAL else solved.status
    value = qp.G @ solved.x
    violation = np.maximum(np.maximum(qp.lower - value, value - qp.upper), 0.0) * ((below + above) > margin)
    return QPSolution(
        **{
            **vars(solved),
            "status": status,
            "conflict": conflict,
            "violation": violation,
            "iterations": solved.iterations + feasible.iterations,
        }
    )


def _reach(qp: QP) -> Array:
    """(n,) typical size of each unknown: what turns one unit of objective, else one."""
    diagonal = np.diag(qp.Q)
    return np.where(diagonal > 0, 1.0 / np.sqrt(np.where(diagonal > 0, diagonal, 1.0)), 1.0)
