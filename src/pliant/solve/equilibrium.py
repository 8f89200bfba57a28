"""equilibrium: the quasi-static pose of any model under any actuation, fully converged."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts
from pliant.errors import ArgumentError
from pliant.solve.commands import CommandLike, command_vector, linearise
from pliant.solve.newton import LinearSystem, build, regularised
from pliant.solve.problem import Problem
from pliant.state import State, Status

Array = np.ndarray
_STEP_TOLERANCE = 1e-8  # of the robot's size: Newton converges quadratically, so the next step would be 1e-16


@dataclass
class _Iterate:
    """Where Newton's method is."""

    q: Array
    effort: Array
    contacts: Contacts | None
    iterations: int = 0
    factor: Any = None
    stable: bool = True
    status: Status = Status.MAX_ITERATIONS


def equilibrium(
    model: Any,
    u: CommandLike = None,
    *,
    obstacles: Sequence[Any] = (),
    start: State | None = None,
    max_iterations: int = 300,
    alarm: float | None = None,
    contact_distance: float = 0.0,
    gap_tolerance: float = 1e-6,
    strict: bool = False,
) -> State:
    """The static equilibrium of a model.

    Newton's method with an affine-invariant line search finds the pose directly in most cases. Where it fails, the
    load is followed in adaptive steps; where the path ends in a snap-through, the body is relaxed to the branch
    that it falls to. The status says which of these happened.

    Args:
        model: any mechanical model.
        u: command per actuator, in the unit of its drive: a mapping of names, or one value per actuator. Actuators
            not named keep the command of `start`, or zero.
        obstacles: what is in the way; contact is unilateral with each obstacle's Coulomb friction.
        start: a state to start from (warm start); the rest pose if None.
        max_iterations: linear solves allowed in all.
        alarm: distance below which a pair is treated as a possible contact [m]; default 5 % of the robot's size.
        contact_distance: gap at which contact begins [m].
        gap_tolerance: allowed penetration relative to the robot's size [-].
        strict: raise `SolveError` with the state attached if the solve does not succeed.

    Returns:
        State with status, residual, iterations, contacts, and the factorised tangent.
    """
    if max_iterations < 1:
        raise ArgumentError("max_iterations", f"{max_iterations}", "at least 1")
    begin = time.perf_counter()
    problem = Problem(model, obstacles, alarm=alarm, contact_distance=contact_distance)
    old_u = None if start is None else start.u
    target = command_vector(model.robot, u, old_u)
    q0 = np.array(model.rest if start is None else start.q, dtype=float)
    if q0.shape != (model.nq,) or not np.isfinite(q0).all():
        raise ArgumentError(
            "start", f"its q has shape {q0.shape} or is not finite", f"a state with q ({model.nq},)"
        )
    effort0 = np.zeros(model.nu) if start is None else np.array(start.effort, dtype=float)
    origin = _Iterate(q0, effort0, None if start is None else start.contacts)
    problem.begin(q0, origin.contacts)
    notes: list[str] = []
    found = _newton(problem, origin, target, None, max_iterations=min(40, max_iterations))
    status = found.status
    if not status.ok:
        found, status = _continue(problem, origin, target, found, max_iterations, notes)
    state = _finish(problem, found, status, target, gap_tolerance, notes, time.perf_counter() - begin)
    if start is not None:
        state = state.but(time=start.time)
    return state.require() if strict else state


def settle(problem: Problem, q: Array, effort: Array, contacts: Contacts | None = None) -> State:
    """The equilibrium at given efforts, whatever drives the actuators, from a configuration near it."""
    fixed = problem.effort_driven()
    origin = _Iterate(np.array(q), np.array(effort), contacts)
    notes: list[str] = []
    found = _newton(fixed, origin, effort, None, max_iterations=40)
    status = found.status
    if not status.ok:
        found, status = _continue(fixed, origin, effort, found, 200, notes)
    return _finish(fixed, found, status, effort, 1e-6, notes, 0.0)


def _newton(
    problem: Problem, origin: _Iterate, u: Array, offset: Array | None, *, max_iterations: int
) -> _Iterate:
    """Newton's method at a fixed command; `offset` is subtracted from the force (homotopy)."""
    model = problem.model
    q, effort, contacts = origin.q, origin.effort.copy(), origin.contacts
    effort[~problem.driven] = u[~problem.driven]
    spent, shift = origin.iterations, 0.0
    result = _Iterate(q, effort, contacts, spent)
    relaxing = 0
    for _ in range(max_iterations):
        contacts = problem.detect(q, contacts)
        force, K = linearise(model, q, effort)
        if offset is not None:
            force = force - offset
        if not np.isfinite(force).all():
            result.status = Status.INVERTED
            return result
        rows = problem.rows(q, effort, u, contacts)
        system = regularised(K, rows, shift) if relaxing else build(K, rows, previous_shift=shift)
        spent += 1
        if system is None:
            result.status = Status.SINGULAR
            return result
        shift = system.shift / max(float(np.abs(_mean_diagonal(K))), 1e-300)
        relaxing = max(relaxing - 1, 0)
        drives = rows.columns[:, : rows.drives] @ rows.force[: rows.drives]
        step = system.solve(force - drives)
        size = float(np.abs(step.dq).max()) if len(step.dq) else 0.0
        result = _Iterate(q, effort, contacts, spent, system.factor, system.stable and system.shift == 0.0)
        if not np.isfinite(size):
            result.status = Status.DIVERGED
            return result
        alpha = _line_search(problem, system, q, effort, u, step, offset)
        if alpha == 0.0:
            if relaxing == 0 and system.shift == 0.0:
                relaxing, shift = 3, 1e-2
                continue
            result.status = Status.STALLED
            return result
        q = model.retract(q, alpha * step.dq)
        multipliers = rows.force + alpha * (step.force - rows.force)
        effort, contacts = problem.split(effort, multipliers, contacts, step.states)
        if alpha == 1.0 and size <= _STEP_TOLERANCE * problem.length and system.shift == 0.0:
            done = _Iterate(q, effort, contacts, spent, system.factor, system.stable)
            done.status = Status.CONVERGED
            return done
    result.status = Status.MAX_ITERATIONS
    return result


def _line_search(
    problem: Problem, system: LinearSystem, q: Array, effort: Array, u: Array, step: Any, offset: Array | None
) -> float:
    """Largest step length that passes the natural monotonicity test; 0 if none does."""
    model, rows = problem.model, system.rows
    size = float(np.linalg.norm(step.dq))
    if size <= 1e-6 * problem.length:
        return 1.0
    n = rows.drives
    active = step.force > rows.lower
    alpha = 1.0
    for _ in range(9):
        trial = model.retract(q, alpha * step.dq)
        multipliers = rows.force + alpha * (step.force - rows.force)
        new_effort = effort.copy()
        new_effort[problem.driven] = multipliers[:n]
        force = model.force(trial, new_effort)
        if np.isfinite(force).all():
            if offset is not None:
                force = force - offset
            force = force + rows.columns[:, n:] @ multipliers[n:]
            value = rows.value + alpha * (rows.rows @ step.dq)
            if n:
                value[:n] = model.displacement(trial)[problem.driven] - u[problem.driven]
            correction = system.correct(force, value, active)
            if np.linalg.norm(correction) <= (1.0 - 0.25 * alpha) * size:
                return alpha
        alpha *= 0.5
    return 0.0


def _continue(
    problem: Problem, origin: _Iterate, target: Array, failed: _Iterate, budget: int, notes: list[str]
) -> tuple[_Iterate, Status]:
    """Follow the path from the start to the target in adaptive load steps; relax where it ends."""
    model = problem.model
    spent = failed.iterations
    here = _Iterate(origin.q, origin.effort, origin.contacts, spent)
    begin_u = target.copy()
    begin_u[problem.driven] = model.displacement(origin.q)[problem.driven]
    begin_u[~problem.driven] = origin.effort[~problem.driven]
    residual = model.force(origin.q, origin.effort)
    if origin.contacts is not None and len(origin.contacts):
        rows = problem.rows(origin.q, origin.effort, begin_u, origin.contacts)
        residual = residual + rows.columns[:, rows.drives :] @ rows.force[rows.drives :]
    if not np.isfinite(residual).all():
        return failed, Status.INVERTED
    t, dt = 0.0, 0.25
    while t < 1.0 and spent < budget:
        new = min(t + dt, 1.0)
        u = begin_u + new * (target - begin_u)
        found = _newton(problem, here, u, (1.0 - new) * residual, max_iterations=15)
        spent = found.iterations
        here.iterations = spent
        if found.status.ok:
            t, here = new, found
            dt *= 2.0
        else:
            dt *= 0.4
            if dt < 1e-3:
                break
    if t >= 1.0:
        return here, Status.CONTINUED
    relaxed = _relax(problem, here, target, budget - spent)
    if relaxed.status.ok:
        notes.append(
            f"the path could be followed to {100 * t:.1f} % of the load change; then the body snapped"
        )
        return relaxed, Status.SNAPPED
    notes.append(f"followed the path to {100 * t:.1f} % of the load change")
    return relaxed, failed.status if spent < budget else Status.MAX_ITERATIONS


def _relax(problem: Problem, origin: _Iterate, u: Array, budget: int) -> _Iterate:
    """Let the body fall to a stable equilibrium by damped steps (implicit gradient flow), then polish it."""
    model = problem.model
    q, effort, contacts = origin.q, origin.effort.copy(), origin.contacts
    effort[~problem.driven] = u[~problem.driven]
    spent, shift = origin.iterations, 1e-2
    for _ in range(max(budget, 10)):
        contacts = problem.detect(q, contacts)
        force, K = linearise(model, q, effort)
        if not np.isfinite(force).all():
            break
        rows = problem.rows(q, effort, u, contacts)
        system = regularised(K, rows, 4.0 * shift)
        spent += 1
        if system is None:
            break
        drives = rows.columns[:, : rows.drives] @ rows.force[: rows.drives]
        step = system.solve(force - drives)
        size = float(np.abs(step.dq).max())
        if not np.isfinite(size):
            break
        alpha = min(1.0, 0.1 * problem.length / max(size, 1e-300))
        trial = model.retract(q, alpha * step.dq)
        while alpha > 1e-6 and not np.isfinite(model.force(trial, effort)).all():
            alpha *= 0.3
            trial = model.retract(q, alpha * step.dq)
        q = trial
        multipliers = rows.force + alpha * (step.force - rows.force)
        effort, contacts = problem.split(effort, multipliers, contacts, step.states)
        shift = max(0.3 * shift, 1e-6) if alpha == 1.0 else min(4.0 * shift, 10.0)
        if size < 1e-3 * problem.length:
            polished = _newton(problem, _Iterate(q, effort, contacts, spent), u, None, max_iterations=20)
            spent = polished.iterations
            if polished.status.ok and polished.stable:
                return polished
    failed = _Iterate(q, effort, contacts, spent)
    failed.status = Status.STALLED
    return failed


def _finish(
    problem: Problem,
    found: _Iterate,
    status: Status,
    u: Array,
    gap_tolerance: float,
    notes: list[str],
    elapsed: float,
) -> State:
    model = problem.model
    contacts = problem.detect(found.q, found.contacts)
    rows = problem.rows(found.q, found.effort, u, contacts)
    force = model.force(found.q, found.effort)
    load = rows.columns[:, rows.drives :] @ rows.force[rows.drives :]
    driven = model.actuation(found.q, found.effort) @ found.effort if model.nu else np.zeros(model.nv)
    weight = model.force(model.rest, np.zeros(model.nu))
    scale = max(*(float(np.abs(x).max(initial=0.0)) for x in (load, driven, weight)), 1e-12)
    residual = float(np.abs(force + load).max(initial=0.0)) / scale
    displacement = model.displacement(found.q)
    if status.ok:
        slack = problem.slackable & (found.effort[problem.driven] <= 0.0)
        slack &= displacement[problem.driven] > u[problem.driven] + 1e-9 * problem.length
        if slack.any():
            names = np.array(model.robot.actuator_names)[problem.driven][slack]
            notes.append(f"slack: {', '.join(names)}")
            status = Status.SLACK if status is Status.CONVERGED else status
        if not found.stable and not problem.driven.any():
            status = Status.UNSTABLE
        if contacts is not None and contacts.max_penetration > gap_tolerance * problem.length:
            notes.append(f"penetration {contacts.max_penetration:.2e} m")
            status = Status.PENETRATING
    return State(
        q=found.q,
        v=np.zeros(model.nv),
        u=u,
        effort=found.effort,
        displacement=displacement,
        contacts=contacts,
        status=status,
        residual=residual,
        iterations=found.iterations,
        elapsed=elapsed,
        notes=tuple(notes),
        factor=found.factor if status.ok else None,
    )


def _mean_diagonal(K: Any) -> float:
    return float(np.abs(K.diagonal()).mean())
