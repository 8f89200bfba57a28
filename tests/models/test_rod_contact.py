"""Rods in contact: capsules against planes and spheres, self-contact, friction; in statics, dynamics and inverse."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import pliant as pl
from pliant.contact.obstacles import Pose
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
L, R = 0.3, 0.01


def arm(*actuators, gravity=(0, 0, -9.81), basis=None, **options):
    rod = {"length": L, "radius": R, "material": SOFT} | options
    robot = pl.Robot("arm", (pl.RodBody("arm", **rod),), actuators=actuators, gravity=gravity)
    return RodModel(robot, basis=basis or bases.legendre(4, strains=bases.INEXTENSIBLE))


def tendon(z=0.008, **options):
    return pl.Cable(name="c", points=[(0, 0, z), (L, 0, z)], drive="effort", **options)


def balance(model, state):
    """Largest unbalanced generalised force, contact forces included, relative to the weight's."""
    rows = state.contacts.rows(model, state.q)
    rows = rows.toarray() if hasattr(rows, "toarray") else rows
    force = model.force(state.q, state.effort) + rows.T @ state.contacts.forces
    return np.abs(force).max() / np.abs(model.force(model.rest, np.zeros(model.nu))).max()


def test_plane_carries_what_is_missing():
    """On a floor under its tip: no penetration, equilibrium with the contact forces, and they are below the weight."""
    model = arm()
    floor = pl.Plane(point=(0, 0, -0.05), normal=(0, 0, 1))
    state = pl.equilibrium(model, obstacles=[floor]).require()
    lowest = model.skin_positions(state.q)[:, 2].min() - R
    assert lowest == pytest.approx(-0.05, abs=1e-6)
    assert balance(model, state) < 1e-6
    weight = 1050 * np.pi * R**2 * L * 9.81
    assert 0.1 * weight < state.contacts.forces.sum() < weight


def test_sphere_is_touched_at_the_sum_of_the_radii():
    model = arm(tendon(), gravity=(0, 0, 0))
    # A rod pressed hard on a smooth ball slips off sideways; this one is large, and pressed gently.
    ball = pl.Sphere(centre=(0.2, 0.0, 0.12), radius=0.1)
    free = pl.equilibrium(model, {"c": 2.0}).require()
    state = pl.equilibrium(model, {"c": 2.0}, obstacles=[ball]).require()
    x = model.skin_positions(state.q)
    a, b = x[:-1], x[1:]
    t = np.clip(np.sum((ball.centre - a) * (b - a), axis=1) / np.sum((b - a) ** 2, axis=1), 0, 1)
    distance = np.linalg.norm(a + t[:, None] * (b - a) - ball.centre, axis=1).min()
    assert distance == pytest.approx(0.1 + R, abs=1e-5)
    assert np.linalg.norm(model.locate(state, "tip").position - model.locate(free, "tip").position) > 5e-3
    assert state.residual < 1e-6
    assert state.iterations < 15


def test_self_contact_stops_the_coil():
    """Rolled up by its tendon beyond one turn the rod meets itself and stops at its own diameter.

    In its plane: round rods without friction slip off each other sideways, so that the coil is unstable in space.
    """
    model = arm(tendon(), gravity=(0, 0, 0), basis=bases.legendre(4, strains=("bend_y",)), radius=R)
    contact = pl.SelfContact()
    state = pl.equilibrium(model, {"c": 12.0}).require()
    pushes = []
    for tension in (14.0, 16.0, 18.0, 20.0, 24.0):
        state = pl.equilibrium(model, {"c": tension}, obstacles=[contact], start=state)
        assert state.ok, (tension, state.status)
        assert state.contacts.max_penetration < 1e-9
        pushes.append(state.contacts.forces.sum())
    assert pushes[0] > 0
    assert np.all(np.diff(pushes) > 0)
    state = pl.equilibrium(model, {"c": 16.0}, obstacles=[contact], start=state).require()
    alone = pl.equilibrium(model, {"c": 16.0}).require()
    assert np.linalg.norm(model.locate(alone, "tip").position - model.locate(state, "tip").position) > 1e-3


def test_friction_holds_a_rod_on_a_slope():
    """Drawn along the floor by its base: friction up to mu N acts against it, and reverses with the motion."""
    mu = 0.4
    slide = pl.Slide(name="s", part="arm", axis=(1, 0, 0))
    model = arm(slide, axes=((1, 0, 0),), basis=bases.legendre(4, strains=("bend_y", "bend_z", "stretch")))
    floor = pl.Plane(point=(0, 0, -0.04), normal=(0, 0, 1), friction=mu)
    state = pl.equilibrium(model, {"s": 0.0}, obstacles=[floor]).require()
    normal = state.contacts.forces.sum()
    efforts = []
    for s in (0.005, 0.01, 0.015, 0.01, 0.005):
        state = pl.equilibrium(model, {"s": s}, obstacles=[floor], start=state).require()
        normal = state.contacts.forces.sum()
        efforts.append((state.effort[0], normal))
    forth, back = efforts[2], efforts[4]
    assert forth[0] == pytest.approx(mu * forth[1], rel=1e-3)
    assert back[0] == pytest.approx(-mu * back[1], rel=1e-3)


def test_dropped_on_the_floor_it_comes_to_rest():
    """The general stepper with contact ends where the statics does."""
    model = arm(damping=0.02)
    floor = pl.Plane(point=(0, 0, -0.05), normal=(0, 0, 1))
    stepper = pl.Stepper(model, obstacles=[floor])
    state = stepper.start(None)
    lowest = []
    for _ in range(300):
        state = stepper.step(state, None, 5e-3)
        assert state.ok, state.status
        lowest.append(model.skin_positions(state.q)[:, 2].min() - R + 0.05)
    assert min(lowest) > -1e-4
    still = pl.equilibrium(model, obstacles=[floor]).require()
    assert np.allclose(model.locate(state, "tip").position, model.locate(still, "tip").position, atol=1e-4)


def test_invert_around_a_sphere():
    """A point is reached with four tendons while the rod leans on a sphere; the answer is an equilibrium."""
    tendons = tuple(
        pl.Cable(name=f"c{i}", points=[(0, 0.008 * c, 0.008 * s), (L, 0.008 * c, 0.008 * s)], drive="effort")
        for i, (c, s) in enumerate(((1, 0), (0, 1), (-1, 0), (0, -1)))
    )
    model = arm(*tendons, gravity=(0, 0, 0), basis=bases.legendre(3, strains=bases.INEXTENSIBLE))
    ball = pl.Sphere(centre=(0.12, 0.0, 0.045), radius=0.03)
    wanted = pl.equilibrium(model, {"c1": 5.0, "c0": 0.3}, obstacles=[ball]).require()
    assert wanted.contacts.forces.max() > 0
    target = model.locate(wanted, "tip").position
    command = pl.invert(model, targets=[pl.PointTarget("tip", tuple(target))], obstacles=[ball])
    assert command.ok, command.status
    reached = model.locate(command.state, "tip").position
    assert np.linalg.norm(reached - target) < 1e-4
    assert command.state.contacts.forces.max() > 0
    assert command.state.residual < 1e-6


@pytest.mark.parametrize("basis", [bases.constant(segments=3), bases.legendre(2)])
def test_stiffness_of_forces_on_the_skin(basis):
    """-d/dq of J^T F for fixed forces, by differences."""
    model = arm(basis=basis)
    rng = np.random.default_rng(0)
    q = rng.standard_normal(model.nv) * np.where(model.tables.comp < 3, 3.0, 0.05)
    n = model.skin.size
    forces = np.where(rng.random((n, 1)) < 0.2, rng.standard_normal((n, 3)), 0.0)

    def push(q):
        rows = model.skin_rows(q, np.repeat(np.arange(n), 3)[:, None], np.ones((3 * n, 1)), np.tile(np.eye(3), (n, 1)))
        return rows.T @ forces.ravel()

    h = 1e-6
    numeric = -np.array([(push(q + h * e) - push(q - h * e)) / (2 * h) for e in np.eye(model.nv)]).T
    K = model.load_stiffness(q, forces)
    assert np.allclose(K, numeric, atol=1e-7 * np.abs(K).max())


def test_self_contact_of_a_tight_coil_in_dynamics():
    """Twice the tension at which the coil first meets itself: statics loses its path, the motion settles."""
    model = arm(
        tendon(), gravity=(0, 0, 0), basis=bases.legendre(4, strains=bases.BENDING), radius=R, damping=0.05
    )
    stepper = pl.Stepper(model, obstacles=[pl.SelfContact()])
    state = pl.equilibrium(model, {"c": 12.0}).require()
    for i in range(150):
        state = stepper.step(state, [12.0 + min(13.0, 0.13 * i)], 0.01).require()
    assert np.abs(state.v).max() < 1e-2 * np.abs(state.q).max()
    assert state.contacts.forces.sum() > 4.0
    assert state.contacts.max_penetration < 1e-6
    free = pl.equilibrium(model, {"c": 25.0}).require()
    assert np.abs(state.q).max() < 0.9 * np.abs(free.q).max()  # it cannot coil as far as it would


@pytest.mark.slow
def test_J4_bolt_turns_in_steps():
    """J4: 0.1 to 0.3 turns per second, in steps: it turns during the sweep only and stands otherwise."""
    path = Path(__file__).resolve().parents[2] / "examples" / "73_bolt.py"
    spec = importlib.util.spec_from_file_location("bolt", path)
    bolt = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(bolt)
    turns = bolt.turn_bolt(2, dt=0.01)[0] / (2 * np.pi)
    assert 0.1 < turns[-1] / 2 < 0.3
    for stroke in (turns[:101], turns[100:]):
        gained = stroke[-1] - stroke[0]
        assert abs(stroke[15] - stroke[0]) < 0.05 * gained  # the fingers are closing
        assert abs(stroke[-1] - stroke[75]) < 0.05 * gained  # and are back in the air


def test_a_moving_floor_drags_the_rod_along():
    """Friction acts on the relative motion: a fast belt under a rod at rest pulls with mu N in its own direction."""
    model = arm(basis=bases.legendre(2, strains=bases.BENDING), damping=0.02)
    belt = pl.Plane(
        point=(0, 0, -0.06), normal=(0, 0, 1), friction=0.5, motion=lambda t: Pose((0, 0.2 * t, 0))
    )
    stepper = pl.Stepper(model, obstacles=[belt])
    state = stepper.start(None)
    for _ in range(150):
        state = stepper.step(state, None, 0.01).require()
    pull = state.contacts.force_vectors.sum(axis=0)
    assert pull[1] == pytest.approx(0.5 * state.contacts.forces.sum(), rel=0.03)
    assert model.locate(state, "tip").position[1] > 0.05
