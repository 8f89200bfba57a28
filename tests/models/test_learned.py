"""LearnedModel: the contract, its derivatives, its file."""

from __future__ import annotations

import itertools
import json
import subprocess
import sys
import zipfile

import numpy as np
import pytest

import pliant as pl
from pliant.errors import ArgumentError, FileError, UnknownNameError
from pliant.learn import ConstantCurvatureArm, fit, sample
from pliant.models.contract import Kinematics, Model
from pliant.models.learned import LearnedModel
from pliant.state import Status


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return sample(ConstantCurvatureArm(), path=tmp_path_factory.mktemp("m") / "d.h5", per_axis=5, workers=0)


@pytest.fixture(scope="module")
def model(data):
    return fit(data, hidden=(12, 12), iterations=25, frames=True, members=2)


def test_contract(model):
    assert isinstance(model, Model)
    assert isinstance(model, Kinematics)
    assert model.nq == model.nv == model.nu == 3


def test_equilibrium_is_the_command(model):
    u = np.array([3e4, 6e4, 1e4])
    state = pl.equilibrium(model, u)
    assert state.status is Status.CONVERGED
    assert np.allclose(model.command(state), u)
    assert np.allclose(state.effort, u)
    true = ConstantCurvatureArm().place(u, "tip")
    place = model.locate(state, "tip")
    assert np.linalg.norm(place.position - true.position) < 1e-3 * model.width
    assert np.linalg.norm(place.rotation - true.rotation) < 5e-3
    assert np.allclose(place.rotation.T @ place.rotation, np.eye(3), atol=1e-12)


def test_force_is_the_derivative_of_the_energy(model):
    rng = np.random.default_rng(0)
    q, e = rng.normal(size=3) * 0.05, rng.normal(size=3) * 1e4
    h = 1e-6
    wanted = [-(model.energy(q + d, e) - model.energy(q - d, e)) / (2 * h) for d in h * np.eye(3)]
    assert np.allclose(model.force(q, e), wanted, rtol=1e-6)
    assert np.allclose(model.actuation(q, e), model.displacement_rows(q).T)


def test_jacobian_of_position_and_rotation_is_exact(model):
    q = model.scale * np.array([3e4, 6e4, 1e4])
    J = model.locate(q, "tip", jacobian=True).jacobian
    h = 1e-6
    for k, e in enumerate(h * np.eye(3)):
        a, b = model.locate(q + e, "tip"), model.locate(q - e, "tip")
        assert np.allclose(J[3:, k], (a.position - b.position) / (2 * h), atol=1e-8)
        W = (a.rotation - b.rotation) / (2 * h) @ model.locate(q, "tip").rotation.T
        assert np.allclose(J[:3, k], [W[2, 1], W[0, 2], W[1, 0]], atol=1e-6)


def test_invert_takes_it_unchanged(model):
    target = model.place(np.array([2e4, 7e4, 4e4]), "tip").position
    command = pl.invert(model, None, pl.PointTarget("tip", tuple(target)))
    assert command.status is Status.CONVERGED
    assert np.linalg.norm(command.error) < 1e-8
    assert np.allclose(command.u, [2e4, 7e4, 4e4], rtol=1e-4)


def test_invert_stays_in_the_learned_range(model):
    command = pl.invert(model, None, pl.PointTarget("tip", (0.3, 0.0, 0.1)))
    assert command.status is not Status.CONVERGED
    assert (command.u <= 1e5 * (1 + 1e-6)).all()
    assert (command.u >= -1e-3).all()


def test_displacement_driven_actuators(data):
    from dataclasses import replace

    drives = tuple(dict(a) | {"drive": "displacement", "unit": "m"} for a in data.actuators)
    scale = 1e-6  # the same numbers as lengths
    moved = replace(
        data, actuators=drives, u=data.u * scale, ranges=data.ranges * scale, jacobian=data.jacobian / scale
    )
    m = fit(moved, hidden=(8, 8), iterations=15)
    state = pl.equilibrium(m, [0.03, 0.06, 0.01])
    assert state.status is Status.CONVERGED
    assert np.allclose(m.command(state), [0.03, 0.06, 0.01])
    assert np.allclose(state.displacement, [0.03, 0.06, 0.01])


def test_the_skin_without_a_shape_is_a_line(model):
    x = model.skin_positions(model.rest)
    assert x.shape == (2, 3)
    assert model.skin.segments.tolist() == [[0, 1]]


def test_what_was_not_learned_is_flagged(model):
    inside = pl.equilibrium(model, [3e4, 6e4, 1e4])
    assert model.flag(inside).status is Status.CONVERGED
    outside = pl.equilibrium(model, [3e5, 6e4, 1e4])
    assert model.flag(outside).status is Status.EXTRAPOLATED
    assert any("chamber1" in n for n in model.flag(outside).notes)
    assert model.trust(np.array([[3e5, 3e5, 3e5]]))[0] > 1.5
    assert model.uncertainty(np.array([[3e5] * 3]), "tip") > model.uncertainty(np.array([[5e4] * 3]), "tip")


def test_unknown_names_and_wrong_shapes(model):
    with pytest.raises(UnknownNameError):
        model.locate(model.rest, "nose")
    with pytest.raises(ArgumentError):
        model.place(np.zeros(2), "tip")


def test_file_round_trip(model, tmp_path):
    path = model.save(tmp_path / "arm.pliant")
    again = LearnedModel.load(path)
    u = np.random.default_rng(0).uniform(0, 1e5, (20, 3))
    assert np.array_equal(again.position(u, "tip")[0], model.position(u, "tip")[0])
    assert again.facts["test"] == model.facts["test"]
    assert again.robot.actuator_names == model.robot.actuator_names
    assert again.robot.actuators[0].unit == "Pa"


def test_the_file_can_be_read_with_numpy_alone(model, tmp_path):
    path = model.save(tmp_path / "arm.pliant")
    with np.load(path, allow_pickle=False) as f:
        header = json.loads(f["header"].tobytes())
        x = (np.array([3e4, 6e4, 1e4]) - f["kinematics/x_mid"]) / f["kinematics/x_half"]
        sizes, out = f["kinematics/sizes"], []
        for theta in f["kinematics/theta"]:
            a, at = x, 0
            for k, (m, n) in enumerate(itertools.pairwise(sizes)):
                a = theta[at : at + m * n].reshape(n, m) @ a + theta[at + m * n : at + (m + 1) * n]
                at += (m + 1) * n
                a = np.tanh(a) if k < len(sizes) - 2 else a
            out.append(f["kinematics/y_mid"] + f["kinematics/y_half"] * a)
    assert header["points"] == ["tip"]
    assert np.allclose(np.mean(out, axis=0)[:3], model.position(np.array([3e4, 6e4, 1e4]), "tip")[0])


def test_broken_and_hostile_files_are_refused(model, tmp_path):
    good = model.save(tmp_path / "arm.pliant")
    data = good.read_bytes()
    for k, broken in enumerate((b"", b"hello", data[: len(data) // 2], data[:-30])):
        path = tmp_path / f"b{k}.pliant"
        path.write_bytes(broken)
        with pytest.raises(FileError):
            LearnedModel.load(path)
    with np.load(good) as f:
        arrays = {k: f[k] for k in f.files}

    def refused(name, **changes):
        path = tmp_path / f"{name}.pliant"
        with path.open("wb") as out:
            np.savez(out, **(arrays | changes))
        with pytest.raises(FileError):
            LearnedModel.load(path)

    refused("sizes", **{"kinematics/sizes": np.array([3, 10**9, 3])})
    refused("text", **{"kinematics/theta": np.array(["x"])})
    refused("nan", **{"kinematics/theta": np.full_like(arrays["kinematics/theta"], np.nan)})
    refused("ranges", ranges=np.zeros((2, 2)))
    refused("samples", samples=np.zeros((0, 3)))
    refused("header", header=np.frombuffer(b"{", np.uint8))
    header = json.loads(arrays["header"].tobytes())
    for key, value in (("format", "other"), ("points", ["../../etc"]), ("points", 3), ("corrections", ["x"])):
        refused(
            f"h_{key}_{value}".replace("/", ""),
            header=np.frombuffer(json.dumps(header | {key: value}).encode(), np.uint8),
        )
    drive = [dict(a) | {"drive": "magic"} for a in header["actuators"]]
    refused("drive", header=np.frombuffer(json.dumps(header | {"actuators": drive}).encode(), np.uint8))
    with zipfile.ZipFile(tmp_path / "pickle.pliant", "w") as z:
        import pickle

        z.writestr("header.npy", pickle.dumps({"a": 1}))
    with pytest.raises(FileError):
        LearnedModel.load(tmp_path / "pickle.pliant")
    with pytest.raises(FileError):
        LearnedModel.load(tmp_path / "nothing.pliant")


def test_inference_needs_no_torch(model, tmp_path):
    path = model.save(tmp_path / "arm.pliant")
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "from pliant.models.learned import LearnedModel\nfrom pliant.learn import reach\n"
        f"m = LearnedModel.load({str(path)!r})\n"
        "c = reach(m, (0.0, 0.01, 0.124)); assert c.ok, c.status\n"
        "assert 'h5py' not in sys.modules and 'matplotlib' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
