"""Make a tetrahedral mesh of a shape or a closed surface, or judge a mesh that exists.

The input is a surface file (STL, OBJ, PLY), a volume mesh (VTU, VTK, MSH: only judged), or a shape with its
numbers in m: box:LX,LY,LZ  sphere:R  cylinder:R,LENGTH  cone:R1,R2,LENGTH  torus:MAJOR,MINOR  ellipsoid:A,B,C
 bellow:LENGTH,RADIUS,DEPTH

examples:
  pliant mesh hand.stl --units mm --size 0.004 --out hand.vtu
  pliant mesh cylinder:0.01,0.1 --size 0.004 --out rod.vtu
  pliant mesh body.vtu                          quality report
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from pliant.cli.console import emit, quantity
from pliant.cli.inputs import FARTHEST, check_output
from pliant.errors import ArgumentError, UnknownNameError

SURFACES, VOLUMES = (".stl", ".obj", ".ply"), (".vtu", ".vtk", ".msh")
WRITTEN = (*VOLUMES, ".stl")
_NUMBERS = {"box": 3, "sphere": 1, "cylinder": 2, "cone": 3, "torus": 2, "ellipsoid": 3, "bellow": 3}


def configure(parser: argparse.ArgumentParser) -> None:
    """The input, the size and the output."""
    parser.add_argument(
        "source", metavar="FILE|SHAPE", help="surface or volume file, or a shape such as box:0.1,0.02,0.02"
    )
    parser.add_argument(
        "--size", type=float, metavar="M", help="wanted edge length [m]; default: a tenth of the extent"
    )
    parser.add_argument("--units", default="m", choices=("m", "mm"), help="unit of the file (default: m)")
    parser.add_argument(
        "--method", default="stuffing", choices=("stuffing", "tetwild"), help="how surfaces are meshed"
    )
    parser.add_argument(
        "--out", metavar="FILE", help="write the mesh: .vtu, .vtk, .msh (or .stl: its surface)"
    )


def run(args: argparse.Namespace) -> int:
    """Mesh and report the quality; 1 if the mesh cannot be simulated."""
    from pliant.geometry import mesh_shape, mesh_surface, read_mesh, read_surface, write_mesh

    check_output("--out", args.out, *WRITTEN)
    path = Path(args.source)
    ending = path.suffix.lower()
    if ending in VOLUMES:
        mesh = read_mesh(path, units=args.units)
    elif ending in SURFACES:
        vertices, triangles = read_surface(path, units=args.units)
        size = args.size if args.size is not None else float((vertices.max(axis=0) - vertices.min(axis=0)).max()) / 10
        mesh = mesh_surface((vertices, triangles), size, method=args.method)
    else:
        shape = parse_shape(args.source)
        low, high = shape.bounds
        mesh = mesh_shape(shape, args.size if args.size is not None else float(max(high - low)) / 10)
    quality = mesh.quality()
    data: dict[str, Any] = {
        "nodes": len(mesh.nodes), "tets": len(mesh.tets), "hexes": len(mesh.hexes), "volume": mesh.volume,
        "bounds": mesh.bounds, "usable": quality.usable, "problems": list(quality.problems),
        "smallest_quality": quality.smallest_quality, "mean_quality": quality.mean_quality,
        "smallest_angle": quality.smallest_angle, "largest_angle": quality.largest_angle,
        "cavities": len(mesh.find_cavities()),
        "units": {"volume": "m^3", "bounds": "m", "smallest_angle": "deg", "largest_angle": "deg"},
    }  # fmt: skip
    low, high = mesh.bounds
    lines = [
        f"{len(mesh.nodes)} nodes, {len(mesh.tets)} tets, {quantity(mesh.volume, 'm^3')}, "
        + " x ".join(f"{1e3 * v:.4g}" for v in high - low) + " mm",
        f"dihedral angles {quality.smallest_angle:.1f} to {quality.largest_angle:.1f} degrees, quality "
        f"{quality.smallest_quality:.2f} (worst) {quality.mean_quality:.2f} (mean), 1 is best",
        f"cavities: {data['cavities']}",
        *(f"note: {p}" for p in quality.problems),
        "the mesh can be simulated" if quality.usable else "the mesh cannot be simulated",
    ]  # fmt: skip
    if args.out:
        data["file"] = str(write_mesh(mesh, args.out))
        lines.append(f"wrote {data['file']}")
    emit(args, data, lines)
    return 0 if quality.usable else 1


def parse_shape(text: str) -> Any:
    """A shape from KIND:NUMBERS, standing along +z where it has a direction."""
    from pliant import geometry as g

    kind, _, rest = text.partition(":")
    if kind not in _NUMBERS:
        raise UnknownNameError(
            "shape or mesh file", text, [*_NUMBERS, *(f"*{e}" for e in (*SURFACES, *VOLUMES))]
        )
    try:
        n = [float(v) for v in rest.split(",")]
    except ValueError:
        n = []
    if len(n) != _NUMBERS[kind] or not all(abs(v) <= FARTHEST for v in n):
        wanted = f"{_NUMBERS[kind]} numbers in m, up to {FARTHEST:g}, separated by commas"
        raise ArgumentError(kind, f"{rest!r}", wanted)
    o = (0.0, 0.0, 0.0)
    if kind == "box":
        return g.Box(tuple(-v / 2 for v in n), tuple(v / 2 for v in n))
    if kind == "sphere":
        return g.Sphere(o, n[0])
    if kind == "cylinder":
        return g.Cylinder(o, (0, 0, n[1]), n[0])
    if kind == "cone":
        return g.Cone(o, (0, 0, n[2]), n[0], n[1])
    if kind == "torus":
        return g.Torus(o, (0, 0, 1), n[0], n[1])
    if kind == "ellipsoid":
        return g.Ellipsoid(o, tuple(n))
    return g.Bellow(n[0], n[1], n[2])
