"""Ends of the inverse that are not minima: off saddles by itself, from other starts on request."""

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl
from pliant.inverse.nested import Curvature
from pliant.inverse.restarts import flat_directions

LENGTH = 0.3


def planar_arm(**basis):
    """A straight arm without weight; two long and two short cables bend it in a plane."""
    material = pl.materials.NeoHookean.from_young(1e6, 0.45, density=1000.0)
    cables = tuple(
        pl.Cable(
            name=f"{name}_{side}", drive="effort", effort_limits=(0, 30),
            points=[(x, 0, z) for x in np.linspace(0, end, 8)],
        )
        for name, end in (("long", LENGTH), ("short", LENGTH / 2))
        for side, z in (("up", 0.008), ("down", -0.008))
    )  # fmt: skip
    body = pl.RodBody("arm", LENGTH, 0.01, material)
    points = (pl.Point("tip", (LENGTH, 0, 0)),)
    robot = pl.Robot("arm", (body,), actuators=cables, gravity=(0, 0, 0), points=points)
    return pl.RodModel(robot, basis=pl.basis.legendre(2, **basis))


@pytest.mark.parametrize("part", [0.97, 0.8])
def test_target_on_the_axis_of_a_straight_arm_that_cannot_shorten(part):
    """To first order no cable moves the tip along the axis: the straight arm is a saddle, an S of the arm is there."""
    model = planar_arm(strains=("bend_y",))
    goal = (part * LENGTH, 0.0, 0.0)
    first = pl.invert(model, targets=pl.PointTarget("tip", goal), iterations=1)
    assert np.abs(first.state.q).max() < 1e-12  # one linearisation sees no way
    command = pl.invert(model, targets=pl.PointTarget("tip", goal))
    assert command.status is pl.Status.CONVERGED, (command.status, command.error)
    again = pl.equilibrium(model, command.u, start=command.state).require()
    assert np.abs(model.locate(again, "tip").position - goal).max() < 1e-6 * LENGTH


def test_closest_point_is_a_local_minimum():
    """Out of reach: no small change of the efforts within their limits lowers the distance."""
    model = planar_arm(strains=("bend_y",))
    target = pl.PointTarget("tip", (0.55 * LENGTH, 0.0, 0.0))
    command = pl.invert(model, targets=target)
    assert command.status is pl.Status.UNREACHABLE
    best = np.linalg.norm(command.error)
    assert best < 0.4 * 0.45 * LENGTH  # far better than the straight arm
    rng = np.random.default_rng(0)
    for scale in (0.05, 0.5):
        for _ in range(20):
            effort = np.clip(command.effort + scale * rng.standard_normal(4), 0, 30)
            near = pl.equilibrium(model, effort, start=command.state).require()
            assert np.linalg.norm(model.locate(near, "tip").position - target.position) > best - 1e-9


def test_other_starts_find_a_target_that_a_symmetric_end_hides():
    """Pulled short by all cables, the arm ends at every limit; bent to one side it gets there."""
    model = planar_arm()
    target = pl.PointTarget("tip", (0.6 * LENGTH, 0.0, 0.0))
    local = pl.invert(model, targets=target, search="local")
    assert local.status is pl.Status.UNREACHABLE
    assert local.effort == pytest.approx(np.full(4, 30.0))
    many = pl.invert(model, targets=target, search="multistart")
    assert many.status is pl.Status.CONVERGED
    assert any("another start" in note for note in many.notes)
    again = pl.equilibrium(model, many.u, start=many.state).require()
    assert np.abs(model.locate(again, "tip").position - target.position).max() < 1e-6 * LENGTH


def test_trunk_straight_below_its_tip():
    """The target lies in the trunk, below what it can be pulled short to: bent, it gets there."""
    model = pl.FemModel(pl.robots.trunk())
    rest = pl.equilibrium(model)
    goal = model.locate(rest, "tip").position - (0.0, 0.0, 0.04)
    local = pl.invert(model, rest, pl.PointTarget("tip", tuple(goal)), search="local")
    assert local.status is pl.Status.UNREACHABLE
    # every stroke is at its limit, and every limit holds it: no change of the strokes lowers the distance
    assert local.displacement == pytest.approx([a.displacement_limits[1] for a in model.robot.actuators], rel=1e-6)
    assert (local.solution.dual_displacement < 0).all()
    assert not flat_directions(local.problem, local.solution, 3)
    many = pl.invert(model, rest, pl.PointTarget("tip", tuple(goal)), search="multistart")
    assert many.status is pl.Status.CONVERGED


def test_a_tip_that_first_goes_the_other_way():
    """Filled, the slit of the twister moves its tip away from where it will be: downhill from rest there is nothing."""
    model = pl.FemModel(pl.robots.twister(length=0.06, size=6e-3))
    there = pl.equilibrium(model, {"air": 1.2e-6}).require()
    target = pl.PointTarget("tip", tuple(model.locate(there, "tip").position))
    assert pl.invert(model, targets=target, search="local").status is pl.Status.UNREACHABLE
    found = pl.invert(model, targets=target)
    assert found.status is pl.Status.CONVERGED
    assert found.u == pytest.approx(there.u, rel=1e-6)


def test_limits_that_the_start_breaks_and_another_pose_holds():
    """From rest the stroke never came into its limits, which was said to be impossible; 18.59 mm is an equilibrium."""
    model = pl.FemModel(pl.robots.finger())
    target = pl.CentreOfMassTarget((0.02977, -0.00125, -0.02689))
    command = pl.invert(model, targets=target, limits=[pl.DisplacementLimit("cable", 0.0097, 0.01859)])
    assert command.ok
    assert 0.0097 * (1 - 1e-6) <= command.displacement[0] <= 0.01859 * (1 + 1e-6)


def test_a_contact_force_is_found_from_where_nothing_touches():
    """The force on a wall says nothing to a finger that does not touch it: it is found where it does."""
    model = pl.FemModel(pl.robots.finger())
    wall = pl.Plane((0.02248147, 0, 0), (-1, 0, 0), name="wall")
    target = pl.ContactForceTarget(0.05, "wall")
    for search in ("auto", "multistart"):
        command = pl.invert(model, targets=target, obstacles=[wall], search=search)
        assert command.status is pl.Status.CONVERGED, (search, command.status)
        again = pl.equilibrium(model, command.u, obstacles=[wall], start=command.state).require()
        assert again.contacts.forces.sum() == pytest.approx(0.05, rel=1e-4)


def test_a_start_that_an_obstacle_was_put_into_is_left_for_another():
    """A ball stands 9 mm deep in the pose to start from: elements turn inside out, and that was all it said."""
    model = pl.FemModel(golden_beam())
    start = pl.equilibrium(model, [0.0195, 0.0421, 0.0360]).require()
    balls = [pl.Sphere((0.0562, 0.02, -0.0354), 0.015), pl.Sphere((0.074, 0.0304, 0.0329), 0.012)]
    assert balls[0].distance(model.skin_positions(start.q)).min() < -5e-3
    target = pl.PointTarget("tip", (0.0655, -0.0015, -0.0145))
    command = pl.invert(model, start, target, obstacles=balls)
    assert command.ok, (command.status, command.notes)
    assert np.linalg.norm(command.error) < 2e-3
    forward = pl.equilibrium(model, command.u, obstacles=balls, start=command.state).require()
    assert np.abs(forward.q - command.state.q).max() < 1e-6


def test_curvature_is_learned_along_the_last_step():
    """r(a) = (a1 + a2^2, 2 + a1 a2): the secant matrix gives what the Hessian has beyond J^T J along the last step."""
    value = lambda a: np.array([a[0] + a[1] ** 2, 2.0 + a[0] * a[1]])
    rows = lambda a: np.array([[1.0, 2 * a[1]], [a[1], a[0]]])
    learned, unit = Curvature(), np.array([1.0, 0.5])
    end = np.array([0.3, 0.2])
    for a in (np.array([0.5, 0.2]), np.array([0.3, 0.1]), end):
        R = learned.learn(a, rows(a), value(a), unit, b"")
    s = end - np.array([0.3, 0.1])
    r = value(end)
    exact = np.array([[0.0, r[1]], [r[1], 2 * r[0]]])
    found = learned._S / np.outer(unit, unit)
    assert found @ s == pytest.approx(exact @ s, rel=1e-9)
    values, axes = np.linalg.eigh(learned._S)
    positive = (axes * np.maximum(values, 0.0)) @ axes.T / np.outer(unit, unit)
    assert np.allclose(R.T @ R, positive, atol=1e-9)
    assert not len(learned.learn(end, rows(end), value(end), unit, b"another contact set"))
