"""Forward contact against what can be computed by hand: force balance of a pressing finger, a ball that rolls."""

import numpy as np
import pytest

import pliant as pl
from pliant.contact import ContactState
from pliant.geometry.meshing import mesh_shape
from pliant.geometry.primitives import Sphere
from pliant.materials import Corotational


@pytest.mark.parametrize("mu", [0.0, 0.4])
def test_a_finger_pressed_on_a_wall_is_in_balance(mu):
    """Forces add up at every free node; tangential forces stay in the cone, and are on it where it slides."""
    robot = pl.robots.finger()
    model = pl.FemModel(robot)
    free = pl.equilibrium(model, {"cable": 0.010}).require()
    rest, x = model.skin_positions(model.rest), model.skin_positions(free.q)
    far = int(np.argmax(np.linalg.norm(x - rest, axis=1)))
    way = (x - rest)[far] / np.linalg.norm((x - rest)[far])
    middle = 0.5 * ((rest @ way).max() + (x @ way).max())
    wall = pl.Plane(point=tuple(middle * way), normal=tuple(-way), friction=mu)
    state = pl.equilibrium(model, {"cable": 0.010}, obstacles=wall).require()
    contacts = state.contacts
    pressing = contacts.forces > 0
    assert pressing.any()
    push = contacts.force_vectors.sum(axis=0)
    assert push @ wall.normals(np.zeros((1, 3)))[0] == pytest.approx(contacts.forces.sum(), rel=1e-9)
    size = np.linalg.norm(contacts.tangential, axis=1)
    assert (size <= mu * contacts.forces * (1 + 1e-6) + 1e-12).all()
    slides = contacts.states == ContactState.SLIDE
    assert size[slides] == pytest.approx(mu * contacts.forces[slides], rel=1e-6)
    # internal forces, weight, cable and contact
    rows = contacts.frictional_rows(model, state.q)
    given = np.column_stack([contacts.forces, contacts.tangential]).ravel()
    left = model.force(state.q, state.effort) + rows.T @ given
    assert np.abs(left).max() < 1e-6 * contacts.forces.max()
    assert state.effort[0] > free.effort[0]  # the wall resists


@pytest.mark.slow
def test_a_ball_rolls_down_a_slope_at_five_sevenths():
    """A solid ball that does not slip: a = 5/7 g sin(angle); stiff, so that it stays round (facets make it rumble)."""
    radius, angle, g, h = 0.02, np.deg2rad(10), 9.81, 2e-3
    mesh = mesh_shape(Sphere((0, 0, 0), radius), 0.009)
    ball = pl.SoftBody("ball", mesh, Corotational.from_young(5e5, 0.3, density=1000))
    model = pl.FemModel(pl.Robot("ball", (ball,), (), gravity=(g * np.sin(angle), 0, -g * np.cos(angle))))
    lowest = model.skin_positions(model.rest)[:, 2].min()
    floor = pl.Plane((0, 0, lowest), (0, 0, 1), friction=0.6)
    stepper = pl.Stepper(model, obstacles=[floor], scheme="alpha")
    state = stepper.start(None)
    way = [model.centre_of_mass(state.q)[0][0]]
    for _ in range(150):
        state = stepper.step(state, None, h)
        assert state.ok, state.status
        way.append(model.centre_of_mass(state.q)[0][0])
    t = h * np.arange(len(way))
    acceleration = 2.0 * np.polyfit(t, np.array(way) - way[0], 2)[0]
    assert acceleration == pytest.approx(5 / 7 * g * np.sin(angle), rel=0.15)
    assert acceleration < 0.9 * g * np.sin(angle)  # it does not slide
