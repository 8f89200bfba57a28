"""A credible virtual reality: a robot whose true behaviour the models do not know.

Behind it is any mechanical model with hidden differences (material, asymmetry, weight, payload); around it
what hardware adds: actuators with other gains, hysteresis and lag, a mount that is off, and noisy markers
(spec geometric-computing 7.4).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant import lie
from pliant.errors import ArgumentError
from pliant.solve.equilibrium import equilibrium
from pliant.state import State

Array = np.ndarray


class VirtualRobot:
    """A simulated robot behind the interface of a real one: send commands, wait, read markers.

    Args:
        hidden: makes the true model for a payload [kg]: `hidden(payload)`.
        point: the marker.
        payload: mass at the tip [kg].
        gains: factors of the commands that really arrive (nu,).
        hysteresis: half-width of the actuators' dead band, as a share of the command range [-].
        span: range of the commands, for the hysteresis (nu,).
        lag: time constant of the actuators [s].
        offset: where the marker system believes the base to be, too far [m].
        tilt: rotation vector between the marker system and the base [rad].
        scale: factor of all measured lengths (calibration).
        noise: standard deviation of each marker coordinate [m].
        seed: of the noise.
    """

    def __init__(
        self,
        hidden: Callable[[float], Any],
        *,
        point: str = "tip",
        payload: float = 0.0,
        gains: Sequence[float] | None = None,
        hysteresis: float = 0.0,
        span: Sequence[float] | None = None,
        lag: float = 0.0,
        offset: Sequence[float] = (0.0, 0.0, 0.0),
        tilt: Sequence[float] = (0.0, 0.0, 0.0),
        scale: float = 1.0,
        noise: float = 0.0,
        seed: int = 0,
    ) -> None:
        if min(hysteresis, lag, noise) < 0 or scale <= 0:
            raise ArgumentError("noise", "negative hysteresis, lag, noise or scale", "numbers >= 0")
        self._hidden, self.point = hidden, point
        self._gains = None if gains is None else np.asarray(gains, float)
        self.hysteresis, self.lag, self.noise, self.scale = hysteresis, lag, noise, scale
        self._offset, self._turn = np.asarray(offset, float), lie.exp(np.asarray(tilt, float))
        self._span = None if span is None else np.asarray(span, float)
        self._rng = np.random.default_rng(seed)
        self.load(payload)

    def load(self, payload: float) -> None:
        """Hang another mass on the tip [kg]; the robot returns to rest."""
        self.payload = float(payload)
        self._model = self._hidden(self.payload)
        nu = self._model.nu
        limits = [a.limits if np.isfinite(a.limits).all() else (0.0, 0.0) for a in self._model.robot.actuators]
        self.span = np.ptp(np.array(limits), axis=1) if self._span is None else self._span
        self.gains = np.ones(nu) if self._gains is None else self._gains
        if self.gains.shape != (nu,) or self.span.shape != (nu,):
            raise ArgumentError("gains", "gains or span have a wrong length", f"({nu},)")
        self._band, self._arrived = np.zeros(nu), np.zeros(nu)
        self._state: State | None = None
        self._settle()

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return int(self._model.nu)

    def send(self, u: Sequence[float] | Array, seconds: float = np.inf) -> None:
        """Command the actuators and let time pass; infinitely long means until it rests."""
        u = np.asarray(u, float)
        if u.shape != (self.nu,) or not np.isfinite(u).all():
            raise ArgumentError("u", f"shape {u.shape} or not finite", f"({self.nu},)")
        share = 1.0 if self.lag == 0.0 or not np.isfinite(seconds) else 1.0 - np.exp(-seconds / self.lag)
        self._arrived = self._arrived + share * (u - self._arrived)
        half = self.hysteresis * self.span
        self._band = np.clip(self._band, self._arrived - half, self._arrived + half)
        self._settle()

    def read(self) -> Array:
        """Measured position of the marker [m] (3,)."""
        return self.true_position() + self.noise * self._rng.standard_normal(3)

    def true_position(self) -> Array:
        """The marker without noise [m] (3,): for judging, not for the robot's controller."""
        assert self._state is not None
        p = self._model.locate(self._state.q, self.point).position
        return self.scale * (self._turn @ p) + self._offset

    def _settle(self) -> None:
        state = equilibrium(self._model, self.gains * self._band, start=self._state)
        if not state.ok:
            state = equilibrium(self._model, self.gains * self._band)
        self._state = state.require()


def specimen(
    number: int = 1,
    *,
    payload: float = 0.0,
    lag: float = 0.0,
    hysteresis: float = 0.004,
    noise: float = 5e-5,
    seed: int | None = None,
) -> VirtualRobot:
    """One of two printed copies of the three-chamber arm (`chamber_arm`): other material, other faults.

    The hysteresis is what a correction of the present command cannot learn: it limits every open-loop method to about
    0.3 mm. Without it (and without noise) the methods show what they are worth.

    Args:
        number: 1 or 2: which copy.
        payload: mass at the tip [kg].
        lag: first-order time constant of the response [s].
        hysteresis: as in `VirtualRobot`.
        noise: of a measured position [m].
        seed: of the noise; one that belongs to the copy if None.
    """
    from functools import partial

    if number not in (1, 2):
        raise ArgumentError("number", f"{number}", "1 or 2")
    hidden: dict[str, Any] = (
        {"young": 0.305e6, "gains": (1.05, 0.96, 1.0), "lean": (0.25, -0.12)}
        if number == 1
        else {"young": 0.36e6, "gains": (0.97, 1.06, 1.01), "lean": (-0.15, 0.3)}
    )
    return VirtualRobot(
        partial(_loaded_arm, hidden),
        payload=payload,
        hysteresis=hysteresis,
        lag=lag,
        noise=noise,
        offset=(1.2e-3, -0.8e-3, 0.5e-3) if number == 1 else (-0.9e-3, 1.1e-3, -0.6e-3),
        tilt=(0.006, -0.004, 0.01) if number == 1 else (-0.005, 0.007, -0.008),
        scale=1.004 if number == 1 else 0.997,
        seed=number if seed is None else seed,
    )


def _loaded_arm(hidden: dict[str, Any], payload: float) -> Any:
    from pliant.learn.sources import chamber_arm

    return chamber_arm(payload=payload, **hidden)


def finger_specimen(*, noise: float = 5e-5, seed: int = 3) -> VirtualRobot:
    """A printed copy of the planar finger manipulator: other gains and bending, a mount that is off.

    Args:
        noise: of a measured position [m].
        seed: of the noise.
    """
    from pliant.learn.sources import FingerManipulator

    def hidden(payload: float) -> Any:
        return FingerManipulator(section=0.0137, bend=2.02, curve=0.3, gains=(1.03, 0.96, 1.02))

    return VirtualRobot(
        hidden,
        hysteresis=0.002,
        noise=noise,
        offset=(0.7e-3, -0.5e-3, 0.0),
        tilt=(0.0, 0.0, 0.012),
        seed=seed,
    )
