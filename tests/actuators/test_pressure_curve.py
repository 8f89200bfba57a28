"""Measured pressure-volume curves: hysteresis, monotone fits, robot file, commands, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.actuators import Chamber, PressureCurve, actuator_from_dict
from pliant.errors import ArgumentError, FileError
from pliant.models.geometric import GeometricModel
from pliant.robot import Robot
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.flex import flex


@pytest.fixture(scope="module")
def curve() -> PressureCurve:
    rng = np.random.default_rng(0)
    ratio = np.linspace(1.0, 1.5, 60)
    up, down = 3e5 * (ratio - 1.0), 3e5 * (ratio - 1.0) ** 1.3
    return PressureCurve.from_samples((ratio, up + rng.normal(0, 800, 60)), (ratio, down + rng.normal(0, 800, 60)))


def test_both_branches_are_monotone_and_near_the_measurement(curve):
    assert (np.diff(curve.filling) >= 0).all() and (np.diff(curve.emptying) >= 0).all()
    assert curve.pressure(1.3) == pytest.approx(90e3, abs=2e3)
    assert curve.pressure(1.3, emptying=True) == pytest.approx(3e5 * 0.3**1.3, abs=2e3)
    assert curve.volume_ratio(90e3) == pytest.approx(1.3, abs=0.01)
    assert curve.volume_ratio(60e3, emptying=True) > curve.volume_ratio(60e3)
    assert 0.1 < curve.hysteresis < 0.3


def test_the_robot_file_keeps_the_curve(curve, tmp_path):
    chamber = Chamber(name="air", curve=curve)
    assert actuator_from_dict(chamber.to_dict()) == chamber
    robot = three_chamber_arm(size=0.03, folds=2)
    chambers = (Chamber(name="chamber1", drive="displacement", curve=curve), *robot.actuators[1:])
    path = robot.but(actuators=chambers).save(tmp_path)
    loaded = Robot.load(tmp_path)
    assert loaded.actuators == chambers
    text = path.read_text()
    path.write_text(text.replace("emptying = [", "emptied = ["))
    with pytest.raises(FileError, match="emptying"):
        Robot.load(tmp_path)
    path.write_text(text.replace("ratio = [1.0", "ratio = [-1.0").replace("ratio = [\n", "ratio = [\n  -1.0,\n"))
    with pytest.raises(FileError, match="ratio"):
        Robot.load(tmp_path)


def test_commands_by_measured_pressure(curve):
    robot = three_chamber_arm(size=0.03, folds=2).but(gravity=(0, 0, 0))
    chambers = tuple(Chamber(name=a.name, drive="displacement", curve=curve) for a in robot.actuators)
    model = GeometricModel(robot.but(actuators=chambers))
    low = curve.filling[0]
    up = model.command_pressures({"chamber1": 50e3, "chamber2": low, "chamber3": low})
    down = model.command_pressures({"chamber1": 50e3}, emptying=True)
    assert down["chamber1"] > up["chamber1"] > 0.0
    state = flex(model, up)
    assert state.ok
    assert model.measured_pressures(state)["chamber1"] == pytest.approx(50e3, rel=1e-6)
    plain = GeometricModel(robot)
    with pytest.raises(ArgumentError, match="curve"):
        plain.command_pressures({"chamber1": 5e4})
    with pytest.raises(ArgumentError, match="measured range"):
        model.command_pressures({"chamber1": 5e6})


@pytest.mark.parametrize(
    "values",
    [([1.0], [0.0], [0.0]), ([1.0, 2.0], [0.0, 1.0], [0.0]), ([2.0, 1.0], [0.0, 1.0], [0.0, 1.0]),
     ([1.0, 2.0], [1.0, 0.0], [0.0, 1.0]), ([0.0, 1.0], [0.0, 1.0], [0.0, 1.0]),
     ([1.0, np.nan], [0.0, 1.0], [0.0, 1.0]), ("ab", [0.0, 1.0], [0.0, 1.0])],
)  # fmt: skip
def test_bad_curves_are_refused(values):
    with pytest.raises(ArgumentError):
        PressureCurve(*values)


def test_bad_samples_are_refused():
    with pytest.raises(ArgumentError, match="overlap"):
        PressureCurve.from_samples(([1.0, 1.2], [0.0, 1e4]), ([1.3, 1.5], [0.0, 1e4]))
    with pytest.raises(ArgumentError, match="samples"):
        PressureCurve.from_samples(([1.0], [0.0]))
    with pytest.raises(ArgumentError, match="curve"):
        Chamber(name="air", curve=3.0)
