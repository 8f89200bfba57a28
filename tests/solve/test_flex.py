"""flex: what it says of its answers (its answers themselves: tests/models/test_geometric*.py)."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant import robots
from pliant.contact import SelfContact, Sphere
from pliant.contact.detection import Detector
from pliant.models.geometric import GeometricModel
from pliant.robots.finger import finger
from pliant.robots.silicone_finger import silicone_finger
from pliant.solve.balance import unbalanced
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.problem import Problem
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


@pytest.mark.parametrize(
    ("centre", "radius", "pulled"),
    [
        ((0.02109637, 0.00336584, -0.02748466), 0.009118303153361252, 0.018360017479146666),  # chord steps at the end
        ((0.04425662, -0.00646119, -0.07765946), 0.00891449, 0.01154486423956294),  # 56 steps
    ],
)
def test_an_answer_on_a_curved_obstacle_is_the_equilibrium_with_contacts_found_afresh(centre, radius, pulled):
    """The point of a facet that touches a ball wanders; held where it was met, it left the pose 1e-5 L off."""
    model, ball = GeometricModel(finger()), [Sphere(centre, radius)]
    found = flex(model, {"cable": pulled}, obstacles=ball)
    again = equilibrium(model, {"cable": pulled}, obstacles=ball, start=found)
    problem = Problem(model, ball)
    pressing = found.contacts.key[found.contacts.forces > 0.0]
    assert found.status is again.status is Status.CONVERGED
    assert len(pressing) and len(np.unique(pressing)) == len(pressing)
    assert np.abs(model.skin_positions(found.q) - model.skin_positions(again.q)).max() < 1e-8 * problem.length
    left, scale = unbalanced(problem, found.q, found.effort, found.u, problem.fresh(found.q, found.contacts))
    assert np.abs(left).max() < 1e-7 * scale and found.residual == pytest.approx(np.abs(left).max() / scale, abs=1e-9)


def test_twelve_teeth_that_press_on_each_other():
    """Dozens of pairs press, hundreds are near; with every row at once and a query per step this did not converge."""
    model = GeometricModel(silicone_finger(teeth=12, size=4e-3))
    state = flex(model, model.command({"air": 1.5}), obstacles=[SelfContact()], alarm=1e-3)
    assert state.status is Status.CONVERGED and not any("took over" in note for note in state.notes)
    assert (state.contacts.forces > 0.0).sum() > 12
    fresh = Detector(model, [SelfContact()], alarm=1e-3).detect(state.q)
    assert fresh.max_penetration < 1e-6 * 0.1
    assert state.residual < 1e-6


@pytest.mark.parametrize(
    "name",
    ["finger", "accordion", "trunk", "beam",
     *(pytest.param(n, marks=pytest.mark.slow) for n in ("pneunet", "pneumatic_finger", "silicone_finger", "tower",
       "diamond", "three_chamber_arm", "golden_beam", "twister", "dielectric_crawler", "membrane", "mannequin",
       "notched_finger"))],
)  # fmt: skip
def test_commands_that_differ_by_rounding_end_alike(name):
    robot = robots.get(name)()
    model = GeometricModel(robot)
    top = np.array([a.limits[1] for a in robot.actuators])
    u = np.where(np.isfinite(top), top, 0.0) * np.linspace(0.35, 0.6, len(top))
    noise = np.random.default_rng(0).normal(size=len(u))
    for solve in (flex, equilibrium):
        one, two = solve(model, u), solve(model, u * (1.0 + 1e-9 * noise))
        assert one.ok
        assert one.status is two.status
        size = float(np.ptp(model.positions(one.q), axis=0).max())
        assert np.abs(model.positions(one.q) - model.positions(two.q)).max() < 1e-7 * size
