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
from numpy.typing import ArrayLike

from pliant.actuators import PointForce, Slide
from pliant.bodies import Fixation, Point, RigidRegion, SoftBody
from pliant.errors import ArgumentError
from pliant.geometry import TetMesh
from pliant.materials import Corotational, Material
from pliant.models.geometric import GeometricModel
from pliant.models.geometric_stiffness import moduli_of
from pliant.robot import Robot
from pliant.solve.flex import flex

Array = np.ndarray


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


@dataclass(frozen=True, eq=False)
class PressureCurve:
    """Volume ratio and pressure of a chamber, filling and emptying (hysteresis).

    Attributes:
        ratio: volume ratios, increasing (n,).
        filling: pressures while the chamber is filled [Pa] (n,).
        emptying: pressures while it is emptied [Pa] (n,).
    """

    ratio: Array
    filling: Array
    emptying: Array

    @classmethod
    def from_samples(
        cls,
        filling: tuple[ArrayLike, ArrayLike],
        emptying: tuple[ArrayLike, ArrayLike] | None = None,
        *,
        points: int = 33,
    ) -> PressureCurve:
        """The monotone curves nearest to measured (ratio, pressure [Pa]) pairs.

        Args:
            filling: ratios and pressures while the chamber is filled.
            emptying: the same while it is emptied; equal to filling if None.
            points: points of the table.
        """
        branches = [_clean(*filling), _clean(*(emptying if emptying is not None else filling))]
        low = max(b[0][0] for b in branches)
        high = min(b[0][-1] for b in branches)
        if not high > low:
            raise ArgumentError("filling", "the two branches do not overlap", "the same range of volume ratios")
        grid = np.linspace(low, high, points)
        return cls(grid, *(np.interp(grid, *b) for b in branches))

    def pressure(self, ratio: float, *, emptying: bool = False) -> float:
        """Pressure [Pa] at a volume ratio."""
        self._inside("ratio", ratio, self.ratio)
        return float(np.interp(ratio, self.ratio, self.emptying if emptying else self.filling))

    def volume_ratio(self, pressure: float, *, emptying: bool = False) -> float:
        """Volume ratio at a pressure [Pa]."""
        table = self.emptying if emptying else self.filling
        self._inside("pressure", pressure, table)
        return float(np.interp(pressure, table, self.ratio))

    @property
    def hysteresis(self) -> float:
        """Largest difference of the branches over the range of pressures [-]."""
        span = max(float(np.ptp(self.filling)), 1e-300)
        return float(np.abs(self.filling - self.emptying).max()) / span

    @staticmethod
    def _inside(name: str, value: float, table: Array) -> None:
        if not table[0] - 1e-12 <= value <= table[-1] * (1 + 1e-12) + 1e-12:
            raise ArgumentError(name, f"{value}", f"inside of the measured range {table[0]:.4g} to {table[-1]:.4g}")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers for a robot file."""
        return {"ratio": self.ratio.tolist(), "filling": self.filling.tolist(), "emptying": self.emptying.tolist()}

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> PressureCurve:
        """The curve saved by `to_dict`."""
        try:
            return cls(*(np.array(data[k], dtype=float) for k in ("ratio", "filling", "emptying")))
        except (KeyError, TypeError, ValueError):
            raise ArgumentError("data", "not a pressure curve", "ratio, filling and emptying") from None


def _clean(ratio: ArrayLike, pressure: ArrayLike) -> tuple[Array, Array]:
    """Sorted samples with increasing pressures (pool adjacent violators)."""
    x, y = np.asarray(ratio, float).ravel(), np.asarray(pressure, float).ravel()
    if x.shape != y.shape or len(x) < 2 or not (np.isfinite(x).all() and np.isfinite(y).all()):
        raise ArgumentError("samples", f"{x.shape} ratios, {y.shape} pressures", "two finite lists of equal length")
    order = np.argsort(x)
    x, y = x[order], y[order]
    if x[0] <= 0.0:
        raise ArgumentError("samples", f"a volume ratio of {x[0]}", "positive ratios")
    blocks: list[list[float]] = []
    for value in y:
        blocks.append([value, 1.0])
        while len(blocks) > 1 and blocks[-2][0] > blocks[-1][0]:
            v, n = blocks.pop()
            blocks[-1] = [(blocks[-1][0] * blocks[-1][1] + v * n) / (blocks[-1][1] + n), blocks[-1][1] + n]
    fitted = np.concatenate([np.full(int(n), v) for v, n in blocks])
    return x, fitted
