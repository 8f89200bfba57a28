"""What solid bodies weigh: masses of the nodes, the mass matrix, drag in proportion to it, gyroscopic forces."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from pliant.algebra.symmetric import SymmetricMatrix
from pliant.materials import Material
from pliant.models.layout import Layout
from pliant.models.shapes import Elements
from pliant.models.sparsity import Sparsity

Array = np.ndarray


class SolidMasses:
    """Masses of the elements and rigid parts of a layout.

    Args:
        layout: nodes, elements and rigid parts.
        materials: their densities and Rayleigh coefficients count.
        index: material of every element, one array per group of elements.
        sparsity: where the entries of a matrix stand.
        consistent: whether the mass matrix is that of the shape functions; lumped at the nodes if False.

    Attributes:
        nodes: lumped mass of each node, always positive [kg] (N,).
        loads: mass at each node consistent with the shape functions: what gravity pulls at [kg] (N,).
        total: mass of everything [kg].
        rotating: whether some rigid part rotates, so that the mass matrix is not constant.
    """

    def __init__(
        self,
        layout: Layout,
        materials: Sequence[Material],
        index: Sequence[Array],
        sparsity: Sparsity,
        *,
        consistent: bool,
    ) -> None:
        self.layout = layout
        self._index = index
        self._sparsity = sparsity
        self._consistent = consistent
        self._density = np.array([m.density for m in materials])
        self._rayleigh = np.array([m.rayleigh_mass for m in materials])
        count = len(layout.rest_nodes)
        self.nodes, self.loads = np.zeros(count), np.zeros(count)
        for group, material in zip(layout.groups, index):
            rho = self._density[material]
            np.add.at(self.loads, group.cells, rho[:, None] * group.shape)
            np.add.at(self.nodes, group.cells, rho[:, None] * _lumped(group))
        for part in layout.parts:
            self.nodes[part.nodes] += part.mass / len(part.nodes)
            self.loads[part.nodes] += part.mass / len(part.nodes)
        self.total = float(self.nodes.sum())
        self.rotating = any(p.rotates for p in layout.parts)

    def matrix(self, q: Array) -> SymmetricMatrix:
        """Mass matrix (nv, nv)."""
        return self._assembled(q, None) if self.rotating else self._constant

    def drag(self, q: Array) -> SymmetricMatrix | None:
        """Damping in proportion to the mass (nv, nv); None without."""
        if not self._rayleigh.any():
            return None
        return self._assembled(q, self._rayleigh) if self.rotating else self._constant_drag

    def bias(self, q: Array, v: Array) -> Array:
        """Gyroscopic force of the rotating rigid parts (nv,); zero for soft nodes."""
        out = np.zeros(self.layout.nv)
        x = self.layout.positions(q)
        for part in self.layout.parts:
            if part.rotates:
                k, b = part.translations, part.v_start
                omega = v[b + k : b + k + 3]
                _, p = self.layout.part_pose(part, q)
                r = x[part.nodes] - p
                spin = self.nodes[part.nodes, None] * np.cross(omega, np.cross(omega, r))
                out[b : b + k] = part.axes.T @ spin.sum(axis=0)
                out[b + k : b + k + 3] = np.cross(r, spin).sum(axis=0)
        return out

    def centre(self, q: Array) -> tuple[Array, Array]:
        """Centre of mass [m] (3,) and its derivative (3, nv)."""
        x = self.layout.positions(q)
        w = self.nodes / self.total
        rows = np.empty((3, self.layout.nv))
        for i in range(3):
            g = np.zeros_like(x)
            g[:, i] = w
            rows[i] = self.layout.reduce(q, x, g)
        return w @ x, rows

    @cached_property
    def _constant(self) -> SymmetricMatrix:
        return self._assembled(self.layout.rest, None).simplified()

    @cached_property
    def _constant_drag(self) -> SymmetricMatrix:
        return self._assembled(self.layout.rest, self._rayleigh).simplified()

    def _assembled(self, q: Array, rayleigh: Array | None) -> SymmetricMatrix:
        """Mass matrix; with Rayleigh coefficients [1/s] per material the drag, without the masses of the parts."""
        weights = self._density if rayleigh is None else self._density * rayleigh
        assembly = self._sparsity.start()
        for group, material, slots in zip(self.layout.groups, self._index, assembly.slots):
            rho = weights[material]
            if self._consistent:
                blocks = rho[:, None, None] * group.mass
            else:
                blocks = (_lumped(group) * rho[:, None])[:, :, None] * np.eye(group.cells.shape[1])
            expanded = np.einsum("eab,ij->eaibj", blocks, np.eye(3)).reshape(len(rho), 3 * blocks.shape[1], -1)
            valid = slots >= 0
            np.add.at(assembly.data, slots[valid], expanded[valid])
        x = self.layout.positions(q)
        matrix = assembly.finish(q, x, None, None)
        extra = [p for p in self.layout.parts if p.mass]
        if not extra or rayleigh is not None:
            return matrix
        added = np.zeros(len(x))
        for part in extra:
            added[part.nodes] += part.mass / len(part.nodes)
        T = self.layout.tangent_map(q, x)
        return matrix + self._sparsity.from_scipy(T.T @ sp.diags(np.repeat(added, 3)) @ T)


def _lumped(group: Elements) -> Array:
    """Volume of each node of each element [m^3] (ne, k): the diagonal of the consistent mass, scaled to the volume."""
    diagonal = np.einsum("eaa->ea", group.mass)
    return diagonal * (group.volumes / diagonal.sum(axis=1))[:, None]
