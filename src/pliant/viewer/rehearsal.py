"""What the first drag will need, run once before it, while the page loads.

The first inverse of a process loads compiled code (or, on a new machine, compiles it for a minute): a user who drags
a target should not wait for that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant.models.contract import Model
from pliant.state import State
from pliant.viewer.supersede import inverse

PEA = 0.005  # radius of the ball that is put on the skin, relative to the robot's size


def rehearse(model: Model, state: State, targets: Sequence[Any], *, contact: bool) -> None:
    """One linearisation of the inverse for targets where they are, with a ball that touches if `contact`."""
    inverse(model, state, targets, obstacles=[touching(model, state, targets)] if contact else (), iterations=1)


def touching(model: Model, state: State, targets: Sequence[Any]) -> Any:
    """A small ball on the skin of a model in a state, near the first target that has a place."""
    from pliant.contact import Sphere

    skin = model.skin_positions(state.q)
    places = [t.position for t in targets if hasattr(t, "position") and np.shape(t.position) == (3,)]
    near = np.asarray(places[0], float) if places else skin[0]
    centre = skin[np.argmin(np.linalg.norm(skin - near, axis=1))]
    return Sphere(tuple(float(c) for c in centre), PEA * float(np.linalg.norm(np.ptp(skin, axis=0))))
