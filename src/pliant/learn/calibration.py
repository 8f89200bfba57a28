"""Calibration of materials for the geometric model: two-material bars, test curves, pressure-volume curves.

The picture of a stretched bar made of two materials gives the ratio of their stiffness, without any force being
measured. A bar of length L is stiff (A) up to L_1 and soft (B) beyond; its end is moved by D and its interface by D_1:

    R_m = E_A / E_B = L_1 (D - D_1) / ((L - L_1) D_1)

(the source labels this as the ratio of the strains of A and B; it is that of B and A).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.actuators import PointForce, PressureCurve, Slide
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.checks import positive
from pliant.errors import ArgumentError
from pliant.geometry import TetMesh
from pliant.materials import Corotational, Material
from pliant.models.geometric import GeometricModel
from pliant.models.geometric_stiffness import moduli_of
from pliant.robot import Robot
from pliant.solve.flex import flex

Array = np.ndarray

__all__ = [
    "PressureCurve", "ShapeCalibration", "calibrate_shape", "elasticity_ratio", "measured_ratio", "shape_material",
    "two_material_bar",
]  # fmt: skip


def elasticity_ratio(length: float, interface: float, moved: float, interface_moved: float) -> float:
    """R_m = E_A / E_B of a stretched two-material bar (A at the held end) from lengths in any one unit."""
    if not 0.0 < interface < length:
        raise ArgumentError("interface", f"{interface}", f"between 0 and the length {length}")
    if not 0.0 < interface_moved < moved:
        raise ArgumentError("interface_moved", f"{interface_moved}", f"between 0 and the motion of the end {moved}")
    return interface * (moved - interface_moved) / ((length - interface) * interface_moved)


def two_material_bar(
    stiff: Material,
    soft: Material,
    *,
    lengths: tuple[float, float, float] = (60e-3, 10e-3, 10e-3),
    interface: float = 0.5,
    cells: tuple[int, int, int] = (24, 4, 4),
    twist: bool = False,
) -> Robot:
    """A bar along x, held at x = 0, its far face moved by the actuator "pull" (or twisted by "up" and "down").

    Args:
        stiff: material A, from x = 0 to the interface.
        soft: material B, beyond it.
        lengths: of the bar [m].
        interface: where the materials meet, as a share of the length.
        cells: cells of the mesh; the interface is put on one of their faces.
        twist: the end is free to turn and two opposite forces act on its rim.

    Points: "interface" and "interface_rim", "tip" and "tip_rim".
    """
    if not 0.0 < interface < 1.0:
        raise ArgumentError("interface", f"{interface}", "between 0 and 1")
    L, W, H = lengths
    at = L * round(interface * cells[0]) / cells[0]
    mesh = TetMesh.box(lengths, cells, (0.0, -W / 2, -H / 2))
    mesh = mesh.with_node_set("base", lambda x: x[:, 0] < 1e-9)
    mesh = mesh.with_node_set("end", lambda x: x[:, 0] > L - 1e-9)
    mesh = mesh.with_region("soft", lambda x: x[:, 0] > at)
    rim = (0.0, W / 2, 0.0)
    points = (
        Point("interface", (at, 0.0, 0.0)),
        Point("interface_rim", (at, rim[1], 0.0)),
        Point("tip", (L, 0.0, 0.0)),
        Point("tip_rim", (L, rim[1], 0.0)),
    )
    actuators: tuple[Any, ...] = (Slide(name="pull", part="end", axis=(1, 0, 0)),)
    plate = RigidRegion("end", "end", axes=((1.0, 0.0, 0.0),), rotates=twist)
    if twist:
        actuators = (
            PointForce(name="up", point=(L, W / 2, 0.0), direction=(0, 0, 1)),
            PointForce(name="down", point=(L, -W / 2, 0.0), direction=(0, 0, -1)),
        )
    return Robot(
        "two_material_bar",
        (SoftBody("bar", mesh, stiff, {"soft": soft}),),
        (Fixation("base"),),
        rigid=(plate,),
        actuators=actuators,
        points=points,
        gravity=(0.0, 0.0, 0.0),
    )


def shape_material(shape: float, weight: float = 1e6) -> Corotational:
    """The material of a shape parameter R and a weight w [Pa]."""
    young, poisson = moduli_of(shape, weight)
    return Corotational.from_young(young, poisson)


def measured_ratio(stiff: Material, soft: Material, *, strain: float = 0.1, **bar: Any) -> tuple[float, float]:
    """R_m that a simulated bar shows when it is stretched by a strain, and the motion of its interface [m]."""
    robot = two_material_bar(stiff, soft, **bar)
    model = GeometricModel(robot)
    length = robot.points[2].position[0]
    interface = robot.points[0].position[0]
    state = flex(model, {"pull": strain * length}, strict=True)
    moved = float(model.locate(state, "interface").position[0]) - interface
    return elasticity_ratio(length, interface, strain * length, moved), moved


@dataclass(frozen=True)
class ShapeCalibration:
    """What `calibrate_shape` found.

    Attributes:
        shape: shape parameter R of the softer material; that of the stiffer one was given.
        ratio: ratio of the two shape parameters.
        elasticity: R_m of the simulated bar.
        interface_moved: motion of its interface [m].
        steps: bisection steps.
    """

    shape: float
    ratio: float
    elasticity: float
    interface_moved: float
    steps: int


def calibrate_shape(
    elasticity: float, *, stiff_shape: float = 1.0, tolerance: float = 1e-2, strain: float = 0.1, **bar: Any
) -> ShapeCalibration:
    """Shape parameter of the softer material from the measured ratio R_m, by bisection as in the source.

    Args:
        elasticity: measured R_m = E_A / E_B (see `elasticity_ratio`), at least 1.
        stiff_shape: shape parameter of the stiffer material.
        tolerance: relative width of the bracket of R at which the bisection ends.
        strain: strain of the bar.
        bar: options of `two_material_bar`.
    """
    if not (np.isfinite(elasticity) and elasticity >= 1.0):
        raise ArgumentError("elasticity", f"{elasticity}", "a ratio of at least 1 (stiff over soft)")
    positive("tolerance", tolerance)
    stiff = shape_material(stiff_shape)
    low, high = np.log(stiff_shape / (20.0 * elasticity)), np.log(stiff_shape)
    shape, found, moved, steps = stiff_shape, 1.0, 0.0, 0
    for steps in range(1, 40):  # noqa: B007
        shape = float(np.exp(0.5 * (low + high)))
        found, moved = measured_ratio(stiff, shape_material(shape), strain=strain, **bar)
        if found > elasticity:
            low = np.log(shape)
        else:
            high = np.log(shape)
        if high - low < tolerance:
            break
    return ShapeCalibration(shape, stiff_shape / shape, found, moved, steps)
