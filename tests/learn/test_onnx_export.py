"""ONNX export: another runtime gives the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.learn import export_onnx, fit
from pliant.models.network import Network

pytest.importorskip("onnx", reason="onnx is not installed: pip install 'pliant[onnx]'")
runtime = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed: pip install 'pliant[onnx]'")


def answers(path, u):
    session = runtime.InferenceSession(str(path), providers=["CPUExecutionProvider"])
    return session.run(["y"], {"u": u})[0]


@pytest.mark.parametrize("members", [1, 3])
def test_onnx_gives_the_same_positions(tmp_path, curved_data, members):
    model = fit(curved_data, hidden=(8, 8), iterations=5, members=members)
    net = model.knowledge.kinematics
    path = export_onnx(net, tmp_path / "arm.onnx")
    u = np.random.default_rng(0).uniform(*model.ranges.T, (20, 3))
    assert np.abs(answers(path, u) - net(u)).max() < 1e-12
    assert np.abs(answers(path, u)[:, :3] - model.position(u, "tip")[0]).max() < 1e-12


def test_one_layer_and_many(tmp_path):
    rng = np.random.default_rng(1)
    for sizes in ((2, 3), (2, 5, 4, 3)):
        n = sum((a + 1) * b for a, b in zip(sizes, sizes[1:]))
        net = Network(sizes, rng.normal(size=(1, n)), np.zeros(2), np.full(2, 3.0), np.ones(3), np.full(3, 0.2))
        u = rng.normal(size=(4, 2))
        assert np.abs(answers(export_onnx(net, tmp_path / "n.onnx"), u) - net(u)).max() < 1e-12
