"""Obstacles with closed-form distances: Plane, Sphere, Box, Capsule, Cylinder.

Distances, gradients and Hessians are exact, inside and outside. Where the gradient is not unique
(centre of a sphere, axis of a cylinder) one fixed unit vector is returned.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Any, ClassVar

import numpy as np

from pliant._kernels.round import FLAT, ROUND, signed_round
from pliant._kernels.turning import round_hessian
from pliant.contact.obstacles import Array, Obstacle, Vector, positive, rotation_matrix, unit3, vector3
from pliant.errors import ArgumentError

_TINY = 1e-300


def normalised(vectors: Array, fallback: Array) -> tuple[Array, Array]:
    """Lengths (n,) and unit vectors (n, 3); the fallback direction where the length is zero."""
    length = np.sqrt(np.einsum("ni,ni->n", vectors, vectors))
    unit = vectors / np.maximum(length, _TINY)[:, None]
    zero = length < 1e-150
    if zero.any():
        unit[zero] = fallback
    return length, unit


def orthogonal(axis: Array) -> Array:
    """A unit vector perpendicular to the axis (3,)."""
    x, y, z = (float(a) for a in axis)
    if abs(x) <= abs(y) and abs(x) <= abs(z):
        perpendicular = np.array([0.0, z, -y])
    elif abs(y) <= abs(z):
        perpendicular = np.array([-z, 0.0, x])
    else:
        perpendicular = np.array([y, -x, 0.0])
    return perpendicular / np.linalg.norm(perpendicular)


def outer(a: Array) -> Array:
    """Outer products a a^T of vectors (n, 3) -> (n, 3, 3)."""
    return a[:, :, None] * a[:, None, :]


def revolved(profile: Array, origin: Array, axis: Array, *, sides: int = 32) -> tuple[Array, Array]:
    """Closed surface of revolution of a profile (axial, radial) (n, 2) that starts and ends on the axis."""
    u = orthogonal(axis)
    v = np.cross(axis, u)
    angle = 2.0 * np.pi * np.arange(sides) / sides
    ring = np.cos(angle)[:, None] * u + np.sin(angle)[:, None] * v
    inner = profile[1:-1]
    vertices = [origin + profile[0, 0] * axis, origin + profile[-1, 0] * axis]
    rings = origin + inner[:, None, :1] * axis + inner[:, None, 1:] * ring
    triangles = []
    k, j = np.arange(sides), (np.arange(sides) + 1) % sides
    first = 2 + np.arange(len(inner))[:, None] * sides
    triangles.append(np.stack([np.zeros_like(k), first[0] + j, first[0] + k], axis=1))
    for a, b in pairwise(first):
        triangles.append(np.stack([a + k, a + j, b + j], axis=1))
        triangles.append(np.stack([a + k, b + j, b + k], axis=1))
    triangles.append(np.stack([np.ones_like(k), first[-1] + k, first[-1] + j], axis=1))
    return np.concatenate([np.array(vertices), rings.reshape(-1, 3)]), np.concatenate(triangles)


@dataclass(frozen=True, eq=False)
class Plane(Obstacle):
    """A half space: everything behind the plane is solid.

    Attributes:
        point: a point of the plane [m].
        normal: direction of the free side (made unit).
        extent: half side length of the square that is drawn [m].
    """

    point: Vector = (0.0, 0.0, 0.0)
    normal: Vector = (0.0, 0.0, 1.0)
    extent: float = 0.5
    flat = True

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "point", vector3("point", self.point))
        object.__setattr__(self, "normal", unit3("normal", self.normal))
        object.__setattr__(self, "extent", positive("extent", self.extent))

    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and gradient (n, 3) in the own frame."""
        return (points - self.point) @ self.normal, np.tile(np.asarray(self.normal), (len(points), 1))

    def hessian(self, points: Array) -> Array:
        """Zero: a plane is flat."""
        return np.zeros((len(points), 3, 3))

    def triangulation(self) -> tuple[Array, Array]:
        """A square around the point."""
        u = orthogonal(np.asarray(self.normal))
        v = np.cross(self.normal, u)
        corners = np.array([-u - v, u - v, u + v, -u + v]) * self.extent + self.point
        return corners, np.array([[0, 1, 2], [0, 2, 3]])


@dataclass(frozen=True, eq=False)
class Sphere(Obstacle):
    """A ball.

    Attributes:
        centre: [m].
        radius: [m].
    """

    centre: Vector = (0.0, 0.0, 0.0)
    radius: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "centre", vector3("centre", self.centre))
        object.__setattr__(self, "radius", positive("radius", self.radius))

    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and gradient (n, 3) in the own frame."""
        length, unit = normalised(points - self.centre, np.array([0.0, 0.0, 1.0]))
        return length - self.radius, unit

    def hessian(self, points: Array) -> Array:
        """(I - n n^T) / rho, rho the distance to the centre."""
        length, n = normalised(points - self.centre, np.array([0.0, 0.0, 1.0]))
        return (np.eye(3) - outer(n)) / np.maximum(length, _TINY)[:, None, None]

    def triangulation(self) -> tuple[Array, Array]:
        """Meridians and parallels."""
        angle = np.linspace(0.0, np.pi, 17)
        profile = self.radius * np.stack([-np.cos(angle), np.sin(angle)], axis=1)
        return revolved(profile, np.asarray(self.centre), np.array([0.0, 0.0, 1.0]))


@dataclass(frozen=True, eq=False)
class Box(Obstacle):
    """A solid box; give `lengths` or `half_lengths`.

    Attributes:
        centre: [m].
        half_lengths: half of the side lengths [m].
        rotation: orientation, matrix (3, 3) or quaternion wxyz (4,).
        lengths: side lengths [m], instead of `half_lengths`.
    """

    centre: Vector = (0.0, 0.0, 0.0)
    half_lengths: Vector | None = None
    rotation: Any = None
    lengths: Vector | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        given = [
            scale * np.asarray(vector3(name, getattr(self, name)))
            for name, scale in (("half_lengths", 1.0), ("lengths", 0.5))
            if getattr(self, name) is not None
        ]
        # both are there, and agree, when a box is copied with another field changed
        if not given or not all(np.array_equal(half, given[0]) for half in given):
            raise ArgumentError("half_lengths", "give exactly one of half_lengths and lengths")
        half = given[0]
        if not np.all(half > 0.0):
            raise ArgumentError("lengths", f"{(2 * half).tolist()} are not all positive", "three lengths > 0")
        object.__setattr__(self, "centre", vector3("centre", self.centre))
        object.__setattr__(self, "half_lengths", half)
        object.__setattr__(self, "lengths", 2.0 * half)
        rotation = np.eye(3) if self.rotation is None else rotation_matrix("rotation", self.rotation)
        object.__setattr__(self, "rotation", rotation)

    def _local(self, points: Array) -> tuple[Array, Array, Array]:
        y = (points - self.centre) @ self.rotation
        sign = np.where(y < 0.0, -1.0, 1.0)
        return np.abs(y) - np.asarray(self.half_lengths), sign, y

    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and gradient (n, 3) in the own frame."""
        over, sign, _ = self._local(points)
        clipped = np.maximum(over, 0.0)
        length = np.sqrt(np.einsum("ni,ni->n", clipped, clipped))
        outside = length > 0.0
        gradient = clipped / np.maximum(length, _TINY)[:, None]
        deepest = np.argmax(over, axis=1)
        inside = ~outside
        if inside.any():
            gradient[inside] = np.eye(3)[deepest[inside]]
        distance = np.where(outside, length, over[np.arange(len(over)), deepest])
        return distance, (gradient * sign) @ self.rotation.T

    def hessian(self, points: Array) -> Array:
        """(active axes - n n^T) / d outside; zero inside."""
        over, sign, _ = self._local(points)
        clipped = np.maximum(over, 0.0)
        length = np.sqrt(np.einsum("ni,ni->n", clipped, clipped))
        outside = length > 0.0
        n = clipped * sign / np.maximum(length, _TINY)[:, None]
        h = np.zeros((len(points), 3, 3))
        active = (over > 0.0).astype(float)
        h[:, range(3), range(3)] = active
        h = (h - outer(n)) / np.where(outside, length, 1.0)[:, None, None]
        h[~outside] = 0.0
        return np.asarray(self.rotation) @ h @ np.asarray(self.rotation).T

    def triangulation(self) -> tuple[Array, Array]:
        """Twelve triangles."""
        corners = np.array([[i, j, k] for i in (-1, 1) for j in (-1, 1) for k in (-1, 1)], dtype=float)
        vertices = (corners * np.asarray(self.half_lengths)) @ self.rotation.T + self.centre
        quads = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
        return vertices, np.array([t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))])


@dataclass(frozen=True, eq=False)
class _Round(Obstacle):
    """What Capsule and Cylinder share: an axis from a to b and a radius."""

    a: Vector = (0.0, 0.0, 0.0)
    b: Vector = (1.0, 0.0, 0.0)
    radius: float = 1.0
    ends: ClassVar[int] = ROUND

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "a", vector3("a", self.a))
        object.__setattr__(self, "b", vector3("b", self.b))
        object.__setattr__(self, "radius", positive("radius", self.radius))
        if not np.linalg.norm(np.subtract(self.b, self.a)) > 0.0:
            raise ArgumentError("b", "it coincides with a: the axis has no direction", "two different points")

    @cached_property
    def length(self) -> float:
        """Length of the axis [m]."""
        return float(np.linalg.norm(np.subtract(self.b, self.a)))

    @cached_property
    def axis(self) -> Array:
        """Unit vector from a to b (3,)."""
        return np.subtract(self.b, self.a) / self.length

    @cached_property
    def _aside(self) -> Array:
        return orthogonal(self.axis)

    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and gradient (n, 3) in the own frame."""
        points = np.ascontiguousarray(points)
        distance, gradient = np.empty(len(points)), np.empty(points.shape)
        signed_round(
            points, np.asarray(self.a), self.axis, self.length, self.radius, self.ends, self._aside, distance, gradient
        )
        return distance, gradient

    def hessian(self, points: Array) -> Array:
        """Curvature of the barrel, of round ends, or of the rim of flat ones (n, 3, 3)."""
        return round_hessian(
            np.ascontiguousarray(points), np.asarray(self.a), self.axis, self.length, self.radius, self.ends == ROUND
        )


@dataclass(frozen=True, eq=False)
class Capsule(_Round):
    """All points within a radius of a segment.

    Attributes:
        a: one end of the segment [m].
        b: the other end [m].
        radius: [m].
    """

    ends: ClassVar[int] = ROUND

    def triangulation(self) -> tuple[Array, Array]:
        """A surface of revolution."""
        angle = np.linspace(0.0, np.pi / 2, 9)
        cap = self.radius * np.stack([-np.cos(angle), np.sin(angle)], axis=1)
        end = cap[::-1] * (-1.0, 1.0) + (self.length, 0.0)
        return revolved(np.concatenate([cap, end]), np.asarray(self.a), self.axis)


@dataclass(frozen=True, eq=False)
class Cylinder(_Round):
    """A solid cylinder with flat ends.

    Attributes:
        a: centre of one end [m].
        b: centre of the other end [m].
        radius: [m].
    """

    ends: ClassVar[int] = FLAT

    def triangulation(self) -> tuple[Array, Array]:
        """A surface of revolution."""
        r, length = self.radius, self.length
        return revolved(np.array([[0, 0], [0, r], [length, r], [length, 0]]), np.asarray(self.a), self.axis)
