"""Prisms without shear locking: a thin element may not be stiffer in transverse shear than in bending.

Where a plate bends, linear triangles cannot follow with both the slope of the middle surface and the direction of the
thickness; what does not fit appears as transverse shear and makes thin elements far too stiff. The cure for linear
plate elements (Lyly, Stenberg and Vihinen, CMAME 110, 1993) is to weaken the shear modulus of an element of thickness h
and edge l to

    mu kappa,      kappa = h^2 / (h^2 + alpha l^2),

which matters less the finer the mesh is, so the limit is unchanged. Here the surplus is taken away from the energy of
the isotropic body: - (1 - kappa) mu / 2 (c_1^2 + c_2^2) per volume, c_i = (F e_i) . (F n), n the direction of the
thickness. A plate so weak in shear crimps under compression beyond about kappa mu; kappa is therefore not taken
smaller than `FLOOR`, and edges beyond three thicknesses lock somewhat (docs/geometric.md has numbers).
"""

from __future__ import annotations

import numpy as np

from pliant.bodies import SoftBody
from pliant.models.layout import Layout
from pliant.models.shapes import Elements

Array = np.ndarray
ALPHA = 1.0
FLOOR = 0.2


class ShearRelief:
    """The energy that a group of prisms has too much in transverse shear, taken away.

    Args:
        group: elements of kind "prism6".
        shear: shear modulus of each element [Pa] (ne,).
        nodes: rest positions of all nodes [m] (N, 3).
    """

    def __init__(self, group: Elements, shear: Array, nodes: Array) -> None:
        X = nodes[group.cells]
        middle = 0.5 * (X[:, :3] + X[:, 3:])
        edge = np.linalg.norm(middle - np.roll(middle, 1, axis=1), axis=2).max(axis=1)
        normal = np.cross(middle[:, 1] - middle[:, 0], middle[:, 2] - middle[:, 0])
        area = 0.5 * np.linalg.norm(normal, axis=1)
        thickness = group.volumes / area
        kappa = np.maximum(thickness**2 / (thickness**2 + ALPHA * edge**2), FLOOR)
        n = (X[:, 3:] - X[:, :3]).mean(axis=1)
        n /= np.linalg.norm(n, axis=1, keepdims=True)
        first = np.cross(n, np.eye(3)[np.argmin(np.abs(n), axis=1)])
        first /= np.linalg.norm(first, axis=1, keepdims=True)
        frame = np.stack([first, np.cross(n, first), n], axis=1)
        # F e = sum_a x_a (G_a . e): three rows of weights per quadrature point
        self._frame = frame
        self.measure_from(group.grads)
        self._weights = -((1.0 - kappa) * shear)[:, None] * group.weights
        self._cells = group.cells
        k = group.cells.shape[1]
        self.pairs = np.stack([np.repeat(group.cells, k, axis=1).ravel(), np.tile(group.cells, (1, k)).ravel()], axis=1)

    def measure_from(self, grads: Array) -> None:
        """Take shape gradients (ne, ng, k, 3) relative to another stress-free shape."""
        self._rows = np.einsum("egaj,eij->egia", grads, self._frame)

    def _legs(self, x: Array) -> tuple[Array, Array, Array]:
        """F e_i (e, g, 2, 3), F n (e, g, 3) and c_i (e, g, 2)."""
        legs = np.einsum("egia,eaj->egij", self._rows, x[self._cells])
        return legs[:, :, :2], legs[:, :, 2], np.einsum("egij,egj->egi", legs[:, :, :2], legs[:, :, 2])

    def value(self, x: Array) -> float:
        """Energy [J], never positive."""
        return 0.5 * float((self._weights[..., None] * self._legs(x)[2] ** 2).sum())

    def _slopes(self, x: Array) -> tuple[Array, Array]:
        """c (e, g, 2) and its derivatives by the nodes (e, g, 2, k, 3)."""
        p, q, c = self._legs(x)
        plane, across = self._rows[:, :, :2], self._rows[:, :, 2]
        return c, plane[..., None] * q[:, :, None, None, :] + across[:, :, None, :, None] * p[:, :, :, None, :]

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d value / d x (N, 3)."""
        c, slopes = self._slopes(x)
        np.add.at(out, self._cells, factor * np.einsum("eg,egi,egiaj->eaj", self._weights, c, slopes, optimize=True))

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data[slots] += factor * second derivative, one (3, 3) block per pair."""
        c, slopes = self._slopes(x)
        w = factor * self._weights
        blocks = np.einsum("eg,egiaj,egibk->eabjk", w, slopes, slopes, optimize=True)
        plane, across = self._rows[:, :, :2], self._rows[:, :, 2]
        mixed = np.einsum("eg,egi,egia,egb->eab", w, c, plane, across, optimize=True)
        blocks += (mixed + mixed.transpose(0, 2, 1))[..., None, None] * np.eye(3)
        flat = blocks.reshape(-1, 3, 3)
        valid = slots >= 0
        np.add.at(data, slots[valid], flat[valid])


def shear_reliefs(layout: Layout) -> tuple[ShearRelief, ...]:
    """One term per group of prisms."""
    out = []
    for owner, group in layout.group_regions:
        if group.kind == "prism6":
            out.append(ShearRelief(group, _shear(owner, group), layout.rest_nodes))
    return tuple(out)


def _shear(owner: SoftBody, group: Elements) -> Array:
    shear = np.full(len(group.cells), owner.material.shear)
    for region, material in owner.materials.items():
        shear[np.isin(group.ids, owner.mesh.regions[region])] = material.shear
    return shear
