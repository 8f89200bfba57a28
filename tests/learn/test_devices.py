"""Sampling on a device of torch: the same rows, the same journal (here on torch's CPU device)."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest

from pliant.errors import ArgumentError
from pliant.learn import ConstantCurvatureArm, sample
from pliant.models.geometric import GeometricModel
from pliant.robots.three_chamber_arm import three_chamber_arm

pytest.importorskip("torch")
RANGES = [(0.0, 3e4)] * 3


def make():
    return GeometricModel(three_chamber_arm(size=0.06, folds=1, height=0.07), stiffness="constant")


def agree(a, b):
    assert np.array_equal(a.u, b.u)
    assert np.abs(a.position - b.position).max() < 1e-9 * 0.136
    assert np.abs(a.rotation - b.rotation).max() < 1e-8
    assert np.abs(a.jacobian - b.jacobian).max() < 1e-6 * np.abs(b.jacobian).max()


@pytest.fixture(scope="module")
def rows(tmp_path_factory):
    return sample(make, RANGES, path=tmp_path_factory.mktemp("rows") / "p.h5", per_axis=2, workers=0, shape=True)


def test_rows_do_not_depend_on_the_device(tmp_path, rows):
    batched = sample(make, RANGES, path=tmp_path / "d.h5", per_axis=2, device="cpu", shape=True)
    agree(batched, rows)
    assert np.abs(batched.shape - rows.shape).max() < 1e-7  # stored in single precision
    assert batched.failed == 0
    assert batched.facts["device"] == "cpu"


def test_a_journal_begun_in_a_process_goes_on_on_a_device(tmp_path, rows):
    class Stop(Exception):
        pass

    def stop(done, failed, total):
        if done == 3:
            raise Stop

    ask = partial(sample, make, RANGES, path=tmp_path / "d.h5", per_axis=2, shape=True)
    with pytest.raises(Stop):
        ask(workers=0, progress=stop)
    data = ask(device="cpu")
    assert data.facts["resumed_with"] == 3
    agree(data, rows)


def test_a_row_that_the_batch_does_not_solve_is_solved_by_itself(tmp_path, rows, monkeypatch):
    from pliant.solve import geometric_slopes

    solve = geometric_slopes.PoseSolver.solve

    def worse(self, commands, points, **options):
        poses = solve(self, commands, points, **options)
        poses.converged[2] = False
        poses.position[2] = np.nan
        return poses

    monkeypatch.setattr(geometric_slopes.PoseSolver, "solve", worse)
    data = sample(make, RANGES, path=tmp_path / "d.h5", per_axis=2, device="cpu", shape=True)
    agree(data, rows)


def test_what_a_device_cannot_do_is_said(tmp_path):
    with pytest.raises(ArgumentError, match="no batched solve"):
        sample(ConstantCurvatureArm, path=tmp_path / "a.h5", per_axis=2, device="cpu")
    with pytest.raises(ArgumentError, match="device"):
        sample(make, RANGES, path=tmp_path / "a.h5", per_axis=2, device="cpu", start="neighbour")
