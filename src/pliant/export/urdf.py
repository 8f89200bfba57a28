"""Export an arm as URDF: a chain of prismatic and revolute joints (no springs or tendons: URDF has none).

Of a `LinkModel` the joint values are those of the model: slides are lengths, hinges are angles. Constant-velocity
joints are written as universal joints (see `pliant.export.mujoco`). A `RodModel` becomes a chain of many links
(`pliant.export.chain`); its joint values are strains times the element length.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pliant.errors import ArgumentError
from pliant.export.chain import rod_chain
from pliant.export.mujoco import joint_names
from pliant.models.link import LinkModel
from pliant.models.rod import RodModel


def to_urdf(model: LinkModel | RodModel, *, travel: float = 0.5, angle: float = 1.5, links: int = 20) -> str:
    """The arm as URDF text.

    Args:
        model: a link or rod model.
        travel: allowed change of a slide, over its rest length (of a sliding base, in metres).
        angle: allowed angle of a hinge [rad].
        links: elements per rod (rod models).
    """
    if not isinstance(model, LinkModel | RodModel):
        raise ArgumentError("model", f"{type(model).__name__} is not exported", "a LinkModel or a RodModel")
    root = ElementTree.Element("robot", name=model.robot.name)
    ElementTree.SubElement(root, "link", name="base")
    if isinstance(model, RodModel):
        _rods(root, model, travel, angle, links)
    else:
        _segments(root, model, travel, angle)
    ElementTree.indent(root)
    return '<?xml version="1.0"?>\n' + ElementTree.tostring(root, encoding="unicode")


def _rods(root: Any, model: RodModel, travel: float, angle: float, links: int) -> None:
    for link in rod_chain(model, links=links).links:
        parent, origin = link.parent or "base", (link.pose[:3, :3], link.pose[:3, 3])
        if not link.joints:
            _joint(root, f"{link.name}_fixed", "fixed", parent, link.name, origin)
        for i, joint in enumerate(link.joints):
            if joint.kind == "ball":
                raise ArgumentError("model", f"the base of {link.name!r} turns: URDF has no ball joint", "held bases")
            child = link.name if i == len(link.joints) - 1 else f"{joint.name}_link"
            slide = joint.kind == "slide"
            reach = angle if not slide else travel * (link.length if joint.stiffness else 1.0)
            _joint(
                root, joint.name, "prismatic" if slide else "revolute", parent, child, origin, _numbers(joint.axis),
                (joint.rest - reach, joint.rest + reach), joint.damping,
            )  # fmt: skip
            parent, origin = child, (np.eye(3), np.zeros(3))
            if child != link.name:  # simulators refuse massless links
                small = 1e-6 * link.mass
                body = ElementTree.SubElement(root, "link", name=child)
                _inertial(body, small, (0.0, 0.0, 0.0), (small * link.length**2,) * 3)
        body = ElementTree.SubElement(root, "link", name=link.name)
        along, across = link.inertia
        _inertial(body, link.mass, (link.centre, 0.0, 0.0), (along, across, across))


def _joint(
    root: Any,
    name: str,
    kind: str,
    parent: str,
    child: str,
    origin: tuple[np.ndarray, np.ndarray],
    axis: str = "",
    limit: tuple[float, float] = (0.0, 0.0),
    damping: float = 0.0,
) -> None:
    joint = ElementTree.SubElement(root, "joint", name=name, type=kind)
    ElementTree.SubElement(joint, "parent", link=parent)
    ElementTree.SubElement(joint, "child", link=child)
    ElementTree.SubElement(joint, "origin", xyz=_numbers(origin[1]), rpy=_numbers(_roll_pitch_yaw(origin[0])))
    if kind != "fixed":
        ElementTree.SubElement(joint, "axis", xyz=axis)
        low, high = limit
        ElementTree.SubElement(joint, "limit", lower=f"{low:g}", upper=f"{high:g}", effort="1000", velocity="100")
        ElementTree.SubElement(joint, "dynamics", damping=f"{damping:.9g}", friction="0")


def _segments(root: Any, link: LinkModel, travel: float, angle: float) -> None:
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
            rest = float(link.rest[index])
            limit = (rest * (1 - travel), rest * (1 + travel)) if kind == "prismatic" else (-angle, angle)
            _joint(root, names[index], kind, parent, child, origin, axis, limit, float(damping[index]))
            origin = (np.eye(3), np.zeros(3))
            body = ElementTree.SubElement(root, "link", name=child)
            if kind == "prismatic":
                k = masses[0] if index == o else masses[1]
                across = float(link._transverse[k])
                place = (0.0, 0.0, -0.25 * float(link.lengths[i]))
                _inertial(body, float(link._mass[k]), place, (across, across, float(link._axial[k])))
            else:
                small = 1e-3 * float(link._mass[masses[0]])
                _inertial(body, small, (0.0, 0.0, 0.0), (1e-2 * small * float(link.lengths[i]) ** 2,) * 3)
            parent = child
        for k in masses[2:]:
            load = ElementTree.SubElement(root, "link", name=f"payload{i + 1}")
            _inertial(load, float(link._mass[k]), (0.0, 0.0, 0.0), (1e-9,) * 3)
            none = (np.eye(3), np.zeros(3))
            _joint(root, f"payload{i + 1}_joint", "fixed", parent, f"payload{i + 1}", none)


def save_urdf(model: LinkModel | RodModel, path: str | Path, **options: Any) -> Path:
    """Write the URDF file; options as in `to_urdf`; returns its path."""
    path = Path(path)
    path.write_text(to_urdf(model, **options))
    return path


def _inertial(body: Any, mass: float, place: tuple[float, ...], turn: tuple[float, ...]) -> None:
    inertial = ElementTree.SubElement(body, "inertial")
    ElementTree.SubElement(inertial, "origin", xyz=_numbers(place), rpy="0 0 0")
    ElementTree.SubElement(inertial, "mass", value=f"{mass:.9g}")
    x, y, z = (f"{v:.9g}" for v in turn)
    ElementTree.SubElement(inertial, "inertia", ixx=x, iyy=y, izz=z, ixy="0", ixz="0", iyz="0")


def _roll_pitch_yaw(R: np.ndarray) -> tuple[float, float, float]:
    pitch = float(np.arcsin(np.clip(-R[2, 0], -1.0, 1.0)))
    if abs(R[2, 0]) > 1.0 - 1e-9:
        return float(np.arctan2(-R[1, 2], R[1, 1])), pitch, 0.0
    return float(np.arctan2(R[2, 1], R[2, 2])), pitch, float(np.arctan2(R[1, 0], R[0, 0]))


def _numbers(values: Any) -> str:
    return " ".join(f"{float(v):.12g}" for v in values)
