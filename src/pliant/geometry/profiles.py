"""Plane profiles with exact signed distance, to be extruded along z or revolved about z."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.geometry.shapes import Shape, Value, positive, vector


class Profile:
    """A plane figure given by its signed distance (negative inside)."""

    def evaluate(self, points: np.ndarray) -> Value:
        """(distance (n,) [m], gradient (n, 2)) at points (n, 2)."""
        raise NotImplementedError

    @property
    def bounds(self) -> np.ndarray:
        """Box (2, 2) [m]."""
        raise NotImplementedError

    def distance(self, points: Any) -> np.ndarray:
        """Signed distance (n,) [m] at points (n, 2)."""
        array = np.asarray(points, dtype=float)
        if array.ndim != 2 or array.shape[1] != 2 or not np.isfinite(array).all():
            raise ArgumentError(
                "points", f"has shape {array.shape} or values that are not finite", "(n, 2) [m]"
            )
        return self.evaluate(array)[0]

    def extrude(self, height: float) -> Shape:
        """The prism over this profile from z = 0 to z = height [m]."""
        return Extrusion(self, height)

    def revolve(self) -> Shape:
        """The body swept by turning the profile about z; its x becomes the radius, its y becomes z."""
        return Revolution(self)

    def __or__(self, other: Profile) -> Profile:
        return ProfileBoolean(self, other, "union")

    def __and__(self, other: Profile) -> Profile:
        return ProfileBoolean(self, other, "intersection")

    def __sub__(self, other: Profile) -> Profile:
        return ProfileBoolean(self, other, "difference")

    def translate(self, offset: Any) -> Profile:
        """Moved by offset (2,) [m]."""
        return ProfileMoved(self, vector("offset", offset, 2))

    def offset(self, distance: float) -> Profile:
        """Grown by distance [m]."""
        return ProfileOffset(self, float(distance))

    def section(self, *, resolution: int = 200) -> tuple[float, np.ndarray, np.ndarray]:
        """Area [m^2], centroid (2,) [m] and second moments of area about it (2, 2) [m^4], int x_i x_j dA.

        A grid of resolution^2 cells, each weighted by the part of it that its distance says is inside.
        """
        low, high = self.bounds
        step = (high - low) / resolution
        axes = [low[i] + (np.arange(resolution) + 0.5) * step[i] for i in range(2)]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 2)
        d, g = self.evaluate(points)
        width = np.abs(g) @ step / np.maximum(np.linalg.norm(g, axis=1), 1e-12)
        weight = np.clip(0.5 - d / width, 0.0, 1.0) * step.prod()
        area = float(weight.sum())
        centre = weight @ points / area
        arm = points - centre
        return area, centre, (arm * weight[:, None]).T @ arm


@dataclass(frozen=True, eq=False)
class Circle(Profile):
    """A disc of `radius` about `centre` [m]."""

    radius: float
    centre: Any = (0.0, 0.0)

    def __post_init__(self) -> None:
        object.__setattr__(self, "radius", positive("radius", self.radius))
        object.__setattr__(self, "centre", vector("centre", self.centre, 2))

    def evaluate(self, points: np.ndarray) -> Value:
        """|p - c| - r."""
        arm = points - self.centre
        length = np.linalg.norm(arm, axis=1)
        safe = np.where(length > 0.0, length, 1.0)
        g = np.where(length[:, None] > 0.0, arm / safe[:, None], np.array([1.0, 0.0]))
        return length - self.radius, g

    @property
    def bounds(self) -> np.ndarray:
        """Box of the disc."""
        return np.stack([self.centre - self.radius, self.centre + self.radius])


def box_distance(arm: np.ndarray, half: np.ndarray) -> Value:
    """Exact distance and gradient of a centred box of any dimension, at arm (n, k)."""
    q = np.abs(arm) - half
    sign = np.where(arm < 0.0, -1.0, 1.0)
    beyond = np.maximum(q, 0.0)
    outside = np.linalg.norm(beyond, axis=1)
    deepest = np.argmax(q, axis=1)
    inner = np.zeros_like(arm)
    rows = np.arange(len(arm))
    inner[rows, deepest] = sign[rows, deepest]
    safe = np.where(outside > 0.0, outside, 1.0)
    g = np.where(outside[:, None] > 0.0, sign * beyond / safe[:, None], inner)
    return np.where(outside > 0.0, outside, q[rows, deepest]), g


@dataclass(frozen=True, eq=False)
class Rectangle(Profile):
    """A rectangle between the corners `low` and `high` [m]."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = vector("low", self.low, 2), vector("high", self.high, 2)
        if (high <= low).any():
            raise ArgumentError("high", f"is {self.high!r}", "greater than low in both coordinates")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)

    def evaluate(self, points: np.ndarray) -> Value:
        """Exact distance of the rectangle."""
        return box_distance(points - (self.low + self.high) / 2.0, (self.high - self.low) / 2.0)

    @property
    def bounds(self) -> np.ndarray:
        """The rectangle itself."""
        return np.stack([self.low, self.high])


@dataclass(frozen=True, eq=False)
class Polygon(Profile):
    """A simple closed polygon (k, 2) [m], in either direction."""

    vertices: Any

    def __post_init__(self) -> None:
        array = np.array(self.vertices, dtype=float)
        if array.ndim != 2 or array.shape[1] != 2 or len(array) < 3 or not np.isfinite(array).all():
            raise ArgumentError("vertices", f"has shape {array.shape}", "at least 3 finite points (k, 2) [m]")
        nxt = np.roll(array, -1, axis=0)
        if (np.linalg.norm(nxt - array, axis=1) == 0.0).any():
            raise ArgumentError("vertices", "repeats a point", "distinct neighbouring points")
        if abs((array[:, 0] * nxt[:, 1] - nxt[:, 0] * array[:, 1]).sum()) == 0.0:
            raise ArgumentError("vertices", "encloses no area", "a polygon with an inside")
        array.setflags(write=False)
        object.__setattr__(self, "vertices", array)

    def evaluate(self, points: np.ndarray) -> Value:
        """Distance to the nearest edge, sign by the crossing number."""
        from pliant._kernels.polygon import polygon_distance  # imported on use: numba is slow to load

        v = self.vertices
        w = np.roll(v, -1, axis=0)
        turn = np.sign((v[:, 0] * w[:, 1] - w[:, 0] * v[:, 1]).sum())
        return polygon_distance(v, np.ascontiguousarray(points, dtype=float), turn)

    @property
    def bounds(self) -> np.ndarray:
        """Box of the vertices."""
        return np.stack([self.vertices.min(axis=0), self.vertices.max(axis=0)])


@dataclass(frozen=True, eq=False)
class ProfileBoolean(Profile):
    """Union, intersection or difference of two profiles."""

    first: Profile
    second: Profile
    kind: str

    def evaluate(self, points: np.ndarray) -> Value:
        """min, max or max with the negated second."""
        a, ga = self.first.evaluate(points)
        b, gb = self.second.evaluate(points)
        if self.kind == "difference":
            b, gb = -b, -gb
        second = b < a if self.kind == "union" else b > a
        return np.where(second, b, a), np.where(second[:, None], gb, ga)

    @property
    def bounds(self) -> np.ndarray:
        """Hull, overlap or the first box."""
        a, b = self.first.bounds, self.second.bounds
        if self.kind == "difference":
            return a
        if self.kind == "union":
            return np.stack([np.minimum(a[0], b[0]), np.maximum(a[1], b[1])])
        low = np.maximum(a[0], b[0])
        return np.stack([low, np.maximum(low, np.minimum(a[1], b[1]))])


@dataclass(frozen=True, eq=False)
class ProfileMoved(Profile):
    """A profile moved by `translation` (2,) [m]."""

    part: Profile
    translation: np.ndarray

    def evaluate(self, points: np.ndarray) -> Value:
        """The part at the point carried back."""
        return self.part.evaluate(points - self.translation)

    @property
    def bounds(self) -> np.ndarray:
        """Moved box."""
        return self.part.bounds + self.translation


@dataclass(frozen=True, eq=False)
class ProfileOffset(Profile):
    """A profile grown by `amount` [m]."""

    part: Profile
    amount: float

    def evaluate(self, points: np.ndarray) -> Value:
        """d - amount."""
        d, g = self.part.evaluate(points)
        return d - self.amount, g

    @property
    def bounds(self) -> np.ndarray:
        """Grown box."""
        return self.part.bounds + np.array([[-self.amount], [self.amount]])


@dataclass(frozen=True, eq=False)
class Extrusion(Shape):
    """A profile swept along z from 0 to `height` [m]; an exact distance where the profile's is."""

    profile: Profile
    height: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "height", positive("height", self.height))

    def evaluate(self, points: np.ndarray) -> Value:
        """Combine the profile's distance with the distance to the slab."""
        a, ga = self.profile.evaluate(points[:, :2])
        z = points[:, 2] - self.height / 2.0
        b, sign = np.abs(z) - self.height / 2.0, np.where(z < 0.0, -1.0, 1.0)
        both = (a > 0.0) & (b > 0.0)
        corner = np.hypot(a, b)
        safe = np.where(both, corner, 1.0)
        wa = np.where(both, a / safe, a >= b)
        wb = np.where(both, b / safe, a < b)
        return np.where(both, corner, np.maximum(a, b)), np.column_stack([wa[:, None] * ga, wb * sign])

    @property
    def bounds(self) -> np.ndarray:
        """Box of the prism."""
        low, high = self.profile.bounds
        return np.array([[*low, 0.0], [*high, self.height]])


@dataclass(frozen=True, eq=False)
class Revolution(Shape):
    """A profile (radius, z) turned about the z axis."""

    profile: Profile

    def evaluate(self, points: np.ndarray) -> Value:
        """The profile at (radius, z)."""
        radius = np.hypot(points[:, 0], points[:, 1])
        d, g = self.profile.evaluate(np.stack([radius, points[:, 2]], axis=1))
        safe = np.where(radius > 0.0, radius, 1.0)
        outward = np.where(radius[:, None] > 0.0, points[:, :2] / safe[:, None], np.array([1.0, 0.0]))
        return d, np.column_stack([g[:, :1] * outward, g[:, 1]])

    @property
    def bounds(self) -> np.ndarray:
        """Box of the swept body."""
        low, high = self.profile.bounds
        reach = max(high[0], 0.0)
        return np.array([[-reach, -reach, low[1]], [reach, reach, high[1]]])
