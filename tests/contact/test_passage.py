"""A skin that goes through an obstacle within one step is noticed; one that slides around it is not accused."""

import numpy as np
import pytest

import pliant as pl
from pliant.bodies import SoftBody
from pliant.contact import Box, Detector, MeshObstacle, Pose, Sphere
from pliant.contact.passage import flew_through, went_through
from pliant.contact.surface import surface_of
from pliant.geometry import TetMesh
from pliant.materials import Corotational
from pliant.robot import Robot
from pliant.state import Status

WALL = Box((0.0, 0.0, 0.0), (1.0, 1.0, 0.01))


def passes(make, shift, obstacle, pose=None, low=(-0.2, -0.2, 0.1)):
    x, t = make.box(low, np.add(low, 0.4), (3, 3, 3))
    surface = surface_of(make.model(x, t).skin)
    return went_through(surface, x, x + shift, obstacle, pose or obstacle.pose, tolerance=1e-3)


@pytest.mark.parametrize("obstacle", [WALL, MeshObstacle(*WALL.triangulation()), Sphere((0, 0, 0), 0.05)],
                         ids=["wall", "mesh", "ball between the vertices"])  # fmt: skip
def test_through_is_through_and_short_of_it_is_not(make, obstacle):
    assert passes(make, (0, 0, -1.0), obstacle)
    assert not passes(make, (0, 0, -0.04), obstacle)
    assert not passes(make, (3.0, 0, 0), obstacle)


def test_an_obstacle_that_moves_through_the_skin_counts_too(make):
    assert passes(make, (0, 0, 0), WALL.moved((0, 0, 1.0)), pose=Pose())
    assert not passes(make, (0, 0, 1.0), WALL.moved((0, 0, 1.0)), pose=Pose())  # they move together


def test_sliding_over_a_ball_cuts_it_but_does_not_go_through(make):
    ball = Sphere((0, 0, -0.5), 0.5)
    assert not passes(make, (0.3, 0, -0.02), ball, low=(-0.3, -0.2, 0.0))


def test_only_long_ways_are_looked_at_and_obstacles_are_named(make):
    x, t = make.box((-0.2, -0.2, 0.1), (0.2, 0.2, 0.5), (3, 3, 3))
    detector = Detector(make.model(x, t), [WALL, Sphere((9, 9, 9), 1.0)], alarm=0.2)
    names = detector.passed(x.ravel(), (x - [0, 0, 2.0]).ravel(), None, detector.obstacles, tolerance=1e-3)
    assert names == ("box",)
    assert detector.passed(x.ravel(), (x - [0, 0, 0.1]).ravel(), None, detector.obstacles, tolerance=1e-3) == ()


def test_a_step_that_goes_through_a_wall_says_so():
    mesh = TetMesh.box((0.04, 0.04, 0.02), (2, 2, 1), (0, 0, 0.05))
    model = pl.FemModel(Robot("bullet", (SoftBody("b", mesh, Corotational.from_young(1e5, 0.3, density=1000)),), ()))
    wall = Box((0.02, 0.02, -0.001), (0.2, 0.2, 0.001), name="wall")
    stepper = pl.Stepper(model, obstacles=[wall])
    state = stepper.start(None)
    velocity = np.zeros(model.nv)
    velocity[2::3] = -20.0
    state = stepper.step(state.but(v=velocity), None, 1e-2)
    assert state.status is Status.PENETRATING
    assert "wall" in state.notes[0]
    assert stepper.step(state, None, 1e-3).ok  # it is behind the wall now


def two_blocks():
    blocks = [
        SoftBody(name, TetMesh.box((0.04, 0.04, 0.02), (2, 2, 1), low), Corotational.from_young(1e5, 0.3, density=1000))
        for name, low in (("lower", (0.0, 0.0, 0.0)), ("upper", (0.003, 0.004, 0.05)))
    ]
    return pl.FemModel(Robot("blocks", tuple(blocks), (), gravity=(0, 0, 0)))


def test_soft_bodies_that_fly_through_each_other_within_one_step_say_so():
    """Neither pose shows it; bodies that fly together, side by side or not far enough are not accused."""
    model = two_blocks()
    stepper = pl.Stepper(model, obstacles=[pl.BodyContact(0, 1)])
    start = stepper.start(None)
    assert model.nv == 3 * model.skin.size  # every node is on the skin
    upper = (model.skin.body == 1)[:, None]
    down, aside = np.where(upper, [0.0, 0.0, -20.0], 0.0), np.where(upper, [20.0, 0.0, 0.0], 0.0)
    state = stepper.step(start.but(v=down.ravel()), None, 1e-2)
    assert state.status is Status.PENETRATING
    assert state.notes[0].startswith("passed through upper (by lower)")
    assert stepper.step(start.but(v=0.1 * down.ravel()), None, 1e-2).ok
    assert stepper.step(start.but(v=aside.ravel()), None, 1e-2).ok
    together = np.tile([0.0, 0.0, -20.0], model.nv // 3)
    assert stepper.step(start.but(v=together), None, 1e-2).ok


def test_bodies_that_turn_together_or_slide_past_each_other_are_not_accused():
    model = two_blocks()
    surface, y = surface_of(model.skin), np.asarray(model.skin_positions(model.rest))
    turn = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    assert not flew_through(surface, y, y @ turn.T, 0, 1, tolerance=1e-5)
    slid = y + np.where((surface.body == 1)[:, None], [0.5, 0.0, -0.02], 0.0)
    assert not flew_through(surface, y, slid, 0, 1, tolerance=1e-5)
    through = y + np.where((surface.body == 1)[:, None], [0.0, 0.0, -0.1], 0.0)
    assert flew_through(surface, y @ turn.T, through, 0, 1, tolerance=1e-5)
