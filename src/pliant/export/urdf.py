"""Export an arm as URDF: a chain of prismatic and revolute joints (no springs or tendons: URDF has none).

Joint values are those of the link model less nothing: slides are lengths, hinges are angles.
Constant-velocity joints are
written as universal joints (see `pliant.export.mujoco`).
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pliant.export.mujoco import joint_names
from pliant.models.link import LinkModel


def to_urdf(link: LinkModel, *, travel: float = 0.5, angle: float = 1.5) -> str:
    """The arm as URDF text.

    Args:
        link: the arm.
        travel: allowed change of a slide, over its rest length.
        angle: allowed angle of a hinge [rad].
    """
    root = ElementTree.Element("robot", name=link.robot.name)
    ElementTree.SubElement(root, "link", name="base")
    names, width = joint_names(link), link.nq // link.segments
    damping = np.diag(link.damping(link.rest, np.zeros(link.nu)))
    parent = "base"
    for i in range(link.segments):
        o = width * i
        origin = (np.eye(3), np.zeros(3))
        if link._attach[5 * i] >= 0:
            k = int(link._attach[5 * i])
            origin = (link._attach_R[k], link._attach_p[k])
        order = [(o, "prismatic", "0 0 1"), (o + 1, "revolute", "0 1 0"), (o + 2, "revolute", "1 0 0")]
        if width == 5:
            order.append((o + 4, "revolute", "0 0 1"))
        order.append((o + 3, "prismatic", "0 0 1"))
        masses = [k for k in range(len(link._mass)) if link._joint_of[k] // 5 == i]
        for index, kind, axis in order:
            child = f"{names[index]}_link"
            joint = ElementTree.SubElement(root, "joint", name=names[index], type=kind)
            ElementTree.SubElement(joint, "parent", link=parent)
            ElementTree.SubElement(joint, "child", link=child)
            R, p = origin
            ElementTree.SubElement(joint, "origin", xyz=_numbers(p), rpy=_numbers(_roll_pitch_yaw(R)))
            ElementTree.SubElement(joint, "axis", xyz=axis)
            rest = float(link.rest[index])
            low, high = (rest * (1 - travel), rest * (1 + travel)) if kind == "prismatic" else (-angle, angle)
            ElementTree.SubElement(joint, "limit", lower=f"{low:g}", upper=f"{high:g}", effort="1000", velocity="100")
            ElementTree.SubElement(joint, "dynamics", damping=f"{damping[index]:.9g}", friction="0")
            origin = (np.eye(3), np.zeros(3))
            body = ElementTree.SubElement(root, "link", name=child)
            if kind == "prismatic":
                k = masses[0] if index == o else masses[1]
                _inertial(body, float(link._mass[k]), -0.25 * link.lengths[i], link._transverse[k], link._axial[k])
            else:
                small = 1e-3 * float(link._mass[masses[0]])
                _inertial(body, small, 0.0, 1e-2 * small * link.lengths[i] ** 2, 1e-2 * small * link.lengths[i] ** 2)
            parent = child
        for k in masses[2:]:
            load = ElementTree.SubElement(root, "link", name=f"payload{i + 1}")
            _inertial(load, float(link._mass[k]), 0.0, 1e-9, 1e-9)
            joint = ElementTree.SubElement(root, "joint", name=f"payload{i + 1}_joint", type="fixed")
            ElementTree.SubElement(joint, "parent", link=parent)
            ElementTree.SubElement(joint, "child", link=f"payload{i + 1}")
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode")


def save_urdf(link: LinkModel, path: str | Path, **options: Any) -> Path:
    """Write the URDF file; returns its path."""
    path = Path(path)
    path.write_text(to_urdf(link, **options))
    return path


def _inertial(body: Any, mass: float, z: float, turn: float, axial: float) -> None:
    inertial = ElementTree.SubElement(body, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=f"0 0 {z:.9g}", rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=f"{mass:.9g}")
    ElementTree.SubElement(
        inertial, "inertia", ixx=f"{turn:.9g}", iyy=f"{turn:.9g}", izz=f"{axial:.9g}", ixy="0", ixz="0", iyz="0"
    )


def _roll_pitch_yaw(R: np.ndarray) -> tuple[float, float, float]:
    pitch = float(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))
    if abs(R[2, 0]) > 1.0 - 1e-9:
        return float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))


def _numbers(values: Any) -> str:
    return " ".join(f"{float(v):.12g}" for v in values)
