"""Inverse problem through contact: description of a QP with complementarity constraints (spec 9.4 to 9.9).

    minimise   1/2 |Wea a + Wec c + de|^2  (+ energy E + proximal term)
    subject to effort_min <= a <= effort_max
               displacement_min <= Waa a + Wac c + da <= displacement_max
               C [a; c] >= d
               0 <= c  _|_  Wca a + Wcc c + dc >= 0

a: actuator efforts, c: contact forces. For a given set of closed contacts the forces are affine in a, so each
piece is a convex QP in a alone; `solve_qpcc` walks from piece to piece. With three rows per contact (normal,
tangent, tangent) contacts stick instead of sliding freely.

The actuator work E = a'(Waa a + Wac c) looks indefinite in (a, c), but c'gap = 0 turns it into the convex
[a; c]' W [a; c] + c'dc; reduced to a it is the Schur complement of spec 9.9. The proximal term
1/2 (a - reference)' Waa (a - reference) is zero at its own fixed point and hence leaves no bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant._kernels import qpcc_table as kernel
from pliant._kernels.qpcc_check import evaluate, unit_weight
from pliant.errors import ArgumentError
from pliant.inverse.qp import QP, as_array, as_bound, check_order

Array = NDArray[np.float64]
States = NDArray[np.int8]
OPEN, CLOSED, FRICTIONLESS = kernel.OPEN, kernel.CLOSED, kernel.NORMAL


class QPCCStatus(Enum):
    """How a QPCC solve ended."""

    GLOBAL = "the global minimum: branch and bound closed the gap"
    LOCAL = "a local minimum: every piece that shares this point was tried and none is better"
    STATIONARY = "no single change of a contact lowers the cost; several changes at once were not all tried"
    NODE_LIMIT = "the best point found; branch and bound stopped at its node limit, see lower_bound"
    RELAXED = "the limits cannot be held together with the contacts: some were relaxed, see notices"
    PIVOT_LIMIT = "the pivot limit was reached: the point is feasible but may not be stationary"
    INFEASIBLE = "no contact set was found in which the constraints hold: check gaps, compliances and limits"

    @property
    def success(self) -> bool:
        """True where all constraints hold."""
        return self not in (QPCCStatus.RELAXED, QPCCStatus.INFEASIBLE)


@dataclass(frozen=True)
class QPCC:
    """A QP with contact complementarity, dense and condensed: na efforts, ne effector rows, nc contacts.

    Attributes:
        Wea, Wec, de: (ne, na), (ne, mc), (ne,) effector error [m or any unit; weigh rows beforehand].
        Waa, Wac, da: (na, na), (na, mc), (na,) actuator displacement.
        Wca, Wcc, dc: (mc, na), (mc, mc), (mc,) contact gaps, mc = nc * rows_per_contact; Wcc symmetric.
        effort_min, effort_max: (na,) or scalar, None: unbounded.
        displacement_min, displacement_max: (na,) or scalar, None: unbounded.
        C, d: (r, na + mc), (r,) further rows C [a; c] >= d, e.g. a grasp floor.
        energy: dimensionless factor of the classical energy term, which biases the target (spec 6.6: 1e-3).
        proximal: factor of the proximal term around `reference`, likewise dimensionless.
        reference: (na,) efforts the proximal term pulls towards (zero if None).
        rows_per_contact: 1 (frictionless) or 3 (normal, tangent, tangent).
        friction: Coulomb coefficient, scalar or (nc,): what sticking contacts are reported against, and the
            cone of sliding ones. None: unknown.
    """

    Wea: Array
    Wec: Array
    de: Array
    Waa: Array
    Wac: Array
    da: Array
    Wca: Array
    Wcc: Array
    dc: Array
    effort_min: ArrayLike | None = None
    effort_max: ArrayLike | None = None
    displacement_min: ArrayLike | None = None
    displacement_max: ArrayLike | None = None
    C: Array | None = None
    d: Array | None = None
    energy: float = 0.0
    proximal: float = 0.0
    reference: Array | None = None
    rows_per_contact: int = 1
    friction: ArrayLike | None = None

    def __post_init__(self) -> None:
        put = object.__setattr__
        sizes = {}
        for name in ("de", "da", "dc"):
            vector = np.asarray(getattr(self, name), dtype=np.float64)
            if vector.ndim != 1:
                raise ArgumentError(name, f"has shape {vector.shape}", "a vector")
            sizes[name[1]] = vector.size
            put(self, name, as_array(name, vector, vector.shape))
        if sizes["a"] == 0:
            raise ArgumentError("da", "is empty", "at least one actuator")
        for name in ("Wea", "Wec", "Waa", "Wac", "Wca", "Wcc"):
            put(self, name, as_array(name, getattr(self, name), (sizes[name[1]], sizes[name[2]])))
        na, mc = sizes["a"], sizes["c"]
        if self.rows_per_contact not in (1, 3) or mc % self.rows_per_contact:
            raise ArgumentError("rows_per_contact", f"is {self.rows_per_contact} for {mc} rows", "1 or 3")
        if mc and (np.diag(self.Wcc) <= 0.0).any():
            raise ArgumentError("Wcc", "has a diagonal entry that is not positive", "positive compliance")
        if mc and np.abs(self.Wcc - self.Wcc.T).max() > 1e-8 * np.abs(self.Wcc).max():
            raise ArgumentError("Wcc", "is not symmetric", "a symmetric compliance")
        for name, default in (("effort", np.inf), ("displacement", np.inf)):
            low = as_bound(f"{name}_min", getattr(self, f"{name}_min"), na, -default)
            high = as_bound(f"{name}_max", getattr(self, f"{name}_max"), na, default)
            check_order(f"{name}_min", low, f"{name}_max", high)
            put(self, f"{name}_min", low)
            put(self, f"{name}_max", high)
        if (self.C is None) != (self.d is None):
            raise ArgumentError("C", "and d must be given together")
        d = np.zeros(0) if self.d is None else np.atleast_1d(np.asarray(self.d, dtype=np.float64))
        C = np.zeros((0, na + mc)) if self.C is None else np.atleast_2d(np.asarray(self.C, dtype=np.float64))
        put(self, "d", as_array("d", d, (d.size,)))
        put(self, "C", as_array("C", C, (d.size, na + mc)))
        for name in ("energy", "proximal"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) >= 0.0):
                raise ArgumentError(name, f"is {getattr(self, name)}", "a number >= 0")
        reference = np.zeros(na) if self.reference is None else self.reference
        put(self, "reference", as_array("reference", reference, (na,)))
        if self.friction is not None:
            mu = as_bound("friction", self.friction, self.contacts, np.inf)
            if (mu < 0.0).any():
                raise ArgumentError("friction", "is negative", "a Coulomb coefficient >= 0")
            put(self, "friction", mu)

    @classmethod
    def trusted(cls, **fields: Any) -> QPCC:
        """From arrays known to be finite and to fit, every field given: without checks, for inner loops."""
        problem = object.__new__(cls)
        for name, value in fields.items():
            problem.__dict__[name] = np.ascontiguousarray(value) if isinstance(value, np.ndarray) else value
        return problem

    @property
    def contacts(self) -> int:
        """Number of contacts nc."""
        return self.dc.size // self.rows_per_contact

    def weight(self, factor: float) -> float:
        """Absolute weight of a dimensionless factor: factor |Wea'Wea|_inf / |Waa|_inf (spec 6.6)."""
        return 0.0 if factor == 0.0 else factor * unit_weight(self.Wea, self.Waa)

    def objective(self, effort: ArrayLike, contact: ArrayLike) -> float:
        """What is minimised, at efforts (na,) and contact forces (mc,)."""
        a, c = np.asarray(effort, dtype=np.float64), np.asarray(contact, dtype=np.float64)
        e = self.Wea @ a + self.Wec @ c + self.de
        r = a - np.asarray(self.reference)
        work = a @ (self.Waa @ a + self.Wac @ c)
        value = 0.5 * e @ e + self.weight(self.energy) * work
        return float(value + 0.5 * self.weight(self.proximal) * (r @ self.Waa @ r))

    def data(self) -> tuple[Array, ...]:
        """The arrays in the order the kernels take them."""
        na = self.da.size
        assert self.C is not None  # set by __post_init__
        return (
            self.Wea, self.Wec, self.de, self.Waa, self.Wac, self.da, self.Wca, self.Wcc, self.dc,
            self.effort_min, self.effort_max, self.displacement_min, self.displacement_max,
            np.ascontiguousarray(self.C[:, :na]), np.ascontiguousarray(self.C[:, na:]), self.d,
        )  # type: ignore[return-value]  # fmt: skip


@dataclass(frozen=True)
class Piece:
    """A visited contact set: its states (nc,), its minimum (inf: infeasible), and whether it was moved to."""

    states: States
    objective: float
    accepted: bool


@dataclass(frozen=True)
class QPCCSolution:
    """Result of `solve_qpcc`.

    Attributes:
        effort, contact: (na,) and (mc,) efforts and contact forces.
        displacement, gap, effector: (na,), (mc,), (ne,) values reached.
        objective: see `QPCC.objective`.
        contact_set: (nc,) 0 open, 1 closed (sticking with three rows), 2 closed without friction. Reusable.
        pivots: accepted changes of the contact set.
        pieces: every contact set tried, in order.
        iterations: active-set changes of all QPs together.
        residual: worst violation of contact conditions and limits, relative (beyond relaxed limits).
        status: a sentence; `status.success`.
        lower_bound: proved bound on the objective (global search), else -inf.
        notices: one sentence for each relaxed limit.
        dual_effort, dual_displacement, dual_rows: d objective / d bound in the last piece.
        friction_ratio: (nc,) |tangential| / normal force, 0 where open; zero without tangents.
        nodes: branch-and-bound nodes.
    """

    effort: Array
    contact: Array
    displacement: Array
    gap: Array
    effector: Array
    objective: float
    contact_set: States
    pivots: int
    pieces: tuple[Piece, ...]
    iterations: int
    residual: float
    status: QPCCStatus
    lower_bound: float
    notices: tuple[str, ...]
    dual_effort: Array
    dual_displacement: Array
    dual_rows: Array
    friction_ratio: Array
    nodes: int = 0

    @classmethod
    def trusted(cls, **fields: Any) -> QPCCSolution:
        """From all fields, at the cost of a dictionary: for inner loops."""
        solution = object.__new__(cls)
        solution.__dict__.update(fields)
        return solution

    @property
    def gap_proof(self) -> float:
        """objective - lower_bound: zero proves the global minimum."""
        return self.objective - self.lower_bound


def held_rows(state: States, step: int) -> NDArray[np.bool_]:
    """(mc,) which contact rows are held at zero."""
    held = np.repeat(state == CLOSED, step)
    held[::step] |= state == FRICTIONLESS
    return held


def held_response(compliance: Array, gaps: Array) -> Array:
    """Contact forces that produce given gaps through a block of Wcc (m, m); the shortest where contacts repeat each
    other, as two walls in one place do. gaps: (m,) or (m, k)."""
    scale = 1.0 / np.sqrt(np.maximum(np.diag(compliance), 1e-300))
    across = scale if gaps.ndim == 1 else scale[:, None]
    even = compliance * scale * scale[:, None]
    found = np.linalg.lstsq(even, across * gaps, rcond=1e-12)[0]
    return np.asarray(across * found, dtype=float)


def piece_qp(problem: QPCC, states: ArrayLike, *, reduced: bool = True) -> QP:
    """The QP of one piece, for looking at it: in a alone (reduced, spec 9.7) or in [a; c] (full, spec 9.5).

    Rows of G: displacements (na), C (r), one row per contact (normal force if closed, gap if open).
    """
    state = as_states(problem, states)
    step, na, mc = problem.rows_per_contact, problem.da.size, problem.dc.size
    held = held_rows(state, step)
    energy, proximal = problem.weight(problem.energy), problem.weight(problem.proximal)
    eye = np.eye(na + mc)
    We = np.hstack([problem.Wea, problem.Wec])
    W = np.block([[problem.Waa, problem.Wac], [problem.Wca, problem.Wcc]])
    Q = We.T @ We + energy * (W + W.T)
    c = We.T @ problem.de
    c[na:] += energy * problem.dc
    metric = 0.5 * proximal * (problem.Waa + problem.Waa.T)
    Q[:na, :na] += metric
    c[:na] -= metric @ np.asarray(problem.reference)
    first = np.arange(0, mc, step) + na
    closed = state != OPEN
    contact = np.where(closed[:, None], eye[first], W[first])
    offset = np.where(closed, 0.0, problem.dc[first - na])
    assert problem.C is not None
    assert problem.d is not None
    G = np.vstack([W[:na], problem.C, contact])
    stroke_min, stroke_max = np.asarray(problem.displacement_min), np.asarray(problem.displacement_max)
    lower = np.concatenate([stroke_min - problem.da, problem.d, -offset])
    upper = np.concatenate([stroke_max - problem.da, np.full(problem.d.size + state.size, np.inf)])
    low, high = np.asarray(problem.effort_min), np.asarray(problem.effort_max)
    if not reduced:
        A = np.where(held[:, None], W[na:], eye[na:])
        b = np.where(held, -problem.dc, 0.0)
        free = np.full(mc, np.inf)
        return QP(Q, c, A=A, b=b, G=G, lower=lower, upper=upper, lo=np.r_[low, -free], hi=np.r_[high, free])
    Z, z = np.vstack([np.eye(na), np.zeros((mc, na))]), np.zeros(na + mc)
    if held.any():
        block = problem.Wcc[np.ix_(held, held)]
        solved = held_response(block, np.column_stack([problem.Wca[held], problem.dc[held]]))
        Z[na:][held], z[na:][held] = -solved[:, :na], -solved[:, na]
    Qr, rows, fixed = Z.T @ Q @ Z, G @ Z, G @ z
    lower, upper = lower - fixed, upper - fixed
    # gaps that follow from the held ones are constant: what is left of their rows is noise, not to be held to its sign
    gaps = len(rows) - len(state) + np.flatnonzero(~closed)
    own = np.linalg.norm(problem.Wca[::step][~closed], axis=1)
    still = gaps[np.linalg.norm(rows[gaps], axis=1) <= 1e-9 * own]
    rows[still] = 0.0
    lower[still[np.abs(lower[still]) <= 1e-9 * np.abs(problem.dc).max(initial=0.0)]] = 0.0
    return QP(0.5 * (Qr + Qr.T), Z.T @ (Q @ z + c), G=rows, lower=lower, upper=upper, lo=low, hi=high)


def as_states(problem: QPCC, states: ArrayLike) -> States:
    """Checked copy of contact states (nc,)."""
    state = np.array(states, dtype=np.int8)
    if state.shape != (problem.contacts,):
        raise ArgumentError("contact_set", f"has shape {state.shape}", f"shape ({problem.contacts},)")
    if state.size and (state.min() < 0 or state.max() > (1 if problem.rows_per_contact == 1 else 2)):
        valid = "0 open, 1 closed, 2 frictionless (three rows only)"
        raise ArgumentError("contact_set", "holds an unknown state", valid)
    return state


def friction_ratio(contact: Array, step: int) -> Array:
    """(nc,) |tangential| / normal force, 0 where open; zero without tangents."""
    if step != 3:
        return np.zeros(contact.size // step)
    force = contact.reshape(-1, 3)
    pressed = force[:, 0] > 1e-9 * max(np.abs(force).max(initial=0.0), 1e-300)
    tangent = np.hypot(force[:, 1], force[:, 2])
    ratio = np.where(pressed, tangent / np.where(pressed, force[:, 0], 1.0), 0.0)
    ratio[~pressed & (tangent > 0.0)] = np.inf
    return ratio


def assemble(
    problem: QPCC,
    effort: Array,
    contact: Array,
    state: States,
    status: QPCCStatus,
    *,
    pieces: tuple[Piece, ...],
    pivots: int,
    iterations: int,
    duals: tuple[Array, Array, Array],
    slack: Array | None = None,
    notices: tuple[str, ...] = (),
    lower_bound: float = -np.inf,
    nodes: int = 0,
) -> QPCCSolution:
    """Recompute every value from the efforts and forces, and the residual of all conditions."""
    step = problem.rows_per_contact
    slack = np.zeros(effort.size + np.asarray(problem.d).size) if slack is None else slack
    effector, displacement, gap, worst = evaluate(problem.data(), effort, contact, state, step, slack)
    return QPCCSolution(
        effort=effort, contact=contact, displacement=displacement, gap=gap,
        effector=effector,
        objective=problem.objective(effort, contact), contact_set=state, pivots=pivots, pieces=pieces,
        iterations=iterations, residual=float(worst), status=status, lower_bound=lower_bound,
        notices=notices, dual_effort=duals[0], dual_displacement=duals[1], dual_rows=duals[2],
        friction_ratio=friction_ratio(contact, step), nodes=nodes,
    )  # fmt: skip
