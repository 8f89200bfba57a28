"""Robot: what belongs together is checked when it is put together, and names are looked up with help."""

import math

import pytest
from harness import golden_beam, golden_mesh

from pliant.actuators import Cable, Chamber, PointForce, Slide, Stiffness
from pliant.bodies import Fixation, Point, RigidRegion, RodBody, SoftBody, StrainGauge
from pliant.errors import ArgumentError, FileError, UnknownNameError
from pliant.materials import Corotational, Linear
from pliant.robot import Robot

RUBBER = Corotational.from_young(1e5, 0.4, density=1000)


def test_lookup_by_name():
    robot = golden_beam()
    assert robot.actuator_names == ("c1", "c2", "c3")
    assert robot.actuator("c2") is robot.actuators[1]
    assert robot.point("tip").position == (0.1, 0.0, 0.0)
    assert robot.body("body") is robot.soft_body() is robot.soft_body("body")
    for lookup in (robot.actuator, robot.point, robot.body, robot.soft_body, robot.actuator_index):
        with pytest.raises(UnknownNameError, match="nothing"):
            lookup("nothing")


def test_unknown_names_list_the_valid_ones():
    with pytest.raises(UnknownNameError) as caught:
        golden_beam().actuator("c9")
    assert caught.value.valid == ("c1", "c2", "c3")
    assert "c1, c2, c3" in str(caught.value)


@pytest.mark.parametrize(
    ("changes", "error"),
    [
        ({"bodies": ()}, ArgumentError),
        ({"name": "a b"}, ArgumentError),
        ({"gravity": (0, 0)}, ArgumentError),
        ({"gravity": (0, 0, math.nan)}, ArgumentError),
        ({"fixations": (Fixation("nowhere"),)}, UnknownNameError),
        ({"fixations": (Fixation("base", body="other"),)}, UnknownNameError),
        ({"rigid": (RigidRegion("plate", "nowhere"),)}, UnknownNameError),
        ({"rigid": (RigidRegion("body", "end"),)}, ArgumentError),  # the name of a body
        ({"points": (Point("tip", (0, 0, 0)), Point("tip", (0, 0, 0)))}, ArgumentError),
        ({"points": (Point("tip", (0, 0, 0), body="other"),)}, UnknownNameError),
        ({"sensors": (StrainGauge("g", ((0, 0, 0), (1, 0, 0)), body="other"),)}, UnknownNameError),
        ({"actuators": (Chamber(name="hole"),)}, UnknownNameError),
        ({"actuators": (Stiffness(name="s", region="top"),)}, UnknownNameError),
        ({"actuators": (Slide(name="s", part="plate", axis=(1, 0, 0)),)}, UnknownNameError),
        ({"actuators": (PointForce(name="f", point=(0, 0, 0), direction=(1, 0, 0), body="x"),)}, UnknownNameError),
        (
            {"actuators": tuple(Cable(name="c", points=[(0, 0, 0), (0.1, 0, 0)]) for _ in range(2))},
            ArgumentError,
        ),
    ],
)
def test_inconsistent_robots_are_refused(changes, error):
    with pytest.raises(error):
        golden_beam().but(**changes)


def test_two_soft_bodies_need_names():
    mesh = golden_mesh()
    bodies = (SoftBody("a", mesh, RUBBER), SoftBody("b", mesh, RUBBER))
    Robot("two", bodies, (Fixation("base", "a"), Fixation("base", "b")))
    with pytest.raises(UnknownNameError, match="a, b"):
        Robot("two", bodies, (Fixation("base"),))


def test_robots_are_frozen_and_copied_with_changes():
    robot = golden_beam()
    with pytest.raises(AttributeError):
        robot.name = "other"
    other = robot.but(name="other", gravity=[0, 0, 0])
    assert (other.name, other.gravity, robot.name) == ("other", (0.0, 0.0, 0.0), "golden-beam")


def test_rods_are_parts_that_slide():
    rod = RodBody("wire", 0.1, 0.001, RUBBER)
    robot = Robot("wire", (rod,), actuators=(Slide(name="insert", part="wire", axis=(1, 0, 0)),))
    assert robot.part_names == ("wire",)


def test_single_things_stand_for_lists_and_wrong_types_are_named(tmp_path):
    body = RodBody("rod", 0.3, 0.01, Linear(young=1e6, poisson=0.45, density=1000.0))
    tip = Point("tip", (0.3, 0, 0))
    robot = Robot("a", body, points=tip)
    assert robot.bodies == (body,) and robot.points == (tip,)
    for wrong in ({"bodies": ("x",)}, {"actuators": ("x",)}, {"points": ((0, 0, 0),)}, {"sensors": None}, {"rigid": 3}):
        with pytest.raises(ArgumentError, match=next(iter(wrong))):
            Robot(**{"name": "a", "bodies": (body,), **wrong})
    for wrong in (None, 3):
        with pytest.raises(ArgumentError, match="path"):
            Robot.load(wrong)
        with pytest.raises(ArgumentError, match="folder"):
            robot.save(wrong)
    (tmp_path / "file").write_text("x")
    with pytest.raises(FileError, match="cannot be made"):
        robot.save(tmp_path / "file" / "below")
