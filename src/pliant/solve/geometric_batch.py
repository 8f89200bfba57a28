"""batch: many actuations of one geometric model.

On a GPU they are solved together: all poses share one constant matrix, whose inverse, a dense matrix product, serves
all right-hand sides in one go. Each pose has its own Anderson history and leaves when it has converged.
On a CPU Newton's method is the faster: processes share the commands, each goes from neighbour to neighbour (`flex`).
"""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant._kernels import geometric_local as kernels
from pliant._kernels.geometric_waves import iterate_in_waves
from pliant.actuators import Chamber
from pliant.checks import count
from pliant.errors import ArgumentError, MissingExtraError
from pliant.lie import quaternion_from_matrix
from pliant.solve.commands import driven_by_displacement
from pliant.solve.flex import flex
from pliant.solve.forked import forked, forks
from pliant.solve.settling import Settler
from pliant.solve.tracing import nearest_order
from pliant.state import Status

if TYPE_CHECKING:
    from pliant.models.geometric import GeometricModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class BatchResult:
    """Poses of a batch.

    Attributes:
        q: configurations (nb, nq).
        effort: pressures [Pa] (nb, nu).
        displacement: volumes gained [m^3] (nb, nu).
        converged: (nb,) bool.
        iterations: iterations of each pose (nb,).
        step: local/global step that remains, relative to the robot's size (nb,).
        elapsed: seconds in all.
        status: of each pose, in words; a pose with a slack cable counts as converged.
    """

    q: Array
    effort: Array
    displacement: Array
    converged: Array
    iterations: Array
    step: Array
    elapsed: float
    status: tuple[Status, ...]

    @property
    def rate(self) -> float:
        """Poses per second."""
        return len(self.q) / self.elapsed


def tables(model: GeometricModel) -> dict[str, Any]:
    """Everything that the iteration needs, as plain arrays: bodies of linear tets, chambers, held and rigid nodes."""
    layout = model.layout
    if any(g.kind != "tet4" for g in layout.groups):
        raise ArgumentError("model", "it has elements other than linear tets", "element='linear' and tet meshes")
    if not all(isinstance(a, Chamber) for a in model.robot.actuators) or model._springs:
        raise ArgumentError("model", "it has actuators other than chambers", "chambers filled with gas")
    if not model.proxy.uniform or any(p.translations != 3 or not p.rotates for p in layout.parts):
        raise ArgumentError("model", "supports that slide", "nodes held in all directions, free rigid parts")
    cat = np.concatenate
    groups = layout.groups
    triangles = [bound.triangles for _, bound in model._bound]
    return {
        "cells": cat([g.cells for g in groups]).astype(np.int32),
        "grads": cat([np.ascontiguousarray(g[:, 0, 1:]) for g in model._grads]),
        "volumes": cat([g.weights[:, 0] for g in groups]),
        "row": cat(model._material).astype(np.int32),
        "curves": model._curves,
        "width": model._width,
        "lame": model._lame,
        "measure": model._volume.astype(np.int32),
        "rest": layout.rest_nodes,
        "free": model.proxy.free[0],
        "gravity": model._gravity_load,
        "triangles": triangles,
        "rest_volumes": np.array([bound.rest_volume for _, bound in model._bound]),
        "driven": np.array([a.drive == "displacement" for a in model.robot.actuators]),
        "parts": [(p.nodes, layout.rest_nodes[p.nodes] - p.origin, p.origin) for p in layout.parts],
        "fields": model.proxy.fields[0],
        "gram": model.proxy.gram[0] if layout.parts else np.zeros((0, 0)),
        "length": float(np.linalg.norm(np.ptp(layout.rest_nodes, axis=0))),
    }


class CpuOps:
    """Local forces, chamber volumes and the global solve on a CPU."""

    xp = np
    patience = 1

    def __init__(self, model: GeometricModel, data: dict[str, Any], threads: int) -> None:
        self.data, self.threads = data, threads
        self.factor = model.proxy.factors[0]
        self.cells = data["cells"].astype(np.int64)
        self.row = data["row"].astype(np.int64)
        self.scale = np.ones(len(self.cells))
        self.pool = ThreadPoolExecutor(threads)

    def array(self, a: Any) -> Array:
        """As an array of this backend."""
        return np.asarray(a)

    def zeros(self, shape: tuple[int, ...]) -> Array:
        """An array of zeros."""
        return np.zeros(shape)

    def eye(self, n: int) -> Array:
        """The unit matrix (n, n)."""
        return np.eye(n)

    def host(self, a: Any) -> Array:
        """Back as numpy."""
        return a

    def forces(self, x: Array) -> Array:
        """Elastic forces (nb, N, 3)."""
        d = self.data
        out = np.zeros_like(x)
        args = (self.cells, d["grads"], d["volumes"], self.row, d["curves"], d["width"], d["lame"],
                d["measure"].astype(np.int64), self.scale)  # fmt: skip
        bounds = np.linspace(0, len(x), min(self.threads, len(x)) + 1).astype(int)
        jobs = [
            self.pool.submit(kernels.batch_forces, x, *args, a, b, out)  # type: ignore[call-arg]
            for a, b in pairwise(bounds)
        ]
        for job in jobs:
            job.result()
        return out

    def volumes(self, x: Array) -> tuple[Array, Array]:
        """Volumes (nb, nc) and their gradients (nb, nc, N, 3)."""
        nc = len(self.data["triangles"])
        V, C = np.empty((len(x), nc)), np.zeros((len(x), nc, *x.shape[1:]))
        for b in range(len(x)):
            for c, triangles in enumerate(self.data["triangles"]):
                V[b, c] = kernels.enclosed_volume(x[b], triangles, C[b, c])
        return V, C

    def small(self, a: Array, b: Array) -> Array:
        """Solve many small systems."""
        return np.linalg.solve(a, b)

    def largest(self, a: Array) -> Array:
        """Largest magnitude of each row."""
        return np.abs(a).max(axis=1)

    def at_most(self, a: Array, bound: float) -> Array:
        """Clipped from above."""
        return np.minimum(a, bound)

    def solve(self, rhs: Array) -> Array:
        """A^-1 rhs for (nb, k, n, 3)."""
        nb, k, n, _ = rhs.shape
        flat = np.ascontiguousarray(rhs.transpose(2, 0, 1, 3)).reshape(n, -1)
        return self.factor.solve(flat).reshape(n, nb, k, 3).transpose(1, 2, 0, 3)


def batch(
    model: GeometricModel,
    U: Array,
    *,
    tolerance: float = 1e-6,
    iterations: int = 1000,
    window: int = 30,
    device: str = "cpu",
    method: str = "auto",
    threads: int = 2,
) -> BatchResult:
    """Solve many commands of one robot.

    Args:
        model: geometric model; of a robot with chambers where poses are projected together.
        U: commands (nb, nu), each in the unit of its actuator's drive.
        tolerance: largest remaining step relative to the robot's size [-].
        iterations: most local/global iterations.
        window: Anderson's history.
        device: "cpu", or a device of torch ("cuda") where torch is installed.
        method: "newton" (`flex`, on the CPU, each pose from its neighbour), "projection" (local/global iterations, all
            poses together, each from rest) or "auto": Newton on the CPU, projection elsewhere.
        threads: processes (Newton) or threads of the local step (projection) on the CPU.
    """
    if method not in ("auto", "newton", "projection"):
        raise ArgumentError("method", f"{method!r}", "'auto', 'newton' or 'projection'")
    threads = count("threads", threads)
    commands = np.atleast_2d(np.asarray(U, dtype=float))
    if commands.shape[1] != model.nu or not len(commands) or not np.isfinite(commands).all():
        raise ArgumentError("U", f"shape {commands.shape}, or not finite", f"finite, (n, {model.nu}), n at least 1")
    if method == "newton" and device != "cpu":
        raise ArgumentError("method", f"'newton' on {device!r}", "device='cpu'")
    if device == "cpu" and method != "projection":
        return _by_newton(model, commands, tolerance, threads)
    data = tables(model)
    if device == "cpu":
        ops: Any = CpuOps(model, data, threads)
    else:
        inverse = model.proxy.factors[0].solve(np.eye(len(data["free"])))
        try:
            from pliant._kernels.geometric_torch import TorchOps
        except ImportError as error:
            raise MissingExtraError("torch", "learn") from error
        try:
            ops = TorchOps(data, inverse, device)
        except RuntimeError as error:  # torch knows no such device, or the machine has none
            raise ArgumentError("device", f"{device!r}: {str(error).splitlines()[0]}", "'cpu', 'cuda'") from error
    raw = iterate_in_waves(ops, data, commands, tolerance=tolerance, iterations=iterations, window=window)
    x, frames = raw.pop("x"), raw.pop("frames")
    layout = model.layout
    q = np.tile(model.rest, (len(x), 1))
    q[:, : len(layout.flat_free)] = x.reshape(len(x), -1)[:, layout.flat_free]
    for part, (R, p) in zip(layout.parts, frames):
        at = part.q_start
        q[:, at : at + 3] = p - part.origin
        q[:, at + 3 : at + 7] = np.array([quaternion_from_matrix(r) for r in R])
    right = raw["converged"] & ~np.array([model.inverted(each) for each in q])
    status = tuple(
        Status.CONVERGED if fine else Status.INVERTED if good else Status.MAX_ITERATIONS
        for fine, good in zip(right, raw["converged"])
    )
    raw["converged"] = right
    return BatchResult(q=q, status=status, **raw)


def _by_newton(model: GeometricModel, commands: Array, tolerance: float, workers: int) -> BatchResult:
    """Each command from the nearest one before it, in so many processes."""
    begin = time.perf_counter()
    length = float(np.linalg.norm(np.ptp(model.layout.rest_nodes, axis=0)))
    settler = Settler(model, driven_by_displacement(model.robot), length)

    def visit(part: Array) -> list[tuple[Any, ...]]:
        out, start = [], None
        for i in part:
            found = flex(model, commands[i], start=start, tolerance=tolerance)
            if not found.ok and start is not None:
                found = flex(model, commands[i], tolerance=tolerance)
            start = found if found.ok else start
            reached = found.displacement if found.status is Status.SLACK else found.u
            left = settler.left(found.q, found.effort, reached) / length
            out.append((found.q, found.effort, found.displacement, found.ok, found.iterations, left, found.status))
        return out

    order = np.array(nearest_order(commands), dtype=int)
    parts = np.array_split(order, min(workers if forks() else 1, len(order)))
    rows = [row for part in forked(visit, parts) for row in part]
    back = np.argsort(order)
    *columns, status = zip(*(rows[i] for i in back))
    q, effort, displacement, ok, used, step = (np.array(column) for column in columns)
    return BatchResult(q, effort, displacement, ok, used, step, time.perf_counter() - begin, status)
