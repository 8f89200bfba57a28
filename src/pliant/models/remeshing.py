"""Progressive remeshing of chambers that are filled with actuation elements (spec 2.7).

A chamber's tets become extreme long before the body does. After each stage of an inflation the chamber is meshed anew
inside its deformed surface: the surface vertices stay, the body's elements and rest shapes are untouched, the new
tets take their current shape as rest shape, and the remaining ratio is relative to the volume reached.

New tets know nothing of the shear that the old ones resisted; with them alone, as in the source, the body jumps at the
same command, by a tenth of the last stage's motion. So the difference between what the old and the new tets exert is
kept as a constant load: the pose before is that after, and the next ratio adds to it.

`GeometricModel` needs none of this: it measures a chamber's volume on its surface and has no elements in the air.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from scipy.spatial import Delaunay

from pliant.checks import count, numbers, positive
from pliant.errors import ArgumentError, MeshError
from pliant.geometry.surface import SurfaceShape
from pliant.geometry.topology import enclosed_volume, oriented, tet_volumes
from pliant.models.geometric_thesis import ElementGroup, ThesisResult, ThesisSimulator, check_indices
from pliant.state import Status

Array = np.ndarray
ALPHA_MAX, D_MAX = 4.0, 4.0


def fill_surface(vertices: Array, triangles: Array, *, size: float | None = None) -> tuple[Array, Array]:
    """Tets inside a closed surface, on its vertices and new interior points.

    Args:
        vertices: surface vertices [m] (n, 3).
        triangles: closed surface (m, 3); either orientation.
        size: spacing of the interior points [m]; 1.5 times the mean edge by default.

    Returns:
        Interior points (k, 3), and tets (t, 4) into the surface vertices followed by the interior points.
    """
    used = np.unique(triangles)
    volume = enclosed_volume(vertices, triangles)
    faces = triangles if volume > 0 else triangles[:, ::-1]
    shape = SurfaceShape(vertices[used], np.searchsorted(used, faces))
    if size is None:
        edges = vertices[triangles[:, 1]] - vertices[triangles[:, 0]]
        size = 1.5 * float(np.linalg.norm(edges, axis=1).mean())
    low, high = vertices[used].min(axis=0), vertices[used].max(axis=0)
    axes = [np.arange(a + 0.5 * size, b, size) for a, b in zip(low, high)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), -1).reshape(-1, 3)
    inner = grid[shape.distance(grid) < -0.35 * size] if len(grid) else np.zeros((0, 3))
    points = np.vstack([vertices[used], inner])
    tets = Delaunay(points, qhull_options="QJ Qbb").simplices
    centre = points[tets].mean(axis=1)
    tets = tets[shape.distance(centre) < 0]
    tets = oriented(points, tets)
    volumes = tet_volumes(points, tets)
    tets = tets[volumes > 1e-6 * volumes.mean()]
    if not len(tets):
        raise MeshError("no tet fits into the chamber; refine its surface")
    index = np.concatenate([used, len(vertices) + np.arange(len(inner))])
    return inner, index[tets]


def needs_remeshing(rest: Array, current: Array, *, alpha: float = ALPHA_MAX, stretch: float = D_MAX) -> Array:
    """Which tets (n, 4, 3) have grown by more than alpha or are stretched by more than a Frobenius norm (n,)."""

    def edges(s: Array) -> Array:
        return (s[:, 1:] - s[:, :1]).transpose(0, 2, 1)

    F = edges(current) @ np.linalg.inv(edges(rest))
    return (np.linalg.det(F) > alpha) | (np.linalg.norm(F, axis=(1, 2)) > stretch)


@dataclass(frozen=True, eq=False)
class Inflation:
    """What `inflate` did.

    Attributes:
        vertices: deformed body vertices [m] (n, 3).
        ratio: volume ratio reached.
        stages: commanded ratio of each stage.
        remeshed: whether the chamber was meshed anew after each stage.
        jumps: largest motion of a body vertex caused by remeshing alone, solved again at the same command [m].
        results: the solver's results.
        inverted: body elements that are inside out in the end.
    """

    vertices: Array
    ratio: float
    stages: list[float] = field(default_factory=list)
    remeshed: list[bool] = field(default_factory=list)
    jumps: list[float] = field(default_factory=list)
    results: list[ThesisResult] = field(default_factory=list, repr=False)
    inverted: int = 0

    @property
    def status(self) -> Status:
        """How it ended: inverted if body elements are inside out, else as the first stage that did not converge."""
        if self.inverted:
            return Status.INVERTED
        return next((r.status for r in self.results if not r.status.ok), Status.CONVERGED)

    @property
    def ok(self) -> bool:
        """Whether every stage converged and no body element is inside out."""
        return self.status.ok


def schedule(ratio: float, limit: float = ALPHA_MAX) -> list[float]:
    """Ratios of the stages: limit, limit^2, ... up to the ratio."""
    if not (np.isfinite(ratio) and ratio > 0.0):
        raise ArgumentError("ratio", f"{ratio}", "a finite number greater than 0")
    if not limit > 1.0:
        raise ArgumentError("limit", f"{limit}", "a factor greater than 1")
    out = []
    value = limit
    while value < ratio:
        out.append(value)
        value *= limit
    return [*out, ratio]


def inflate(
    vertices: Array,
    body: ElementGroup | list[ElementGroup],
    surface: Array,
    fixed: Array,
    ratio: float,
    *,
    weight: float = 5.0,
    remesh: bool = True,
    limit: float = 2.0,
    tolerance: float = 1e-7,
    iterations: int = 600,
    carry: bool = True,
    check_jumps: bool = False,
) -> Inflation:
    """Inflate a chamber in stages, meshing it anew where its tets have become extreme.

    Args:
        vertices: rest vertices of the body [m] (n, 3).
        body: body elements.
        surface: closed surface of the chamber (m, 3), vertices of the body.
        fixed: held vertices.
        ratio: wanted volume ratio.
        weight: of the chamber's tets.
        remesh: False applies the whole ratio at once to the first mesh, as a comparison.
        limit: factor between stages.
        tolerance: of each solve [m].
        iterations: of each solve.
        carry: keep what the old tets exert beyond the new ones as a load; False is the source's bare rule.
        check_jumps: also solve directly after each remeshing, at the same command, and note how far the body moved.
    """
    stages = schedule(ratio, limit) if remesh else [ratio]
    count("iterations", iterations)
    positive("tolerance", tolerance)
    groups = body if isinstance(body, list) else [body]
    rest = numbers("vertices", vertices)
    check_indices("surface", surface, len(rest))
    groups = [g if g.rest is not None else replace(g, rest=rest[g.cells]) for g in groups]
    n, x, first = len(rest), rest.copy(), abs(enclosed_volume(rest, surface))
    inner, tets = fill_surface(x, surface)
    chamber = ElementGroup("air", "chamber", tets, weight, rest=np.vstack([x, inner])[tets])
    load, now = None, first  # volume to which the chamber's elements refer
    out = Inflation(x, 1.0)
    for stage in stages:
        simulator = ThesisSimulator(np.vstack([x, inner]), [*groups, chamber], fixed, load=load)
        result = simulator.forward({"air": stage * first / now}, tolerance=tolerance, iterations=iterations)
        x, inner = result.vertices[:n], result.vertices[n:]
        out.stages.append(stage)
        out.results.append(result)
        anew = bool(remesh and needs_remeshing(chamber.rest, result.vertices[chamber.cells]).any())  # type: ignore[arg-type]
        out.remeshed.append(anew)
        if not anew:
            continue
        held = simulator.pull(result.vertices, {"air": stage * first / now}) + (0.0 if load is None else load)
        inner, tets = fill_surface(x, surface)
        chamber = ElementGroup("air", "chamber", tets, weight, rest=np.vstack([x, inner])[tets])
        now = abs(enclosed_volume(x, surface))
        fresh, load = np.vstack([x, inner]), None
        command = {"air": stage * first / now}
        if carry:
            load = -ThesisSimulator(fresh, [*groups, chamber], fixed).pull(fresh, command)
            load[:n] += held[:n]
        if check_jumps:
            again = ThesisSimulator(fresh, [*groups, chamber], fixed, load=load)
            settled = again.forward(command, tolerance=tolerance, iterations=iterations)
            out.jumps.append(float(np.abs(settled.vertices[:n] - x).max()))
    final = abs(enclosed_volume(x, surface)) / first
    inverted = sum(int((tet_volumes(x, g.cells) * tet_volumes(rest, g.cells) <= 0.0).sum()) for g in groups)
    return Inflation(x, final, out.stages, out.remeshed, out.jumps, out.results, inverted)
