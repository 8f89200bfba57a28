import math
from dataclasses import replace

import numpy as np
import pytest

from pliant.actuators import Cable, Chamber, PointForce, Stiffness
from pliant.inverse.targets import FrameTarget
from pliant.state import Status
from pliant.viewer.readings import actuator_rows, colour_bar_html, dial, misses, number, reading_html

POINTS = ((0.0, 0, 0), (0.1, 0, 0))


@pytest.mark.parametrize(
    ("actuator", "low", "high", "unit", "stated"),
    [
        (Cable(name="a", points=POINTS, displacement_limits=(0, 0.03)), 0, 30, "mm", True),
        (Cable(name="a", points=POINTS), 0, 25, "mm", False),
        (Cable(name="a", points=POINTS, drive="effort"), 0, 10, "N", False),
        (Chamber(name="a", effort_limits=(-2e4, 8e4)), -20, 80, "kPa", True),
        (Chamber(name="a"), 0, 50, "kPa", False),
        (PointForce(name="a", point=(0, 0, 0), direction=(1, 0, 0)), -10, 10, "N", False),
        (Stiffness(name="a", region="r"), -0.99, 2.0, "", False),
    ],
)
def test_dials_hold_limits_and_fall_back_to_sensible_ranges(actuator, low, high, unit, stated):
    d = dial(actuator, 0.1)
    assert d.low == pytest.approx(low)
    assert d.high == pytest.approx(high)
    assert (d.unit, d.stated) == (unit, stated)
    assert math.isclose(round((d.high - d.low) / d.step), (d.high - d.low) / d.step, rel_tol=1e-9)


def test_a_dial_holds_a_value_outside_of_the_limits():
    d = dial(Cable(name="a", points=POINTS, displacement_limits=(0, 0.01)), 0.1, value=0.05)
    assert d.low <= 0.05 * d.factor <= d.high


def test_a_dial_of_equal_limits_has_a_range():
    d = dial(Cable(name="a", points=POINTS, displacement_limits=(0.01, 0.01)), 0.1)
    assert d.high > d.low


def test_rows_carry_units(box):
    rows = actuator_rows(box.robot, box.solve(box, np.array([0.02, 1e4])))
    assert rows == [("cable", "4 N", "20 mm"), ("chamber", "10 kPa", "0.1 mL")]


def test_readings_say_status_numbers_and_trouble(box):
    state = box.solve(box, np.array([0.02, 0.0])).but(notes=("a <note>",))
    text = reading_html(box.robot, state, trouble="it broke")
    for part in (
        "Converged",
        "3 iterations",
        "4.0 ms",
        "1.0e-09",
        "4 N",
        "20 mm",
        "it broke",
        "last good state",
    ):
        assert part in text
    assert "a &lt;note&gt;" in text


def test_readings_of_an_inverse(box, goal):
    command = box.invert(box, None, [goal])
    assert "target error" in reading_html(box.robot, command.state, command=command)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (Status.CONVERGED, "Target reached"),
        (Status.UNREACHABLE, "Target not reached: 12 mm away"),
        (Status.LOCAL, "Target not reached: 12 mm away"),
        (Status.SINGLE, "On the way: 12 mm away"),
    ],
)
def test_readings_say_whether_the_target_was_reached(box, goal, status, words):
    command = replace(box.invert(box, None, [goal]), status=status)
    text = reading_html(box.robot, command.state, command=command, missed=(0.012, None))
    assert words in text
    assert words not in reading_html(box.robot, command.state, command=command, missed=(0.012, None), trouble="no")
    turned = reading_html(box.robot, command.state, command=command, missed=(0.012, np.pi / 6))
    assert ("and 30° away" in turned) == (status is not Status.CONVERGED)


def test_numbers():
    assert number(0.0) == "0"
    assert number(12.34567) == "12.35"
    assert number(float("nan")) == "nan"
    assert "strain [%]" in colour_bar_html("strain", "%", 0, 10)


def test_a_model_without_mechanics_shows_what_is_commanded_only(box):
    state = box.solve(box, np.array([0.01, 2e4]))
    rows = {n: (e, d) for n, e, d in actuator_rows(box.robot, state, forceless=True)}
    assert rows["cable"] == ("-", "10 mm")  # driven by displacement
    assert rows["chamber"] == ("20 kPa", "-")  # driven by pressure


def test_misses_are_lengths_and_angles(box, goal):
    state = box.solve(box, np.array([0.01, 0.0]))
    distance, angle = misses(box, state, [goal])
    tip = box.locate(state, "tip").position
    assert distance == pytest.approx(np.linalg.norm(tip - goal.position))
    assert angle is None
    quarter = FrameTarget("tip", tuple(tip), (np.sqrt(0.5), 0.0, np.sqrt(0.5), 0.0))
    distance, angle = misses(box, state, [quarter])
    assert distance == pytest.approx(0.0, abs=1e-12)
    assert angle == pytest.approx(np.pi / 2)
    assert misses(box, state, [object()]) is None
