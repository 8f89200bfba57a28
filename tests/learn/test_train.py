"""Training: what it reports is what it does; Jacobians help; everything is repeatable."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.learn import ConstantCurvatureArm, FingerManipulator, errors, fit, sample
from pliant.learn.levenberg import levenberg


def test_levenberg_finds_a_known_network():
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (200, 2))
    y = np.stack([np.tanh(x[:, 0] - 0.5 * x[:, 1]), x[:, 0] * 0.3], axis=1)
    found = levenberg((2, 4, 2), x, y, iterations=200, seed=1)
    assert found.history[-1, 1] < 1e-4
    assert (np.diff(found.history[:, 0]) <= 0).all()


def test_levenberg_on_a_torch_device_takes_the_same_steps(curved_data):
    pytest.importorskip("torch")
    a, b = (fit(curved_data, hidden=(6,), iterations=5, device=d) for d in (None, "cpu"))
    assert np.allclose(a.knowledge.kinematics.theta, b.knowledge.kinematics.theta, rtol=1e-5, atol=1e-7)


def test_training_is_repeatable(curved_data):
    a, b = (fit(curved_data, hidden=(8,), iterations=5, seed=3) for _ in range(2))
    assert np.array_equal(a.knowledge.kinematics.theta, b.knowledge.kinematics.theta)
    c = fit(curved_data, hidden=(8,), iterations=5, seed=4)
    assert not np.array_equal(a.knowledge.kinematics.theta, c.knowledge.kinematics.theta)


def test_reported_errors_are_of_rows_that_were_not_used(curved_data, folder):
    model = fit(curved_data, hidden=(12, 12), iterations=25)
    other = sample(ConstantCurvatureArm(), path=folder / "latin.h5", plan="latin", count=300, workers=0)
    fresh = errors(model, other)["tip"]
    assert fresh["mean"] < 3 * model.facts["test"]["tip"]["mean"] + 1e-9
    assert model.facts["samples"] == round(0.7 * 216)


def test_jacobians_replace_samples(folder):
    """With exact Jacobians an eighth of the samples gives a smaller error than all of them without."""
    many = sample(FingerManipulator(), path=folder / "f8.h5", per_axis=8, workers=0)
    few = sample(FingerManipulator(), path=folder / "f4.h5", plan="sobol", count=128, workers=0)
    check = sample(FingerManipulator(), path=folder / "fl.h5", plan="latin", count=300, workers=0, seed=9)
    with_slopes = errors(fit(few, hidden=(14, 14), iterations=60), check)["tip"]
    without = errors(fit(many, hidden=(14, 14), iterations=60, slopes=False), check)["tip"]
    assert with_slopes["mean"] < without["mean"]


@pytest.mark.parametrize("trainer", ["adam", "lbfgs"])
def test_torch_trainers(curved_data, trainer):
    pytest.importorskip("torch")
    model = fit(curved_data, hidden=(12,), trainer=trainer, iterations=300 if trainer == "adam" else 10)
    assert model.facts["test"]["tip"]["mean_share"] < (0.05 if trainer == "adam" else 0.01)


def test_torch_network_equals_the_compiled_one():
    torch = pytest.importorskip("torch")
    from pliant._kernels.network import evaluate
    from pliant.learn.torch_training import network
    from pliant.models.network import initial

    sizes = (3, 6, 5, 2)
    theta, x = initial(sizes, np.random.default_rng(0)), np.random.default_rng(1).normal(size=(4, 3))
    y, J = evaluate(theta[None], np.array(sizes), x, True)
    a, b = network(torch, torch.tensor(theta), sizes, torch.tensor(x), True)
    assert np.allclose(a.numpy(), y)
    assert np.allclose(b.numpy(), J)


def test_ensembles_differ_and_average(curved_data):
    model = fit(curved_data, hidden=(6,), iterations=4, members=3)
    net = model.knowledge.kinematics
    assert net.members == 3
    assert (net.spread(curved_data.u).max(axis=0)[:2] > 0).all()


def test_constant_coordinates_stay_constant(finger):
    u = np.random.default_rng(0).uniform(-3e5, 3e5, (10, 3))
    p, J = finger.position(u, "tip", derivative=True)
    assert (p[:, 2] == 0).all()
    assert (J[:, 2] == 0).all()


def test_whole_shape(arm, arm_data):
    """The worst vertex of samples that were not learned from is within 0.2 % of the workspace."""
    assert arm.facts["test"]["shape"]["max_share"] < 2e-3
    error = [
        np.linalg.norm(arm.skin_positions(arm.scale * u) - x, axis=1).max()
        for u, x in zip(arm_data.u[::20], arm_data.shape[::20])
    ]
    assert np.max(error) < 2e-3 * arm.width
    q = arm.scale * np.array([3e4, 5e4, 1e4])
    vertices, weights, directions = np.array([[5], [20]]), np.ones((2, 1)), np.eye(3)[:2]
    rows = arm.skin_rows(q, vertices, weights, directions)
    h = 1e-6
    for k, e in enumerate(h * np.eye(3)):
        d = (arm.skin_positions(q + e) - arm.skin_positions(q - e)) / (2 * h)
        assert np.allclose(rows[:, k], [d[5, 0], d[20, 1]], atol=1e-7)


def test_recurrent_comparison(curved_data):
    pytest.importorskip("torch")
    from pliant.learn import fit_recurrent

    found = fit_recurrent(curved_data, hidden=8, epochs=15)
    assert np.isfinite(found.errors["mean"])
    assert found.predict(curved_data.u[None, :4]).shape == (1, 3)


@pytest.mark.parametrize(
    "options",
    [{"hidden": ()}, {"hidden": (0,)}, {"trainer": "magic"}, {"members": 0}, {"share": 1.0}, {"shape_modes": 3}],
)
def test_bad_arguments_are_named(curved_data, options):
    with pytest.raises(ArgumentError):
        fit(curved_data, iterations=1, **options)


@pytest.mark.parametrize("dataset", [None, "samples.h5", [1, 2]])
def test_only_a_dataset_is_learned_from(dataset):
    with pytest.raises(ArgumentError, match="Dataset"):
        fit(dataset)


def test_too_few_rows_are_refused(curved_data):
    with pytest.raises(ArgumentError, match="good rows"):
        fit(curved_data.select(np.arange(5)))
