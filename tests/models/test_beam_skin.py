"""The skin of beams: cubic curves between the nodes, and their derivatives."""

import numpy as np
import pytest

from pliant import robots
from pliant.actuators import PointForce
from pliant.bodies import RodBody
from pliant.errors import ArgumentError
from pliant.materials import Corotational
from pliant.models.beam import BeamModel
from pliant.robot import Robot
from pliant.solve.equilibrium import equilibrium

LENGTH, RADIUS, YOUNG = 0.2, 0.002, 1e9


def wire(**changes) -> Robot:
    material = Corotational.from_young(YOUNG, 0.3, density=2000)
    rod = RodBody(**{"name": "wire", "length": LENGTH, "radius": RADIUS, "material": material, **changes})
    push = PointForce(name="push", point=(LENGTH, 0, 0), direction=(0, 0, 1))
    return Robot("wire", (rod,), actuators=(push,), gravity=(0, 0, 0))


def test_one_capsule_per_element_joins_the_nodes():
    model = BeamModel(wire(), elements=4)
    assert model.skin.size == 5
    assert np.array_equal(model.skin_positions(model.rest), model.poses(model.rest)[0])


@pytest.mark.parametrize("elements", [1, 3])
def test_skin_follows_the_elastic_line_between_the_nodes(elements):
    model = BeamModel(wire(), elements=elements, capsules=6)
    force, second = 1e-4, 0.25 * np.pi * RADIUS**4
    x = model.skin_positions(equilibrium(model, {"push": force}, strict=True).q)
    s = np.linspace(0, LENGTH, 6 * elements + 1)
    exact = force * s**2 * (3 * LENGTH - s) / (6 * YOUNG * second)
    assert np.abs(x[:, 2] - exact).max() < 1e-3 * exact[-1]
    assert model.skin.segments.shape == (6 * elements, 2)


def test_skin_lies_on_a_rod_that_is_curved_at_rest():
    """Between nodes of a circle the cubic leaves the arc by the fourth power of the element's angle."""
    off = []
    for elements in (4, 8):
        model = BeamModel(wire(rest_curvature=(0.0, 0.0, 10.0)).but(actuators=()), elements=elements, capsules=5)
        centre = np.array([0.0, 0.1, 0.0])
        off.append(np.abs(np.linalg.norm(model.skin_positions(model.rest) - centre, axis=1) - 0.1).max())
    assert off[0] < 0.1 * 0.5**4 / 384
    assert off[1] < off[0] / 12.0


def test_thickness_between_the_nodes():
    model = BeamModel(wire(radius=(0.002, 0.001)), elements=2, capsules=2)
    assert model.skin.radius == pytest.approx([0.002, 0.00175, 0.0015, 0.00125, 0.001])


def test_skin_rows_are_derivatives():
    model = BeamModel(robots.catheter(), elements=3, capsules=4)
    rng = np.random.default_rng(0)
    d = 0.2 * rng.standard_normal(model.nv)
    d[model.layout.free_v[:, 3:]] *= 0.01
    q = model.retract(model.rest, d)
    vertices, weights, directions = rng.integers(0, 13, (7, 2)), rng.random((7, 2)), rng.standard_normal((7, 3))
    rows = model.skin_rows(q, vertices, weights, directions)

    def value(at):
        return np.einsum("mk,mi,mki->m", weights, directions, model.skin_positions(at)[vertices])

    h = 1e-6
    for j in range(model.nv):
        unit = np.zeros(model.nv)
        unit[j] = h
        slope = (value(model.retract(q, unit)) - value(model.retract(q, -unit))) / (2 * h)
        assert rows[:, j] == pytest.approx(slope, abs=1e-8)


def test_capsules_are_counted():
    with pytest.raises(ArgumentError, match="capsules"):
        BeamModel(wire(), capsules=0)
