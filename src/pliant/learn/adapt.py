"""Online adaptation: a correction that follows the robot while it works."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.errors import ArgumentError
from pliant.models.correction import Correction
from pliant.models.learned import LearnedModel

Array = np.ndarray


class Adapter:
    """Recursive least squares on an affine map of the predicted position, on top of whatever correction
    there is.

    Args:
        model: learned model, with or without correction.
        point: which point is measured; the first if None.
        forgetting: weight of the past per measurement, 1 never forgets.
        prior: how far the correction may go at first [m]: small is cautious.
        noise: standard deviation of a measurement [m].
    """

    def __init__(
        self,
        model: LearnedModel,
        *,
        point: str | None = None,
        forgetting: float = 0.98,
        prior: float = 5e-3,
        noise: float = 1e-4,
    ) -> None:
        if not 0.5 < forgetting <= 1.0 or prior <= 0 or noise <= 0:
            raise ArgumentError("forgetting", f"{forgetting}, prior {prior}, noise {noise}", "0.5 < forgetting <= 1")
        self.point = point or model.point_names[0]
        self._base, self._forgetting = model, forgetting
        y = model.knowledge.kinematics(model.knowledge.samples)
        i = 3 * model.point_names.index(self.point)
        self._mid, self._half = (
            y[:, i : i + 3].mean(axis=0),
            max(float(np.ptp(y[:, i : i + 3], axis=0).max()) / 2, 1e-9),
        )
        self._offset = i
        self._P = np.diag([1.0, 0.2, 0.2, 0.2]) * (prior / noise) ** 2
        self._w = np.zeros((4, 3))
        self.count = 0

    def update(self, u: Array, measured: Array) -> Array:
        """Take in one measurement [m] (3,); returns the error that the model had before it [m] (3,)."""
        u, measured = np.asarray(u, float), np.asarray(measured, float)
        if measured.shape != (3,) or not np.isfinite(measured).all():
            raise ArgumentError("measured", f"shape {measured.shape} or not finite", "a position (3,)")
        f = self._features(u)
        error = measured - self._base.position(u, self.point)[0] - f @ self._w
        Pf = self._P @ f
        gain = Pf / (self._forgetting + f @ Pf)
        self._w += np.outer(gain, error)
        self._P = (self._P - np.outer(gain, Pf)) / self._forgetting
        # Forgetting must not let the unexcited directions grow without bound.
        self._P *= min(1.0, 1e6 / float(np.trace(self._P)))
        self.count += 1
        return error

    def _features(self, u: Array) -> Array:
        y = self._base.knowledge.kinematics(u)[self._offset : self._offset + 3]
        return np.array([1.0, *((y - self._mid) / self._half)])

    @property
    def model(self) -> LearnedModel:
        """The model with what was learned so far."""
        c = self._base.knowledge.corrections.get(self.point)
        if c is None:
            low, high = self._mid - self._half, self._mid + self._half
            c = Correction(
                "online",
                False,
                1.0,
                np.zeros((3, 3)),
                np.zeros(3),
                None,
                np.zeros((0, 3)),
                np.ones(3),
                np.zeros((0, 3)),
                np.zeros(0),
                low,
                high,
            )
        linear = np.array(c.linear) if c.linear.size else np.zeros((3, len(c.low)))
        linear[:, :3] += self._w[1:].T / self._half
        constant = c.constant + self._w[0] - self._w[1:].T @ self._mid / self._half
        adapted = replace(c, linear=linear, constant=constant)
        return self._base.but(corrections={**self._base.knowledge.corrections, self.point: adapted})
