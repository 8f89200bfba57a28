"""FemModel: finite elements for soft bodies, with exact forces and tangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._kernels import elements as kernels
from pliant._kernels.material_codes import COROTATIONAL, LINEAR
from pliant._kernels.materials import volumetric
from pliant._kernels.tetrahedra import linear_tangents
from pliant.materials.material import Material
from pliant.materials.moduli import plate_modulus
from pliant.models.fields import surface_field
from pliant.models.partition import Partition, Shared
from pliant.models.shapes import Elements
from pliant.models.solid import SolidModel
from pliant.robot import Robot

Array = np.ndarray
# Volumetric stiffness that stays at the quadrature points of quadratic tetrahedra, in shear moduli. Measured on a
# cantilever of stable neo-Hookean rubber (docs/decisions.md): with 2.5 and one element across, the sag is within 3 % of
# the converged answer at nu = 0.3, 0.45 and 0.4999.
_SHARE = 2.5
# [ns] that one quadrature point of four nodes takes one thread: energy, force, force and tangent
_ENERGY, _FORCE, _TANGENT = 120.0, 140.0, 400.0


class FemModel(SolidModel):
    """Finite elements on the bodies' meshes.

    Linear tetrahedra are fast and, on coarse meshes, too stiff. Quadratic ones cost about ten times more per element,
    do not lock in bending, and use the mean dilatation of each element so that nearly incompressible rubber does
    not lock either. Hexahedra are used where the mesh has them.

    Args:
        robot: the description.
        element: "linear" or "quadratic" tetrahedra.
        mass: "lumped" or "consistent" mass matrix.
        projected: use the mean dilatation of each element with several quadrature points (recommended).
    """

    def __init__(self, robot: Robot, *, element: str = "linear", mass: str = "lumped", projected: bool = True) -> None:
        self.projected = bool(projected)
        super().__init__(robot, element=element, mass=mass)
        self._single = [_one_point(g) for g in self.layout.groups]
        self._shared = Shared(self.layout.rest_nodes, [g.cells for g in self.layout.groups])
        self._points = sum(g.weights.size * g.cells.shape[1] / 4 for g in self.layout.groups)
        self._dry = np.zeros((len(self._codes), 2))  # no viscous moduli
        self._others = None if (self._codes == COROTATIONAL).all() else True  # laws that need compiling
        bulk = np.array([volumetric(code, p, 1.0)[2] for code, p in zip(self._codes, self._params)])
        # Prisms have a constant thickness strain: they bend right with the modulus of plane stress at their points.
        plates = [_plate_share(k, m) for k, m in zip(bulk, self.materials)]
        share = np.minimum(bulk, _SHARE * np.array([m.shear for m in self.materials]))
        self._pointwise = {"tet10": share, "hex8": np.zeros_like(share), "prism6": np.array(plates)}

    def __repr__(self) -> str:
        return f"FemModel({self.robot.name!r}, {self.nodes} nodes, {self.nv} dofs, element={self.element!r})"

    def field(self, q: Array, effort: Array, name: str) -> Array:
        """Displacement [m], strain [-] or stress [Pa] per skin vertex (n,); see `pliant.models.fields`."""
        return surface_field(self, q, effort, name)

    def _elastic_energy(self, x: Array, scale: list[Array]) -> float:
        # no dot product: BLAS would wake threads for it
        return float(sum((s * e).sum() for s, e in zip(scale, self._element_energies(x))))

    def _element_energies(self, x: Array) -> list[Array]:
        out = [np.empty(len(g.cells)) for g in self.layout.groups]
        partition = self._shared.partition(_ENERGY * self._points)

        def work(part: int) -> None:
            for g, m, single, e in zip(self.layout.groups, self._material, self._single, out):
                bounds = (len(e) * part // partition.parts, len(e) * (part + 1) // partition.parts)
                if single:
                    kernels.linear_energies(x, g.cells, *single, m, self._codes, self._params, *bounds, e)
                else:
                    kernels.quadrature_energies(x, *self._quadrature(g, m), *bounds, e)

        self._shared.run(partition, work)
        return out

    def _region_energy(self, x: Array, regions: list[Array]) -> float:
        return float(sum(e[ids].sum() for e, ids in zip(self._element_energies(x), regions)))

    def _region_energies(self, x: Array, regions: list[list[Array]]) -> list[float]:
        energies = self._element_energies(x)
        return [float(sum(e[ids].sum() for e, ids in zip(energies, region))) for region in regions]

    def _region_force(self, x: Array, region: list[Array], out: Array) -> None:
        # one part that has just these elements
        self._forces(x, [np.ones(len(m)) for m in self._material], _part_of(len(x), region), out)

    def _quadrature(self, group: Elements, material: Array) -> tuple[Any, ...]:
        """What the kernels of elements with several points take first, after the pose."""
        return (
            group.cells, group.grads, group.weights, material, self._codes, self._params, self.projected,
            self._pointwise[group.kind],
        )  # fmt: skip

    def _elastic_force(self, x: Array, scale: list[Array], out: Array) -> float:
        return self._forces(x, scale, self._shared.partition(_FORCE * self._points), out)

    def _forces(self, x: Array, scale: list[Array], partition: Partition, out: Array) -> float:
        energies = [np.zeros(len(m)) for m in self._material]

        def work(part: int) -> None:
            for g, m, single, s, chosen, e in zip(
                self.layout.groups, self._material, self._single, scale, partition.chosen[part], energies
            ):
                share = (s, chosen, partition.owner, partition.name(part), e)
                if single:
                    kernels.linear_forces(x, g.cells, *single, m, self._codes, self._params, *share, out)
                else:
                    kernels.quadrature_forces(x, *self._quadrature(g, m), *share, out)

        self._shared.run(partition, work)
        return _sum_or_spoil(energies, out)

    def _elastic_tangent(self, x: Array, scale: list[Array], slots: list[Array], data: Array, out: Array) -> float:
        return self._tangents(x, scale, slots, data, out, self._dry)

    def _damped_tangent(
        self, x: Array, scale: list[Array], slots: list[Array], data: Array, out: Array, moduli: Array
    ) -> None:
        self._tangents(x, scale, slots, data, out, moduli)
        for g, m, single, s, place in zip(self.layout.groups, self._material, self._single, scale, slots):
            if not single:
                self._add_viscous(x, g, s, moduli[m], place, data)

    def _tangents(
        self, x: Array, scale: list[Array], slots: list[Array], data: Array, out: Array, moduli: Array
    ) -> float:
        """Tangent and force; linear tetrahedra take viscous moduli (nm, 2) along."""
        energies = [np.zeros(len(m)) for m in self._material]
        partition = self._shared.partition(_TANGENT * self._points)

        def work(part: int) -> None:
            for g, m, single, s, chosen, e, place in zip(
                self.layout.groups, self._material, self._single, scale, partition.chosen[part], energies, slots
            ):
                share = (s, chosen, partition.owner, partition.name(part), e, place, data)
                if single:
                    own = (m, self._codes, self._params, moduli)
                    linear_tangents(x, g.cells, *single, *own, *share, out, self._others)
                else:
                    kernels.quadrature_tangents(x, *self._quadrature(g, m), *share, out)

        self._shared.run(partition, work)
        return _sum_or_spoil(energies, out)


def _plate_share(bulk: float, material: Material) -> float:
    """Bulk modulus that acts at the points of a prism, beside the mean of the element [Pa].

    Laws of one piece (co-rotational, Saint Venant-Kirchhoff) have all of lambda at their points already: the share is
    negative, and what it takes away there acts on the mean. That of a linear body would not be linear, and is left out.
    """
    if bulk > 0.0:
        return min(bulk, plate_modulus(material.shear, material.bulk) + 2.0 / 3.0 * material.shear)
    if material.code == LINEAR:
        return 0.0
    return plate_modulus(material.shear, material.bulk) - (material.bulk - 2.0 / 3.0 * material.shear)


def _part_of(nodes: int, chosen: list[Array]) -> Partition:
    return Partition(np.zeros(nodes, dtype=np.int64), (tuple(chosen),))


def _sum_or_spoil(energies: list[Array], out: Array) -> float:
    """The sum of element energies; if it is not finite the forces mean nothing, and are made to say so."""
    total = float(sum(e.sum() for e in energies))
    if not np.isfinite(total):
        out[:] = np.nan
    return total


def _one_point(group: Elements) -> tuple[Array, Array] | None:
    """Gradients (ne, 4, 3) and volumes (ne,) of linear tetrahedra; None for other elements."""
    if group.kind != "tet4":
        return None
    return np.ascontiguousarray(group.grads[:, 0]), np.ascontiguousarray(group.weights[:, 0])
