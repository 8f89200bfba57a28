"""How actuators act on beams: cables through points carried by the nodes, dead forces, sliding bases.

A dead force has a potential, so that the stiffness stays symmetric. Moments and forces that turn with the beam have
none; `RodModel` takes these.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pliant._kernels import beam_pull as kernels
from pliant.actuators import Actuator, Cable, LineLoad, PointForce, Slide, Wrench
from pliant.errors import ArgumentError, UnknownNameError
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

        self._paths: dict[int, Array] = {}  # carried points of each cable
        pushed: list[tuple[int, int, Array]] = []
        sliding: list[tuple[int, int]] = []
        for number, a in enumerate(self.actuators):
            if isinstance(a, Cable):
                for name in ("friction", "tube_stiffness"):
                    if getattr(a, name):
                        raise ArgumentError(f"{a.name}.{name}", "not modelled on beams", "0")
                points = [] if a.pull_point is None else [carry(a.pull_point, "", a.name, True)]
                points += [carry(x, a.body, f"{a.name}.points", i in a.world) for i, x in enumerate(a.points)]
                self._paths[number] = np.array(points, dtype=np.int64)
            elif isinstance(a, PointForce):
                pushed.append((number, carry(a.point, a.body, f"{a.name}.point"), np.array(a.direction, dtype=float)))
            elif isinstance(a, Wrench):
                pushed.append((number, carry(a.point, a.body, f"{a.name}.point"), _dead_force(a)))
            elif isinstance(a, LineLoad):
                for n, share in _spread(layout, a):
                    node.append(n)
                    offset.append(np.zeros(3))
                    pushed.append((number, len(node) - 1, share * _dead_force(a)))
            elif isinstance(a, Slide):
                sliding.append((number, layout.slide_index(a.part)))
            else:
                kinds = "Cable, PointForce, Wrench, LineLoad, Slide"
                raise ArgumentError(a.name, f"{a.kind!r} does not act on beams", kinds)
        self.node = np.array(node, dtype=np.int64)
        self.offset = np.array(offset).reshape(-1, 3)
        segments = [np.column_stack([k[:-1], k[1:]]) for k in self._paths.values()]
        self.ends = np.vstack(segments) if segments else np.zeros((0, 2), np.int64)
        self.owner = np.repeat(list(self._paths), [len(s) for s in segments]).astype(np.int64)
        self.pusher = np.array([i for i, _, _ in pushed], dtype=np.int64)
        self.at = np.array([k for _, k, _ in pushed], dtype=np.int64)
        self.along = np.array([d for _, _, d in pushed]).reshape(-1, 3)
        self.slides = np.array([i for i, _ in sliding], dtype=np.int64)
        self._which = np.array([k for _, k in sliding], dtype=np.int64)
        both = self.node[self.ends]
        self.pairs = both[(both >= 0).all(axis=1)]
        self._rest = np.zeros(len(self.actuators))
        self._rest = self.values(layout.rest_p, layout.rest_Q, layout.rest)

    def number(self, layout: BeamLayout) -> None:
        """Where the second derivatives of each segment go, once the pattern is fixed."""
        self.pair = np.full((len(self.ends), 3), -1, dtype=np.int64)
        for s, (a, b) in enumerate(self.node[self.ends]):
            if a >= 0:
                self.pair[s, 0] = layout.pair(a, a)
            if b >= 0:
                self.pair[s, 1] = layout.pair(b, b)
            if a >= 0 and b >= 0:
                self.pair[s, 2] = layout.pair(a, b)
        self.own = np.array([layout.pair(n, n) if n >= 0 else -1 for n in self.node], dtype=np.int64)

    @property
    def acting(self) -> tuple[Array, ...]:
        """What the kernels ask for: carried points, segments with their owners, pushed points with theirs."""
        return self.node, self.offset, self.ends, self.owner, self.at, self.along, self.pusher

    def values(self, p: Array, Q: Array, q: Array) -> Array:
        """Displacements (nu,)."""
        x, _ = kernels.carry(p, Q, self.node, self.offset)
        out = kernels.coordinates(x, *self.acting[2:], len(self.actuators))
        out[self.slides] = q[self._layout.slide_q[self._which]]
        return out - self._rest

    def rows(self, p: Array, Q: Array) -> Array:
        """Derivatives of the displacements (nu, nv)."""
        L = self._layout
        x, arm = kernels.carry(p, Q, self.node, self.offset)
        return kernels.coordinate_rows(
            x, arm, self.node, *self.acting[2:], L.place, L.share, self.slides, L.slide_v[self._which],
            len(self.actuators), L.nv,
        )  # fmt: skip

    def add_slides(self, effort: Array, out: Array) -> None:
        """Add the forces of the slides to the generalised force (nv,)."""
        if len(self.slides):
            out[self._layout.slide_v[self._which]] += np.asarray(effort)[self.slides]

    def read(self, p: Array, Q: Array, state: Any) -> dict[str, float]:
        """Readings of all actuators."""
        x, _ = kernels.carry(p, Q, self.node, self.offset)
        value = self.values(p, Q, state.q)
        length = -kernels.coordinates(x, *self.acting[2:], len(self.actuators))
        out: dict[str, float] = {}
        for i, (a, d, e) in enumerate(zip(self.actuators, value, state.effort)):
            if i in self._paths:
                out[f"{a.name}.length"] = float(length[i])
                out[f"{a.name}.tension"] = float(e)
            else:
                out[f"{a.name}.displacement"] = float(d)
                out[f"{a.name}.effort"] = float(e)
        return out

    def paths(self, p: Array, Q: Array) -> dict[str, Array]:
        """Polylines of the cables [m]."""
        x, _ = kernels.carry(p, Q, self.node, self.offset)
        return {self.actuators[i].name: x[points] for i, points in self._paths.items()}


def _dead_force(load: Wrench | LineLoad) -> Array:
    """Force [N], or force per length [N/m], of a load without a moment that keeps its direction (3,)."""
    if load.follower or any(load.moment):
        raise ArgumentError(
            load.name,
            "a moment, or a load that follows the body, has no potential: beams do not take it",
            "a dead force, or a RodModel",
        )
    return np.array(load.force, dtype=float)


def _spread(layout: BeamLayout, load: LineLoad) -> list[tuple[int, float]]:
    """The nodes of the rod that a load is spread over, and the length that counts for each [m]."""
    if load.body and load.body not in layout.first:
        raise UnknownNameError("rod", load.body, layout.first)
    if not load.body and len(layout.rods) > 1:
        raise ArgumentError(f"{load.name}.body", "there are several rods", f"one of {list(layout.first)}")
    rod = next(r for r in layout.rods if load.body in ("", r.name))
    nodes = range(layout.first[rod.name], layout.tips[rod.name] + 1)
    length = np.full(len(nodes), rod.length / (len(nodes) - 1))
    length[[0, -1]] *= 0.5
    return list(zip(nodes, length.tolist()))
