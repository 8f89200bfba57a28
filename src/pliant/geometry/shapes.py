"""Signed-distance shapes: negative inside, positive outside, and how to combine them.

`Shape.evaluate` returns the value and its exact gradient; everything else follows. Shapes are frozen
and compose:

    body = (Box((0, 0, 0), (0.1, 0.02, 0.02)) - Sphere((0.05, 0, 0), 0.006)).rotate((0, 0, 1), 0.3)

Primitives, translations, rotations, mirror images, uniform scalings, extrusions and revolutions are exact
distances. Booleans keep sign and zero set but are only a bound on the distance near concave edges;
`smooth_*`, `twist` and `Gyroid` are exact on the surface only.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.checks import positive as positive
from pliant.errors import ArgumentError

Value = tuple[np.ndarray, np.ndarray]


def vector(name: str, given: Any, size: int = 3) -> np.ndarray:
    """A finite read-only vector, or `ArgumentError`."""
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(name, f"is {given!r}", f"{size} numbers") from None
    if array.shape != (size,) or not np.isfinite(array).all():
        raise ArgumentError(name, f"is {given!r}", f"{size} finite numbers")
    array.setflags(write=False)
    return array


def unit(name: str, given: Any) -> np.ndarray:
    """A direction of length one, or `ArgumentError`."""
    array = vector(name, given)
    length = float(np.linalg.norm(array))
    if length == 0.0:
        raise ArgumentError(name, "has no direction", "a vector of non-zero length")
    array = array / length
    array.setflags(write=False)
    return array


def rotation_matrix(axis: Any, angle: float) -> np.ndarray:
    """Rotation (3, 3) by angle [rad] about an axis through the origin."""
    x, y, z = unit("axis", axis)
    if not np.isfinite(angle):
        raise ArgumentError("angle", f"is {angle!r}", "a finite number [rad]")
    k = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    return np.eye(3) + np.sin(angle) * k + (1.0 - np.cos(angle)) * k @ k


class Shape:
    """A body or an environment given by its signed distance."""

    def evaluate(self, points: np.ndarray) -> Value:
        """(distance (n,) [m], gradient (n, 3)) at checked points (n, 3)."""
        raise NotImplementedError

    @property
    def bounds(self) -> np.ndarray:
        """A box that holds the body: lowest and highest corner (2, 3) [m]; infinite entries are allowed."""
        raise NotImplementedError

    # ---- queries --------------------------------------------------------------------------------

    def distance(self, points: Any) -> np.ndarray:
        """Signed distance (n,) [m] at points (n, 3): negative inside."""
        return self.evaluate(_checked(points))[0]

    def gradient(self, points: Any) -> np.ndarray:
        """Gradient of the distance (n, 3); on the surface, the outward normal."""
        return self.evaluate(_checked(points))[1]

    def contains(self, points: Any) -> np.ndarray:
        """Whether each point (n, 3) is inside or on the surface (n,)."""
        return self.distance(points) <= 0.0

    def project(self, points: Any, *, iterations: int = 50, tolerance: float = 1e-12) -> np.ndarray:
        """Points (n, 3) moved to the surface along the gradient.

        One step for an exact distance; Newton steps otherwise, until |distance| <= tolerance times the size
        of the body or `iterations` are used up.
        """
        x = _checked(points).copy()
        extent = self.bounds[1] - self.bounds[0]
        limit = tolerance * (float(extent.max()) if np.isfinite(extent).all() else 1.0)
        todo = np.arange(len(x))
        for step in range(iterations):
            d, g = self.evaluate(x[todo])
            far = np.abs(d) > limit
            if not far.any():
                break
            todo, d, g = todo[far], d[far], g[far]
            square = np.einsum("ni,ni->n", g, g)
            # Overshooting near concave edges would cycle between two faces: damp after some steps.
            scale = (1.0 if step < 15 else 0.5) / np.maximum(square, 1e-12)
            x[todo] -= (d * scale)[:, None] * g
        return x

    # ---- combinations ---------------------------------------------------------------------------

    def __or__(self, other: Shape) -> Shape:
        return Union((self, _shape(other)))

    def __and__(self, other: Shape) -> Shape:
        return Intersection((self, _shape(other)))

    def __sub__(self, other: Shape) -> Shape:
        return Intersection((self, Complement(_shape(other))))

    def smooth_union(self, other: Shape, k: float) -> Shape:
        """Union blended over k [m] (cubic): min(a, b) - h^3 / (6 k^2), h = max(k - |a - b|, 0)."""
        return SmoothUnion(self, _shape(other), k)

    def smooth_intersection(self, other: Shape, k: float) -> Shape:
        """Intersection blended over the distance k [m]."""
        return Complement(SmoothUnion(Complement(self), Complement(_shape(other)), k))

    def smooth_difference(self, other: Shape, k: float) -> Shape:
        """Difference blended over the distance k [m]."""
        return Complement(SmoothUnion(Complement(self), _shape(other), k))

    def translate(self, offset: Any) -> Shape:
        """Moved by offset [m]."""
        return Placed(self, translation=vector("offset", offset))

    def rotate(self, axis: Any, angle: float, *, centre: Any = (0.0, 0.0, 0.0)) -> Shape:
        """Turned by angle [rad] about an axis through centre [m]."""
        turn, pivot = rotation_matrix(axis, angle), vector("centre", centre)
        return Placed(self, matrix=turn, translation=pivot - turn @ pivot)

    def transform(self, rotation: Any, translation: Any = (0.0, 0.0, 0.0)) -> Shape:
        """Placed at x -> rotation x + translation, rotation (3, 3) orthogonal."""
        return Placed(
            self, matrix=np.array(rotation, dtype=float), translation=vector("translation", translation)
        )

    def mirror(self, normal: Any, *, point: Any = (0.0, 0.0, 0.0)) -> Shape:
        """Mirror image in the plane through point [m] with this normal."""
        n, p = unit("normal", normal), vector("point", point)
        return Placed(self, matrix=np.eye(3) - 2.0 * np.outer(n, n), translation=2.0 * (n @ p) * n)

    def scale(self, factor: float) -> Shape:
        """Scaled about the origin by a positive number."""
        return Placed(self, factor=positive("factor", factor))

    def shell(self, thickness: float) -> Shape:
        """The wall of this thickness [m] just inside the surface; the outer size stays."""
        return Shell(self, thickness)

    def offset(self, distance: float) -> Shape:
        """Grown by distance [m] (negative: shrunk)."""
        return Offset(self, distance)

    def repeat(self, spacing: Any, count: Any) -> Shape:
        """The union of copies at i spacing [m], i = 0 .. count-1, along each axis (count: three integers)."""
        step = vector("spacing", spacing)
        number = np.asarray(count)
        if number.shape != (3,) or number.dtype.kind not in "iu" or (number < 1).any():
            raise ArgumentError("count", f"is {count!r}", "three integers of at least 1")
        if number.prod() > 10_000:
            raise ArgumentError("count", f"asks for {number.prod()} copies", "at most 10000 copies in all")
        cells = np.stack(np.meshgrid(*(np.arange(c) for c in number), indexing="ij"), axis=-1).reshape(-1, 3)
        return Union(tuple(self.translate(c * step) for c in cells)) if len(cells) > 1 else self

    def twist(self, rate: float) -> Shape:
        """Cross-sections turned about the z axis by rate [rad/m] times z."""
        return Twisted(self, rate)

    def interpolate(self, other: Shape, weight: float) -> Shape:
        """The shape whose distance is (1 - weight) times this one's plus weight times the other's."""
        return Interpolated(self, _shape(other), weight)


def _shape(given: Any) -> Shape:
    if not isinstance(given, Shape):
        raise ArgumentError("other", f"is a {type(given).__name__}", "a Shape")
    return given


def _checked(points: Any) -> np.ndarray:
    try:
        array = np.asarray(points, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError("points", "is not an array of numbers", "(n, 3) [m]") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ArgumentError("points", f"has shape {array.shape}", "(n, 3) [m]")
    if not np.isfinite(array).all():
        raise ArgumentError("points", "has NaN or infinite values", "finite positions")
    return array


@dataclass(frozen=True, eq=False)
class Union(Shape):
    """Everything in any part: the least distance."""

    parts: tuple[Shape, ...]

    def evaluate(self, points: np.ndarray) -> Value:
        """Value and gradient of the smallest part."""
        d, g = self.parts[0].evaluate(points)
        for part in self.parts[1:]:
            other, slope = part.evaluate(points)
            nearer = other < d
            d, g = np.where(nearer, other, d), np.where(nearer[:, None], slope, g)
        return d, g

    @property
    def bounds(self) -> np.ndarray:
        """Hull of the parts' boxes."""
        boxes = np.stack([p.bounds for p in self.parts])
        return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])


@dataclass(frozen=True, eq=False)
class Intersection(Shape):
    """What all parts share: the greatest distance."""

    parts: tuple[Shape, ...]

    def evaluate(self, points: np.ndarray) -> Value:
        """Value and gradient of the largest part."""
        d, g = self.parts[0].evaluate(points)
        for part in self.parts[1:]:
            other, slope = part.evaluate(points)
            farther = other > d
            d, g = np.where(farther, other, d), np.where(farther[:, None], slope, g)
        return d, g

    @property
    def bounds(self) -> np.ndarray:
        """Overlap of the parts' boxes."""
        boxes = np.stack([p.bounds for p in self.parts])
        low, high = boxes[:, 0].max(axis=0), boxes[:, 1].min(axis=0)
        return np.stack([low, np.maximum(low, high)])


@dataclass(frozen=True, eq=False)
class Complement(Shape):
    """Everything outside a shape."""

    part: Shape

    def evaluate(self, points: np.ndarray) -> Value:
        """The negated distance."""
        d, g = self.part.evaluate(points)
        return -d, -g

    @property
    def bounds(self) -> np.ndarray:
        """Infinite, except that twice complemented blends keep the box of their first body."""
        inner = self.part
        if isinstance(inner, SmoothUnion) and isinstance(inner.first, Complement):
            return inner.first.part.bounds
        return np.array([[-np.inf] * 3, [np.inf] * 3])


@dataclass(frozen=True, eq=False)
class SmoothUnion(Shape):
    """Union of two shapes, blended over the distance k [m]."""

    first: Shape
    second: Shape
    k: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "k", positive("k", self.k))

    def evaluate(self, points: np.ndarray) -> Value:
        """min(a, b) - h^3 / (6 k^2) with h = max(k - |a - b|, 0)."""
        a, ga = self.first.evaluate(points)
        b, gb = self.second.evaluate(points)
        h = np.maximum(self.k - np.abs(a - b), 0.0)
        # d h / d(a - b) = -sign(a - b), so the blend takes h^2 / (2 k^2) of the farther gradient.
        share = h * h / (2.0 * self.k**2)
        weight = np.where(a < b, 1.0 - share, share)[:, None]
        return np.minimum(a, b) - h**3 / (6.0 * self.k**2), weight * ga + (1.0 - weight) * gb

    @property
    def bounds(self) -> np.ndarray:
        """Hull of both boxes, grown by the largest bulge k / 6."""
        boxes = np.stack([self.first.bounds, self.second.bounds])
        return np.stack([boxes[:, 0].min(axis=0) - self.k / 6.0, boxes[:, 1].max(axis=0) + self.k / 6.0])


@dataclass(frozen=True, eq=False)
class Placed(Shape):
    """A shape moved by x -> matrix (factor x) + translation, matrix orthogonal."""

    part: Shape
    matrix: np.ndarray = field(default_factory=lambda: np.eye(3))
    translation: np.ndarray = field(default_factory=lambda: np.zeros(3))
    factor: float = 1.0

    def __post_init__(self) -> None:
        if np.shape(self.matrix) != (3, 3) or not np.allclose(
            self.matrix @ self.matrix.T, np.eye(3), atol=1e-9
        ):
            raise ArgumentError("rotation", "is not orthogonal", "a (3, 3) matrix with R R^T = 1")

    def evaluate(self, points: np.ndarray) -> Value:
        """The part's distance at the point carried back."""
        d, g = self.part.evaluate((points - self.translation) @ self.matrix / self.factor)
        return d * self.factor, g @ self.matrix.T

    @property
    def bounds(self) -> np.ndarray:
        """Box of the moved corners."""
        low, high = self.part.bounds * self.factor
        out = np.empty((2, 3))
        for i in range(3):
            # Entries that are zero up to rounding must not meet infinite bounds (0 * inf is NaN).
            use = np.abs(self.matrix[i]) > 1e-15
            row = self.matrix[i][use]
            out[0, i] = np.minimum(row * low[use], row * high[use]).sum()
            out[1, i] = np.maximum(row * low[use], row * high[use]).sum()
        return out + self.translation


@dataclass(frozen=True, eq=False)
class Shell(Shape):
    """The wall of a shape, from its surface inward."""

    part: Shape
    thickness: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "thickness", positive("thickness", self.thickness))

    def evaluate(self, points: np.ndarray) -> Value:
        """|d + t/2| - t/2."""
        d, g = self.part.evaluate(points)
        centred = d + self.thickness / 2.0
        return np.abs(centred) - self.thickness / 2.0, np.where(centred < 0.0, -1.0, 1.0)[:, None] * g

    @property
    def bounds(self) -> np.ndarray:
        """Box of the shape."""
        return self.part.bounds


@dataclass(frozen=True, eq=False)
class Offset(Shape):
    """A shape grown by `amount` [m]."""

    part: Shape
    amount: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.amount):
            raise ArgumentError("distance", f"is {self.amount!r}", "a finite number [m]")

    def evaluate(self, points: np.ndarray) -> Value:
        """d - amount."""
        d, g = self.part.evaluate(points)
        return d - self.amount, g

    @property
    def bounds(self) -> np.ndarray:
        """Box of the shape, grown; a shrunk shape keeps the tighter box of its parts' distances."""
        return self.part.bounds + np.array([[-self.amount], [self.amount]])


@dataclass(frozen=True, eq=False)
class Twisted(Shape):
    """A shape twisted about the z axis by `rate` [rad/m]."""

    part: Shape
    rate: float

    def __post_init__(self) -> None:
        if not np.isfinite(self.rate):
            raise ArgumentError("rate", f"is {self.rate!r}", "a finite number [rad/m]")

    def evaluate(self, points: np.ndarray) -> Value:
        """The part's value at the untwisted point; its gradient by the chain rule."""
        x, y, z = points.T
        c, s = np.cos(self.rate * z), np.sin(self.rate * z)
        u, v = c * x + s * y, -s * x + c * y
        d, g = self.part.evaluate(np.stack([u, v, z], axis=1))
        gx, gy = c * g[:, 0] - s * g[:, 1], s * g[:, 0] + c * g[:, 1]
        gz = g[:, 2] + self.rate * (v * g[:, 0] - u * g[:, 1])
        return d, np.stack([gx, gy, gz], axis=1)

    @property
    def bounds(self) -> np.ndarray:
        """Box of the swept circle."""
        low, high = self.part.bounds
        reach = float(np.hypot(*np.maximum(np.abs(low[:2]), np.abs(high[:2]))))
        return np.array([[-reach, -reach, low[2]], [reach, reach, high[2]]])


@dataclass(frozen=True, eq=False)
class Interpolated(Shape):
    """A weighted mean of two shapes' distances."""

    first: Shape
    second: Shape
    weight: float

    def __post_init__(self) -> None:
        if not 0.0 <= self.weight <= 1.0:
            raise ArgumentError("weight", f"is {self.weight!r}", "a number from 0 to 1")

    def evaluate(self, points: np.ndarray) -> Value:
        """(1 - w) a + w b."""
        (a, ga), (b, gb) = self.first.evaluate(points), self.second.evaluate(points)
        return (1 - self.weight) * a + self.weight * b, (1 - self.weight) * ga + self.weight * gb

    @property
    def bounds(self) -> np.ndarray:
        """Hull of both boxes."""
        boxes = np.stack([self.first.bounds, self.second.bounds])
        return np.stack([boxes[:, 0].min(axis=0), boxes[:, 1].max(axis=0)])
