"""FemModel: finite elements for soft bodies, with exact forces and tangents."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant._kernels import elements as kernels
from pliant._kernels.materials import volumetric
from pliant.models.fields import surface_field
from pliant.models.shapes import Elements
from pliant.models.solid import SolidModel, plate_modulus
from pliant.robot import Robot

Array = np.ndarray
# Volumetric stiffness that stays at the quadrature points of quadratic tetrahedra, in shear moduli. Measured on a
# cantilever of stable neo-Hookean rubber (docs/decisions.md): with 2.5 and one element across, the sag is within 3 % of
# the converged answer at nu = 0.3, 0.45 and 0.4999.
_SHARE = 2.5


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
        bulk = np.array([volumetric(code, p, 1.0)[2] for code, p in zip(self._codes, self._params)])
        # Prisms have a constant thickness strain: they bend right with the modulus of plane stress at their points.
        plates = [min(k, plate_modulus(m) + 2.0 / 3.0 * m.shear) for k, m in zip(bulk, self.materials)]
        share = np.minimum(bulk, _SHARE * np.array([m.shear for m in self.materials]))
        self._pointwise = {"tet10": share, "hex8": np.zeros_like(share), "prism6": np.array(plates)}

    def __repr__(self) -> str:
        return f"FemModel({self.robot.name!r}, {self.nodes} nodes, {self.nv} dofs, element={self.element!r})"

    def field(self, q: Array, effort: Array, name: str) -> Array:
        """Displacement [m], strain [-] or stress [Pa] per skin vertex (n,); see `pliant.models.fields`."""
        return surface_field(self, q, effort, name)

    def _elastic_energy(self, x: Array, scale: list[Array]) -> float:
        return float(sum(s @ e for s, e in zip(scale, self._element_energies(x))))

    def _element_energies(self, x: Array) -> list[Array]:
        out = []
        for g, m, single in zip(self.layout.groups, self._material, self._single):
            e = np.empty(len(g.cells))
            if single:
                grads, volumes = single
                kernels.linear_energies(x, g.cells, grads, volumes, m, self._codes, self._params, e)
            else:
                kernels.quadrature_energies(
                    x,
                    g.cells,
                    g.grads,
                    g.weights,
                    m,
                    self._codes,
                    self._params,
                    self.projected,
                    self._pointwise[g.kind],
                    e,
                )
            out.append(e)
        return out

    def _region_energy(self, x: Array, regions: list[Array]) -> float:
        return float(sum(e[ids].sum() for e, ids in zip(self._element_energies(x), regions)))

    def _region_energies(self, x: Array, regions: list[list[Array]]) -> list[float]:
        energies = self._element_energies(x)
        return [float(sum(e[ids].sum() for e, ids in zip(energies, region))) for region in regions]

    def _region_force(self, x: Array, region: list[Array], out: Array) -> None:
        if any(len(ids) and not single for ids, single in zip(region, self._single)):
            super()._region_force(x, region, out)
            return
        for g, m, single, ids in zip(self.layout.groups, self._material, self._single, region):
            if single and len(ids):
                grads, volumes = single
                kernels.linear_forces(
                    x, g.cells[ids], grads[ids], volumes[ids], m[ids], self._codes, self._params,
                    np.ones(len(ids)), out,
                )  # fmt: skip

    def _quadrature(self, group: Elements, material: Array, scale: Array) -> tuple[Any, ...]:
        """What the kernels of elements with several points take, besides the pose and where results go."""
        return (
            group.cells, group.grads, group.weights, material, self._codes, self._params, scale, self.projected,
            self._pointwise[group.kind],
        )  # fmt: skip

    def _elastic_force(self, x: Array, scale: list[Array], out: Array) -> float:
        total = 0.0
        for g, m, single, s in zip(self.layout.groups, self._material, self._single, scale):
            if single:
                total += kernels.linear_forces(x, g.cells, *single, m, self._codes, self._params, s, out)
            else:
                total += kernels.quadrature_forces(x, *self._quadrature(g, m, s), out)
        if not np.isfinite(total):
            out[:] = np.nan
        return total

    def _elastic_tangent(self, x: Array, scale: list[Array], slots: list[Array], data: Array, out: Array) -> float:
        total = 0.0
        for g, m, single, s, place in zip(self.layout.groups, self._material, self._single, scale, slots):
            if single:
                total += kernels.linear_tangents(x, g.cells, *single, m, self._codes, self._params, s, place, data, out)
            else:
                total += kernels.quadrature_tangents(x, *self._quadrature(g, m, s), place, data, out)
        if not np.isfinite(total):
            out[:] = np.nan
        return total


def _one_point(group: Elements) -> tuple[Array, Array] | None:
    """Gradients (ne, 4, 3) and volumes (ne,) of linear tetrahedra; None for other elements."""
    if group.kind != "tet4":
        return None
    return np.ascontiguousarray(group.grads[:, 0]), np.ascontiguousarray(group.weights[:, 0])
