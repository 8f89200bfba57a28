"""Limits: what is allowed. Each gives linear rows that must stay between bounds.

Actuators carry their own limits (effort, displacement, rate); the classes here add to them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np

from pliant.actuators.actuator import check_interval
from pliant.checks import instance, non_negative, positive
from pliant.errors import ArgumentError, UnknownNameError
from pliant.inverse.targets import normal_force

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class LimitRows:
    """Rows low <= value + d value <= high.

    Attributes:
        name: what is limited, for messages.
        value: at the current state (m,).
        low, high: bounds (m,).
        jacobian: d value / d q (m, nv), or None.
        effort: d value / d effort (m, nu), or None.
        contact: d value / d normal contact forces (m, nc), or None.
        scale: how large such values are elsewhere, to judge what is small.
    """

    name: str
    value: Array
    low: Array
    high: Array
    jacobian: Array | None = None
    effort: Array | None = None
    contact: Array | None = None
    scale: float = 0.0


@dataclass(frozen=True)
class Bound:
    """A limit on one actuator's effort or displacement, which needs no row of its own."""

    quantity: str
    index: int
    low: float
    high: float


class Limit(Protocol):
    """Anything that can be limited."""

    def evaluate(
        self, model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float
    ) -> LimitRows | None:
        """Rows at a configuration; None if there is nothing to limit now."""


@dataclass(frozen=True)
class EffortLimit:
    """Bounds on an actuator's effort.

    Attributes:
        actuator: its name.
        low, high: lowest and highest effort [N, Pa, ...].
    """

    actuator: str
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        check_interval(f"EffortLimit({self.actuator!r})", (self.low, self.high))

    def bound(self, robot: Any, previous: Any, dt: float) -> Bound:
        """The same as a plain bound."""
        return Bound("effort", robot.actuator_index(self.actuator), self.low, self.high)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float) -> LimitRows:
        """One row: the effort."""
        i = model.robot.actuator_index(self.actuator)
        row = np.zeros((1, model.nu))
        row[0, i] = 1.0
        name = f"effort of {self.actuator}"
        scale = float(np.abs(effort).max())
        return LimitRows(name, effort[i : i + 1], np.array([self.low]), np.array([self.high]), None, row, scale=scale)


@dataclass(frozen=True)
class DisplacementLimit:
    """Bounds on an actuator's displacement.

    Attributes:
        actuator: its name.
        low, high: lowest and highest stroke [m], volume gained [m^3], ....
    """

    actuator: str
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        check_interval(f"DisplacementLimit({self.actuator!r})", (self.low, self.high))

    def bound(self, robot: Any, previous: Any, dt: float) -> Bound:
        """The same as a plain bound."""
        return Bound("displacement", robot.actuator_index(self.actuator), self.low, self.high)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float) -> LimitRows:
        """One row: the displacement."""
        i = model.robot.actuator_index(self.actuator)
        name = f"displacement of {self.actuator}"
        rows = model.displacement_rows(q)[i : i + 1]
        value = model.displacement(q)
        return LimitRows(
            name, value[i : i + 1], np.array([self.low]), np.array([self.high]), rows,
            scale=float(np.abs(value).max()),
        )  # fmt: skip


@dataclass(frozen=True)
class RateLimit:
    """Largest change per second of an actuator's effort or displacement [unit/s]; needs `dt` and a previous state.

    Attributes:
        actuator: its name.
        rate: largest change per second.
        quantity: "drive" (whichever is commanded), "effort" or "displacement".
    """

    actuator: str
    rate: float
    quantity: str = "drive"

    def __post_init__(self) -> None:
        positive("rate", self.rate)
        if self.quantity not in ("drive", "effort", "displacement"):
            raise ArgumentError("quantity", f"{self.quantity!r}", "'drive', 'effort' or 'displacement'")

    def bound(self, robot: Any, previous: Any, dt: float) -> Bound:
        """The same as a plain bound."""
        i = robot.actuator_index(self.actuator)
        if previous is None or not math.isfinite(dt):
            missing = "state" if previous is None else "time since the state"
            raise ArgumentError(
                f"RateLimit({self.actuator!r})", f"there is no {missing} from which the change could be told",
                "a state to start from, and dt [s]",
            )  # fmt: skip
        what = robot.actuators[i].drive if self.quantity == "drive" else self.quantity
        centre = float(getattr(previous, what)[i])
        return Bound(what, i, centre - self.rate * dt, centre + self.rate * dt)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float) -> LimitRows:
        """One row: the quantity, within rate * dt of the previous one."""
        bound = self.bound(model.robot, previous, dt)
        kind = EffortLimit if bound.quantity == "effort" else DisplacementLimit
        inner = kind(self.actuator).evaluate(model, q, effort, contacts, previous, dt)
        low, high = np.array([bound.low]), np.array([bound.high])
        return replace(inner, name=f"rate of {self.actuator}", low=low, high=high)


@dataclass(frozen=True)
class GraspFloor:
    """The sum of normal contact forces must stay above a floor [N], so that a held object is not dropped.

    Where nothing is touched the sum is zero, and a floor above that is broken.

    Attributes:
        force: the floor [N].
        obstacle: name of the obstacle whose contacts count; all of them if empty.
    """

    force: float
    obstacle: str = ""

    def __post_init__(self) -> None:
        non_negative("force", self.force)

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float) -> LimitRows:
        """One row: the total normal force."""
        total, row = normal_force(contacts, self.obstacle)
        low, high = np.array([self.force]), np.array([math.inf])
        return LimitRows("grasp floor", np.array([total]), low, high, None, None, row)


@dataclass(frozen=True)
class ClearanceLimit:
    """The robot must keep a distance from an obstacle (avoid it instead of using it).

    Attributes:
        obstacle: an Obstacle (it need not be among those passed to `invert`).
        distance: clearance to keep [m].
        alarm: vertices farther than this are not considered [m]; 10 % of the robot's size if None.
    """

    obstacle: Any
    distance: float
    alarm: float | None = None

    def __post_init__(self) -> None:
        non_negative("distance", self.distance)
        if not hasattr(self.obstacle, "distance"):
            raise ArgumentError("obstacle", f"a {type(self.obstacle).__name__} has no distance", "Sphere, Plane, ...")
        if self.alarm is not None:
            positive("alarm", self.alarm)

    def evaluate(
        self, model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float
    ) -> LimitRows | None:
        """One row per near vertex: its distance from the obstacle."""
        x = model.skin_positions(q)
        gap = self.obstacle.distance(x) - model.skin.radius
        alarm = 0.1 * float(np.linalg.norm(np.ptp(x, axis=0))) if self.alarm is None else self.alarm
        near = np.flatnonzero(gap < self.distance + alarm)
        if len(near) == 0:
            return None
        normals = self.obstacle.normals(x[near])
        rows = model.skin_rows(q, near[:, None], np.ones((len(near), 1)), normals)
        rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
        n = len(near)
        return LimitRows("clearance", gap[near], np.full(n, self.distance), np.full(n, math.inf), rows)


@dataclass(frozen=True)
class StrainLimit:
    """Bounds on a strain gauge of the robot.

    Attributes:
        sensor: its name.
        low, high: lowest and highest strain [-].
    """

    sensor: str
    low: float = -math.inf
    high: float = math.inf

    def __post_init__(self) -> None:
        instance("sensor", self.sensor, str)
        check_interval(f"StrainLimit({self.sensor!r})", (self.low, self.high))

    def evaluate(self, model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float) -> LimitRows:
        """One row: the strain."""
        gauge = getattr(model, "gauge", None)
        if gauge is None:
            raise UnknownNameError("strain gauge", self.sensor, ())
        value, row = gauge(q, self.sensor)
        name = f"strain of {self.sensor}"
        return LimitRows(name, np.array([value]), np.array([self.low]), np.array([self.high]), row[None, :])


def own_bounds(robot: Any, previous: Any, dt: float) -> dict[str, tuple[Array, Array]]:
    """Lowest and highest efforts and displacements (nu,) that the robot's actuators allow: `actuator_limits`, plainly.

    Rates count where there is a previous state and a finite time since.
    """
    actuators = robot.actuators
    bounds = {}
    for quantity in ("effort", "displacement"):
        pairs = np.array([getattr(a, f"{quantity}_limits") for a in actuators], dtype=float).reshape(-1, 2)
        bounds[quantity] = (pairs[:, 0].copy(), pairs[:, 1].copy())
    if previous is not None and math.isfinite(dt):
        for i, a in enumerate(actuators):
            if math.isfinite(a.rate_limit):
                now = float((previous.effort if a.drive == "effort" else previous.displacement)[i])
                low, high = bounds[a.drive]
                low[i] = max(low[i], now - a.rate_limit * dt)
                high[i] = min(high[i], now + a.rate_limit * dt)
    return bounds


def joints(robot: Any) -> dict[int, float]:
    """Actuators whose displacement may have one value only, and that value: joints that close loops."""
    pairs = {i: a.displacement_limits for i, a in enumerate(robot.actuators)}
    return {i: float(low) for i, (low, high) in pairs.items() if low == high}


def split(
    limits: Sequence[Limit],
    robot: Any,
    previous: Any,
    dt: float,
    bounds: dict[str, tuple[Array, Array]] | None = None,
) -> tuple[dict[str, tuple[Array, Array]], list[Limit]]:
    """Plain bounds ("effort" and "displacement": lowest and highest values (nu,)), and the limits that need rows.

    Bounds that are given are narrowed in place.
    """
    n = len(robot.actuators)
    if bounds is None:
        bounds = {k: (np.full(n, -np.inf), np.full(n, np.inf)) for k in ("effort", "displacement")}
    rest: list[Limit] = []
    for limit in limits:
        plain = getattr(limit, "bound", None)
        if plain is None:
            rest.append(limit)
            continue
        bound = plain(robot, previous, dt)
        low, high = bounds[bound.quantity]
        low[bound.index] = max(low[bound.index], bound.low)
        high[bound.index] = min(high[bound.index], bound.high)
    return bounds, rest


def violations(
    limits: Sequence[Limit], model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float
) -> dict[str, float]:
    """How far limits are exceeded at a configuration, relative to the size of their bounds: name -> amount [-]."""
    out: dict[str, float] = {}
    for limit in limits:
        rows = limit.evaluate(model, q, effort, contacts, previous, dt)
        if rows is None or not len(rows.value):
            continue
        finite = [np.abs(b[np.isfinite(b)]).max(initial=0.0) for b in (rows.low, rows.high)]
        least = 1e-6 if np.array_equal(rows.low, rows.high) else 1e-9  # a joint at zero: only rounding
        size = max(*finite, float(np.abs(rows.value).max()), rows.scale, least)
        worst = float(np.maximum(rows.low - rows.value, rows.value - rows.high).max()) / size
        if worst > 0.0:
            out[rows.name] = max(worst, out.get(rows.name, 0.0))
    return out


def actuator_limits(robot: Any, *, rates: bool = True) -> list[Limit]:
    """The limits that the robot's actuators carry; those of their rates need a previous state and a time since."""
    out: list[Limit] = []
    for a in robot.actuators:
        if any(math.isfinite(v) for v in a.effort_limits):
            out.append(EffortLimit(a.name, *a.effort_limits))
        if any(math.isfinite(v) for v in a.displacement_limits):
            out.append(DisplacementLimit(a.name, *a.displacement_limits))
        if rates and math.isfinite(a.rate_limit):
            out.append(RateLimit(a.name, a.rate_limit))
    return out
