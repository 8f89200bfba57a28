"""Export an arm as a MuJoCo model: links with springs, dampers and tendons.

A `LinkModel` becomes slide - hinges - slide per segment. The twist of a constant-velocity joint depends on its angles
and cannot be written in MJCF: segments are exported with universal joints, and a torsion hinge if the model has one. An
actuator is a fixed tendon whose coefficients are the model's displacement rows, so that its generalised force is that
of the model.

A `RodModel` becomes a chain of many links (see `pliant.export.chain`) with spatial tendons through sites. Cables take
tensions [N] as controls, chambers pressures [Pa], whatever their drive is here.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np

from pliant import lie
from pliant.errors import ArgumentError, MissingExtraError
from pliant.export.chain import Link, rod_chain
from pliant.models.link import LinkModel
from pliant.models.rod import RodModel

Array = np.ndarray


def joint_names(link: LinkModel) -> list[str]:
    """Names of the joints in the order of q."""
    kinds = ("d1", "theta1", "theta2", "d2", "twist")[: link.nq // link.segments]
    return [f"s{i + 1}_{kind}" for i in range(link.segments) for kind in kinds]


def to_mujoco(model: LinkModel | RodModel, *, timestep: float = 2e-3, links: int = 20) -> str:
    """The arm as MJCF text.

    Args:
        model: a link model (joint coordinates are those of the model; slides are lengths) or a rod model.
        timestep: of MuJoCo [s].
        links: elements per rod (rod models).
    """
    if not isinstance(model, LinkModel | RodModel):
        raise ArgumentError("model", f"{type(model).__name__} is not exported", "a LinkModel or a RodModel")
    root = ElementTree.Element("mujoco", model=model.robot.name)
    ElementTree.SubElement(root, "compiler", angle="radian", autolimits="true")
    ElementTree.SubElement(
        root, "option", timestep=f"{timestep:g}", gravity=_numbers(model.robot.gravity), integrator="implicitfast"
    )
    world = ElementTree.SubElement(root, "worldbody")
    if isinstance(model, RodModel):
        _rods(root, world, model, links)
    else:
        _segments(root, world, model)
    ElementTree.indent(root)
    return ElementTree.tostring(root, encoding="unicode")


def _segments(root: Any, world: Any, link: LinkModel) -> None:
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


def _rods(root: Any, world: Any, model: RodModel, links: int) -> None:
    """Bodies, sites, spatial tendons and motors of a chain of links."""
    chain = rod_chain(model, links=links)
    bodies = {"": world}
    relaxed: list[float] = []
    for link in chain.links:
        body = bodies[link.name] = ElementTree.SubElement(
            bodies[link.parent], "body", name=link.name, pos=_numbers(link.pose[:3, 3]),
            quat=_numbers(lie.quaternion_from_matrix(link.pose[:3, :3])),
        )  # fmt: skip
        for joint in link.joints:
            spring: dict[str, Any] = {"axis": _numbers(joint.axis)} if joint.kind != "ball" else {}
            if joint.stiffness:
                spring |= {"stiffness": f"{joint.stiffness:.12g}", "springref": f"{joint.rest:.12g}"}
            ElementTree.SubElement(
                body, "joint", name=joint.name, type=joint.kind, damping=f"{joint.damping:.12g}", **spring
            )
            relaxed += [1.0, 0.0, 0.0, 0.0] if joint.kind == "ball" else [joint.rest]
        along, across = link.inertia
        ElementTree.SubElement(
            body, "inertial", pos=_numbers([link.centre, 0, 0]), mass=f"{link.mass:.12g}",
            diaginertia=_numbers([along, across, across]),
        )  # fmt: skip
        _geom(body, link)
    for rod in model.layout.bodies:
        last = next(x for x in reversed(chain.links) if x.name.rsplit("_", 1)[0] == rod.name)
        ElementTree.SubElement(
            bodies[last.name], "site", name=f"{rod.name}.tip", pos=_numbers([last.length, 0, 0]), size="0.002"
        )
    if chain.routes:
        tendons, motors = ElementTree.SubElement(root, "tendon"), ElementTree.SubElement(root, "actuator")
        for route in chain.routes:
            tendon = ElementTree.SubElement(tendons, "spatial", name=route.actuator.name, width="0.001")
            for i, (name, place) in enumerate(route.places):
                site = f"{route.actuator.name}_{i}"
                ElementTree.SubElement(bodies[name], "site", name=site, pos=_numbers(place), size="0.001")
                ElementTree.SubElement(tendon, "site", site=site)
            _motor(motors, route.actuator, route.gear)
    if any(relaxed):
        frame = ElementTree.SubElement(root, "keyframe")
        ElementTree.SubElement(frame, "key", name="rest", qpos=_numbers(relaxed))


def _geom(body: Any, link: Link) -> None:
    ElementTree.SubElement(
        body, "geom", type="capsule", size=f"{link.radius:.6g}", fromto=f"0 0 0 {link.length:.6g} 0 0", contype="0",
        conaffinity="0", mass="0",
    )  # fmt: skip


def _motor(motors: Any, actuator: Any, gear: float) -> None:
    low, high = actuator.effort_limits
    limits: dict[str, Any] = {"ctrlrange": f"{low:g} {high:g}"} if np.isfinite([low, high]).all() else {}
    ElementTree.SubElement(
        motors, "motor", name=actuator.name, tendon=actuator.name, gear=f"{gear:.12g}", **limits
    )


def save_mujoco(model: LinkModel | RodModel, path: str | Path, **options: Any) -> Path:
    """Write the MJCF file; options as in `to_mujoco`; returns its path."""
    path = Path(path)
    path.write_text(to_mujoco(model, **options))
    return path


def load_mujoco(model: LinkModel | RodModel, **options: Any) -> Any:
    """The arm as a compiled mujoco.MjModel; options as in `to_mujoco` (extra "mujoco")."""
    try:
        import mujoco
    except ImportError as error:  # pragma: no cover
        raise MissingExtraError("mujoco", "mujoco") from error
    return mujoco.MjModel.from_xml_string(to_mujoco(model, **options))


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
        _motor(motors, a, 1.0)


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
