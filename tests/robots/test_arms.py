"""The arms of rods and links: their published numbers."""

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.models import basis
from pliant.models.rod import RodModel
from pliant.models.rod_tables import section
from pliant.robots.elephant_trunk import elephant_trunk, trunk_channels
from pliant.robots.four_segment_arm import arm_channels, four_segment_arm
from pliant.robots.octopus_arm import octopus_arm
from pliant.robots.printed_link import LENGTH, MASS, printed_link
from pliant.robots.six_link import six_link
from pliant.solve.equilibrium import equilibrium


def test_four_segment_arm_has_the_derived_sections():
    rod = four_segment_arm().bodies[0]
    k, line, _ = section(rod, np.array([0.0]))
    assert np.allclose(k[0, [0, 1, 3]], [5.556, 8.333, 1e4], rtol=1e-3)
    assert line[0] * 0.6 == pytest.approx(6.0, rel=1e-9)
    with pytest.raises(ArgumentError):
        four_segment_arm(segments=0)


def test_pressure_bends_away_from_its_side():
    robot = four_segment_arm(gravity=False)
    model = RodModel(robot, basis=basis.constant(), chambers=arm_channels(robot))
    state = equilibrium(model, {"s1p1": 1e5, "s1p3": 1e5})
    # groups 1 and 3 sit at negative x of the link's frame (positive world x): the tip moves to negative
    # world x
    assert model.locate(state, "tip").position[0] < -0.02


def test_octopus_arm_has_its_frequency():
    model = RodModel(octopus_arm(), basis=basis.legendre(4, strains=("bend_y",)))
    w2 = np.linalg.eigvals(np.linalg.solve(model.inertia(model.rest), model.elasticity)).real.min()
    assert np.sqrt(w2) / (2 * np.pi) == pytest.approx(2.267, rel=5e-3)
    with pytest.raises(ArgumentError, match="taper"):
        octopus_arm(taper=1.0)
    assert octopus_arm(taper=0.8).bodies[0].radius[1] == pytest.approx(0.2 * 0.00825)


def test_masses():
    for robot, mass in ((printed_link(), MASS), (six_link(), 0.3), (elephant_trunk(gripper=0.0), 0.1767)):
        total = sum(section(b, np.array([0.0]))[1][0] * b.length for b in robot.bodies)
        assert total == pytest.approx(mass, rel=2e-3)
    assert printed_link().bodies[0].length == LENGTH


def test_trunk_bends():
    model = RodModel(elephant_trunk(), basis=basis.constant(), chambers=trunk_channels())
    assert equilibrium(model, {"l1a": 3e5}).ok
