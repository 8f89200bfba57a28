import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl
from pliant.contact.obstacles import Pose
from pliant.inverse.follow import follow, refine

sys.path.insert(0, str(Path(__file__).parent))
from point_robot import PointRobot


@pytest.fixture(scope="module")
def beam():
    return pl.FemModel(golden_beam())


def circle(beam, n=12, radius=4e-3):
    centre = np.array([0.0935, -0.004, -0.0125])
    angle = np.linspace(0, 2 * np.pi, n)
    return centre + radius * np.stack([0.2 * np.sin(angle), np.cos(angle), np.sin(angle)], axis=1)


def test_a_closed_path_is_followed_and_recorded(beam, tmp_path):
    path = circle(beam)
    seen = []
    run = follow(beam, path, progress=lambda fraction, command: seen.append(fraction))
    assert run.ok
    assert run.error("tip").max() < 1e-9
    assert len(run) == len(path) == len(seen)
    assert seen[-1] == 1.0
    assert (run.elapsed > 0).all()
    assert np.allclose(run.time, 0.1 * np.arange(1, 13))
    assert np.allclose(run.effort[0], run.effort[-1], atol=1e-6)  # three cables, three directions: unique
    for state in (run[3], run[9]):  # independent forward solves agree
        again = pl.equilibrium(beam, state.displacement, strict=True)
        assert np.allclose(beam.locate(again, "tip").position, beam.locate(state, "tip").position, atol=1e-9)
    back = pl.Trajectory.load(run.save(tmp_path / "run"))
    assert np.array_equal(back.u, run.u)
    assert np.allclose(back.error("tip"), run.error("tip"))


def test_actuation_is_smooth_where_there_are_too_many_actuators():
    model = PointRobot()
    t = np.linspace(0, 1, 40)
    path = np.stack([0.03 * np.cos(4 * t), 0.03 * np.sin(4 * t), 0.01 * t], axis=1)
    run = follow(model, path)
    assert run.ok
    assert run.error("tip").max() < 1e-9
    change = np.abs(np.diff(run.effort, axis=0)).max(axis=1)
    assert change.max() < 8 * np.median(change)


def test_a_waypoint_out_of_reach_is_said_and_the_rest_goes_on(beam):
    path = circle(beam, 5)
    path[2] = (0.3, 0, 0)
    run = follow(beam, path)
    good = [s is pl.Status.CONVERGED for s in run.status]
    assert good == [True, True, False, True, True]
    assert run.error("tip")[[0, 1, 3, 4]].max() < 1e-9


def test_through_a_moving_obstacle(beam):
    """The tip holds its place while a ball is pushed into the beam (spec 10.2)."""
    ball = pl.Sphere(centre=(0.05, 0, -0.045), radius=0.02, motion=lambda t: Pose((0, 0, 0.01 * t)))
    hold = beam.locate(pl.equilibrium(beam, [5e-3, 5e-3, 5e-3]), "tip").position
    run = follow(beam, np.tile(hold, (10, 1)), obstacles=[ball], dt=0.2)
    assert run.ok
    assert run.error("tip").max() < 1e-6
    assert run.contact_force[-1] > 0.01 > run.contact_force[0]


def test_single_iterations_and_inserted_waypoints(beam):
    path = circle(beam, 6)
    run = follow(beam, path, spacing=4e-4, iterations=1)
    assert len(run) > 30
    assert set(run.status) == {pl.Status.SINGLE}
    assert not run.ok
    assert run.error("tip")[10:].max() < 2e-5


def test_targets_instead_of_a_path(beam):
    goals = [
        [pl.PointTarget("tip", (0, 0, -0.01 - 1e-3 * k), axes="z"), pl.DisplacementTarget("c1", 1e-3)]
        for k in range(3)
    ]
    run = follow(beam, targets=goals)
    assert run.ok
    assert np.allclose(run.displacement[:, 0], 1e-3, atol=1e-8)


def test_refine():
    line = refine(np.array([[0, 0, 0], [1.0, 0, 0], [1, 0.05, 0]]), 0.25)
    assert len(line) == 6
    assert np.allclose(line[-1], (1, 0.05, 0))


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ({"path": None}, "path"),
        ({"path": np.zeros((3, 2))}, "path"),
        ({"path": [[0, 0, np.nan]]}, "path"),
        ({"path": np.zeros((0, 3))}, "path"),
        ({"path": np.zeros((2, 3)), "dt": 0.0}, "dt"),
        ({"path": np.zeros((2, 3)), "spacing": -1.0}, "spacing"),
        ({"path": np.zeros((2, 3)), "targets": [[]]}, "targets"),
        ({"path": np.zeros((2, 3)), "point": "nose"}, "nose"),
        ({"path": "x"}, "path"),
        ({"path": np.zeros((2, 3)), "point": 3}, "point"),
        ({"path": np.zeros((2, 3)), "spacing": "x"}, "spacing"),
        ({"targets": 3}, "targets"),
        ({"targets": [3]}, "targets"),
        ({"path": np.zeros((1, 3)), "obstacles": 3}, "obstacles"),
    ],
)
def test_bad_input(beam, arguments, name):
    with pytest.raises(pl.PliantError, match=name):
        follow(beam, **arguments)


def test_rates_count_from_the_rest_pose_if_there_is_no_start():
    """A user's rate limit without a start: the first waypoint is as far away from rest as the rate allows."""
    model = PointRobot()
    limits = [pl.RateLimit(n, 4.0, "effort") for n in model.robot.actuator_names]
    run = follow(model, [(0.03, 0.01, 0.0)] * 30, limits=limits, dt=0.1)
    steps = np.diff(np.vstack([pl.equilibrium(model).effort, run.effort]), axis=0)
    assert np.abs(steps).max() <= 0.4 * (1 + 1e-6)
    assert np.abs(steps[0]).max() == pytest.approx(0.4, rel=1e-6)
    assert run.error("tip")[-1] < 1e-6


def test_an_actuators_own_rate_counts_from_the_rest_pose_too():
    """It was ignored at the first waypoint: 12 mm in 0.1 s where 1 mm is allowed."""
    robot = pl.robots.finger()
    robot = robot.but(actuators=tuple(replace(a, rate_limit=0.01) for a in robot.actuators))
    model = pl.FemModel(robot)
    tip = model.locate(pl.equilibrium(model, {"cable": 0.012}), "tip").position
    run = follow(model, [tip] * 3, dt=0.1)
    assert run.displacement[:, 0] == pytest.approx([1e-3, 2e-3, 3e-3], rel=1e-6)
    loop = pl.Loop(model, rate=10.0)
    sent = [loop.cycle(0.1 * k, pl.PointTarget("tip", tuple(tip))).displacement[0] for k in range(3)]
    assert sent == pytest.approx([1e-3, 2e-3, 3e-3], rel=1e-6)


def test_a_motor_beyond_a_limit_comes_back_within_it_and_says_so(beam):
    """Spec 12.4: a limit that the rate cannot hold is dropped for the time that the motor needs, then restored."""
    start = pl.equilibrium(beam, [8e-3, 5e-3, 5e-3]).require()
    tip = beam.locate(pl.equilibrium(beam, [5e-3, 5e-3, 5e-3]), "tip").position
    limits = [pl.RateLimit("c1", 0.01), pl.DisplacementLimit("c1", high=5.5e-3)]
    run = follow(beam, [tip] * 5, start=start, limits=limits, dt=0.1)
    assert run.displacement[:2, 0] == pytest.approx([7e-3, 6e-3], rel=1e-6)
    assert [s is pl.Status.RELAXED for s in run.status] == [True, True, False, False, False]
    assert run.displacement[2:, 0].max() <= 5.5e-3 * (1 + 1e-6)
    loop = pl.Loop(beam, rate=10.0, state=start, limits=limits)
    cycles = [loop.cycle(0.1 * k, pl.PointTarget("tip", tuple(tip))) for k in range(4)]
    assert [c.status.name for c in cycles] == ["RELAXED", "RELAXED", "SINGLE", "SINGLE"]
    assert "its limit" in cycles[0].notes[0]


def test_what_is_prescribed_may_change_along_a_path(beam):
    tip = beam.locate(pl.equilibrium(beam, [5e-3, 5e-3, 5e-3]), "tip").position
    given = [{"c1": 2e-3}, {"c2": 3e-3}, None]
    run = follow(beam, [tip] * 3, prescribed=given)
    assert run.displacement[0, 0] == pytest.approx(2e-3, rel=1e-6)
    assert run.displacement[1, 1] == pytest.approx(3e-3, rel=1e-6)
    always = follow(beam, [tip] * 2, prescribed={"c3": 4e-3})
    assert always.displacement[:, 2] == pytest.approx([4e-3] * 2, rel=1e-6)
    loop = pl.Loop(beam, rate=10.0, prescribed={"c1": 2e-3}, iterations=30)
    target = pl.PointTarget("tip", tuple(tip))
    assert loop.cycle(0.0, target).displacement[0] == pytest.approx(2e-3, rel=1e-6)
    loop.prescribed = {"c2": 3e-3}  # switched while it runs
    assert loop.cycle(0.1, target).displacement[1] == pytest.approx(3e-3, rel=1e-6)
    for wrong in (given[:2], "c1", 3.0):
        with pytest.raises(pl.ArgumentError, match="prescribed"):
            follow(beam, [tip] * 3, prescribed=wrong)


def test_a_clearance_moves_with_its_obstacle(beam):
    """The obstacle of a clearance stood still for ever, wherever it had moved to."""
    at = pl.equilibrium(beam, [5e-3, 5e-3, 5e-3]).require()
    tip = beam.locate(at, "tip").position
    wall = pl.Plane(tuple(tip + [0.02, 0, 0]), (-1, 0, 0), motion=lambda t: Pose((-0.2 * t, 0, 0)))
    clear = pl.ClearanceLimit(wall, 1e-3)
    run = follow(beam, [tip] * 3, start=at, limits=clear, dt=0.05)
    for q, t in zip(run.q, run.time):
        assert wall.at(t).distance(beam.skin_positions(q)).min() > 1e-3 * (1 - 1e-4)
    assert np.linalg.norm(beam.locate(run.q[-1], "tip").position - tip) > 5e-3
    loop = pl.Loop(beam, rate=20.0, state=at, limits=[clear], iterations=30)
    command = loop.cycle(0.15, pl.PointTarget("tip", tuple(tip)))
    assert wall.at(0.15).distance(beam.skin_positions(command.state.q)).min() > 1e-3 * (1 - 1e-4)
