"""Every robot of the catalogue is sound, solves over its range and says where its numbers come from."""

import functools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pliant import robots
from pliant.bodies import SoftBody
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.fem import FemModel
from pliant.robot import Robot
from pliant.solve.equilibrium import equilibrium
from pliant.viewer.snapshot import snapshot_image

# Moderate and large commands that every robot must reach, and the direction in which its tip must go.
CASES = {
    "finger": [({"cable": 0.010}, (1, 0, 1)), ({"cable": 0.018}, (1, 0, 1))],
    "notched_finger": [({"cable1": 0.008}, (1, 0, 0)), ({"cable3": 0.015}, (1, 0, 1))],
    "pneunet": [({"chamber": 20e3}, (1, 0, 0)), ({"chamber": 60e3}, (1, 0, 1))],
    "accordion": [
        ({"chamber": 20e3}, (0, 0, 1)),
        ({"chamber": 40e3}, (0, 0, 1)),  # its limit
        ({"chamber": -2e3}, (0, 0, -1)),
    ],
    "tower": [({"chamber1": 20e3}, (-1, 0, 0)), ({"chamber2": 40e3}, (0, -1, 0))],
    "trunk": [
        ({"long1": 0.02, "long3": -0.02}, (1, 0, -1)),
        ({"short2": 0.015, "short4": -0.015}, (0, 1, 0)),
    ],
    "diamond": [({"cable1": 0.02}, (-1, 0, 0)), ({f"cable{i}": 0.01 for i in range(1, 5)}, (0, 0, 1))],
    "three_chamber_arm": [
        ({"chamber1": 240e3}, (-1, 0, 0)),
        ({f"chamber{i}": 240e3 for i in (1, 2, 3)}, (0, 0, 1)),
    ],
    "beam": [({"top": 0.02, "bottom": -0.03}, (0, 0, 1)), ({"bottom": 0.02, "top": -0.03}, (0, 0, -1))],
    "golden_beam": [({"cable1": 0.01}, (0, 0, 1))],
    "pneumatic_finger": [({"air": 2e-6}, (0, 0, -1))],
    "silicone_finger": [({"air": 4e-7}, (0, 0, -1))],
    "twister": [({"air": 3.4e-6}, (0, 0, 1))],
    "dielectric_crawler": [({"film": -8e-13}, (-1, 0, 0))],
    "membrane": [({"chamber1": 3e3}, (0, 0, 1)), ({"chamber4": 3e3}, (0, 0, 1))],
    "mannequin": [({"chamber32": 4e3, "chamber33": 4e3}, (0, -1, 0))],
    "catheter": [({"up": 1.8e-3}, (-1, 0, 1)), ({"insert": 0.05}, (1, 0, 0))],
    "octopus_arm": [({"m1a": 3.0}, (-1, 1, 0))],
    "elephant_trunk": [({"l1a": 4e5}, (0, -1, 0)), ({"l2a": -4e5}, (0, 1, 0))],
    "four_segment_arm": [({"s1p1": 125e3}, (-1, -1, 0))],
    "printed_link": [({"b1": 20e3}, (-1, 0, 0))],
    "six_link": [({"b1": 50e3}, (1, 0, 0)), ({"b1": -50e3}, (-1, 0, 0))],
}


@pytest.fixture(scope="module")
def models() -> Callable[[str], Any]:
    """The model that suits each robot, built when it is asked for."""
    return functools.cache(lambda name: robots.entry(name).model())


def test_names() -> None:
    assert set(CASES) == set(robots.catalogue())  # every robot of the catalogue is moved by a test
    assert robots.entry("catheter").name == "catheter"
    assert robots.get("finger") is robots.finger
    with pytest.raises(UnknownNameError, match="finger"):
        robots.get("fingr")


@pytest.mark.parametrize("name", robots.catalogue())
def test_description(name: str) -> None:
    make = robots.get(name)
    robot = make()
    assert isinstance(robot, Robot)
    assert robot.name == name
    assert robot.source
    assert any(word in f"{make.__doc__} {robot.source}" for word in ("spec", "thesis", "paper", "dossier"))
    assert "tip" in [p.name for p in robot.points]
    for a in robot.actuators:
        assert np.isfinite(a.limits).all(), a.name
    soft = [b for b in robot.bodies if isinstance(b, SoftBody)]
    for body in soft:
        quality = body.mesh.quality()
        assert quality.usable
        assert quality.parts == 1
        assert not len(quality.pinched_nodes)
    nodes = sum(len(b.mesh.nodes) for b in soft)
    assert 100 < nodes < 3500 or name == "pneumatic_finger" or not soft  # that one is meant for the geometric model
    for p in robot.points:
        if soft and len(soft[0].mesh.tets):
            assert robot.soft_body(p.body).mesh.locate([p.position])[2][0] < 1e-9, p.name


@pytest.mark.parametrize(("name", "u", "way"), [(n, u, w) for n, cases in CASES.items() for u, w in cases])
def test_it_moves_as_it_should(models, name: str, u: dict, way: tuple) -> None:
    model = models(name)
    obstacles = robots.entry(name).obstacles(model.robot)
    rest = equilibrium(
        model,
        [a.limits[0] if getattr(a, "slackable", False) else 0.0 for a in model.robot.actuators],
        obstacles=obstacles,
    )
    state = equilibrium(model, u, obstacles=obstacles)
    assert rest.ok, rest.status
    assert state.ok, state.status
    assert state.residual < 1e-6
    motion = model.locate(state, "tip").position - model.locate(rest, "tip").position
    for axis in range(3):
        if way[axis]:
            assert motion[axis] * way[axis] > 2e-4, motion


@pytest.mark.parametrize("name", robots.catalogue())
def test_it_is_drawn(models, name: str) -> None:
    obstacles = robots.entry(name).obstacles(models(name).robot)
    image = snapshot_image(models(name), None, size=(160, 120), supersample=1, ground=False, obstacles=obstacles)
    background = image[0, 0].astype(int)
    assert (np.abs(image.astype(int) - background).max(axis=2) > 60).mean() > 0.005


@pytest.mark.parametrize(
    ("name", "u"),
    [("finger", {"cable": 0.015}), ("notched_finger", {"cable3": 0.01}), ("pneunet", {"chamber": 4e4})],
)
def test_fingers_stay_in_their_plane(models, name: str, u: dict) -> None:
    state = equilibrium(models(name), u)
    assert abs(models(name).locate(state, "tip").position[1]) < 1e-6


def test_round_ones_are_symmetric(models) -> None:
    for name, u in (("accordion", {"chamber": 4e4}), ("diamond", {f"cable{i}": 0.005 for i in range(1, 5)})):
        state = equilibrium(models(name), u)
        assert np.abs(models(name).locate(state, "tip").position[:2]).max() < 1e-6


def test_golden_values(models) -> None:
    model = models("golden_beam")
    mesh = model.robot.soft_body().mesh
    assert (len(mesh.nodes), len(mesh.tets)) == (117, 288)
    state = equilibrium(model, {"cable1": 0.005, "cable2": 0.010, "cable3": 0.015})
    np.testing.assert_allclose(state.effort, [1.71789, 1.15047, 3.27295], atol=1.1e-5)
    np.testing.assert_allclose(
        model.locate(state, "tip").position, [0.0894445, -0.0090660, -0.0207812], atol=6e-8
    )


def test_sizes_of_the_benchmarks() -> None:
    def count(robot: Robot) -> int:
        return len(robot.soft_body().mesh.nodes)

    assert count(robots.finger(size=7.5e-3)) == pytest.approx(158, rel=0.2)
    assert count(robots.trunk()) == pytest.approx(709, rel=0.2)
    assert count(robots.pneunet()) == pytest.approx(1214, rel=0.35)
    assert count(robots.diamond()) == pytest.approx(1628, rel=0.2)
    assert count(robots.tower()) == pytest.approx(560, rel=0.1)
    assert count(robots.beam()) == 160
    assert count(robots.finger(size=2e-3)) > 4 * count(robots.finger())


def test_options() -> None:
    assert robots.finger(cables=2).actuator_names == ("cable1", "cable2")
    assert robots.accordion(drive="cables").actuator_names == ("cable1", "cable2", "cable3")
    hexes = robots.beam(hexes=True).soft_body().mesh
    assert len(hexes.hexes) == 81
    assert len(hexes.tets) == 0
    assert robots.tower(storeys=2).actuator_names == ("chamber1", "chamber2")
    assert len(robots.trunk(sections=6).actuators) == 8
    assert robots.pneunet(chambers=4).actuator_names == ("chamber",)


@pytest.mark.parametrize(
    "call",
    [
        lambda: robots.finger(joints=0),
        lambda: robots.finger(notch=0.05),
        lambda: robots.finger(cables=3),
        lambda: robots.finger(size=0.0),
        lambda: robots.finger(size=float("nan")),
        lambda: robots.notched_finger(pitch=0.05),
        lambda: robots.accordion(drive="steam"),
        lambda: robots.accordion(sides=5),
        lambda: robots.pneunet(chambers=40),
        lambda: robots.tower(wall=0.02),
        lambda: robots.trunk(tip_cable=0.02),
        lambda: robots.diamond(hub=0.2),
        lambda: robots.three_chamber_arm(core=0.02),
    ],
)
def test_what_does_not_fit_is_refused(call) -> None:
    with pytest.raises(ArgumentError):
        call()


def test_tower_slots_face_each_other() -> None:
    pairs = robots.slot_pairs(robots.tower())
    assert list(pairs) == ["slot1", "slot2", "slot3"]
    for low, high in pairs.values():
        np.testing.assert_allclose(high - low, np.broadcast_to([0, 0, 0.0015], low.shape), atol=1e-9)
        assert (np.abs(low[:, :2]).max(axis=1) > 0.0069).all()


@pytest.mark.parametrize("name", ["tower", "three_chamber_arm", "pneunet"])
def test_file_round_trip(name: str, tmp_path) -> None:
    robot = robots.get(name)()
    loaded = Robot.load(robot.save(tmp_path))
    mesh, again = robot.soft_body().mesh, loaded.soft_body().mesh
    np.testing.assert_array_equal(mesh.nodes, again.nodes)
    assert set(mesh.cavities) == set(again.cavities)
    assert loaded.actuators == robot.actuators
    assert loaded.points == robot.points


def test_finger_force_falls_from_linear_to_quadratic_elements():
    """The numbers that README and docs/fem.md state for 30 mm of cable."""
    for element, force in (("linear", 0.84), ("quadratic", 0.38)):
        model = FemModel(robots.finger(), element=element)
        state = equilibrium(model, {"cable": 0.03}, strict=True)
        assert state.effort[0] == pytest.approx(force, abs=0.01)
