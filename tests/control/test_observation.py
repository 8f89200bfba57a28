"""What controllers see: frames with noise, mounting errors and delay; settling times."""

import numpy as np
import pytest

from pliant.control.observation import FrameSensor, settling
from pliant.errors import ArgumentError
from pliant.robots.printed_link import link_model
from pliant.state import State


def state(model, bend, time=0.0):
    none = np.zeros(3)
    return State(np.array([0.0, bend, 0.0]), none, none, none, none, time=time)


def test_frames_are_those_of_the_points():
    model = link_model()
    seen = FrameSensor(model, ["tip"], np.eye(4))(state(model, 5.0))
    place = model.locate(np.array([0.0, 5.0, 0.0]), "tip")
    assert np.allclose(seen[0], np.eye(4))
    assert np.allclose(seen[1, :3, 3], place.position)
    assert np.allclose(seen[1, :3, :3], place.rotation)


def test_noise_has_its_size_and_its_seed():
    model = link_model()
    rows = []
    for seed in (0, 0, 1):
        sensor = FrameSensor(model, ["tip"], np.eye(4), noise=1e-3, angle_noise=1e-2, seed=seed)
        rows.append(np.array([sensor(state(model, 5.0))[1] for _ in range(400)]))
    assert np.array_equal(rows[0], rows[1])
    assert not np.array_equal(rows[0], rows[2])
    assert rows[0][:, :3, 3].std(axis=0) == pytest.approx(1e-3, rel=0.2)
    assert np.allclose(np.einsum("nij,nkj->nik", rows[0][:, :3, :3], rows[0][:, :3, :3]), np.eye(3), atol=1e-12)


def test_delayed_frames_are_those_of_the_past():
    model = link_model()
    now, late = (FrameSensor(model, ["tip"], np.eye(4), delay=d) for d in (0.0, 0.1))
    history = []
    for i in range(12):
        s = state(model, float(i), time=0.02 * i)
        history.append(now(s))
        assert np.array_equal(late(s), history[max(0, i - 5)])
    with pytest.raises(ArgumentError, match="delay"):
        FrameSensor(model, ["tip"], np.eye(4), delay=-1.0)


def test_settling():
    t = np.linspace(0, 1, 11)
    assert settling(t, np.array([1, 0.5, 0.2, 0.05, 0.2, 0.05, 0.01, 0, 0, 0, 0])) == pytest.approx(0.5)
    assert settling(t, np.ones(11)) == np.inf
