"""Pick and place with a manipulator of bending segments, in three stages (G. Fang's thesis 4.4, spec 3.5).

1. Position: the last joint p0 comes to the distance R + d from the object's centre p1, and the direction to the object
   is orthogonal to the axis of the segment that ends there (an angle of 90 degrees).
2. Grasp: the circle fitted to the inner layer of the last segment takes the radius R of the object.
3. Place: the joint comes to the distance R + d from where the object's centre shall be; its orientation is free.

The source minimises squared sums by gradient descent with differences. Here the residuals themselves are driven to
zero by damped Gauss-Newton steps with exact sensitivities; the grasp is one bracketed root in one unknown.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np

from pliant.checks import count, numbers, positive
from pliant.errors import ArgumentError
from pliant.inverse.descent import Forward, bounded_step, forward_of
from pliant.solve.sensitivity import sensitivity
from pliant.state import State, Status

Array = np.ndarray
Residual = Callable[[State, bool], tuple[Array, Array]]


@dataclass(frozen=True, eq=False)
class Stage:
    """One stage of a task.

    Attributes:
        name: "position", "grasp" or "place".
        u: command (nu,).
        state: the state it leads to.
        distance: |p1 - p0| - (R + d) [m].
        angle: between the axis of the segment and the direction to the object [degrees]; 90 is wanted for the grasp.
        radius: of the circle fitted to the gripping layer [m].
        evaluations: forward solves.
        status: CONVERGED, or UNREACHABLE within the bounds.
        elapsed: seconds.
    """

    name: str
    u: Array
    state: State
    distance: float
    angle: float
    radius: float
    evaluations: int
    status: Status
    elapsed: float


def fit_circle(points: Array) -> tuple[Array, float]:
    """Centre [m] (2,) and radius [m] of the circle with the least squared distances to points (n, 2).

    An algebraic fit, then Gauss-Newton on the distances. Points on a line give a radius of infinity.
    """
    x = np.asarray(points, float)
    if x.ndim != 2 or x.shape[1] != 2 or len(x) < 3 or not np.isfinite(x).all():
        raise ArgumentError("points", f"shape {x.shape} or not finite", "at least three finite points (n, 2)")
    middle = x.mean(axis=0)
    size = float(np.sqrt(((x - middle) ** 2).sum(axis=1).mean())) or 1.0
    y = (x - middle) / size
    A = np.column_stack([y, np.ones(len(y))])
    found, _, rank, singular = np.linalg.lstsq(A, (y**2).sum(axis=1), rcond=None)
    if rank < 3 or singular[-1] < 1e-9 * singular[0]:
        return np.full(2, np.inf), np.inf
    centre = 0.5 * found[:2]
    radius = float(np.sqrt(found[2] + centre @ centre))
    if radius > 1e5:
        return np.full(2, np.inf), np.inf
    for _ in range(20):
        d = y - centre
        r = np.linalg.norm(d, axis=1)
        J = np.column_stack([-d / r[:, None], -np.ones(len(r))])
        step = np.linalg.lstsq(J, radius - r, rcond=None)[0]
        centre, radius = centre + step[:2], radius + float(step[2])
        if np.abs(step).max() < 1e-12 * radius:
            break
    return middle + size * centre, size * radius


def _place(argument: str, value: Array) -> Array:
    """A position (3,), or an ArgumentError."""
    place = numbers(argument, value)
    if place.shape != (3,):
        raise ArgumentError(argument, f"shape {place.shape}", "a position (3,) [m]")
    return place


class PickAndPlace:
    """The task for one model.

    Args:
        model: a model of the manipulator.
        joint: name of the point p0 between the positioning segments and the gripping one.
        layer: numbers of the nodes of the gripping segment's inner layer (n,).
        position: numbers of the actuators that position.
        grip: number of the actuator that grips.
        bounds: least and largest command (nu,) each.
        radius: of the object R [m].
        offset: from the joint's point to the gripping surface d [m].
        axis: which axis of the joint's frame runs along the segment.
        plane: the two coordinates of the bending plane.
        forward: forward solver; `flex` by default.
    """

    def __init__(
        self,
        model: Any,
        *,
        joint: str,
        layer: Array,
        position: Sequence[int],
        grip: int,
        bounds: tuple[Array, Array],
        radius: float,
        offset: float = 0.0,
        axis: int = 0,
        plane: tuple[int, int] = (0, 2),
        forward: Forward | None = None,
    ) -> None:
        positive("radius", radius)
        model.locate(model.rest, joint)  # refuses names that it does not know
        nodes = np.asarray(layer)
        whole = nodes.ndim == 1 and nodes.dtype.kind in "iu" and len(nodes) >= 3
        if not whole or nodes.min() < 0 or nodes.max() >= len(model.positions(model.rest)):
            raise ArgumentError("layer", "fewer than three nodes, or an index out of range", "numbers of nodes")
        drives = [*position, grip]
        if len(drives) < 2 or len(set(drives)) < len(drives) or not set(drives) <= set(range(model.nu)):
            raise ArgumentError("position", f"{position} and grip {grip}", f"different numbers of 0 to {model.nu - 1}")
        self.low, self.high = (np.broadcast_to(np.asarray(b, float), (model.nu,)) for b in bounds)
        if not (self.low <= self.high).all():
            raise ArgumentError("bounds", "a lower bound exceeds the upper one", "low <= high")
        self.model, self.joint, self.layer = model, joint, nodes
        self.position, self.grip = list(position), int(grip)
        self.radius, self.offset, self.axis, self.plane = float(radius), float(offset), axis, list(plane)
        self._solve = forward or forward_of(model)
        self._count = 0

    def pick(
        self,
        centre: Array,
        *,
        start: Stage | None = None,
        samples: int = 4,
        weight: float = 1.0,
        threshold: float = 1e-5,
    ) -> Stage:
        """Bring the joint to the object with its centre at a position [m] (3,).

        Args:
            centre: of the object p1 [m].
            start: a stage to start from instead of samples (closing the grip moves the joint a little).
            samples: starting values per actuator; the best of that grid is refined.
            weight: of the orientation against the distance (omega_1).
            threshold: distance, and deviation from orthogonality times the radius, at which to stop [m].
        """
        target = _place("centre", centre)
        count("samples", samples)
        residual = self._residual(target, weight)
        begin, self._count = time.perf_counter(), 0
        if start is not None:
            return self._refine("position", start.u, start.state, residual, target, threshold, begin)
        best: tuple[float, Array, State] | None = None
        state: State | None = None
        axes = [np.linspace(self.low[i], self.high[i], samples) for i in self.position]
        for values in product(*axes):
            u = self.low.copy()
            u[self.position] = values
            found = self._forward(u, state)
            if not found.ok:
                continue
            state = found
            # Only where the object lies on the side to which the segments bend can the grip close around it.
            place = self.model.locate(found, self.joint)
            inward = float(np.cross(self._normal(), place.rotation[:, self.axis]) @ (target - place.position))
            score = float(np.linalg.norm(residual(found, False)[0])) + (0.0 if inward > 0.0 else 1e3)
            if best is None or score < best[0]:
                best = (score, u, found)
        if best is None:
            raise ArgumentError("bounds", "no sample could be solved", "commands that the model can reach")
        return self._refine("position", best[1], best[2], residual, target, threshold, begin)

    def grasp(self, stage: Stage, centre: Array, *, threshold: float = 1e-3) -> Stage:
        """Close the grip until the fitted circle has the object's radius, to a relative threshold.

        The curvature is compared, not the radius, so that the straight segment is no exception.
        """
        target = _place("centre", centre)
        begin, self._count = time.perf_counter(), 0
        wanted = 1.0 / self.radius
        state, u = stage.state, stage.u.copy()
        ends = [float(self.low[self.grip]), float(self.high[self.grip])]
        values = []
        for c in ends:
            u[self.grip] = c
            state = self._forward(u, state)
            values.append(1.0 / self.fitted(state) - wanted)
        status = Status.UNREACHABLE if values[0] * values[1] > 0.0 else Status.MAX_ITERATIONS
        if status is Status.UNREACHABLE and abs(values[0]) < abs(values[1]):
            u[self.grip] = ends[0]
            state = self._forward(u, state)
        for _ in range(25 if status is not Status.UNREACHABLE else 0):
            share = values[0] / (values[0] - values[1])
            u[self.grip] = ends[0] + np.clip(share, 0.02, 0.98) * (ends[1] - ends[0])
            state = self._forward(u, state)
            value = 1.0 / self.fitted(state) - wanted
            if abs(value) <= threshold * wanted:
                status = Status.CONVERGED
                break
            side = int(value * values[1] > 0.0)
            ends[side], values[side] = float(u[self.grip]), value
            values[1 - side] *= 0.5  # Illinois: an end that stays must not stall the other
        return self._stage("grasp", u, state, target, status, begin)

    def place(self, stage: Stage, centre: Array, *, threshold: float = 1e-5) -> Stage:
        """Bring the object to a new position of its centre [m] (3,), with the grip as it is."""
        target = _place("centre", centre)
        begin, self._count = time.perf_counter(), 0
        return self._refine("place", stage.u, stage.state, self._residual(target, 0.0), target, threshold, begin)

    def fitted(self, state: State) -> float:
        """Radius of the circle fitted to the gripping layer [m]."""
        return fit_circle(self.model.positions(state.q)[self.layer][:, self.plane])[1]

    # ---- inside --------------------------------------------------------------------------------------
    def _normal(self) -> Array:
        """Normal of the bending plane, such that positive turns about it bend the segments inwards."""
        normal = np.zeros(3)
        normal[3 - sum(self.plane)] = 1.0
        return normal

    def _forward(self, u: Array, start: State | None) -> State:
        self._count += 1
        return self._solve(u, start)

    def _residual(self, target: Array, weight: float) -> Residual:
        """(distance error; weighted deviation from orthogonality) and its derivative by the positioning commands."""

        def residual(state: State, derivative: bool) -> tuple[Array, Array]:
            place = self.model.locate(state, self.joint)
            gap = target - place.position
            length = float(np.linalg.norm(gap))
            n, way = place.rotation[:, self.axis], gap / length
            factor = weight * (self.radius + self.offset)
            r = np.array([length - self.radius - self.offset, factor * (n @ way)])
            if not derivative:
                return r, np.zeros((2, 0))
            J = sensitivity(self.model, state).of(self.joint)[:, self.position]
            dn = np.cross(J[:3].T, n).T
            dway = -(J[3:] - np.outer(way, way @ J[3:])) / length
            return r, np.vstack([-way @ J[3:], factor * (way @ dn + n @ dway)])

        return residual

    def _refine(
        self, name: str, u: Array, state: State, residual: Residual, target: Array, threshold: float, begin: float
    ) -> Stage:
        low, high = self.low[self.position], self.high[self.position]
        unit = np.maximum(high - low, 1e-300)
        u, damping, status = u.copy(), 1e-6, Status.MAX_ITERATIONS
        r, J = residual(state, True)
        for _ in range(30):
            if np.abs(r).max() <= threshold:
                status = Status.CONVERGED
                break
            here = u[self.position]
            for _ in range(6):
                step = bounded_step(J * unit, -r, damping, (low - here) / unit, (high - here) / unit)
                trial = u.copy()
                trial[self.position] = np.clip(here + step * unit, low, high)
                there = self._forward(trial, state)
                if there.ok and np.linalg.norm(residual(there, False)[0]) < np.linalg.norm(r):
                    break
                damping = max(10.0 * damping, 1e-4)
            else:
                status = Status.UNREACHABLE
                break
            before = float(np.linalg.norm(r))
            u, state, damping = trial, there, max(0.1 * damping, 1e-9)
            r, J = residual(state, True)
            if np.linalg.norm(r) > 0.999 * before:
                status = Status.UNREACHABLE
                break
        return self._stage(name, u, state, target, status, begin)

    def _stage(self, name: str, u: Array, state: State, target: Array, status: Status, begin: float) -> Stage:
        place = self.model.locate(state, self.joint)
        gap = target - place.position
        length = float(np.linalg.norm(gap))
        angle = float(np.degrees(np.arccos(np.clip(place.rotation[:, self.axis] @ gap / length, -1.0, 1.0))))
        return Stage(
            name, u, state, length - self.radius - self.offset, angle, self.fitted(state), self._count, status,
            time.perf_counter() - begin,
        )  # fmt: skip
