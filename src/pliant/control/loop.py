"""A sampled controller on a rod plant, stepped by compiled rollouts between the ticks: long runs in little
time.

`pliant.simulate` is the general way (contact, every model); this is for rods driven by tendons or chambers.
"""

from __future__ import annotations

import time as clock
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.state import State
from pliant.trajectory import Trajectory

Array = np.ndarray


def closed_loop(
    plant: Any,
    controller: Callable[[float, State], Any],
    *,
    duration: float,
    period: float = 0.05,
    dt: float = 5e-3,
    start: State | None = None,
    lag: float = 0.0,
    seen: Callable[[float, State], State] | None = None,
    record: int = 1,
) -> Trajectory:
    """Run a controller on a rod and record it once per tick.

    Args:
        plant: a model with a compiled `rollout`: rods with tendons or chambers inside, constant-curvature links.
        controller: called as u = controller(t, state) at every tick; u are efforts.
        duration: simulated time [s].
        period: time between ticks [s]; the command is held in between.
        dt: time step of the plant [s].
        start: initial state; at rest if None.
        lag: first-order time constant of the actuators (valves) [s].
        record: record every so many ticks.
        seen: what the controller sees of a state (measurement); the state itself if None.

    Returns:
        Trajectory; a rollout that does not converge ends it, with its status.
    """
    if not hasattr(plant, "rollout"):
        raise ArgumentError(
            "plant", f"{type(plant).__name__} has no compiled rollout", "RodModel, PccModel; or simulate()"
        )
    if not (period > 0 and duration > 0):
        raise ArgumentError("period", f"{period}, duration {duration}", "positive numbers [s]")
    every = max(1, round(period / dt))
    q = plant.rest.copy() if start is None else start.q
    effort = np.zeros(plant.nu) if start is None else np.array(start.effort)
    v = np.zeros(plant.nv) if start is None else start.v
    t = 0.0 if start is None else start.time
    kept = {} if start is None else start.memory
    state = State(q, v, effort, effort, plant.displacement(q), time=t, memory=kept)
    states = [state]
    decay = np.exp(-np.arange(1, every + 1) * period / every / lag) if lag > 0 else np.zeros(every)
    for tick in range(round(duration / period)):
        u = np.asarray(controller(state.time, state if seen is None else seen(state.time, state)), float)
        rows = u + decay[:, None] * (effort - u)
        begin = clock.perf_counter()
        known = {"memory": kept} if hasattr(plant, "during") else {}
        run = plant.rollout(state.q, state.v, duration=period, dt=period / every, effort=rows, every=every, **known)
        kept = getattr(run, "memory", {})
        effort = rows[-1]
        q, v = run.q[-1], run.v[-1]
        state = State(
            q, v, u, effort, plant.displacement(q), time=state.time + period, status=run.status,
            elapsed=clock.perf_counter() - begin, memory=kept,
        )  # fmt: skip
        if (tick + 1) % record == 0 or not state.ok:
            states.append(state)
        if not state.ok:
            break
    wanted = {
        name: np.array([np.asarray(path(s.time), float) for s in states])
        for name, path in getattr(controller, "targets", {}).items()
    }
    return Trajectory.from_states(plant, states, targets=wanted)
