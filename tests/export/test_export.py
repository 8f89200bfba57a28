"""MuJoCo and URDF exports against the link model."""

from xml.etree import ElementTree as XML

import numpy as np
import pytest

from pliant.export.mujoco import joint_names, load_mujoco, save_mujoco, to_mujoco
from pliant.export.urdf import save_urdf, to_urdf
from pliant.models.link import LinkModel
from pliant.robots.four_segment_arm import arm_channels, four_segment_arm
from pliant.solve.equilibrium import equilibrium


@pytest.fixture(scope="module")
def link():
    robot = four_segment_arm(payload=0.3)
    return LinkModel(robot, chambers=arm_channels(robot), joint="universal")


def random_q(link, seed=0):
    rng = np.random.default_rng(seed)
    return link.rest + (rng.standard_normal((4, 4)) * [0.01, 0.4, 0.4, 0.01]).ravel()


def test_mujoco_kinematics_statics_and_actuation(link, tmp_path):
    mujoco = pytest.importorskip("mujoco")
    model = load_mujoco(link)
    data = mujoco.MjData(model)
    order = [model.joint(name).qposadr[0] for name in joint_names(link)]
    q = random_q(link)
    data.qpos[order] = q
    mujoco.mj_forward(model, data)
    for i in range(4):
        frame = link.frames(q)[i + 1]
        assert np.abs(data.site(f"frame{i + 1}").xpos - frame[:3, 3]).max() < 1e-9
        assert np.abs(data.site(f"frame{i + 1}").xmat.reshape(3, 3) - frame[:3, :3]).max() < 1e-9
    # the same pressures give the same generalised forces
    u = np.linspace(1e4, 9e4, 16)
    data.ctrl[:] = u
    mujoco.mj_forward(model, data)
    assert np.allclose(data.qfrc_actuator[order], link.displacement_rows(q).T @ u, rtol=1e-6)
    # and nearly the same equilibrium (the masses sit at fixed places of the slides there)
    state = equilibrium(link, u)
    data.qpos[order] = state.q
    data.qvel[:] = 0
    mujoco.mj_forward(model, data)
    balance = data.qfrc_passive + data.qfrc_actuator - data.qfrc_bias
    scale = np.abs(data.qfrc_actuator).max()
    assert np.abs(balance).max() < 0.05 * scale
    assert save_mujoco(link, tmp_path / "arm.xml").read_text() == to_mujoco(link)


def test_urdf_chain_has_the_same_tip(link, tmp_path):
    root = XML.fromstring(to_urdf(link).split("\n", 1)[1])
    q = dict(zip(joint_names(link), random_q(link, 1)))
    T = np.eye(4)
    from pliant import lie

    for joint in root.findall("joint"):
        if joint.get("type") == "fixed":
            continue
        xyz, rpy = (np.array(joint.find("origin").get(k).split(), float) for k in ("xyz", "rpy"))
        R = lie.exp([0, 0, rpy[2]]) @ lie.exp([0, rpy[1], 0]) @ lie.exp([rpy[0], 0, 0])
        T = T @ lie.frame(R, xyz)
        axis = np.array(joint.find("axis").get("xyz").split(), float)
        value = q[joint.get("name")]
        if joint.get("type") == "prismatic":
            T = T @ lie.frame(np.eye(3), axis * value)
        else:
            T = T @ lie.frame(lie.exp(axis * value), np.zeros(3))
    tip = link.frames(random_q(link, 1))[-1]
    assert np.abs(T - tip).max() < 1e-9
    total = sum(float(m.get("value")) for m in root.iter("mass"))
    assert total == pytest.approx(6.3, rel=0.01)
    assert save_urdf(link, tmp_path / "arm.urdf").exists()
