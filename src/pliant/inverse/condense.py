"""Condensation: a whole model seen through its actuators, targets, limits and contacts.

Around a configuration q with efforts e the mechanics is linear,

    dq = x_free + X_a e_new + X_c lam,     x_free = K^-1 (f(q, e) - A e),  X_a = K^-1 A,  X_c = K^-1 H^T

and every quantity of interest is a short row of it: y = y_free + Y_a e_new + Y_c lam. In dynamics K is the matrix of
the implicit step. One factorisation serves all; the result is small and dense, and does not know the model. The columns
X_a and X_c themselves are not computed: see `Compliance`.

A slide may be the only thing that holds a body: K is then singular. It gets a spring k on its coordinate d, and the
unknown becomes e' = e + k (d - d_now): the same mechanics, a regular matrix. `Condensed.true_effort` goes back to e.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant._kernels.holding import add_springs
from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.inverse.compliance import Compliance
from pliant.inverse.holding import Holding, hold
from pliant.inverse.limits import Limit, LimitRows
from pliant.inverse.snapshot import Snapshot
from pliant.inverse.targets import Target, TargetRows
from pliant.solve.newton import Rows as _Rows
from pliant.solve.newton import factorise_any, regularised

Array = np.ndarray


_NONE = np.zeros(0)
_ONE = np.ones(1)


@dataclass(eq=False, slots=True)  # several are made in every step: a frozen one takes three times as long
class Block:
    """Affine rows y = free + effort @ e + contact @ lam; limits have bounds low and high, and names."""

    free: Array
    effort: Array
    contact: Array
    low: Array = field(default_factory=lambda: _NONE)
    high: Array = field(default_factory=lambda: _NONE)
    names: tuple[str, ...] = ()

    def value(self, effort: Array, contact: Array) -> Array:
        """Predicted values (m,)."""
        out = self.free + self.effort @ effort
        return out + self.contact @ contact if self.contact.shape[1] else out

    def scaled(self, weight: Array) -> Block:
        """Rows multiplied by weights."""
        w = weight[:, None]
        return Block(self.free * weight, self.effort * w, self.contact * w, self.low, self.high, self.names)


@dataclass(eq=False)
class Condensed:
    """The linearised inverse problem (all dense).

    Attributes:
        objective: weighted target rows; zero is the goal.
        exact: target rows and prescribed displacements that must hold.
        limits: rows that must stay between bounds, the actuators' included.
        displacement: actuator coordinates (all actuators).
        contact: gaps (frictionless), or normal and tangential rows (three per contact).
        compliance: what the configuration step comes from.
        factor: factorised stiffness.
        error: unweighted target values at the current configuration.
        now: weighted objective rows at the current configuration.
        exact_now: rows that must hold, at the current configuration.
        stable: whether the stiffness is positive definite, with the help of the contacts that press.
        holding: whether it needs that help.
        springs: stiffness [N/m] added on the coordinates of slides, by actuator.
        coordinate: actuator displacements at the current configuration (nu,).
        timing: seconds per phase.
    """

    objective: Block
    exact: Block
    limits: Block
    displacement: Block
    contact: Block
    compliance: Compliance
    factor: Any
    error: Array
    now: Array
    exact_now: Array
    stable: bool
    holding: bool
    springs: dict[int, float]
    coordinate: Array
    timing: dict[str, float] = field(default_factory=dict)

    def true_effort(self, effort: Array, contact: Array) -> Array:
        """Efforts without the springs of slides, from the unknowns of the condensed problem (nu,)."""
        if not self.springs:
            return effort
        moved = self.displacement.value(effort, contact) - self.coordinate
        out = effort.copy()
        sprung = list(self.springs)
        out[sprung] -= np.array(list(self.springs.values())) * moved[sprung]
        return out

    def step(self, effort: Array, contact: Array) -> Array:
        """Configuration step for new efforts and contact forces (nv,)."""
        return self.compliance.step(np.concatenate([_ONE, effort, contact]))

    def true_contact(self, effort: Array, contact: Array) -> Array:
        """Contact forces, from the unknowns of the condensed problem (nc,)."""
        if not self.compliance.rho:
            return contact
        return self.compliance.pushes(contact, self.contact.value(effort, contact))

    def correction(self, unbalanced: Array, contact: Array) -> Array:
        """Newton step that an unbalanced force and contact forces cause (nv,)."""
        out = self.compliance.solve(unbalanced)
        if not contact.any():
            return out
        return out + self.compliance.step(np.concatenate([np.zeros(1 + len(self.coordinate)), contact]))


def condense(
    model: Any,
    q: Array,
    effort: Array,
    unbalanced: Array,
    stiffness: Any,
    targets: Sequence[Target],
    limits: Sequence[Limit],
    *,
    contacts: Any = None,
    frictional: bool = False,
    prescribed: dict[int, float] | None = None,
    previous: Any = None,
    dt: float = np.inf,
    reuse: Any = None,
    holding: bool = False,
) -> Condensed:
    """Condense a model at a configuration.

    Args:
        model: any mechanical model.
        q, effort: where it is.
        unbalanced: residual force at (q, effort), contacts excluded (nv,).
        stiffness: its derivative (static stiffness, or the matrix of an implicit step).
        targets, limits: what is wanted and allowed.
        contacts: possible contacts, with their current forces.
        frictional: three rows per contact (normal, two tangents) instead of one.
        prescribed: actuators whose displacement must have a value.
        previous: the state before this solve, for rate limits.
        dt: time since then [s].
        reuse: a factor no longer needed, whose storage may be taken over.
        holding: a guess whether contacts must hold the body; a right one saves a factorisation.
    """
    clock = time.perf_counter()
    seen = Snapshot(model, q)
    stiffness, springs = with_springs(seen, q, stiffness)
    H, gap = _contact_rows(seen, q, contacts, frictional)
    timing = {"condensation": time.perf_counter() - clock}
    clock = time.perf_counter()
    pressing = _pressing(contacts, len(gap))
    factor, stable, held = _factor(stiffness, reuse, H, gap, pressing, holding)
    timing["factorisation"] = time.perf_counter() - clock
    clock = time.perf_counter()
    A = seen.actuation(q, effort)
    wanted = [t.evaluate(seen, q, effort, contacts) for t in targets]
    allowed = [r for r in (x.evaluate(seen, q, effort, contacts, previous, dt) for x in limits) if r is not None]
    coordinate, own = seen.displacement(q), seen.displacement_rows(q)
    nu = len(coordinate)
    every: list[TargetRows | LimitRows] = [*wanted, *allowed]
    lines = [r.jacobian for r in every]
    products = unbalanced - A @ effort, A, own, H, lines, [len(r.value) for r in every]
    compliance = Compliance(factor, *products, held)
    if not compliance.held:  # not even the contacts that press hold it
        factor, stable = _shifted(stiffness), False
        compliance = Compliance(factor, *products)

    def block(Y: Array, r: TargetRows | LimitRows) -> Block:
        # what depends on efforts and contact forces directly comes on top of what depends on the configuration
        free = Y[:, 0] + r.value
        if r.effort is not None:
            free -= r.effort @ effort
            Y[:, 1 : 1 + nu] += r.effort
        if r.contact is not None and len(gap):
            free -= r.contact @ contacts.forces
            Y[:, 1 + nu :: 3 if frictional else 1] += r.contact
        return Block(free, Y[:, 1 : 1 + nu], Y[:, 1 + nu :])

    empty = Block(_NONE, np.zeros((0, nu)), np.zeros((0, len(gap))))
    objective: list[Block] = []
    exact: list[Block] = []
    rows: list[Block] = []
    for r, Y in zip(every, compliance.lines):
        if isinstance(r, LimitRows):
            limit = block(Y, r)
            limit.low, limit.high, limit.names = r.low, r.high, (r.name,) * len(r.value)
            rows.append(limit)
            continue
        target = block(Y, r)
        if r.exact:
            target.names = ("target",) * len(r.value)
            exact.append(target)
        else:
            objective.append(target.scaled(r.weight))
    Y = compliance.own
    displacement = Block(Y[:, 0] + coordinate, Y[:, 1 : 1 + nu], Y[:, 1 + nu :], names=model.robot.actuator_names)
    for i, value in (prescribed or {}).items():
        row = Block(
            displacement.free[i : i + 1] - value, displacement.effort[i : i + 1], displacement.contact[i : i + 1],
            names=(f"command of {model.robot.actuator_names[i]}",),
        )  # fmt: skip
        exact.append(row)
    contact = empty
    if len(gap):
        Y = compliance.contacts
        contact = _softened(Block(Y[:, 0] + gap, Y[:, 1 : 1 + nu], Y[:, 1 + nu :]))
    goal = [r.value * r.weight for r in wanted if not r.exact]
    must = [r.value for r in wanted if r.exact]
    must += [coordinate[i : i + 1] - value for i, value in (prescribed or {}).items()]
    out = Condensed(
        objective=_stack(objective, empty),
        exact=_stack(exact, empty),
        limits=_stack(rows, empty),
        displacement=displacement,
        contact=contact,
        compliance=compliance,
        factor=factor,
        error=_joined([r.value for r in wanted]),
        now=_joined(goal),
        exact_now=_joined(must),
        stable=stable,
        holding=compliance.rho > 0.0,
        springs=springs,
        coordinate=coordinate,
        timing=timing,
    )
    timing["condensation"] += time.perf_counter() - clock
    return out


def _contact_rows(seen: Snapshot, q: Array, contacts: Any, frictional: bool) -> tuple[Any, Array]:
    """Derivatives of the contact rows (m, nv), sparse or dense (None without contacts), and their values (m,)."""
    if contacts is None or not len(contacts):
        return None, np.zeros(0)
    if frictional:
        slip = contacts.slip(seen.skin_positions(q))
        return contacts.frictional_rows(seen, q), np.column_stack([contacts.gap, slip]).ravel()
    return contacts.rows(seen, q), contacts.gap


def with_springs(seen: Any, q: Array, K: Any) -> tuple[Any, dict[int, float]]:
    """The matrix with a spring on the coordinate of each slide, where that is one degree of freedom; and the
    springs."""
    slides = [i for i, a in enumerate(seen.robot.actuators) if a.kind == "slide"]
    if not slides:
        return K, {}
    dense = isinstance(K, np.ndarray)
    diagonal = np.abs(np.diagonal(K) if dense else K.diagonal())
    extra, stiff = np.zeros(len(diagonal)), np.empty(len(slides))
    add_springs(np.ascontiguousarray(seen.displacement_rows(q)[slides]), diagonal, stiff, extra)
    springs = {i: k for i, k in zip(slides, stiff.tolist()) if k}
    if not dense:
        return K.add_diagonal(extra), springs
    K = K.copy()
    K.ravel()[:: len(K) + 1] += extra
    return K, springs


def _softened(contact: Block) -> Block:
    """Contact rows with a trace of compliance where there is none (directions in which a node is held)."""
    diagonal = contact.contact.diagonal()
    floor = 1e-12 * max(float(diagonal.max()), 0.0)
    if diagonal.min() <= floor:
        stiff = np.flatnonzero(diagonal <= floor)
        contact.contact[stiff, stiff] = max(floor, 1e-300)
    return contact


def _pressing(contacts: Any, rows: int) -> Array:
    """Which contact rows belong to contacts that press (rows,) bool."""
    if not rows:
        return np.zeros(0, dtype=bool)
    return np.repeat(contacts.forces > 0.0, rows // len(contacts))


def _factor(
    stiffness: Any, reuse: Any, H: Any, gap: Array, pressing: Array, holding: bool
) -> tuple[Any, bool, Holding | None]:
    """A factor, whether it is that of a stable body, and the contacts that hold it, if they must."""
    held = hold(stiffness, H, gap, pressing) if holding else None
    if held is None:
        try:
            return factorise_any(stiffness, reuse=reuse), True, None
        except NotPositiveDefinite:
            held = None if holding else hold(stiffness, H, gap, pressing)
    return (_shifted(stiffness), False, None) if held is None else (held.factor, True, held)


def _shifted(stiffness: Any) -> Any:
    """The factor of the stiffness with its diagonal raised until it is positive definite."""
    nv = stiffness.pattern.n if hasattr(stiffness, "pattern") else len(stiffness)
    empty = np.zeros(0)
    none = _Rows(np.zeros((0, nv)), np.zeros((nv, 0)), empty, empty, empty, empty, 0)
    system = regularised(stiffness, none)
    if system is None:
        raise NotPositiveDefinite(0)
    return system.factor


def _joined(parts: list[Array]) -> Array:
    if len(parts) == 1:
        return parts[0]
    return np.concatenate(parts) if parts else _NONE


def _stack(blocks: list[Block], empty: Block) -> Block:
    if not blocks:
        return empty
    if len(blocks) == 1:
        return blocks[0]
    return Block(
        np.concatenate([b.free for b in blocks]),
        np.vstack([b.effort for b in blocks]),
        np.vstack([b.contact for b in blocks]),
        np.concatenate([b.low for b in blocks]),
        np.concatenate([b.high for b in blocks]),
        tuple(n for b in blocks for n in b.names),
    )
