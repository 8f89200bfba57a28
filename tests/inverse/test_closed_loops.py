"""The inverse of robots with closed loops: two rods that meet, each bent by three cables."""

import numpy as np
import pytest

import pliant as pl
from pliant.actuators import pin, weld
from pliant.errors import ArgumentError
from pliant.materials import NeoHookean

LENGTH, APART = 0.3, 0.05
UP = (np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0)


def parallel(joint, young):
    """Two upright rods whose tips are joined (10 cm apart at rest), three cables each."""
    rubber = NeoHookean.from_young(young, 0.45, density=1000.0)
    sides = {"left": -APART, "right": APART}
    rods = tuple(pl.RodBody(n, LENGTH, 0.01, rubber, position=(0, y, 0), rotation=UP) for n, y in sides.items())
    cables = [
        pl.Cable(
            name=f"{name}{k}", body=name, effort_limits=(0, 80), drive="effort",
            points=[(0.006 * np.cos(a), y + 0.006 * np.sin(a), z) for z in np.linspace(0.0, LENGTH, 7)],
        )
        for name, y in sides.items()
        for k, a in enumerate(2 * np.pi * np.arange(3) / 3)
    ]  # fmt: skip
    ends = {"point": (0, -APART, LENGTH), "other_point": (0, APART, LENGTH), "body": "left", "other": "right"}
    points = (pl.Point("tip", (0, -APART, LENGTH), body="left"),)
    robot = pl.Robot("parallel", rods, actuators=(*cables, *joint("joint", **ends)), points=points)
    return pl.RodModel(robot, basis=pl.basis.legendre(3))


@pytest.mark.parametrize("joint", [pin, weld])
def test_parallel_robot_reaches_and_the_forward_equilibrium_agrees(joint):
    """Soft enough that one rod alone would not stand: the loop is what holds it."""
    model = parallel(joint, 2e6)
    rest = pl.equilibrium(model).require()
    rng = np.random.default_rng(1)
    indefinite = 0
    for _ in range(4):
        there = pl.equilibrium(model, np.r_[rng.uniform(0, 8, 6), np.zeros(model.nu - 6)], start=rest).require()
        goal = model.locate(there, "tip").position
        command = pl.invert(model, rest, pl.PointTarget("tip", tuple(goal)))
        assert command.status is pl.Status.CONVERGED, (command.status, command.error)
        assert np.abs(command.displacement[6:]).max() < 1e-9  # the loop is closed
        assert command.effort[:6].min() >= 0.0
        again = pl.equilibrium(model, command.u, start=command.state).require()
        assert np.abs(model.locate(again, "tip").position - goal).max() < 1e-7
        assert np.allclose(again.effort, command.effort, atol=1e-5)
        indefinite += np.linalg.eigvalsh(model.stiffness(command.state.q, command.effort))[0] < 0
    assert indefinite  # without the joint these poses are no minimum of the energy


def test_loop_that_is_open_at_rest_is_closed_first():
    model = parallel(pin, 2e7)
    assert np.abs(model.displacement(model.rest)).max() > 0.09
    command = pl.invert(model, targets=pl.PointTarget("tip", (0.01, 0.002, 0.292)))
    assert command.status is pl.Status.CONVERGED
    assert np.abs(command.displacement[6:]).max() < 1e-9
    # the joints hold whatever the limits, and count as nothing that could be solved for
    free = pl.invert(model, targets=pl.PointTarget("tip", (0.01, 0.002, 0.292)), own_limits=False)
    assert free.ok
    assert np.abs(free.displacement[6:]).max() < 1e-9
    every = {n: 1.0 for n in model.robot.actuator_names[:6]}
    with pytest.raises(ArgumentError, match="prescribed"):
        pl.invert(model, targets=pl.PointTarget("tip", (0.01, 0.002, 0.292)), prescribed=every)


def test_loop_out_of_reach_equalities_and_one_time_step():
    model = parallel(weld, 2e7)
    rest = pl.equilibrium(model).require()
    far = pl.invert(model, rest, pl.PointTarget("tip", (0.2, 0.3, 0.3)))
    assert far.status is pl.Status.UNREACHABLE
    assert np.abs(far.displacement[6:]).max() < 1e-9
    exact = pl.PointTarget("tip", (0.005, 0.0, 0.29), exact=True)
    for redundancy in ("least change", "least effort"):
        assert pl.invert(model, rest, exact, redundancy=redundancy).status is pl.Status.CONVERGED
    rng = np.random.default_rng(3)
    for shift in (0.0, *(1e-9 * rng.standard_normal(4))):  # by rounding, the mixing of efforts opened the joint
        goal = pl.PointTarget("tip", (0.001, shift, 0.2945))
        moved = pl.invert(model, rest, goal, dynamic=True, dt=0.05)
        assert moved.status is pl.Status.CONVERGED
        assert np.abs(moved.displacement[6:]).max() < 1e-12
