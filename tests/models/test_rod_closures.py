"""Closed loops of rods: exact derivatives, elastica, reactions, vibration."""

import numpy as np
import pytest
from scipy.linalg import eigh, null_space
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

import pliant as pl
from pliant.actuators import pin, weld
from pliant.errors import ArgumentError, UnknownNameError
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel

RUBBER = NeoHookean.from_young(1e7, 0.45, density=1000.0)
R = 0.01
EI = 1e7 * np.pi / 4 * R**4
NO_GRAVITY = (0.0, 0.0, 0.0)
PLANE = ("bend_y", "stretch", "shear_z")  # motions in the plane x, z


def in_plane(closures):
    """Of the closures of a joint those that act in the plane x, z."""
    return tuple(c for c in closures if c.name.split(".")[-1] in ("x", "z", "ry"))


def begin(model, q):
    """A state to start from."""
    zero = np.zeros(model.nu)
    return pl.State(q, np.zeros(model.nv), zero, zero, model.displacement(q))


@pytest.mark.parametrize("where", ["itself", "other", "world"])
def test_derivatives_of_closures(where):
    rods = (
        pl.RodBody("a", 0.4, R, RUBBER, rest_curvature=(0.5, 1.0, -1.0)),
        pl.RodBody("b", 0.3, R, RUBBER, position=(0.3, 0.0, 0.1), rotation=(0.9, 0.1, -0.3, 0.2)),
    )
    other = {"itself": "a", "other": "b", "world": ""}[where]
    turned = (0.9, 0.3, 0, 0.2)
    joint = weld("j", point=(0.35, 0, 0), other_point=(0.1, 0.01, 0), body="a", other=other, rotation=turned)
    model = RodModel(pl.Robot("loop", rods, actuators=joint), basis=bases.legendre(1))
    rng = np.random.default_rng(3)
    q = rng.standard_normal(model.nq) * np.where(model.tables.comp < 3, 2.0, 0.1)
    effort, h = rng.standard_normal(6), 1e-6
    step = h * np.eye(model.nq)
    rows = np.array([(model.displacement(q + d) - model.displacement(q - d)) / (2 * h) for d in step]).T
    assert np.abs(rows - model.displacement_rows(q)).max() < 1e-8
    K = -np.array([(model.force(q + d, effort) - model.force(q - d, effort)) / (2 * h) for d in step]).T
    assert np.abs(K - model.stiffness(q, effort)).max() < 1e-7 * np.abs(K).max()
    assert np.allclose(model.actuation(q, effort), model.displacement_rows(q).T)


@pytest.mark.parametrize("order", [1, 3])
def test_straight_rod_closed_into_a_ring(order):
    """Rolled up most of the way by a moment, then closed: a circle under the constant moment 2 pi EI / L."""
    length = 1.0
    body = pl.RodBody("rod", length, R, RUBBER)
    basis = bases.legendre(order, strains=PLANE)
    roll = pl.Wrench(name="roll", point=(length, 0, 0), moment=(0, 1, 0))
    open_rod = RodModel(pl.Robot("rod", (body,), actuators=(roll,), gravity=NO_GRAVITY), basis=basis)
    rolled = pl.equilibrium(open_rod, {"roll": 0.85 * 2 * np.pi * EI / length}).require()
    joint = in_plane(weld("ring", point=(length, 0, 0), other_point=(0, 0, 0), body="rod", other="rod"))
    ring = RodModel(pl.Robot("rod", (body,), actuators=joint, gravity=NO_GRAVITY), basis=basis)
    closed = pl.equilibrium(ring, start=begin(ring, rolled.q)).require()
    assert np.abs(closed.displacement).max() < 1e-10
    # order 3 can also stretch unevenly: the clamp at the base then differs from a free ring in the fourth digit
    assert closed.effort[2] == pytest.approx(2 * np.pi * EI / length, rel=2e-4 if order > 1 else 1e-9)
    x = ring.skin_positions(closed.q)
    centre = np.array([0.0, 0.0, x[np.argmax(np.abs(x[:, 2])), 2] / 2])
    radius = np.linalg.norm(x - centre, axis=1)
    assert radius == pytest.approx(length / (2 * np.pi), rel=2e-3)


def test_ring_in_space_hangs_from_its_base():
    """All six strains and closures, under its weight: closed exactly, and the joint's force is in balance."""
    body = pl.RodBody("rod", 1.0, R, RUBBER)
    joint = weld("ring", point=(1.0, 0, 0), other_point=(0, 0, 0), body="rod", other="rod")
    model = RodModel(pl.Robot("rod", (body,), actuators=joint), basis=bases.legendre(4))
    q = np.zeros(model.nq)
    q[np.flatnonzero(model.tables.comp == 1)[0]] = 5.8
    closed = pl.equilibrium(model, start=begin(model, q)).require()
    tip = model.locate(closed, "tip")
    assert np.abs(tip.position).max() < 1e-10
    assert np.abs(tip.rotation - np.eye(3)).max() < 1e-9
    # mirror symmetry: each end carries half of the weight
    assert abs(closed.effort[2]) == pytest.approx(0.5 * 1000.0 * np.pi * R**2 * 9.81, rel=1e-3)


def arch(span, order=6):
    """Two rods clamped at (0, 0, 0) and (span, 0, 0), pointing at each other, welded at their tips."""
    half = 0.5
    rods = (
        pl.RodBody("left", half, R, RUBBER),
        pl.RodBody("right", half, R, RUBBER, position=(span, 0, 0), rotation=(0, 0, 0, 1)),  # half a turn about z
    )
    joint = weld("crown", point=(half, 0, 0), other_point=(span - half, 0, 0), body="left", other="right")
    robot = pl.Robot("arch", rods, actuators=in_plane(joint), gravity=NO_GRAVITY)
    return RodModel(robot, basis=bases.legendre(order, strains=("bend_y",), points=24))


def test_two_rod_arch_is_the_elastica():
    """Clamped ends pushed together by a fifth: thrust and rise of the inextensible elastica, with convergence."""
    span = 0.8
    m = brentq(lambda m: 2 * ellipe(m) / ellipk(m) - 1 - span, 1e-6, 0.9)
    k, K = np.sqrt(m), ellipk(m)
    thrust, rise = EI * (4 * K) ** 2, 2 * k / (2 * K)
    errors = []
    for order in (2, 4, 6):
        model = arch(span, order)
        q = np.zeros(model.nq)
        q[model.tables.dof0 + 1] = 4.0  # both bend up first, then down
        closed = pl.equilibrium(model, start=begin(model, q)).require()
        assert np.abs(closed.displacement).max() < 1e-10
        top = model.locate(closed, "left.tip").position
        errors.append((abs(abs(closed.effort[0]) / thrust - 1), abs(abs(top[2]) / rise - 1)))
        assert top[0] == pytest.approx(span / 2, abs=1e-4 if order > 2 else 1e-2)
    assert errors[2][0] < 1e-4
    assert errors[2][1] < 1e-4
    assert errors[0][0] > 30 * errors[1][0] > 30 * errors[2][0]


def test_clamped_clamped_frequency_in_statics_and_dynamics():
    """A straight rod welded to the world at its tip: the frequency (4.7300 / L)^2 sqrt(EI / rho A), and in time."""
    length = 0.5
    body = pl.RodBody("rod", length, R / 4, RUBBER)
    joint = in_plane(weld("end", point=(length, 0, 0), other_point=(length, 0, 0), body="rod"))
    push = pl.PointForce(name="push", point=(0.5 * length, 0, 0), direction=(0, 0, 1))
    model = RodModel(
        pl.Robot("rod", (body,), actuators=(*joint, push), gravity=NO_GRAVITY), basis=bases.legendre(6, strains=PLANE)
    )
    exact = (4.730041 / length) ** 2 * np.sqrt(1e7 * R**2 / 64 / 1000.0)
    free = null_space(model.displacement_rows(model.rest)[:3])
    M, K = model.inertia(model.rest), model.stiffness(model.rest, np.zeros(4))
    omega = np.sqrt(eigh(free.T @ K @ free, free.T @ M @ free, eigvals_only=True)[0])
    assert omega == pytest.approx(exact, rel=2e-3)
    # in time: released from a small deflection; the loop stays closed and the middle swings with that frequency
    start = pl.equilibrium(model, {"push": 1e-4}).require()
    period, steps = 2 * np.pi / omega, 40
    run = pl.simulate(
        model, {"push": 0.0}, duration=2 * period, dt=period / steps, start=start, scheme="trapezoidal"
    )
    assert all(s.ok for s in run.status)
    assert np.abs(run.displacement[:, :3]).max() < 1e-9
    z = run.displacement[:, 3]
    amplitude = z[0]
    wave = amplitude * np.cos(2 * np.pi * np.arange(len(z)) / steps)
    assert np.abs(z - wave).max() < 0.1 * amplitude


def test_pinned_rods_turn_freely():
    """Two cantilevers whose tips are pinned together carry no moment there: a force splits by their stiffness."""
    rods = (
        pl.RodBody("long", 0.4, R, RUBBER),
        pl.RodBody("short", 0.2, R, RUBBER, position=(0.6, 0, 0), rotation=(0, 0, 0, 1)),
    )
    joint = pin("hinge", point=(0.4, 0, 0), other_point=(0.4, 0, 0), body="long", other="short")
    push = pl.PointForce(name="push", point=(0.4, 0, 0), direction=(0, 0, 1), body="long")
    model = RodModel(
        pl.Robot("pair", rods, actuators=(*joint, push), gravity=NO_GRAVITY),
        basis=bases.legendre(3, strains=("bend_y", "bend_z", "stretch")),
    )
    state = pl.equilibrium(model, {"push": 1e-3}).require()
    stiffness = [3 * EI / 0.4**3, 3 * EI / 0.2**3]
    share = -state.effort[2]  # what the short rod takes
    assert share / 1e-3 == pytest.approx(stiffness[1] / sum(stiffness), rel=1e-3)
    assert state.displacement[3] == pytest.approx(1e-3 / sum(stiffness), rel=1e-3)
    frames = [model.locate(state, f"{name}.tip").rotation for name in ("long", "short")]
    assert abs(np.cross(frames[0][:, 0], -frames[1][:, 0])).max() > 1e-4  # the slopes differ


def test_closures_in_robot_files_and_bad_input(tmp_path):
    model = arch(0.8, 2)
    model.robot.save(tmp_path / "arch")
    again = pl.Robot.load(tmp_path / "arch")
    assert again.actuators == model.robot.actuators
    with pytest.raises(ArgumentError, match="axis"):
        pl.Closure(name="c", point=(0, 0, 0), other_point=(0, 0, 0), axis=(0, 0, 0))
    with pytest.raises(ArgumentError, match="rotation"):
        weld("c", point=(0, 0, 0), other_point=(0, 0, 0), rotation=(0, 0, 0, 0))
    lost = weld("c", point=(0.5, 0, 0), other_point=(0, 0, 0), body="left", other="middle")
    with pytest.raises(UnknownNameError, match="left"):
        RodModel(model.robot.but(actuators=lost))


def test_models_that_linearise_their_actuators_refuse_loops():
    body = pl.RodBody("rod", 0.3, R, RUBBER)
    joint = weld("ring", point=(0.3, 0, 0), other_point=(0, 0, 0), body="rod", other="rod")
    with pytest.raises(ArgumentError, match=r"ring\.x"):
        pl.LinkModel(pl.Robot("ring", (body,), actuators=joint))
