import os
from pathlib import Path

import numpy as np
import pytest

from pliant import robot_fields, robot_file, robot_saving, robots
from pliant.actuators import Cable, Chamber, PatchForce, PointForce, Slide, Stiffness
from pliant.bodies import Fixation, Point, RigidBody, RigidRegion, RodBody, SoftBody, StrainGauge
from pliant.errors import FileError
from pliant.geometry import TetMesh
from pliant.materials import Corotational, Linear, MooneyRivlin, Ogden, Yeoh, preset
from pliant.robot import Robot

PYRAMID = dict(
    vertices=[[0.2, 0, 0], [0.21, 0, 0], [0.2, 0.01, 0], [0.2, 0, 0.01]],
    triangles=[[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2]],
)


def everything() -> Robot:
    """A robot that uses every kind of body, actuator and option."""
    mask = np.ones((6, 3, 3), bool)
    mask[2:4, 1, 1] = False
    mesh = TetMesh.voxels(mask, 0.01).with_cavity("room")
    mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9).with_node_set(
        "end", lambda x: x[:, 0] > 0.0599
    )
    mesh = mesh.with_region("soft-part", lambda x: x[:, 0] > 0.03).with_surface(
        "side", lambda x: x[:, 1] < 1e-9
    )
    return Robot(
        "every.thing-1",
        (
            SoftBody("body", mesh, Yeoh((1e5, 2e3), (1e-6,), density=1000.0),
                     {"soft-part": preset("ecoflex-00-30")}),
            RodBody("rod", 0.2, (0.01, 0.005), Linear.from_young(1e6, 0.3), inner_radius=0.001,
                    rest_curvature=(0, 1, 2)),
            RigidBody("cup", mass=0.1, axes=((0, 0, 1.0),), rotates=False, **PYRAMID),
        ),
        fixations=(Fixation("base", body="body", axes="xz"),),
        rigid=(RigidRegion("plate", "end", body="body", mass=0.02, axes=((1, 0, 0), (0, 1, 0))),),
        actuators=(
            Cable(
                name="c", points=((0.01, 0.005, 0.005), (0.05, 0.005, 0.005)), 
                pull_point=(-0.01, 0.005, 0.005),
                world=(0,), friction=0.1, tube_stiffness=2.0, slackable=False, body="body", rate_limit=0.1,
                displacement_limits=(-0.01, 0.02),
            ),
            Chamber(name="room", fluid_density=900.0, effort_limits=(-1e3, 2e4), drive="displacement"),
            PointForce(name="f", point=(0.06, 0.01, 0.01), direction=(0, 0, 2)),
            PatchForce(name="p", centre=(0.03, 0, 0), radius=0.02, direction=(0, 1, 0)),
            Stiffness(name="s", region="soft-part"),
            Slide(name="m", part="plate", axis=(1, 0, 0)),
        ),
        points=(Point("tip", (0.06, 0.015, 0.015), rotation=(0.5, 0.5, 0.5, 0.5)),
                Point("on", (0.2, 0, 0), body="cup")),
        sensors=(StrainGauge("gauge", ((0.01, 0, 0), (0.05, 0, 0)), body="body"),),
        gravity=(0.0, -9.81, 0.0),
        source='line 1\nline "2" \\ tab\t, unicode µ',
    )  # fmt: skip


def same(a: object, b: object, where: str = "robot") -> None:
    """Assert that two descriptions are equal, field by field, to the last digit."""
    assert type(a) is type(b), where
    if isinstance(a, np.ndarray):
        np.testing.assert_array_equal(a, b, err_msg=where)
    elif isinstance(a, tuple):
        assert len(a) == len(b), where
        for i, (x, y) in enumerate(zip(a, b)):
            same(x, y, f"{where}[{i}]")
    elif isinstance(a, dict):
        assert set(a) == set(b), where
        for k in a:
            same(a[k], b[k], f"{where}.{k}")
    elif hasattr(a, "__dataclass_fields__"):
        for name in a.__dataclass_fields__:
            same(getattr(a, name), getattr(b, name), f"{where}.{name}")
    else:
        assert a == b, where


def test_round_trip_keeps_every_digit(tmp_path: Path) -> None:
    robot = everything()
    path = robot.save(tmp_path / "r")
    assert path == tmp_path / "r" / "robot.toml"
    assert sorted(p.name for p in path.parent.iterdir()) == ["body.vtu", "robot.toml"]
    for loaded in (Robot.load(path), Robot.load(path.parent)):
        same(robot, loaded)


@pytest.mark.parametrize(
    "law", [MooneyRivlin(1e5, 1e4, 1e7), Ogden.from_young(1e6, 0.45), Corotational.from_young(1e5, 0.4)]
)
def test_materials_round_trip(law, tmp_path: Path) -> None:
    robot = robots.golden_beam()
    robot = robot.but(bodies=(SoftBody("body", robot.bodies[0].mesh, law),))
    same(robot, Robot.load(robot.save(tmp_path)))


def test_rigid_surface_file(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    v = rng.normal(size=(100, 3))
    t = rng.integers(0, 100, size=(40, 3))
    robot = Robot("r", (RigidBody("cup", v, t),))
    robot.save(tmp_path)
    assert (tmp_path / "cup.obj").exists()
    same(robot, Robot.load(tmp_path))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    everything().save(tmp_path)
    return tmp_path


def edit(folder: Path, *changes: tuple[str, str], extra: str = "") -> None:
    text = (folder / "robot.toml").read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new, 1)
    (folder / "robot.toml").write_text(text + extra)


def problems(folder: Path) -> tuple[str, ...]:
    with pytest.raises(FileError) as caught:
        Robot.load(folder)
    return caught.value.problems


def test_all_mistakes_are_reported_at_once(folder: Path) -> None:
    edit(
        folder,
        ('nodes = "base"', 'nodes = "bass"'),
        ('axes = "xz"', 'axes = "xq"'),
        ("friction = 0.1", 'frictoin = "much"'),
        ("tube_stiffness = 2.0", "tube_stiffness = [1]"),
        ('region = "soft-part"', 'region = "hard-part"'),
        ('part = "plate"', 'part = "plato"'),
        ("mass = 0.1", "mass = nan"),
        ("inner_radius = 0.001", "inner_radius = 0.5"),
        ('law = "linear"', 'law = "liner"'),
        ("gravity = [0.0, -9.81, 0.0]", "gravity = [0.0, -9.81]"),
        extra='\n[[points]]\nname = "tip"\nposition = [0, 0, "up"]\n',
    )
    found = problems(folder)
    for key in (
        "gravity", "bodies[1].material.law", "bodies[2].mass", "fixations[0]", "actuators[0].frictoin",
        "actuators[0].tube_stiffness", "points[2].position[2]",
    ):  # fmt: skip
        assert any(p.startswith(key) for p in found), (key, found)
    assert any("Did you mean 'friction'" in p for p in found)
    assert any("Did you mean 'linear'" in p for p in found)


def test_references_are_checked(folder: Path) -> None:
    edit(
        folder,
        ('nodes = "base"', 'nodes = "bass"'),
        ('region = "soft-part"', 'region = "hard-part"'),
        ('part = "plate"', 'part = "plato"'),
        ('name = "gauge"', 'name = "gauge"\n'),
        extra='\n[[points]]\nname = "tip"\nposition = [0, 0, 0]\nbody = "nobody"\n',
    )
    found = problems(folder)
    starts = (
        "fixations[0].nodes",
        "actuators[4].region",
        "actuators[5].part",
        "points[2].name",
        "points[2].body",
    )
    for key in starts:
        assert any(p.startswith(key) for p in found), (key, found)
    assert "Valid: base, end" in " ".join(found)


def test_millimetres(tmp_path: Path) -> None:
    robot = robots.finger()
    robot.save(tmp_path)
    mesh = robot.soft_body().mesh
    from pliant.geometry import write_mesh

    write_mesh(mesh.scaled(1000.0), tmp_path / "body.vtu")
    text = (
        'format = "pliant-robot"\nunits = "mm"\nname = "finger"\n'
        '[[bodies]]\nname = "body"\nkind = "soft"\nmesh = "body.vtu"\n'
        'material = { preset = "dragon-skin-30" }\n[[fixations]]\nnodes = "base"\n'
        '[[actuators]]\nkind = "cable"\nname = "c"\npoints = [[0, 0, -20], [0, 0, -100]]\n'
        'displacement_limits = [0, 30]\n'
        "rate_limit = 5\neffort_limits = [0, 4]\n"
        '[[actuators]]\nkind = "cable"\nname = "d"\ndrive = "effort"\nrate_limit = 5\n'
        'points = [[0, 0, -20], [0, 0, -100]]\n'
        '[[points]]\nname = "tip"\nposition = [0, 0, -100]\n'
    )
    (tmp_path / "robot.toml").write_text(text)
    loaded = Robot.load(tmp_path)
    np.testing.assert_allclose(loaded.soft_body().mesh.nodes, mesh.nodes, atol=1e-15)
    assert loaded.point("tip").position == pytest.approx((0, 0, -0.1))
    cable = loaded.actuator("c")
    assert cable.points[0] == pytest.approx((0, 0, -0.02))
    assert cable.displacement_limits == pytest.approx((0, 0.03))
    assert cable.rate_limit == pytest.approx(0.005)
    assert cable.effort_limits == (0, 4)
    assert loaded.actuator("d").rate_limit == 5


@pytest.mark.parametrize(
    "name", ["../body.vtu", "/etc/passwd", "a/../../body.vtu", "C:\\x.vtu", "~/x.vtu", "..\\x.vtu"]
)
def test_paths_outside_the_folder_are_refused(folder: Path, name: str) -> None:
    (folder.parent / "body.vtu").write_bytes((folder / "body.vtu").read_bytes())
    edit(folder, ('mesh = "body.vtu"', f"mesh = '{name}'"))
    assert "leaves the folder" in problems(folder)[0]


def test_links_are_refused(folder: Path) -> None:
    outside = folder.parent / "outside.vtu"
    os.rename(folder / "body.vtu", outside)
    os.symlink(outside, folder / "body.vtu")
    assert "is a link" in problems(folder)[0]
    (folder / "body.vtu").unlink()
    (folder / "sub").symlink_to(folder.parent)
    edit(folder, ('mesh = "body.vtu"', 'mesh = "sub/outside.vtu"'))
    assert "is a link" in problems(folder)[0]


def test_hostile_files(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    raw = (folder / "body.vtu").read_bytes()
    (folder / "body.vtu").write_bytes(b'<!DOCTYPE x [<!ENTITY a "b">]>' + raw)
    assert "entities" in problems(folder)[0]
    for broken in (b"", b"not xml", raw[: len(raw) // 2], os.urandom(2000)):
        (folder / "body.vtu").write_bytes(broken)
        assert problems(folder)[0].startswith("bodies[0].mesh")
    (folder / "body.vtu").write_bytes(raw)
    monkeypatch.setattr(robot_file, "MAX_MESH_BYTES", 10)
    assert "bytes" in problems(folder)[0]
    monkeypatch.setattr(robot_file, "MAX_TOML_BYTES", 10)
    assert "at most 10" in problems(folder)[0]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x = " + "[" * 5000, "nested"),
        ("x = ", "not TOML"),
        ("x = " + "9" * 10000, "not TOML"),
        ('format = "pliant-robot"\nname = 3\nbodies = 3', "bodies"),
        ('format = "other"\nname = "a"\n[[bodies]]\nkind = "gas"', "kind"),
        ('format = "pliant-robot"\nname = "a"\nbodies = []', "at least one body"),
        ('format = "pliant-robot"\nversion = 7\nunits = "inch"\nname = "a"\nbodies = [1, "x"]', "version"),
    ],
)
def test_broken_toml(tmp_path: Path, text: str, said: str) -> None:
    (tmp_path / "robot.toml").write_text(text)
    assert said in "\n".join(problems(tmp_path))


def test_missing_and_binary_files(tmp_path: Path) -> None:
    assert "no such file" in problems(tmp_path)[0]
    (tmp_path / "robot.toml").write_bytes(b"\xff\xfe\x00")
    assert "UTF-8" in problems(tmp_path)[0]


def test_saving_is_all_or_nothing(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = {p.name: p.read_bytes() for p in folder.iterdir()}

    def fail(*_: object, **__: object) -> str:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(robot_saving, "to_toml", fail)
    with pytest.raises(FileError, match="No space"):
        robots.finger().save(folder)
    assert {p.name: p.read_bytes() for p in folder.iterdir()} == before


def test_saving_over_an_old_robot(folder: Path) -> None:
    (folder / "notes.txt").write_text("mine")
    robot = robots.golden_beam()
    robot.save(folder)
    assert sorted(p.name for p in folder.iterdir()) == ["body-2.vtu", "notes.txt", "robot.toml"]
    same(robot, Robot.load(folder))
    robot.save(folder)
    assert sorted(p.name for p in folder.iterdir()) == ["body.vtu", "notes.txt", "robot.toml"]
    same(robot, Robot.load(folder))


def test_saving_into_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(FileError, match="folder"):
        robots.golden_beam().save(tmp_path / "x")


def test_nothing_is_executed(folder: Path) -> None:
    edit(folder, ('name = "rod"', "name = \"__import__('os').system('true')\""))
    assert any("is not a name" in p for p in problems(folder))


def test_every_length_field_is_known() -> None:
    from dataclasses import fields

    from pliant.actuators import _KINDS

    for kind in (*_KINDS.values(), RodBody, Point, StrainGauge):
        for f in fields(kind):
            if "[m]" in f.name or f.name in ("points", "radius", "position"):
                assert f.name in robot_fields.LENGTH_POWER


@pytest.mark.parametrize("value", ["[]", "{}", "[1, 2]", "3"])
@pytest.mark.parametrize("key", ["law", "preset"])
def test_a_law_that_is_no_text_is_one_of_the_mistakes(tmp_path, key, value):
    text = 'format = "pliant-robot"\nname = "a"\n[[bodies]]\nkind = "rod"\nname = "r"\nlength = 1.0\nradius = 0.1\n'
    (tmp_path / "robot.toml").write_text(f"{text}material = {{ {key} = {value} }}\n")
    with pytest.raises(FileError, match=f"material.{key}"):
        Robot.load(tmp_path)
