"""Rods as chains of links: MuJoCo and URDF exports against the rod model."""

from xml.etree import ElementTree as XML

import numpy as np
import pytest

import pliant as pl
from pliant import lie
from pliant.errors import ArgumentError
from pliant.export.chain import rod_chain
from pliant.export.mujoco import load_mujoco, save_mujoco, to_mujoco
from pliant.export.urdf import save_urdf, to_urdf
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel

SOFT = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
L = 0.3
STRAINS = ("twist", "bend_y", "bend_z", "stretch")


def arm(**options):
    """A tapered, pre-curved arm with a straight, a helical and an outer tendon, a channel and a payload."""
    helix = [(L * s, 0.012 * np.cos(5 * s), 0.012 * np.sin(5 * s)) for s in np.linspace(0, 1, 9)]
    rods = (
        pl.RodBody("arm", L, (0.02, 0.012), SOFT, damping=0.05, tip_mass=0.02, **options),
        pl.RodBody("hand", 0.1, 0.008, SOFT, damping=0.05, parent="arm", rotation=(0.9, 0.2, 0.3, 0.1)),
    )
    actuators = (
        pl.Cable(name="straight", points=[(0, 0, 0.011), (0.9 * L, 0, 0.011)], drive="effort", body="arm"),
        pl.Cable(name="helix", points=helix, drive="effort", body="arm", effort_limits=(0, 20)),
        pl.Cable(name="outer", points=[(L, 0, 0)], pull_point=(0.1, 0.2, 0.1), drive="effort", body="arm"),
        pl.Chamber(name="air"),
    )
    channel = {"air": pl.ChamberPath(((0, 0.01, 0), (L, 0.01, 0)), 5e-5)}
    robot = pl.Robot("arm", rods, actuators=actuators)
    return RodModel(robot, basis=bases.legendre(4, strains=STRAINS, points=16), chambers=channel)


EFFORT = np.array([2.0, 1.5, 0.3, 3e3])


def settled(mujoco, model, links):
    """Tips of both rods in MuJoCo at rest under the efforts."""
    compiled = load_mujoco(model, links=links, timestep=2e-3)
    data = mujoco.MjData(compiled)
    data.ctrl[:] = EFFORT
    for _ in range(4000):
        mujoco.mj_step(compiled, data)
    assert np.abs(data.qvel).max() < 1e-4
    return np.array([data.site(f"{name}.tip").xpos for name in ("arm", "hand")])


def test_static_pose_of_mujoco_converges_to_ours():
    mujoco = pytest.importorskip("mujoco")
    model = arm()
    state = pl.equilibrium(model, EFFORT).require()
    exact = model.locate(state, ("arm.tip", "hand.tip")).position
    assert np.linalg.norm(exact[0] - [L, 0, 0]) > 0.08  # it does bend
    errors = [np.linalg.norm(settled(mujoco, model, n) - exact, axis=1).max() for n in (6, 12, 24)]
    assert errors[0] > 5 * errors[1] > 7 * errors[2]
    assert errors[2] < 0.002 * L


def test_mass_and_files(tmp_path):
    model = arm()
    chain = rod_chain(model, links=7)
    total = sum(link.mass for link in chain.links)
    assert total == pytest.approx(model.tables.mass.sum(), rel=1e-6)
    kinds = [j.kind for j in chain.links[3].joints]
    assert kinds == ["slide", "hinge", "hinge", "hinge"]
    assert save_mujoco(model, tmp_path / "a.xml", links=7).read_text() == to_mujoco(model, links=7)
    root = XML.fromstring(to_mujoco(model, links=7))
    assert [t.get("name") for t in root.iter("spatial")] == ["straight", "helix", "outer", "air"]
    assert root.find("./actuator/motor[@name='helix']").get("ctrlrange") == "0 20"
    bending = RodModel(model.robot.but(actuators=()), basis=bases.constant(segments=2, strains=bases.BENDING))
    assert all(len(link.joints) == 2 for link in rod_chain(bending, links=4).links if not link.name.endswith("_0"))


def urdf_tips(text, values):
    """Poses of all links of a URDF at joint values."""
    root, poses = XML.fromstring(text.split("\n", 1)[1]), {"base": np.eye(4)}
    for joint in root.findall("joint"):
        xyz, rpy = (np.array(joint.find("origin").get(k).split(), float) for k in ("xyz", "rpy"))
        T = poses[joint.find("parent").get("link")] @ lie.frame(
            lie.exp([0, 0, rpy[2]]) @ lie.exp([0, rpy[1], 0]) @ lie.exp([rpy[0], 0, 0]), xyz
        )
        if joint.get("type") != "fixed":
            axis = np.array(joint.find("axis").get("xyz").split(), float) * values[joint.get("name")]
            moved = (np.eye(3), axis) if joint.get("type") == "prismatic" else (lie.exp(axis), np.zeros(3))
            T = T @ lie.frame(*moved)
        poses[joint.find("child").get("link")] = T
    return root, poses


def test_urdf_pose_converges_to_ours(tmp_path):
    model = arm(rest_curvature=(0.5, 1.0, -2.0))
    q = np.random.default_rng(2).standard_normal(model.nq) * np.where(model.tables.comp < 3, 1.5, 0.05)
    exact = model.locate(q, "hand.tip").position
    errors = []
    for links in (10, 20, 40):
        chain = rod_chain(model, links=links)
        root, poses = urdf_tips(to_urdf(model, links=links), chain.coordinates(model, q))
        tip = poses[chain.links[-1].name] @ [chain.links[-1].length, 0, 0, 1]
        errors.append(np.linalg.norm(tip[:3] - exact))
    assert errors[2] < 2e-3 * L
    assert errors[0] / errors[2] > 9  # second order: 16
    mass = sum(float(m.get("value")) for m in root.iter("mass"))
    assert mass == pytest.approx(model.tables.mass.sum(), rel=1e-4)
    assert save_urdf(model, tmp_path / "arm.urdf").exists()


def test_moving_bases(tmp_path):
    mujoco = pytest.importorskip("mujoco")
    rods = (
        pl.RodBody("cart", 0.2, 0.01, SOFT, axes=((1.0, 0.0, 0.0),), rotation=(0.7, 0, 0.7, 0)),
        pl.RodBody("free", 0.2, 0.01, SOFT, axes=tuple(map(tuple, np.eye(3))), rotates=True),
    )
    model = RodModel(pl.Robot("two", rods), basis=bases.constant(strains=bases.BENDING))
    compiled = load_mujoco(model, links=3)
    assert compiled.nv == 1 + 6 + 2 * 6
    data = mujoco.MjData(compiled)
    data.qpos[compiled.joint("cart_slide0").qposadr[0]] = 0.05
    mujoco.mj_forward(compiled, data)
    assert data.site("cart.tip").xpos[0] == pytest.approx(
        model.locate(model.rest, "cart.tip").position[0] + 0.05, abs=1e-9
    )
    with pytest.raises(ArgumentError, match="ball"):
        to_urdf(model)


def test_what_cannot_be_exported_is_named():
    push = pl.PointForce(name="push", point=(0.1, 0, 0), direction=(0, 0, 1))
    model = RodModel(pl.Robot("arm", (pl.RodBody("arm", L, 0.01, SOFT),), actuators=(push,)))
    with pytest.raises(ArgumentError, match="push"):
        to_mujoco(model)
    with pytest.raises(ArgumentError, match="links"):
        rod_chain(model, links=0)
    with pytest.raises(ArgumentError, match="model"):
        to_urdf(push)
