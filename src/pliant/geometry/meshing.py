"""Tet meshes of signed-distance shapes and of watertight surfaces, without any interactive tool."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, MeshError, MissingExtraError
from pliant.geometry import topology
from pliant.geometry.mesh import TetMesh
from pliant.geometry.quality import volume_length_quality
from pliant.geometry.repair import without_chips
from pliant.geometry.shapes import Shape, positive
from pliant.geometry.smoothing import improve
from pliant.geometry.stuffing import Lattice, sign_topology, stuff
from pliant.geometry.surface import SurfaceShape

_SHIFTS = (0.0, 0.5, 0.25)  # where else to put the lattice when the first place gives a pinched surface


@dataclass(frozen=True)
class MeshFit:
    """How well a mesh follows the shape it was made from.

    Attributes:
        shape_volume: volume of the shape by sampling [m^3].
        mesh_volume: volume of the mesh [m^3].
        volume_error: mesh over shape, minus one.
        largest_deviation: largest |distance| of a boundary node, edge midpoint or triangle centre [m].
    """

    shape_volume: float
    mesh_volume: float
    volume_error: float
    largest_deviation: float


def mesh_shape(
    shape: Shape,
    size: float,
    *,
    cavities: Mapping[str, Shape] | None = None,
    regions: Mapping[str, Shape] | None = None,
    optimise: bool = True,
    features: bool = True,
    check: bool = True,
) -> TetMesh:
    """A conforming tet mesh of a shape; the same input gives the same mesh.

    Args:
        shape: the body. Its bounds must be finite.
        size: wanted edge length [m]. Walls and gaps should be at least 1.6 sizes thick; thinner ones often
            cannot be resolved and are then refused.
        cavities: name -> shape of a chamber. Each is subtracted from the body; its closed wall is stored
            under the name.
        regions: name -> shape; the tets whose centre it holds form the region.
        optimise: raise the worst element qualities after stuffing.
        features: let surface vertices slide to sharp edges and corners.
        check: compare parts and holes with finer lattices, and refuse a size that loses a thin wall, closes a
            gap or breaks a part off.

    Raises:
        MeshError: the size cannot resolve the shape; the message names one that can.
    """
    if not isinstance(shape, Shape):
        raise ArgumentError("shape", f"is a {type(shape).__name__}", "a Shape")
    size = positive("size", size)
    cavities, regions = dict(cavities or {}), dict(regions or {})
    for label, shapes in (("cavities", cavities), ("regions", regions)):
        for name, part in shapes.items():
            if not isinstance(part, Shape):
                raise ArgumentError(f"{label}[{name!r}]", f"is a {type(part).__name__}", "a Shape")
    body = shape
    for part in cavities.values():
        body = body - part
    bounds = np.asarray(body.bounds, dtype=float)
    if not np.isfinite(bounds).all() or (bounds[1] <= bounds[0]).any():
        raise ArgumentError(
            "shape", f"has bounds {bounds.tolist()}", "a finite body; intersect it with a Box"
        )

    mesh, problem = _attempt(body, bounds, size, check)
    if mesh is None:
        advice = _advice(body, bounds, size, check)
        raise MeshError(f"a size of {size:g} m cannot resolve this shape: {problem}. {advice}")
    if optimise or features:
        nodes = improve(body, mesh.nodes, mesh.tets, size, features=features, rounds=5 if optimise else 0)
        mesh = replace(mesh, nodes=nodes)
    mesh = _name_cavities(mesh, cavities, size)
    for name, part in regions.items():
        mesh = mesh.with_region(name, part)
    return mesh


def _attempt(body: Shape, bounds: np.ndarray, size: float, check: bool) -> tuple[TetMesh | None, str]:
    """A sound stuffed mesh, or None and what was wrong."""
    empty = np.zeros((0, 8), dtype=np.int64)
    references: list[tuple[int, int]] = []
    problem = ""
    for shift in _SHIFTS:
        try:
            nodes, tets, _ = stuff(body, Lattice.around(bounds, size, shift))
            nodes, tets, _ = without_chips(nodes, tets)
        except MeshError as error:
            problem = str(error)
            continue
        boundary = topology.boundary_faces(tets, empty, len(nodes))[0]
        if len(topology.open_edges(boundary)) or len(topology.pinched_nodes(boundary)):
            problem = "walls or gaps are so thin that the surface touches itself"
            continue
        if (volume_length_quality(nodes, tets) < 1e-3).any():
            problem = "thin features turn elements over"
            continue
        if check:
            labels = topology.node_components(tets, empty, len(nodes))
            found = (int(labels.max()) + 1, topology.euler_characteristic(boundary) // 2)
            # Sharp grooves flicker on any lattice: agreement with one of the finer ones is enough.
            for i, finer in enumerate((2.0, 3.0, 1.5)):
                if len(references) == i:
                    references.append(sign_topology(body, Lattice.around(bounds, size / finer)))
                if found in references:
                    break
            if found not in references:
                problem = (
                    f"the mesh has {found[0]} parts and Euler characteristic {found[1]}, at half the size it "
                    f"has {references[0][0]} and {references[0][1]}: thin walls, gaps or holes are lost"
                )
                continue
        return TetMesh(nodes, tets), ""
    return None, problem


def _advice(body: Shape, bounds: np.ndarray, size: float, check: bool) -> str:
    """A sentence naming a size that was tried and works, if one is near."""
    for factor in (1.25, 1.6, 2.0, 2.5, 3.2, 4.0, 6.0):
        count = np.prod((bounds[1] - bounds[0]) / (size / factor) + 3) * (18 if check else 2)
        if count > 6e6:
            return f"Try less than {size / factor * 1.2:.2g} m"
        if _attempt(body, bounds, size / factor, check)[0] is not None:
            return f"A size of {size / factor:.3g} m works"
    return f"Try less than {size / 6.0:.2g} m, or thicken the thinnest wall"


def _name_cavities(mesh: TetMesh, cavities: Mapping[str, Shape], size: float) -> TetMesh:
    found = mesh.find_cavities() if cavities else []
    for name, part in cavities.items():
        mine = [tri for tri in found if np.abs(part.distance(mesh.nodes[np.unique(tri)])).max() < 0.3 * size]
        if not mine:
            raise MeshError(
                f"cavity {name!r} is not a closed chamber inside the body: it opens to the outside, "
                f"overlaps another cavity, lies outside the body, or is smaller than the size of {size:g} m"
            )
        mesh = mesh.with_cavity(name, np.concatenate(mine))
    return mesh


def mesh_fit(mesh: TetMesh, shape: Shape, *, samples: int = 200_000) -> MeshFit:
    """Compare a mesh with a shape: volume and surface deviation.

    Args:
        mesh: the mesh.
        shape: what it stands for, body minus cavities.
        samples: points at which the volume of the shape is measured.
    """
    bounds = np.asarray(shape.bounds, dtype=float)
    if not np.isfinite(bounds).all():
        raise ArgumentError("shape", "is unbounded", "a finite body")
    extent = bounds[1] - bounds[0]
    step = float(np.cbrt(extent.prod() / samples))
    count = np.maximum(np.ceil(extent / step).astype(int), 1)
    cell = extent / count
    axes = [bounds[0, i] + (np.arange(count[i]) + 0.5) * cell[i] for i in range(3)]
    points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
    d, g = shape.evaluate(points)
    # The part of a cell behind a plane, to first order in the plane's distance.
    width = np.abs(g) @ cell / np.maximum(np.linalg.norm(g, axis=1), 1e-12)
    volume = float(np.clip(0.5 - d / width, 0.0, 1.0).sum() * cell.prod())
    x = mesh.nodes[mesh.boundary()]
    probes = np.concatenate([x.mean(axis=1), *(0.5 * (x[:, i] + x[:, i - 1]) for i in range(3)), x[:, 0]])
    return MeshFit(
        volume, mesh.volume, mesh.volume / volume - 1.0, float(np.abs(shape.distance(probes)).max())
    )


def mesh_surface(
    surface: str | Path | tuple[Any, Any] | SurfaceShape,
    size: float,
    *,
    units: str = "m",
    method: str = "stuffing",
    **options: Any,
) -> TetMesh:
    """A tet mesh of the inside of a watertight surface.

    Args:
        surface: path of an STL, OBJ or PLY file, or (vertices (n, 3) [m], triangles (k, 3)).
        size: wanted edge length [m].
        units: "m" or "mm", the unit of the file.
        method: "stuffing" (built in) or "tetwild" (needs the package pytetwild; keeps sharp edges better,
            but its mesh differs a little from run to run).
        options: passed on to `mesh_shape` (cavities, regions, optimise, features, check).
    """
    size = positive("size", size)
    if isinstance(surface, (str, Path)):
        from pliant.geometry.files import read_surface

        surface = read_surface(surface, units=units)
    if isinstance(surface, tuple):
        if len(surface) != 2:
            raise ArgumentError("surface", f"has {len(surface)} items", "(vertices, triangles) or a path")
        surface = SurfaceShape(*surface)
    if not isinstance(surface, SurfaceShape):
        raise ArgumentError("surface", f"is a {type(surface).__name__}", "a path or (vertices, triangles)")
    if method == "stuffing":
        return mesh_shape(surface, size, **options)
    if method != "tetwild":
        raise ArgumentError("method", f"is {method!r}", "'stuffing' or 'tetwild'")
    if options:
        raise ArgumentError("options", f"{sorted(options)} do not apply to method 'tetwild'", "no options")
    try:
        import pytetwild
    except ImportError:
        raise MissingExtraError("pytetwild", "mesh") from None
    diagonal = float(np.linalg.norm(np.ptp(surface.vertices, axis=0)))
    nodes, tets = pytetwild.tetrahedralize(
        np.array(surface.vertices, order="C"),
        np.array(surface.triangles, dtype=np.int32, order="C"),
        edge_length_fac=min(size / diagonal, 0.5),
        quiet=True,
    )[:2]
    nodes = np.asarray(nodes, dtype=float)
    return TetMesh(nodes, topology.oriented(nodes, np.asarray(tets, dtype=np.int64))).compacted().validate()
