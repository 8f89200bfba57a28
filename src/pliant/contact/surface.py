"""Surface: the topology of a skin or a mesh for contact, with a box tree that is refitted.

Built once per topology; `Surface.at(positions)` gives its geometry at a configuration.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from pliant._kernels import bvh, clusters
from pliant._kernels.features import Faces, primitive_boxes, update_features
from pliant.errors import ArgumentError, MeshError
from pliant.state import Skin

Array = np.ndarray
_EVERYTHING = np.zeros((1, 2), dtype=np.int32)  # the roots of two trees
_PIECES = 48  # of a tree whose motions are looked at one by one, about


@dataclass(frozen=True, eq=False)
class Surface:
    """Triangles and segments over n vertices, their edges and neighbours.

    Attributes:
        triangles: (nt, 3) outward.
        segments: (ns, 2).
        radius: thickness around each vertex [m] (n,).
        body: body of each vertex (n,).
    """

    triangles: Array
    segments: Array
    radius: Array
    body: Array
    prims: Array = field(init=False, repr=False)
    prim_edges: Array = field(init=False, repr=False)
    edges: Array = field(init=False, repr=False)
    edge_prims: Array = field(init=False, repr=False)

    def __post_init__(self) -> None:
        n = len(self.radius)
        t = np.ascontiguousarray(self.triangles, dtype=np.int64).reshape(-1, 3)
        s = np.asarray(self.segments, dtype=np.int64).reshape(-1, 2)
        if (len(t) and (t.min() < 0 or t.max() >= n)) or (len(s) and (s.min() < 0 or s.max() >= n)):
            raise ArgumentError("triangles", "an index is out of range", f"vertex indices 0 to {n - 1}")
        repeated = (t[:, 0] == t[:, 1]) | (t[:, 1] == t[:, 2]) | (t[:, 2] == t[:, 0])
        if repeated.any():
            raise MeshError("triangles with a repeated vertex", np.flatnonzero(repeated))
        prims = np.full((len(t) + len(s), 3), -1, dtype=np.int64)
        prims[: len(t)] = t
        prims[len(t) :, :2] = s
        half = np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]], s])
        owner = np.concatenate([np.arange(len(t))] * 3 + [len(t) + np.arange(len(s))]).astype(np.int64)
        place = np.repeat([0, 1, 2, 0], [len(t), len(t), len(t), len(s)])
        ordered = np.sort(half, axis=1)
        edges, index = np.unique(ordered, axis=0, return_inverse=True)
        index = index.reshape(-1)
        prim_edges = np.full((len(prims), 3), -1, dtype=np.int64)
        prim_edges[owner, place] = index
        edge_prims = np.full((len(edges), 2), -1, dtype=np.int64)
        order = np.argsort(index, kind="stable")
        first = np.searchsorted(index[order], np.arange(len(edges)))
        last = np.searchsorted(index[order], np.arange(len(edges)), side="right")
        edge_prims[:, 0] = owner[order[first]] if len(edges) else 0
        shared = last - first > 1
        edge_prims[shared, 1] = owner[order[first[shared] + 1]]
        for name, value in (
            ("triangles", t), ("segments", s), ("prims", prims), ("prim_edges", prim_edges),
            ("edges", np.ascontiguousarray(edges.reshape(-1, 2))), ("edge_prims", edge_prims),
            ("radius", np.array(self.radius, dtype=float)), ("body", np.array(self.body, dtype=np.int64)),
            ("_use", (last - first, half, index)),
        ):  # fmt: skip
            object.__setattr__(self, name, value)

    @property
    def watertight(self) -> bool:
        """True if every edge joins exactly two triangles that are oriented alike."""
        count, half, index = self._use  # type: ignore[attr-defined]
        if len(self.segments) or not len(self.edges) or not np.all(count == 2):
            return False
        forward = np.bincount(index, weights=np.where(half[:, 0] < half[:, 1], 1.0, -1.0))
        return bool(np.all(forward == 0.0))

    @cached_property
    def walls(self) -> dict[tuple[float, bytes, bytes], Array]:
        """Thin walls that were found already (`pliant.contact.proximity.behind_at_rest`)."""
        return {}

    @cached_property
    def lists_at_rest(self) -> dict[Any, tuple[Array, tuple[Array, Array, Array]]]:
        """Pairs that may meet in a rest shape, for `pliant.contact.candidates`."""
        return {}

    @cached_property
    def trees(self) -> dict[bytes, tuple[Any, ...]]:
        """What box trees built at a configuration have in common (`Tree`)."""
        return {}

    @cached_property
    def thin(self) -> bool:
        """True if no vertex has a thickness around it."""
        return not self.radius.any()

    @cached_property
    def _static(self) -> tuple[Array, ...]:
        """Owners, rings and fans, in the order of `Faces`."""
        n = len(self.radius)
        vertex_owner = np.full(n, -1, dtype=np.int64)
        for k in (2, 1, 0):
            has = self.prims[:, k] >= 0
            vertex_owner[self.prims[has, k]] = np.flatnonzero(has)
        both = np.concatenate([self.edges, self.edges[:, ::-1]])
        order = np.argsort(both[:, 0], kind="stable")
        start = np.searchsorted(both[order, 0], np.arange(n + 1))
        ring = np.ascontiguousarray(both[order, 1])
        prim, place = np.nonzero(self.prims >= 0)
        corner = self.prims[prim, place]
        order = np.argsort(corner, kind="stable")
        fan_start = np.searchsorted(corner[order], np.arange(n + 1))
        fan = np.ascontiguousarray(prim[order])
        return vertex_owner, np.ascontiguousarray(self.edge_prims[:, 0]), start, ring, fan_start, fan

    def faces(self, x: Array, *, flat: float = 0.02) -> Faces:
        """Normals and ridges at positions x [m] (n, 3); edges flatter than `flat` [rad] are no ridges."""
        owner, edge_owner, start, ring, fan_start, fan = self._static
        f = Faces(
            self.prims, self.prim_edges, self.edges, self.edge_prims, owner, edge_owner, start, ring, fan_start, fan,
            self.body, self.radius, np.ascontiguousarray(x, dtype=float),
            np.empty((len(self.prims), 3)), np.empty((len(self.edges), 3)), np.empty((len(x), 3)),
            np.empty(len(self.edges), dtype=np.bool_),
        )  # fmt: skip
        update_features(f, flat)
        return f


def surface_of(skin: Skin) -> Surface:
    """The surface of a skin; made once for each skin, which keeps it."""
    known: Surface | None = vars(skin).get("_surface")
    if known is None:
        known = Surface(skin.triangles, skin.segments, skin.radius, skin.body)
        vars(skin)["_surface"] = known
    return known


def _grown(surface: Surface, x: Array) -> tuple[Any, ...]:
    """Children, ranges, order and pieces of a box tree at a configuration, and the outline of its clusters."""
    prims = surface.prims
    corners = np.where(prims >= 0, prims, prims[:, :1])
    centres = np.ascontiguousarray(x[corners].mean(axis=1)) if len(corners) else np.zeros((0, 3))
    groups = np.ascontiguousarray(surface.body[prims[:, 0]])
    children, ranges, order = bvh.build(centres, groups)
    pieces = bvh.blocks(children, ranges, max(1, len(prims) // _PIECES))
    return children, ranges, order, pieces, clusters.outline(children, ranges, groups, order)


class Tree:
    """Box tree of a surface: built at one configuration, refitted at others.

    Its boxes have six dimensions: positions, and the normals along which a primitive's features may push.
    """

    def __init__(self, surface: Surface, positions: Array) -> None:
        self.surface = surface
        x = np.ascontiguousarray(positions, dtype=float)
        key = x.tobytes()
        if key not in surface.trees:
            surface.trees[key] = _grown(surface, x)
        self.children, self.ranges, self.order, self.pieces, outline = surface.trees[key]
        self.low = np.zeros((len(surface.prims), 6))
        self.high = np.zeros((len(surface.prims), 6))
        self._node_low = np.zeros((len(self.children), 6))
        self._node_high = np.zeros((len(self.children), 6))
        rows = np.zeros((len(outline[0]), 12), dtype=np.float32)
        lanes = np.zeros((int(outline[3].max()) + 1, 12, clusters.WIDTH), dtype=np.float32)
        self._clusters = (*outline, self.order.astype(np.int32), rows, lanes)
        self._fitted = self._packed = False
        self.slack = np.nan  # of the last refit

    def refit(self, faces: Faces, *, slack: float) -> None:
        """Boxes and ranges of normals at the positions of the faces; those of the nodes follow when they are needed."""
        primitive_boxes(faces, slack, self.low, self.high)
        self.slack = slack
        self._fitted = self._packed = False

    def _fit(self) -> None:
        if not self._fitted:
            bvh.refit(
                self.children, self.ranges, self.order, self.low, self.high, self._node_low, self._node_high
            )
            self._fitted = True

    @property
    def node_low(self) -> Array:
        """Lower bounds of the nodes (nodes, 6)."""
        self._fit()
        return self._node_low

    @property
    def node_high(self) -> Array:
        """Upper bounds of the nodes (nodes, 6)."""
        self._fit()
        return self._node_high

    @property
    def clusters(self) -> tuple[Array, ...]:
        """What `pliant._kernels.clusters` takes."""
        if not self._packed:
            left, first, size, leaf, _, order, rows, lanes = self._clusters
            clusters.pack(left, first, size, leaf, order, self.low, self.high, rows, lanes)
            self._packed = True
        return self._clusters

    def work(self, other: Tree, search: tuple[float, float, Array]) -> Array:
        """Pieces of work (n, 2) of `pairs`, in the order in which it does them."""
        stop = max(len(self.low), len(other.low)) // 16
        return clusters.pairs_between(self.clusters, other.clusters, other is self, *search, _EVERYTHING, stop)

    def pairs(self, other: Tree, search: tuple[float, float, Array], part: Array | None = None) -> Array:
        """Pairs (m, 2) of primitives whose boxes meet.

        Args:
            other: the other tree, or this one.
            search: margin between the boxes [m], turn by which their normals may miss being opposed [-], and which
                bodies may meet (b1, b2); pairs that are forbidden may be found nevertheless.
            part: of the work, all if None.
        """
        work = _EVERYTHING if part is None else part
        return clusters.pairs_between(self.clusters, other.clusters, other is self, *search, work, 0)
