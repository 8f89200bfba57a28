"""What a robot is made of: soft bodies, rods, rigid bodies, and how they are held.

All are frozen descriptions; positions are in the rest pose, in world axes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.actuators.actuator import (
    Quaternion,
    check_direction,
    check_name,
    check_points,
    check_quaternion,
    check_vector,
)
from pliant.checks import instance, non_negative, positive
from pliant.errors import ArgumentError, UnknownNameError
from pliant.geometry import TetMesh
from pliant.materials import Material

Vector = tuple[float, float, float]
AXES: tuple[Vector, ...] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@dataclass(frozen=True, eq=False)
class SoftBody:
    """A deformable solid: a tetrahedral mesh and the material of each of its regions.

    Attributes:
        name: unique name in the robot.
        mesh: rest shape [m]; must be usable (no inverted elements, ...).
        material: material of everything that no region overrides.
        materials: material per region of the mesh.
    """

    name: str
    mesh: TetMesh
    material: Material
    materials: Mapping[str, Material] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_name("name", self.name)
        instance(f"{self.name}.mesh", self.mesh, TetMesh).validate()
        instance(f"{self.name}.material", self.material, Material)
        for region, material in instance(f"{self.name}.materials", self.materials, Mapping).items():
            instance(f"{self.name}.materials[{region!r}]", material, Material)
            if region not in self.mesh.regions:
                raise UnknownNameError(f"region of body {self.name!r}", region, self.mesh.regions)


@dataclass(frozen=True, eq=False)
class RodBody:
    """A slender body along a curve; at rest it runs along its local x axis, possibly pre-curved.

    Attributes:
        name: unique name in the robot.
        length: arc length at rest [m].
        radius: outer radius [m]: a number, or values at equally spaced stations along the rod (tapered).
        inner_radius: radius of a central hole [m], same form; 0 for solid.
        material: material; only its small-strain moduli, density and damping are used.
        position: where the base is [m].
        rotation: orientation of the base (wxyz).
        rest_curvature: curvature and torsion of the rest shape (kappa_x, kappa_y, kappa_z) [1/m].
        parent: name of the rod at whose tip this one starts (position and rotation are then relative to
            it); "" for none.
        tip_mass: mass of a rigid payload at the tip [kg].
        damping: viscosity of the material relative to its stiffness (Kelvin-Voigt time) [s].
        axes: directions along which the base may translate, in the axes of the world or of the parent's tip; ()
            holds its position.
        rotates: whether the base may rotate freely.
    """

    name: str
    length: float
    radius: float | tuple[float, ...]
    material: Material
    inner_radius: float | tuple[float, ...] = 0.0
    position: Vector = (0.0, 0.0, 0.0)
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)
    rest_curvature: Vector = (0.0, 0.0, 0.0)
    parent: str = ""
    tip_mass: float = 0.0
    damping: float = 0.0
    axes: tuple[Vector, ...] = ()
    rotates: bool = False

    def __post_init__(self) -> None:
        check_name("name", self.name)
        object.__setattr__(self, "axes", _axes(f"{self.name}.axes", self.axes))
        instance(f"{self.name}.material", self.material, Material)
        for f, check in (("length", positive), ("tip_mass", non_negative), ("damping", non_negative)):
            object.__setattr__(self, f, check(f"{self.name}.{f}", getattr(self, f)))
        outer = _stations(f"{self.name}.radius", self.radius, positive)
        inner = _stations(f"{self.name}.inner_radius", self.inner_radius, non_negative)
        if max(inner) >= min(outer):
            raise ArgumentError(f"{self.name}.inner_radius", f"{self.inner_radius}", "numbers in [0, radius)")
        for f, values in (("radius", outer), ("inner_radius", inner)):
            object.__setattr__(self, f, values[0] if len(values) == 1 else values)
        object.__setattr__(self, "position", check_vector(f"{self.name}.position", self.position))
        object.__setattr__(self, "rest_curvature", check_vector(f"{self.name}.rest_curvature", self.rest_curvature))
        object.__setattr__(self, "rotation", check_quaternion(f"{self.name}.rotation", self.rotation))

    def radii(self, s: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Outer and inner radius [m] at the arc lengths s [m] (linear between the stations)."""
        s = np.asarray(s, float)

        def at(values: float | tuple[float, ...]) -> np.ndarray:
            table = np.atleast_1d(np.asarray(values, float))
            if len(table) == 1:
                return np.full(s.shape, table[0])
            return np.interp(s, np.linspace(0.0, self.length, len(table)), table)

        return at(self.radius), at(self.inner_radius)


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A rigid object that moves with the robot (a grasped cup, a fingertip, a platform).

    Attributes:
        name: unique name in the robot.
        vertices: surface points in the rest pose, world axes [m] (n, 3).
        triangles: outward faces (k, 3).
        mass: mass [kg]; the inertia is that of the vertices' hull, homogeneous.
        axes: directions along which it may translate; () holds its position.
        rotates: whether it may rotate.
    """

    name: str
    vertices: np.ndarray
    triangles: np.ndarray
    mass: float = 0.0
    axes: tuple[Vector, ...] = AXES
    rotates: bool = True

    def __post_init__(self) -> None:
        check_name("name", self.name)
        vertices = np.asarray(check_points(f"{self.name}.vertices", self.vertices))
        try:
            triangles = np.asarray(self.triangles, dtype=np.int64)
        except (TypeError, ValueError):
            triangles = np.zeros((0, 3), np.int64)
        shaped = triangles.ndim == 2 and triangles.shape[1] == 3 and len(triangles) > 0
        if not shaped or triangles.min() < 0 or triangles.max() >= len(vertices):
            raise ArgumentError(f"{self.name}.triangles", "wrong shape or index", "(k, 3) indices of vertices")
        object.__setattr__(self, "mass", non_negative(f"{self.name}.mass", self.mass))
        vertices.setflags(write=False)
        object.__setattr__(self, "vertices", vertices)
        object.__setattr__(self, "triangles", triangles)
        object.__setattr__(self, "axes", _axes(f"{self.name}.axes", self.axes))


@dataclass(frozen=True)
class RigidRegion:
    """Nodes of a soft body that move as one rigid part (a plate, a bone, a platform).

    Attributes:
        name: unique name in the robot.
        nodes: name of a node set of the body's mesh.
        body: name of the body; "" if the robot has only one.
        axes: directions along which the part may translate; () holds its position.
        rotates: whether it may rotate.
        mass: additional mass of the part [kg].
    """

    name: str
    nodes: str
    body: str = ""
    axes: tuple[Vector, ...] = AXES
    rotates: bool = True
    mass: float = 0.0

    def __post_init__(self) -> None:
        check_name("name", self.name)
        instance(f"{self.name}.nodes", self.nodes, str)
        object.__setattr__(self, "axes", _axes(f"{self.name}.axes", self.axes))
        object.__setattr__(self, "mass", non_negative(f"{self.name}.mass", self.mass))


@dataclass(frozen=True)
class Fixation:
    """Nodes of a soft body held in place, in all or in some world directions.

    Attributes:
        nodes: name of a node set of the body's mesh.
        body: name of the body; "" if the robot has only one.
        axes: the held directions, some of "xyz".
    """

    nodes: str
    body: str = ""
    axes: str = "xyz"

    def __post_init__(self) -> None:
        instance("nodes", self.nodes, str)
        if not isinstance(self.axes, str) or not self.axes or set(self.axes) - set("xyz"):
            raise ArgumentError("axes", f"{self.axes!r}", "some of 'xyz'")


@dataclass(frozen=True)
class Point:
    """A named point of the robot, with the frame that it carries.

    Attributes:
        name: unique name in the robot.
        position: where it is in the rest pose [m].
        body: name of the body; "" takes the nearest.
        rotation: orientation of its frame in the rest pose (wxyz).
    """

    name: str
    position: Vector
    body: str = ""
    rotation: Quaternion = (1.0, 0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        check_name("name", self.name)
        object.__setattr__(self, "position", check_vector(f"{self.name}.position", self.position))
        object.__setattr__(self, "rotation", check_quaternion(f"{self.name}.rotation", self.rotation))


@dataclass(frozen=True)
class StrainGauge:
    """A sensor: engineering strain of a path on the body, (L - L_0) / L_0 [-].

    Attributes:
        name: unique name in the robot.
        points: path in the rest pose [m] (n, 3).
        body: name of the body; "" takes the nearest.
    """

    name: str
    points: tuple[Vector, ...]
    body: str = ""

    def __post_init__(self) -> None:
        check_name("name", self.name)
        points = check_points(f"{self.name}.points", self.points)
        if len(points) < 2:
            raise ArgumentError(f"{self.name}.points", "a path needs a length", "at least two points")
        object.__setattr__(self, "points", points)


def _stations(argument: str, value: Any, check: Callable[[str, Any], float]) -> tuple[float, ...]:
    """One number or several, each checked."""
    if not isinstance(value, list | tuple | np.ndarray) or np.ndim(value) == 0:
        return (check(argument, value),)
    if len(value) == 0:
        raise ArgumentError(argument, "is empty", "a number, or numbers at equally spaced stations")
    return tuple(check(f"{argument}[{i}]", v) for i, v in enumerate(value))


def _axes(argument: str, value: Any) -> tuple[Vector, ...]:
    if not isinstance(value, list | tuple | np.ndarray):
        raise ArgumentError(argument, f"is {value!r}", "up to three directions")
    axes = tuple(check_direction(f"{argument}[{i}]", axis) for i, axis in enumerate(value))
    if axes and np.linalg.matrix_rank(np.array(axes)) < len(axes):
        raise ArgumentError(argument, "the directions are dependent", "up to three independent directions")
    return axes
