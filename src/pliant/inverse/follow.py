"""follow: the inverse along a path, each waypoint from the one before."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from pliant.checks import count, instance, numbers, positive, several
from pliant.errors import ArgumentError
from pliant.inverse.invert import invert
from pliant.inverse.limits import Limit, at_time, rated
from pliant.inverse.targets import PointTarget, Target
from pliant.models.contract import Model
from pliant.solve.commands import check_state
from pliant.solve.equilibrium import equilibrium
from pliant.solve.problem import Problem, surroundings
from pliant.state import Command, State, Status
from pliant.trajectory import Trajectory

Array = np.ndarray
_BALANCED = 1e-6  # of the robot's size: a smaller Newton correction leaves a state in balance


def follow(
    model: Model,
    path: Any = None,
    *,
    point: str = "tip",
    targets: Sequence[Sequence[Target]] | None = None,
    limits: Sequence[Limit] = (),
    obstacles: Sequence[Any] = (),
    prescribed: Mapping[str, float] | Sequence[Mapping[str, float] | None] | None = None,
    start: State | None = None,
    dt: float = 0.1,
    spacing: float | None = None,
    iterations: int = 60,
    search: Literal["local", "multistart", "global"] = "local",
    friction: Literal["auto", "none", "stick"] = "auto",
    redundancy: Literal["least change", "least effort"] = "least change",
    dynamic: bool = False,
    alarm: float | None = None,
    progress: Callable[[float, Command], None] | None = None,
) -> Trajectory:
    """Follow a path of a point, or a sequence of targets.

    Every waypoint starts from the previous one, so the actuation is continuous wherever the robot is; among equally
    good actuations the one that changes least (or costs least) is taken. A waypoint whose solve fails is recorded with
    its status, and the next one starts from the last state that was good; one that had to give up limits (RELAXED) is
    gone on from, so that motors that are beyond a limit come back within it as fast as their rates allow.

    Args:
        model: any mechanical model.
        path: positions of the point [m] (n, 3); or None if `targets` are given.
        point: name of the point that follows the path.
        targets: what is wanted at each waypoint, instead of (or in addition to) the path.
        limits: what is allowed, in addition to the limits that the actuators carry.
        obstacles: what is in the way; those with a motion are moved with the time.
        prescribed: actuators that are not solved for (name -> value in the unit of its drive), at all waypoints or
            as one mapping (or None) per waypoint.
        start: where to begin; the rest pose if None (where rates are limited the equilibrium there, from which they
            count).
        dt: time between waypoints [s]; what rate limits, motions and the dynamic mode refer to.
        spacing: waypoints are inserted until the path has none farther apart than this [m].
        iterations, search, friction, redundancy, dynamic, alarm: see `invert`.
        progress: called with the fraction done and the last command.

    Returns:
        Trajectory with the states, the status, iterations and wall-clock time of every waypoint, and the
        wanted positions
        of the point under its name (`trajectory.error(point)` is the distance to them).
    """
    dt, obstacles = positive("dt", dt), surroundings(obstacles)
    iterations = count("iterations", iterations)
    instance("point", point, str)
    wanted, points = _waypoints(path, point, targets, spacing)
    given = _prescriptions(prescribed, len(wanted))
    problem = Problem(model, [_at(o, 0.0) for o in obstacles], alarm=alarm)
    check_state(model, start, "start")
    moving = any(getattr(o, "motion", None) is not None for o in obstacles)
    limits = several("limits", limits, "evaluate", "EffortLimit, ...")
    good = beginning(problem, start, limits)
    states, spent = [], []
    origin = 0.0 if start is None else start.time
    for i, goals in enumerate(wanted):
        now = origin + (i + 1) * dt
        begin = clock.perf_counter()
        if moving:
            problem.place([_at(o, now) for o in obstacles])
        command = invert(
            model, good, goals, limits=at_time(limits, now), problem=problem, prescribed=given[i],
            iterations=iterations, search=search, friction=friction, redundancy=redundancy, dynamic=dynamic, dt=dt,
        )  # fmt: skip
        state = command.state.but(time=now)
        states.append(state)
        spent.append(clock.perf_counter() - begin)
        if _usable(command, single=iterations == 1):
            good = state
        if progress is not None:
            progress((i + 1) / len(wanted), command)
    recorded = [s.but(elapsed=e, factor=None) for s, e in zip(states, spent)]
    return Trajectory.from_states(model, recorded, targets={point: points} if points is not None else None)


def _usable(command: Command, *, single: bool) -> bool:
    """Whether to go on from an answer: one that had to give up limits is where the robot is, if it is in balance."""
    if single:
        return bool(np.isfinite(command.state.q).all())
    return command.ok or (command.status is Status.RELAXED and command.state.residual <= _BALANCED)


def beginning(problem: Problem, start: State | None, limits: Sequence[Limit]) -> State | None:
    """Where a motion begins: the start, or where rates can be told from the rest pose if there is none.

    Args:
        problem: model and surroundings.
        start: a state, or None.
        limits: what is allowed.
    """
    if start is not None or not rated(limits, problem.model.robot):
        return start
    rest = equilibrium(problem.model, obstacles=problem.obstacles, alarm=problem.alarm)
    if not rest.ok:
        raise ArgumentError("start", f"rates need one, and at rest: {rest.status}", "a state to start from")
    return rest


def _at(obstacle: Any, time: float) -> Any:
    return obstacle.at(time) if getattr(obstacle, "motion", None) is not None else obstacle


def _waypoints(
    path: Any, point: str, targets: Sequence[Sequence[Target]] | None, spacing: float | None
) -> tuple[list[list[Target]], Array | None]:
    """Targets per waypoint, and the positions of the point."""
    if path is None:
        if not targets:
            raise ArgumentError("path", "nothing to follow", "positions (n, 3), or targets")
        return _goals(targets), None
    points = numbers("path", path)
    if points.ndim != 2 or points.shape[1] != 3 or len(points) == 0:
        raise ArgumentError("path", f"shape {points.shape}", "finite positions (n, 3)")
    if spacing is not None:
        if targets is not None:
            raise ArgumentError("spacing", "waypoints cannot be inserted between given targets", "leave it out")
        points = refine(points, spacing)
    more = [[] for _ in points] if targets is None else _goals(targets)
    if len(more) != len(points):
        raise ArgumentError("targets", f"{len(more)} for {len(points)} waypoints", "one list per waypoint")
    return [[PointTarget(point, tuple(p)), *m] for p, m in zip(points, more)], points


def _goals(targets: Any) -> list[list[Target]]:
    """A list of targets per waypoint; a single target stands for a list of one."""
    if not isinstance(targets, Sequence) or isinstance(targets, str):
        raise ArgumentError("targets", f"a {type(targets).__name__}", "one list of targets per waypoint")
    return [list(several(f"targets[{i}]", t, "evaluate", "PointTarget, ...")) for i, t in enumerate(targets)]


def _prescriptions(prescribed: Any, waypoints: int) -> list[Mapping[str, float] | None]:
    """What is prescribed at each waypoint."""
    if prescribed is None or isinstance(prescribed, Mapping):
        return [prescribed] * waypoints
    if not isinstance(prescribed, Sequence) or isinstance(prescribed, str) or len(prescribed) != waypoints:
        raise ArgumentError(
            "prescribed", f"a {type(prescribed).__name__} for {waypoints} waypoints",
            "a mapping name -> value, or one per waypoint",
        )  # fmt: skip
    return list(prescribed)


def refine(points: Array, spacing: float) -> Array:
    """A polyline with additional points, so that none are farther apart than a distance [m] (m, 3)."""
    spacing = positive("spacing", spacing)
    out = [points[:1]]
    for a, b in zip(points[:-1], points[1:]):
        n = max(1, int(np.ceil(np.linalg.norm(b - a) / spacing - 1e-9)))
        out.append(a + (b - a) * np.linspace(0, 1, n + 1)[1:, None])
    return np.vstack(out)
