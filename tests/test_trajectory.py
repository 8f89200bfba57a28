"""Trajectories survive their file, and files that are not trajectories are refused with a sentence."""

import json
import zipfile

import numpy as np
import pytest
from harness import golden_beam

from pliant.bodies import StrainGauge
from pliant.errors import ArgumentError, FileError
from pliant.models.fem import FemModel
from pliant.solve.simulate import sweep
from pliant.state import Status
from pliant.trajectory import Trajectory

FIELDS = ("time", "q", "v", "u", "effort", "displacement", "residual", "iterations", "elapsed", "contact_force")


@pytest.fixture(scope="module")
def run() -> Trajectory:
    gauge = StrainGauge("gauge", ((0.01, 0, 0.0075), (0.09, 0, 0.0075)))
    model = FemModel(golden_beam(sensors=(gauge,)))
    return sweep(model, [{"c1": 0.0}, {"c1": 2e-3}, {"c1": 4e-3}])


def rewritten(path, target, change):
    """A copy of a trajectory file with changed arrays."""
    with np.load(path) as data:
        arrays = {k: data[k] for k in data.files}
    change(arrays)
    np.savez(target, **arrays)
    return target


def header(arrays, **changes):
    values = json.loads(arrays["header"].tobytes())
    values.update(changes)
    arrays["header"] = np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)


def test_round_trip(run, tmp_path):
    path = run.save(tmp_path / "deep" / "run")
    assert path.suffix == ".npz"
    again = Trajectory.load(path)
    for name in FIELDS:
        assert np.array_equal(getattr(again, name), getattr(run, name))
    for group in ("points", "readings", "targets"):
        mine, theirs = getattr(run, group), getattr(again, group)
        assert mine.keys() == theirs.keys()
        assert all(np.array_equal(mine[k], theirs[k]) for k in mine)
    assert (again.robot, again.actuators, again.status) == (run.robot, run.actuators, run.status)
    assert not list(tmp_path.glob("**/*.tmp"))


def test_states_points_and_readings(run):
    assert len(run) == 3
    assert run.ok
    assert [s.time for s in run] == [0.0, 1.0, 2.0]
    assert run[1].u == pytest.approx([2e-3, 0, 0])
    assert run[-1].status in (Status.CONVERGED, Status.SLACK)
    assert run.points["tip"].shape == (3, 3)
    assert set(run.readings) >= {"gauge", "c1.length", "c1.tension"}
    assert run.readings["c1.length"][0] - run.readings["c1.length"][2] == pytest.approx(
        run.displacement[2, 0] - run.displacement[0, 0]
    )
    assert run.speed > 0


def test_a_failed_step_makes_the_run_not_ok(run):
    from dataclasses import replace

    assert not replace(run, status=(*run.status[:2], Status.STALLED)).ok


def test_error_needs_a_target(run):
    from dataclasses import replace

    aimed = replace(run, targets={"tip": run.points["tip"] + [0, 3e-3, 4e-3]})
    assert aimed.error("tip") == pytest.approx(np.full(3, 5e-3))
    with pytest.raises(ArgumentError, match="middle"):
        aimed.error("middle")


def test_empty_runs_are_refused():
    with pytest.raises(ArgumentError):
        Trajectory.from_states(None, [])


def test_missing_and_foreign_files(tmp_path):
    with pytest.raises(FileError, match="no such file"):
        Trajectory.load(tmp_path / "none.npz")
    with pytest.raises(FileError):
        Trajectory.load(tmp_path)
    text = tmp_path / "text.npz"
    text.write_text("not a zip")
    with pytest.raises(FileError):
        Trajectory.load(text)
    empty = tmp_path / "empty.npz"
    empty.write_bytes(b"")
    with pytest.raises(FileError):
        Trajectory.load(empty)
    with zipfile.ZipFile(tmp_path / "zip.npz", "w") as archive:
        archive.writestr("readme.txt", "hello")
    with pytest.raises(FileError):
        Trajectory.load(tmp_path / "zip.npz")
    np.save(tmp_path / "plain.npy", np.zeros(3))
    with pytest.raises(FileError):
        Trajectory.load(tmp_path / "plain.npy")


def test_truncated_file(run, tmp_path):
    path = run.save(tmp_path / "run")
    data = path.read_bytes()
    for size in (len(data) // 2, len(data) - 10):
        path.write_bytes(data[:size])
        with pytest.raises(FileError):
            Trajectory.load(path)


class _Boom:
    def __reduce__(self):
        return (pytest.fail, ("code in the file was executed",))


def test_nothing_in_a_file_can_execute(run, tmp_path):
    path = run.save(tmp_path / "run")
    hostile = rewritten(path, tmp_path / "hostile.npz", lambda a: a.update(q=np.array([_Boom()], dtype=object)))
    with pytest.raises(FileError):
        Trajectory.load(hostile)


@pytest.mark.parametrize(
    "change",
    [
        lambda a: a.pop("header"),
        lambda a: a.update(header=np.frombuffer(b"\xff\xfe{", dtype=np.uint8)),
        lambda a: a.update(header=np.frombuffer(b"[1, 2]", dtype=np.uint8)),
        lambda a: header(a, format="other-1"),
        lambda a: header(a, status=["CONVERGED", "GLORIOUS", "CONVERGED"]),
        lambda a: header(a, status=["CONVERGED"]),
        lambda a: header(a, status=7),
        lambda a: header(a, actuators=["c1"]),
        lambda a: header(a, actuators=None),
        lambda a: a.pop("q"),
        lambda a: a.update(q=a["q"][:1]),
        lambda a: a.update(q=a["q"][0]),
        lambda a: a.update(time=np.float64(1.0)),
        lambda a: a.update(effort=a["effort"][:2]),
        lambda a: a.update(iterations=a["iterations"][:2]),
        lambda a: a.update(surprise=np.zeros(3)),
        lambda a: a.update({"points/tip": np.zeros((2, 3))}),
        lambda a: a.update({"points/tip": np.zeros(3)}),
        lambda a: a.update({"readings/gauge": np.zeros(2)}),
        lambda a: a.update({"elsewhere/tip": np.zeros((3, 3))}),
        lambda a: a.update(u=np.array([["a", "b", "c"]] * 3)),
        lambda a: a.update(q=a["q"] + 1j),
        lambda a: a.pop("points/tip"),
        lambda a: a.pop("readings/gauge"),
        *(lambda a, k=k: a.update({k: np.where(a[k] == a[k].flat[-1], np.nan, a[k])}) for k in (*FIELDS, "points/tip")),
        lambda a: a.update(q=np.where(a["q"] == a["q"].max(), np.inf, a["q"])),
    ],
)
def test_inconsistent_files_are_refused(run, tmp_path, change):
    path = run.save(tmp_path / "run")
    with pytest.raises(FileError) as caught:
        Trajectory.load(rewritten(path, tmp_path / "bad.npz", change))
    assert caught.value.problems


def test_failed_steps_may_hold_no_numbers_and_sensors_may_read_nothing(run, tmp_path):
    from dataclasses import replace

    q, gauge = run.q.copy(), run.readings["gauge"].copy()
    q[2], gauge[1] = np.nan, np.nan
    failed = replace(run, q=q, status=(*run.status[:2], Status.DIVERGED), readings={**run.readings, "gauge": gauge})
    again = Trajectory.load(failed.save(tmp_path / "failed"))
    assert np.isnan(again.q[2]).all()
    assert np.isnan(again.readings["gauge"][1])


def test_files_that_do_not_list_their_points_are_read(run, tmp_path):
    def older(arrays):
        header(arrays)
        values = json.loads(arrays["header"].tobytes())
        for group in ("points", "readings", "targets"):
            del values[group]
        arrays["header"] = np.frombuffer(json.dumps(values).encode(), dtype=np.uint8)

    again = Trajectory.load(rewritten(run.save(tmp_path / "run"), tmp_path / "older.npz", older))
    assert again.points.keys() == run.points.keys()
