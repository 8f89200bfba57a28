"""Cables with a prescribed displacement pull, or hang."""

import numpy as np
import pytest

import pliant as pl

TRUNK = pl.FemModel(pl.robots.trunk())
NAME = "long1"
INDEX = TRUNK.robot.actuator_names.index(NAME)


@pytest.fixture(scope="module")
def goal():
    return tuple(TRUNK.locate(pl.equilibrium(TRUNK), "tip").position + (0.03, 0.0, -0.01))


@pytest.mark.parametrize(("pulled", "slack"), [(0.0, True), (-0.02, True), (0.01, False)])
def test_a_prescribed_cable_hangs_where_it_does_not_pull(goal, pulled, slack):
    """As an equality it froze the whole trunk: all tensions zero, 32 mm off, and not a word."""
    command = pl.invert(TRUNK, targets=pl.PointTarget("tip", goal), prescribed={NAME: pulled})
    assert command.status is pl.Status.CONVERGED
    assert command.u[INDEX] == pytest.approx(pulled, abs=1e-9)
    assert any("slack" in note for note in command.notes) is slack
    assert bool(command.effort[INDEX] == 0.0) is slack
    assert command.displacement[INDEX] >= pulled - 1e-9
    forward = pl.equilibrium(TRUNK, command.u, start=command.state).require()
    assert (forward.status is pl.Status.SLACK) is slack
    assert np.abs(TRUNK.locate(forward, "tip").position - goal).max() < 1e-7


def test_a_single_linearisation_lets_it_hang_too(goal):
    command = pl.invert(TRUNK, targets=pl.PointTarget("tip", goal), prescribed={NAME: 0.0}, iterations=1)
    assert command.status is pl.Status.SINGLE
    assert command.u[INDEX] == 0.0
    assert command.effort[INDEX] == 0.0
    assert np.linalg.norm(command.error) < 1e-6


def test_over_a_time_step_it_hangs_too(goal):
    start = pl.equilibrium(TRUNK).require()
    near = TRUNK.locate(start, "tip").position + (0.002, 0.0, 0.0)
    command = pl.invert(
        TRUNK, start, pl.PointTarget("tip", tuple(near), axes="x"), prescribed={NAME: -0.01}, dynamic=True, dt=0.05
    )
    assert command.status is pl.Status.CONVERGED
    assert command.effort[INDEX] == 0.0
    assert command.u[INDEX] == -0.01
