"""flex: what it says of its answers (its answers themselves: tests/models/test_geometric*.py)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.contact import SelfContact, Sphere
from pliant.contact.detection import Detector
from pliant.models.geometric import GeometricModel
from pliant.robots.finger import finger
from pliant.robots.silicone_finger import silicone_finger
from pliant.solve.flex import flex
from pliant.state import Status


def test_a_factor_of_another_model_is_not_taken_for_the_own():
    robot = finger(size=0.01)
    body = robot.bodies[0]
    stiff = robot.but(bodies=(replace(body, material=replace(body.material, young=1e14)),))
    model = GeometricModel(robot)
    start = flex(GeometricModel(stiff), {"cable": 0.0})
    found, fresh = flex(model, {"cable": 0.0}, start=start), flex(model, {"cable": 0.0})
    assert found.ok and found.residual < 1e-6
    assert np.abs(found.q - fresh.q).max() < 1e-8
    lying = start.but(memory={**start.memory, "factor of": model})  # steps of a factor that is too stiff are short
    found = flex(model, {"cable": 0.0}, start=lying)
    assert not found.ok or found.residual < 1e-6


@pytest.mark.parametrize(("radius", "pulled"), [(0.01, 0.02), (0.004, 0.01), (0.004, 0.005)])
def test_contacts_that_carry_force_are_where_the_obstacle_is(radius, pulled):
    """A ball around the tip pushes the finger away; what was touched on the way is not touched at the end."""
    model = GeometricModel(finger())
    centre = model.locate(model.rest, "tip").position
    found = flex(model, {"cable": pulled}, obstacles=[Sphere(tuple(centre), radius)])
    assert found.ok
    loaded = found.contacts.selected(found.contacts.forces > 1e-9)
    x = model.skin_positions(found.q)
    points = np.einsum("mk,mki->mi", loaded.weights, x[loaded.vertices])
    assert np.abs(np.linalg.norm(points - centre, axis=1) - radius).max(initial=0.0) < 1e-6


def test_twelve_teeth_that_press_on_each_other():
    """Dozens of pairs press, hundreds are near; with every row at once and a query per step this did not converge."""
    model = GeometricModel(silicone_finger(teeth=12, size=4e-3))
    state = flex(model, model.command({"air": 1.5}), obstacles=[SelfContact()], alarm=1e-3)
    assert state.status is Status.CONVERGED and not any("took over" in note for note in state.notes)
    assert (state.contacts.forces > 0.0).sum() > 12
    fresh = Detector(model, [SelfContact()], alarm=1e-3).detect(state.q)
    assert fresh.max_penetration < 1e-6 * 0.1
    assert state.residual < 1e-6
