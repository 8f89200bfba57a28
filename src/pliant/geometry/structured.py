"""Structured tet meshes: extrusions, cylinders, tubes, thick spheres."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.checks import count as count
from pliant.errors import ArgumentError
from pliant.geometry import topology
from pliant.geometry.mesh import TetMesh
from pliant.geometry.shapes import positive

_AXES = {"x": [2, 0, 1], "y": [1, 2, 0], "z": [0, 1, 2]}  # columns of (u, v, along) that give (x, y, z)


def _axis(axis: str) -> list[int]:
    if axis not in _AXES:
        raise ArgumentError("axis", f"is {axis!r}", "'x', 'y' or 'z'")
    return _AXES[axis]


def _radii(inner: float, outer: float) -> tuple[float, float]:
    inner, outer = positive("inner", inner), positive("outer", outer)
    if outer <= inner:
        raise ArgumentError("outer", f"is {outer:g} with inner {inner:g}", "outer greater than inner")
    return inner, outer


def _prism_tets(lower: np.ndarray, upper: np.ndarray) -> np.ndarray:
    """Split prisms lower[i] - upper[i] (k, 3); diagonals start at the lower node number, so they conform."""
    nxt = np.roll(lower, -1, axis=1)
    return topology.split_prisms(lower, upper, lower < nxt)


def extruded_mesh(points: Any, triangles: Any, levels: Any, *, axis: str = "z", keep: Any = None) -> TetMesh:
    """A plane triangulation swept along an axis.

    Args:
        points: (n, 2) [m].
        triangles: (k, 3).
        levels: (l + 1,) increasing positions along the axis [m].
        axis: "x", "y" or "z"; the plane's coordinates are the next two axes in cyclic order.
        keep: (l, k) booleans, which prisms exist (all by default).

    Node sets "start" and "end" hold the nodes of the first and last level.
    """
    plane, tri = np.asarray(points, dtype=float), np.asarray(triangles)
    heights = np.asarray(levels, dtype=float)
    if plane.ndim != 2 or plane.shape[1] != 2 or not np.isfinite(plane).all():
        raise ArgumentError("points", f"has shape {plane.shape} or is not finite", "(n, 2) [m]")
    if (
        tri.ndim != 2
        or tri.shape[1] != 3
        or tri.dtype.kind not in "iu"
        or tri.min() < 0
        or tri.max() >= len(plane)
    ):
        raise ArgumentError("triangles", f"has shape {tri.shape} or indices out of range", "(k, 3) integers")
    if heights.ndim != 1 or len(heights) < 2 or not (np.diff(heights) > 0.0).all():
        raise ArgumentError("levels", "is not increasing", "at least two increasing numbers [m]")
    columns = _axis(axis)
    n, layers = len(plane), len(heights) - 1
    mask = np.ones((layers, len(tri)), dtype=bool) if keep is None else np.asarray(keep, dtype=bool)
    if mask.shape != (layers, len(tri)):
        raise ArgumentError("keep", f"has shape {mask.shape}", f"({layers}, {len(tri)})")
    stacked = np.column_stack([np.tile(plane, (layers + 1, 1)), np.repeat(heights, n)])
    nodes = stacked[:, columns]
    lower = np.concatenate([tri[mask[i]] + i * n for i in range(layers)])
    tets = topology.oriented(nodes, _prism_tets(lower, lower + n))
    mesh = TetMesh(
        nodes, tets, node_sets={"start": np.arange(n), "end": np.arange(layers * n, (layers + 1) * n)}
    )
    return mesh.compacted()


def disc_triangulation(radii: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Concentric rings of 6 i points on radii[i-1], with the centre: (points (n, 2), triangles (k, 3))."""
    points, triangles, first = [np.zeros((1, 2))], [], [0]
    for i, r in enumerate(radii, start=1):
        angle = 2.0 * np.pi * np.arange(6 * i) / (6 * i)
        first.append(first[-1] + (1 if i == 1 else 6 * (i - 1)))
        points.append(r * np.stack([np.cos(angle), np.sin(angle)], axis=1))
    for i in range(1, len(radii) + 1):
        for side in range(6):
            for k in range(i):
                a, b = side * i + k, (side * i + k + 1) % (6 * i)
                inner = (side * (i - 1) + k) % max(6 * (i - 1), 1)
                triangles.append((first[i] + a, first[i] + b, first[i - 1] + inner))
                if k < i - 1:
                    nxt = (inner + 1) % (6 * (i - 1))
                    triangles.append((first[i] + b, first[i - 1] + nxt, first[i - 1] + inner))
    return np.concatenate(points), np.array(triangles)


def cylinder_mesh(
    radius: float, length: float, *, n_radial: int = 4, n_length: int = 16, axis: str = "x"
) -> TetMesh:
    """A solid cylinder from the origin along an axis; node sets "start" and "end", surface "side".

    Args:
        radius: of the cylinder [m].
        length: of the cylinder [m].
        n_radial: cells from the axis to the side.
        n_length: cells along the axis.
        axis: "x", "y" or "z".
    """
    radius, length = positive("radius", radius), positive("length", length)
    rings = radius * np.arange(1, count("n_radial", n_radial) + 1) / n_radial
    points, triangles = disc_triangulation(rings)
    levels = np.linspace(0.0, length, count("n_length", n_length) + 1)
    mesh = extruded_mesh(points, triangles, levels, axis=axis)
    cross = [i for i in range(3) if i != "xyz".index(axis)]
    rim = np.linalg.norm(mesh.nodes[:, cross], axis=1) > radius * (1.0 - 1e-9)
    return mesh.with_surface("side", lambda x: rim)


def cylinder_shell_mesh(
    inner: float,
    outer: float,
    length: float,
    *,
    n_radial: int = 4,
    n_around: int = 24,
    n_length: int = 4,
    angle: float = 2.0 * np.pi,
    axis: str = "z",
) -> TetMesh:
    """A thick-walled cylinder, open at both ends, or a sector of it.

    Args:
        inner: inner radius [m].
        outer: outer radius [m].
        length: length along the axis, from the origin [m].
        n_radial: cells through the wall.
        n_around: cells around.
        n_length: cells along the axis.
        angle: opening of the sector [rad]; 2 pi closes the ring.
        axis: "x", "y" or "z".

    Surfaces "inner" and "outer"; node sets "start", "end", and for a sector "first" (angle 0) and "last".
    """
    inner, outer = _radii(inner, outer)
    length = positive("length", length)
    if not 0.0 < angle <= 2.0 * np.pi + 1e-12:
        raise ArgumentError("angle", f"is {angle!r}", "more than 0 and at most 2 pi [rad]")
    closed = angle > 2.0 * np.pi - 1e-9
    nr, nt = count("n_radial", n_radial), count("n_around", n_around, 3 if closed else 1)
    around = nt if closed else nt + 1
    radius, turn = np.linspace(inner, outer, nr + 1), angle * np.arange(around) / nt
    points = np.stack([np.outer(radius, np.cos(turn)), np.outer(radius, np.sin(turn))], axis=-1).reshape(
        -1, 2
    )
    i, j = (a.reshape(-1) for a in np.meshgrid(np.arange(nr), np.arange(nt), indexing="ij"))
    a, b = i * around + j, (i + 1) * around + j
    c, d = (i + 1) * around + (j + 1) % around, i * around + (j + 1) % around
    triangles = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    levels = np.linspace(0.0, length, count("n_length", n_length) + 1)
    mesh = extruded_mesh(points, triangles, levels, axis=axis)
    place = np.arange(len(mesh.nodes)) % len(points)
    ring, step = place // around, place % around
    mesh = mesh.with_surface("inner", lambda x: ring == 0).with_surface("outer", lambda x: ring == nr)
    if not closed:
        mesh = mesh.with_node_set("first", np.flatnonzero(step == 0))
        mesh = mesh.with_node_set("last", np.flatnonzero(step == nt))
    return mesh


def tube_mesh(
    inner: float,
    outer: float,
    length: float,
    *,
    cap: float = 0.0,
    n_bore: int = 3,
    n_radial: int = 2,
    n_length: int = 24,
    n_cap: int = 2,
    axis: str = "x",
) -> TetMesh:
    """A tube from the origin along an axis; with end caps it encloses the cavity "inner".

    Args:
        inner: bore radius [m].
        outer: outer radius [m].
        length: total length, caps included [m].
        cap: thickness of both end caps [m]; 0 leaves the ends open (surface "inner" instead of a cavity).
        n_bore: rings inside the bore (6 n_bore cells around at the bore).
        n_radial: rings through the wall.
        n_length: cells along the bore.
        n_cap: cells through a cap.
        axis: "x", "y" or "z".
    """
    inner, outer = _radii(inner, outer)
    length = positive("length", length)
    if not 0.0 <= cap < length / 2.0:
        raise ArgumentError("cap", f"is {cap!r}", f"0 to less than half the length ({length / 2.0:g} m)")
    nb, nr, nl = count("n_bore", n_bore), count("n_radial", n_radial), count("n_length", n_length)
    radii = np.concatenate(
        [inner * np.arange(1, nb + 1) / nb, inner + (outer - inner) * np.arange(1, nr + 1) / nr]
    )
    points, triangles = disc_triangulation(radii)
    bore = np.linalg.norm(points, axis=1) < inner * (1.0 + 1e-9)
    in_bore = bore[triangles].all(axis=1)
    # Chords of the ring at the bore join two bore points of one triangle outside: three corners decide.
    levels = np.linspace(cap, length - cap, nl + 1)
    solid = np.zeros(nl, dtype=bool)
    if cap > 0.0:
        nc = count("n_cap", n_cap)
        low, high = np.linspace(0.0, cap, nc + 1)[:-1], np.linspace(length - cap, length, nc + 1)[1:]
        levels = np.concatenate([low, levels, high])
        solid = np.concatenate([np.ones(nc, bool), solid, np.ones(nc, bool)])
    mesh = extruded_mesh(points, triangles, levels, axis=axis, keep=solid[:, None] | ~in_bore[None, :])
    if cap > 0.0:
        return mesh.with_cavity("inner")
    cross = [i for i in range(3) if i != "xyz".index(axis)]
    at_bore = np.linalg.norm(mesh.nodes[:, cross], axis=1) < inner * (1.0 + 1e-9)
    return mesh.with_surface("inner", lambda x: at_bore)


def sphere_shell_mesh(
    inner: float, outer: float, n_radial: int = 4, n: int = 6, *, octant: bool = False
) -> TetMesh:
    """A thick sphere about the origin: an octahedron's faces, each divided into n^2 triangles, swept outward.

    Args:
        inner: inner radius [m].
        outer: outer radius [m].
        n_radial: cells through the wall.
        n: divisions of a quarter circle.
        octant: only x, y, z >= 0, with the symmetry planes as node sets "x0", "y0", "z0".

    Surfaces "inner" and "outer", node sets of the same names; the full sphere has the cavity "inner".
    """
    inner, outer = _radii(inner, outer)
    nr, n = count("n_radial", n_radial), count("n", n)
    corners: list[np.ndarray] = []
    faces: list[np.ndarray] = []
    for sign in [(1, 1, 1)] if octant else [(a, b, c) for a in (1, -1) for b in (1, -1) for c in (1, -1)]:
        s = np.array(sign)
        for i in range(n):
            for j in range(n - i):
                up = [(i, j), (i + 1, j), (i, j + 1)]
                down = [(i + 1, j), (i + 1, j + 1), (i, j + 1)]
                for tri in [up, down] if i + j < n - 1 else [up]:
                    faces.append(len(corners) + np.arange(3))
                    corners += [s * (p, q, n - p - q) for p, q in tri]
    grid, inverse = np.unique(np.array(corners), axis=0, return_inverse=True)
    triangles = inverse.reshape(-1)[np.array(faces)]
    # Equal angles rather than equal chords along the octahedron's edges give more even triangles.
    direction = np.sin(0.5 * np.pi * grid / n)
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    k = len(grid)
    nodes = np.concatenate([r * direction for r in np.linspace(inner, outer, nr + 1)])
    lower = np.concatenate([triangles + i * k for i in range(nr)])
    tets = topology.oriented(nodes, _prism_tets(lower, lower + k))
    sets = {"inner": np.arange(k), "outer": np.arange(nr * k, (nr + 1) * k)}
    if octant:
        plane = np.tile(grid, (nr + 1, 1))
        sets |= {f"{name}0": np.flatnonzero(plane[:, i] == 0) for i, name in enumerate("xyz")}
    mesh = TetMesh(nodes, tets, node_sets=sets)
    layer = np.arange(len(nodes)) // k
    mesh = mesh.with_surface("inner", lambda x: layer == 0).with_surface("outer", lambda x: layer == nr)
    return mesh if octant else mesh.with_cavity("inner")
