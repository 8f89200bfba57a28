"""Where a picture is taken from."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from pliant.errors import ArgumentError

Array = np.ndarray


@dataclass(frozen=True)
class Camera:
    """A camera that looks at a target from a direction.

    Attributes:
        azimuth: direction from the target to the camera around z, from the x axis [degrees].
        elevation: its height above the horizon [degrees], -89 to 89.
        distance: distance to the target [m]; None fits what is drawn.
        target: what it looks at [m]; None is the middle of what is drawn.
        fov: vertical field of view [degrees].
    """

    azimuth: float = -60.0
    elevation: float = 22.0
    distance: float | None = None
    target: tuple[float, float, float] | None = None
    fov: float = 28.0

    def __post_init__(self) -> None:
        if not math.isfinite(self.azimuth):
            raise ArgumentError("camera.azimuth", f"{self.azimuth}", "a finite number [degrees]")
        if not -89.0 <= self.elevation <= 89.0:
            raise ArgumentError("camera.elevation", f"{self.elevation}", "-89 to 89 [degrees]")
        if not 1.0 <= self.fov <= 120.0:
            raise ArgumentError("camera.fov", f"{self.fov}", "1 to 120 [degrees]")
        if self.distance is not None and not 0 < self.distance < math.inf:
            raise ArgumentError("camera.distance", f"{self.distance}", "a positive number [m]")

    @property
    def axes(self) -> Array:
        """Right, up and forward directions as rows (3, 3)."""
        a, e = math.radians(self.azimuth), math.radians(self.elevation)
        forward = -np.array([math.cos(e) * math.cos(a), math.cos(e) * math.sin(a), math.sin(e)])
        right = np.cross(forward, [0.0, 0.0, 1.0])
        right /= np.linalg.norm(right)
        return np.stack([right, np.cross(right, forward), forward])


@dataclass(frozen=True, eq=False)
class View:
    """A camera placed for a picture of a size.

    Attributes:
        eye: position of the camera [m] (3,).
        axes: right, up and forward as rows (3, 3).
        focal: focal length [pixels].
        width: width [pixels].
        height: height [pixels].
    """

    eye: Array
    axes: Array
    focal: float
    width: int
    height: int

    @staticmethod
    def fit(camera: Camera, points: Array, width: int, height: int, *, margin: float = 1.12) -> View:
        """Place a camera such that the points [m] (n, 3) fill the picture, if the camera leaves it open."""
        focal = 0.5 * height / math.tan(math.radians(camera.fov) / 2)
        axes = camera.axes
        low, high = points.min(axis=0), points.max(axis=0)
        target = np.array(camera.target, float) if camera.target is not None else (low + high) / 2
        distance = camera.distance
        for _ in range(3 if camera.distance is None else 0):
            local = (points - target) @ axes.T
            reach_x = np.abs(local[:, 0]) * margin * 2 * focal / width - local[:, 2]
            reach_y = np.abs(local[:, 1]) * margin * 2 * focal / height - local[:, 2]
            distance = float(max(reach_x.max(), reach_y.max(), 1e-9))
            if camera.target is not None:
                break
            # Centre what is seen: shift by the middle of the projected box.
            scale = distance + local[:, 2]
            for axis in (0, 1):
                seen = local[:, axis] / scale
                target = target + axes[axis] * (seen.min() + seen.max()) / 2 * distance
        return View(target - float(distance or 1.0) * axes[2], axes, focal, width, height)

    def project(self, points: Array) -> tuple[Array, Array]:
        """Pixels (n, 2) and depths [m] (n,) of points."""
        local = (points - self.eye) @ self.axes.T
        depth = local[:, 2]
        safe = np.where(np.abs(depth) > 1e-9, depth, 1e-9)
        x = 0.5 * self.width + self.focal * local[:, 0] / safe
        y = 0.5 * self.height - self.focal * local[:, 1] / safe
        return np.stack([x, y], axis=1), depth
