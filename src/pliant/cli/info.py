"""Say what a robot is made of: bodies, materials, actuators, points, mesh quality, sources.

examples:
  pliant info finger
  pliant info trunk --with sections=14
  pliant info my_robot/           a folder with a robot.toml
  pliant info finger --save f/    write the robot to a folder, to edit it
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from pliant.cli.console import emit, position, quantity, table
from pliant.cli.inputs import add_robot, load_robot

if TYPE_CHECKING:
    from pliant.robot import Robot


def configure(parser: argparse.ArgumentParser) -> None:
    """ROBOT and where to save it."""
    add_robot(parser)
    parser.add_argument("--save", metavar="FOLDER", help="also write the robot there (robot.toml and meshes)")


def run(args: argparse.Namespace) -> int:
    """Print the description."""
    robot = load_robot(args)
    data = describe(robot)
    lines = _lines(robot, data)
    if args.save:
        path = robot.save(args.save)
        data["saved"] = str(path)
        lines += ["", f"saved to {path}"]
    emit(args, data, lines)
    return 0


def describe(robot: Robot) -> dict[str, Any]:
    """The description as plain values."""
    from pliant.bodies import RodBody, SoftBody

    bodies = []
    for body in robot.bodies:
        entry: dict[str, Any] = {"name": body.name}
        if isinstance(body, SoftBody):
            mesh, quality = body.mesh, body.mesh.quality()
            entry |= {
                "kind": "soft", "nodes": len(mesh.nodes), "tets": len(mesh.tets), "hexes": len(mesh.hexes),
                "volume": mesh.volume, "bounds": mesh.bounds, "material": body.material.to_dict(),
                "young": body.material.young, "poisson": body.material.poisson,
                "regions": list(mesh.regions), "node_sets": list(mesh.node_sets),
                "surfaces": list(mesh.surfaces),
                "cavities": {c: mesh.cavity_volume(c) for c in mesh.cavities},
                "smallest_quality": quality.smallest_quality, "mean_quality": quality.mean_quality,
                "problems": list(quality.problems),
            }  # fmt: skip
        elif isinstance(body, RodBody):
            entry |= {
                "kind": "rod",
                "length": body.length,
                "radius": body.radius,
                "material": body.material.to_dict(),
            }
        else:
            entry |= {"kind": "rigid", "vertices": len(body.vertices), "mass": body.mass}
        bodies.append(entry)
    return {
        "name": robot.name,
        "source": robot.source,
        "gravity": robot.gravity,
        "bodies": bodies,
        "fixations": [{"body": f.body, "nodes": f.nodes, "axes": f.axes} for f in robot.fixations],
        "rigid": [r.name for r in robot.rigid],
        "actuators": [
            {**a.to_dict(), "drive": a.drive, "unit": a.unit, "limits": a.limits} for a in robot.actuators
        ],
        "points": {p.name: p.position for p in robot.points},
        "sensors": [s.name for s in robot.sensors],
        "units": {
            **{k: "m" for k in ("points", "bounds", "length", "radius")},
            **{k: "m^3" for k in ("volume", "cavities")},
            **{"gravity": "m/s^2", "young": "Pa", "density": "kg/m^3", "mass": "kg"},
        },
    }


def _lines(robot: Robot, data: dict[str, Any]) -> list[str]:
    lines = [robot.name, ""]
    for b in data["bodies"]:
        if b["kind"] == "soft":
            low, high = 1e3 * b["bounds"]
            size = " x ".join(f"{v:.1f}" for v in high - low)
            hexes = f", {b['hexes']} hexes" if b["hexes"] else ""
            lines.append(
                f"body {b['name']}: {size} mm, {b['nodes']} nodes, {b['tets']} tets{hexes}, "
                f"{quantity(b['volume'], 'm^3')}"
            )
            law = b["material"]["law"]
            lines.append(f"  material {law}: Young {quantity(b['young'], 'Pa')}, Poisson {b['poisson']:.4g}, "
                         f"{b['material']['density']:.4g} kg/m^3")  # fmt: skip
            if b["cavities"]:
                lines.append(
                    "  cavities " + ", ".join(f"{c} ({quantity(v, 'm^3')})" for c, v in b["cavities"].items())
                )
            if b["tets"]:
                lines.append(
                    f"  mesh quality {b['smallest_quality']:.2f} (worst), {b['mean_quality']:.2f} (mean)"
                )
            lines += [f"  note: {p}" for p in b["problems"]]
        elif b["kind"] == "rod":
            lines.append(f"body {b['name']}: rod, {quantity(b['length'], 'm')} long")
        else:
            lines.append(f"body {b['name']}: rigid, {b['mass']:.4g} kg")
    for f in robot.fixations:
        lines.append(f"held: nodes {f.nodes!r} in {f.axes}")
    if robot.rigid:
        lines.append("rigid parts: " + ", ".join(r.name for r in robot.rigid))
    rows = [
        (a.name, a.kind, a.drive, f"{quantity(a.limits[0], a.unit)} to {quantity(a.limits[1], a.unit)}")
        for a in robot.actuators
    ]
    if rows:
        lines += ["", *table(rows, head=("actuator", "kind", "driven by", "range"))]
    if robot.points:
        lines += [
            "",
            *table([(p.name, position(p.position)) for p in robot.points], head=("point", "at rest")),
        ]
    if robot.source:
        lines += ["", f"source: {robot.source}"]
    return lines
