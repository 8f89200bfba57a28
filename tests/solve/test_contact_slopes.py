"""dq/du through contacts that slide on curved obstacles, with and without friction, against solved differences."""

import numpy as np
import pytest
from harness import relative

import pliant as pl
from pliant.actuators import PointForce
from pliant.contact import ContactState
from pliant.solve.commands import command_vector
from pliant.solve.contact_slopes import local_contact
from pliant.solve.sensitivity import sensitivity

SIDE = 0.04


def pressed_block(mu):
    """A ball in a soft block that two forces push about."""
    mesh = pl.TetMesh.box((SIDE, SIDE, SIDE / 2), (6, 6, 3))
    mesh = mesh.with_node_set("bottom", np.flatnonzero(mesh.nodes[:, 2] < 1e-9))
    law = pl.materials.Corotational(young=1e5, poisson=0.3, density=1000.0)
    pushes = (
        PointForce(name="side", point=(SIDE, SIDE / 2, 0.3 * SIDE), direction=(1, 0.3, 0)),
        PointForce(name="up", point=(SIDE / 2, 0, 0.3 * SIDE), direction=(0, -0.2, 1)),
    )
    block = pl.Robot(
        "block", (pl.SoftBody("block", mesh, law),), (pl.Fixation("bottom"),), actuators=pushes, gravity=(0, 0, 0)
    )
    centre = (SIDE / 2 + 1.3e-3, SIDE / 2 - 0.7e-3, SIDE / 2 + 0.05 - 1.2e-3)
    return pl.FemModel(block), {"side": 0.4, "up": 0.2}, pl.Sphere(centre=centre, radius=0.05, friction=mu), 1e-4


def leaning_rod(mu):
    model = pl.RodModel(pl.robots.octopus_arm())
    bar = pl.Capsule(a=(0.07, -0.1, -0.028), b=(0.07, 0.1, -0.024), radius=0.015, friction=mu)
    return model, {"m1b": 0.8, "m2a": 1.0}, bar, 1e-4


def trunk_at_a_sphere(mu):
    model = pl.FemModel(pl.robots.trunk())
    ball = pl.Sphere(centre=(0.0892929, 0.0 if mu else 0.008, 0.1487718 if mu else 0.1527718), radius=0.03, friction=mu)
    return model, {"long1": 0.02, "long3": -0.02}, ball, 2e-6


def hooked_catheter(mu):
    model = pl.robots.entry("catheter").model()
    bar = pl.Capsule(a=(0.18512, -0.0278, 0.05288), b=(-0.00019, 0.0278, 0.00224), radius=0.01, friction=mu)
    return model, {"up": 1.8e-3}, bar, 5e-7


@pytest.mark.parametrize(
    ("scene", "mu"),
    [(s, mu) for s in (pressed_block, leaning_rod, trunk_at_a_sphere) for mu in (0.0, 0.3)] + [(hooked_catheter, 0.0)],
    ids=lambda v: v if isinstance(v, float) else v.__name__,
)
def test_sliding_on_a_curved_obstacle(scene, mu):
    model, command, obstacle, h = scene(mu)
    u = command_vector(model.robot, command)
    state = pl.equilibrium(model, u, obstacles=obstacle, strict=True)
    pressing = state.contacts.selected(state.contacts.forces > 0)
    assert len(pressing)
    assert mu == 0.0 or (pressing.states == ContactState.SLIDE).all()
    found = sensitivity(model, state)
    n = model.skin.size
    rows = model.skin_rows(
        state.q, np.repeat(np.arange(n), 3)[:, None], np.ones((3 * n, 1)), np.tile(np.eye(3), (n, 1))
    )
    for name in command:
        i = model.robot.actuator_index(name)
        plus, minus = (
            pl.equilibrium(model, u + s * h * np.eye(model.nu)[i], obstacles=obstacle, strict=True) for s in (1, -1)
        )
        moved = (model.skin_positions(plus.q) - model.skin_positions(minus.q)).ravel() / (2 * h)
        effort = (plus.effort - minus.effort) / (2 * h)
        if not moved.any() and not np.asarray(rows @ found.configuration[:, i]).any():
            continue  # a cable that is slack
        assert relative(np.asarray(rows @ found.configuration[:, i]), moved) < 1e-6
        assert relative(found.effort[:, i], effort) < 1e-6


def test_a_sticking_contact_on_a_ball_rolls():
    """Friction that holds: the material point that touches stays where it is, whatever is pushed."""
    model, command, ball, h = pressed_block(50.0)
    u = command_vector(model.robot, command)
    first = pl.equilibrium(model, 0.5 * u, obstacles=ball, strict=True)
    state = pl.equilibrium(model, u, obstacles=ball, start=first, strict=True)
    assert (state.contacts.states[state.contacts.forces > 0] == ContactState.STICK).all()
    found = sensitivity(model, state)
    for i in range(model.nu):
        plus, minus = (
            pl.equilibrium(model, u + s * h * np.eye(model.nu)[i], obstacles=ball, start=first, strict=True)
            for s in (1, -1)
        )
        assert relative(found.configuration[:, i], (plus.q - minus.q) / (2 * h)) < 1e-6


def test_without_friction_the_turning_of_a_force_is_symmetric():
    model, command, ball, _ = pressed_block(0.0)
    state = pl.equilibrium(model, command, obstacles=ball, strict=True)
    x = model.skin_positions(state.q)
    for i in np.flatnonzero(state.contacts.forces > 0):
        turning = local_contact(state.contacts, i, x).turning
        assert np.abs(turning - turning.T).max() < 1e-9 * np.abs(turning).max()
        assert np.abs(turning).max() > 0.0
