"""Nodes, elements, degrees of freedom and matrix pattern of a robot of beams."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from pliant._kernels import beam_chain, beam_pull
from pliant._kernels.arrays import writable
from pliant._kernels.beam import measure
from pliant.actuators import Slide
from pliant.algebra.symmetric import SymmetricMatrix, SymmetricPattern
from pliant.bodies import RodBody
from pliant.checks import count
from pliant.errors import ArgumentError, UnknownNameError
from pliant.lie import exp, matrix_from_quaternion, quaternion_from_matrix
from pliant.models.rods import check_slides, rods_of
from pliant.robot import Robot

Array = np.ndarray


class BeamLayout:
    """From rods to nodes and elements.

    Node quantities are stacked over all rods, the held first node of each included. The configuration q has, rod by
    rod, the travel of its base if it slides, then (position, quaternion) of each free node; v has (rotation, move).
    """

    def __init__(self, robot: Robot, elements: int | Mapping[str, int], shear: bool) -> None:
        rods = rods_of(robot)
        for rod in rods:
            if rod.parent:
                raise ArgumentError(f"{rod.name}.parent", "not modelled by beams", "'' (RodModel carries rods on rods)")
        self.gravity = np.array(robot.gravity)
        slides = [a for a in robot.actuators if isinstance(a, Slide)]
        check_slides(rods, slides, "BeamModel")
        self._slides = {a.part: np.array(a.axis) for a in slides}
        counts = _counts([r.name for r in rods], elements)
        p, Q, ends, lengths, stiffness = [], [], [], [], []
        mass, turning, radius, body, viscosity, drag = [], [], [], [], [], []
        self.first: dict[str, int] = {}
        self.tips: dict[str, int] = {}
        nodes = 0
        for index, rod in enumerate(rods):
            n = counts[rod.name]
            node_p, node_Q = _rest_curve(rod, n)
            step = rod.length / n
            s = (np.arange(n) + 0.5) * step
            outer, inner = rod.radii(s)
            area, second = np.pi * (outer**2 - inner**2), 0.25 * np.pi * (outer**4 - inner**4)
            E, G, rho = rod.material.young, rod.material.shear, rod.material.density
            phi = 12.0 * E * second / (0.9 * G * area * step**2) if shear else np.zeros(n)
            across = 12.0 * E * second / (step**2 * (1.0 + phi))
            stiffness.append(step * np.column_stack([E * area, across, across, 2 * G * second, E * second, E * second]))
            half = 0.5 * rho * step * area
            node_mass = np.concatenate([half, [0.0]]) + np.concatenate([[0.0], half])
            inertia = 0.5 * rho * step * np.column_stack([2 * second, second, second])
            node_turning = np.vstack([inertia, np.zeros(3)]) + np.vstack([np.zeros(3), inertia])
            node_mass[-1] += rod.tip_mass
            mass.append(node_mass)
            turning.append(node_turning)
            radius.append(rod.radii(np.linspace(0, rod.length, n + 1))[0])
            body.append(np.full(n + 1, index))
            viscosity.append(np.full(n, rod.damping + rod.material.rayleigh_stiffness))
            drag.append(np.full(n + 1, rod.material.rayleigh_mass))
            p.append(node_p)
            Q.append(node_Q)
            ends.append(nodes + np.column_stack([np.arange(n), np.arange(1, n + 1)]))
            lengths.append(np.full(n, step))
            self.first[rod.name], self.tips[rod.name] = nodes, nodes + n
            nodes += n + 1
        self.rods = rods
        starts = np.array([self.first[rod.name] for rod in rods])
        elements_before = starts - np.arange(len(rods))
        # first node, last node, first element of each rod
        self.chains = np.column_stack([starts, list(self.tips.values()), elements_before]).astype(np.int64)
        self.rest_p, self.rest_Q = np.vstack(p), np.vstack(Q)
        self.ends, self.lengths = np.vstack(ends).astype(np.int64), np.concatenate(lengths)
        self.mean_length = float(self.lengths.mean())
        self.stiffness = np.ascontiguousarray(np.vstack(stiffness))
        self.mass, self.turning = np.concatenate(mass), np.vstack(turning)
        self.weight = self.mass[:, None] * self.gravity
        self.radius, self.body_of = np.concatenate(radius), np.concatenate(body)
        self.viscosity, self.drag = np.concatenate(viscosity), np.concatenate(drag)
        self.strain = np.empty((len(self.ends), 6))
        self.no_blocks = np.zeros((0, 12, 12))
        measure(self.rest_p, self.rest_Q, self.ends, self.lengths, self.strain)
        self._number()

    def _number(self) -> None:
        q = v = 0
        free, free_q, free_v = [], [], []
        slide_q, slide_v, self.bases = [], [], []
        rest = []
        for rod in self.rods:
            a, b = self.first[rod.name], self.tips[rod.name]
            if rod.name in self._slides:
                self.bases.append((a, self._slides[rod.name]))
                slide_q.append(q)
                slide_v.append(v)
                rest.append(np.zeros(1))
                q, v = q + 1, v + 1
            for node in range(a + 1, b + 1):
                free.append(node)
                free_q.append(q + np.arange(7))
                free_v.append(v + np.arange(6))
                rest += [self.rest_p[node], self.rest_Q[node]]
                q, v = q + 7, v + 6
        self.free, self.free_q, self.free_v = np.array(free), np.array(free_q), np.array(free_v)
        self.first_q, self.first_v = (np.ascontiguousarray(x[:, 0]) for x in (self.free_q, self.free_v))
        self.slide_q, self.slide_v = np.array(slide_q, dtype=int), np.array(slide_v, dtype=int)
        self.base_nodes = np.array([node for node, _ in self.bases], dtype=np.int64)
        self.base_axes = np.array([axis for _, axis in self.bases], dtype=float).reshape(-1, 3)
        # which degree of freedom each component of a node belongs to, and how much of it
        self.place, self.share = np.full((len(self.rest_p), 6), -1), np.ones((len(self.rest_p), 6))
        self.place[self.free] = self.free_v
        for (node, axis), i in zip(self.bases, self.slide_v):
            self.place[node, 3:], self.share[node, 3:] = i, axis
        self.nq, self.nv = q, v
        self.rest = np.concatenate(rest)
        self.rest.setflags(write=False)

    def slide_index(self, part: str) -> int:
        """Which slide moves the base of that rod."""
        return [a for a, _ in self.bases].index(self.first[part])

    def poses(self, q: Array) -> tuple[Array, Array]:
        """Positions (n, 3) and quaternions (n, 4) of all nodes."""
        return beam_chain.node_poses(
            writable(q), self.rest_p, self.rest_Q, self.free, self.first_q, self.base_nodes, self.base_axes,
            self.slide_q,
        )  # fmt: skip

    def retract(self, q: Array, dq: Array) -> Array:
        """The configuration after an increment; see `BeamModel.retract`."""
        return beam_chain.retracted(
            writable(q), writable(dq), *self.poses(q), self.ends, self.chains, self.free, self.first_q, self.first_v,
            self.base_nodes, self.base_axes, self.slide_q, self.slide_v,
        )  # fmt: skip

    def reduce(self, wrench: Array) -> Array:
        """Pull node wrenches (moment, force) (n, 6) back to the degrees of freedom (nv,)."""
        return beam_chain.pulled_back(wrench, self.place, self.share, self.nv)

    def carrier(self, position: Array, body: str, name: str) -> tuple[int, Array]:
        """The node that carries a point of the rest pose, and the offset in the node's axes."""
        chosen = np.arange(len(self.rest_p))
        if body:
            if body not in self.first:
                raise UnknownNameError("rod", body, self.first)
            chosen = np.arange(self.first[body], self.tips[body] + 1)
        distance = np.linalg.norm(self.rest_p[chosen] - position, axis=1)
        node = int(chosen[distance.argmin()])
        reach = float(self.lengths.max() + 4.0 * self.radius[node])
        if distance.min() > reach:
            raise ArgumentError(
                name, f"{position.tolist()} lies {distance.min():.3g} m from the nearest node", f"at most {reach:.3g} m"
            )
        return node, matrix_from_quaternion(self.rest_Q[node]).T @ (position - self.rest_p[node])

    # ---- matrices ------------------------------------------------------------------------------------------
    def couple(self, pairs: Array) -> None:
        """Fix the pattern: the elements' pairs of nodes and those that the actuators couple (m, 2)."""
        every = np.vstack([self.ends, np.column_stack([np.arange(len(self.rest_p))] * 2), pairs.reshape(-1, 2)])
        every = np.unique(np.sort(every, axis=1), axis=0)
        self.pairs = every
        self._pair_of = {(int(a), int(b)): i for i, (a, b) in enumerate(every)}
        self.element_pairs = np.array(
            [[self.pair(a, a), self.pair(a, b), self.pair(b, b)] for a, b in self.ends], dtype=np.int64
        )
        rows, cols, source, weight = [], [], [], []
        for i, (a, b) in enumerate(every):
            left, right = self._columns(int(a)), self._columns(int(b))
            for r, row, wr in left:
                for c, col, wc in right:
                    for x, y in ((r, c), (c, r))[: 1 if a == b else 2]:
                        rows.append(x)
                        cols.append(y)
                        source.append(36 * i + 6 * row + col)
                        weight.append(wr * wc)
        self._source, self._weight = np.array(source), np.array(weight)
        self._places = np.array(rows) * self.nv + np.array(cols)
        if self.dense:
            return
        self.pattern = SymmetricPattern.from_coo(np.array(rows), np.array(cols), self.nv)
        self._slots = self.pattern.slots(np.array(rows), np.array(cols))

    def _columns(self, node: int) -> list[tuple[int, int, float]]:
        """(degree of freedom, component of the node, weight) of everything that moves a node."""
        every = zip(self.place[node], range(6), self.share[node])
        return [(int(v), k, float(w)) for v, k, w in every if v >= 0 and w]

    def pair(self, a: int, b: int) -> int:
        """Index of the block of two nodes."""
        return self._pair_of[(int(min(a, b)), int(max(a, b)))]

    def gather(self, elements: Array) -> Array:
        """Blocks per pair of nodes (pairs, 6, 6) from blocks per element (ne, 12, 12)."""
        blocks = np.zeros((len(self.pairs), 6, 6))
        beam_pull.gather(elements, self.element_pairs, blocks)
        return blocks

    @property
    def dense(self) -> bool:
        """Whether matrices are stored in full: small ones are faster so; a sliding base is held by its drive only."""
        return self.nv <= 240 or len(self.slide_v) > 0

    def matrix(self, blocks: Array) -> SymmetricMatrix | Array:
        """The matrix of the degrees of freedom from blocks per pair of nodes."""
        if self.dense:
            data = beam_pull.scattered(blocks, self._source, self._weight, self._places, self.nv**2)
            return data.reshape(self.nv, self.nv)
        data = beam_pull.scattered(blocks, self._source, self._weight, self._slots, self.pattern.nnz)
        return SymmetricMatrix(self.pattern, data)

    def mass_blocks(self, Q: Array, factor: Array) -> Array:
        """Blocks of the mass matrix, scaled per node."""
        blocks = np.zeros((len(self.pairs), 6, 6))
        for node in range(len(Q)):
            R = matrix_from_quaternion(Q[node])
            block = blocks[self.pair(node, node)]
            block[:3, :3] = factor[node] * (R * self.turning[node]) @ R.T
            block[3:, 3:] = factor[node] * self.mass[node] * np.eye(3)
        return blocks


def _counts(names: list[str], elements: int | Mapping[str, int]) -> dict[str, int]:
    if isinstance(elements, Mapping):
        for name in elements:
            if name not in names:
                raise UnknownNameError("rod", name, names)
        counts = {name: elements.get(name, 10) for name in names}
    else:
        counts = dict.fromkeys(names, elements)
    return {name: count("elements", n) for name, n in counts.items()}


def _rest_curve(rod: RodBody, n: int) -> tuple[Array, Array]:
    """Positions and quaternions of n + 1 nodes along the rest shape."""
    R = matrix_from_quaternion(rod.rotation)
    step = rod.length / n
    kappa = np.array(rod.rest_curvature)
    g = np.eye(4)
    g[:3, :3], g[:3, 3] = R, rod.position
    twist = exp(step * np.concatenate([kappa, [1.0, 0.0, 0.0]]))
    p, Q = [], []
    for _ in range(n + 1):
        p.append(g[:3, 3].copy())
        Q.append(quaternion_from_matrix(g[:3, :3]))
        g = g @ twist
    return np.array(p), np.array(Q)
