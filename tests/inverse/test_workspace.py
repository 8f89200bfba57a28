import sys
from pathlib import Path

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl
from pliant.inverse.workspace import workspace

sys.path.insert(0, str(Path(__file__).parent))
from point_robot import PointRobot


@pytest.fixture(scope="module")
def found():
    model = pl.FemModel(golden_beam())
    ranges = {"c1": (0.0, 8e-3), "c2": (0.0, 8e-3)}
    return model, workspace(model, ranges=ranges, samples=24)


def test_samples_are_equilibria_inside_the_ranges(found):
    model, space = found
    assert all(s.ok for s in space.status)
    assert (space.u >= 0).all()
    assert (space.u[:, :2] <= 8e-3).all()
    assert (space.u[:, 2] == 0).all()  # no range: keeps its command
    corners = {tuple(u) for u in space.u[:4, :2]}
    assert corners == {(0, 0), (0, 8e-3), (8e-3, 0), (8e-3, 8e-3)}
    state = pl.equilibrium(model, space.u[7])
    assert np.allclose(model.locate(state, "tip").position, space.positions[7], atol=1e-8)


def test_size_and_nearest(found):
    _, space = found
    assert space.bounds.shape == (2, 3)
    assert (space.bounds[1] > space.bounds[0]).all()
    assert 0 < space.volume < np.prod(space.bounds[1] - space.bounds[0])
    distance, u = space.nearest(space.positions[5] + 1e-6)
    assert distance < 1e-5
    assert np.array_equal(u, space.u[5])


def test_what_invert_calls_reachable_is_reached(found):
    model, space = found
    command = pl.invert(model, None, pl.PointTarget("tip", tuple(space.positions[9])))
    assert command.ok
    assert np.abs(command.error).max() < 1e-7


def test_own_limits_other_models_and_a_picture(tmp_path):
    model = PointRobot()
    model.robot = model.robot.but(
        actuators=tuple(
            pl.Cable(name=a.name, points=a.points, pull_point=a.pull_point, drive="effort", effort_limits=(0, 5))
            for a in model.robot.actuators
        )
    )
    space = workspace(model, samples=40)
    assert all(s.ok for s in space.status)
    picture = space.plot(tmp_path / "space.png")
    assert picture.stat().st_size > 5000
    assert (workspace(model, samples=40).positions == space.positions).all()  # reproducible


def test_bad_input(found):
    model, _ = found
    for arguments, name in (
        ({"samples": 0}, "samples"),
        ({"samples": 1.5}, "samples"),
        ({"seed": -1, "ranges": {"c1": (0, 1)}}, "seed"),
        ({"workers": "x"}, "workers"),
        ({"ranges": 3}, "ranges"),
        ({"ranges": {"c1": 3}}, "c1"),
        ({"point": "nose"}, "nose"),
        ({"ranges": {"c9": (0, 1)}}, "c9"),
        ({"ranges": {"c1": (1, 0)}}, "c1"),
        ({"ranges": {"c1": (0, np.inf)}}, "c1"),
        ({}, "ranges"),
    ):
        with pytest.raises(pl.PliantError, match=name):
            workspace(model, **arguments)
