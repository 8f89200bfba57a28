"""Export an arm as a MuJoCo model: slide - hinges - slide per segment, springs, dampers, actuators as fixed
tendons.

The twist of a constant-velocity joint depends on its angles and cannot be written in MJCF: segments are
exported with
universal joints, and a torsion hinge if the model has one. An actuator is a fixed tendon whose coefficients
are the model's
displacement rows, so that its generalised force is that of the model.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pliant import lie
from pliant.errors import MissingExtraError
from pliant.models.link import LinkModel

Array = np.ndarray


def joint_names(link: LinkModel) -> list[str]:
    """Names of the joints in the order of q."""
    kinds = ("d1", "theta1", "theta2", "d2", "twist")[: link.nq // link.segments]
    return [f"s{i + 1}_{kind}" for i in range(link.segments) for kind in kinds]


def to_mujoco(link: LinkModel, *, timestep: float = 2e-3) -> str:
    """The arm as MJCF text; joint coordinates are those of the model (slides are lengths)."""
    root = ElementTree.Element("mujoco", model=link.robot.name)
    ElementTree.SubElement(root, "compiler", angle="radian", autolimits="true")
    ElementTree.SubElement(
        root, "option", timestep=f"{timestep:g}", gravity=_numbers(link.robot.gravity), integrator="implicitfast"
    )
    world = ElementTree.SubElement(root, "worldbody")
    parent, at = world, np.eye(4)
    names, rest = joint_names(link), link.rest
    spring, damping = link.joint_stiffness, np.diag(link.damping(rest, np.zeros(link.nu)))
    width = link.nq // link.segments
    attached = iter(zip(link._attach_R, link._attach_p))
    for i in range(link.segments):
        if link._attach[5 * i] >= 0:
            R, p = next(attached)
            at = lie.frame(R, p)
        length, o = float(link.lengths[i]), width * i
        masses = [k for k in range(len(link._mass)) if link._joint_of[k] // 5 == i]
        radius = float(link.skin.radius[2 * i])

        def joint(body: Any, index: int, kind: str, axis: str) -> None:
            ElementTree.SubElement(
                body, "joint", name=names[index], type=kind, axis=axis, stiffness=f"{spring[index]:.12g}",
                springref=f"{rest[index]:.12g}", damping=f"{damping[index]:.12g}",
            )  # fmt: skip

        first = ElementTree.SubElement(
            parent, "body", name=f"s{i + 1}_a", pos=_numbers(at[:3, 3]),
            quat=_numbers(lie.quaternion_from_matrix(at[:3, :3])),
        )  # fmt: skip
        joint(first, o, "slide", "0 0 1")
        _inertial(first, link, masses[0], -0.25 * length)
        _capsule(first, radius, -0.5 * length)
        hinge = ElementTree.SubElement(first, "body", name=f"s{i + 1}_b")
        joint(hinge, o + 1, "hinge", "0 1 0")
        joint(hinge, o + 2, "hinge", "1 0 0")
        if width == 5:
            joint(hinge, o + 4, "hinge", "0 0 1")
        small = 1e-3 * float(link._mass[masses[0]])
        ElementTree.SubElement(
            hinge, "inertial", pos="0 0 0", mass=f"{small:.6g}", diaginertia=_numbers([1e-2 * small * length**2] * 3)
        )
        last = ElementTree.SubElement(hinge, "body", name=f"s{i + 1}_c")
        joint(last, o + 3, "slide", "0 0 1")
        _inertial(last, link, masses[1], -0.25 * length, masses[2:])
        _capsule(last, radius, -0.5 * length)
        ElementTree.SubElement(last, "site", name=f"frame{i + 1}", pos="0 0 0", size="0.002")
        parent, at = last, np.eye(4)
    _actuators(root, link, names)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def save_mujoco(link: LinkModel, path: str | Path, **options: Any) -> Path:
    """Write the MJCF file; returns its path."""
    path = Path(path)
    path.write_text(to_mujoco(link, **options))
    return path


def load_mujoco(link: LinkModel, **options: Any) -> Any:
    """The arm as a compiled mujoco.MjModel with the arm's rest pose as its first keyframe's (extra
    "mujoco")."""
    try:
        import mujoco
    except ImportError as error:  # pragma: no cover
        raise MissingExtraError("mujoco", "mujoco") from error
    return mujoco.MjModel.from_xml_string(to_mujoco(link, **options))


def _actuators(root: Any, link: LinkModel, names: list[str]) -> None:
    if not link.nu:
        return
    rows = link.displacement_rows(link.rest)
    tendons, motors = ElementTree.SubElement(root, "tendon"), ElementTree.SubElement(root, "actuator")
    for a, row in zip(link.robot.actuators, rows):
        tendon = ElementTree.SubElement(tendons, "fixed", name=a.name)
        for name, coefficient in zip(names, row):
            if coefficient:
                ElementTree.SubElement(tendon, "joint", joint=name, coef=f"{coefficient:.12g}")
        low, high = a.effort_limits
        limits: dict[str, Any] = {"ctrlrange": f"{low:g} {high:g}"} if np.isfinite([low, high]).all() else {}
        ElementTree.SubElement(motors, "motor", name=a.name, tendon=a.name, gear="1", **limits)


def _inertial(body: Any, link: LinkModel, k: int, z: float, payloads: list[int] | None = None) -> None:
    mass, turn, axial = float(link._mass[k]), float(link._transverse[k]), float(link._axial[k])
    load = sum(float(link._mass[j]) for j in payloads or [])
    total = mass + load
    centre = mass * z / total
    turn += mass * (z - centre) ** 2 + load * centre**2
    ElementTree.SubElement(
        body, "inertial", pos=f"0 0 {centre:.12g}", mass=f"{total:.12g}", diaginertia=_numbers([turn, turn, axial])
    )


def _capsule(body: Any, radius: float, z: float) -> None:
    ElementTree.SubElement(
        body, "geom", type="capsule", size=f"{radius:.6g}", fromto=f"0 0 {z:.6g} 0 0 0", contype="0", conaffinity="0",
        mass="0",
    )  # fmt: skip


def _numbers(values: Any) -> str:
    return " ".join(f"{float(v):.12g}" for v in values)
