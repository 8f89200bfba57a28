"""Acceptance checks of the learned-inverse paper, each test named after its check.

learned-ik 6.1 and 6.2, geometric-computing 4.8 (F1 to F15). By default at reduced size; the sizes of the
paper are slow.
"""

from __future__ import annotations

import numpy as np
import pytest

from pliant.learn import (
    ConstantCurvatureArm,
    FingerManipulator,
    chamber_arm,
    eight,
    ell,
    finger_specimen,
    fit,
    fit_direct,
    follow_path,
    make_plan,
    record,
    sample,
    specimen,
    transfer,
)
from pliant.learn.comparison import compare_methods, execute
from pliant.learn.evaluate import differences
from pliant.learn.mappings import fit_correction
from pliant.learn.paths import arm_box, arm_flower
from pliant.learn.transfer import miss
from pliant.models.network import Network
from pliant.state import Status

EIGHT = eight((-0.014, 0.028, 0.0), width=0.012, height=0.016)
EIGHT_STARTS = (np.array([-2.0e5, 1.5e5, 1.0e5]), np.array([-2.2e5, -0.6e5, -0.4e5]))


def path_error(robot, model, targets, **options):
    w = follow_path(model, targets, **options)
    return w, np.linalg.norm(execute(robot, w.u) - targets, axis=1)


# ---- 6.1 exact -------------------------------------------------------------------------------------
def test_6_1_1_and_f1_tan_sigmoid_equals_tanh():
    x = np.linspace(-3, 3, 101)
    net = Network((1, 1, 1), np.array([[1.0, 0.0, 1.0, 0.0]]), np.zeros(1), np.ones(1), np.zeros(1), np.ones(1))
    assert np.abs(net(x[:, None])[:, 0] - np.tanh(x)).max() < 1e-15
    assert np.abs(2.0 / (1.0 + np.exp(-2.0 * x)) - 1.0 - np.tanh(x)).max() < 1e-15


def test_6_1_2_and_f2_derivative_of_the_correction_network(arm, measured):
    y = arm.position(measured.u, "tip")[0]
    net = fit_correction("single-layer", y, measured.u, measured.load, measured.position).network
    D = net.jacobian(y[0])
    h = 1e-5
    wanted = np.stack([(net(y[0] + e) - net(y[0] - e)) / (2 * h) for e in h * np.eye(3)], axis=1)
    assert np.abs(D - wanted).max() < 1e-7 * np.abs(D).max()


def test_6_1_3_central_differences_converge_with_second_order():
    arm, u = ConstantCurvatureArm(), np.array([3e4, 6e4, 1e4])
    exact = arm.place(u, "tip", jacobian=True).jacobian[3:]
    e = [np.abs(differences(lambda x: arm.place(x, ["tip"]), u, [h] * 3)[0, 3:] - exact).max() for h in (4e3, 2e3, 1e3)]
    assert np.log2(np.array(e[:-1]) / e[1:]) == pytest.approx([2.0, 2.0], abs=0.05)


def test_6_1_4_gradient_of_the_objective(real):
    model, u, target = real.model, np.array([3e4, 6e4, 2e4]), np.array([0.005, 0.0, 0.13])

    def objective(x):
        return float(np.sum((target - model.position(x, "tip")[0]) ** 2))

    p, J = model.position(u, "tip", derivative=True)
    gradient = -2.0 * (target - p) @ J
    wanted = [(objective(u + e) - objective(u - e)) / 200.0 for e in 100.0 * np.eye(3)]
    assert np.allclose(gradient, wanted, rtol=1e-5, atol=1e-5 * np.abs(gradient).max())


@pytest.mark.parametrize("method", ["gauss-newton", "gradient", "gradient-kinematics"])
def test_6_1_5_the_iteration_never_raises_the_objective(arm, middle, method):
    target = np.array([[0.012, -0.01, 0.13]])
    errors = [follow_path(arm, target, start=middle, method=method, iterations=k).error[0] for k in range(8)]
    assert (np.diff(errors) <= 1e-15).all()


# ---- 6.2 the paper's numbers ---------------------------------------------------------------------------
def test_6_2_kinematics_of_the_arm_at_reduced_size(arm):
    """N_fk <= 0.34 % W, here with 87 samples and exact Jacobians instead of 2867."""
    assert arm.facts["test"]["tip"]["max_share"] <= 0.0034


def test_f4_jacobian_network(arm):
    test = arm.facts["test"]["tip"]
    assert test["own_slope_error"] <= 0.05
    assert test["slope_error"] <= 0.05


def test_6_2_and_f5_flower_in_simulation(arm, middle):
    model, targets = chamber_arm(), arm_flower(count=40)
    from pliant import equilibrium

    for method in ("gradient", "gauss-newton"):
        w = follow_path(arm, targets, start=middle, method=method)
        assert all(s is Status.CONVERGED for s in w.status)
        reached = [model.locate(equilibrium(model, u).q, "tip").position for u in w.u]
        assert np.linalg.norm(reached - targets, axis=1).mean() <= 0.0019 * arm.width


def test_f7_convergence_from_the_previous_waypoint(arm, middle):
    w = follow_path(arm, arm_flower(), start=middle, method="gradient")
    assert np.max(w.iterations[1:]) <= 20
    quick = follow_path(arm, arm_flower(), start=middle, tolerance=1e-3 * arm.width)
    assert np.max(quick.iterations[1:]) <= 3


@pytest.mark.parametrize("number", [1, 2])
def test_6_2_and_f10_hidden_gap_and_transfer_on_both_specimens(arm, middle, number):
    """The gap is 5-7 % W or more; 100 measurements bring the flower and the box below 1.71 % W, four times down."""
    robot = specimen(number)
    data = record(robot, make_plan("sobol", arm.ranges, count=100))
    real = transfer(arm, data, curve=False).model
    for targets in (arm_flower(count=40), arm_box(count=40)):
        _, before = path_error(robot, arm, targets, start=middle)
        _, after = path_error(robot, real, targets, start=middle)
        assert 0.04 * arm.width < before.max() < 0.12 * arm.width
        assert after.max() <= 0.0171 * arm.width
        assert after.max() <= before.max() / 4
        assert after.max() <= 1.2e-3


def test_f10_the_papers_single_layer_with_the_eta_rule(arm, robot, measured, middle):
    real = transfer(arm, measured, kind="single-layer", curve=False).model
    assert real.knowledge.corrections["tip"].network.sizes == (3, 25, 3)
    _, after = path_error(robot, real, arm_flower(count=40), start=middle, method="gradient")
    assert after.max() <= 0.0171 * arm.width


def test_6_2_and_f11_prediction_of_held_out_measurements(real):
    """At most 1 % W at most points with at most 350 measurements (here 100)."""
    assert real.report.errors[real.report.kind]["p95"] <= 0.01 * real.model.width


def test_6_2_and_f11_a_poorer_model_needs_more_measurements(arm, curved_data, measured):
    """With few measurements, the correction of the constant-curvature model is clearly worse."""
    poor = fit(curved_data, hidden=(12, 12), iterations=25)
    rows, rest = np.arange(30), np.arange(30, 100)
    errors = []
    for model in (arm, poor):
        y = model.position(measured.u, "tip")[0]
        m = measured.select(rows)
        c = fit_correction("single-layer", y[rows], m.u, m.load, m.position, seed=1)
        errors.append(miss(c, y[rest], measured.select(rest)).mean())
    assert errors[1] > 1.3 * errors[0]


def test_f12_too_many_neurons_fit_the_noise(arm, measured):
    """The gap between training and test error grows with eta."""
    y = arm.position(measured.u, "tip")[0]
    rows, rest = np.arange(50), np.arange(50, 100)
    gap = []
    for neurons in (2, 60):
        part = measured.select(rows)
        c = fit_correction("single-layer", y[rows], part.u, part.load, part.position, eta=neurons / 50, seed=0)
        gap.append(miss(c, y[rest], measured.select(rest)).mean() / miss(c, y[rows], part).mean())
    assert gap[1] > gap[0]


def test_6_2_and_f6_figure_eight_in_the_learned_world(finger):
    """Average <= 0.08 % and maximum <= 0.18 % W. The paper's iteration stops once it is below 0.1 %: it averages
    0.08 to 0.1 %; told to stop at half of that it averages half. Ours goes to the end at no cost."""
    w = follow_path(finger, EIGHT, start=EIGHT_STARTS[0], axes="xy", method="gradient-kinematics")
    assert w.error.mean() <= 0.001 * finger.width
    assert w.error.max() <= 0.0018 * finger.width
    finer = follow_path(
        finger, EIGHT, start=EIGHT_STARTS[0], axes="xy", method="gradient-kinematics", tolerance=5e-4 * finger.width
    )
    assert finer.error.mean() <= 0.0008 * finger.width
    ours = follow_path(finger, EIGHT, start=EIGHT_STARTS[0], axes="xy")
    assert ours.error.max() <= 1e-5 * finger.width


def test_6_2_and_f13_two_starts_give_two_smooth_branches_direct_learning_does_not(finger, folder):
    branches = [follow_path(finger, EIGHT, start=s, axes="xy") for s in EIGHT_STARTS]
    assert all(b.ok for b in branches)
    assert np.abs(branches[0].u - branches[1].u).max() > 0.1 * 6e5
    steps = [b.largest_step[0:3].max() for b in branches]
    assert max(steps) < 0.04 * 6e5
    data = sample(FingerManipulator(), path=folder / "direct.h5", per_axis=8, workers=0)
    direct = fit_direct(data.u, data.position[:, 0], ranges=data.ranges, hidden=(20, 20), iterations=40)(EIGHT)
    truth = FingerManipulator()
    wrong = np.linalg.norm([truth.place(u, "tip").position for u in direct.u] - EIGHT, axis=1)
    right = np.linalg.norm([truth.place(u, "tip").position for u in branches[0].u] - EIGHT, axis=1)
    assert wrong.mean() > 5 * right.mean()


def test_6_2_l_path_through_a_singularity_and_out_of_reach(finger):
    """The stretched finger is singular; the path leaves the workspace and comes back."""
    reach = FingerManipulator().length
    targets = ell((0.0, 0.8 * reach, 0.0), first=(-0.02, 0.0, 0.0), second=(0.0, 0.35 * reach, 0.0), count=60)
    w = follow_path(finger, targets, start=np.array([1e5, 1e5, 0.5e5]), axes="xy")
    assert np.isfinite(w.u).all()
    assert w.status[0] is Status.CONVERGED
    assert w.status[-1] is Status.UNREACHABLE
    outside = np.linalg.norm(targets, axis=1) > reach
    nearest = np.linalg.norm(targets[outside], axis=1) - reach
    assert np.abs(w.error[outside] - nearest).max() < 0.02 * finger.width
    assert w.largest_step.max() < 0.35 * 6e5


def test_6_2_interactive_positioning_from_zero(finger):
    """Six targets, each from c = 0, with the hidden gap corrected: at most 0.9 % W."""
    robot = finger_specimen()
    data = record(robot, make_plan("sobol", finger.ranges, count=150))
    real = transfer(finger, data, curve=False).model
    u = np.array(
        [[1.2, 0.8, 1.0], [-1.0, -1.4, -0.6], [2.0, 0.5, 0.4], [0.6, 1.5, 1.0], [-1.8, -0.5, -1.0], [1.0, 1.0, -1.0]]
    )
    targets = real.position(1e5 * u, "tip")[0]
    w = follow_path(real, targets, start=np.array([2e4, 2e4, 2e4]), restart=True, axes="xy")
    assert all(s is Status.CONVERGED for s in w.status)
    reached = execute(robot, w.u)
    assert np.linalg.norm(reached - targets, axis=1).max() <= 0.009 * finger.width


def test_6_2_and_f14_payload(arm, robot, middle):
    """The error grows under a payload and returns after retraining."""
    targets = arm_flower(count=24)
    free, loaded = specimen(1), specimen(1, payload=0.05)
    data = [record(r, make_plan("sobol", arm.ranges, count=80)) for r in (free, loaded)]
    old, new = (transfer(arm, d, curve=False).model for d in data)
    unloaded = path_error(free, old, targets, start=middle)[1]
    worse = path_error(loaded, old, targets, start=middle)[1]
    retrained = path_error(loaded, new, targets, start=middle)[1]
    assert worse.mean() > 2 * unloaded.mean()
    assert retrained.mean() <= 0.01 * arm.width
    assert retrained.mean() <= 1.5 * unloaded.mean()


def test_5_6_speed_costs_accuracy(arm, middle):
    """A lag of the drive makes quick paths worse."""
    robot = specimen(1, lag=0.35)
    real = transfer(arm, record(robot, make_plan("sobol", arm.ranges, count=60)), curve=False).model
    targets = arm_flower(count=60)
    w = follow_path(real, targets, start=middle)
    step = np.linalg.norm(np.diff(targets, axis=0), axis=1).mean()
    errors = []
    for speed in (1.5e-3, 4e-3):
        robot.send(w.u[0])
        e = np.linalg.norm(execute(robot, w.u, step / speed) - targets, axis=1)
        errors.append(e.max())
    assert errors[0] < errors[1]


def test_6_2_and_f15_order_of_the_four_methods(arm, robot, measured, middle):
    rows = compare_methods(
        arm,
        robot,
        arm_flower(count=24),
        measured,
        analytical=ConstantCurvatureArm(),
        numerical=chamber_arm(),
        start=middle,
        numerical_targets=4,
    )
    analytical, numerical, direct, paper, ours, freed = (r.mean for r in rows)
    assert analytical > numerical > direct
    assert direct > min(paper, ours)
    # The hysteresis of the drives is the floor of the learned methods; taking it out separates them.
    assert freed < 0.5 * min(direct, paper, ours)


def test_f15_the_order_without_hysteresis(arm, middle):
    """Where the command alone decides where the robot is, the Jacobian method is the best; so it is the hysteresis that
    makes the learned methods tie."""
    robot = specimen(1, hysteresis=0.0)
    data = record(robot, make_plan("sobol", arm.ranges, count=100))
    ours = transfer(arm, data, curve=False).model
    targets = arm_flower(count=24)
    error = path_error(robot, ours, targets, start=middle)[1].mean()
    direct = fit_direct(data.u, data.position, ranges=arm.ranges, hidden=(12, 12))(targets)
    assert error < np.linalg.norm(execute(robot, direct.u) - targets, axis=1).mean()
    assert error < 6e-5  # 0.3 mm with the hysteresis


# ---- the sizes of the paper ------------------------------------------------------------------------------
@pytest.mark.slow
def test_6_2_and_f3_kinematics_of_the_arm_16_cubed_2x35(tmp_path):
    data = sample(chamber_arm, path=tmp_path / "arm.h5", per_axis=16)
    model = fit(data, hidden=(35, 35), slopes=False, iterations=60)
    assert model.facts["test"]["tip"]["max_share"] <= 0.0034


@pytest.mark.slow
def test_6_2_and_f3_kinematics_of_the_finger_29_cubed_3x30(tmp_path):
    data = sample(FingerManipulator(), path=tmp_path / "finger.h5", per_axis=29)
    model = fit(data, hidden=(30, 30, 30), slopes=False, iterations=300)
    assert model.facts["test"]["tip"]["max_share"] <= 0.0058


@pytest.mark.slow
def test_kinematics_of_the_finger_with_a_quarter_of_the_samples(tmp_path):
    data = sample(FingerManipulator(), path=tmp_path / "finger.h5", plan="sobol", count=6097)
    model = fit(data, hidden=(30, 30, 30), iterations=300)
    assert model.facts["test"]["tip"]["max_share"] <= 0.0058
