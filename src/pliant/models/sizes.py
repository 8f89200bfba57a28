"""The sizes that the contract asks for, taken from a model's layout."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.robot import Robot


class LaidOut:
    """A model whose coordinates are numbered by a layout."""

    robot: Robot
    layout: Any

    @property
    def nq(self) -> int:
        """Length of a configuration vector."""
        return self.layout.nq

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return self.layout.nv

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return len(self.robot.actuators)

    @property
    def rest(self) -> np.ndarray:
        """The unloaded configuration (nq,)."""
        return self.layout.rest
