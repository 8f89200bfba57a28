"""invert: the actuation that brings a robot where it should be, through contact if there is any."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pliant.algebra.threads import one_blas_thread
from pliant.checks import count as count_of
from pliant.checks import finite, instance, positive, several
from pliant.errors import ArgumentError
from pliant.inverse.answer import MET, are_met, broken, command_of, verdict
from pliant.inverse.condense import Condensed
from pliant.inverse.confirm import confirmed
from pliant.inverse.iteration import condensed_at, iterate, solved_qpcc
from pliant.inverse.limits import Limit, actuator_limits, hold_rates, joints, own_bounds, split
from pliant.inverse.mechanics import Implicit, Static
from pliant.inverse.nested import Curvature, Equilibria, Proposal, descend
from pliant.inverse.qpcc_problem import held_response
from pliant.inverse.restarts import downhill, foreseen, other_starts
from pliant.inverse.slack import Hanging
from pliant.inverse.targets import Target
from pliant.inverse.work import Options, Work
from pliant.models.contract import Model
from pliant.solve.commands import check_state
from pliant.solve.equilibrium import settle
from pliant.solve.problem import Problem
from pliant.state import Command, State, Status

Array = np.ndarray
_FAST = 25  # all-at-once iterations before the safe, nested ones take over
_WORTH = 0.1  # of the cost of the start: an end that much better is worth a long way to an equilibrium
_BETTER = 0.999  # of the cost: what ends below that elsewhere is another end, not the same one to rounding
_GAINLESS = 8  # iterations among obstacles in which neither cost nor steps became smaller, before that


@one_blas_thread()
def invert(
    model: Model,
    state: State | None = None,
    targets: Target | Sequence[Target] = (),
    *,
    limits: Sequence[Limit] = (),
    obstacles: Sequence[Any] = (),
    prescribed: Mapping[str, float] | None = None,
    iterations: int = 60,
    search: Literal["auto", "local", "multistart", "global"] = "auto",
    friction: Literal["auto", "none", "stick"] = "auto",
    redundancy: Literal["least change", "least effort"] = "least change",
    own_limits: bool = True,
    dynamic: bool = False,
    dt: float = np.inf,
    alarm: float | None = None,
    problem: Problem | None = None,
    strict: bool = False,
) -> Command:
    """Find the actuation that brings the targets about.

    The mechanics is condensed onto actuators, targets and contacts from one factorisation; the small QP (with
    contact: the QPCC) gives new efforts and contact forces; this is repeated until the pose no longer moves, so the
    result satisfies the nonlinear equilibrium and depends on no time step. Efforts are in N and Pa.

    Args:
        model: any mechanical model.
        state: where the robot is now (warm start); the rest pose if None.
        targets: what is wanted.
        limits: what is allowed, in addition to the limits that the actuators carry.
        obstacles: contacts with these may be used.
        prescribed: actuators that are not solved for: name -> value in the unit of its drive. A cable whose
            displacement is prescribed may go slack, and a note says so.
        iterations: linearisations allowed; 1 for control loops (status SINGLE).
        search: how hard to look. "local" goes downhill from `state` and never elsewhere (paths, loops). "auto" does so
            first; where that ends short of the targets, it also begins at a few other poses (at rest, one actuator
            pulled) that promise more, for about as many linearisations again, and a note says if one was better.
            "multistart" tries all of those poses, and many contact sets in each linearisation; "global" finds the best
            contact set of each with a proof (small problems).
        friction: "none" ignores friction; "stick" lets contacts stick whatever friction there is (notes tell what they
            need); "auto" lets them stick if an obstacle has friction, and tests whether that bears the answer.
        redundancy: which of several solutions: closest to the present one, or with the least actuator energy. Neither
            moves the targets.
        own_limits: hold the limits that the actuators carry.
        dynamic: solve over one implicit time step of length dt instead of the static equilibrium.
        dt: time since `state` [s], for rate limits and for the dynamic mode.
        alarm: distance below which a pair is treated as a possible contact [m].
        problem: a prepared `Problem` (obstacles and alarm are then taken from it), to save set-up time in loops.
        strict: raise `SolveError` if the solve does not succeed.

    Returns:
        Command: actuation, predicted state, target errors, status, and the last QPCC with its solution. The residual of
        the state is the Newton correction that remains, relative to the size of the robot; with `iterations=1` it is
        the step that was taken (what remains is of the order of its square), since looking would cost another assembly.
    """
    begin = time.perf_counter()
    wanted = several("targets", targets, "evaluate", "PointTarget, ...")
    if not wanted:
        raise ArgumentError("targets", "nothing is wanted", "at least one target")
    limits = several("limits", limits, "evaluate", "EffortLimit, ...")
    iterations = count_of("iterations", iterations)
    if problem is not None and not (isinstance(problem, Problem) and problem.model is model):
        raise ArgumentError("problem", f"{type(problem).__name__} of another model", "a Problem of this model")
    setting = problem or Problem(model, obstacles, alarm=alarm)
    if friction == "none" and setting.rough:
        setting = Problem(model, [replace(o, friction=0.0) for o in setting.obstacles], alarm=setting.alarm)
    check_state(model, state)
    dt = np.inf if dt == np.inf else positive("dt", dt)
    if dynamic and dt == np.inf:
        raise ArgumentError("dt", f"{dt}", "the time step of the dynamic mode [s]")
    if search not in ("auto", "local", "multistart", "global"):
        raise ArgumentError("search", f"{search!r}", "'auto', 'local', 'multistart' or 'global'")
    if redundancy not in ("least change", "least effort"):
        raise ArgumentError("redundancy", f"{redundancy!r}", "'least change' or 'least effort'")
    if model.nu == 0:
        raise ArgumentError("model", "its robot has no actuators", "a robot with at least one actuator")
    sticking = _sticking(friction, setting)
    fixed_effort, fixed_displacement = _prescribed(model, {} if prescribed is None else prescribed)
    single = iterations == 1
    # Single steps do not look back at limits, so the actuators' own need not become objects.
    own = actuator_limits(model.robot, rates=state is not None and dt < np.inf) if own_limits and not single else []
    allowed = [*own, *limits]
    closed = {i: fixed_displacement.pop(i, value) for i, value in joints(model.robot).items()}
    mechanics: Any = Implicit(model, state, float(dt)) if dynamic else Static(model, closed)
    work = _start(setting, state, fixed_effort, closed)
    setting.begin(work.q, work.contacts)
    bounds, rest = split(limits, model.robot, state, dt, own_bounds(model.robot) if own_limits else None)
    conflicts = hold_rates(bounds, limits, model.robot, state, dt, own=own_limits)
    for i, value in closed.items():
        bounds["displacement"][0][i] = bounds["displacement"][1][i] = value
    options = Options(
        wanted,
        allowed,
        bounds,
        rest,
        state,
        dt,
        fixed_effort,
        fixed_displacement,
        "local" if search == "auto" else search,
        sticking,
        redundancy == "least effort",
        closed,
        coulomb=sticking and friction == "auto",
    )
    status, count = _run(setting, mechanics, work, options, iterations)
    hanging = Hanging.of(setting, fixed_displacement)
    slack: frozenset[int] = frozenset()
    if hanging.given and hanging.misjudged(work, slack):
        work, mechanics, options, slack, status, more = _loosened(hanging, mechanics, work, options, iterations, status)
        count += more
    if search != "local" and not (iterations <= _FAST or dynamic or status is Status.CONVERGED):
        budget = max(2 * count, _FAST) if search == "auto" else None
        work, status, more = _elsewhere(setting, mechanics, work, options, iterations, status, budget)
        count += more
    if setting.obstacles and not (single or dynamic):
        status = confirmed(setting, work, options, status)
    if not (single or status.ok or work.notes):
        work.notes.extend(broken(setting, options, work))
    if status is Status.MAX_ITERATIONS:
        work.notes.append(f"{iterations} iterations were not enough: allow more, or go on from the state given here")
    work.notes.extend(conflicts)
    command = command_of(setting, mechanics, work, options, status, count, time.perf_counter() - begin)
    if slack:
        u, notes = hanging.commanded(command.u, slack), (*command.notes, *hanging.notes(slack))
        command = replace(command, u=u, notes=notes, state=command.state.but(u=u))
    return command.require() if strict else command


def _loosened(
    hanging: Hanging, mechanics: Any, work: Work, options: Options, iterations: int, status: Status
) -> tuple[Work, Any, Options, frozenset[int], Status, int]:
    """Prescribed cables that do not pull are let go, those that then come taut are held again; the best of it all."""
    setting, count = hanging.setting, 0
    equilibria = Equilibria(setting, options)

    def rank(at: Work, ended: Status, slack: frozenset[int]) -> tuple[bool, bool, bool, float]:
        wrong = bool(hanging.misjudged(at, slack))  # then it is no answer, however near it came
        return wrong, not (ended.ok or ended is Status.SINGLE), *equilibria.rank(at)  # type: ignore[arg-type]

    slack: frozenset[int] = frozenset()
    tried, best = {slack}, (work, mechanics, options, slack, status)
    while len(tried) <= 2 * len(hanging.given) + 1:
        slack = slack ^ hanging.misjudged(work, slack)
        if slack in tried:
            break
        tried.add(slack)
        other = hanging.options(options, slack)
        work = _start(setting, options.previous, other.fixed_effort, options.closed)
        mechanics = Implicit(setting.model, options.previous, options.dt) if mechanics.inertial else mechanics
        status, more = _run(setting, mechanics, work, other, iterations)
        count += more
        if rank(work, status, slack) < rank(best[0], best[4], best[3]):
            best = work, mechanics, other, slack, status
        if status is Status.CONVERGED and not hanging.misjudged(work, slack):
            break
    return *best, count


def _run(setting: Problem, mechanics: Any, work: Work, options: Options, iterations: int) -> tuple[Status, int]:
    """Iterate from where `work` is: all at once while that works, nested where it does not. Status and iterations."""
    begun = work.q, work.effort, work.contacts
    # Contacts are met one after the other: with obstacles the iteration may go on as long as it gains something.
    fast = iterations if mechanics.inertial or setting.obstacles else min(iterations, _FAST)
    status, count, gained = _fast(setting, mechanics, work, options, fast, careful=iterations > 1)
    if iterations == 1 or mechanics.inertial:
        return status, count
    if setting.obstacles and work.dared and not (status.ok or gained or status is Status.RELAXED):
        # plain steps led into contacts where none would do: once more, with all of them tested
        work.go(*begun)
        work.daring = False
        status, more, _ = _fast(setting, mechanics, work, options, fast, careful=True)
        count += more
    if status in (Status.UNREACHABLE, Status.LOCAL) and _went_away(setting, options, begun, work):
        status = Status.STALLED  # on another branch
    if not status.ok and status is not Status.RELAXED and iterations > _FAST:
        status, more = _nested(setting, work, options, iterations, begun)
        count += more
    vain = status is Status.RELAXED or not status.ok
    if vain and (soft := _softened(options)) is not None and _missed(setting, work, options):
        # limits were given up for nothing, or no step was found: hold the limits, and come as near as they let
        work.go(*begun)
        work.begin_anew()
        status, more = _run(setting, mechanics, work, soft, iterations)
        work.notes.append("the equalities cannot hold within the limits; this is the nearest that was found")
        return status, count + more
    for _ in range(1 if setting.obstacles else 3):  # each look costs several equilibria
        if status not in (Status.UNREACHABLE, Status.LOCAL):
            break
        found, more = _looked_around(setting, work, options, iterations)
        if found is None:
            break
        status, count = found, count + more
    return status, count


def _fast(
    setting: Problem, mechanics: Any, work: Work, options: Options, most: int, *, careful: bool
) -> tuple[Status, int, bool]:
    """The iteration of everything at once: status, iterations, and whether it came much nearer.

    With obstacles it ends where neither the cost nor the steps become smaller for a while.
    """
    count = _approach(setting, mechanics, work, options, most) if careful else 0
    past: list[tuple[float, float]] = []

    def gained() -> bool:
        return len(past) > 0 and min(cost for cost, _ in past) < 0.5 * past[0][0]

    for _ in range(most):
        count += 1
        done = iterate(setting, mechanics, work, options, careful=careful)
        if done is not None:
            return done, count, gained()
        if mechanics.inertial or not setting.obstacles or work.condensed is None:
            continue
        cost = float((work.condensed.now**2).sum() + 1e6 * (work.condensed.exact_now**2).sum())
        past.append((cost, work.moved))
        before = past[-1 - _GAINLESS] if len(past) > _GAINLESS else (np.inf, np.inf)
        met = cost <= (MET * setting.length) ** 2  # what is left is balance
        if not met and cost >= 0.8 * before[0] and work.moved >= 0.7 * before[1]:
            return Status.STALLED, count, gained()
    return Status.MAX_ITERATIONS, count, gained()


def _elsewhere(
    setting: Problem, mechanics: Any, work: Work, options: Options, iterations: int, status: Status, budget: int | None
) -> tuple[Work, Status, int]:
    """Look for a better end from other starts, until the targets are met.

    With a budget of linearisations it is half spent on looking at starts, then on going on from the two best of them.
    """
    equilibria, count, better = Equilibria(setting, options), 0, False
    starts: Iterable[State] = other_starts(equilibria)
    if budget is not None:
        seen: list[tuple[float, int, State]] = []
        for start in starts:
            count += start.iterations + 1
            seen.append((foreseen(setting, mechanics, start, options), len(seen), start))
            if count > 0.5 * budget:
                break
        starts = [start for _, _, start in sorted(seen)[:2]]
    for start in starts:
        if budget is not None and count > budget:
            break
        other = Work(start.q, start.effort, start.contacts, proximal=1e-9)
        if not options.sticking:  # contacts that stick hold to where they were at the given start
            setting.begin(other.q, other.contacts)
        ended, more = _run(setting, mechanics, other, options, iterations)
        count += more
        over, cost = equilibria.rank(work)  # type: ignore[arg-type]
        if (_ill(ended), *equilibria.rank(other)) < (_ill(status), over, _BETTER * cost):  # type: ignore[arg-type]
            work, status, better = other, ended, True
        if status is Status.CONVERGED:
            break
    if better:
        work.notes.append("found from another start than the given one, which led to less")
    return work, status, count


def _ill(status: Status) -> int:
    """How ill an end is: 0 with an answer, 1 with limits given up, 2 without balance."""
    return 0 if status.ok else 1 if status is Status.RELAXED else 2


def _approach(setting: Problem, mechanics: Any, work: Work, options: Options, most: int) -> int:
    """Come near with equalities as objectives first: far away, they may contradict the limits. Returns the
    iterations."""
    soft = _softened(options)
    if soft is None:
        return 0
    count = 0
    for _ in range(most):
        count += 1
        if iterate(setting, mechanics, work, soft, careful=True) is not None:
            break
    work.begin_anew()
    return count


def _softened(options: Options) -> Options | None:
    """The same with equalities as objectives; None if there are no equalities."""
    wanted: list[Any] = list(options.targets)
    if not any(getattr(t, "exact", False) for t in wanted):
        return None
    return replace(options, targets=[replace(t, exact=False) if getattr(t, "exact", False) else t for t in wanted])


def _missed(setting: Problem, work: Work, options: Options) -> bool:
    """Are equalities among the targets not met?"""
    return not are_met(setting, work, [t for t in options.targets if getattr(t, "exact", False)])


def _went_away(setting: Problem, options: Options, begun: tuple[Any, Any, Any], work: Work) -> bool:
    """Did the iteration end farther from the targets than it began?"""
    equilibria = Equilibria(setting, options)
    q, effort, contacts = begun
    first = Work(q, effort, setting.fresh(q, None) if contacts is None else contacts, proximal=1e-9)
    return equilibria.cost(work) > 1.01 * equilibria.cost(first)  # type: ignore[arg-type]


def _sticking(friction: str, setting: Problem) -> bool:
    if friction not in ("auto", "none", "stick"):
        raise ArgumentError("friction", f"{friction!r}", "'auto', 'none' or 'stick'")
    return friction == "stick" or (friction == "auto" and setting.rough)


def _prescribed(model: Any, given: Mapping[str, float]) -> tuple[dict[int, float], dict[int, float]]:
    effort: dict[int, float] = {}
    displacement: dict[int, float] = {}
    for name, value in instance("prescribed", given, Mapping).items():
        i = model.robot.actuator_index(name)
        number = finite(f"prescribed[{name!r}]", value)
        (effort if model.robot.actuators[i].drive == "effort" else displacement)[i] = number
    if set(joints(model.robot)) | set(effort) | set(displacement) == set(range(model.nu)):
        raise ArgumentError("prescribed", "every actuator is prescribed", "leave at least one to solve for")
    return effort, displacement


def _start(setting: Problem, state: State | None, fixed: dict[int, float], closed: dict[int, float]) -> Work:
    model = setting.model
    if state is None and closed:
        # at rest a loop may be open: there it is not yet the robot
        first = settle(setting, model.rest, np.zeros(model.nu), held=closed)
        state = first if first.ok else None
    q = np.array(model.rest if state is None else state.q, dtype=float)
    effort = np.zeros(model.nu) if state is None else np.array(state.effort, dtype=float)
    for i, value in fixed.items():
        effort[i] = value
    return Work(q, effort, None if state is None else state.contacts, proximal=1e-9)


def _nested(
    setting: Problem, work: Work, options: Options, iterations: int, start: tuple[Array, Array, Any]
) -> tuple[Status, int]:
    """The safe iteration, from the equilibrium nearest to where the fast one ended, or to its start."""
    equilibria = Equilibria(setting, options)
    mechanics = Static(setting.model, options.closed)
    # The fast iteration may have ended on a branch that leads nowhere: it must not be farther away than the start.
    first = Work(*start, proximal=1e-9)
    starts: list[State] = []
    for far in (not setting.obstacles, True):  # among obstacles long ways are dear: gone only where nothing else is
        ended = equilibria.at(work.q, work.effort, work.contacts, setting.model.displacement(work.q), follow=far)
        spare = far and ended.ok and bool(setting.obstacles)
        begun = ended if spare else equilibria.at(first.q, first.effort, first.contacts, follow=far)
        if begun.ok and not ended.ok and not far and equilibria.cost(ended) < _WORTH * equilibria.cost(begun):
            ended = equilibria.at(work.q, work.effort, work.contacts, follow=True)
        starts = [state for state in (ended, begun) if state.ok]
        if starts:
            break
    if not starts:
        return begun.status, 0

    curvature = Curvature()

    def linearised(state: State) -> Condensed:
        work.go(state.q, state.effort, state.contacts)
        work.moved = 0.0
        condensed = condensed_at(setting, mechanics, work, options)
        assert condensed is not None  # an equilibrium is admissible
        work.bend = None
        if condensed.now.size and not options.least and not options.sticking:
            unit = 1.0 / np.sqrt(np.maximum(np.diag(condensed.displacement.effort), 1e-300))
            rows, touching = _total_rows(condensed, work)
            work.bend = curvature.learn(state.effort, rows, condensed.now, unit, touching)
        return condensed

    def solved(condensed: Condensed, proximal: float) -> Proposal:
        work.proximal = proximal
        qpcc, solution, effort, contact = solved_qpcc(condensed, work, options, 0.0)
        force = condensed.true_contact(effort, contact)
        found = replace(solution, effort=condensed.true_effort(effort, contact), contact=force)
        stroke = condensed.displacement.value(effort, contact)
        must = 1e6 * float((condensed.exact.value(effort, contact) ** 2).sum())
        foreseen = 0.5 * (float((solution.effector**2).sum()) + must)
        return Proposal(qpcc, found, condensed.step(effort, contact), stroke, foreseen)

    state, proposal, work.condensed, status, count = descend(
        equilibria, min(starts, key=equilibria.rank), linearised, solved, iterations=iterations
    )
    work.bend = None
    if proposal is not None:
        work.problem, work.solution = proposal.problem, proposal.solution
    work.go(state.q, state.effort, state.contacts)
    if status is Status.CONVERGED:
        status = verdict(setting, work, options)
    return status, count


def _total_rows(condensed: Condensed, work: Work) -> tuple[Array, bytes]:
    """Derivatives of the target rows by efforts while the contacts that press stay closed (m, na), and which do."""
    if work.contacts is None or not (work.contacts.forces > 0.0).any():
        return condensed.objective.effort, b""
    held = np.flatnonzero(work.contacts.forces > 0.0)
    W, across = condensed.contact.contact[np.ix_(held, held)], condensed.contact.effort[held]
    response = held_response(W, across)
    rows = condensed.objective.effort - condensed.objective.contact[:, held] @ response
    return rows, work.contacts.key[held].tobytes()


def _looked_around(setting: Problem, work: Work, options: Options, iterations: int) -> tuple[Status | None, int]:
    """Leave a point where the cost is stationary but no minimum; (None, 0) if it is one."""
    lower = downhill(Equilibria(setting, options), work)
    if lower is None:
        return None, 0
    work.go(lower.q, lower.effort, lower.contacts)
    return _nested(setting, work, options, iterations, (lower.q, lower.effort, lower.contacts))
