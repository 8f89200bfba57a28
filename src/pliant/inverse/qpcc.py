"""Local and multistart search of the QPCC; branch and bound and sticking contacts are called from here.

The description (`QPCC`) and the theory are in `qpcc_problem.py`; the compiled search in `_kernels/qpcc.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant._kernels import qpcc as kernel
from pliant._kernels.qpcc_local import solve_local
from pliant._kernels.qpcc_start import start_states
from pliant.errors import ArgumentError
from pliant.inverse.qp import as_array, solve_qp
from pliant.inverse.qpcc_problem import (
    CLOSED,
    FRICTIONLESS,
    OPEN,
    QPCC,
    Array,
    Piece,
    QPCCSolution,
    QPCCStatus,
    States,
    as_states,
    friction_ratio,
    piece_qp,
)

__all__ = [
    "CLOSED", "FRICTIONLESS", "OPEN", "QPCC", "CostMap", "Piece", "QPCCSolution", "QPCCStatus", "piece_qp",
    "piecewise_cost", "solve_qpcc",
]  # fmt: skip


def solve_qpcc(
    problem: QPCC,
    *,
    search: Literal["local", "multistart", "global"] = "local",
    start: ArrayLike | None = None,
    contact_set: ArrayLike | None = None,
    starts: int = 8,
    seed: int = 0,
    max_pieces: int | None = None,
    combine: int = 3,
    tolerance: float = 1e-9,
    max_nodes: int = 100_000,
    contact: Literal["sticking", "sliding"] = "sticking",
    directions: int = 8,
) -> QPCCSolution:
    """Solve the inverse problem through contact.

    Args:
        problem: the QPCC.
        search: "local" (decomposition and pivoting from the start, real time), "multistart" (local from
            several efforts), "global" (branch and bound with a proof; for up to about 12 contacts).
        start: (na,) efforts whose contact problem gives the first contact set (zero if None).
        contact_set: (nc,) first contact set, e.g. of the previous solution (warm start); if it holds
            nowhere, the contact problem at `start` is used.
        starts, seed: number and seed of the starts of a multistart; the given start is the first.
        max_pieces: pieces tried at most, default 20 + 5 nc.
        combine: how many touching contacts may be changed together when no single change helps.
        tolerance: relative decrease below which a pivot is not accepted.
        max_nodes: branch-and-bound nodes at most.
        contact: with three rows per contact, "sticking" (spec 12: stick or open, no cone) or "sliding"
            (Coulomb with a cone of `directions` edges, `sliding.py`; needs `problem.friction`).
        directions: edges of the friction cone.
    """
    if not isinstance(problem, QPCC):
        raise ArgumentError("problem", f"is a {type(problem).__name__}", "a QPCC")
    if search not in ("local", "multistart", "global"):
        raise ArgumentError("search", f"is {search!r}", '"local", "multistart" or "global"')
    if starts < 1:
        raise ArgumentError("starts", f"is {starts}", "at least 1")
    if not 0.0 < tolerance < 1.0:
        raise ArgumentError("tolerance", f"is {tolerance}", "between 0 and 1")
    na, nc = problem.da.size, problem.contacts
    effort = np.zeros(na) if start is None else as_array("start", start, (na,))
    first: Any = None
    if contact_set is not None:
        sliding = problem.rows_per_contact == 3 and contact == "sliding"
        first = np.array(contact_set) if sliding else as_states(problem, contact_set)
    limit = 20 + 5 * nc if max_pieces is None else int(max_pieces)
    if limit < 1:
        raise ArgumentError("max_pieces", f"is {limit}", "at least 1")
    options: dict[str, Any] = {"max_pieces": limit, "combine": combine, "tolerance": tolerance}
    if contact not in ("sticking", "sliding"):
        raise ArgumentError("contact", f"is {contact!r}", '"sticking" or "sliding"')
    run: Any = local_search
    if problem.rows_per_contact == 3 and contact == "sliding":
        from pliant.inverse.sliding import sliding_search

        options["directions"] = directions
        run = sliding_search
    elif problem.rows_per_contact == 3:
        from pliant.inverse.qpcc_sticking import sticking_search

        run = sticking_search
    if problem.rows_per_contact == 3 and search == "global":
        raise ArgumentError("search", "is 'global' with friction", '"local" or "multistart"')
    best = run(problem, effort, first, **options)
    if search == "local":
        return best
    rng = np.random.default_rng(seed)
    for _ in range(starts - 1):
        other = run(problem, random_effort(problem, best, rng), None, **options)
        if _rank(other) < _rank(best):
            best = other
    if search == "multistart":
        return best
    from pliant.inverse.qpcc_global import branch_and_bound

    return branch_and_bound(problem, best, max_nodes=max_nodes)


def _rank(s: QPCCSolution) -> tuple[bool, bool, float]:
    return s.status is QPCCStatus.INFEASIBLE, not s.status.success, s.objective


def random_effort(problem: QPCC, best: QPCCSolution, rng: np.random.Generator) -> Array:
    """A random start: uniform between finite bounds, else normal with the size of the best efforts so far."""
    low, high = np.asarray(problem.effort_min), np.asarray(problem.effort_max)
    spread = np.maximum(np.abs(best.effort), np.abs(best.effort).mean()) + 1e-12
    low = np.where(np.isfinite(low), low, best.effort - 2.0 * spread)
    high = np.where(np.isfinite(high), high, np.maximum(best.effort, low) + 2.0 * spread)
    return rng.uniform(np.minimum(low, high), np.maximum(low, high))


def local_search(problem: QPCC, effort: Array, first: States | None, **options: Any) -> QPCCSolution:
    """Decomposition and pivoting of the frictionless problem."""
    state = np.zeros(problem.contacts, np.int8) if first is None else first.copy()
    third = np.zeros(problem.contacts, dtype=bool)
    found = pivoting(problem, problem.data(), effort, state, third, first is not None, **options)
    return finish(problem, found, state, third, **options)


def pivoting(
    problem: QPCC, data: Any, effort: Array, state: States, third: NDArray[np.bool_], given: bool, **options: Any
) -> Any:
    """Run the compiled search; `state` is overwritten with the last contact set."""
    return solve_local(
        data, problem.energy, problem.proximal, problem.reference, problem.rows_per_contact, effort, state, third,
        given, options["max_pieces"], options["combine"], options["tolerance"],
    )  # fmt: skip


def finish(problem: QPCC, found: Any, state: States, third: Any, **options: Any) -> QPCCSolution:
    """Relax limits where they cannot be held, then put the result together."""
    notices: list[str] = []
    if found[0] == kernel.NO_LIMITS:
        found, state, notices = _relaxed(problem, found, state, third, **options)
    code, effort, contact, values, duals, objective, worst, pivots, visited, costs, path, iterations, proved = found
    status = _STATUS.get(code, QPCCStatus.INFEASIBLE)
    if status is QPCCStatus.LOCAL and not proved:
        status = QPCCStatus.STATIONARY
    if notices and status is not QPCCStatus.INFEASIBLE:
        status = QPCCStatus.RELAXED
    taken = set(path.tolist())
    pieces = tuple(Piece(s, v, i in taken) for i, (s, v) in enumerate(zip(visited, costs.tolist())))
    return QPCCSolution.trusted(
        effort=effort, contact=contact, effector=values[0], displacement=values[1], gap=values[2], objective=objective,
        contact_set=state, pivots=pivots, pieces=pieces, iterations=iterations, residual=worst, status=status,
        lower_bound=-np.inf, notices=tuple(notices), dual_effort=duals[0], dual_displacement=duals[1],
        dual_rows=duals[2], friction_ratio=friction_ratio(contact, problem.rows_per_contact), nodes=0,
    )  # fmt: skip


_STATUS = {kernel.SOLVED: QPCCStatus.LOCAL, kernel.PIVOT_LIMIT: QPCCStatus.PIVOT_LIMIT}


def _relaxed(problem: QPCC, found: Any, state: States, third: Any, **options: Any) -> tuple[Any, States, list[str]]:
    """The search again, with the limits that cannot be held relaxed as little as possible; what it found, its contact
    set, and notices. What was found before if that does not help."""
    na, nr = problem.da.size, np.asarray(problem.d).size
    qp = piece_qp(problem, state)
    soft = np.arange(qp.G.shape[0]) < na + nr  # type: ignore[union-attr]
    relaxed = solve_qp(qp, start=found[1], elastic=soft)
    if not relaxed.status.success:
        return found, state, []
    slack = relaxed.violation[: na + nr]
    notices = [
        f"the displacement limit of actuator {i} was relaxed by {slack[i]:.3g}"
        if i < na
        else f"row {i - na} of C was relaxed by {slack[i]:.3g}"
        for i in np.flatnonzero(slack)
    ]
    data = problem.data()
    for wider in (1e-6, 1e-4, 1e-2):  # many rows that meet in a point leave none to rounding
        loose, again, much = list(data), state.copy(), slack * (1.0 + wider)
        loose[11], loose[12], loose[15] = data[11] - much[:na], data[12] + much[:na], data[15] - much[na:]
        better = pivoting(problem, tuple(loose), relaxed.x, again, third, True, **options)
        if better[0] in _STATUS:
            return better, again, notices
    return found, state, notices


@dataclass(frozen=True)
class CostMap:
    """Result of `piecewise_cost` over a grid of shape `shape`.

    Attributes:
        cost: grid of the objective, all contacts in equilibrium with the efforts.
        region: grid of indices into `sets`: which contact set holds there.
        sets: (regions, nc) the contact sets met.
        allowed: grid, True where displacement limits and further rows hold.
        axes: the effort values along each axis.
    """

    cost: Array
    region: NDArray[np.int64]
    sets: States
    allowed: NDArray[np.bool_]
    axes: tuple[Array, ...]


def piecewise_cost(problem: QPCC, grid: Sequence[ArrayLike]) -> CostMap:
    """The cost c(a) over a grid of efforts for one or two actuators, coloured by contact set (spec 9.8).

    Args:
        problem: a frictionless QPCC with na <= 2.
        grid: na vectors of effort values.
    """
    na = problem.da.size
    if na > 2 or problem.rows_per_contact != 1:
        raise ArgumentError(
            "problem", f"has {na} actuators", "a frictionless problem with one or two actuators"
        )
    if len(grid) != na:
        raise ArgumentError("grid", f"has {len(grid)} axes", f"{na} vectors of efforts")
    axes = tuple(as_array("grid", axis, (np.asarray(axis).size,)) for axis in grid)
    shape = tuple(axis.size for axis in axes)
    points = np.stack([g.ravel() for g in np.meshgrid(*axes, indexing="ij")], axis=1)
    cost, region, allowed = (
        np.empty(len(points)),
        np.empty(len(points), np.int64),
        np.empty(len(points), bool),
    )
    index: dict[bytes, int] = {}
    sets: list[States] = []
    scaled, sa, sc, _ = kernel.scale_problem(problem.data())
    low, high = np.asarray(problem.displacement_min), np.asarray(problem.displacement_max)
    assert problem.C is not None
    force = np.zeros(problem.dc.size)
    for i, a in enumerate(points):
        state = np.zeros(problem.contacts, np.int8)
        start_states(scaled, a / sa, state, force)  # warm: the neighbour's forces
        c = force * sc
        cost[i] = problem.objective(a, c)
        stroke = problem.Waa @ a + problem.Wac @ c + problem.da
        rows = problem.C @ np.concatenate([a, c])
        allowed[i] = bool(np.all(stroke >= low) and np.all(stroke <= high) and np.all(rows >= problem.d))
        region[i] = index.setdefault(state.tobytes(), len(sets))
        if region[i] == len(sets):
            sets.append(state)
    return CostMap(
        cost.reshape(shape), region.reshape(shape), np.array(sets, np.int8), allowed.reshape(shape), axes
    )
