"""The sizes that the contract asks for, written once for models that know them in the same way."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.robot import Robot


class Actuated:
    """A model that is driven by the actuators of its robot, in their order."""

    robot: Robot

    @property
    def nu(self) -> int:
        """Number of actuators."""
        return len(self.robot.actuators)


class LaidOut(Actuated):
    """A model whose coordinates are numbered by a layout."""

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
    def rest(self) -> np.ndarray:
        """The unloaded configuration (nq,)."""
        return self.layout.rest


class Flat(Actuated):
    """A model whose configurations are plain vectors: an increment has as many numbers as a configuration."""

    _rest: np.ndarray

    @property
    def nq(self) -> int:
        """Length of a configuration vector."""
        return len(self._rest)

    @property
    def nv(self) -> int:
        """Degrees of freedom."""
        return len(self._rest)

    @property
    def rest(self) -> np.ndarray:
        """The unloaded configuration (nq,)."""
        return self._rest
