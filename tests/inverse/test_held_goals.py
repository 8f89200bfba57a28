"""Goals that a forward equilibrium has reached through contact are reached by the inverse, below 0.001 mm."""

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl

POSTS = (
    pl.Cylinder(a=(0.045, -0.03, -0.0182), b=(0.045, 0.03, -0.0182), radius=0.01),
    pl.Cylinder(a=(0.085, -0.03, 0.0195), b=(0.085, 0.03, 0.0195), radius=0.01),
)


@pytest.fixture(scope="module")
def beam():
    robot = pl.robots.beam()
    open_ended = (-np.inf, np.inf)
    return pl.FemModel(robot.but(actuators=tuple(replace(a, displacement_limits=open_ended) for a in robot.actuators)))


@pytest.mark.parametrize("strokes", [(4e-4, 5e-5), (6.4e-3, 8e-4), (8.1e-3, 2.7e-3), (5.4e-3, 2.8e-3)])
def test_d2_goals_of_forward_equilibria_are_reached_through_line_contact(beam, strokes):
    """The posts lie flat on the beam: a line contact, whose lowest point jumps with rounding."""
    reached = pl.equilibrium(beam, np.array(strokes), obstacles=POSTS, alarm=0.004, strict=True)
    assert (reached.contacts.forces > 0).sum() >= 3
    goal = beam.locate(reached, "tip").position
    start = pl.equilibrium(beam, None, obstacles=POSTS, alarm=0.004, strict=True)
    command = pl.invert(beam, start, pl.PointTarget("tip", tuple(goal), axes="xz"), obstacles=POSTS, alarm=0.004)
    assert command.status is pl.Status.CONVERGED
    assert np.abs(command.error).max() < 1e-6
    assert command.iterations <= 25
    # an independent forward solve under the same strokes ends at the goal too
    again = pl.equilibrium(beam, command.displacement, obstacles=POSTS, alarm=0.004, start=start, strict=True)
    assert np.linalg.norm((beam.locate(again, "tip").position - goal)[[0, 2]]) < 1e-6
    assert again.contacts.gap.min() > -1e-8
