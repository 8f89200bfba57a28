"""simulate and sweep: drive a model over time, or quasi-statically through commands, and record it."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from pliant.checks import count, positive
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.solve.commands import CommandLike, check_state
from pliant.solve.dynamics import Stepper
from pliant.solve.equilibrium import equilibrium
from pliant.state import State
from pliant.trajectory import Trajectory

Array = np.ndarray
Signal = Callable[[float], CommandLike]
Controller = Callable[[float, State], CommandLike]


def simulate(
    model: Model,
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
            `targets`, a mapping from point names to functions of time, which is recorded with the run.
        duration: simulated time [s]; the run ends exactly there.
        dt: longest time step [s]. The steps are equal: shorter than this where the duration is no multiple of it.
        start: initial state; rest pose if None.
        obstacles: what is in the way.
        scheme, damping: integrator, see `step`.
        every: record every n-th step.
        progress: called with the fraction done.

    Returns:
        A Trajectory. A step that does not converge ends the run; its status is the last one recorded.
    """
    steps, h = _steps(positive("duration", duration), positive("dt", dt))
    every = count("every", every)
    stepper = Stepper(model, obstacles=obstacles, scheme=scheme, damping=damping)
    check_state(model, start, "start")
    control = _controller(drive)
    state = stepper.start(start, control(0.0 if start is None else start.time, start or stepper.start()))
    states = [state]
    end = state.time + duration
    for i in range(steps):
        state = stepper.step(state, control(state.time, state), h)
        if i + 1 == steps:
            state = state.but(time=end)  # without the rounding of the sum
        if (i + 1) % every == 0 or i + 1 == steps or not state.ok:
            states.append(state.but(factor=None))
        if progress:
            progress((i + 1) / steps)
        if not state.ok:
            break
    wanted = {
        name: np.array([np.asarray(path(s.time), float) for s in states])
        for name, path in getattr(drive, "targets", {}).items()
    }
    return Trajectory.from_states(model, states, targets=wanted)


def sweep(
    model: Model,
    commands: Iterable[CommandLike],
    *,
    obstacles: Sequence[Any] = (),
    start: State | None = None,
    progress: Callable[[float], None] | None = None,
) -> Trajectory:
    """Take a model quasi-statically through commands, each equilibrium started from the one before.

    The times of the trajectory count the commands 0, 1, 2, ...

    Args:
        model: any model.
        commands: one per state, each as `equilibrium` takes it.
        obstacles: what is in the way.
        start: state to begin from; the rest pose if None.
        progress: called with the share that is done, 0 to 1.
    """
    if isinstance(commands, str | Mapping) or not isinstance(commands, Iterable):
        raise ArgumentError("commands", f"a {type(commands).__name__}", "one command after the other, in a list")
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


def _steps(duration: float, dt: float) -> tuple[int, float]:
    """How many equal steps, none longer than dt, make up a duration; and their length [s]."""
    ratio = duration / dt
    if ratio < 1.0 - 1e-9:
        raise ArgumentError("dt", f"{dt} is longer than the duration of {duration}", "dt <= duration")
    steps = math.ceil(ratio - 1e-9)
    return steps, dt if abs(steps - ratio) <= 1e-9 else duration / steps


def _controller(drive: Any) -> Controller:
    if isinstance(drive, Mapping) and any(callable(v) for v in drive.values()):
        signals = dict(drive)
        return lambda t, state: {k: v(t) if callable(v) else v for k, v in signals.items()}
    if callable(drive):
        try:
            inspect.signature(drive).bind(0.0, None)
        except TypeError:
            raise ArgumentError(
                "drive", "it cannot be called as drive(t, state)", "a function of the time [s] and the state"
            ) from None
        except ValueError:
            pass  # some compiled functions do not tell what they take
        return drive
    return lambda t, state: drive
