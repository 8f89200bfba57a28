"""How actuators act on beams: cables through points carried by the nodes, forces at points, sliding bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant._kernels.beam import add_moment, path_gradient, path_hessian, path_length
from pliant.actuators import Actuator, Cable, PointForce, Slide
from pliant.errors import ArgumentError
from pliant.models.beam_layout import BeamLayout

Array = np.ndarray


class BeamDrives:
    """The actuators of a robot of beams, as coordinates with derivatives.

    All act on carried points: x = p + R(Q) offset of a node, or a fixed point of the world.
    """

    def __init__(self, layout: BeamLayout, actuators: Sequence[Actuator]) -> None:
        self.actuators = tuple(actuators)
        self._layout = layout
        node: list[int] = []
        offset: list[Array] = []

        def carry(position: Any, body: str, name: str, fixed: bool = False) -> int:
            where = np.array(position, dtype=float)
            n, o = (-1, where) if fixed else layout.carrier(where, body, name)
            node.append(n)
            offset.append(o)
            return len(node) - 1

        self._kind: list[tuple[str, Any]] = []
        for a in self.actuators:
            if isinstance(a, Cable):
                for name in ("friction", "tube_stiffness"):
                    if getattr(a, name):
                        raise ArgumentError(f"{a.name}.{name}", "not modelled on beams", "0")
                points = [] if a.pull_point is None else [carry(a.pull_point, "", a.name, True)]
                points += [carry(x, a.body, f"{a.name}.points", i in a.world) for i, x in enumerate(a.points)]
                self._kind.append(("path", np.array(points, dtype=np.int64)))
            elif isinstance(a, PointForce):
                self._kind.append(("point", (carry(a.point, a.body, f"{a.name}.point"), np.array(a.direction))))
            elif isinstance(a, Slide):
                self._kind.append(("slide", layout.slide_index(a.part)))
            else:
                raise ArgumentError(a.name, f"{a.kind!r} does not act on beams", "Cable, PointForce, Slide")
        self.node = np.array(node, dtype=np.int64)
        self.offset = np.array(offset).reshape(-1, 3)
        segments = [np.column_stack([k[:-1], k[1:]]) for kind, k in self._kind if kind == "path"]
        joined = np.vstack(segments) if segments else np.zeros((0, 2), np.int64)
        both = self.node[joined]
        self.pairs = both[(both >= 0).all(axis=1)] if len(both) else np.zeros((0, 2), np.int64)
        self._rest = np.zeros(len(self.actuators))
        self._rest = self.values(layout.rest_p, layout.rest_Q, layout.rest)

    def number(self, layout: BeamLayout) -> None:
        """Where the second derivatives of each path go, once the pattern is fixed."""
        self._path_pairs: dict[int, Array] = {}
        for i, (kind, points) in enumerate(self._kind):
            if kind != "path":
                continue
            table = np.full((len(points) - 1, 3), -1, dtype=np.int64)
            for s, (a, b) in enumerate(zip(self.node[points[:-1]], self.node[points[1:]])):
                if a >= 0:
                    table[s, 0] = layout.pair(a, a)
                if b >= 0:
                    table[s, 1] = layout.pair(b, b)
                if a >= 0 and b >= 0:
                    table[s, 2] = layout.pair(a, b)
            self._path_pairs[i] = table
        self._own = np.array([layout.pair(n, n) if n >= 0 else -1 for n in self.node], dtype=np.int64)

    def carried(self, p: Array, Q: Array) -> tuple[Array, Array]:
        """Positions of the carried points and their arms about their nodes (m, 3)."""
        arm = np.zeros_like(self.offset)
        x = self.offset.copy()
        held = self.node >= 0
        if held.any():
            nodes = self.node[held]
            arm[held] = _turned(Q[nodes], self.offset[held])
            x[held] = p[nodes] + arm[held]
        return x, arm

    def values(self, p: Array, Q: Array, q: Array) -> Array:
        """Displacements (nu,)."""
        x, _ = self.carried(p, Q)
        out = np.empty(len(self._kind))
        for i, (kind, data) in enumerate(self._kind):
            if kind == "path":
                out[i] = -path_length(x, data[:-1], data[1:])
            elif kind == "point":
                out[i] = data[1] @ x[data[0]]
            else:
                out[i] = q[self._layout.slide_q[data]]
        return out - self._rest

    def _pull(self, x: Array, effort: Array) -> Array:
        """Force on the carried points (m, 3)."""
        f = np.zeros_like(x)
        for (kind, data), e in zip(self._kind, effort):
            if kind == "path" and e:
                path_gradient(x, data[:-1], data[1:], -float(e), f)
            elif kind == "point" and e:
                f[data[0]] += float(e) * data[1]
        return f

    def add_wrench(self, carried: tuple[Array, Array], effort: Array, wrench: Array) -> None:
        """Add the wrenches of the actuators on the nodes (n, 6), for points `carried`; see `add_slides` for slides."""
        x, arm = carried
        f = self._pull(x, effort)
        held = self.node >= 0
        np.add.at(wrench[:, 3:], self.node[held], f[held])
        np.add.at(wrench[:, :3], self.node[held], np.cross(arm[held], f[held]))

    def add_slides(self, effort: Array, out: Array) -> None:
        """Add the forces of the slides to the generalised force (nv,)."""
        for (kind, data), e in zip(self._kind, effort):
            if kind == "slide":
                out[self._layout.slide_v[data]] += e

    def add_hessian(self, p: Array, Q: Array, effort: Array, blocks: Array) -> None:
        """Add -sum effort d^2 displacement / dq^2 to the node blocks (pairs, 6, 6)."""
        x, arm = self.carried(p, Q)
        for i, ((kind, data), e) in enumerate(zip(self._kind, effort)):
            if kind == "path" and e:
                path = self._path_pairs[i]
                path_hessian(x, arm, data[:-1], data[1:], float(e), self.node, path, blocks)
        f = self._pull(x, effort)
        for k in np.flatnonzero((self.node >= 0) & f.any(axis=1)):
            add_moment(arm[k], -f[k], blocks[self._own[k]])

    def read(self, p: Array, Q: Array, state: Any) -> dict[str, float]:
        """Readings of all actuators."""
        x, _ = self.carried(p, Q)
        value = self.values(p, Q, state.q)
        out: dict[str, float] = {}
        for a, (kind, data), d, e in zip(self.actuators, self._kind, value, state.effort):
            if kind == "path":
                out[f"{a.name}.length"] = float(path_length(x, data[:-1], data[1:]))
                out[f"{a.name}.tension"] = float(e)
            else:
                out[f"{a.name}.displacement"] = float(d)
                out[f"{a.name}.effort"] = float(e)
        return out

    def paths(self, p: Array, Q: Array) -> dict[str, Array]:
        """Polylines of the cables [m]."""
        x, _ = self.carried(p, Q)
        return {a.name: x[data] for a, (kind, data) in zip(self.actuators, self._kind) if kind == "path"}


def _turned(Q: Array, offsets: Array) -> Array:
    """Vectors (m, 3) turned by quaternions wxyz (m, 4), normalised here."""
    Q = Q / np.sqrt(np.einsum("ni,ni->n", Q, Q))[:, None]
    w, u = Q[:, :1], Q[:, 1:]
    twist = 2.0 * np.cross(u, offsets)
    return offsets + w * twist + np.cross(u, twist)
