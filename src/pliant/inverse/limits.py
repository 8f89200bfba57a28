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
from pliant.contact.analytic import lowest_weights
from pliant.errors import ArgumentError, UnknownNameError
from pliant.inverse.targets import normal_force

Array = np.ndarray
_EXCEEDED = 1e-6  # relative: what exceeds a limit by less than this holds it to rounding


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
    """The robot's surface must keep a distance from an obstacle (avoid it instead of using it).

    Attributes:
        obstacle: an Obstacle (it need not be among those passed to `invert`); `follow` and `Loop` move it with the time
            if it has a motion.
        distance: clearance to keep [m].
        alarm: vertices farther than this are not considered [m]; 10 % of the robot's size if None. What lies between
            them (facets, and segments of rods) is whenever it may come too near.
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
        """One row per near vertex, and per near facet or segment: the distance of its point nearest to the obstacle."""
        x, skin = model.skin_positions(q), model.skin
        alarm = 0.1 * float(np.linalg.norm(np.ptp(x, axis=0))) if self.alarm is None else self.alarm
        distance = self.obstacle.distance(x)
        near = np.flatnonzero(distance - skin.radius < self.distance + alarm)
        corners, weights = near[:, None].repeat(3, axis=1), np.tile((1.0, 0.0, 0.0), (len(near), 1))
        for simplices in (skin.triangles, skin.segments):
            if len(simplices):
                between, inner = self._between(x, simplices, distance, skin.radius)
                corners, weights = np.vstack([corners, between]), np.vstack([weights, inner])
        if not len(corners):
            return None
        value, normals = self.obstacle.distance_and_normals(np.einsum("ik,ikj->ij", weights, x[corners]))
        value = value - np.einsum("ik,ik->i", weights, skin.radius[corners])
        rows = model.skin_rows(q, corners, weights, normals)
        rows = rows.toarray() if hasattr(rows, "toarray") else np.asarray(rows)
        n = len(corners)
        return LimitRows("clearance", value, np.full(n, self.distance), np.full(n, math.inf), rows)

    def at(self, time: float) -> ClearanceLimit:
        """The same with its obstacle where it is at a time [s]."""
        moves = getattr(self.obstacle, "motion", None) is not None
        return replace(self, obstacle=self.obstacle.at(time)) if moves else self

    def _between(self, x: Array, simplices: Array, distance: Array, radius: Array) -> tuple[Array, Array]:
        """Facets (or segments) that come nearer between their corners, and may come too near: corners, weights (m, 3).

        A distance changes by no more than one moves: a facet whose corners are farther away than its longest edge needs
        no look.
        """
        corners, thick = x[simplices], radius[simplices]
        edge = np.linalg.norm(corners - np.roll(corners, 1, axis=1), axis=2).max(axis=1)
        gap = (distance[simplices] - thick).min(axis=1)
        some = np.flatnonzero(gap < self.distance + edge)
        simplices, corners, thick = simplices[some], corners[some], thick[some]
        weights = lowest_weights(corners, thick, self.obstacle) if len(some) else np.zeros(simplices.shape)
        lowest = self.obstacle.distance(np.einsum("ik,ikj->ij", weights, corners)) - (weights * thick).sum(axis=1)
        inside = lowest < gap[some] - 1e-9 * edge[some]
        spare = [(0, 0), (0, 3 - simplices.shape[1])]  # a segment is a facet whose third corner has no weight
        return np.pad(simplices[inside], spare, mode="edge"), np.pad(weights[inside], spare)


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


Bounds = dict[str, tuple[Array, Array]]  # lowest and highest values (nu,) of "effort" and "displacement"


def at_time(limits: Sequence[Limit], time: float) -> list[Limit]:
    """Limits at a time [s]: obstacles that move are where they are then."""
    return [x.at(time) if isinstance(x, ClearanceLimit) else x for x in limits]


def own_bounds(robot: Any) -> Bounds:
    """Lowest and highest efforts and displacements (nu,) that the robot's actuators allow, whatever their rates."""
    bounds = {}
    for quantity in ("effort", "displacement"):
        pairs = np.array([getattr(a, f"{quantity}_limits") for a in robot.actuators], dtype=float).reshape(-1, 2)
        bounds[quantity] = (pairs[:, 0].copy(), pairs[:, 1].copy())
    return bounds


def rated(limits: Sequence[Limit], robot: Any) -> bool:
    """Whether any rate is limited, by these limits or by the robot's actuators."""
    return any(isinstance(x, RateLimit) for x in limits) or any(math.isfinite(a.rate_limit) for a in robot.actuators)


def joints(robot: Any) -> dict[int, float]:
    """Actuators whose displacement may have one value only, and that value: joints that close loops."""
    pairs = {i: a.displacement_limits for i, a in enumerate(robot.actuators)}
    return {i: float(low) for i, (low, high) in pairs.items() if low == high}


def split(
    limits: Sequence[Limit], robot: Any, previous: Any, dt: float, bounds: Bounds | None = None
) -> tuple[Bounds, list[Limit]]:
    """Plain bounds ("effort" and "displacement": lowest and highest values (nu,)), and the limits that need rows.

    Bounds that are given are narrowed in place. Rates are neither: see `hold_rates`.
    """
    n = len(robot.actuators)
    if bounds is None:
        bounds = {k: (np.full(n, -np.inf), np.full(n, np.inf)) for k in ("effort", "displacement")}
    rest: list[Limit] = []
    for limit in limits:
        plain = getattr(limit, "bound", None)
        if plain is None:
            rest.append(limit)
        elif not isinstance(limit, RateLimit):
            bound = plain(robot, previous, dt)
            low, high = bounds[bound.quantity]
            low[bound.index] = max(low[bound.index], bound.low)
            high[bound.index] = min(high[bound.index], bound.high)
    return bounds, rest


def hold_rates(
    bounds: Bounds, limits: Sequence[Limit], robot: Any, previous: Any, dt: float, *, own: bool
) -> list[str]:
    """Narrow plain bounds to what rates let efforts and displacements become; which bounds cannot hold, in words.

    A motor is no faster for being out of its range: where its rate does not lead back into it, the rate holds, and the
    range counts again as soon as it can (spec inverse-fem 12.4).

    Args:
        bounds: of `split`, narrowed in place.
        limits: what is allowed; of these, the `RateLimit`s count.
        robot: whose actuators have rates too.
        previous: the state before.
        dt: time since then [s].
        own: whether the rates of the actuators themselves count (where there is a previous state and a time).
    """
    told = []
    for quantity, (low, high) in bounds.items():
        if (low > high).any():
            told += [
                f"limits of the {quantity} of {robot.actuator_names[i]} exclude each other: "
                f"not below {low[i]:.4g}, not above {high[i]:.4g}"
                for i in np.flatnonzero(low > high)
            ]
    rates = [x for x in limits if isinstance(x, RateLimit)]
    if own and previous is not None and math.isfinite(dt):
        rates += [RateLimit(a.name, a.rate_limit) for a in robot.actuators if math.isfinite(a.rate_limit)]
    reach: dict[tuple[str, int], tuple[float, float]] = {}
    for rate in rates:
        bound = rate.bound(robot, previous, dt)
        least, most = reach.get((bound.quantity, bound.index), (-math.inf, math.inf))
        reach[bound.quantity, bound.index] = max(least, bound.low), min(most, bound.high)
    for (quantity, i), (least, most) in reach.items():
        low, high = bounds[quantity]
        beyond, limit = (low[i] - most, low[i]) if low[i] > most else (least - high[i], high[i])
        if beyond > _EXCEEDED * abs(limit):
            told.append(
                f"the {quantity} of {robot.actuator_names[i]} stays beyond its limit of {limit:.4g} by {beyond:.3g}: "
                "its rate holds first"
            )
        low[i], high[i] = np.clip((low[i], high[i]), least, most)
    return told


def exceeded(bounds: Bounds, robot: Any, effort: Array, displacement: Array) -> list[str]:
    """Which plain bounds efforts and displacements (nu,) do not hold, in words; those that leave a range only."""
    out = []
    for quantity, value in (("effort", effort), ("displacement", displacement)):
        low, high = bounds[quantity]
        over = np.maximum(low - value, value - high)
        if not (over > 0.0).any():
            continue
        for i in np.flatnonzero((over > 0.0) & (low < high)):
            limit = float(low[i] if value[i] < low[i] else high[i])
            if over[i] > _EXCEEDED * max(abs(limit), float(np.abs(value).max())):
                name = robot.actuator_names[i]
                out.append(f"the {quantity} of {name} is beyond its limit of {limit:.4g} by {over[i]:.3g}")
    return out


@dataclass(frozen=True)
class Excess:
    """By how much a limit is exceeded.

    Attributes:
        relative: to the size of its bounds and values [-].
        amount: in its unit.
        bound: what it should not pass.
    """

    relative: float
    amount: float
    bound: float


def excesses(
    limits: Sequence[Limit], model: Any, q: Array, effort: Array, contacts: Any, previous: Any, dt: float
) -> dict[str, Excess]:
    """Limits that are exceeded at a configuration, each at the worst of its rows: name -> by how much."""
    out: dict[str, Excess] = {}
    for limit in limits:
        rows = limit.evaluate(model, q, effort, contacts, previous, dt)
        if rows is None or not len(rows.value):
            continue
        finite = [np.abs(b[np.isfinite(b)]).max(initial=0.0) for b in (rows.low, rows.high)]
        least = 1e-6 if np.array_equal(rows.low, rows.high) else 1e-9  # a joint at zero: only rounding
        size = max(*finite, float(np.abs(rows.value).max()), rows.scale, least)
        over = np.maximum(rows.low - rows.value, rows.value - rows.high)
        i = int(np.argmax(over))
        worst = float(over[i]) / size
        if worst > (out[rows.name].relative if rows.name in out else 0.0):
            bound = rows.low[i] if rows.value[i] < rows.low[i] else rows.high[i]
            out[rows.name] = Excess(worst, float(over[i]), float(bound))
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
