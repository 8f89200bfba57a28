"""What a user commands, as vectors: names and values in, arrays in the order of the actuators out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pliant.actuators import Chamber
from pliant.errors import ArgumentError
from pliant.robot import Robot
from pliant.state import State

Array = np.ndarray
CommandLike = Mapping[str, float] | Array | list[float] | tuple[float, ...] | float | None


def command_vector(robot: Robot, u: CommandLike, default: Array | None = None) -> Array:
    """A command per actuator (nu,) from a mapping of names, a sequence, a number (one actuator) or None.

    Args:
        robot: whose actuators.
        u: the command, in the unit of each actuator's drive; actuators not named keep their default.
        default: values of the actuators that are not named (zero if None).
    """
    n = len(robot.actuators)
    out = np.zeros(n) if default is None else np.array(default, dtype=float)
    if u is None:
        return out
    if isinstance(u, Mapping):
        for name, value in u.items():
            i = robot.actuator_index(name)
            try:
                out[i] = float(value)
            except (TypeError, ValueError):
                raise ArgumentError(f"u[{name!r}]", f"{value!r} is not a number", "a finite number") from None
    else:
        try:
            given = np.atleast_1d(np.asarray(u, dtype=float))
        except (TypeError, ValueError):
            raise ArgumentError("u", f"{u!r} is not numeric", "a mapping of names, or numbers") from None
        if given.shape != (n,):
            names = ", ".join(robot.actuator_names)
            raise ArgumentError("u", f"shape {given.shape}", f"one value per actuator ({n}: {names})")
        out = given.copy()
    bad = ~np.isfinite(out)
    if bad.any():
        raise ArgumentError(
            f"u[{robot.actuator_names[int(np.argmax(bad))]!r}]", "not finite", "a finite number"
        )
    return out


def beyond_limits(robot: Robot, u: Array) -> list[str]:
    """A sentence for every actuator that is commanded beyond its limits."""
    out = []
    for a, value in zip(robot.actuators, u):
        low, high = a.limits
        if not low <= value <= high:
            out.append(f"the {a.drive} of {a.name} is commanded to {value:g}, beyond its limits {low:g} to {high:g}")
    return out


def impossible(model: Any, u: Array) -> list[str]:
    """A sentence for every cable that is to be pulled in by all its length, and every chamber to lose all it holds."""
    return _overdrawn(model, u) + _emptied(model, u)


def _emptied(model: Any, u: Array) -> list[str]:
    measures = getattr(model, "rest_measures", None)
    if measures is None:
        return []
    return [
        f"{a.name} cannot lose {-value:g} m^3: it holds {volume:g} m^3 at rest"
        for a, value, volume in zip(model.robot.actuators, u, measures)
        if isinstance(a, Chamber) and a.drive == "displacement" and value <= -volume
    ]


def _overdrawn(model: Any, u: Array) -> list[str]:
    robot = model.robot
    far = driven_by_displacement(robot) & (u > 0.5 * length_scale(model))  # shorter strokes are worth a try anyway
    if not far.any() or not hasattr(model, "cable_paths"):
        return []
    out, paths = [], model.cable_paths(model.rest)
    for i in np.flatnonzero(far):
        name = robot.actuators[i].name
        if name not in paths:
            continue
        length = float(np.linalg.norm(np.diff(paths[name], axis=0), axis=1).sum())
        if u[i] >= length:
            out.append(f"{name} cannot be pulled in by {u[i]:g} m: its path is {length:g} m long at rest")
    return out


def check_model(model: Any) -> None:
    """An ArgumentError if something is not a mechanical model."""
    if not all(hasattr(model, name) for name in ("robot", "force", "skin_positions")):
        raise ArgumentError("model", f"{type(model).__name__} is not a model", "FemModel, RodModel, ...")


def check_state(model: Any, state: Any, argument: str = "state", *, needed: bool = False) -> None:
    """An ArgumentError if a state is not one, or belongs to another model; None passes unless it is `needed`."""
    check_model(model)
    if state is None and not needed:
        return
    if not isinstance(state, State):
        raise ArgumentError(argument, f"a {type(state).__name__}", "a State" + ("" if needed else ", or None"))
    sizes = {"q": model.nq, "v": model.nv, "u": model.nu, "effort": model.nu}
    for name, size in sizes.items():
        shape = np.shape(getattr(state, name))
        if shape != (size,):
            raise ArgumentError(
                argument, f"it belongs to another model ({name} has shape {shape})", f"a state with {name} ({size},)"
            )
    if not (np.isfinite(state.q).all() and np.isfinite(state.effort).all()):
        raise ArgumentError(argument, "its q or effort is not finite", "a finite state")


def driven_by_displacement(robot: Robot) -> Array:
    """Which actuators are commanded by displacement (nu,) bool."""
    return np.array([a.drive == "displacement" for a in robot.actuators], dtype=bool)


def slackable(robot: Robot) -> Array:
    """Which actuators cannot push (nu,) bool."""
    return np.array([bool(getattr(a, "slackable", False)) for a in robot.actuators], dtype=bool)


def linearise(model: Any, q: Array, effort: Array) -> tuple[Array, Any]:
    """Force and stiffness, in one pass where the model offers it."""
    both = getattr(model, "linearise", None)
    if both is not None:
        return both(q, effort)
    return model.force(q, effort), model.stiffness(q, effort)


def travel(model: Any, dq: Array) -> float:
    """How far a tangent increment moves the robot, about [m].

    A model whose coordinates are not lengths (strains, angles) says so by its own `travel`.
    """
    own = getattr(model, "travel", None)
    if own is not None:
        return float(own(dq))
    return float(np.abs(dq).max()) if len(dq) else 0.0


def length_scale(model: Any) -> float:
    """Size of the robot at rest [m]."""
    points = model.skin_positions(model.rest)
    if len(points) == 0:
        return 1.0
    around = 2.0 * float(np.max(model.skin.radius, initial=0.0))
    return max(float(np.linalg.norm(np.ptp(points, axis=0) + around)), 1e-6)
