"""Hysteresis of the actuators as play: found in measurements, and taken out of commands.

A drive with play of half-width r passes a change on only when the command has moved by r beyond where it last did:

    felt_k = min(max(felt_{k-1}, u_k - r), u_k + r)

A correction that sees the command alone cannot know on which side the drive lies; its error stays near the play's. The
order of the measurements tells r, and a command of known r is sent r further, in the direction of the motion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import minimize_scalar

from pliant.errors import ArgumentError
from pliant.learn.recorder import Measurements
from pliant.learn.transfer import cross_validate
from pliant.models.learned import LearnedModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Play:
    """Play of each actuator.

    Attributes:
        half: half-width, in the unit of the command (nu,).
    """

    half: Array

    def felt(self, u: Array, start: Array | None = None) -> Array:
        """What the robot feels of commands sent one after the other (n, nu), from `start` on (zero if None)."""
        now = np.zeros(len(self.half)) if start is None else np.asarray(start, float)
        out = np.empty_like(np.asarray(u, float))
        for k, command in enumerate(u):
            now = np.clip(now, command - self.half, command + self.half)
            out[k] = now
        return out

    def measured(self, measurements: Measurements) -> Measurements:
        """The measurements with what was felt instead of what was sent; they must be in the order of recording."""
        return replace(measurements, u=self.felt(measurements.u))

    def commands(self, wanted: Array, start: Array | None = None) -> Array:
        """Commands (n, nu) after which the robot feels `wanted`, one after the other, from `start` on."""
        now = np.zeros(len(self.half)) if start is None else np.asarray(start, float)
        out = np.empty_like(np.asarray(wanted, float))
        for k, goal in enumerate(wanted):
            out[k] = goal + self.half * np.sign(goal - now)
            now = goal
        return out


def find_play(learned: LearnedModel, measurements: Measurements, *, largest: float = 0.03, seed: int = 0) -> Play:
    """The play that explains measurements best: the one with the smallest cross-validated error of a correction.

    Args:
        learned: model without correction of the measured point.
        measurements: in the order in which they were recorded, from rest.
        largest: largest half-width, as a share of the range of the commands.
        seed: of the cross-validation.
    """
    if len(measurements) < 20:
        raise ArgumentError("measurements", f"{len(measurements)} rows", "at least 20, in the order of recording")
    span = np.ptp(learned.ranges, axis=1)
    plain = learned.without_correction()

    def error(share: float) -> float:
        felt = Play(share * span).measured(measurements)
        y = plain.position(felt.u, felt.point)[0]
        return float(np.sqrt(np.mean(cross_validate("residual", y, felt, folds=4, seed=seed) ** 2)))

    tried = largest * np.linspace(0.0, 1.0, 13)
    values = [error(s) for s in tried]
    k = int(np.argmin(values))
    best, share = values[k], tried[k]
    if 0 < k < len(tried) - 1:
        near = minimize_scalar(error, bounds=(tried[k - 1], tried[k + 1]), method="bounded", options={"maxiter": 10})
        if near.fun < best:
            best, share = float(near.fun), float(near.x)
    # Play that hardly explains anything is not there: the search would fit the noise.
    return Play(span * (share if best < 0.9 * values[0] else 0.0))
