"""Commands: names, sequences, numbers; everything else is refused with the actuator's name."""

import numpy as np
import pytest
from harness import golden_beam

from pliant.actuators import PointForce
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.fem import FemModel
from pliant.solve.commands import command_vector, driven_by_displacement, length_scale, linearise, slackable

ROBOT = golden_beam()


def test_forms_of_a_command():
    assert command_vector(ROBOT, None) == pytest.approx([0, 0, 0])
    assert command_vector(ROBOT, {"c2": 1}) == pytest.approx([0, 1, 0])
    assert command_vector(ROBOT, {"c2": 1}, np.array([7.0, 8.0, 9.0])) == pytest.approx([7, 1, 9])
    assert command_vector(ROBOT, [1, 2, 3]) == pytest.approx([1, 2, 3])
    assert command_vector(ROBOT, (1, 2, 3), np.ones(3)) == pytest.approx([1, 2, 3])
    assert command_vector(ROBOT, np.arange(3)) == pytest.approx([0, 1, 2])
    one = ROBOT.but(actuators=ROBOT.actuators[:1])
    assert command_vector(one, 0.5) == pytest.approx([0.5])
    assert command_vector(ROBOT.but(actuators=()), None).shape == (0,)


def test_a_command_is_a_copy():
    given, default = np.zeros(3), np.zeros(3)
    command_vector(ROBOT, given)[0] = 1.0
    command_vector(ROBOT, None, default)[0] = 1.0
    assert not given.any()
    assert not default.any()


@pytest.mark.parametrize(
    "bad",
    [
        {"c1": "far"},
        {"c1": None},
        {"c1": [1, 2]},
        {"c1": np.nan},
        {"c1": np.inf},
        [1, 2],
        [[1, 2, 3]],
        [1, 2, np.nan],
        "text",
        1.0,
        object(),
    ],
)
def test_bad_commands(bad):
    with pytest.raises(ArgumentError, match="u"):
        command_vector(ROBOT, bad)


def test_unknown_actuators_are_named():
    with pytest.raises(UnknownNameError, match="c1, c2, c3"):
        command_vector(ROBOT, {"cable": 1.0})


def test_drives_and_slack():
    push = PointForce(name="push", point=(0.1, 0, 0), direction=(0, 0, 1))
    robot = ROBOT.but(actuators=(*ROBOT.actuators, push))
    assert driven_by_displacement(robot).tolist() == [True, True, True, False]
    assert slackable(robot).tolist() == [True, True, True, False]
    assert not slackable(robot.but(actuators=(push,))).any()


def test_size_and_linearisation():
    model = FemModel(ROBOT)
    assert length_scale(model) == pytest.approx(np.linalg.norm([0.1, 0.015, 0.015]))

    class Plain:
        force, stiffness = staticmethod(model.force), staticmethod(model.stiffness)

    effort = np.array([1.0, 0.0, 2.0])
    for a, b in zip(linearise(model, model.rest, effort), linearise(Plain, model.rest, effort)):
        dense = [x if isinstance(x, np.ndarray) else x.toarray() for x in (a, b)]
        assert np.allclose(*dense, rtol=1e-12)
