"""What a controller sees: frames of a plant, with noise, delay and mounting errors if wanted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant import lie
from pliant.errors import ArgumentError

Array = np.ndarray


class FrameSensor:
    """Motion capture: frames at named points of a plant, base first (n + 1, 4, 4).

    Args:
        plant: any model.
        points: names of the points, from base to tip.
        base: pose of the base (4, 4).
        noise: standard deviation of the positions [m].
        angle_noise: standard deviation of the rotations [rad].
        offset: size of a fixed random mounting error of every marker body [m].
        delay: how old the frames are that are seen [s]; states must then come with their times, in order.
        seed: of the noise.
    """

    def __init__(
        self,
        plant: Any,
        points: Sequence[str],
        base: Array,
        *,
        noise: float = 0.0,
        angle_noise: float = 0.0,
        offset: float = 0.0,
        delay: float = 0.0,
        seed: int = 0,
    ) -> None:
        self.plant, self.points = plant, tuple(points)
        self.base = np.asarray(base, float)
        if self.base.shape != (4, 4):
            raise ArgumentError("base", f"shape {self.base.shape}", "a pose (4, 4)")
        self._rng = np.random.default_rng(seed)
        self._noise, self._angle = float(noise), float(angle_noise)
        if not (np.isfinite(delay) and delay >= 0):
            raise ArgumentError("delay", f"{delay}", "a number that is not negative [s]")
        self._delay = float(delay)
        self._seen: list[tuple[float, Array]] = []
        turned = self._rng.standard_normal((len(self.points), 3))
        self._offset = offset * turned / np.linalg.norm(turned, axis=1, keepdims=True)

    def __call__(self, state: Any) -> Array:
        """Measured frames of a state (or configuration)."""
        place = self.plant.locate(state, self.points)
        out = np.tile(np.eye(4), (len(self.points) + 1, 1, 1))
        out[0] = self.base
        out[1:, :3, :3] = place.rotation
        out[1:, :3, 3] = place.position + np.einsum("nij,nj->ni", place.rotation, self._offset)
        if self._noise:
            out[1:, :3, 3] += self._noise * self._rng.standard_normal((len(self.points), 3))
        if self._angle:
            for T in out[1:]:
                T[:3, :3] = lie.exp(self._angle * self._rng.standard_normal(3)) @ T[:3, :3]
        if not self._delay:
            return out
        self._seen.append((float(state.time), out))
        while len(self._seen) > 1 and self._seen[1][0] <= state.time - self._delay + 1e-9:
            self._seen.pop(0)
        return self._seen[0][1]


def reference_of(target: Any) -> Any:
    """A function of time for a target: a function, a fixed position (3,) or pose (4, 4), or a PointTarget."""
    position = getattr(target, "position", None)
    if position is not None:
        rotation = getattr(target, "rotation", None)
        if rotation is not None:
            target = lie.frame(lie.matrix_from_quaternion(rotation), position)
        else:
            target = position
    if callable(target):
        return target
    fixed = np.asarray(target, float)
    if fixed.shape not in ((3,), (4, 4)) or not np.isfinite(fixed).all():
        raise ArgumentError("target", f"shape {fixed.shape} or not finite", "(3,), (4, 4) or a function of time")
    return lambda t: fixed


def settling(time: Array, error: Array, fraction: float = 0.1) -> float:
    """Time after which the error stays below a fraction of its first value [s]; inf if it never does.

    Args:
        time: of the samples [s] (n,).
        error: their size, in any unit (n,).
        fraction: of the first error.
    """
    outside = np.flatnonzero(np.asarray(error) > fraction * float(error[0]))
    if not len(outside):
        return 0.0
    last = int(outside[-1])
    return float(time[last + 1] - time[0]) if last + 1 < len(time) else float("inf")
