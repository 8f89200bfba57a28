"""The source's own formulation, for reproduction: centred vertex matrices, shape blending, soft actuation elements.

Algorithm 1 of G. Fang's thesis with the errata of the specification (6.5): rotations by SVD with the reflection
repaired, the cube root in the volume scale (`literal=True` for the printed formula), triangles weighted by area
times mean edge.
Its weights depend on the mesh size and its chambers resist shear; `GeometricModel` has neither flaw.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.sparse as sp

from pliant.algebra.anderson import Anderson
from pliant.algebra.factorisation import factorise
from pliant.algebra.symmetric import SymmetricMatrix
from pliant.checks import numbers, positive
from pliant.errors import ArgumentError, UnknownNameError
from pliant.state import Status

Array = np.ndarray
Kind = Literal["body", "cable", "layer", "chamber"]
_CORNERS = {"body": (4, 6), "cable": (3,), "layer": (6,), "chamber": (4,)}
_DISTRIBUTIONS = ("uniform", "least-norm", "proportional")


@dataclass(frozen=True, eq=False)
class ElementGroup:
    """Elements of one kind.

    Attributes:
        name: name by which the actuation ratio is given.
        kind: "body" (tets or prisms), "cable" (triangles, their first edge along the cable), "layer" (prisms, bottom
            triangle first) or "chamber" (tets).
        cells: vertices of the elements (n, k).
        weight: 1 for bodies, 5 for actuators in the source.
        shape: shape parameter R in (0, 1] of bodies.
        rest: rest shapes (n, k, 3) [m]; None takes the rest vertices (chambers after remeshing have their own).
    """

    name: str
    kind: Kind
    cells: Array
    weight: float = 1.0
    shape: float = 1.0
    rest: Array | None = None


@dataclass(frozen=True, eq=False)
class ThesisResult:
    """Deformed vertices [m] (n, 3), iterations, status, achieved ratio per actuator, seconds."""

    vertices: Array
    iterations: int
    status: Status
    achieved: dict[str, float]
    elapsed: float


def cable_target(triangles: Array, ratio: Array | float) -> Array:
    """Triangles (n, 3, 3) with their first edge shortened to a ratio and their height over it kept."""
    a, b, c = triangles[:, 0], triangles[:, 1], triangles[:, 2]
    edge = b - a
    length = np.linalg.norm(edge, axis=1, keepdims=True)
    axis = edge / length
    along = ((c - a) * axis).sum(axis=1, keepdims=True)
    height = (c - a) - along * axis
    s = np.broadcast_to(np.asarray(ratio, float), (len(triangles),))[:, None]
    return np.stack([a, a + s * edge, a + s * along * axis + height], axis=1)


def layer_target(prisms: Array, ratio: Array | float) -> Array:
    """Prisms (n, 6, 3) with both triangles grown to an area ratio and the thickness divided by it."""
    lam = np.broadcast_to(np.asarray(ratio, float), (len(prisms),))[:, None, None]
    bottom, top = prisms[:, :3], prisms[:, 3:]
    cb, ct = bottom.mean(axis=1, keepdims=True), top.mean(axis=1, keepdims=True)
    middle, half = 0.5 * (cb + ct), 0.5 * (ct - cb)
    grow = np.sqrt(lam)
    return np.concatenate([middle - half / lam + grow * (bottom - cb), middle + half / lam + grow * (top - ct)], axis=1)


def chamber_target(tets: Array, ratio: Array | float) -> Array:
    """Tets (n, 4, 3) grown about their centres to a volume ratio."""
    scale = np.cbrt(np.broadcast_to(np.asarray(ratio, float), (len(tets),)))[:, None, None]
    centre = tets.mean(axis=1, keepdims=True)
    return centre + scale * (tets - centre)


def distribute(measure: Array, current: Array, total: float, mode: str = "uniform") -> Array:
    """Local ratios x with sum(measure * x) = total.

    Args:
        measure: rest length, area or volume of each element (n,).
        current: current ratio of each element (n,).
        total: wanted sum.
        mode: "uniform", "least-norm" (nearest to the current ratios) or "proportional" to them.
    """
    if mode == "uniform":
        return np.full(len(measure), total / measure.sum())
    if mode == "proportional":
        return current * total / (measure @ current)
    if mode == "least-norm":
        return current + measure * (total - measure @ current) / (measure @ measure)
    raise ArgumentError("mode", f"{mode!r}", ", ".join(_DISTRIBUTIONS))


def measures(kind: str, shapes: Array) -> Array:
    """What the ratio of an element refers to: length of the cable edge, mean area, or volume (n,)."""
    if kind == "cable":
        return np.linalg.norm(shapes[:, 1] - shapes[:, 0], axis=1)
    if kind == "layer":
        area = [
            np.linalg.norm(np.cross(t[:, 1] - t[:, 0], t[:, 2] - t[:, 0]), axis=1) / 2
            for t in (shapes[:, :3], shapes[:, 3:])
        ]
        return 0.5 * (area[0] + area[1])
    return element_volumes(shapes)


def element_volumes(shapes: Array) -> Array:
    """Volume of tets and prisms; area times mean edge length of triangles (n,)."""
    if shapes.shape[1] == 4:
        return np.einsum("ni,ni->n", shapes[:, 1] - shapes[:, 0],
                         np.cross(shapes[:, 2] - shapes[:, 0], shapes[:, 3] - shapes[:, 0])) / 6.0  # fmt: skip
    if shapes.shape[1] == 6:
        split = ((0, 1, 2, 3), (1, 2, 3, 4), (2, 3, 4, 5))
        return sum(np.abs(element_volumes(shapes[:, list(s)])) for s in split)  # type: ignore[return-value]
    edges = np.linalg.norm(shapes - np.roll(shapes, 1, axis=1), axis=2)
    area = np.linalg.norm(np.cross(shapes[:, 1] - shapes[:, 0], shapes[:, 2] - shapes[:, 0]), axis=1) / 2
    return area * edges.mean(axis=1)


def aligned(target: Array, current: Array) -> Array:
    """Targets turned to the current elements: the centred target times the best rotation (Kabsch, no reflection)."""
    P0 = target - target.mean(axis=1, keepdims=True)
    P = current - current.mean(axis=1, keepdims=True)
    U, _, Vt = np.linalg.svd(np.einsum("nki,nkj->nij", P, P0))
    sign = np.sign(np.linalg.det(U @ Vt))
    U[:, :, 2] *= sign[:, None]
    return np.einsum("nkj,nij->nki", P0, U @ Vt)


def check_indices(argument: str, indices: Array, vertices: int) -> None:
    """Refuse numbers of vertices that do not exist, and none at all."""
    given = np.asarray(indices)
    if not given.size or given.dtype.kind not in "iu" or given.min() < 0 or given.max() >= vertices:
        raise ArgumentError(argument, "empty, or an index is out of range", f"vertex indices 0 to {vertices - 1}")


def _check(groups: list[ElementGroup], fixed: Array, vertices: int, distribution: str) -> None:
    if distribution not in _DISTRIBUTIONS:
        raise ArgumentError("distribution", f"{distribution!r}", ", ".join(_DISTRIBUTIONS))
    if not groups:
        raise ArgumentError("groups", "there is none", "at least one group of elements")
    check_indices("fixed", fixed, vertices)
    for g in groups:
        if g.kind not in _CORNERS:
            raise ArgumentError(f"{g.name}.kind", f"{g.kind!r}", ", ".join(_CORNERS))
        check_indices(f"{g.name}.cells", g.cells, vertices)
        if np.ndim(g.cells) != 2 or g.cells.shape[1] not in _CORNERS[g.kind]:
            raise ArgumentError(f"{g.name}.cells", f"shape {g.cells.shape}", f"(n, k), k of {_CORNERS[g.kind]}")
        positive(f"{g.name}.weight", g.weight)
        if not 0.0 < g.shape <= 1.0:
            raise ArgumentError(f"{g.name}.shape", f"{g.shape}", "0 < R <= 1")


class ThesisSimulator:
    """Forward kinematics of Algorithm 1.

    Args:
        vertices: rest vertices [m] (n, 3).
        groups: body and actuation elements; all share the vertices.
        fixed: indices of the vertices that are held.
        literal: the printed volume scale, without the cube root.
        distribution: how a ratio is shared by the elements of an actuator, see `distribute`.
        load: constant forces on the vertices (n, 3), in the unit of the weights: volume times length.
    """

    def __init__(
        self,
        vertices: Array,
        groups: list[ElementGroup],
        fixed: Array,
        *,
        literal: bool = False,
        distribution: str = "uniform",
        load: Array | None = None,
    ) -> None:
        self.load = load
        self.rest = numbers("vertices", vertices)
        _check(groups, np.asarray(fixed), len(self.rest), distribution)
        self.groups, self.literal, self.distribution = groups, literal, distribution
        n = len(self.rest)
        self.shapes = [self.rest[g.cells] if g.rest is None else g.rest for g in groups]
        self.weights = [g.weight * np.abs(element_volumes(s)) for g, s in zip(groups, self.shapes)]
        rows, cols, vals = [], [], []
        for g, w in zip(groups, self.weights):
            k = g.cells.shape[1]
            rows.append(np.repeat(g.cells, k, axis=1).ravel())
            cols.append(np.tile(g.cells, (1, k)).ravel())
            vals.append((w[:, None, None] * (np.eye(k) - 1.0 / k)).ravel())
        matrix = sp.csr_matrix((np.concatenate(vals), (np.concatenate(rows), np.concatenate(cols))), shape=(n, n))
        self.free = np.setdiff1d(np.arange(n), fixed)
        self.fixed = np.asarray(fixed)
        self.factor = factorise(SymmetricMatrix.from_scipy(matrix[self.free][:, self.free]))
        self.factorisations = 1
        self._held = matrix[self.free][:, self.fixed] @ self.rest[self.fixed]

    def targets(self, group: ElementGroup, shape: Array, current: Array, ratios: Mapping[str, float]) -> Array:
        """Centred target shapes of a group at the current vertices (n, k, 3)."""
        if group.kind == "body":
            rigid = aligned(shape, current)
            if group.shape == 1.0:
                return rigid
            centred = current - current.mean(axis=1, keepdims=True)
            scale = np.abs(element_volumes(shape) / element_volumes(current))
            scale = scale if self.literal else np.cbrt(scale)
            return group.shape * rigid + (1.0 - group.shape) * scale[:, None, None] * centred
        ratio = float(ratios.get(group.name, 1.0))
        measure = measures(group.kind, shape)
        local = distribute(measure, measures(group.kind, current) / measure, ratio * measure.sum(), self.distribution)
        local = np.maximum(local, 1e-3)
        build = {"cable": cable_target, "layer": layer_target, "chamber": chamber_target}[group.kind]
        return aligned(build(shape, local), current)

    def pull(self, x: Array, ratios: Mapping[str, float]) -> Array:
        """Forces of all actuation elements on the vertices (n, 3), in the unit of `load`."""
        out = np.zeros_like(x)
        for g, shape, w in zip(self.groups, self.shapes, self.weights):
            if g.kind != "body":
                current = x[g.cells]
                missing = self.targets(g, shape, current, ratios) - current
                np.add.at(out, g.cells, w[:, None, None] * (missing - missing.mean(axis=1, keepdims=True)))
        return out

    def step(self, x: Array, ratios: Mapping[str, float]) -> Array:
        """One local and one global step."""
        b = np.zeros_like(x) if self.load is None else self.load.copy()
        for g, shape, w in zip(self.groups, self.shapes, self.weights):
            t = self.targets(g, shape, x[g.cells], ratios)
            np.add.at(b, g.cells, w[:, None, None] * (t - t.mean(axis=1, keepdims=True)))
        out = x.copy()
        out[self.free] = self.factor.solve(b[self.free] - self._held)
        return out

    def forward(
        self,
        ratios: Mapping[str, float],
        *,
        start: Array | None = None,
        tolerance: float = 1e-8,
        iterations: int = 3000,
        window: int = 6,
    ) -> ThesisResult:
        """Deformed vertices for actuation ratios; ends when no vertex moves more than the tolerance [m]."""
        names = [g.name for g in self.groups if g.kind != "body"]
        for name, ratio in ratios.items():
            if name not in names:
                raise UnknownNameError("actuator", name, names)
            if not (np.isfinite(ratio) and ratio > 0.0):
                raise ArgumentError(f"ratios[{name!r}]", f"{ratio}", "a number greater than 0")
        begin = time.perf_counter()
        x = np.array(self.rest if start is None else start, dtype=float)
        history, previous, status = Anderson(window), np.inf, Status.MAX_ITERATIONS
        used = 0
        for used in range(1, iterations + 1):  # noqa: B007
            f = (self.step(x, ratios) - x)[self.free]
            size = float(np.abs(f).max())
            if size <= tolerance:
                status = Status.CONVERGED
                break
            norm = float(np.linalg.norm(f))
            if norm > 2.0 * previous:
                history.restart()
            previous = norm
            x[self.free] += history.step(f.ravel()).reshape(-1, 3)
        achieved = {}
        for g, shape in zip(self.groups, self.shapes):
            if g.kind != "body":
                achieved[g.name] = float(measures(g.kind, x[g.cells]).sum() / measures(g.kind, shape).sum())
        return ThesisResult(x, used, status, achieved, time.perf_counter() - begin)
