"""From simulation to reality: every kind of correction, its derivative, the choice, loads and online adaptation."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.learn import Adapter, Measurements, follow_path, make_plan, record, specimen, transfer
from pliant.learn.mappings import KINDS, fit_correction
from pliant.models.learned import LearnedModel
from pliant.state import Status


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_reduces_the_gap(arm, measured, kind):
    found = transfer(arm, measured, kind=kind, curve=False)
    assert found.report.kind == kind
    assert found.report.errors[kind]["mean"] < 0.15 * found.report.before["mean"]


@pytest.mark.parametrize("kind", KINDS)
def test_compiled_correction_equals_the_plain_one_with_exact_derivative(arm, measured, kind, tmp_path):
    model = transfer(arm, measured, kind=kind, curve=False).model
    u = np.random.default_rng(0).uniform(1e4, 9e4, (5, 3))
    c = model.knowledge.corrections["tip"]
    p, J = model.position(u, "tip", derivative=True)
    assert np.allclose(p, c(arm.position(u, "tip")[0], u), atol=1e-13)
    h = 1.0
    for k, e in enumerate(h * np.eye(3)):
        d = (model.position(u + e, "tip")[0] - model.position(u - e, "tip")[0]) / (2 * h)
        assert np.allclose(J[:, :, k], d, rtol=1e-6, atol=1e-7 * np.abs(J).max())
    again = LearnedModel.load(model.save(tmp_path / "m.pliant"))
    assert np.array_equal(again.position(u, "tip")[0], p)


def test_the_best_kind_is_chosen_and_reported(real, measured):
    report = real.report
    assert set(report.errors) == set(KINDS)
    assert report.errors[report.kind]["mean"] <= 1.05 * min(e["mean"] for e in report.errors.values())
    assert report.samples == len(measured)
    assert "measurements" in str(report)
    assert report.accepted
    assert report.curve
    assert real.model.facts["transfer"]["kind"] == report.kind


def test_reported_errors_are_honest(real, arm, robot):
    """The cross-validated error predicts the error on fresh measurements."""
    fresh = record(robot, make_plan("latin", arm.ranges, count=40, seed=77))
    e = np.linalg.norm(real.model.position(fresh.u, "tip")[0] - fresh.position, axis=1)
    assert e.mean() < 1.5 * real.report.errors[real.report.kind]["mean"]


def test_targets_where_nothing_was_measured_are_flagged(arm, robot):
    corner = record(robot, make_plan("sobol", np.array([[0.0, 3e4]] * 3), count=30))
    model = transfer(arm, corner, kind="affine", curve=False).model
    u = np.array([9e4, 8e4, 2e4])
    found = follow_path(model, model.position(u, "tip")[0][None], start=u)
    assert found.status[0] is Status.EXTRAPOLATED
    assert any("measured" in n for n in found.notes)


def test_load_becomes_an_input(arm):
    """Measured with three payloads, a fourth one in between is predicted; the load-free correction cannot."""
    robot = specimen(2)
    parts = []
    for load in (0.0, 0.04, 0.08):
        robot.load(load)
        parts.append(record(robot, make_plan("sobol", arm.ranges, count=40, seed=int(1e3 * load)), load=(load,)))
    both = transfer(arm, parts[0].and_also(parts[1]).and_also(parts[2]), kind="residual", curve=False).model
    robot.load(0.06)
    between = record(robot, make_plan("latin", arm.ranges, count=20, seed=5))

    def miss(model):
        return np.linalg.norm(model.position(between.u, "tip")[0] - between.position, axis=1).mean()

    blind = transfer(arm, parts[0], kind="residual", curve=False).model
    assert miss(both.with_load(0.06)) < 0.4 * miss(blind)
    with pytest.raises(ArgumentError):
        blind.with_load(0.06)


def test_online_adaptation_follows_a_payload(real, arm):
    robot = specimen(1, payload=0.1)
    adapter = Adapter(real.model)
    u = make_plan("latin", arm.ranges, count=40, seed=3)
    errors = []
    for command in u:
        robot.send(command)
        errors.append(np.linalg.norm(adapter.update(command, robot.read())))
    assert np.mean(errors[-10:]) < 0.5 * np.mean(errors[:3])
    check = record(robot, make_plan("latin", arm.ranges, count=10, seed=4))
    before = np.linalg.norm(real.model.position(check.u, "tip")[0] - check.position, axis=1).mean()
    after = np.linalg.norm(adapter.model.position(check.u, "tip")[0] - check.position, axis=1).mean()
    assert after < 0.5 * before
    with pytest.raises(ArgumentError):
        adapter.update(u[0], [np.nan] * 3)


def test_bad_measurements_are_refused(arm, measured):
    with pytest.raises(ArgumentError):
        transfer(arm, Measurements(measured.u, measured.position, measured.load, "nose"))
    with pytest.raises(ArgumentError):
        transfer(arm, Measurements(measured.u[:, :2], measured.position, measured.load))
    with pytest.raises(ArgumentError):
        transfer(arm, measured, kind="magic")
    with pytest.raises(ArgumentError):
        Measurements(measured.u, measured.position[:4], measured.load)
    with pytest.raises(ArgumentError):
        Measurements(measured.u * np.nan, measured.position, measured.load)
    with pytest.raises(ArgumentError):
        fit_correction("affine", np.zeros((2, 3)), np.zeros((2, 3)), np.zeros((2, 0)), np.zeros((2, 3)))
