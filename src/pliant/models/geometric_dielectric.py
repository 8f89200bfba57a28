"""Dielectric layers as coordinates of the nodes: half the capacity, and layers glued on under tension."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.actuators import DielectricLayer
from pliant.errors import UnknownNameError
from pliant.models.layout import Layout

Array = np.ndarray


def tangents_of(normal: Array) -> Array:
    """Two unit vectors (2, 3) with the normal as their cross product."""
    helper = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, helper)
    first /= np.linalg.norm(first)
    return np.stack([first, np.cross(normal, first)])


class LayerCapacity:
    """Half of the capacity gained by a layer, delta = factor * integral of (|cof F n|^2 - 1) [F]."""

    def __init__(self, layer: DielectricLayer, layout: Layout, chosen: list[Array]) -> None:
        if not any(len(ids) for ids in chosen):
            regions = [r for owner, _ in layout.group_regions for r in owner.mesh.regions]
            raise UnknownNameError("region", layer.region, regions)
        self._blocks = []
        frame = tangents_of(np.array(layer.normal))
        cells = []
        for group, ids in zip(layout.groups, chosen):
            if len(ids):
                # p = F e1 and q = F e2 are linear in the nodes: p = sum_a x_a b[0, a]
                B = np.einsum("egaj,ij->egia", group.grads[ids], frame)
                self._blocks.append(_Block(group.cells[ids], B, layer.factor * group.weights[ids]))
                cells.append(group.cells[ids])
        self.nodes = np.unique(np.concatenate([c.ravel() for c in cells]))
        index = np.full(len(layout.rest_nodes), -1)
        index[self.nodes] = np.arange(len(self.nodes))
        self._local = [index[c] for c in cells]
        pairs = []
        for c in self._local:
            k = c.shape[1]
            pairs.append(np.stack([np.repeat(c, k, axis=1).ravel(), np.tile(c, (1, k)).ravel()], axis=1))
        self.pairs = self.nodes[np.concatenate(pairs)]
        self.rest_value = float(sum(block.weights.sum() for block in self._blocks))

    def value(self, x: Array) -> float:
        """Half of the capacity gained [F]."""
        total = 0.0
        for block in self._blocks:
            c = np.cross(*block.tangents(x))
            total += float((block.weights * (c * c).sum(axis=-1)).sum())
        return total - self.rest_value

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d value / d x (N, 3)."""
        out[self.nodes] += factor * self.gradient(x)

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data[slots] += factor * second derivative."""
        valid = slots >= 0
        np.add.at(data, slots[valid], factor * self.hessian(x)[valid])

    def gradient(self, x: Array) -> Array:
        """d value / d x[nodes] (k, 3)."""
        out = np.zeros((len(self.nodes), 3))
        for block, local in zip(self._blocks, self._local):
            p, q = block.tangents(x)
            pp, qq, pq = ((a * b).sum(axis=-1, keepdims=True) for a, b in ((p, p), (q, q), (p, q)))
            slopes = 2.0 * np.concatenate([qq * p - pq * q, pp * q - pq * p], axis=1)
            np.add.at(out, local, block.shapes @ slopes)
        return out

    def hessian(self, x: Array) -> Array:
        """Second derivative, one block per pair (m, 3, 3)."""
        out = []
        for block in self._blocks:
            p, q = block.tangents(x)
            eye = np.eye(3)
            pp, qq, pq = ((a * b).sum(axis=-1)[..., None, None] for a, b in ((p, p), (q, q), (p, q)))
            mixed = 2.0 * _outer(p, q) - _outer(q, p) - pq * eye
            slopes = [qq * eye - _outer(q, q), pp * eye - _outer(p, p), mixed, mixed.swapaxes(2, 3)]
            moduli = 2.0 * np.concatenate(slopes, axis=1).reshape(len(p), -1, 9)
            out.append((block.products @ moduli).reshape(-1, 3, 3))
        return np.concatenate(out)


class _Block:
    """The elements of one group: p = F e1 and q = F e2 at their points, linear in the nodes.

    Args:
        cells: nodes (ne, k).
        B: p = sum_a x_a B[:, :, 0, a] and q = sum_a x_a B[:, :, 1, a] (ne, ng, 2, k).
        weights: of the points (ne, ng).
    """

    def __init__(self, cells: Array, B: Array, weights: Array) -> None:
        self.cells, self.weights = cells, weights
        a, b = B[:, :, 0], B[:, :, 1]
        weighted = weights[..., None] * a, weights[..., None] * b
        # what each point of an element gives to its nodes and pairs of nodes, p before q
        self._rows = np.concatenate([a, b], axis=1)  # (ne, 2 ng, k)
        self.shapes = np.ascontiguousarray(np.concatenate(weighted, axis=1).swapaxes(1, 2))  # (ne, k, 2 ng)
        pairs = [_outer(u, v) for u, v in ((weighted[0], a), (weighted[1], b), (weighted[0], b), (weighted[1], a))]
        flat = np.concatenate(pairs, axis=1).reshape(len(cells), -1, cells.shape[1] ** 2)
        self.products = np.ascontiguousarray(flat.swapaxes(1, 2))  # (ne, k k, 4 ng)

    def tangents(self, x: Array) -> tuple[Array, Array]:
        """p and q at the points (ne, ng, 3)."""
        both = self._rows @ x[self.cells]
        ng = self.weights.shape[1]
        return both[:, :ng], both[:, ng:]


def _outer(a: Array, b: Array) -> Array:
    return a[..., :, None] * b[..., None, :]


def prestretched(model: Any, group_index: int) -> Array:
    """Shape gradients of a group of elements relative to their stress-free shape (ne, ng, k, 3).

    A layer of prestretch c is free of stress when its area is c times that of the mesh and its thickness 1/c times: the
    elastic part of the deformation is F Fp^-1 with Fp = sqrt(c) (1 - n n^T) + n n^T / c.
    """
    group = model.layout.groups[group_index]
    out = group.grads
    for actuator in model.robot.actuators:
        if isinstance(actuator, DielectricLayer) and actuator.prestretch != 1.0:
            ids = model._elements_of(actuator.region, actuator.body)[group_index]
            if len(ids):
                n, c = np.array(actuator.normal), actuator.prestretch
                inverse = (np.eye(3) - np.outer(n, n)) / np.sqrt(c) + c * np.outer(n, n)
                out = out.copy()
                out[ids] = out[ids] @ inverse
    return out
