"""Answers through contact are what their own command leads to: solved forwards, nothing moves."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import pliant as pl
from pliant.inverse.confirm import confirmed
from pliant.inverse.work import Work
from pliant.models.beam import BeamModel
from pliant.solve import newton
from pliant.solve.problem import Problem

LENGTH = 0.2  # of the trunk [m], about


def finger_at_a_wall():
    return pl.FemModel(pl.robots.finger(cables=2)), [pl.Plane(point=(0.03, 0, 0), normal=(-1, 0, 0))], (0.05, 0, -0.07)


def trunk_between_cylinders():
    posts = [
        pl.Cylinder(a=(0.030, -0.06, 0.09), b=(0.030, 0.06, 0.09), radius=0.012),
        pl.Cylinder(a=(-0.032, -0.06, 0.12), b=(-0.032, 0.06, 0.12), radius=0.012),
    ]
    return pl.FemModel(pl.robots.trunk()), posts, (0.06, 0.005, 0.15)


def tower_on_itself():
    return pl.FemModel(pl.robots.tower()), [pl.SelfContact()], (0.0, -0.010, 0.100)


def catheter_in_a_pipe():
    model = BeamModel(pl.robots.catheter().but(gravity=(0.0, 0.0, 0.0)), elements=10, capsules=5)
    pipe = pl.Pipe(centreline=np.array([(-0.05, 0.0, 0.0), (0.3, 0.0, 0.0)]), radius=0.0035)
    return model, [pipe], (0.1, 0.002, 0.0055)


SCENES = (finger_at_a_wall, trunk_between_cylinders, tower_on_itself, catheter_in_a_pipe)


def forward(model, obstacles, command):
    """How far the forward equilibrium of a command is from its state [m]."""
    again = pl.equilibrium(model, command.u, obstacles=obstacles, start=command.state, strict=True)
    return np.abs(model.skin_positions(again.q) - model.skin_positions(command.state.q)).max()


@pytest.mark.parametrize("scene", SCENES, ids=lambda s: s.__name__)
def test_answers_near_contact_are_forward_equilibria(scene):
    model, obstacles, goal = scene()
    command = pl.invert(model, None, pl.PointTarget("tip", goal), obstacles=obstacles)
    assert command.status in (pl.Status.CONVERGED, pl.Status.LOCAL), (command.status, command.notes)
    assert command.state.contacts.forces.max() > 1e-4, "the scene should press [N]"
    assert not command.notes
    assert command.state.residual < 1e-8
    assert forward(model, obstacles, command) <= 1e-6 * Problem(model).length


def test_a_ball_in_the_way_of_a_trunk_is_leant_on_in_a_bounded_number_of_steps(monkeypatch):
    """Once 750 linear systems, contacts that pressed where the ball was not, and 0.2 mm off its own equilibrium."""
    built, init = [], newton.LinearSystem.__init__

    def counted(self, *args, **options):
        built.append(1)
        init(self, *args, **options)

    monkeypatch.setattr(newton.LinearSystem, "__init__", counted)
    model, ball = pl.FemModel(pl.robots.trunk()), pl.Sphere((-0.0053, 0.0246, 0.165), 0.01)
    command = pl.invert(model, None, pl.PointTarget("tip", (0.0018, 0.0393, 0.1878)), obstacles=[ball], search="local")
    assert command.status is pl.Status.LOCAL
    assert len(built) < 350
    assert np.linalg.norm(command.error) < 0.0075
    assert forward(model, [ball], command) < 1e-6 * LENGTH


def test_an_end_that_is_no_equilibrium_becomes_one_and_says_how_far_it_was():
    model, obstacles, goal = catheter_in_a_pipe()
    command = pl.invert(model, None, pl.PointTarget("tip", goal), obstacles=obstacles)
    setting = Problem(model, obstacles)
    bent = model.retract(command.state.q, 1e-5 * np.sin(np.arange(model.nv)))
    work = Work(bent, command.effort, command.state.contacts, proximal=1e-9)
    options = SimpleNamespace(closed={})
    assert confirmed(setting, work, options, command.status) is command.status  # type: ignore[arg-type]
    assert "away from what this command leads to" in work.notes[0]
    again = pl.equilibrium(model, model.displacement(bent), obstacles=obstacles, start=command.state)
    assert np.abs(model.skin_positions(work.q) - model.skin_positions(again.q)).max() < 1e-9


def test_without_friction_a_rough_obstacle_is_a_smooth_one():
    model, (wall,), goal = finger_at_a_wall()
    answers = [
        pl.invert(model, None, pl.PointTarget("tip", goal), obstacles=[replace(wall, friction=mu)], friction="none")
        for mu in (0.0, 0.6)
    ]
    np.testing.assert_array_equal(answers[0].u, answers[1].u)


def test_what_friction_cannot_hold_is_solved_forwards_and_told():
    """Spec 12.3: contacts stick without a cone. A tip that needs a friction of 4.5 on a wall that has 0.2 slides."""
    model = pl.FemModel(pl.robots.finger())
    wall = pl.Plane((0.02, 0.0, 0.0), (-1.0, 0.0, 0.0), friction=0.2, name="wall")
    start = pl.equilibrium(model, {"cable": 0.010}, obstacles=[wall]).require()
    target = pl.PointTarget("tip", tuple(model.locate(start, "tip").position + [0.0, 0.0, -0.003]))
    command = pl.invert(model, start, target, obstacles=[wall], search="local")
    assert command.status is pl.Status.RELAXED
    assert any("contacts with wall would slip" in note and "there is 0.2" in note for note in command.notes)
    contacts = command.state.contacts
    over = np.linalg.norm(contacts.tangential, axis=1) - 0.2 * contacts.forces
    assert over.max() < 1e-6 * contacts.forces.sum()
    forward = pl.equilibrium(model, command.u, obstacles=[wall], start=start).require()
    apart = model.locate(forward, "tip").position - model.locate(command.state, "tip").position
    assert np.linalg.norm(apart) < 1e-6
    glued = pl.invert(model, start, target, obstacles=[wall], friction="stick", search="local")  # as if it held
    assert glued.ok and any("would slip" in note for note in glued.notes)
    quick = pl.invert(model, start, target, obstacles=[wall], iterations=1)
    assert any("tangential" in note for note in quick.notes)
