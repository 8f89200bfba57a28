"""Fluidic sources: reservoirs of changing volume, regulated inlets, leaks; systems for the `Composer`.

    p' = (n / V) (R T m' - V' p) - leak (p - p_a),     V = V(displacement)            absolute pressures
    m' = valve(kp (p_d - p) + ki int (p_d - p), p)                                    regulated inlet

The rate of the displacement is taken from a "dirty derivative" z' = -a (z + a J), J' = z + a J (unit gain at
low frequency), or given.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import ArgumentError

Array = np.ndarray
ATMOSPHERE = 101325.0
GAS = 287.05
"""Specific gas constant of dry air [J/(kg K)]."""


def constant_volume(volume: float) -> Callable[[float], tuple[float, float]]:
    """A rigid vessel: displacement -> (volume [m^3], slope)."""
    return lambda x: (volume, 0.0)


def expanding_volume(volume: float, scale: float) -> Callable[[float], tuple[float, float]]:
    """V0 (1 + tanh(x / scale)): a vessel that grows with the displacement x."""

    def at(x: float) -> tuple[float, float]:
        th = np.tanh(x / scale)
        return float(volume * (1.0 + th)), float(volume * (1.0 - th * th) / scale)

    return at


@dataclass(frozen=True, eq=False)
class Reservoir:
    """A gas reservoir with a regulated inlet; states (pressure [Pa], mass [kg], integral of the error,
    filter).

    Inputs: (wanted absolute pressure [Pa], displacement of the volume), and optionally the displacement's
        rate, which
    replaces the filter.

    Attributes:
        volume: displacement -> (volume [m^3], d volume / d displacement).
        kp, ki: gains of the regulator [kg/(s Pa)], [kg/(s^2 Pa)].
        polytropic: exponent n_k: 1 isothermal, 1.4 adiabatic.
        temperature: [K].
        leak: [1/s], towards the atmosphere.
        pressure: start, absolute [Pa].
        filter_rate: of the dirty derivative [1/s].
        valve: inlet law (control signal, pressure) -> mass flow [kg/s]; the signal itself if None.
    """

    volume: Callable[[float], tuple[float, float]]
    kp: float = 0.0
    ki: float = 0.0
    polytropic: float = 1.0
    temperature: float = 293.15
    leak: float = 0.0
    pressure: float = ATMOSPHERE
    filter_rate: float = 200.0
    valve: Callable[[float, float], float] | None = None

    def __post_init__(self) -> None:
        for name in ("temperature", "pressure", "polytropic", "filter_rate"):
            if not getattr(self, name) > 0:
                raise ArgumentError(name, f"{getattr(self, name)}", "a positive number")

    @property
    def start(self) -> Array:
        """Initial state (4,): at rest with displacement 0."""
        mass = self.pressure * self.volume(0.0)[0] / (GAS * self.temperature)
        return np.array([self.pressure, mass, 0.0, 0.0])

    def flow(self, t: float, x: Array, u: Array) -> Array:
        """x' (4,)."""
        p, _, integral, z = x
        wanted = float(u[0]) if len(u) else p
        moved = float(u[1]) if len(u) > 1 else 0.0
        volume, slope = self.volume(moved)
        if volume <= 0:
            raise ArgumentError("volume", f"{volume} at displacement {moved}", "a positive volume")
        rate = float(u[2]) if len(u) > 2 else z + self.filter_rate * moved
        error = wanted - p
        signal = self.kp * error + self.ki * integral
        inflow = self.valve(signal, p) if self.valve else signal
        leaking = self.leak * (p - ATMOSPHERE)
        outflow = leaking * volume / (self.polytropic * GAS * self.temperature)
        dp = self.polytropic / volume * (GAS * self.temperature * (inflow - outflow) - slope * rate * p)
        return np.array([dp, inflow - outflow, error, -self.filter_rate * (z + self.filter_rate * moved)])


class Regulator:
    """Pressure regulators as first-order lags, around any controller: u' = (wanted - u) / lag, within limits.

    Args:
        controller: controller or constant command.
        lag: time constant [s], one or one per actuator.
        rate: largest change [unit/s].
        limits: (low, high) of the delivered command.
    """

    def __init__(
        self,
        controller: Any,
        *,
        lag: float = 0.1,
        rate: float = np.inf,
        limits: tuple[float, float] = (-np.inf, np.inf),
    ) -> None:
        self.controller, self.lag, self.rate, self.limits = controller, np.asarray(lag, float), float(rate), limits
        if np.any(self.lag <= 0):
            raise ArgumentError("lag", f"{lag}", "a positive number [s]")
        self._time: float | None = None
        self._u: Array | None = None
        self.targets = getattr(controller, "targets", {})

    def __call__(self, t: float, state: Any) -> Array:
        """Delivered command (nu,)."""
        given = self.controller(t, state) if callable(self.controller) else self.controller
        wanted = np.atleast_1d(np.asarray(given, float))
        if self._u is None or self._time is None:
            self._u = np.array(state.effort, float) if len(np.atleast_1d(state.effort)) == len(wanted) else wanted * 0.0
        else:
            dt = t - self._time
            change = (1.0 - np.exp(-dt / self.lag)) * (wanted - self._u)
            most = self.rate * dt if dt > 0 else 0.0
            self._u = self._u + np.clip(change, -most, most)
        self._time = t
        return np.clip(self._u, *self.limits)
