"""Time steps with contact: dropped blocks land without penetrating, lose energy, stick and slip."""

import numpy as np
import pytest

import pliant as pl
from pliant.actuators import Slide
from pliant.bodies import Fixation, RigidRegion, SoftBody
from pliant.contact import BodyContact, ContactState
from pliant.geometry import TetMesh
from pliant.materials import Corotational
from pliant.robot import Robot


def block(name, size, cells, low):
    mesh = TetMesh.box(size, cells, low)
    z = mesh.nodes[:, 2] - low[2]
    mesh = mesh.with_node_set("bottom", np.flatnonzero(z < 1e-9))
    mesh = mesh.with_node_set("top", np.flatnonzero(z > size[2] - 1e-9))
    return SoftBody(name, mesh, Corotational.from_young(1e5, 0.3, density=1000))


def energy(model, state):
    return model.energy(state.q, state.effort) + 0.5 * float(state.v @ (model.inertia(state.q) @ state.v))


def dropped_on_plane(mu):
    model = pl.FemModel(Robot("drop", (block("b", (0.04, 0.04, 0.02), (3, 3, 2), (0, 0, 0.005)),), ()))
    return model, [pl.Plane(point=(0, 0, 0), normal=(0, 0, 1), friction=mu)], 1000 * 0.04**2 * 0.02 * 9.81


def dropped_on_block(mu):
    lower = block("a", (0.04, 0.04, 0.02), (3, 3, 2), (0, 0, 0))
    upper = block("b", (0.03, 0.03, 0.02), (2, 2, 2), (0.004, 0.006, 0.024))
    model = pl.FemModel(Robot("drop", (lower, upper), (Fixation("bottom", "a"),)))
    return model, [BodyContact(0, 1, friction=mu)], 1000 * 0.03**2 * 0.02 * 9.81


@pytest.mark.parametrize("mu", [0.0, 0.4])
@pytest.mark.parametrize("scene", [dropped_on_plane, dropped_on_block])
def test_a_dropped_block_lands_and_its_energy_only_falls(scene, mu):
    model, obstacles, weight = scene(mu)
    stepper = pl.Stepper(model, obstacles=obstacles, scheme="euler")
    state = stepper.start(None)
    energies, depth = [energy(model, state)], 0.0
    for _ in range(110):
        state = stepper.step(state, None, 1e-3)
        assert state.ok, state.status
        depth = max(depth, state.contacts.max_penetration)
        energies.append(energy(model, state))
    assert depth < 1e-6 * 0.06
    assert np.diff(energies).max() < 1e-9 * energies[0]
    assert state.contacts.forces.sum() == pytest.approx(weight, rel=0.01)
    assert 0.5 * float(state.v @ (model.inertia(state.q) @ state.v)) < 1e-4 * energies[0]


def test_energy_never_exceeds_the_start_with_the_second_order_scheme():
    """Within an impact the alpha scheme moves energy between its time levels, but makes none."""
    model, obstacles, _ = dropped_on_plane(0.0)
    stepper = pl.Stepper(model, obstacles=obstacles, scheme="alpha")
    state = stepper.start(None)
    start, most = energy(model, state), 0.0
    for _ in range(60):
        state = stepper.step(state, None, 1e-3)
        assert state.ok
        most = max(most, energy(model, state))
    assert most <= start * (1 + 1e-9)


def test_drawn_over_the_floor_it_sticks_then_slips_at_the_friction_force():
    """The plate on top is drawn sideways: the force grows until it is mu N, then it stays there."""
    mu, body = 0.3, block("b", (0.04, 0.04, 0.02), (3, 3, 2), (0, 0, 0))
    plate = RigidRegion("plate", "top", axes=((1, 0, 0), (0, 0, 1)), rotates=False)
    drive = Slide(name="draw", part="plate", axis=(1, 0, 0))
    model = pl.FemModel(Robot("draw", (body,), (), rigid=(plate,), actuators=(drive,)))
    floor = [pl.Plane(point=(0, 0, 0), normal=(0, 0, 1), friction=mu)]
    stepper = pl.Stepper(model, obstacles=floor, scheme="euler")
    state = stepper.start(None, 0.0)
    for _ in range(40):
        state = stepper.step(state, 0.0, 5e-3)
    pulls, slides = [], []
    for k in range(1, 81):
        state = stepper.step(state, 1e-6 * k, 5e-3)
        assert state.ok, state.status
        contacts = state.contacts
        pulls.append(state.effort[0] / contacts.forces.sum())
        closed = contacts.states[contacts.forces > 1e-3 * contacts.forces.sum()]
        slides.append((closed == ContactState.SLIDE).all())
        assert (np.linalg.norm(contacts.tangential, axis=1) <= mu * contacts.forces * (1 + 1e-6) + 1e-12).all()
    assert not slides[0]
    assert slides[-1]
    assert pulls[0] < 0.2 * mu
    assert pulls[-1] == pytest.approx(mu, rel=0.02)
    assert max(pulls) < 1.05 * mu
