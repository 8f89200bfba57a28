"""Relaxation: let a body fall to a stable equilibrium, where a path has ended.

Every step is Newton's with a proximal shift, so that it lowers the energy where the stiffness is not positive
definite; the shift shrinks while that succeeds. Drives and contacts enter by an augmented Lagrangian with the
multipliers of the step. (A penalty proportional to what they miss would refuse good steps: a cable that is met to
first order is missed to second order, and the penalty weighs that more than the energy gained.)
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import eigh, null_space

from pliant.contact.contacts import Contacts
from pliant.solve.commands import linearise, travel
from pliant.solve.newton import LinearSystem, Rows, Step, reflected, regularised
from pliant.solve.problem import Problem
from pliant.state import Status

Array = np.ndarray
_NEAR = 1e-3  # of the robot's size: steps below this are worth a try of Newton's method
_CREEP = 0.05  # of the robot's size: so are steps that gain less than the next constant of the fall so far
_LITTLE = 1e-3
_FUTILE = 8  # damped steps in a row that moved less than the next constant before the fall is over
_STILL = 1e-7  # of the robot's size
_PUSHES = 3  # off unstable equilibria, in one fall
_MODES, _TURNS = 6, 40  # vectors and steps of the inverse iteration for the softest motion
_PUSH = 1e-3  # of the robot's size: enough to leave a symmetric saddle


@dataclass
class Iterate:
    """Where an iteration for an equilibrium is."""

    q: Array
    effort: Array
    contacts: Contacts | None
    iterations: int = 0
    factor: Any = None
    stable: bool | None = True
    status: Status = Status.MAX_ITERATIONS


Polish = Callable[[Iterate, int], Iterate]


def relax(
    problem: Problem, origin: Iterate, u: Array, offset: Array, budget: int, *, polish: Polish, monotone: bool = True
) -> Iterate:
    """Let the body fall from where it is to a stable equilibrium at a command.

    Friction has no potential: there, and where lowering the energy leads nowhere, `monotone` is off and only the
    damping holds.

    Args:
        problem: model, drives and surroundings.
        origin: where the body is.
        u: command (nu,).
        offset: force that is subtracted (homotopy) (nv,).
        budget: linear solves allowed.
        polish: Newton's method from an iterate with so many linear solves.
        monotone: accept only steps that lower the energy.
    """
    model = problem.model
    q, effort, contacts = origin.q, origin.effort.copy(), origin.contacts
    effort[~problem.driven] = u[~problem.driven]
    potential = np.where(problem.driven, 0.0, effort)
    spent, shift = origin.iterations, 1e-2
    failed = Iterate(q, effort, contacts, spent)
    failed.status = Status.STALLED
    limit = spent + budget
    waiting, patience, still, near = 0, 1, 0, np.inf
    pushes, fallen, gain = 0, 0.0, np.inf
    while spent < limit:
        contacts = problem.detect(q, contacts)
        force, K = linearise(model, q, effort)
        if not np.isfinite(force).all():
            break
        rows = problem.rows(q, effort, u, contacts)
        K = problem.tangent(q, K, contacts, convex=True)
        # soft modes of slender bodies are as soft as the least shift
        dense = isinstance(K, np.ndarray)
        system = reflected(K, rows, shift) if dense else regularised(K, rows, 4.0 * shift, least=1e-8)
        spent += 1
        if system is None:
            break
        step = system.solve(force - offset - rows.columns[:, : rows.drives] @ rows.force[: rows.drives])
        size = travel(model, step.dq)
        if not np.isfinite(size):
            break
        alpha = min(1.0, 0.1 * problem.length / max(size, 1e-300), problem.furthest(q, step.dq))
        trial = model.retract(q, alpha * step.dq)
        if monotone:
            here = merit(problem, system, step, potential, u, q, q, contacts)
            there = merit(problem, system, step, potential, u, trial, q, contacts)
            if not there + alpha * float(offset @ step.dq) < here:
                shift *= 4.0
                if shift >= 1e3:
                    break
                continue
            gain = here - there
            fallen += gain
        q = trial
        multipliers = rows.force + alpha * (step.force - rows.force)
        effort, contacts = problem.split(effort, multipliers, contacts, step.states)
        shift = max(0.3 * shift, 1e-8) if alpha == 1.0 else shift if monotone else min(4.0 * shift, 10.0)
        waiting += 1
        still = still + 1 if size < _STILL * problem.length else 0
        # what creeps along a soft direction gains next to nothing of what it has fallen by
        close = size < _NEAR * problem.length or (size < _CREEP * problem.length and gain < _LITTLE * fallen)
        if close and (waiting >= patience or size < 0.1 * near):
            near, waiting, patience = size, 0, 2 * patience
            polished = polish(Iterate(q, effort, contacts, spent), min(20, limit - spent))
            spent = polished.iterations
            if polished.status.ok and polished.stable is not False:
                return polished
            if polished.status is Status.UNSTABLE and pushes < _PUSHES:
                away = pushed_off(problem, polished, u, by=_PUSH * 10.0**pushes)
                if away is not None:
                    q, effort, contacts = away.q, away.effort, away.contacts
                    pushes, shift = pushes + 1, 1e-2
                    waiting, patience, still, near = 0, 1, 0, np.inf
                    continue
            if still >= _FUTILE:
                break
    failed.iterations = spent
    return failed


def pushed_off(problem: Problem, found: Iterate, u: Array, *, by: float = _PUSH) -> Iterate | None:
    """Beside an unstable equilibrium (a symmetric one has no other way to be left); None if it is stable after all.

    `by` is the way to go, in parts of the robot's size.
    """
    motion = unstable_motion(problem, found, u)
    if motion is None:
        return None
    beside = problem.model.retract(found.q, by * problem.length * motion)
    return Iterate(beside, found.effort, found.contacts, found.iterations)


def unstable_motion(problem: Problem, found: Iterate, u: Array) -> Array | None:
    """The motion along which an equilibrium is least stable, drives and pressing contacts held; None if it is stable.

    The lowest eigenvector of the stiffness (scaled to a unit diagonal) on what they leave free; of sparse tangents
    by inverse iteration with a factor that is shifted until it exists.
    """
    model = problem.model
    _, K = linearise(model, found.q, found.effort)
    K = problem.tangent(found.q, K, found.contacts)
    rows = problem.rows(found.q, found.effort, u, found.contacts)
    held = np.isneginf(rows.lower) | (rows.force > rows.lower)
    if not isinstance(K, np.ndarray):
        motion = _lowest_mode(K, rows, held)
        return None if motion is None else motion / max(travel(model, motion), 1e-300)
    size = 1.0 / np.sqrt(np.maximum(np.abs(np.diagonal(K)), 1e-9 * float(np.abs(np.diagonal(K)).max())))
    free = null_space(rows.rows[held] * size) if held.any() else np.eye(len(K))
    values, axes = np.linalg.eigh(free.T @ (0.5 * (K + K.T) * np.outer(size, size)) @ free)
    if not len(values) or values[0] >= 0.0:
        return None
    out: Array = size * (free @ axes[:, 0])
    return out / max(travel(model, out), 1e-300)


def _lowest_mode(K: Any, rows: Rows, held: Array) -> Array | None:
    """The mode of the lowest eigenvalue of a sparse tangent where some rows are held; None if that is positive."""
    system = regularised(K, rows, least=1e-6)
    if system is None:
        return None
    diagonal = np.maximum(np.abs(K.diagonal()), 1e-300)
    C, Y = rows.rows[held], system.flexibility[:, held]
    modes = np.random.default_rng(0).standard_normal((len(diagonal), _MODES))
    value, motion = np.inf, modes[:, 0]
    for _ in range(_TURNS):
        modes = system.factor.solve(diagonal[:, None] * modes)
        if held.any():
            modes = modes - Y @ np.linalg.lstsq(C @ Y, C @ modes, rcond=None)[0]
        modes = np.linalg.qr(modes)[0]
        values, turn = eigh(modes.T @ np.asarray(K @ modes), modes.T @ (diagonal[:, None] * modes))
        modes = modes @ turn
        motion, before, value = modes[:, 0], value, float(values[0])
        if abs(value - before) <= 1e-3 * abs(value):
            break
    return motion if value < 0.0 else None


def merit(
    problem: Problem, system: LinearSystem, step: Step, potential: Array, u: Array, q: Array, origin: Array,
    contacts: Contacts | None,
) -> float:  # fmt: skip
    """Energy with drives and contacts (augmented Lagrangian with the multipliers of a step) [J].

    Args:
        problem: model, drives and surroundings.
        system: what the step was solved with.
        step: its multipliers are used.
        potential: efforts of the actuators that are driven by effort, zero for the others (nu,).
        u: command (nu,).
        q: where.
        origin: configuration to which the rows of the system belong.
        contacts: found there.
    """
    model, rows = problem.model, system.rows
    energy = float(model.energy(q, potential))
    if not rows.size:
        return energy
    n = rows.drives
    chosen = np.concatenate([np.arange(n), rows.triples[:, 0] if len(rows.triples) else np.arange(n, rows.size)])
    value = np.empty(len(chosen))
    if n:
        value[:n] = model.displacement(q)[problem.driven] - u[problem.driven]
    if contacts is not None and len(contacts):
        value[n:] = contacts.followed(model.skin_positions(origin), model.skin_positions(q)).gap
    lam = step.force[chosen]
    own = np.abs(np.einsum("ii->i", system.W)[chosen])
    rho = 1.0 / np.maximum(own, max(1e-9 * float(own.max()), 1e-300))
    pull = lam - rho * value
    pull = np.where(np.isneginf(rows.lower[chosen]), pull, np.maximum(pull, 0.0))
    return energy + float(((pull**2 - lam**2) / (2.0 * rho)).sum())
