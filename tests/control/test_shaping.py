"""Energy shaping: checks G1-G3, computed torque, impedance in contact, observers, inverse kinematics (I1)."""

from functools import cache

import numpy as np
import pytest
from harness import check_derivatives

import pliant as pl
from pliant.control.computed_torque import ComputedTorque
from pliant.control.impedance import Impedance, jacobian_rate
from pliant.control.kinematics import elastic_gradient, inverse_kinematics
from pliant.control.observer import MarkerEstimator, ReducedControl
from pliant.control.shaping import energy_shaping
from pliant.errors import ArgumentError
from pliant.models import basis
from pliant.models.modal import Modal
from pliant.models.rod import RodModel
from pliant.robots.octopus_arm import octopus_arm
from pliant.solve.equilibrium import equilibrium
from pliant.solve.simulate import simulate
from pliant.state import State

BEND = ("bend_y", "bend_z")
GOAL = (0.04, 0.0, -0.01)


@cache
def arm(order=3, water=False, length=0.12, points=25):
    robot = octopus_arm(water=water, length=length)
    return RodModel(robot, basis=basis.legendre(order, strains=BEND), skin_points=points)


def test_modal_satisfies_the_contract():
    model = Modal(arm(), range(5))
    q = np.random.default_rng(0).standard_normal(model.nq) * 5
    check_derivatives(model, q, np.arange(5) * 1e-4)
    assert isinstance(model, pl.Model)
    with pytest.raises(ArgumentError, match="coordinates"):
        Modal(arm(), [0, 0])


def test_G1_soft_gains_settle_in_mode_3_stiff_ones_in_modes_1_to_3():
    """Pose (40, 0, -10) mm with the rotation of the base. Published, orthonormal modes [1/m]: soft -58 in mode 3, where
    the whole pose is met; stiff (24, 25, -24), where the damped pseudo-inverse leaves the rotation."""
    model = Modal(arm(7, True), np.r_[0:5, 8:13])
    goal = pl.lie.frame(np.eye(3), GOAL)
    ends, turns = [], []
    for stiffness, rotation, damping in ((20.0, 2e-4, 0.1), (200.0, 2e-4, 100.0)):
        control = energy_shaping(
            model, target=goal, stiffness=stiffness, rotation_stiffness=rotation, damping=damping
        )
        run = simulate(model, control, duration=5.0, dt=0.02)
        assert run.ok
        assert run.error("tip")[-1] < 1e-3
        ends.append(run.q[-1][:3] / np.sqrt([1.0, 3.0, 5.0]))
        turns.append(np.trace(model.locate(run.q[-1], "tip").rotation))
    soft, stiff = ends
    assert turns[0] > 2.98  # within 8 degrees
    assert turns[1] < 1.0
    assert soft[2] == pytest.approx(-58.0, rel=0.15)
    assert np.abs(soft[:2]).max() < 0.15 * abs(soft[2])
    assert stiff[2] == pytest.approx(-30.0, abs=6.0)
    assert np.all(stiff[:2] > 0.4 * abs(stiff[2]))


def test_G1_with_muscles_gains_change_the_shape():
    model = arm()
    shapes = []
    for damping in (0.03, 1.0):
        control = energy_shaping(model, target=pl.PointTarget("tip", GOAL), stiffness=20.0, damping=damping)
        run = simulate(model, control, duration=1.5, dt=0.01)
        assert run.ok
        assert run.error("tip")[-1] < 1e-3
        shapes.append(run.q[-1])
    assert np.abs(shapes[0] - shapes[1]).max() > 1.0
    assert np.argmax(np.abs(shapes[0])) == 2


def test_pose_target():
    model = Modal(arm(4))
    bent = equilibrium(arm(4), {"m1b": 4.0, "m2b": 3.0, "m3d": 2.0})
    place = model.locate(bent, "tip")
    target = pl.FrameTarget("tip", tuple(place.position), tuple(pl.lie.quaternion_from_matrix(place.rotation)))
    control = energy_shaping(model, target=target, stiffness=20.0, rotation_stiffness=0.02, damping=0.02)
    run = simulate(model, control, duration=3.0, dt=0.01)
    assert run.error("tip")[-1] < 2e-3
    turned = model.locate(run.q[-1], "tip").rotation.T @ place.rotation
    assert np.linalg.norm(pl.lie.log(turned)) < 0.05


@cache
def reduced_run(k, duration=7.0):
    """Final tip error [m] and curve of the 16-mode plant under a controller on k modes per strain."""
    plant = Modal(arm(7))
    reduced = Modal(RodModel(octopus_arm(), basis=basis.legendre(k - 1, strains=BEND)))
    control = energy_shaping(reduced, target=(0.07, 0.0, 0.03), stiffness=15.0, damping=0.1)

    def spread(u):
        out = np.zeros(16)
        out[np.r_[np.arange(k), 8 + np.arange(k)]] = u
        return out

    looped = ReducedControl(control, reduced, lambda s: plant.locate(s, "tip").position, select=spread, correction=60.0)
    run = simulate(plant, looped, duration=duration, dt=0.02)
    assert run.ok
    return run.error("tip")[-1], plant.skin_positions(run.q[-1])


@pytest.mark.parametrize(
    ("k", "low", "high"),
    [
        # one bending mode is an arc, and no arc comes nearer to (70, 0, 30) mm than 39.9 mm; the sag of the modes that
        # are not driven helps a little (published, where the arm stretches: 14.7 mm)
        (1, 10e-3, 40e-3),
        (2, 1e-3, 3e-3),  # published 2.36 mm
        (3, 0.0, 1e-3),
        (4, 0.0, 1e-3),
        (5, 0.0, 1e-3),
        (8, 0.0, 1e-4),
    ],
)
def test_G2_low_order_control_of_a_high_order_plant(k, low, high):
    assert low <= reduced_run(k)[0] < high


def test_G2_curve_error_falls_with_the_order():
    full = reduced_run(8)[1]
    errors = [np.linalg.norm(reduced_run(k)[1] - full, axis=1).mean() for k in (1, 2, 3, 4, 5)]
    assert np.all(np.diff(errors) < 0), errors


def test_G3_bend_travels_to_the_tip():
    model = Modal(arm(7, True, 0.135, 55))
    q = np.zeros(16)
    q[0] = -40.0  # rolled up
    start = State(q, np.zeros(16), np.zeros(16), np.zeros(16), q)
    control = energy_shaping(
        model, target=(0.125, 0.0, 0.03), stiffness=1.0, injection=0.1, null_elasticity=0.05, relaxed=True
    )
    run = simulate(model, control, duration=2.0, dt=0.01, start=start)
    assert run.ok
    t, s = np.array(control.nearest).T
    s = 0.135 * s
    assert np.diff(s).min() >= 0.0  # monotone
    assert s[0] < 0.045  # published: 41.5 to 126.3 mm at 65 mm/s
    assert s[-1] > 0.12
    done = np.flatnonzero(s > 0.9 * s[-1])[0]
    assert 0.05 < (s[done] - s[0]) / t[done] < 0.13


def test_computed_torque_tracks():
    model = Modal(arm(1))
    w, size = 4.0, np.array([10.0, 3.0, -6.0, 2.0])

    def path(t):
        return size * np.sin(w * t), size * w * np.cos(w * t), -size * w * w * np.sin(w * t)

    control = ComputedTorque(model, path, bandwidth=25.0)
    run = simulate(model, control, duration=0.8, dt=5e-4, every=20)
    assert run.ok
    late = run.time > 0.3
    wanted = np.array([path(t)[0] for t in run.time])
    assert np.abs(run.q - wanted)[late].max() < 0.5


@pytest.mark.parametrize("compensate", ["all", "task"])
def test_impedance_pushes_with_its_stiffness(compensate):
    """At rest against a frictionless wall the contact force is the spring's, k (x_d - x), and no other."""
    model = Modal(arm(2, True))
    wall = pl.Plane(point=(0.0, 0.0, 0.03), normal=(0.0, 0.0, -1.0))
    control = Impedance(model, (0.10, 0.0, 0.05), stiffness=5.0, damping=0.3, compensate=compensate)
    run = simulate(model, control, duration=5.0, dt=0.02, obstacles=[wall])
    assert run.ok
    assert control.touched is not None
    x = run.points["tip"][-1]
    # the wall holds the skin of the tip (radius 8.25 mm) at z = 30 mm
    assert x[2] == pytest.approx(0.03 - 0.00825, abs=1e-6)
    assert x[0] == pytest.approx(0.10, abs=1e-3)  # along the wall the spring is free
    assert run.contact_force[-1] == pytest.approx(5.0 * (0.05 - x[2]), rel=5e-3)


def test_impedance_gives_the_tip_its_task_space_dynamics():
    """Lambda x'' + eta J_M^+ x' + D_c x' + material damping = K_c (x_d - x), in motion."""
    model = Modal(arm(2, False))
    rng = np.random.default_rng(4)
    q, v = rng.standard_normal(model.nq) * 8, rng.standard_normal(model.nv) * 40
    control = Impedance(model, (0.08, 0.02, 0.03), stiffness=20.0, damping=0.5)
    u = control(0.0, State(q, v, np.zeros(model.nu), np.zeros(model.nu), q))
    place = model.locate(q, "tip", jacobian=True)
    J, M = place.jacobian[3:], model.inertia(q)
    h = 1e-6
    ahead, behind = (model.locate(q + s * h * v, "tip", jacobian=True).jacobian[3:] for s in (1, -1))
    Jdot = (ahead - behind) / (2 * h)
    assert np.allclose(jacobian_rate(model, q, v, "tip"), Jdot, atol=1e-6 * np.abs(Jdot).max())
    a = np.linalg.solve(M, model.force(q, u) - model.bias(q, v) - model.damping(q, u) @ v)
    mobility = np.linalg.inv(J @ np.linalg.solve(M, J.T))
    project = mobility @ J @ np.linalg.inv(M)
    eta = project @ model.coriolis(q, v) - mobility @ Jdot
    speed = J @ v
    left = mobility @ (J @ a + Jdot @ v) + eta @ project.T @ speed + 0.5 * speed + project @ model.damping(q, u) @ v
    right = 20.0 * (np.array([0.08, 0.02, 0.03]) - place.position)
    assert np.abs(left - right).max() < 1e-3 * np.abs(mobility @ J @ a).max()


def test_impedance_switches_set_point_on_contact():
    model = Modal(arm(2, True))
    control = Impedance(model, (0.1, 0, 0.05), contact_target=(0.09, 0.0, 0.04), blend=0.2)
    assert np.allclose(control.wanted(1.0), (0.1, 0, 0.05))
    control.touched = 1.0
    assert np.allclose(control.wanted(1.1), (0.095, 0, 0.045))
    assert np.allclose(control.wanted(3.0), (0.09, 0, 0.04))


def test_markers_give_the_shape():
    fine, coarse = arm(6), arm(2)
    state = equilibrium(fine, {"m1b": 4.0, "m3d": 3.0, "m4a": 1.0})
    markers = fine.locate(state, ("middle", "tip")).position
    tip, skin = [], []
    for noise in (1e-2, 1e-3, 1e-5):
        q = MarkerEstimator(coarse, ("middle", "tip"), noise=noise, iterations=30).update(markers, state.effort)
        tip.append(np.linalg.norm(coarse.locate(q, "tip").position - markers[1]))
        skin.append(np.linalg.norm(coarse.skin_positions(q) - fine.skin_positions(state.q), axis=1).max())
    assert tip[0] > tip[1] > tip[2]  # the better the markers, the more they count
    assert tip[2] < 1e-4
    assert skin[2] < 3e-3


def test_I1_position_reached_in_less_than_a_hundred_iterations():
    model = arm(4)
    rng = np.random.default_rng(0)
    for _ in range(10):
        q = rng.standard_normal(model.nq) * 8
        x = model.locate(q, "tip").position
        found = inverse_kinematics(model, [pl.PointTarget("tip", tuple(x))], start=0.1 * q)
        assert found.ok, found.status
        assert found.iterations < 100
        assert np.linalg.norm(model.locate(found.q, "tip").position - x) < 1e-6


def test_I1_null_space_task_does_not_move_the_tip():
    model = arm(4)
    target = pl.PointTarget("tip", (0.06, 0.03, 0.03))
    first = inverse_kinematics(model, [target])
    relaxed = inverse_kinematics(model, [target], start=first.q, subtask=elastic_gradient(model), max_iterations=90)
    none = np.zeros(model.nu)
    assert np.abs(relaxed.error).max() < 1e-5
    assert model.energy(relaxed.q, none) < model.energy(first.q, none)


def test_unreachable_is_said():
    found = inverse_kinematics(arm(2), [pl.PointTarget("tip", (0.5, 0.0, 0.0))])
    assert found.status is pl.Status.UNREACHABLE
