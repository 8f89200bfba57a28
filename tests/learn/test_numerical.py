"""Learning from numerical simulation: meshes of the three-chamber arm, geometric and finite-element."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.learn import fit, sample
from pliant.learn.train import errors
from pliant.materials import NeoHookean
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robots.three_chamber_arm import three_chamber_arm

PRESSURE = 42e3


def coarse(kind):
    rubber = NeoHookean.from_young(0.6e6, 0.45, density=1140.0)
    return kind(three_chamber_arm(size=0.02, folds=4, material=rubber))


def geometric():
    return coarse(GeometricModel)


def fem():
    return coarse(FemModel)


@pytest.fixture(scope="module", params=[geometric, fem], ids=["geometric", "fem"])
def samples(request, tmp_path_factory):
    folder, ranges = tmp_path_factory.mktemp("meshed"), [(0.0, PRESSURE)] * 3
    data = sample(request.param, ranges, path=folder / "a.h5", plan="sobol", count=100, workers=0, shape=True)
    check = sample(request.param, ranges, path=folder / "b.h5", plan="latin", count=40, workers=0, shape=True)
    assert data.failed == check.failed == 0
    return data, check


def test_6_2_and_f3_kinematics_of_a_meshed_arm_with_few_samples(samples):
    """N_fk <= 0.34 % W on samples of neither set from 85 samples, thanks to Jacobians: without, twice that."""
    data, check = samples
    options = {"hidden": (20, 20), "iterations": 40, "share": 0.85}
    with_slopes, without = (errors(fit(data, slopes=s, **options), check)["tip"] for s in (True, False))
    assert with_slopes["max"] <= 0.0034 * data.width
    assert with_slopes["slope_error"] <= 0.05
    assert without["max"] > 2.0 * with_slopes["max"]


def test_whole_shape_of_a_meshed_arm(samples):
    """The network draws the whole skin: the worst vertex is within 1 % of the workspace, with modes to spare."""
    data, check = samples
    model = fit(data, hidden=(20, 20), iterations=30, share=0.85, slopes=False, shape_modes=16)
    assert errors(model, check)["shape"]["max_share"] < 0.01
    assert model.skin_positions(model.rest).shape == data.shape.shape[1:]


@pytest.mark.slow
def test_6_2_and_f3_kinematics_of_the_geometric_arm_16_cubed_2x35(tmp_path):
    """The default mesh (9468 tets), 16^3 samples, of which a quarter of the paper's 2867 train, with Jacobians."""
    torch = pytest.importorskip("torch")
    place = {"device": "cuda"} if torch.cuda.is_available() else {"start": "neighbour"}
    data = sample(_default, [(0.0, 200e3)] * 3, path=tmp_path / "a.h5", per_axis=16, **place)
    order = np.random.default_rng(0).permutation(len(data))
    few, rest = data.select(np.sort(order[:797])), data.select(np.sort(order[797:]))
    model = fit(few, hidden=(35, 35), share=0.9, iterations=15)
    assert model.facts["samples"] == 717  # of 2867
    assert errors(model, rest)["tip"]["max"] <= 0.0034 * data.width


def _default():
    return GeometricModel(three_chamber_arm())
