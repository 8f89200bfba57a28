"""Batches of poses: the same answers as single solves, on numpy and on torch."""

from __future__ import annotations

import numpy as np
import pytest

from pliant._kernels.geometric_iterate import iterate
from pliant._kernels.geometric_waves import iterate_in_waves
from pliant.actuators import Chamber
from pliant.errors import ArgumentError
from pliant.models.geometric import GeometricModel
from pliant.robots.finger import finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.flex import flex
from pliant.solve.geometric_batch import CpuOps, batch, tables
from pliant.state import Status


@pytest.fixture(scope="module")
def arm():
    robot = three_chamber_arm(size=0.03, folds=3)
    drives = ("displacement", "displacement", "effort")
    return GeometricModel(
        robot.but(actuators=tuple(Chamber(name=a.name, drive=d) for a, d in zip(robot.actuators, drives)))
    )


@pytest.fixture(scope="module")
def commands(arm):
    U = np.random.default_rng(0).uniform(0.0, 0.2, (5, 3)) * arm.rest_measures
    U[:, 2] = np.linspace(0.0, 2e4, 5)  # a pressure
    return U


@pytest.mark.parametrize(("device", "method"), [("cpu", "newton"), ("cpu", "projection"), ("cpu:0", "auto")])
def test_batch_agrees_with_single_solves(arm, commands, device, method):
    if device != "cpu":
        pytest.importorskip("torch")
    found = batch(arm, commands, tolerance=1e-8, device=device, method=method)
    assert found.converged.all() and (found.step <= 1e-8).all()
    for q, effort, u in zip(found.q, found.effort, commands):
        state = flex(arm, u)
        assert np.abs(arm.locate(q, "tip").position - arm.locate(state, "tip").position).max() < 2e-6
        assert effort == pytest.approx(state.effort, rel=1e-3, abs=5.0)
    assert found.displacement[:, :2] == pytest.approx(commands[:, :2], rel=1e-4, abs=1e-12)


def test_what_a_batch_cannot_do_is_said(arm):
    for wrong in (np.zeros((2, 5)), np.zeros((0, 3))):
        with pytest.raises(ArgumentError, match="U"):
            batch(arm, wrong)
    with pytest.raises(ArgumentError, match="chambers"):
        batch(GeometricModel(finger(size=0.01)), np.zeros((1, 1)), method="projection")
    with pytest.raises(ArgumentError, match="method"):
        batch(arm, np.zeros((2, 3)), method="magic")
    with pytest.raises(ArgumentError, match="device"):
        batch(arm, np.zeros((2, 3)), device="cuda", method="newton")
    with pytest.raises(ArgumentError, match="threads"):
        batch(arm, np.zeros((2, 3)), threads=0)


def test_on_a_cpu_every_kind_of_actuator_will_do():
    model = GeometricModel(finger(size=0.01))
    U = np.array([[0.004], [0.001], [0.002]])
    found = batch(model, U)
    assert found.converged.all()
    assert found.displacement == pytest.approx(U, rel=1e-6)
    slack = batch(model, [[-0.01]])
    assert slack.status == (Status.SLACK,) and slack.step[0] < 1e-6
    assert np.abs(found.q[1] - flex(model, U[1]).q).max() < 1e-7


def test_unconverged_poses_are_marked(arm, commands):
    found = batch(arm, commands, tolerance=1e-12, iterations=3, method="projection")
    assert not found.converged.any()


def test_large_batches_start_from_a_polynomial_through_a_few_poses(arm):
    rng = np.random.default_rng(1)
    U = np.zeros((60, 3))
    U[:, 0] = rng.uniform(0.0, 0.2, 60) * arm.rest_measures[0]  # one command varies: five terms, twenty pilots
    data = tables(arm)
    ops = CpuOps(arm, data, 1)
    options = {"tolerance": 1e-7, "iterations": 1000, "window": 20}
    waves, plain = iterate_in_waves(ops, data, U, **options), iterate(ops, data, U, **options)
    assert waves["converged"].all() and plain["converged"].all()
    assert np.median(waves["iterations"]) < 0.8 * np.median(plain["iterations"])
    assert np.abs(waves["x"] - plain["x"]).max() < 1e-5
    for (R, p), (S, o) in zip(waves["frames"], plain["frames"]):
        assert np.abs(R - S).max() < 2e-4 and np.abs(p - o).max() < 1e-5
