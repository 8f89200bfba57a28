"""Every target and limit of the issue on every kind of model: derivatives against differences, refusals in words."""

import sys
from pathlib import Path

import numpy as np
import pytest
from harness import golden_beam

import pliant as pl
from pliant.robots import arm_channels, entry

sys.path.insert(0, str(Path(__file__).parent))
from point_robot import PointRobot

MODELS = {
    "fem": lambda: pl.FemModel(golden_beam()),
    "geometric": lambda: pl.GeometricModel(golden_beam()),
    "chambers": lambda: entry("tower").model(),
    "beam": lambda: entry("catheter").model(),
    "rod": lambda: entry("octopus_arm").model(),
    "rod with chambers": lambda: entry("elephant_trunk").model(),
    "pcc": lambda: entry("six_link").model(),
    "link": lambda: pl.LinkModel(ARM, chambers=arm_channels(ARM)),
    "point": PointRobot,
}
ARM = pl.robots.four_segment_arm()
BUILT: dict[str, object] = {}


def built(name):
    """A model, built once."""
    if name not in BUILT:
        BUILT[name] = MODELS[name]()
    return BUILT[name]


def wanted(model):
    """One of each target that the issue asks for; [m], [rad], [m^3], [N]."""
    robot = model.robot
    names = tuple(p.name for p in robot.points)[:2]
    first = robot.actuators[0]
    skin = model.skin_positions(model.rest)
    turn = np.array((0.96, 0.1, -0.2, 0.15))
    goal = tuple(model.locate(model.rest, names[0]).position + [1e-3, 2e-3, -1e-3])
    out = {
        "point": pl.PointTarget(names[0], goal),
        "selected directions": pl.PointTarget(names[0], goal, axes="xz"),
        "direction": pl.DirectionTarget(names[0], (1.0, 0.2, 0.3)),
        "frame": pl.FrameTarget(names[0], goal, tuple(turn / np.linalg.norm(turn))),
        "barycentre": pl.BarycentreTarget(goal),
        "centre of mass": pl.CentreOfMassTarget(goal),
        "several points": pl.PointsTarget(names, (goal,) * len(names)),
        "whole shape": pl.ShapeTarget(positions=skin + 1e-3),
        "points of a surface": pl.ShapeTarget(cloud=skin[::2] + 1e-4),
        "actuator coordinate": pl.DisplacementTarget(first.name, 1e-3),
        "actuator force": pl.EffortTarget(first.name, 1.0),
    }
    if first.kind == "chamber":
        out["cavity volume"] = pl.VolumeTarget(first.name, 1e-6)
    return out


def allowed(model):
    """One of each limit."""
    name = model.robot.actuators[0].name
    x = model.skin_positions(model.rest)
    size = float(np.ptp(x, axis=0).max()) or 0.1
    ball = pl.Sphere(tuple(x.mean(axis=0) + size * np.array([0.3, 1.1, 0.7])), 0.2 * size)
    return {
        "effort": pl.EffortLimit(name, -1.0, 1.0),
        "stroke": pl.DisplacementLimit(name, -1.0, 1.0),
        "rate of the effort": pl.RateLimit(name, 1.0, "effort"),
        "rate of the stroke": pl.RateLimit(name, 1.0, "displacement"),
        "clearance": pl.ClearanceLimit(ball, 0.01 * size, alarm=5 * size),
    }


def somewhere(model):
    """A configuration and efforts that are nothing special, and a direction to go in."""
    rng = np.random.default_rng(3)
    x = model.skin_positions(model.rest)
    scale = 0.02 * max(float(np.ptp(x, axis=0).max()), 0.05)
    step = rng.standard_normal(model.nv)
    moved = np.abs(model.skin_positions(model.retract(model.rest, 1e-6 * step)) - x).max()
    unit = scale / max(float(moved) / 1e-6, 1e-12)
    q = model.retract(model.rest, unit * step)
    return q, rng.standard_normal(model.nu), unit * rng.standard_normal(model.nv), rng.standard_normal(model.nu)


def differences(evaluate, model, q, effort, dq, de, h=1e-5):
    """Central differences of the value of rows along a direction."""
    ends = [evaluate(model.retract(q, s * h * dq), effort + s * h * de).value for s in (1.0, -1.0)]
    return (ends[0] - ends[1]) / (2 * h)


def check(rows, slope, dq, de):
    """Do the derivatives of rows give the slope?"""
    foreseen = np.zeros(len(rows.value))
    foreseen += 0.0 if rows.jacobian is None else rows.jacobian @ dq
    foreseen += 0.0 if rows.effort is None else rows.effort @ de
    size = max(float(np.abs(foreseen).max()), float(np.abs(slope).max()), 1e-300)
    assert np.abs(foreseen - slope).max() < 1e-5 * size + 1e-11


@pytest.mark.parametrize("kind", MODELS)
def test_rows_of_every_target_on_every_model(kind):
    model = built(kind)
    q, effort, dq, de = somewhere(model)
    found = wanted(model)
    assert len(found) >= 11
    for name, target in found.items():
        rows = target.evaluate(model, q, effort, None)
        assert rows.value.shape == rows.weight.shape, name
        slope = differences(lambda x, e, t=target: t.evaluate(model, x, e, None), model, q, effort, dq, de)
        check(rows, slope, dq, de)


@pytest.mark.parametrize("kind", MODELS)
def test_rows_of_every_limit_on_every_model(kind):
    model = built(kind)
    q, effort, dq, de = somewhere(model)
    zero = np.zeros(model.nu)
    before = pl.State(model.rest, np.zeros(model.nv), zero, zero, model.displacement(model.rest))
    for name, limit in allowed(model).items():
        rows = limit.evaluate(model, q, effort, None, before, 0.1)
        assert rows is not None, name
        assert (rows.low <= rows.high).all(), name

        def rows_at(x, e, limit=limit):
            return limit.evaluate(model, x, e, None, before, 0.1)

        check(rows, differences(rows_at, model, q, effort, dq, de), dq, de)


@pytest.mark.parametrize("kind", ["fem", "beam", "rod", "pcc", "point"])
def test_what_a_model_does_not_have_is_refused_in_words(kind):
    model = built(kind)
    tip = model.robot.points[0].name
    goal = pl.PointTarget(tip, tuple(model.locate(model.rest, tip).position))
    with pytest.raises(pl.UnknownNameError, match="strain"):
        pl.invert(model, targets=goal, limits=[pl.StrainLimit("belly", 0.0, 0.1)])
    with pytest.raises(pl.UnknownNameError, match="cup"):
        pl.invert(model, targets=pl.ContactForceTarget(1.0, "cup"))
    with pytest.raises(pl.UnknownNameError, match="cup"):
        pl.invert(model, targets=goal, limits=[pl.GraspFloor(1.0, "cup")])
    first = model.robot.actuators[0]
    if first.kind != "chamber":
        with pytest.raises(pl.ArgumentError, match="chamber"):
            pl.invert(model, targets=pl.VolumeTarget(first.name, 1e-6))


def test_volumes_of_a_tower_are_met():
    """Wanted volumes of its chambers, by pressure: within a millionth, and a forward equilibrium agrees."""
    model = built("chambers")
    there = pl.equilibrium(model, {"chamber1": 8e3, "chamber3": 4e3}).require()
    goals = [pl.VolumeTarget(n, v, weight=1e6) for n, v in zip(model.robot.actuator_names, there.displacement)]
    command = pl.invert(model, targets=goals)
    assert command.status is pl.Status.CONVERGED
    assert command.displacement == pytest.approx(there.displacement, rel=1e-6, abs=1e-12)
    again = pl.equilibrium(model, command.u, start=command.state).require()
    assert again.displacement == pytest.approx(there.displacement, rel=1e-6, abs=1e-12)
