"""simulate and sweep: drive a model over time, or quasi-statically through commands, and record it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.solve.commands import CommandLike
from pliant.solve.dynamics import Stepper
from pliant.solve.equilibrium import equilibrium
from pliant.state import State
from pliant.trajectory import Trajectory

Array = np.ndarray
Signal = Callable[[float], CommandLike]
Controller = Callable[[float, State], CommandLike]


def simulate(
    model: Any,
    drive: Controller | Mapping[str, Any] | CommandLike = None,
    *,
    duration: float,
    dt: float,
    start: State | None = None,
    obstacles: Sequence[Any] = (),
    scheme: str = "alpha",
    damping: float = 0.8,
    every: int = 1,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Run a model in time and record it.

    Args:
        model: any model with inertia.
        drive: a constant command; or a mapping from actuator names to numbers or functions of time [s]; or a
            controller, called as `u = controller(t, state)` at every step. A controller may have an attribute
            `targets`, a
            mapping from point names to functions of time, which is recorded with the run.
        duration: simulated time [s].
        dt: time step [s].
        start: initial state; rest pose if None.
        obstacles: what is in the way.
        scheme, damping: integrator, see `step`.
        every: record every n-th step.
        progress: called with the fraction done.

    Returns:
        A Trajectory. A step that does not converge ends the run; its status is the last one recorded.
    """
    if not (np.isfinite(duration) and duration > 0):
        raise ArgumentError("duration", f"{duration}", "a positive number [s]")
    if not (np.isfinite(dt) and dt > 0):
        raise ArgumentError("dt", f"{dt}", "a positive number [s]")
    if every < 1:
        raise ArgumentError("every", f"{every}", "at least 1")
    stepper = Stepper(model, obstacles=obstacles, scheme=scheme, damping=damping)
    control = _controller(drive)
    state = stepper.start(start, control(0.0 if start is None else start.time, start or stepper.start()))
    states = [state]
    count = max(1, round(duration / dt))
    for i in range(count):
        state = stepper.step(state, control(state.time, state), dt)
        if (i + 1) % every == 0 or i + 1 == count or not state.ok:
            states.append(state.but(factor=None))
        if progress:
            progress((i + 1) / count)
        if not state.ok:
            break
    wanted = {
        name: np.array([np.asarray(path(s.time), float) for s in states])
        for name, path in getattr(drive, "targets", {}).items()
    }
    return Trajectory.from_states(model, states, targets=wanted)


def sweep(
    model: Any,
    commands: Iterable[CommandLike],
    *,
    obstacles: Sequence[Any] = (),
    start: State | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Take a model quasi-statically through commands, each equilibrium started from the one before.

    The times of the trajectory count the commands 0, 1, 2, ...
    """
    commands = list(commands)
    if not commands:
        raise ArgumentError("commands", "empty", "at least one command")
    states = []
    state = start
    for i, u in enumerate(commands):
        found = equilibrium(model, u, obstacles=obstacles, start=state)
        states.append(found.but(factor=None, time=float(i)))
        if found.ok:
            state = found
        if progress:
            progress((i + 1) / len(commands))
    return Trajectory.from_states(model, states)


def _controller(drive: Any) -> Controller:
    if isinstance(drive, Mapping) and any(callable(v) for v in drive.values()):
        signals = dict(drive)
        return lambda t, state: {k: float(v(t)) if callable(v) else float(v) for k, v in signals.items()}
    if callable(drive):
        return drive
    return lambda t, state: drive
