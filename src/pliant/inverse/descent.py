"""Inverse kinematics by repeated forward kinematics: the source's gradient descent, a workspace, and path following.

The descent (Algorithm 3 of G. Fang's thesis, repaired) needs nothing but a forward solver; it is here as a baseline and
for objectives without derivatives. `method="gauss-newton"` uses exact sensitivities instead of differences, and
`invert` (the default elsewhere) solves actuation and equilibrium together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import lsq_linear

from pliant.algebra.factorisation import NotPositiveDefinite
from pliant.checks import count as count_of
from pliant.checks import non_negative, numbers
from pliant.errors import ArgumentError
from pliant.solve.flex import flex
from pliant.solve.forked import forked
from pliant.solve.newton import factorise_any
from pliant.solve.sensitivity import sensitivity
from pliant.solve.tracing import Tracer
from pliant.state import State, Status

Array = np.ndarray
Forward = Callable[[Array, State | None], State]
Objective = Callable[[State], float]


#: A step that leaves less than this part of the error may be followed by one with the same factor.
_TRUSTED = 0.5


@dataclass(frozen=True, eq=False)
class Descent:
    """What a descent found.

    Attributes:
        u: command (nu,).
        state: the state it leads to.
        objective: its objective.
        history: objective after each accepted iteration, the start included.
        iterations: accepted iterations.
        evaluations: forward solves.
        status: CONVERGED below the threshold, LOCAL where no step helps, else MAX_ITERATIONS.
        elapsed: seconds.
    """

    u: Array
    state: State
    objective: float
    history: tuple[float, ...]
    iterations: int
    evaluations: int
    status: Status
    elapsed: float


def forward_of(model: Any, *, mix: Array | None = None, **options: Any) -> Forward:
    """The forward solver of a geometric model: coordinates c and warm start to the state under the command mix @ c.

    With cables that pass several joints, coordinates per joint keep every cable taut (`mix` lower triangular ones).
    """
    return lambda c, start: flex(model, c if mix is None else mix @ c, start=start, **options)


def _bounds(bounds: tuple[Array, Array], shape: tuple[int, ...]) -> tuple[Array, Array]:
    low, high = (np.broadcast_to(numbers("bounds", b), shape) for b in bounds)
    if not (low <= high).all():
        raise ArgumentError("bounds", "a lower bound exceeds the upper one", "low <= high")
    return low, high


def _waypoints(argument: str, path: Array) -> Array:
    """Positions (n, 3), or an ArgumentError."""
    points = np.atleast_2d(numbers(argument, path))
    if points.ndim != 2 or points.shape[1] != 3 or not len(points):
        raise ArgumentError(argument, f"shape {np.shape(path)}", "positions [m] (3,) or (n, 3), at least one")
    return points


def _axes(axes: Sequence[int]) -> list[int]:
    chosen = list(axes)
    if not chosen or not set(chosen) <= {0, 1, 2}:
        raise ArgumentError("axes", f"{tuple(chosen)}", "some of 0, 1 and 2")
    return chosen


def steepest_descent(
    forward: Forward,
    objective: Objective,
    start: Array,
    bounds: tuple[Array, Array],
    *,
    threshold: float,
    state: State | None = None,
    scale: Array | float | None = None,
    difference: float = 1e-3,
    iterations: int = 30,
    shrink: float = 0.1,
    expansions: int = 9,
) -> Descent:
    """Minimise an objective over the actuation by central differences and a soft line search (shrink, then expand).

    Args:
        forward: command and warm start to state.
        objective: of a state; for positions the squared distance in mm^2 keeps the source's first step length sensible.
        start: first command (nu,).
        bounds: least and largest command; nothing outside is ever evaluated, differences are one-sided there.
        threshold: objective at which to stop (the square of the wanted distance, not the distance).
        state: a state to start the first solve from.
        scale: unit of each command in which gradients are taken; the range by default.
        difference: step of the differences, in units of `scale`.
        iterations: most iterations.
        shrink: factor by which the step is shortened.
        expansions: most lengthenings per iteration.
    """
    begin = time.perf_counter()
    low, high = _bounds(bounds, np.shape(start))
    unit = np.broadcast_to(np.asarray(high - low if scale is None else scale, float), np.shape(start))
    u = np.clip(np.asarray(start, float), low, high)
    count = 0

    def evaluate(candidate: Array, warm: State | None) -> tuple[float, State]:
        nonlocal count
        count += 1
        found = forward(candidate, warm)
        return (objective(found) if found.ok else np.inf), found

    value, here = evaluate(u, state)
    history = [value]
    status = Status.MAX_ITERATIONS
    for _ in range(iterations):
        if value <= threshold:
            status = Status.CONVERGED
            break
        gradient = np.zeros(len(u))
        for i in range(len(u)):
            ends = []
            for sign in (1.0, -1.0):
                moved = u.copy()
                moved[i] = np.clip(u[i] + sign * difference * unit[i], low[i], high[i])
                ends.append((moved[i], value if moved[i] == u[i] else evaluate(moved, here)[0]))
            span = ends[0][0] - ends[1][0]
            gradient[i] = (ends[0][1] - ends[1][1]) / span * unit[i] if span > 0 else 0.0
        step = 1.0
        best: tuple[float, State, Array] | None = None
        while step > 1e-8:
            trial = np.clip(u - step * gradient * unit, low, high)
            new, there = evaluate(trial, here)
            if new < value:
                best = (new, there, trial)
                break
            step *= shrink
        if best is None:
            status = Status.LOCAL
            break
        length = step
        for _ in range(expansions):
            trial = np.clip(u - (length + step) * gradient * unit, low, high)
            new, there = evaluate(trial, best[1])
            if not new < best[0]:
                break
            best, length = (new, there, trial), length + step
        value, here, u = best
        history.append(value)
    else:
        status = Status.CONVERGED if value <= threshold else Status.MAX_ITERATIONS
    elapsed = time.perf_counter() - begin
    return Descent(u, here, value, tuple(history), len(history) - 1, count, status, elapsed)


def gauss_newton(
    model: Any,
    point: str,
    target: Array,
    start: Array,
    bounds: tuple[Array, Array],
    *,
    threshold: float,
    state: State | None = None,
    forward: Forward | None = None,
    iterations: int = 30,
    axes: Sequence[int] = (0, 1, 2),
    mix: Array | None = None,
) -> Descent:
    """Bring a point to a position by damped Gauss-Newton steps with exact sensitivities, within bounds.

    Args:
        model: the model.
        point: name of the point.
        target: wanted position [m] (3,).
        start: first command (nu,).
        bounds: least and largest command.
        threshold: distance at which to stop [m].
        state: a state to start the first solve from.
        forward: forward solver; `flex` by default.
        iterations: most iterations.
        axes: which coordinates count (two for planar robots).
        mix: command = mix @ coordinates; the coordinates are the command if None.
    """
    begin = time.perf_counter()
    solve = forward or forward_of(model, mix=mix)
    low, high = _bounds(bounds, np.shape(start))
    unit = np.maximum(high - low, 1e-300)
    chosen, target = _axes(axes), _waypoints("target", target)[0]
    non_negative("threshold", threshold)
    u = np.clip(np.asarray(start, float), low, high)
    # the state given is often the answer of the waypoint before, at this very command
    known = state is not None and state.ok and np.array_equal(state.u, u if mix is None else mix @ u)
    here = state if known and state is not None else solve(u, state)
    count = 0 if known else 1
    error = (np.asarray(target, float) - model.locate(here, point).position)[chosen]
    history = [float(np.linalg.norm(error))]
    damping, gain, status = 1e-6, 0.0, Status.MAX_ITERATIONS
    for _ in range(iterations):
        if history[-1] <= threshold:
            status = Status.CONVERGED
            break
        nearby = here.factor is None and "factor" in here.memory and gain < _TRUSTED
        # a factor from next door is good enough to choose a step by; where that step disappoints, the exact one decides
        here = here if nearby else _with_factor(model, here)
        J = sensitivity(model, here.but(factor=here.memory["factor"]) if nearby else here).of(point)[3:][chosen]
        J = (J if mix is None else J @ mix) * unit
        improved = False
        for _ in range(1 if nearby else 6):
            step = bounded_step(J, error, damping, (low - u) / unit, (high - u) / unit)
            trial = np.clip(u + step * unit, low, high)
            there = solve(trial, here)
            count += 1
            new = (np.asarray(target, float) - model.locate(there, point).position)[chosen]
            if there.ok and np.linalg.norm(new) < history[-1]:
                improved = True
                break
            damping = max(10.0 * damping, 1e-4)
        stuck = not improved or bool(np.abs(trial - u).max() < 1e-9 * unit.max())
        if nearby and stuck:
            gain = 1.0
            continue
        if stuck:
            status = Status.UNREACHABLE
            break
        gain = float(np.linalg.norm(new)) / history[-1]
        u, here, error = trial, there, new
        history.append(float(np.linalg.norm(new)))
        damping = max(0.1 * damping, 1e-9)
        if gain > 0.999 and not nearby:
            status = Status.UNREACHABLE
            break
    if history[-1] <= threshold:
        status = Status.CONVERGED
    elapsed = time.perf_counter() - begin
    return Descent(u, here, history[-1], tuple(history), len(history) - 1, count, status, elapsed)


def _with_factor(model: Any, state: State) -> State:
    """The state with the factor of its stiffness: the sensitivities need it, and the next solve begins with it."""
    if state.factor is not None:
        return state
    try:
        factor = factorise_any(model.stiffness(state.q, state.effort))
    except NotPositiveDefinite:
        return state
    return state.but(factor=factor, memory={**state.memory, "factor": factor, "factor of": model})


def bounded_step(J: Array, error: Array, damping: float, low: Array, high: Array) -> Array:
    """argmin |J s - error|^2 + damping |J|^2 |s|^2 within bounds (bounded least squares, exact)."""
    n = J.shape[1]
    size = float((J * J).sum()) / n
    A = np.vstack([J, np.sqrt(max(damping * size, 1e-300)) * np.eye(n)])
    b = np.concatenate([error, np.zeros(n)])
    width = 1e-12 * (1.0 + np.abs(high - low))  # the solver wants an interior
    found = lsq_linear(A, b, bounds=(low, np.maximum(high, low + width)), method="bvls")
    return np.clip(found.x, low, high)


@dataclass(frozen=True, eq=False)
class Workspace:
    """Samples of the forward kinematics.

    Attributes:
        u: coordinates of the commands (n, m).
        points: where the point was [m] (n, 3).
        states: the states, for warm starts.
        elapsed: seconds.
    """

    u: Array
    points: Array
    states: list[State] = field(repr=False)
    elapsed: float = 0.0

    def nearest(self, position: Array) -> int:
        """Index of the sample nearest to a position [m]."""
        return int(np.argmin(((self.points - np.asarray(position, float)) ** 2).sum(axis=1)))

    @property
    def width(self) -> float:
        """Largest extent of the samples' bounding box [m]."""
        return float(np.ptp(self.points, axis=0).max())


def sample_workspace(
    model: Any,
    point: str,
    bounds: tuple[Array, Array],
    count: int = 5,
    *,
    forward: Forward | None = None,
    workers: int = 1,
    mix: Array | None = None,
) -> Workspace:
    """Sample the workspace of a point on a grid of commands, each solve starting from its neighbour.

    Args:
        model: the model.
        point: name of the point.
        bounds: least and largest command (nu,) each.
        count: samples per actuator.
        forward: forward solver; by default `flex` from neighbour to neighbour with `Tracer`.
        workers: processes that share the grid (more than one needs an operating system that can fork).
        mix: command = mix @ coordinates.
    """
    begin = time.perf_counter()
    low, high = _bounds(bounds, np.shape(bounds[0]))
    count_of("count", count)
    model.locate(model.rest, point)  # refuses a name that it does not know, before any work
    axes = [np.linspace(a, b, count) for a, b in zip(low, high)]
    order = boustrophedon((count,) * len(axes))
    commands = np.array([[a[i] for a, i in zip(axes, index)] for index in order])
    chunks = np.array_split(commands, max(1, workers))

    def chain(part: Array) -> list[State | None]:
        return _chain(forward, part) if forward is not None else _traced(model, part if mix is None else part @ mix.T)

    states = [s for part in forked(chain, chunks) for s in part]
    good = [i for i, s in enumerate(states) if s is not None]
    found = [s for s in states if s is not None]
    points = np.array([model.locate(s, point).position for s in found]).reshape(-1, 3)
    return Workspace(commands[good], points, found, time.perf_counter() - begin)


def _chain(solve: Forward, commands: Array) -> list[State | None]:
    """States of commands in a row, each started from the last; None where the solve failed."""
    out: list[State | None] = []
    state: State | None = None
    for u in commands:
        found = solve(u, state)
        if not found.ok and state is not None:
            found = solve(u, None)
        if found.ok:
            state = found
        out.append(found.but(factor=None, memory={}, contacts=None) if found.ok else None)
    return out


def _traced(model: Any, commands: Array) -> list[State | None]:
    """As `_chain`, by a tracer: a factorisation serves neighbours, and sensitivities predict where they are."""
    tracer = Tracer(model, tolerance=1e-6, rescue=lambda u, state: flex(model, u, start=state, tolerance=1e-6))
    found = [tracer.solve(u) for u in commands]
    return [s.but(factor=None, memory={}) if s.ok else None for s in found]


def boustrophedon(shape: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Indices of a grid in an order in which neighbours differ by one in one place."""
    if not shape:
        return [()]
    rest = boustrophedon(shape[1:])
    out = []
    for i in range(shape[0]):
        out += [(i, *r) for r in (rest if i % 2 == 0 else rest[::-1])]
    return out


def follow_path(
    model: Any,
    point: str,
    path: Array,
    bounds: tuple[Array, Array],
    *,
    workspace: Workspace | None = None,
    threshold: float = 2e-4,
    method: str = "gauss-newton",
    forward: Forward | None = None,
    axes: Sequence[int] = (0, 1, 2),
    iterations: int = 30,
    mix: Array | None = None,
) -> list[Descent]:
    """Commands that lead a point along a path (Algorithm 4): nearest sample first, then each waypoint from the last.

    Args:
        model: the model.
        point: name of the point.
        path: waypoints [m] (n, 3).
        bounds: least and largest command.
        workspace: samples for the first guess; the rest pose if None.
        threshold: wanted distance [m]; the source uses 0.2 mm.
        method: "gauss-newton" or "descent" (the source's).
        forward: forward solver; `flex` by default.
        axes: which coordinates count.
        iterations: most iterations per waypoint.
        mix: command = mix @ coordinates.
    """
    if method not in ("gauss-newton", "descent"):
        raise ArgumentError("method", f"{method!r}", "'gauss-newton' or 'descent'")
    solve = forward or forward_of(model, mix=mix)
    chosen, waypoints = _axes(axes), _waypoints("path", path)
    u, state = np.asarray(bounds[0], float).copy(), None
    if workspace is not None:
        i = workspace.nearest(waypoints[0])
        u, state = workspace.u[i], workspace.states[i]
    out = []
    for target in waypoints:
        if method == "gauss-newton":
            found = gauss_newton(
                model, point, target, u, bounds, threshold=threshold, state=state, forward=solve, axes=chosen,
                iterations=iterations, mix=mix,
            )  # fmt: skip
        else:

            def objective(s: State, target: Array = target) -> float:
                error = 1e3 * (model.locate(s, point).position - target)[chosen]
                return float(error @ error)

            found = steepest_descent(
                solve, objective, u, bounds, threshold=(1e3 * threshold) ** 2, state=state, iterations=iterations,
                scale=0.1 * (np.asarray(bounds[1], float) - np.asarray(bounds[0], float)),
            )  # fmt: skip
        out.append(found)
        u, state = found.u, found.state
    return out
