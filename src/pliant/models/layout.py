"""From the bodies of a robot to nodes, elements and degrees of freedom.

A node is free, held (in some directions), or carried by a rigid part. The configuration q stacks the free node
coordinates and, for each rigid part, its translation along its axes and (if it rotates) a unit quaternion.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from pliant._kernels.placing import carry, settle_nodes
from pliant.bodies import Point, RigidBody, RodBody, SoftBody
from pliant.checks import instance
from pliant.errors import ArgumentError
from pliant.geometry.topology import collapsed
from pliant.lie import exp, matrix_from_quaternion, quaternion_from_matrix
from pliant.models.couplings import Anchor
from pliant.models.shapes import (
    PRISM,
    Elements,
    elements,
    hex_shape,
    prism_shape,
    quadratic_cells,
    quadratic_triangles,
    tet_shape,
)
from pliant.robot import Robot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Part:
    """A rigid part: the nodes it carries and how it may move."""

    name: str
    nodes: Array
    origin: Array
    axes: Array  # (3, k), orthonormal or not, one column per allowed translation
    rotates: bool
    mass: float
    q_start: int
    v_start: int

    @property
    def translations(self) -> int:
        """Number of allowed translations."""
        return int(self.axes.shape[1])


@dataclass(frozen=True, eq=False)
class Embedding:
    """A point inside an element: weights and rest gradients of the nodes around it."""

    nodes: Array
    weights: Array
    grads: Array  # (k, 3), zero for points of rigid bodies
    part: int  # rigid part that carries the point, or -1


class Layout:
    """Nodes, elements and degrees of freedom of the solid bodies of a robot."""

    def __init__(self, robot: Robot, element: str) -> None:
        self.robot = instance("robot", robot, Robot)
        if any(isinstance(b, RodBody) for b in robot.bodies):
            raise ArgumentError("robot", "it has rods", "soft and rigid bodies here; BeamModel or RodModel for rods")
        order = 1 if element == "linear" else 2
        nodes, groups, skins, cavities = [], [], [], {}
        sets: dict[tuple[str, str], Array] = {}
        self.first_node: dict[str, int] = {}
        self.group_regions: list[tuple[SoftBody, Elements]] = []
        count = 0
        for index, body in enumerate(robot.bodies):
            self.first_node[body.name] = count
            if isinstance(body, RigidBody):
                nodes.append(np.asarray(body.vertices))
                skins.append((index, count + body.triangles, 1))
                sets[body.name, ""] = count + np.arange(len(body.vertices))
                count += len(body.vertices)
                continue
            if not isinstance(body, SoftBody):
                raise TypeError(type(body))
            mesh = body.mesh
            X, edges = mesh.nodes, np.zeros((0, 2), int)
            start = count
            if len(mesh.tets):
                cells = mesh.tets
                if order == 2:
                    cells, edges = quadratic_cells(mesh.tets, len(mesh.nodes))
                    X = np.vstack([X, 0.5 * (X[edges[:, 0]] + X[edges[:, 1]])])
                ids = np.arange(len(mesh.tets))
                group = elements(X, cells, "tet4" if order == 1 else "tet10", index, ids)
                groups.append((body, group, start))
            if len(mesh.hexes):
                flat = collapsed(mesh.hexes)
                for kind, chosen in (("hex8", np.flatnonzero(~flat)), ("prism6", np.flatnonzero(flat))):
                    if len(chosen):
                        cells = mesh.hexes[chosen] if kind == "hex8" else mesh.hexes[np.ix_(chosen, PRISM)]
                        groups.append((body, elements(X, cells, kind, index, len(mesh.tets) + chosen), start))

            def lift(triangles: Array, edges: Array = edges, mesh=mesh) -> Array:
                return quadratic_triangles(triangles, edges, len(mesh.nodes)) if len(edges) else triangles

            skins.append((index, start + lift(mesh.boundary()), order if len(edges) else 1))
            for name, triangles in mesh.cavities.items():
                cavities[body.name, name] = start + lift(triangles)
            for name, ids in mesh.node_sets.items():
                sets[body.name, name] = start + _with_middles(ids, edges, len(mesh.nodes))
            nodes.append(X)
            count += len(X)
        self._sets, self.cavities = sets, cavities
        self._extend(nodes, groups)
        self._number(robot)
        self._skin(skins)

    def _extend(self, nodes: list[Array], groups: list) -> None:
        self.body_of = np.concatenate([np.full(len(n), i) for i, n in enumerate(nodes)])
        self.groups: list[Elements] = []
        for body, g, start in groups:
            moved = replace(g, cells=g.cells + start)
            self.groups.append(moved)
            self.group_regions.append((body, moved))
        # Named points of rigid bodies become nodes of their own, so that they can be located like all others.
        self._point_node: dict[str, int] = {}
        extra: list[Point] = []
        count = sum(len(n) for n in nodes)
        for point in self.robot.points:
            if point.body and isinstance(self.robot.body(point.body), RigidBody):
                self._point_node[point.name] = count + len(extra)
                extra.append(point)
        self.rest_nodes = np.vstack([*nodes, np.array([p.position for p in extra]).reshape(-1, 3)])
        names = [b.name for b in self.robot.bodies]
        self.body_of = np.concatenate([self.body_of, np.array([names.index(p.body) for p in extra], dtype=int)])
        for p in extra:
            key = (p.body, "")
            self._sets[key] = np.append(self._sets[key], self._point_node[p.name])

    def _number(self, robot: Robot) -> None:
        n = len(self.rest_nodes)
        held = np.zeros((n, 3), dtype=bool)
        for fixation in robot.fixations:
            ids = self.node_set(robot.soft_body(fixation.body).name, fixation.nodes)
            for axis in fixation.axes:
                held[ids, "xyz".index(axis)] = True
        carried = np.full(n, -1)
        described: list[tuple[str, Array, Any]] = [
            (r.name, self.node_set(robot.soft_body(r.body).name, r.nodes), r) for r in robot.rigid
        ]
        described += [(b.name, self._sets[b.name, ""], b) for b in robot.bodies if isinstance(b, RigidBody)]
        for i, (name, ids, _) in enumerate(described):
            if (carried[ids] >= 0).any():
                raise ArgumentError(f"rigid part {name!r}", "it shares nodes with another rigid part", "disjoint parts")
            carried[ids] = i
        # A node held everywhere wins over a rigid part only if the whole part is held; otherwise it is an error.
        if (held[carried >= 0]).any():
            names = sorted({described[i][0] for i in carried[(carried >= 0) & held.any(axis=1)]})
            raise ArgumentError(
                "fixations", f"nodes of rigid part {', '.join(names)} are also held", "hold the part through its axes"
            )
        free = ~held & (carried < 0)[:, None]
        self.flat_free = np.flatnonzero(free.ravel())
        numbers = np.full(n * 3, -1)
        numbers[self.flat_free] = np.arange(len(self.flat_free))
        self.dof = numbers.reshape(n, 3)
        self.held, self.carried = held, carried
        q, v = len(self.flat_free), len(self.flat_free)
        parts = []
        for name, ids, r in described:
            axes = np.array(r.axes, float).reshape(-1, 3).T
            part = Part(name, ids, self.rest_nodes[ids].mean(axis=0), axes, bool(r.rotates), float(r.mass), q, v)
            parts.append(part)
            q += part.translations + (4 if part.rotates else 0)
            v += part.translations + (3 if part.rotates else 0)
        self.parts, self.nq, self.nv = tuple(parts), q, v
        self.rest = np.concatenate([self.rest_nodes.ravel()[self.flat_free], np.zeros(q - len(self.flat_free))])
        for part in parts:
            if part.rotates:
                self.rest[part.q_start + part.translations] = 1.0
        self.rest.setflags(write=False)
        self._constant_map: sp.csr_matrix | None = None
        self._translated: tuple[Array, ...] | None = None  # what `carry` needs, where parts only translate
        if parts and not any(p.rotates for p in parts):
            shifts = np.zeros((len(parts), 3, max(p.translations for p in parts)))
            for shift, part in zip(shifts, parts):
                shift[:, : part.translations] = part.axes
            self._translated = (
                np.concatenate([p.nodes for p in parts]),
                np.repeat(np.arange(len(parts)), [len(p.nodes) for p in parts]),
                shifts,
                np.array([p.q_start for p in parts]),
                np.array([p.translations for p in parts]),
            )

    def _skin(self, skins: list[tuple[int, Array, int]]) -> None:
        triangles = []
        for _, tri, order in skins:
            if order == 2:
                corner = [tri[:, [0, 3, 5]], tri[:, [3, 1, 4]], tri[:, [5, 4, 2]], tri[:, [3, 4, 5]]]
                tri = np.vstack(corner)
            triangles.append(tri)
        stacked = np.vstack(triangles) if triangles else np.zeros((0, 3), int)
        self.skin_nodes, inverse = np.unique(stacked, return_inverse=True)
        self.skin_triangles = inverse.reshape(-1, 3)

    # ---- kinematics -----------------------------------------------------------------------------
    def node_set(self, body: str, name: str) -> Array:
        """Nodes of a named set, mid-side nodes included."""
        return self._sets[body, name]

    def part_pose(self, part: Part, q: Array) -> tuple[Array, Array]:
        """Rotation (3, 3) and position of the origin [m] (3,) of a rigid part."""
        k = part.translations
        p = part.origin + part.axes @ q[part.q_start : part.q_start + k]
        if not part.rotates:
            return np.eye(3), p
        return matrix_from_quaternion(q[part.q_start + k : part.q_start + k + 4]), p

    def positions(self, q: Array) -> Array:
        """Positions of all nodes [m] (N, 3)."""
        if len(q) < self.nq:
            raise ArgumentError("q", f"has {len(q)} numbers", f"a configuration ({self.nq},)")
        x = self.rest_nodes.copy()
        settle_nodes(x, q, self.flat_free)
        if self._translated is not None:
            carry(x, q, *self._translated)
            return x
        for part in self.parts:
            if part.rotates:
                R, p = self.part_pose(part, q)
                x[part.nodes] = p + (self.rest_nodes[part.nodes] - part.origin) @ R.T
            else:
                x[part.nodes] += part.axes @ q[part.q_start : part.q_start + part.translations]
        return x

    def retract(self, q: Array, dq: Array) -> Array:
        """The configuration reached from q by a tangent increment."""
        n = len(self.flat_free)
        out = q.copy()
        out[:n] += dq[:n]
        for part in self.parts:
            k, a, b = part.translations, part.q_start, part.v_start
            out[a : a + k] += dq[b : b + k]
            if part.rotates:
                R = exp(dq[b + k : b + k + 3]) @ matrix_from_quaternion(q[a + k : a + k + 4])
                out[a + k : a + k + 4] = quaternion_from_matrix(R)
        return out

    def reduce(self, q: Array, x: Array, g: Array) -> Array:
        """Pull a gradient on the nodes (N, 3) back to the degrees of freedom (nv,)."""
        out = np.empty(self.nv)
        out[: len(self.flat_free)] = g.reshape(-1)[self.flat_free]
        for part in self.parts:
            k, b = part.translations, part.v_start
            on = g[part.nodes]
            out[b : b + k] = part.axes.T @ on.sum(axis=0)
            if part.rotates:
                _, p = self.part_pose(part, q)
                out[b + k : b + k + 3] = np.cross(x[part.nodes] - p, on).sum(axis=0)
        return out

    def tangent_map(self, q: Array, x: Array) -> sp.csr_matrix:
        """d x / d q as a sparse matrix (3 N, nv); constant, and not to be changed, where no part rotates."""
        if self._constant_map is not None:
            return self._constant_map
        n = len(self.flat_free)
        rows, cols, vals = [self.flat_free], [np.arange(n)], [np.ones(n)]
        for part in self.parts:
            k, b = part.translations, part.v_start
            m = len(part.nodes)
            base = 3 * part.nodes[:, None] + np.arange(3)
            for j in range(k):
                rows.append(base.ravel())
                cols.append(np.full(3 * m, b + j))
                vals.append(np.tile(part.axes[:, j], m))
            if part.rotates:
                _, p = self.part_pose(part, q)
                r = x[part.nodes] - p
                for j, e in enumerate(np.eye(3)):
                    rows.append(base.ravel())
                    cols.append(np.full(3 * m, b + k + j))
                    vals.append(np.cross(e, r).ravel())
        shape = (self.rest_nodes.size, self.nv)
        out = sp.csr_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))), shape=shape)
        if not any(p.rotates for p in self.parts):
            self._constant_map = out
        return out

    # ---- points ---------------------------------------------------------------------------------
    def embed(self, position: Array, body: str = "") -> Embedding:
        """The element that carries a point of the rest pose (the nearest one if it lies outside)."""
        best: tuple[float, SoftBody, Elements, int, Array] | None = None
        for owner, group in self.group_regions:
            if body and owner.name != body:
                continue
            cell, reference, distance = _locate(owner.mesh, group, position)
            if best is None or distance < best[0]:
                best = (distance, owner, group, cell, reference)
        if best is None:
            raise ArgumentError("body", f"body {body!r} has no elements to carry a point", "a soft body")
        distance, owner, group, cell, reference = best
        size = float(np.linalg.norm(np.ptp(owner.mesh.nodes, axis=0)))
        if distance > 0.1 * size:
            raise ArgumentError(
                "point", f"{np.asarray(position).tolist()} lies {distance:.3g} m outside of body {owner.name!r}",
                f"at most {0.1 * size:.3g} m outside",
            )  # fmt: skip
        nodes = group.cells[cell]
        if group.kind == "hex8":
            N, dN = hex_shape(reference)
        elif group.kind == "prism6":
            N, dN = prism_shape(reference)
        else:
            N, dN = tet_shape(reference, 1 if group.kind == "tet4" else 2)
        X = self.rest_nodes[nodes]
        grads = dN[0] @ np.linalg.inv(X.T @ dN[0])
        carried = self.carried[nodes]
        part = int(carried[0]) if (carried == carried[0]).all() else -1
        return Embedding(nodes, N[0], grads, part)

    def embed_point(self, point: Point) -> Embedding:
        """The embedding of a named point."""
        if point.name in self._point_node:
            node = self._point_node[point.name]
            return Embedding(np.array([node]), np.ones(1), np.zeros((1, 3)), int(self.carried[node]))
        return self.embed(np.array(point.position), point.body)

    def anchor(self, position: Array, body: str = "") -> Anchor:
        """A point of the rest pose carried by the nodes around it."""
        if body and isinstance(self.robot.body(body), RigidBody):
            raise ArgumentError("body", f"{body!r} is rigid", "a soft body for cable via points and forces")
        e = self.embed(np.asarray(position, float), body)
        keep = e.weights != 0.0
        return Anchor(e.nodes[keep], e.weights[keep])


def _with_middles(ids: Array, edges: Array, n_nodes: int) -> Array:
    """Add the mid-side nodes of edges whose two ends are in the set."""
    if not len(edges):
        return np.asarray(ids)
    inside = np.zeros(n_nodes, dtype=bool)
    inside[ids] = True
    return np.concatenate([ids, n_nodes + np.flatnonzero(inside[edges].all(axis=1))])


def _locate(mesh, group: Elements, position: Array) -> tuple[int, Array, float]:
    """Cell of the group, reference coordinates (1, 3) and distance outside [m] of a point in a mesh."""
    if group.kind not in ("hex8", "prism6"):
        cells, weights, distance = mesh.locate(np.atleast_2d(position))
        return int(cells[0]), weights[:, 1:], float(distance[0])
    wedge = group.kind == "prism6"
    cells = mesh.hexes[group.ids - len(mesh.tets)]
    corners = mesh.nodes[cells[:, PRISM] if wedge else cells]
    shape = prism_shape if wedge else hex_shape
    centres = corners.mean(axis=1)
    best: tuple[int, Array, float] | None = None
    for cell in np.argsort(((centres - position) ** 2).sum(axis=1))[:8]:
        xi = np.array([[1 / 3, 1 / 3, 0.0]]) if wedge else np.zeros((1, 3))
        for _ in range(20):
            N, dN = shape(xi)
            step = np.linalg.solve(corners[cell].T @ dN[0], position - N[0] @ corners[cell])
            xi = np.clip(xi + step, [0.0, 0.0, -1.0] if wedge else -1.0, 1.0)
            if wedge:
                xi[0, :2] /= max(1.0, float(xi[0, :2].sum()))
            if np.abs(step).max() < 1e-12:
                break
        distance = float(np.linalg.norm(shape(xi)[0][0] @ corners[cell] - position))
        if best is None or distance < best[2] - 1e-12:
            best = (int(cell), xi, distance)
    assert best is not None
    return best
