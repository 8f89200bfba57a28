"""How the actuators and sensors of a robot are tied to the nodes of a solid model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.actuators import Actuator, Cable, Chamber, PatchForce, PointForce, Slide, Stiffness
from pliant.errors import ArgumentError, UnknownNameError
from pliant.models.couplings import (
    Anchor,
    CablePath,
    Coupling,
    DirectedMotion,
    EnclosedVolume,
    FluidWeight,
    Tube,
)
from pliant.models.layout import Layout, Part

Array = np.ndarray
Bound = tuple[str, Any]


@dataclass(frozen=True, eq=False)
class Binding:
    """Actuators and sensors as functions of the node positions.

    Attributes:
        actuators: per actuator ("node", coupling), ("part", (part, row)) or ("stiffness", elements).
        springs: passive energies of the nodes (tubes around cables, weight of liquids).
        gauges: path of each strain gauge.
    """

    actuators: tuple[Bound, ...]
    springs: tuple[Coupling, ...]
    gauges: dict[str, CablePath]

    @property
    def couplings(self) -> list[Coupling]:
        """The actuators that are functions of the node positions."""
        return [c for kind, c in self.actuators if kind == "node"]


def bind(layout: Layout, other: Callable[[Actuator], Bound]) -> Binding:
    """Tie the actuators and sensors of a layout's robot to its nodes; `other` binds those unknown here."""
    bound: list[Bound] = []
    springs: list[Coupling] = []
    X = layout.rest_nodes
    for a in layout.robot.actuators:
        if isinstance(a, Cable):
            path = _cable(layout, a)
            bound.append(("node", path))
            if a.tube_stiffness:
                springs.append(Tube(path, a.tube_stiffness))
        elif isinstance(a, Chamber):
            triangles = layout.cavities[_owner(layout, a.cavity, a.body), a.cavity]
            bound.append(("node", EnclosedVolume(triangles, X)))
            if a.fluid_density:
                springs.append(FluidWeight(triangles, a.fluid_density, np.array(layout.robot.gravity)))
        elif isinstance(a, PointForce):
            anchor = layout.anchor(np.array(a.point), a.body)
            bound.append(("node", DirectedMotion(anchor.nodes, anchor.weights, np.array(a.direction), X)))
        elif isinstance(a, PatchForce):
            bound.append(("node", _patch(layout, a)))
        elif isinstance(a, Stiffness):
            bound.append(("stiffness", elements_of(layout, a.region, a.body)))
        elif isinstance(a, Slide):
            part = next(p for p in layout.parts if p.name == a.part)
            bound.append(("part", (part, _slide_row(part, np.array(a.axis), a.name))))
        else:
            bound.append(other(a))
    gauges = {
        s.name: CablePath([layout.anchor(np.array(p), s.body) for p in s.points], X) for s in layout.robot.sensors
    }
    return Binding(tuple(bound), tuple(springs), gauges)


def elements_of(layout: Layout, region: str, body: str) -> list[Array]:
    """Elements of a named region, one index array per group."""
    chosen = []
    for owner, group in layout.group_regions:
        mine = body in ("", owner.name) and region in owner.mesh.regions
        chosen.append(np.flatnonzero(np.isin(group.ids, owner.mesh.regions[region])) if mine else np.zeros(0, int))
    return chosen


def _cable(layout: Layout, a: Cable) -> CablePath:
    def fixed(position: Any) -> Anchor:
        return Anchor(np.zeros(0, int), np.zeros(0), np.array(position))

    anchors = [] if a.pull_point is None else [fixed(a.pull_point)]
    for i, p in enumerate(a.points):
        anchors.append(fixed(p) if i in a.world else layout.anchor(np.array(p), a.body))
    return CablePath(anchors, layout.rest_nodes, a.friction)


def _owner(layout: Layout, cavity: str, body: str) -> str:
    for owner, name in layout.cavities:
        if name == cavity and body in ("", owner):
            return owner
    raise UnknownNameError("cavity", cavity, [c for _, c in layout.cavities])


def _patch(layout: Layout, a: PatchForce) -> DirectedMotion:
    nodes = layout.skin_nodes
    if a.body:
        names = [b.name for b in layout.robot.bodies]
        nodes = nodes[layout.body_of[nodes] == names.index(a.body)]
    r = np.linalg.norm(layout.rest_nodes[nodes] - np.array(a.centre), axis=1) / a.radius
    inside = r < 1
    if not inside.any():
        raise ArgumentError(
            f"{a.name}.radius", "no surface node lies in the patch", "a larger radius or another centre"
        )
    weights = 1 - r[inside] ** 2
    return DirectedMotion(nodes[inside], weights / weights.sum(), np.array(a.direction), layout.rest_nodes)


def _slide_row(part: Part, axis: Array, name: str) -> Array:
    """Coefficients of a part's translations in its motion along an axis."""
    row = part.axes.T @ axis
    if part.translations == 0 or np.linalg.norm(row) < 1e-9:
        raise ArgumentError(f"{name}.axis", f"part {part.name!r} cannot move along it", "one of the part's axes")
    return row
