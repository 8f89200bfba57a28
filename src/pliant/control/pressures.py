"""From generalised forces of an arm segment to the pressures of its four airbag groups, and back.

    tau_y = 2 s l_y p_y,  tau_x = 2 s l_x p_x,  F_z = 4 s p_z
    p_1 + p_4 = p_2 + p_3                                      (no group works against another)

"published": p_1 = p_z + p_x + p_y, p_2 = p_z + p_x, p_3 = p_z + p_y, p_4 = p_z; bending also lengthens.
"symmetric": p_1,4 = p_z +- (p_x + p_y)/2, p_2,3 = p_z +- (p_x - p_y)/2; bending and lengthening are
decoupled.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ArgumentError

Array = np.ndarray
_MIX = {
    # rows p_1..p_4, columns (p_y, p_x, p_z)
    "published": np.array([[1.0, 1.0, 1.0], [0.0, 1.0, 1.0], [1.0, 0.0, 1.0], [0.0, 0.0, 1.0]]),
    "symmetric": np.array([[0.5, 0.5, 1.0], [-0.5, 0.5, 1.0], [0.5, -0.5, 1.0], [-0.5, -0.5, 1.0]]),
}


@dataclass(frozen=True)
class PressureMap:
    """Map of the generalised forces (tau_y, tau_x, F_z) of a segment to its four pressures.

    Attributes:
        area: mean contact area s of an airbag group [m^2].
        lever_y: mean lever arm about y [m].
        lever_x: mean lever arm about x [m].
        rule: "symmetric" or "published".
        limits: range of the valves [Pa].
    """

    area: float
    lever_y: float
    lever_x: float
    rule: Literal["symmetric", "published"] = "symmetric"
    limits: tuple[float, float] = (0.0, 2.5e5)

    def __post_init__(self) -> None:
        for name in ("area", "lever_y", "lever_x"):
            if not (np.isfinite(getattr(self, name)) and getattr(self, name) > 0):
                raise ArgumentError(name, f"{getattr(self, name)}", "a positive number")
        if self.rule not in _MIX:
            raise ArgumentError("rule", f"{self.rule!r}", "'symmetric' or 'published'")

    @property
    def gains(self) -> Array:
        """Generalised force per pressure component (p_y, p_x, p_z) (3,)."""
        return self.area * np.array([2.0 * self.lever_y, 2.0 * self.lever_x, 4.0])

    def components(self, force: ArrayLike) -> Array:
        """Pressure components (p_y, p_x, p_z) [Pa] of generalised forces (..., 3)."""
        return np.asarray(force, float) / self.gains

    def pressures(self, force: ArrayLike) -> Array:
        """Pressures of the four groups [Pa] (..., 4), not limited."""
        return self.components(force) @ _MIX[self.rule].T

    def forces(self, pressures: ArrayLike) -> Array:
        """Generalised forces (tau_y, tau_x, F_z) (..., 3) that belong to pressures (..., 4) of the rule."""
        p = np.asarray(pressures, float)
        p1, p2, p3, p4 = (p[..., i] for i in range(4))
        if self.rule == "published":
            parts = np.stack([p3 - p4, p2 - p4, p4], axis=-1)
        else:
            parts = np.stack([p1 - p2, p1 - p3, 0.5 * (p1 + p4)], axis=-1)
        return parts * self.gains

    def saturated(self, pressures: ArrayLike) -> Array:
        """Whether any group of a segment would leave the range of its valve (...,) bool."""
        p = np.asarray(pressures, float)
        return np.asarray(((p < self.limits[0] - 1e-9) | (p > self.limits[1] + 1e-9)).any(axis=-1))

    def admissible(self, force: ArrayLike) -> Array:
        """The nearby generalised forces that the valves can give (..., 3).

        Bending goes before lengthening.
        """
        low, high = self.limits
        c = np.array(self.components(force))
        if self.rule == "published":
            return self.forces(self.limited(self.pressures(force)))
        bend = np.abs(c[..., :2]).sum(axis=-1)
        scale = np.minimum(1.0, (high - low) / np.maximum(bend, 1e-300))
        c[..., :2] *= scale[..., None]
        half = 0.5 * bend * scale
        c[..., 2] = np.clip(c[..., 2], low + half, high - half)
        return c * self.gains

    def limited(self, pressures: ArrayLike) -> Array:
        """Pressures within the range of the valves (..., 4)."""
        return np.clip(np.asarray(pressures, float), *self.limits)
