"""equilibrium: the quasi-static pose of any model under any actuation, fully converged."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pliant.algebra.threads import one_blas_thread
from pliant.checks import count
from pliant.contact.contacts import Contacts
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.solve.balance import INSIDE_OUT, at_rest, balanced, inverted, mean_diagonal, unbalanced
from pliant.solve.collapse import LITTLE, collapsed
from pliant.solve.commands import (
    CommandLike,
    beyond_limits,
    check_state,
    command_vector,
    impossible,
    linearise,
    travel,
)
from pliant.solve.far_start import far_start
from pliant.solve.foreseen import Foreseen
from pliant.solve.problem import Problem
from pliant.solve.relaxation import Iterate, pushed_off, relax
from pliant.solve.step_length import descent, step_length
from pliant.solve.unheld import loose_motions, sliding
from pliant.state import State, Status

Array = np.ndarray
_LAST = 100  # linear solves kept for a last attempt when a path cannot be followed
_FAR = 3  # times as many for a fall off an unstable equilibrium: a bent catheter swings around its axis
_FREEING = 40  # linear solves more for a body that begins around an obstacle
_SHORTEST = 1e-3  # of the load change: shorter steps are not tried
_FOLDING = (
    0.06  # of the load change: in steps up to this an inverted element is taken for the law's own answer
)
_PATIENCE = 10  # iterations without a shorter Newton step before giving up
_NEAR = 5e-3  # of the robot's size: after shorter steps the contacts that press are taken for those of the answer
_TIMID = 1e-2  # a step of which so little can be taken was made with the wrong contacts
_STEP_TOLERANCE = 1e-8  # of the robot's size: Newton converges quadratically, so the next step would be 1e-16


@one_blas_thread()
def equilibrium(
    model: Model,
    u: CommandLike = None,
    *,
    obstacles: Sequence[Any] = (),
    start: State | None = None,
    max_iterations: int = 600,
    alarm: float | None = None,
    contact_distance: float = 0.0,
    gap_tolerance: float = 1e-6,
    turning: bool = True,
    problem: Problem | None = None,
    strict: bool = False,
) -> State:
    """The static equilibrium of a model.

    Newton's method finds the pose directly in most cases. Where it fails, the load is followed in adaptive steps;
    where the path ends in a snap-through, the body is relaxed to the branch that it falls to. The status says which
    of these happened.

    Args:
        model: any mechanical model.
        u: command per actuator, in the unit of its drive: a mapping of names, or one value per actuator. Actuators
            not named keep the command of `start`, or zero.
        obstacles: what is in the way; contact is unilateral with each obstacle's Coulomb friction.
        start: a state to start from (warm start); the rest pose if None.
        max_iterations: linear solves allowed in all.
        alarm: distance below which a pair is treated as a possible contact [m]; default 5 % of the
            robot's size.
        contact_distance: gap at which contact begins [m].
        gap_tolerance: allowed penetration relative to the robot's size [-].
        turning: start where steps with exact rotations lead, if the model offers them (see `far_start`).
        problem: a prepared `Problem` (obstacles, alarm, contact distance and tolerance are then taken from it).
        strict: raise `SolveError` with the state attached if the solve does not succeed.

    Returns:
        State with status, residual, iterations, contacts, and the factorised tangent.
    """
    max_iterations = count("max_iterations", max_iterations)
    begin = time.perf_counter()
    if problem is None:
        problem = Problem(
            model, obstacles, alarm=alarm, contact_distance=contact_distance, gap_tolerance=gap_tolerance
        )
    elif not (isinstance(problem, Problem) and problem.model is model):
        raise ArgumentError("problem", f"{type(problem).__name__} of another model", "a Problem of this model")
    check_state(model, start, "start")
    old_u = None if start is None else start.u
    target = command_vector(model.robot, u, old_u)
    q0 = np.array(model.rest if start is None else start.q, dtype=float)
    effort0 = np.zeros(model.nu) if start is None else np.array(start.effort, dtype=float)
    origin = Iterate(q0, effort0, None if start is None else start.contacts)
    problem.begin(q0, origin.contacts)
    notes: list[str] = []
    folding = start is not None and inverted(model, q0)
    refused = impossible(model, target)
    buried = not refused and problem.buried(q0)
    if buried:
        refused = ["the start lies so deep in an obstacle that nothing frees it; move one or the other"]
    far = turning and not refused
    near, spent = far_start(problem, target, start, budget=max_iterations) if far else (None, 0)
    origin.iterations = spent
    begin_at = origin if near is None else Iterate(near.q, near.effort, near.contacts, spent)
    if refused:
        found = Iterate(
            q0, effort0, origin.contacts, status=Status.PENETRATING if buried else Status.STALLED
        )
    else:
        found = _newton(problem, begin_at, target, None, max_iterations=min(40, max_iterations), folding=folding)
    status = found.status
    if refused:
        notes.extend(refused + beyond_limits(model.robot, target))
    elif not status.ok:
        loose = loose_motions(model)
        load = model.force(q0, np.where(problem.driven, 0.0, target))
        along = None if loose is None else sliding(problem, loose, found, target)
        if along is not None:
            loose = along
            fallen = _fall(problem, found, target, np.zeros(model.nv), min(_LAST, max_iterations), monotone=True)
            found.iterations = fallen.iterations
            if fallen.status.ok:
                found, status = fallen, Status.SNAPPED
                notes.append("bodies slid until something held them")
            else:
                status = Status.SINGULAR
                notes.append("without friction bodies slide on what they lie on: give the contact friction")
        elif loose is None or problem.obstacles or not loose.loaded(load):
            # a path of loads does not lead out of an obstacle: where that does not come at once, it seldom comes at all
            inside = problem.detector is not None and bool(problem.swallowed(q0)[1])
            budget = min(max_iterations, found.iterations + _FREEING) if inside else max_iterations
            found, status = _continue(problem, origin, target, found, budget, notes)
        if not status.ok:
            notes.extend(beyond_limits(model.robot, target))
        if not status.ok and loose is not None:
            notes.append(loose.note)
            status = status if problem.obstacles else Status.SINGULAR
    if not status.ok and not refused and problem.detector is not None and (names := problem.swallowed(found.q)[1]):
        status = Status.PENETRATING
        notes.append(f"{', '.join(names)} inside of the body: start from a pose that does not reach it, or move it")
    state = _finish(problem, found, status, target, problem.gap_tolerance, notes, time.perf_counter() - begin)
    if start is not None:
        state = state.but(time=start.time)
    if state.ok and (flag := getattr(model, "flag", None)) is not None:
        state = flag(state)  # a fitted model says where it is used beyond what it was fitted on
    return state.require() if strict else state


def settle(
    problem: Problem,
    q: Array,
    effort: Array,
    contacts: Contacts | None = None,
    *,
    follow: bool = True,
    tries: int = 15,
    held: Mapping[int, float] | None = None,
) -> State:
    """The equilibrium at given efforts, whatever drives the actuators, from a configuration near it.

    Actuators that are `held` have a displacement instead (joints of loops, slides: without it nothing holds the body);
    their efforts are found. With `follow=False` only Newton's method is tried, with at most `tries` steps; what needs
    more than that is not near.
    """
    fixed = problem.effort_driven(() if held is None else held)
    origin = Iterate(np.array(q), np.array(effort), contacts)
    u = np.array(effort)
    for i, value in ({} if held is None else held).items():
        u[i] = value
    notes: list[str] = []
    most, patience = (40, _PATIENCE) if follow else (tries, min(tries // 3, _PATIENCE))
    found = _newton(fixed, origin, u, None, max_iterations=most, folding=True, patience=patience)
    status = found.status
    if not status.ok and follow:
        found, status = _continue(fixed, origin, u, found, 200, notes)
    return _finish(fixed, found, status, u, 1e-6, notes, 0.0)


def _newton(
    problem: Problem,
    origin: Iterate,
    u: Array,
    offset: Array | None,
    *,
    max_iterations: int,
    folding: bool = False,
    patience: int = _PATIENCE,
) -> Iterate:
    """Newton's method at a fixed command; `offset` is subtracted from the force (homotopy).

    A large step can land on a branch with elements turned inside out, which some laws admit; unless
    `folding`, that counts as a failure. On a path followed in small steps it is what the law answers: one may come
    out of it again, but what ends there is no equilibrium (`_finish`).
    """
    model = problem.model
    q, effort, contacts = origin.q, origin.effort.copy(), origin.contacts
    effort[~problem.driven] = u[~problem.driven]
    spent, shift = origin.iterations, 0.0
    result = Iterate(q, effort, contacts, spent)
    best, waited = np.inf, 0
    last, trusted = np.inf, True
    if contacts is not None and at_rest(problem, result, u, offset):
        problem.keep(q, contacts)
    for _ in range(max_iterations):
        contacts = problem.detect(q, contacts)
        force, K = linearise(model, q, effort)
        if offset is not None:
            force = force - offset
        if not np.isfinite(force).all():
            result.status = Status.INVERTED
            return result
        # Strain coordinates are few, and so cheap that all rows may be there.
        foreseen = Foreseen(problem, q, effort, u, contacts, rough=True) if not isinstance(K, np.ndarray) else None
        rows = problem.rows(q, effort, u, contacts) if foreseen is None else foreseen.rows
        near = trusted and last <= _NEAR * problem.length
        system = problem.system(q, K, rows, contacts, previous_shift=shift, near=near)
        spent += 1
        if system is None:
            result.status = Status.SINGULAR
            return result
        shift = 0.0 if system.exact else system.shift / max(float(np.abs(mean_diagonal(K))), 1e-300)
        drives = rows.columns[:, : rows.drives] @ rows.force[: rows.drives]
        taken = contacts
        if foreseen is None:
            step = system.solve(force - drives)
        else:
            system, step = foreseen.solve(system, force - drives)
            rows, taken = foreseen.rows, foreseen.contacts
        size = travel(model, step.dq)
        result = Iterate(q, effort, contacts, spent, system.factor, system.stable)
        if not np.isfinite(size):
            result.status = Status.DIVERGED
            return result
        if rows.force[rows.drives :].any() or step.force[rows.drives :].any():
            alpha = descent(problem, system, q, effort, u, step, offset, taken)
        else:
            alpha = step_length(problem, q, effort, step)
        if size < 0.9 * best:
            best, waited = size, 0
        waited += 1
        if alpha < _TIMID and near:
            trusted = False  # contacts that were held want to open, or what they leave free is hardly held
            continue
        if alpha == 0.0 or waited > patience:
            result.status = Status.STALLED
            return result
        last = size
        before, q = q, model.retract(q, alpha * step.dq)
        multipliers = rows.force + alpha * (step.force - rows.force)
        effort, contacts = problem.split(effort, multipliers, taken, step.states)
        if foreseen is not None:
            contacts = foreseen.spread(contacts)
        if alpha == 1.0 and size <= _STEP_TOLERANCE * problem.length:
            if contacts is not None:
                contacts = contacts.followed(model.skin_positions(before), model.skin_positions(q))
            done = Iterate(q, effort, contacts, spent, system.factor, system.stable)
            if not balanced(problem, done, u, offset, K):
                continue
            if problem.overlooked(q, contacts):
                best = np.inf
                continue
            done.status = Status.INVERTED if not folding and inverted(model, q) else Status.CONVERGED
            if problem.depth(q, contacts) > problem.gap_tolerance * problem.length:
                done.status = Status.PENETRATING  # a step went through: it must be shorter
            if not system.exact:
                # In balance, but not held by stiffness, drives and normals alone. Friction may well hold it.
                done.stable = None if (rows.friction > 0.0).any() and step.force[rows.triples[:, 0]].any() else False
                done.status = Status.UNSTABLE if done.status.ok and done.stable is False else done.status
            return done
    result.status = Status.MAX_ITERATIONS
    return result


def _continue(
    problem: Problem, origin: Iterate, target: Array, failed: Iterate, budget: int, notes: list[str]
) -> tuple[Iterate, Status]:
    """Follow the path from the start to the target in adaptive load steps; relax where it ends."""
    model = problem.model
    spent = failed.iterations
    here = Iterate(origin.q, origin.effort, origin.contacts, spent)
    begin_u = target.copy()
    begin_u[problem.driven] = model.displacement(origin.q)[problem.driven]
    begin_u[~problem.driven] = origin.effort[~problem.driven]
    residual = model.force(origin.q, origin.effort)
    if origin.contacts is not None and len(origin.contacts):
        rows = problem.rows(origin.q, origin.effort, begin_u, origin.contacts)
        residual = residual + rows.columns[:, rows.drives :] @ rows.force[rows.drives :]
    if not np.isfinite(residual).all():
        return failed, Status.INVERTED
    if failed.status is Status.UNSTABLE:
        fallen = _fall_off(problem, failed, target, budget - spent)
        spent = here.iterations = failed.iterations = fallen.iterations
        if fallen.status.ok:
            notes.append("an unstable equilibrium was found on the way; the body fell off it to one side")
            return fallen, Status.SNAPPED
    t, dt, smooth = 0.0, 0.25, False
    rate: float | None = None  # how far the body moves per load, to notice a jump
    falls: list[float] = []

    def snapped(at: float) -> None:
        if not falls:
            notes.append(f"the path ended at {100 * at:.1f} % of the load change; there the body snapped")
        falls.append(at)

    last = failed.status
    smoothly = not problem.rough
    reserve = min(_LAST, max(budget - spent, 0) // 3)
    budget -= reserve
    while t < 1.0 and spent < budget:
        before = spent
        new = min(t + dt, 1.0)
        u = begin_u + new * (target - begin_u)
        offset = (1.0 - new) * residual
        found = _newton(
            problem, here, u, offset, max_iterations=min(15, budget - spent), folding=dt <= _FOLDING
        )
        spent = here.iterations = found.iterations
        if found.status.ok:
            moved = float(np.linalg.norm(found.q - here.q))
            if rate is not None and moved > max(10.0 * rate * (new - t), 0.1 * problem.length):
                snapped(t)
            t, here, rate = new, found, moved / (new - t)
            dt *= 2.0 if spent - before <= 8 or smooth else 1.0
            smooth = True
            continue
        smooth = False
        dt *= 0.4
        if dt < _SHORTEST:
            if ends := collapsed(model, here.q, here.effort):
                notes.extend([f"the path ends at {100 * t:.1f} % of the load change", *ends])
                if not problem.obstacles:
                    notes.append("where a gap closes, its walls may touch: see SelfContact")
                return here, Status.INVERTED
            # The path ends here: let the body fall just beyond its end, and go on from where it lands.
            new = min(t + 4.0 * _SHORTEST, 1.0)
            u = begin_u + new * (target - begin_u)
            fallen = _fall(problem, here, u, (1.0 - new) * residual, budget - spent, monotone=smoothly)
            spent = here.iterations = fallen.iterations
            if not fallen.status.ok:
                last = fallen.status
                break
            snapped(t)
            t, here, dt, rate = new, fallen, 4.0 * _SHORTEST, None
    if t >= 1.0:
        return here, Status.SNAPPED if falls else Status.CONTINUED
    thrown = _fall(problem, here, target, np.zeros(model.nv), reserve, monotone=False)
    spent = thrown.iterations
    if not thrown.status.ok and failed.status is Status.UNSTABLE:
        notes.append("no stable equilibrium was found")
        failed.iterations = spent
        return failed, Status.UNSTABLE
    if thrown.status.ok:
        notes.append(f"the path could be followed to {100 * t:.1f} % of the load change; then the body snapped")
        return thrown, Status.SNAPPED
    notes.append(f"followed the path to {100 * t:.1f} % of the load change")
    notes.extend(collapsed(model, here.q, here.effort, below=LITTLE))
    here.iterations = spent
    return here, Status.MAX_ITERATIONS if spent >= budget else last


def _fall_off(problem: Problem, found: Iterate, u: Array, budget: int) -> Iterate:
    """Push a body off an unstable equilibrium (a symmetric one has no other way to leave it), and let it fall."""
    near = pushed_off(problem, found, u)
    if near is None:
        return Iterate(found.q, found.effort, found.contacts, found.iterations)
    smoothly = not problem.rough
    return _fall(problem, near, u, np.zeros(problem.model.nv), min(budget, _FAR * _LAST), monotone=smoothly)


def _fall(problem: Problem, origin: Iterate, u: Array, offset: Array, budget: int, *, monotone: bool) -> Iterate:
    """Let the body fall to a stable equilibrium, then Newton's method."""

    def polish(near: Iterate, most: int) -> Iterate:
        return _newton(problem, near, u, offset, max_iterations=most, folding=True)

    return relax(problem, origin, u, offset, budget, polish=polish, monotone=monotone)


def _finish(
    problem: Problem,
    found: Iterate,
    status: Status,
    u: Array,
    gap_tolerance: float,
    notes: list[str],
    elapsed: float,
) -> State:
    model = problem.model
    # Fresh contacts show what penetrates; forces belong to the contacts that were solved with.
    fresh = problem.fresh(found.q, found.contacts)
    contacts = found.contacts if status.ok else fresh
    if not status.ok and contacts is not None and len(contacts):
        known = contacts.forces.any()
        notes.append(f"contact forces {'are not in balance' if known else 'were not found: zeros mean unknown'}")
    left, scale = unbalanced(problem, found.q, found.effort, u, contacts)
    residual = float(np.abs(left).max(initial=0.0)) / scale
    displacement = model.displacement(found.q)
    if status.ok and inverted(model, found.q):
        notes.append(INSIDE_OUT)
        status = Status.INVERTED
    if status.ok:
        slack = problem.slackable & (found.effort[problem.driven] <= 0.0)
        slack &= displacement[problem.driven] > u[problem.driven] + 1e-9 * problem.length
        if slack.any():
            names = np.array(model.robot.actuator_names)[problem.driven][slack]
            notes.append(f"slack: {', '.join(names)}")
            status = Status.SLACK if status is Status.CONVERGED else status
        if found.stable is None:
            notes.append("its stability could not be told")
        elif not found.stable:
            status = Status.UNSTABLE
        depth = problem.depth(found.q, fresh)
        if depth > gap_tolerance * problem.length:
            notes.append(f"penetration {depth:.2e} m")
            status = Status.PENETRATING
    return State(
        q=found.q,
        v=np.zeros(model.nv),
        u=u,
        effort=found.effort,
        displacement=displacement,
        contacts=problem.bent(found.q, contacts) if status.ok else contacts,
        status=status,
        residual=residual,
        iterations=found.iterations,
        elapsed=elapsed,
        notes=tuple(notes),
        factor=found.factor if status.ok else None,
    )
