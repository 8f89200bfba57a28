"""Where else to go when an inverse ends short of its targets: off a saddle, or from other starts.

A Gauss-Newton iteration ends where the cost is stationary; by symmetry that may be a saddle (a straight arm whose
target lies on its axis can only go there by bending to one side). Whether it is one is asked of the mechanics itself:
along directions in which the targets hardly move to first order, is there an equilibrium that costs less?
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.inverse.condense import with_springs
from pliant.inverse.iteration import condensed_at, solved_qpcc
from pliant.inverse.mechanics import Static
from pliant.inverse.nested import Equilibria
from pliant.inverse.qpcc import QPCC, QPCCSolution
from pliant.inverse.redundancy import contact_response
from pliant.inverse.work import Options, Work
from pliant.solve.commands import travel
from pliant.solve.newton import factorise_any
from pliant.solve.problem import Problem
from pliant.state import State

Array = np.ndarray
_PROBE = 0.02  # of the robot's size: how far away lower points are looked for
_MOST = 6  # directions looked along
_BENT = 0.3  # of the robot's size: how far an actuator alone moves the robot in another start
_TRUST = 0.6  # of the robot's size: how far a linearisation at another start is believed
_TIGHT = 1e-7  # of what is at play: multipliers above this hold their limit


def downhill(equilibria: Equilibria, work: Work) -> State | None:
    """An equilibrium near a stationary point that costs less, or None if the point is a minimum as far as one sees."""
    condensed, solution, problem = work.condensed, work.solution, work.problem
    if condensed is None or solution is None or problem is None or problem.rows_per_contact != 1:
        return None
    if not solution.status.success or not condensed.stable:
        return None
    setting, model = equilibria.setting, equilibria.setting.model
    rows = np.abs(condensed.now)
    here = State(work.q, np.zeros(model.nv), work.effort, work.effort, work.effort, contacts=work.contacts)
    cost, reach = equilibria.cost(here), _PROBE * setting.length
    base = condensed.step(solution.effort, solution.contact)
    best: State | None = None
    low, high = (np.asarray(b) for b in (problem.effort_min, problem.effort_max))
    most = _MOST // 2 if setting.obstacles else _MOST
    for along, push, moved in flat_directions(problem, solution, len(rows))[:most]:
        dq = condensed.step(solution.effort + along, solution.contact + push) - base
        size = travel(model, dq)
        if not 0.0 < size < np.inf:
            continue
        step = reach / size
        # bending over a length L takes a point off its tangent by a few d^2 / L; farther from flat than that it rises
        if 0.5 * (step * moved) ** 2 > 4.0 * float(np.linalg.norm(rows)) * reach**2 / setting.length:
            continue
        for way in (step, -step):
            effort = work.effort + np.clip(solution.effort + way * along, low, high) - solution.effort
            stroke = condensed.displacement.value(solution.effort + way * along, solution.contact + way * push)
            q = model.retract(work.q, way * dq)
            trial = equilibria.at(q, effort, work.contacts, stroke, follow=False)
            if trial.ok and equilibria.excess(trial) <= 1e-7:
                new = equilibria.cost(trial)
                if new < cost * (1.0 - 1e-6):
                    cost, best = new, trial
        if best is not None:
            break
    return best


def flat_directions(problem: QPCC, solution: QPCCSolution, rows_of_targets: int) -> list[tuple[Array, Array, float]]:
    """Directions of the efforts along the limits that hold, the flattest first.

    Each as (efforts (na,), contact forces (mc,), how much the target rows change); efforts have unit energy.
    """
    na = problem.da.size
    Z, _ = contact_response(problem, solution)
    rows = (problem.Wea + problem.Wec @ Z)[:rows_of_targets]  # what follows stands for curvature
    unit = 1.0 / np.sqrt(np.maximum(np.diag(problem.Waa), 1e-300))
    size = max(float(np.linalg.norm(solution.effector)) * float(np.abs(rows * unit).max(initial=0.0)), 1e-300)
    strokes = (problem.Waa + problem.Wac @ Z) * unit
    tight = [np.eye(na)[np.abs(solution.dual_effort) * unit > _TIGHT * size]]
    tight.append(np.eye(na)[np.asarray(problem.effort_min) == np.asarray(problem.effort_max)])
    held_strokes = np.abs(solution.dual_displacement) / unit > _TIGHT * size
    held_strokes |= np.asarray(problem.displacement_min) == np.asarray(problem.displacement_max)
    tight.append(strokes[held_strokes])
    C, d = np.asarray(problem.C), np.asarray(problem.d)
    if len(d):
        value = C[:, :na] @ solution.effort + C[:, na:] @ solution.contact
        size_of_rows = np.abs(C) @ np.abs(np.concatenate([solution.effort, solution.contact])) + np.abs(d)
        tight.append(((C[:, :na] + C[:, na:] @ Z) * unit)[value - d <= 1e-9 * size_of_rows])
    normals = np.vstack(tight)
    free = np.eye(na)
    if len(normals):
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1), 1e-300)[:, None]
        _, values, V = np.linalg.svd(normals)
        free = V[int((values > 1e-9).sum()) :].T
    if not free.shape[1]:
        return []
    _, values, V = np.linalg.svd((rows * unit) @ free)
    change = np.concatenate([values, np.zeros(free.shape[1] - len(values))])
    out = []
    for v, moved in zip(V[::-1], change[::-1]):
        along = unit * (free @ v)
        out.append((along, Z @ along, float(moved)))
    return out


def foreseen(setting: Problem, mechanics: Any, start: State, options: Options) -> float:
    """The cost that the linearisation at a start foresees, as far as it can be trusted; inf if it has no answer."""
    work = Work(start.q, start.effort, start.contacts, proximal=1e-9)
    condensed = condensed_at(setting, mechanics, work, options)
    if condensed is None:
        return np.inf
    _, solution, effort, contact = solved_qpcc(condensed, work, options, 0.0)
    if not solution.status.success:
        return np.inf
    size = travel(setting.model, condensed.step(effort, contact))
    part = min(1.0, _TRUST * setting.length / max(size, 1e-300))
    rows = (1.0 - part) * condensed.now + part * solution.effector[: len(condensed.now)]
    must = (1.0 - part) * condensed.exact_now + part * condensed.exact.value(effort, contact)
    return 0.5 * float(rows @ rows + 1e6 * (must @ must))


def other_starts(equilibria: Equilibria) -> Iterator[State]:
    """Equilibria at rest, and with one actuator pulled alone as far as it may and as far as bends the robot well.

    Those come first that bring the targets nearest to first order.
    """
    setting, options = equilibria.setting, equilibria.options
    model: Any = setting.model
    rest = equilibria.at(model.rest, np.zeros(model.nu), None, follow=True)
    if not rest.ok:
        return
    if options.previous is not None and not np.array_equal(options.previous.q, rest.q):
        yield rest
    _, K = Static(model, options.closed).linearise(rest.q, rest.effort)
    try:
        pull = factorise_any(with_springs(model, rest.q, K)[0]).solve(model.actuation(rest.q, rest.effort))
    except NotPositiveDefinite:  # only contacts hold it
        return
    low, high = options.bounds["effort"]
    slides = {i for i, a in enumerate(model.robot.actuators) if a.kind == "slide"}
    fixed = {*options.closed, *options.fixed_effort, *options.fixed_displacement, *slides}
    wanted = [t.evaluate(model, rest.q, rest.effort, rest.contacts) for t in options.targets]
    seen = [(r.value * r.weight, r.weight[:, None] * (r.jacobian @ pull)) for r in wanted if r.jacobian is not None]
    starts: list[tuple[float, int, float]] = []
    for i in range(model.nu):
        size = travel(model, pull[:, i])
        for way in () if i in fixed else (1.0, -1.0):
            value = float(np.clip(way * _BENT * setting.length / max(size, 1e-300), low[i], high[i]))
            if value != rest.effort[i]:
                foreseen = sum(float(((v + J[:, i] * value) ** 2).sum()) for v, J in seen)
                starts.append((foreseen, i, value))
    for _, i, value in sorted(starts):
        effort = rest.effort.copy()
        for j, given in options.fixed_effort.items():
            effort[j] = given
        effort[i] = value
        start = equilibria.at(rest.q, effort, None, follow=True)
        if start.ok:
            yield start
