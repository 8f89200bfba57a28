"""Modal: a model driven directly by generalised forces on its coordinates, as control theory assumes.

The thesis' controllers act on modes ("G = I", or on the first few of them). `Modal(model)` replaces the actuators
of a model by one generalised force per chosen coordinate; everything else is the model's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.actuators import Actuator
from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.models.driven import Driven

Array = np.ndarray


@dataclass(frozen=True, kw_only=True)
class GeneralisedForce(Actuator):
    """A force on one coordinate of a model; its displacement is the coordinate."""

    kind: ClassVar[str] = "generalised_force"
    effort_unit: ClassVar[str] = "unit of energy per unit of the coordinate"
    displacement_unit: ClassVar[str] = "unit of the coordinate"

    coordinate: int = 0


class Modal(Driven):
    """A model (flat configuration space) with one generalised force per chosen coordinate.

    Args:
        model: a rod, constant-curvature or link model; its own actuators are left out.
        coordinates: indices of the driven coordinates; all if None.
    """

    def __init__(self, model: Model, coordinates: Sequence[int] | None = None) -> None:
        chosen = range(model.nv) if coordinates is None else coordinates
        self.coordinates = np.array(list(chosen), dtype=int)
        if len(set(self.coordinates)) != len(self.coordinates) or np.any(self.coordinates >= model.nv):
            raise ArgumentError("coordinates", f"{list(chosen)}", f"distinct indices below {model.nv}")
        actuators = tuple(GeneralisedForce(name=f"tau{i}", coordinate=int(i)) for i in self.coordinates)
        super().__init__(model, np.eye(model.nv)[:, self.coordinates], actuators)
