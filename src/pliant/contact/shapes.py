"""Obstacles from other descriptions: ShapeObstacle (any signed distance) and Pipe (inside of tubes)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant._kernels.pipe import SAMPLES, pipe_hessian, pipe_lowest, pipe_signed
from pliant.contact.obstacles import Array, Obstacle, positive
from pliant.contact.primitives import normalised, revolved
from pliant.errors import ArgumentError


@dataclass(frozen=True, eq=False)
class ShapeObstacle(Obstacle):
    """A signed-distance shape of `pliant.geometry` as an obstacle.

    Attributes:
        shape: object with `distance(points (n, 3)) -> (n,)` and `gradient(points) -> (n, 3)`; the
            gradient is made unit.
        bounds: corners ((x, y, z), (x, y, z)) of the region to draw [m]; by default the shape's own.
    """

    shape: Any = None
    bounds: Any = None

    convex = False

    def __post_init__(self) -> None:
        super().__post_init__()
        for method in ("distance", "gradient"):
            if not callable(getattr(self.shape, method, None)):
                raise ArgumentError("shape", f"it has no method {method}(points)", "a pliant.geometry shape")

    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and unit gradient (n, 3) in the own frame."""
        both = getattr(self.shape, "evaluate", None)  # shapes of pliant.geometry give both at once
        if both is not None:
            distance, gradient = both(points)
        else:
            distance, gradient = self.shape.distance(points), self.shape.gradient(points)
        _, unit = normalised(np.asarray(gradient, dtype=float), np.array([0.0, 0.0, 1.0]))
        return np.asarray(distance, dtype=float), unit

    def hessian(self, points: Array) -> Array | None:
        """The shape's own Hessian if it has one."""
        second = getattr(self.shape, "hessian", None)
        return None if second is None else second(points)

    def triangulation(self) -> tuple[Array, Array]:
        """Faces of the cells of a grid where the distance changes sign (coarse; for drawing)."""
        bounds = self.bounds if self.bounds is not None else getattr(self.shape, "bounds", None)
        bounds = bounds() if callable(bounds) else bounds
        if bounds is None or not np.all(np.isfinite(np.asarray(bounds, dtype=float))):
            raise ArgumentError("bounds", "the shape does not say where it ends", "two corners (2, 3)")
        low, high = np.asarray(bounds, dtype=float)
        step = float(np.max(high - low)) / 32.0
        shape = np.ceil((high - low) / step).astype(int) + 2
        origin = low - step
        centres = np.stack(np.meshgrid(*(np.arange(k) + 0.5 for k in shape), indexing="ij"), axis=-1)
        inside = np.zeros(shape + 2, dtype=bool)
        flat = self.shape.distance((origin + step * centres).reshape(-1, 3))
        inside[1:-1, 1:-1, 1:-1] = (np.asarray(flat) < 0.0).reshape(shape)
        corners, triangles = voxel_faces(inside)
        vertices = origin + step * (corners - 1.0)
        d, n = self.signed(vertices)  # pull the corners of the steps onto the surface
        return vertices - np.clip(d, -step, step)[:, None] * n, triangles


def voxel_faces(inside: Array) -> tuple[Array, Array]:
    """Outward boundary of a voxel set with an empty margin: corner coordinates (n, 3), triangles (m, 3)."""
    quads = []
    for axis in range(3):
        e, u, v = np.roll(np.eye(3, dtype=int), -axis, axis=0)
        for side in (1, -1):
            empty = ~np.roll(inside, -side, axis=axis)
            cells = np.argwhere(inside & empty)
            base = cells + (e if side == 1 else 0)
            ring = [base, base + u, base + u + v, base + v]
            quads.append(np.stack(ring if side == 1 else ring[::-1], axis=1))
    corners = np.concatenate(quads)
    unique, index = np.unique(corners.reshape(-1, 3), axis=0, return_inverse=True)
    quad = index.reshape(-1, 4)
    return unique.astype(float), np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]])


@dataclass(frozen=True, eq=False)
class Pipe(Obstacle):
    """The free space inside of a tube along a polyline, with branches (a catheter's vessel).

    The signed distance is radius - distance to the centreline, the largest over all tubes: positive
    inside of the lumen. Free ends are open: the tube goes on along its last segment.

    Attributes:
        centreline: points of the main tube [m] (n, 3).
        radius: inner radius of the main tube [m].
        branches: further tubes, each (points (k, 3), radius); a branch starts on another tube.
        open_ends: if False, the ends are closed by hemispheres.
    """

    centreline: Any = None
    radius: float = 1.0
    branches: Sequence[tuple[Any, float]] = ()
    open_ends: bool = True
    _segments: tuple[Array, ...] = field(default=(), init=False, repr=False)

    convex = False

    def __post_init__(self) -> None:
        super().__post_init__()
        lines = [self._line("centreline", self.centreline)]
        radii = [positive("radius", self.radius)]
        for k, (points, radius) in enumerate(self.branches):
            lines.append(self._line(f"branches[{k}]", points))
            radii.append(positive(f"branches[{k}] radius", radius))
        object.__setattr__(self, "centreline", lines[0])
        object.__setattr__(self, "branches", tuple(zip(lines[1:], radii[1:], strict=True)))
        start, end, low, high, radius_of = [], [], [], [], []
        starts = np.array([line[0] for line in lines[1:]]).reshape(-1, 3)
        for k, (line, radius) in enumerate(zip(lines, radii, strict=True)):
            count = len(line) - 1
            joined = len(starts) and np.min(np.linalg.norm(starts - line[-1], axis=1)) < radius
            lower, upper = np.zeros(count), np.ones(count)
            if self.open_ends and k == 0:
                lower[0] = -np.inf
            if self.open_ends and not joined:
                upper[-1] = np.inf
            start.append(line[:-1])
            end.append(line[1:])
            low.append(lower)
            high.append(upper)
            radius_of.append(np.full(count, radius))
        first, last, lower, upper, every = (np.concatenate(x) for x in (start, end, low, high, radius_of))
        axis = last - first
        # start, axis, square of its length, least and largest parameter, radius
        packed = (first, axis, np.einsum("si,si->s", axis, axis), lower, upper, every)
        object.__setattr__(self, "_segments", packed)

    @staticmethod
    def _line(argument: str, points: Any) -> Array:
        line = np.array(points, dtype=float)
        if line.ndim != 2 or line.shape[1] != 3 or len(line) < 2 or not np.all(np.isfinite(line)):
            raise ArgumentError(argument, "it is not a polyline", "finite points (n >= 2, 3)")
        if np.any(np.linalg.norm(np.diff(line, axis=0), axis=1) <= 0.0):
            raise ArgumentError(argument, "two successive points coincide", "different successive points")
        return line

    @property
    def tubes(self) -> tuple[Array, ...]:
        """Per segment, in the own frame: start, axis, square of its length, bounds of its parameter, radius."""
        return self._segments

    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and gradient (n, 3) in the own frame; the gradient points to the centreline."""
        return pipe_signed(np.ascontiguousarray(points), *self.tubes)

    def hessian(self, points: Array) -> Array:
        """-(I - n n^T [- a a^T on a barrel]) / rho, rho the distance to the centreline."""
        return pipe_hessian(np.ascontiguousarray(points), *self.tubes)

    def lowest_on_segments(self, corners: Array, thickness: Array) -> Array:
        """Weights (m, 2) of the points of segments (m, 2, 3) of given thickness (m, 2) that have the least gap."""
        own = np.ascontiguousarray(self.pose.undo(corners.reshape(-1, 3))).reshape(corners.shape)
        return pipe_lowest(own, np.ascontiguousarray(thickness), SAMPLES, *self.tubes)

    def triangulation(self) -> tuple[Array, Array]:
        """One open tube per segment, seen from inside."""
        vertices, triangles, count = [], [], 0
        for a, axis, square, r in zip(*self.tubes[:3], self.tubes[5], strict=True):
            length = float(np.sqrt(square))
            profile = np.array([[0, 0], [0, r], [length, r], [length, 0]])
            v, t = revolved(profile, a, axis / length, sides=24)
            sides = t[(t >= 2).all(axis=1)]  # leave out the two lids
            vertices.append(v)
            triangles.append(sides[:, ::-1] + count)
            count += len(v)
        return np.concatenate(vertices), np.concatenate(triangles)
