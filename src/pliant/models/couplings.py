"""Coordinates of a body of nodes: cable lengths, enclosed volumes, directed motions.

Each coupling is a scalar function of the node positions with its exact first and second derivatives. It acts
on a fixed set of node pairs, so that its second derivative fits into a sparsity known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pliant._kernels import couplings as kernels
from pliant.models.shapes import tri_rule, tri_shape

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point carried by nodes: x = sum_k weights[k] X[nodes[k]] (or fixed in the world, without nodes)."""

    nodes: Array
    weights: Array
    fixed: Array = field(default_factory=lambda: np.zeros(3))


class Coupling(Protocol):
    """A scalar coordinate (or energy) of the node positions x (N, 3)."""

    pairs: Array  # pairs of nodes (m, 2) that its second derivative couples, one 3 x 3 block each

    def value(self, x: Array) -> float:
        """The coordinate."""

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d value / d x (N, 3)."""

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data[slots] += factor * second derivative, slots (m, 3, 3) in the order of `pairs`."""


class CablePath:
    """Minus the length of a path through anchors, plus its length at rest: the length pulled in.

    With Capstan friction the tension falls at every bend; `add_pull` then differs from `add_gradient`.
    """

    def __init__(self, anchors: list[Anchor], rest: Array, friction: float = 0.0) -> None:
        self.friction = float(friction)
        self._ptr = np.concatenate([[0], np.cumsum([len(a.nodes) for a in anchors])]).astype(np.int64)
        self._node = np.concatenate([a.nodes for a in anchors]).astype(np.int64)
        self._weight = np.concatenate([a.weights for a in anchors]).astype(float)
        self._fixed = np.array([a.fixed if len(a.nodes) == 0 else np.zeros(3) for a in anchors])
        self.pairs = kernels.cable_pairs(self._ptr, self._node)
        spans = len(anchors) - 1
        self._points, self._direction, self._length = np.empty((spans + 1, 3)), np.empty((spans, 3)), np.empty(spans)
        self._tables = (
            self._ptr, self._node, self._weight, self._fixed, self._points, self._direction, self._length,
        )  # fmt: skip
        self.rest_lengths = self._measure(rest)[1].copy()
        self.rest_length = float(self.rest_lengths.sum())

    def _measure(self, x: Array) -> tuple[Array, Array]:
        """Unit vectors and lengths of the spans (overwritten by the next call)."""
        kernels.measure_cable(x, *self._tables)
        return self._direction, self._length

    def path(self, x: Array) -> Array:
        """Positions of the anchors [m] (n, 3)."""
        self._measure(x)
        return self._points.copy()

    def length(self, x: Array) -> float:
        """Length of the path [m]."""
        return float(self._measure(x)[1].sum())

    def value(self, x: Array) -> float:
        """Length pulled in [m]."""
        return self.rest_length - self.length(x)

    def _shares(self, direction: Array) -> Array:
        """Tension in each span relative to the pulled end (n - 1,): 1 without friction."""
        out = np.ones(len(self._length))
        if self.friction:
            kernels.capstan(direction, self.friction, out)
        return out

    def add_spans(self, x: Array, forces: Array, out: Array) -> None:
        """out += pull of given tensions in the spans."""
        direction, _ = self._measure(x)
        kernels.spread_spans(direction, forces, self._ptr, self._node, self._weight, out)

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d value / d x."""
        self.add_spans(x, np.full(len(self._length), float(factor)), out)

    def add_pull(self, x: Array, factor: float, out: Array) -> None:
        """out += force on the nodes for a tension `factor` at the pulled end."""
        kernels.pull_cable(x, *self._tables, float(factor), self.friction, out)

    def add_curvature(self, x: Array, axial: Array, lateral: Array, slots: Array, data: Array) -> None:
        """data += axial and lateral stiffness of the spans."""
        direction, _ = self._measure(x)
        kernels.scatter_spans(direction, axial, lateral, self._ptr, self._weight, slots, data)

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data += factor * derivative of the pull, bend angles held."""
        kernels.curve_cable(x, *self._tables, float(factor), self.friction, slots, data)


class Tube:
    """Elastic energy of axial springs between consecutive anchors (guide tubes), with stiffness EA [N]."""

    def __init__(self, path: CablePath, stiffness: float) -> None:
        self._path = path
        self.pairs = path.pairs
        self._k = stiffness / path.rest_lengths

    def _stretch(self, x: Array) -> Array:
        return self._path._measure(x)[1] - self._path.rest_lengths

    def value(self, x: Array) -> float:
        """Energy [J]."""
        return float(0.5 * self._k @ self._stretch(x) ** 2)

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d energy / d x."""
        self._path.add_spans(x, -factor * self._k * self._stretch(x), out)

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data += factor * second derivative of the energy."""
        stretch = self._stretch(x)
        lateral = factor * self._k * stretch / (stretch + self._path.rest_lengths)
        self._path.add_curvature(x, factor * self._k, lateral, slots, data)


class _Surface:
    """Shared tables of integrals over a closed surface of 3- or 6-node triangles."""

    def __init__(self, triangles: Array, points: Array, weights: Array) -> None:
        order = 1 if triangles.shape[1] == 3 else 2
        N, dN = tri_shape(points, order)
        self.triangles = np.ascontiguousarray(triangles)
        self._tables = (N, np.ascontiguousarray(dN[..., 0]), np.ascontiguousarray(dN[..., 1]), np.asarray(weights))
        k = triangles.shape[1]
        rows, cols = np.repeat(triangles, k, axis=1).reshape(-1), np.tile(triangles, (1, k)).reshape(-1)
        self.pairs = np.column_stack([rows, cols])


class EnclosedVolume(_Surface):
    """Volume enclosed by a surface, minus its volume at rest [m^3]."""

    def __init__(self, triangles: Array, rest: Array) -> None:
        # One point is exact for flat triangles: the integrand is linear there.
        flat = triangles.shape[1] == 3
        points, weights = (np.full((1, 2), 1 / 3), np.full(1, 0.5)) if flat else tri_rule(2)
        super().__init__(triangles, points, weights)
        self.rest_volume = self.volume(rest)

    def volume(self, x: Array) -> float:
        """Enclosed volume [m^3]."""
        return float(kernels.surface_volume(x, self.triangles, *self._tables))

    def value(self, x: Array) -> float:
        """Volume gained [m^3]."""
        return self.volume(x) - self.rest_volume

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d volume / d x: the area vector carried by each node [m^2]."""
        kernels.surface_volume_gradient(x, self.triangles, *self._tables, float(factor), out)

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data += factor * second derivative of the volume."""
        kernels.surface_volume_hessian(x, self.triangles, *self._tables, float(factor), slots, data)


class FluidWeight(_Surface):
    """Potential energy of a liquid that fills an enclosed volume [J]."""

    def __init__(self, triangles: Array, density: float, gravity: Array) -> None:
        super().__init__(triangles, *tri_rule(1 if triangles.shape[1] == 3 else 2))
        size = float(np.linalg.norm(gravity))
        self._down = np.asarray(gravity, float) / size if size else np.zeros(3)
        self._scale = -density * size

    def _at(self, x: Array) -> list[Array]:
        """Position and the two surface tangents at the quadrature points (nt, ng, 3) each."""
        corners = x[self.triangles]
        return [np.einsum("gk,tki->tgi", table, corners) for table in self._tables[:3]]

    def value(self, x: Array) -> float:
        """-rho g . (integral of x over the volume) [J]."""
        p, a, b = self._at(x)
        s = p @ self._down
        return float(self._scale * np.einsum("g,tg,tg->", self._tables[3], 0.5 * s**2, np.cross(a, b) @ self._down))

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d energy / d x."""
        p, a, b = self._at(x)
        g = self._down
        s = (p @ g)[..., None]
        flux = (np.cross(a, b) @ g)[..., None]
        parts = (s * flux * g, 0.5 * s**2 * np.cross(b, g), 0.5 * s**2 * np.cross(g, a))
        w = self._tables[3]
        per = sum(np.einsum("g,gk,tgi->tki", w, table, part) for table, part in zip(self._tables[:3], parts))
        np.add.at(out, self.triangles, factor * self._scale * per)

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """data += factor * second derivative of the energy."""
        p, a, b = self._at(x)
        g = self._down
        s = (p @ g)[..., None, None]
        flux = (np.cross(a, b) @ g)[..., None, None]
        xa = s * (g[:, None] * np.cross(b, g)[..., None, :])
        xb = s * (g[:, None] * np.cross(g, a)[..., None, :])
        cross = np.array([[0, -g[2], g[1]], [g[2], 0, -g[0]], [-g[1], g[0], 0]])
        twist = 0.5 * s**2 * cross
        swap = (0, 1, 3, 2)
        blocks = {
            (0, 0): flux * np.outer(g, g), (0, 1): xa, (1, 0): xa.transpose(swap),
            (0, 2): xb, (2, 0): xb.transpose(swap), (1, 2): -twist, (2, 1): twist,
        }  # fmt: skip
        k = self.triangles.shape[1]
        total = np.zeros((len(self.triangles), k, k, 3, 3))
        for (i, j), block in blocks.items():
            total += np.einsum(
                "g,gc,gd,tgij->tcdij", self._tables[3], self._tables[i], self._tables[j], block, optimize=True
            )
        valid = slots >= 0
        np.add.at(data, slots[valid], factor * self._scale * total.reshape(-1, 3, 3)[valid])


class DirectedMotion:
    """Weighted motion of nodes along a fixed direction [m]."""

    pairs = np.zeros((0, 2), dtype=np.int64)

    def __init__(self, nodes: Array, weights: Array, direction: Array, rest: Array) -> None:
        self._nodes, inverse = np.unique(nodes, return_inverse=True)
        self._weights = np.bincount(inverse, weights=weights, minlength=len(self._nodes))
        self._direction = np.asarray(direction, float)
        self._rest = 0.0
        self._rest = self.value(rest)

    def value(self, x: Array) -> float:
        """Motion along the direction [m]."""
        return float(self._weights @ (x[self._nodes] @ self._direction)) - self._rest

    def add_gradient(self, x: Array, factor: float, out: Array) -> None:
        """out += factor * d value / d x."""
        out[self._nodes] += factor * self._weights[:, None] * self._direction

    def add_hessian(self, x: Array, factor: float, slots: Array, data: Array) -> None:
        """Nothing: the coordinate is linear."""
