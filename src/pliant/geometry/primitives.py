"""The library of solid shapes."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.geometry.profiles import Polygon, Revolution, box_distance
from pliant.geometry.shapes import Shape, Value, positive, unit, vector


def _put(shape: Shape, **values: Any) -> None:
    for name, value in values.items():
        object.__setattr__(shape, name, value)


def _direction(arm: np.ndarray) -> Value:
    """Length (n,) and unit direction (n, 3); x where the length is zero."""
    length = np.linalg.norm(arm, axis=1)
    safe = np.where(length > 0.0, length, 1.0)
    return length, np.where(length[:, None] > 0.0, arm / safe[:, None], np.array([1.0, 0.0, 0.0]))


@dataclass(frozen=True, eq=False)
class Sphere(Shape):
    """A ball of `radius` [m] about `centre` [m]."""

    centre: Any
    radius: float

    def __post_init__(self) -> None:
        _put(self, centre=vector("centre", self.centre), radius=positive("radius", self.radius))

    def evaluate(self, points: np.ndarray) -> Value:
        """|p - c| - r."""
        length, g = _direction(points - self.centre)
        return length - self.radius, g

    @property
    def bounds(self) -> np.ndarray:
        """Box of the ball."""
        return np.stack([self.centre - self.radius, self.centre + self.radius])


@dataclass(frozen=True, eq=False)
class Box(Shape):
    """An axis-aligned box between the corners `low` and `high` [m]."""

    low: Any
    high: Any

    def __post_init__(self) -> None:
        low, high = vector("low", self.low), vector("high", self.high)
        if (high <= low).any():
            raise ArgumentError("high", f"is {self.high!r}", "greater than low in every coordinate")
        _put(self, low=low, high=high)

    def evaluate(self, points: np.ndarray) -> Value:
        """Exact distance of the box."""
        return box_distance(points - (self.low + self.high) / 2.0, (self.high - self.low) / 2.0)

    @property
    def bounds(self) -> np.ndarray:
        """The box itself."""
        return np.stack([self.low, self.high])


@dataclass(frozen=True, eq=False)
class HalfSpace(Shape):
    """Everything behind the plane through `point` [m] with outward `normal`."""

    point: Any
    normal: Any

    def __post_init__(self) -> None:
        _put(self, point=vector("point", self.point), normal=unit("normal", self.normal))

    def evaluate(self, points: np.ndarray) -> Value:
        """n . (p - point)."""
        return (points - self.point) @ self.normal, np.broadcast_to(self.normal, points.shape).copy()

    @property
    def bounds(self) -> np.ndarray:
        """Infinite, except along an axis-aligned normal."""
        out = np.array([[-np.inf] * 3, [np.inf] * 3])
        axis = int(np.argmax(np.abs(self.normal)))
        if abs(self.normal[axis]) == 1.0:
            out[1 if self.normal[axis] > 0 else 0, axis] = self.point[axis]
        return out


@dataclass(frozen=True, eq=False)
class Capsule(Shape):
    """All points within `radius` [m] of the segment from `start` to `end` [m]."""

    start: Any
    end: Any
    radius: float

    def __post_init__(self) -> None:
        _put(self, start=vector("start", self.start), end=vector("end", self.end))
        _put(self, radius=positive("radius", self.radius))

    def evaluate(self, points: np.ndarray) -> Value:
        """Distance to the segment minus r."""
        axis, arm = self.end - self.start, points - self.start
        square = float(axis @ axis)
        t = np.clip(arm @ axis / square, 0.0, 1.0) if square > 0.0 else np.zeros(len(points))
        length, g = _direction(arm - t[:, None] * axis)
        return length - self.radius, g

    @property
    def bounds(self) -> np.ndarray:
        """Box of the capsule."""
        ends = np.stack([self.start, self.end])
        return np.stack([ends.min(axis=0) - self.radius, ends.max(axis=0) + self.radius])


@dataclass(frozen=True, eq=False)
class Cone(Shape):
    """A frustum from `start` (radius_start) to `end` (radius_end) [m]; one radius may be zero."""

    start: Any
    end: Any
    radius_start: float
    radius_end: float

    def __post_init__(self) -> None:
        start, end = vector("start", self.start), vector("end", self.end)
        if np.linalg.norm(end - start) == 0.0:
            raise ArgumentError("end", "equals start", "a different point")
        radii = (self.radius_start, self.radius_end)
        if not all(np.isfinite(r) and r >= 0.0 for r in radii) or max(radii) == 0.0:
            raise ArgumentError("radius_start", f"radii are {radii}", "non-negative numbers, not both zero")
        _put(self, start=start, end=end)

    @cached_property
    def _section(self) -> Polygon:
        # Mirrored about the axis, so that the distance at (radius, height) is the true one.
        a, b, h = self.radius_start, self.radius_end, float(np.linalg.norm(self.end - self.start))
        outline = [(-a, 0.0), (a, 0.0), (b, h), (-b, h)]
        if a == 0.0:
            outline = outline[1:]
        elif b == 0.0:
            outline = outline[:3]
        return Polygon(outline)

    def evaluate(self, points: np.ndarray) -> Value:
        """The trapezium's distance at (distance from the axis, height)."""
        axis = unit("end", self.end - self.start)
        arm = points - self.start
        height = arm @ axis
        radius, outward = _direction(arm - height[:, None] * axis)
        d, g = self._section.evaluate(np.stack([radius, height], axis=1))
        return d, g[:, :1] * outward + g[:, 1:] * axis

    @property
    def bounds(self) -> np.ndarray:
        """Box of the two end discs."""
        axis = unit("end", self.end - self.start)
        reach = np.sqrt(np.maximum(1.0 - axis**2, 0.0))
        a, b = self.radius_start * reach, self.radius_end * reach
        return np.stack([np.minimum(self.start - a, self.end - b), np.maximum(self.start + a, self.end + b)])


def Cylinder(start: Any, end: Any, radius: float) -> Cone:  # noqa: N802 - reads as a shape
    """A cylinder of `radius` [m] from `start` to `end` [m]."""
    radius = positive("radius", radius)
    return Cone(start, end, radius, radius)


@dataclass(frozen=True, eq=False)
class Torus(Shape):
    """A ring: all points within `minor` [m] of the circle of radius `major` [m] about `centre`, `axis`."""

    centre: Any
    axis: Any
    major: float
    minor: float

    def __post_init__(self) -> None:
        _put(self, centre=vector("centre", self.centre), axis=unit("axis", self.axis))
        _put(self, major=positive("major", self.major), minor=positive("minor", self.minor))

    def evaluate(self, points: np.ndarray) -> Value:
        """Distance to the circle minus the minor radius."""
        arm = points - self.centre
        height = arm @ self.axis
        radius, outward = _direction(arm - height[:, None] * self.axis)
        ring = np.hypot(radius - self.major, height)
        safe = np.where(ring > 0.0, ring, 1.0)
        g = ((radius - self.major) / safe)[:, None] * outward + (height / safe)[:, None] * self.axis
        return ring - self.minor, np.where(ring[:, None] > 0.0, g, outward)

    @property
    def bounds(self) -> np.ndarray:
        """Box of the ring."""
        reach = self.major * np.sqrt(np.maximum(1.0 - self.axis**2, 0.0)) + self.minor
        return np.stack([self.centre - reach, self.centre + reach])


@dataclass(frozen=True, eq=False)
class Ellipsoid(Shape):
    """An axis-aligned ellipsoid about `centre` with semi-axes `radii` [m]; the exact distance, by Newton steps."""

    centre: Any
    radii: Any

    def __post_init__(self) -> None:
        radii = vector("radii", self.radii)
        if (radii <= 0.0).any():
            raise ArgumentError("radii", f"is {self.radii!r}", "three positive numbers")
        _put(self, centre=vector("centre", self.centre), radii=radii)

    def evaluate(self, points: np.ndarray) -> Value:
        """Closest point r_i^2 p_i / (t + r_i^2), t the largest root of sum (r_i p_i / (t + r_i^2))^2 = 1."""
        arm = points - self.centre
        scale = float(self.radii.max())
        p, r = np.abs(arm) / scale, self.radii / scale
        # On a symmetry plane inside, the foot may leave the plane: a tiny shift picks one side.
        p = np.maximum(p, 1e-14)
        t = (r * p - r * r).max(axis=1)
        for _ in range(100):
            q = r * p / (t[:, None] + r * r)
            f = (q * q).sum(axis=1) - 1.0
            slope = -2.0 * (q * q / (t[:, None] + r * r)).sum(axis=1)
            # Convex and decreasing: Newton from the left never overshoots.
            step = -f / slope
            t = t + np.maximum(step, 0.0)
            if (step <= 1e-15 * (1.0 + np.abs(t))).all():
                break
        foot = r * r * p / (t[:, None] + r * r)
        normal = foot / (r * r)
        normal /= np.linalg.norm(normal, axis=1, keepdims=True)
        d = np.einsum("ni,ni->n", p - foot, normal) * scale
        return d, normal * np.where(arm < 0.0, -1.0, 1.0)

    @property
    def bounds(self) -> np.ndarray:
        """Box of the ellipsoid."""
        return np.stack([self.centre - self.radii, self.centre + self.radii])


@dataclass(frozen=True, eq=False)
class Gyroid(Shape):
    """An unbounded gyroid sheet of `thickness` [m] with cubic cells of edge `cell` [m].

    Intersect it with a body. The distance is f / |grad f| to first order, f = sin x cos y + sin y cos z
    + sin z cos x: exact on the mid-surface.
    """

    cell: float
    thickness: float

    def __post_init__(self) -> None:
        _put(self, cell=positive("cell", self.cell), thickness=positive("thickness", self.thickness))

    def evaluate(self, points: np.ndarray) -> Value:
        """|f| / sqrt(|grad f|^2 + c f^2) - thickness / 2, with its exact gradient."""
        k = 2.0 * np.pi / self.cell
        s, c = np.sin(k * points), np.cos(k * points)
        nxt, prv = [1, 2, 0], [2, 0, 1]
        f = (s * c[:, nxt]).sum(axis=1)
        grad = k * (c * c[:, nxt] - s * s[:, prv])
        hess = np.zeros((len(points), 3, 3))
        for i in range(3):
            j = (i + 1) % 3
            hess[:, i, i] = -k * k * (s[:, i] * c[:, j] + s[:, (i + 2) % 3] * c[:, i])
            hess[:, i, j] += -k * k * c[:, i] * s[:, j]
            hess[:, j, i] += -k * k * c[:, i] * s[:, j]
        # The f^2 term keeps the quotient bounded where the gradient vanishes (the wells of f).
        square = np.einsum("ni,ni->n", grad, grad) + k * k * f * f
        root = np.sqrt(square)
        d_square = 2.0 * np.einsum("nij,nj->ni", hess, grad) + (2.0 * k * k * f)[:, None] * grad
        slope = grad / root[:, None] - (0.5 * f / (square * root))[:, None] * d_square
        return np.abs(f) / root - self.thickness / 2.0, np.where(f < 0.0, -1.0, 1.0)[:, None] * slope

    @property
    def bounds(self) -> np.ndarray:
        """Infinite."""
        return np.array([[-np.inf] * 3, [np.inf] * 3])


@dataclass(frozen=True, eq=False)
class Bellow(Shape):
    """A solid bellow along z from 0 to `length`: radius + (depth / 2) cos(2 pi waves z / length) [m].

    The outline is a polygon of `segments` pieces per wave, so the distance is exact for that polygon.
    Use `.shell(thickness)` for a hollow one.
    """

    length: float
    radius: float
    depth: float
    waves: int = 4
    segments: int = 16

    def __post_init__(self) -> None:
        for name in ("length", "radius", "depth"):
            _put(self, **{name: positive(name, getattr(self, name))})
        for name in ("waves", "segments"):
            value = getattr(self, name)
            if not isinstance(value, (int, np.integer)) or value < (1 if name == "waves" else 4):
                raise ArgumentError(name, f"is {value!r}", "a positive integer (segments: at least 4)")
        if self.depth / 2.0 >= self.radius:
            raise ArgumentError("depth", f"is {self.depth!r}", "less than twice the radius")

    @cached_property
    def _body(self) -> Revolution:
        z = np.linspace(0.0, self.length, self.waves * self.segments + 1)
        r = self.radius + 0.5 * self.depth * np.cos(2.0 * np.pi * self.waves * z / self.length)
        outline = np.concatenate([np.stack([r, z], 1), np.stack([-r, z], 1)[::-1]])
        return Revolution(Polygon(outline))

    def evaluate(self, points: np.ndarray) -> Value:
        """Distance of the revolved outline."""
        return self._body.evaluate(points)

    @property
    def bounds(self) -> np.ndarray:
        """Box of the bellow."""
        reach = self.radius + self.depth / 2.0
        return np.array([[-reach, -reach, 0.0], [reach, reach, self.length]])


@dataclass(frozen=True, eq=False)
class Helix(Shape):
    """A round tube of radius `tube` [m] along a helix about z that starts at (radius, 0, 0).

    The centre line is (radius cos t, radius sin t, pitch t / 2 pi), t from 0 to 2 pi turns; a negative pitch
    climbs down.
    """

    radius: float
    pitch: float
    turns: float
    tube: float

    def __post_init__(self) -> None:
        for name in ("radius", "turns", "tube"):
            _put(self, **{name: positive(name, getattr(self, name))})
        if not np.isfinite(self.pitch):
            raise ArgumentError("pitch", f"is {self.pitch!r}", "a finite number [m per turn]")

    def _line(self, t: np.ndarray) -> np.ndarray:
        rise = self.pitch / (2.0 * np.pi)
        return np.stack([self.radius * np.cos(t), self.radius * np.sin(t), rise * t], axis=1)

    @cached_property
    def _samples(self) -> tuple[np.ndarray, Any]:
        from scipy.spatial import cKDTree  # imported on use: keeps `import pliant` fast

        t = np.linspace(0.0, 2.0 * np.pi * self.turns, max(int(96 * self.turns), 8) + 1)
        return t, cKDTree(self._line(t))

    def evaluate(self, points: np.ndarray) -> Value:
        """Distance to the centre line minus the tube radius; Newton steps from the nearest sample."""
        samples, tree = self._samples
        start = samples[tree.query(points)[1]]
        gap, rise = samples[1] - samples[0], self.pitch / (2.0 * np.pi)
        low, high = np.maximum(start - gap, 0.0), np.minimum(start + gap, samples[-1])
        t = start.copy()
        for _ in range(8):
            c, s = self.radius * np.cos(t), self.radius * np.sin(t)
            arm = np.stack([c, s, rise * t], axis=1) - points
            first = -s * arm[:, 0] + c * arm[:, 1] + rise * arm[:, 2]
            second = self.radius**2 + rise**2 - c * arm[:, 0] - s * arm[:, 1]
            # Far from the curve the second derivative may not be positive: fall back to plain descent.
            curvature = np.where(second > 0.1 * (self.radius**2 + rise**2), second, self.radius**2 + rise**2)
            t = np.clip(t - first / curvature, low, high)
        length, g = _direction(points - self._line(t))
        return length - self.tube, g

    @property
    def bounds(self) -> np.ndarray:
        """Box of the helix."""
        reach, top = self.radius + self.tube, self.pitch * self.turns
        return np.array(
            [[-reach, -reach, min(top, 0.0) - self.tube], [reach, reach, max(top, 0.0) + self.tube]]
        )
