"""Obstacle: a rigid thing in the way, known by its signed distance.

An obstacle is described in its own frame and placed in the world by a `Pose`. Its distance is
positive outside of the material and negative inside; its normal is the outward unit gradient of the
distance, the direction in which it pushes. The Hessian of the distance (`curvature`) lets Newton's
method converge quadratically on curved obstacles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from pliant.checks import non_negative
from pliant.checks import positive as positive
from pliant.errors import ArgumentError

Array = np.ndarray
Vector = Sequence[float] | np.ndarray


def vector3(argument: str, value: Any) -> Array:
    """A finite vector (3,), or an `ArgumentError` naming the argument."""
    try:
        result = np.array(value, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(argument, f"{value!r} is not a vector", "three finite numbers") from None
    if result.shape != (3,):
        raise ArgumentError(argument, f"shape {result.shape}", "three finite numbers")
    if not np.all(np.isfinite(result)):
        raise ArgumentError(argument, f"{result.tolist()} is not finite", "three finite numbers")
    result.setflags(write=False)
    return result


def unit3(argument: str, value: Any) -> Array:
    """A unit vector (3,) along the value, or an `ArgumentError` if it has no direction."""
    result = vector3(argument, value)
    length = np.linalg.norm(result)
    if not length > 0.0:
        raise ArgumentError(argument, "the zero vector has no direction", "a non-zero vector")
    result = result / length
    result.setflags(write=False)
    return result


def rotation_matrix(argument: str, value: Any) -> Array:
    """A rotation (3, 3) from a matrix or from a quaternion wxyz (4,)."""
    r = np.array(value, dtype=float)
    if r.shape == (4,):
        norm = np.linalg.norm(r)
        if not (np.isfinite(norm) and norm > 0.0):
            raise ArgumentError(argument, f"{r.tolist()} is no quaternion", "a non-zero quaternion wxyz")
        w, x, y, z = r / norm
        r = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        )
    if r.shape != (3, 3):
        raise ArgumentError(argument, f"shape {r.shape}", "a matrix (3, 3) or a quaternion wxyz (4,)")
    if not np.allclose(r @ r.T, np.eye(3), atol=1e-8) or np.linalg.det(r) < 0.0:
        raise ArgumentError(argument, "it is not a rotation", "an orthonormal matrix with det +1")
    r.setflags(write=False)
    return r


def points3(points: Any) -> Array:
    """Points (n, 3) as a contiguous float array, or an `ArgumentError`."""
    p = np.ascontiguousarray(points, dtype=float)
    if p.ndim != 2 or p.shape[1] != 3:
        raise ArgumentError("points", f"shape {p.shape}", "an array (n, 3)")
    if not np.all(np.isfinite(p)):
        bad = int(np.flatnonzero(~np.isfinite(p).all(axis=1))[0])
        raise ArgumentError("points", f"point {bad} is not finite: {p[bad].tolist()}", "finite numbers")
    return p


@dataclass(frozen=True, eq=False)
class Pose:
    """Placement of an obstacle's own frame in the world: x_world = rotation x + translation.

    Attributes:
        translation: [m] (3,).
        rotation: matrix (3, 3) or quaternion wxyz (4,), or None for the identity.
    """

    translation: Vector = (0.0, 0.0, 0.0)
    rotation: Any = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "translation", vector3("translation", self.translation))
        if self.rotation is not None:
            object.__setattr__(self, "rotation", rotation_matrix("rotation", self.rotation))

    @property
    def identity(self) -> bool:
        """True if the pose moves nothing."""
        return self.rotation is None and not np.any(self.translation)

    @property
    def matrix(self) -> Array:
        """The rotation matrix (3, 3)."""
        return np.eye(3) if self.rotation is None else self.rotation

    def apply(self, points: Array) -> Array:
        """Points (n, 3) of the own frame, in the world."""
        return (points if self.rotation is None else points @ self.rotation.T) + self.translation

    def undo(self, points: Array) -> Array:
        """Points (n, 3) of the world, in the own frame."""
        p = points - self.translation
        return p if self.rotation is None else p @ self.rotation

    def turn(self, directions: Array) -> Array:
        """Directions (n, 3) of the own frame, in the world."""
        return directions if self.rotation is None else directions @ self.rotation.T

    def then(self, later: Pose) -> Pose:
        """This pose followed by a later one (both act in world axes)."""
        rotation = None
        if self.rotation is not None or later.rotation is not None:
            rotation = later.matrix @ self.matrix
        return Pose(later.matrix @ np.asarray(self.translation) + later.translation, rotation)


Motion = Callable[[float], Any]  # time [s] -> Pose, or a translation [m] (3,)


@dataclass(frozen=True, eq=False, kw_only=True)
class Obstacle:
    """Base of all obstacles; parameters of the children are in the obstacle's own frame.

    Attributes:
        name: how the obstacle is called in results.
        friction: Coulomb coefficient [-]; 0 is frictionless.
        motion: given pose over time, t [s] -> Pose, or the translation alone [m] (3,); None stands still.
        pose: where the obstacle is now.
    """

    name: str = ""
    friction: float = 0.0
    motion: Motion | None = field(default=None, repr=False)
    pose: Pose = field(default=Pose(), repr=False)

    #: True if the solid is convex: then its distance is a convex function and cheap bounds hold.
    convex = True
    #: True if its surface has no curvature anywhere: contacts with it neither turn nor wander.
    flat = False

    def __post_init__(self) -> None:
        if not isinstance(self.name, str):
            raise ArgumentError("name", f"{self.name!r} is not a string", "a string")
        mu = non_negative("friction", self.friction)
        if self.motion is not None and not callable(self.motion):
            raise ArgumentError("motion", "it is not callable", "a function t -> Pose or translation")
        object.__setattr__(self, "friction", mu)
        if not self.name:
            object.__setattr__(self, "name", type(self).__name__.lower())

    # ---- what a kind of obstacle defines, in its own frame ------------------------------------
    def signed(self, points: Array) -> tuple[Array, Array]:
        """Distance (n,) and its gradient (n, 3) in the own frame."""
        raise NotImplementedError

    def hessian(self, points: Array) -> Array | None:
        """Second derivative of the distance (n, 3, 3) in the own frame, or None if unknown."""
        return None

    def triangulation(self) -> tuple[Array, Array]:
        """A surface for drawing, in the own frame: vertices (n, 3), triangles (m, 3)."""
        raise NotImplementedError

    # ---- what everybody uses, in the world --------------------------------------------------------
    def distance(self, points: Array) -> Array:
        """Signed distance of world points [m] (n,): positive outside, negative inside."""
        return self.signed(self.pose.undo(points3(points)))[0]

    def normals(self, points: Array) -> Array:
        """Outward unit gradient of the distance at world points (n, 3)."""
        return self.pose.turn(self.signed(self.pose.undo(points3(points)))[1])

    def distance_and_normals(self, points: Array) -> tuple[Array, Array]:
        """Both of the above in one evaluation."""
        d, n = self.signed(self.pose.undo(points3(points)))
        return d, self.pose.turn(n)

    def closest(self, points: Array) -> Array:
        """Closest points of the obstacle's surface [m] (n, 3)."""
        p = points3(points)
        d, n = self.distance_and_normals(p)
        return p - d[:, None] * n

    def curvature(self, points: Array) -> Array | None:
        """Hessian of the distance at world points [1/m] (n, 3, 3), or None if it is not known."""
        h = self.hessian(self.pose.undo(points3(points)))
        if h is None or self.pose.rotation is None:
            return h
        r = self.pose.rotation
        return np.einsum("ai,nij,bj->nab", r, h, r)

    def surface(self) -> tuple[Array, Array]:
        """A triangulation for drawing, in the world: vertices [m] (n, 3), triangles (m, 3)."""
        vertices, triangles = self.triangulation()
        return self.pose.apply(vertices), triangles

    def moved(self, translation: Vector = (0.0, 0.0, 0.0), rotation: Any = None) -> Self:
        """A copy moved from where it is now: x -> rotation x + translation, about the world's origin."""
        return self.placed(self.pose.then(Pose(translation, rotation)))

    def placed(self, pose: Pose) -> Self:
        """A copy at the given pose."""
        other = copy(self)  # the rest was checked when this one was made
        object.__setattr__(other, "pose", pose)
        return other

    def at(self, time: float) -> Self:
        """The obstacle at a time [s] of its given motion (itself if it has none)."""
        if self.motion is None:
            return self
        pose = self.motion(float(time))
        if not isinstance(pose, Pose):  # a place alone: moved there, not turned
            pose = Pose(vector3("what motion(t) returns", pose))
        return self.placed(pose)
