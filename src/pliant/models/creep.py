"""Creep of joints: viscoelastic states that a time step carries along, condensed within the step.

    lam' = -decay lam - gain v,     force += stiffness lam                 per coordinate (Kelvin-Voigt, spec 7.7)

Within a step of length h the velocity is taken as constant, and lam at its end is an affine function of q:

    lam_1 = exp(-decay h) lam_0 - gain phi (q - q_0),     phi = (1 - exp(-decay h)) / (decay h)

so that every implicit solver sees a force and a stiffness of q alone. It is the spring stiffness * gain in series with
a dashpot: at rest it carries nothing, and equilibria are those of the model without creep.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import ArgumentError

Array = np.ndarray
MEMORY = "creep"
"""Name of the creep states (nv,) in `State.memory`."""


@dataclass(frozen=True)
class Creep:
    """Viscoelastic creep (Kelvin-Voigt), one extra state per coordinate: lam' = -decay lam - gain v, force
    stiffness lam.

    Attributes:
        decay: per coordinate of a link (3,) [1/s].
        gain: (3,).
        stiffness: (3,), generalised force per unit of the state.
    """

    decay: tuple[float, float, float]
    gain: tuple[float, float, float]
    stiffness: tuple[float, float, float]

    def __post_init__(self) -> None:
        for name in ("decay", "gain", "stiffness"):
            values = tuple(float(v) for v in getattr(self, name))
            if len(values) != 3 or not np.isfinite(values).all() or min(values) < 0:
                raise ArgumentError(name, f"{values}", "three numbers that are not negative")
            object.__setattr__(self, name, values)

    def table(self, links: int) -> Array:
        """Rows decay, gain, stiffness for all coordinates (3, 3 links)."""
        return np.array([np.tile(row, links) for row in (self.decay, self.gain, self.stiffness)])


class Creeping:
    """A model during one time step, with the force of its creep states as a function of q.

    Args:
        model: the model without creep.
        table: decay, gain and stiffness per coordinate (3, nv).
        q: configuration at the beginning of the step (nq,).
        memory: of the state at the beginning.
        dt: time step [s]; 0 for the beginning itself.
    """

    def __init__(self, model: Any, table: Array, q: Array, memory: Mapping[str, Any], dt: float) -> None:
        self.model = model
        decay, gain, self._unit = table
        old = np.asarray(memory.get(MEMORY, np.zeros(len(decay))), float)
        x = decay * dt
        self._first = np.exp(-x) * old
        self._slope = gain * np.where(x > 0, -np.expm1(-x) / np.where(x > 0, x, 1.0), 1.0)
        self._q = np.asarray(q, float)

    def __getattr__(self, name: str) -> Any:
        if name == "model":
            raise AttributeError(name)
        return getattr(self.model, name)

    def states(self, q: Array) -> Array:
        """Creep states at the end of the step, if it ends at q (nv,)."""
        return self._first - self._slope * (q - self._q)

    def force(self, q: Array, effort: Array) -> Array:
        """Residual force with creep (nv,)."""
        return self.model.force(q, effort) + self._unit * self.states(q)

    def stiffness(self, q: Array, effort: Array) -> Array:
        """-d force / d q (nv, nv)."""
        return self.linearise(q, effort)[1]

    def linearise(self, q: Array, effort: Array) -> tuple[Array, Array]:
        """Force (nv,) and stiffness (nv, nv)."""
        f, K = self.model.linearise(q, effort)
        return f + self._unit * self.states(q), K + np.diag(self._unit * self._slope)

    def after(self, q: Array) -> dict[str, Array]:
        """What the next step needs to know."""
        return {MEMORY: self.states(q)}
