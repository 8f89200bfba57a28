"""Sampling: the same rows whatever the workers, nothing lost by SIGKILL, failures kept."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import learn_models
import numpy as np
import pytest

from pliant.errors import ArgumentError, FileError, UnknownNameError
from pliant.learn import ConstantCurvatureArm, Dataset, chamber_arm, sample
from pliant.learn.plans import make_plan
from pliant.state import Status


def same(a, b):
    return all(
        np.array_equal(getattr(a, f), getattr(b, f), equal_nan=True) for f in ("u", "position", "rotation", "jacobian")
    )


def test_rows_do_not_depend_on_the_number_of_workers(tmp_path):
    runs = [
        sample(chamber_arm, path=tmp_path / f"{w}.h5", per_axis=3, workers=w, start=start)
        for w, start in ((0, "rest"), (2, "rest"))
    ]
    assert same(*runs)
    assert runs[0].failed == 0
    assert runs[0].has_slopes


def test_neighbour_start_finds_the_same_equilibria(tmp_path, arm_data):
    chained = sample(chamber_arm, path=tmp_path / "n.h5", per_axis=3, workers=0, start="neighbour")
    alone = sample(chamber_arm, path=tmp_path / "a.h5", per_axis=3, workers=0)
    assert np.abs(chained.position - alone.position).max() < 1e-9


def test_exact_jacobians_match_differences(tmp_path):
    exact = sample(chamber_arm, path=tmp_path / "e.h5", per_axis=2, workers=0)
    paper = sample(chamber_arm, path=tmp_path / "d.h5", per_axis=2, workers=0, jacobian="differences")
    a, b = exact.jacobian[:, :, 3:], paper.jacobian[:, :, 3:]
    assert np.abs(a - b).max() < 0.02 * np.abs(a).max()
    assert np.isnan(paper.jacobian[:, :, :3]).all()


def test_resume_after_sigkill_loses_and_repeats_nothing(tmp_path):
    log, path = tmp_path / "log.txt", tmp_path / "killed.h5"
    code = (
        "import sys; sys.path.insert(0, sys.argv[1])\n"
        "from functools import partial\nimport learn_models\nfrom pliant.learn import sample\n"
        "if __name__ == '__main__':\n"
        "    sample(partial(learn_models.slow, sys.argv[2], 0.05), path=sys.argv[3], per_axis=4, workers=1)\n"
    )
    script = tmp_path / "run.py"
    script.write_text(code)
    tests = str(Path(learn_models.__file__).parent)
    run = subprocess.Popen([sys.executable, str(script), tests, str(log), str(path)], start_new_session=True)
    journal = tmp_path / "killed.h5.journal"
    deadline = time.time() + 60
    while time.time() < deadline and not (log.exists() and len(log.read_text().splitlines()) >= 12):
        time.sleep(0.05)
    os.kill(run.pid, signal.SIGKILL)
    run.wait()
    assert journal.exists()
    assert not path.exists()
    time.sleep(1.0)  # the orphaned worker notices and ends
    before = log.read_text().splitlines()
    seen = []
    data = sample(
        partial(learn_models.slow, str(log), 0.0),
        path=path,
        per_axis=4,
        workers=0,
        progress=lambda done, failed, total: seen.append(done),
    )
    kept = data.facts["resumed_with"]
    assert kept >= 8
    assert len(data) == 64
    # Everything in the journal was used and not computed again.
    assert len(log.read_text().splitlines()) - len(before) == 64 - kept
    assert len(seen) == 64 - kept
    fresh = sample(ConstantCurvatureArm(), path=tmp_path / "fresh.h5", per_axis=4, workers=0)
    assert same(data, fresh)
    assert not journal.exists()


def test_failures_are_kept_with_their_reason(tmp_path):
    data = sample(learn_models.Failing(), path=tmp_path / "f.h5", per_axis=3, workers=0)
    assert len(data) == 27
    assert data.failed == 9
    assert all("bursts" in r for r, ok in zip(data.reason, data.ok) if not ok)
    assert np.isnan(data.position[~data.ok]).all()
    again = Dataset.load(tmp_path / "f.h5")
    assert again.reason == data.reason
    assert again.status.count(Status.DIVERGED) == 9


def test_a_dying_worker_costs_only_its_sample(tmp_path):
    data = sample(learn_models.Deadly, path=tmp_path / "d.h5", per_axis=2, workers=2)
    assert len(data) == 8
    assert data.failed == 1
    assert "died" in data.reason[int(np.flatnonzero(~data.ok)[0])]


def test_existing_file_is_read_back_and_another_plan_refused(tmp_path):
    first = sample(ConstantCurvatureArm(), path=tmp_path / "a.h5", per_axis=3, workers=0)
    assert same(first, sample(ConstantCurvatureArm(), path=tmp_path / "a.h5", per_axis=3, workers=0))
    with pytest.raises(ArgumentError, match="another dataset"):
        sample(ConstantCurvatureArm(), path=tmp_path / "a.h5", per_axis=4, workers=0)
    (tmp_path / "b.h5.journal").write_bytes(b"pliant-journal-1\n{}\n")
    with pytest.raises(FileError, match="another plan"):
        sample(ConstantCurvatureArm(), path=tmp_path / "b.h5", per_axis=3, workers=0)


def test_active_sampling_is_repeatable_and_stays_in_range(tmp_path):
    runs = [
        sample(ConstantCurvatureArm(), path=tmp_path / f"{k}.h5", plan="active", count=32, workers=0, seed=2)
        for k in range(2)
    ]
    assert same(*runs)
    assert len(runs[0]) == 32
    low, high = runs[0].ranges.T
    assert ((runs[0].u >= low) & (runs[0].u <= high)).all()
    assert len(np.unique(runs[0].u.round(6), axis=0)) == 32


@pytest.mark.parametrize("plan", ["latin", "sobol"])
def test_plans_depend_on_the_seed_only(plan):
    ranges = np.array([[0.0, 1.0], [-2.0, 3.0]])
    a, b = (make_plan(plan, ranges, count=33, seed=5) for _ in range(2))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, make_plan(plan, ranges, count=33, seed=6))
    assert a.shape == (33, 2)
    assert (a >= ranges[:, 0]).all()
    assert (a <= ranges[:, 1]).all()


def test_grid_visits_neighbours():
    u = make_plan("grid", np.array([[0.0, 1.0]] * 3), per_axis=4)
    assert len(np.unique(u, axis=0)) == 64
    assert np.abs(np.diff(u, axis=0)).sum(axis=1).max() == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"per_axis": 1}, ArgumentError),
        ({}, ArgumentError),
        ({"per_axis": 2, "plan": "spiral"}, ArgumentError),
        ({"per_axis": 2, "points": ["nose"]}, UnknownNameError),
        ({"per_axis": 2, "ranges": {"chamber1": (0, 1)}}, ArgumentError),
        ({"per_axis": 2, "ranges": [(0, np.nan)] * 3}, ArgumentError),
        ({"per_axis": 2, "ranges": [(1, 0)] * 3}, ArgumentError),
        ({"per_axis": 2, "workers": -1}, ArgumentError),
        ({"per_axis": 2, "workers": "x"}, ArgumentError),
        ({"per_axis": 2, "workers": 1.5}, ArgumentError),
        ({"per_axis": 2, "seed": -1, "plan": "sobol"}, ArgumentError),
        ({"per_axis": 2.0}, ArgumentError),
        ({"count": 9.5}, ArgumentError),
        ({"count": 2.5, "plan": "sobol"}, ArgumentError),
        ({"count": 2.5, "plan": "active"}, ArgumentError),
        ({"count": 0}, ArgumentError),
        ({"count": 7}, ArgumentError),
        ({"count": 10**9, "plan": "active"}, ArgumentError),
        ({"per_axis": 10**6}, ArgumentError),
    ],
)
def test_bad_arguments_are_named_and_leave_no_journal(tmp_path, options, error):
    options = dict(options)
    ranges = options.pop("ranges", None)
    with pytest.raises(error):
        sample(ConstantCurvatureArm(), ranges, path=tmp_path / "x.h5", **options)
    assert not list(tmp_path.iterdir())


def test_progress_counts_failures_as_the_dataset_does(tmp_path, monkeypatch):
    from pliant.learn import evaluate

    solve, seen = evaluate._solve, []
    monkeypatch.setattr(evaluate, "_solve", lambda *a: solve(*a).but(status=Status.CONTINUED))
    data = sample(
        learn_models.Failing(),
        path=tmp_path / "c.h5",
        per_axis=3,
        jacobian="none",
        workers=0,
        progress=lambda done, failed, total: seen.append(failed),
    )
    assert Status.CONTINUED in data.status
    assert data.failed == seen[-1] == 9


@pytest.fixture(scope="module")
def cluster():
    distributed = pytest.importorskip(
        "distributed", reason="distributed is not installed: pip install 'pliant[cluster]'"
    )
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None, silence_logs=50
    ) as running:
        yield running.scheduler_address


def test_a_dask_cluster_of_processes_gives_the_same_rows(tmp_path, cluster):
    spread = sample(chamber_arm, path=tmp_path / "d.h5", per_axis=3, scheduler=cluster)
    assert spread.failed == 0
    assert same(spread, sample(chamber_arm, path=tmp_path / "h.h5", per_axis=3, workers=0))
    # The same workers, another model: none of the first is left over.
    other = sample(ConstantCurvatureArm, path=tmp_path / "c.h5", per_axis=3, scheduler=cluster, start="neighbour")
    assert same(other, sample(ConstantCurvatureArm(), path=tmp_path / "i.h5", per_axis=3, workers=0))


def test_failures_on_a_cluster_are_kept_with_their_reason(tmp_path, cluster):
    data = sample(learn_models.Failing, path=tmp_path / "f.h5", per_axis=3, scheduler=cluster)
    assert data.failed == 9
    assert all("bursts" in r for r, ok in zip(data.reason, data.ok) if not ok)


def test_the_shell_takes_a_scheduler(tmp_path, cluster):
    from pliant.cli import main

    path = tmp_path / "s.h5"
    assert (
        main(["sample", "constant-curvature-arm", "--per-axis", "2", "--out", str(path), "--scheduler", cluster]) == 0
    )
    assert len(Dataset.load(path)) == 8


def test_a_sample_that_kills_the_workers_of_a_cluster_is_recorded(tmp_path, cluster):
    data = sample(learn_models.Deadly, path=tmp_path / "k.h5", per_axis=2, scheduler=cluster)
    assert len(data) == 8
    assert 1 <= data.failed < 8
    assert all("died" in r for r, ok in zip(data.reason, data.ok) if not ok)
