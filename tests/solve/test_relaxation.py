"""Falls off unstable equilibria: straight columns above Euler's load."""

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

import pliant as pl
from pliant.materials import Corotational
from pliant.state import Status


def elastica(ratio: float) -> tuple[float, float]:
    """Tip (x, y) / length of a clamped inextensible column under a load that is a multiple of Euler's."""
    m = brentq(lambda m: (2.0 * ellipk(m) / np.pi) ** 2 - ratio, 1e-9, 1.0 - 1e-9)
    return 2.0 * ellipe(m) / ellipk(m) - 1.0, 2.0 * np.sqrt(m) / ellipk(m)


@pytest.mark.parametrize("ratio", [1.39, 2.54])
def test_a_straight_beam_leaves_its_unstable_equilibrium_for_the_elastica(ratio):
    """Sparse tangents had no way off the straight pose: UNSTABLE after hundreds of iterations."""
    length, radius, young = 0.5, 0.005, 1e6
    body = pl.RodBody("rod", length, radius, Corotational.from_young(young, 0.49, density=1000.0))
    push = pl.PointForce(name="push", point=(length, 0, 0), direction=(-1, 0, 0))
    robot = pl.Robot("column", body, actuators=push, points=pl.Point("tip", (length, 0, 0)), gravity=(0, 0, 0))
    model = pl.BeamModel(robot, elements=80)
    euler = np.pi**3 * young * radius**4 / (16.0 * length**2)
    state = pl.equilibrium(model, ratio * euler)
    x, y, z = model.locate(state, "tip").position / length
    assert state.status is Status.SNAPPED
    assert (x, np.hypot(y, z)) == pytest.approx(elastica(ratio), abs=2e-3)
