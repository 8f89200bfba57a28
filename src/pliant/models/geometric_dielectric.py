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
                self._blocks.append((group.cells[ids], B, layer.factor * group.weights[ids]))
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
        self.rest_value = float(sum(w.sum() for _, _, w in self._blocks))

    def _tangents(self, x: Array) -> list[tuple[Array, Array]]:
        out = []
        for cells, B, _ in self._blocks:
            pq = np.einsum("egia,eaj->egij", B, x[cells])
            out.append((pq[:, :, 0], pq[:, :, 1]))
        return out

    def value(self, x: Array) -> float:
        """Half of the capacity gained [F]."""
        total = 0.0
        for (p, q), (_, _, w) in zip(self._tangents(x), self._blocks):
            c = np.cross(p, q)
            total += float((w * (c * c).sum(axis=-1)).sum())
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
        for (p, q), (_, B, w), local in zip(self._tangents(x), self._blocks, self._local):
            pp, qq, pq = ((a * b).sum(axis=-1, keepdims=True) for a, b in ((p, p), (q, q), (p, q)))
            gp, gq = 2.0 * (qq * p - pq * q), 2.0 * (pp * q - pq * p)
            per = np.einsum("eg,ega,egi->eai", w, B[:, :, 0], gp) + np.einsum("eg,ega,egi->eai", w, B[:, :, 1], gq)
            np.add.at(out, local, per)
        return out

    def hessian(self, x: Array) -> Array:
        """Second derivative, one block per pair (m, 3, 3)."""
        blocks = []
        for (p, q), (_, B, w) in zip(self._tangents(x), self._blocks):
            eye = np.eye(3)
            pp, qq, pq = ((a * b).sum(axis=-1)[..., None, None] for a, b in ((p, p), (q, q), (p, q)))
            hpp = 2.0 * (qq * eye - _outer(q, q))
            hqq = 2.0 * (pp * eye - _outer(p, p))
            hpq = 2.0 * (2.0 * _outer(p, q) - _outer(q, p) - pq * eye)
            a, b = B[:, :, 0], B[:, :, 1]
            total = np.einsum("eg,ega,egc,egij->eacij", w, a, a, hpp) + np.einsum(
                "eg,ega,egc,egij->eacij", w, b, b, hqq
            )
            mixed = np.einsum("eg,ega,egc,egij->eacij", w, a, b, hpq)
            total += mixed + mixed.transpose(0, 2, 1, 4, 3)
            blocks.append(total.reshape(-1, 3, 3))
        return np.concatenate(blocks)


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
