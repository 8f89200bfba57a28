"""Coordinates of a body of nodes: cable lengths, enclosed volumes, directed motions.

Each coupling is a scalar function of the node positions with its exact first and second derivatives. It acts
on a fixed set of node pairs, so that its second derivative fits into a sparsity known beforehand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Protocol

import numpy as np

from pliant.models.shapes import tri_rule, tri_shape

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Anchor:
    """A point carried by nodes: x = sum_k weights[k] X[nodes[k]] (or fixed in the world, without nodes)."""

    nodes: Array
    weights: Array
    fixed: Array = field(default_factory=lambda: np.zeros(3))

    def position(self, x: Array) -> Array:
        """World position [m] (3,)."""
        return self.fixed + self.weights @ x[self.nodes] if len(self.nodes) else self.fixed


class Coupling(Protocol):
    """A scalar coordinate of the node positions x (N, 3)."""

    nodes: Array  # the nodes it depends on (k,)
    pairs: Array  # local index pairs (m, 2) into `nodes` that its second derivative couples

    def value(self, x: Array) -> float:
        """The coordinate."""

    def gradient(self, x: Array) -> Array:
        """d value / d x[nodes] (k, 3)."""

    def hessian(self, x: Array) -> Array:
        """Second derivative as one block per pair (m, 3, 3)."""


class CablePath:
    """Minus the length of a path through anchors, plus its length at rest: the length pulled in.

    With Capstan friction the tension falls at every bend; `pull` then differs from `gradient`.
    """

    def __init__(self, anchors: list[Anchor], rest: Array, friction: float = 0.0) -> None:
        nodes = [a.nodes for a in anchors]
        self.nodes, inverse = np.unique(np.concatenate(nodes), return_inverse=True)
        self.points = len(anchors)
        self.friction = friction
        self._fixed = np.array([a.fixed if len(a.nodes) == 0 else np.zeros(3) for a in anchors])
        # Weights as one dense matrix: points = weights @ x[nodes] + fixed.
        self._weights = np.zeros((self.points, len(self.nodes)))
        start = 0
        for i, a in enumerate(anchors):
            self._weights[i, inverse[start : start + len(a.nodes)]] += a.weights
            start += len(a.nodes)
        spans = [np.flatnonzero((self._weights[i] != 0) | (self._weights[i + 1] != 0)) for i in range(self.points - 1)]
        self._spans = spans
        self._signs = [self._weights[i + 1, s] - self._weights[i, s] for i, s in enumerate(spans)]
        self.pairs = np.vstack([np.stack(np.meshgrid(s, s, indexing="ij"), -1).reshape(-1, 2) for s in spans])
        self._outer = [np.outer(s, s).reshape(-1, 1, 1) for s in self._signs]
        self.rest_length = 0.0
        self.rest_length = self.length(rest)

    def path(self, x: Array) -> Array:
        """Positions of the anchors [m] (n, 3)."""
        return self._weights @ x[self.nodes] + self._fixed

    def length(self, x: Array) -> float:
        """Length of the path [m]."""
        return float(np.linalg.norm(np.diff(self.path(x), axis=0), axis=1).sum())

    def value(self, x: Array) -> float:
        """Length pulled in [m]."""
        return self.rest_length - self.length(x)

    def _directions(self, x: Array) -> tuple[Array, Array]:
        spans = np.diff(self.path(x), axis=0)
        lengths = np.maximum(np.linalg.norm(spans, axis=1), 1e-12)
        return spans / lengths[:, None], lengths

    def tensions(self, x: Array) -> Array:
        """Tension in each span relative to the pulled end (n - 1,): 1 without friction."""
        directions, _ = self._directions(x)
        if self.friction == 0.0 or len(directions) == 1:
            return np.ones(len(directions))
        cosines = np.clip((directions[:-1] * directions[1:]).sum(axis=1), -1.0, 1.0)
        return np.exp(-self.friction * np.concatenate([[0.0], np.cumsum(np.arccos(cosines))]))

    def _spread(self, directions: Array) -> Array:
        ends = np.zeros((self.points, 3))
        ends[:-1] += directions
        ends[1:] -= directions
        return self._weights.T @ ends

    def gradient(self, x: Array) -> Array:
        """d value / d x[nodes] (k, 3)."""
        return self._spread(self._directions(x)[0])

    def pull(self, x: Array) -> Array:
        """Force on the nodes per unit tension at the pulled end (k, 3)."""
        return self._spread(self._directions(x)[0] * self.tensions(x)[:, None])

    def hessian(self, x: Array) -> Array:
        """Derivative of `pull`, bend angles held, one block per pair (m, 3, 3)."""
        directions, lengths = self._directions(x)
        tensions = self.tensions(x)
        blocks = []
        for i, d in enumerate(directions):
            curvature = (np.eye(3) - np.outer(d, d)) * (-tensions[i] / lengths[i])
            blocks.append(self._outer[i] * curvature)
        return np.vstack(blocks)


class Tube:
    """Elastic energy of axial springs between consecutive anchors (guide tubes), with stiffness EA [N]."""

    def __init__(self, path: CablePath, rest: Array, stiffness: float) -> None:
        self._path = path
        self.nodes, self.pairs = path.nodes, path.pairs
        self._rest = np.linalg.norm(np.diff(path.path(rest), axis=0), axis=1)
        self._k = stiffness / self._rest

    def value(self, x: Array) -> float:
        """Energy [J]."""
        _, lengths = self._path._directions(x)
        return float(0.5 * self._k @ (lengths - self._rest) ** 2)

    def gradient(self, x: Array) -> Array:
        """d energy / d x[nodes] (k, 3)."""
        directions, lengths = self._path._directions(x)
        return -self._path._spread(directions * (self._k * (lengths - self._rest))[:, None])

    def hessian(self, x: Array) -> Array:
        """Second derivative of the energy, one block per pair (m, 3, 3)."""
        directions, lengths = self._path._directions(x)
        blocks = []
        for i, d in enumerate(directions):
            axial = np.outer(d, d)
            slack = 1.0 - self._rest[i] / lengths[i]
            blocks.append(self._path._outer[i] * (self._k[i] * (axial + slack * (np.eye(3) - axial))))
        return np.vstack(blocks)


def _cross_matrices(v: Array) -> Array:
    """[v]x for vectors (..., 3) -> (..., 3, 3)."""
    out = np.zeros((*v.shape, 3))
    out[..., 0, 1], out[..., 0, 2] = -v[..., 2], v[..., 1]
    out[..., 1, 0], out[..., 1, 2] = v[..., 2], -v[..., 0]
    out[..., 2, 0], out[..., 2, 1] = -v[..., 1], v[..., 0]
    return out


class _SurfaceIntegral:
    """Shared tables of integrals over a closed surface of 3- or 6-node triangles."""

    def __init__(self, triangles: Array) -> None:
        order = 1 if triangles.shape[1] == 3 else 2
        points, self._w = tri_rule(order)
        self._N, dN = tri_shape(points, order)
        self._da, self._db = dN[..., 0], dN[..., 1]
        self.triangles = triangles
        self.nodes, local = np.unique(triangles, return_inverse=True)
        self._local = local.reshape(triangles.shape)
        k = triangles.shape[1]
        rows = np.repeat(self._local, k, axis=1).reshape(-1)
        cols = np.tile(self._local, (1, k)).reshape(-1)
        self.pairs = np.column_stack([rows, cols])

    def _at(self, x: Array) -> tuple[Array, Array, Array]:
        """Position and the two surface tangents at the quadrature points (nt, ng, 3) each."""
        corners = x[self.triangles]
        return tuple(np.einsum("gk,tki->tgi", table, corners) for table in (self._N, self._da, self._db))  # type: ignore[return-value]

    def _collect(self, dx: Array, da: Array, db: Array) -> Array:
        """Chain rule from quadrature points to nodes."""
        per = (
            np.einsum("g,gk,tgi->tki", self._w, self._N, dx)
            + np.einsum("g,gk,tgi->tki", self._w, self._da, da)
            + np.einsum("g,gk,tgi->tki", self._w, self._db, db)
        )
        out = np.zeros((len(self.nodes), 3))
        np.add.at(out, self._local, per)
        return out

    def _collect_second(self, blocks: dict[tuple[str, str], Array]) -> Array:
        tables = {"x": self._N, "a": self._da, "b": self._db}
        nt, k = self.triangles.shape
        total = np.zeros((nt, k, k, 3, 3))
        for (first, second), block in blocks.items():
            total += np.einsum("g,gc,gd,tgij->tcdij", self._w, tables[first], tables[second], block, optimize=True)
        return total.reshape(-1, 3, 3)


class EnclosedVolume(_SurfaceIntegral):
    """Volume enclosed by a surface, minus its volume at rest [m^3]."""

    def __init__(self, triangles: Array, rest: Array) -> None:
        super().__init__(triangles)
        self.rest_volume = 0.0
        self.rest_volume = self.volume(rest)

    def volume(self, x: Array) -> float:
        """Enclosed volume [m^3]."""
        p, a, b = self._at(x)
        return float(np.einsum("g,tgi,tgi->", self._w, p, np.cross(a, b)) / 3)

    def value(self, x: Array) -> float:
        """Volume gained [m^3]."""
        return self.volume(x) - self.rest_volume

    def gradient(self, x: Array) -> Array:
        """d volume / d x[nodes]: the area vector carried by each node [m^2] (k, 3)."""
        p, a, b = self._at(x)
        return self._collect(np.cross(a, b) / 3, np.cross(b, p) / 3, np.cross(p, a) / 3)

    def hessian(self, x: Array) -> Array:
        """Second derivative of the volume, one block per pair (m, 3, 3)."""
        p, a, b = (_cross_matrices(v / 3) for v in self._at(x))
        return self._collect_second(
            {("x", "a"): -b, ("x", "b"): a, ("a", "b"): -p, ("a", "x"): b, ("b", "x"): -a, ("b", "a"): p}
        )


class FluidWeight(_SurfaceIntegral):
    """Potential energy of a liquid that fills an enclosed volume [J]."""

    def __init__(self, triangles: Array, density: float, gravity: Array) -> None:
        super().__init__(triangles)
        size = float(np.linalg.norm(gravity))
        self._down = np.asarray(gravity, float) / size if size else np.zeros(3)
        self._scale = -density * size

    def value(self, x: Array) -> float:
        """-rho g . (integral of x over the volume) [J]."""
        p, a, b = self._at(x)
        s = p @ self._down
        return float(self._scale * np.einsum("g,tg,tg->", self._w, 0.5 * s**2, np.cross(a, b) @ self._down))

    def gradient(self, x: Array) -> Array:
        """d energy / d x[nodes] (k, 3)."""
        p, a, b = self._at(x)
        g = self._down
        s = (p @ g)[..., None]
        flux = (np.cross(a, b) @ g)[..., None]
        return self._scale * self._collect(s * flux * g, 0.5 * s**2 * np.cross(b, g), 0.5 * s**2 * np.cross(g, a))

    def hessian(self, x: Array) -> Array:
        """Second derivative of the energy, one block per pair (m, 3, 3)."""
        p, a, b = self._at(x)
        g = self._down
        s = (p @ g)[..., None, None]
        flux = (np.cross(a, b) @ g)[..., None, None]
        xa = s * (g[:, None] * np.cross(b, g)[..., None, :])
        xb = s * (g[:, None] * np.cross(g, a)[..., None, :])
        twist = 0.5 * s**2 * _cross_matrices(g)
        swap = (0, 1, 3, 2)
        blocks = {
            ("x", "x"): flux * np.outer(g, g),
            ("x", "a"): xa,
            ("a", "x"): xa.transpose(swap),
            ("x", "b"): xb,
            ("b", "x"): xb.transpose(swap),
            ("a", "b"): -twist,
            ("b", "a"): twist,
        }
        return self._scale * self._collect_second(blocks)


class DirectedMotion:
    """Weighted motion of nodes along a fixed direction [m]."""

    pairs = np.zeros((0, 2), dtype=np.int64)

    def __init__(self, nodes: Array, weights: Array, direction: Array, rest: Array) -> None:
        self.nodes, inverse = np.unique(nodes, return_inverse=True)
        self._weights = np.bincount(inverse, weights=weights, minlength=len(self.nodes))
        self._direction = np.asarray(direction, float)
        self._rest = 0.0
        self._rest = self.value(rest)

    def value(self, x: Array) -> float:
        """Motion along the direction [m]."""
        return float(self._weights @ (x[self.nodes] @ self._direction)) - self._rest

    def gradient(self, x: Array) -> Array:
        """d value / d x[nodes] (k, 3)."""
        return self._weights[:, None] * self._direction

    def hessian(self, x: Array) -> Array:
        """Empty: the coordinate is linear."""
        return np.zeros((0, 3, 3))
