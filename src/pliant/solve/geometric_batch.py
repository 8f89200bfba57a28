"""batch: many actuations of one geometric model solved together.

All poses share one constant matrix; their right-hand sides are solved in one go, by the sparse factor on a CPU and by
the inverse, a dense matrix product, on a GPU. Each pose has its own Anderson history and leaves when it has converged.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant._kernels import geometric_local as kernels
from pliant._kernels.geometric_iterate import iterate
from pliant.actuators import Chamber
from pliant.errors import ArgumentError, MissingExtraError
from pliant.lie import quaternion_from_matrix

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
        step: last plain step relative to the robot's size (nb,).
        elapsed: seconds in all.
    """

    q: Array
    effort: Array
    displacement: Array
    converged: Array
    iterations: Array
    step: Array
    elapsed: float

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
    window: int = 20,
    device: str = "cpu",
    threads: int = 2,
) -> BatchResult:
    """Solve many commands of one robot together, from the rest pose.

    Args:
        model: geometric model of a robot with chambers.
        U: commands (nb, nu), each in the unit of its actuator's drive.
        tolerance: largest remaining plain step relative to the robot's size [-].
        iterations: most iterations.
        window: Anderson's history.
        device: "cpu", or a device of torch ("cuda") where torch is installed.
        threads: threads of the local step on the CPU.
    """
    commands = np.atleast_2d(np.asarray(U, dtype=float))
    if commands.shape[1] != model.nu or not np.isfinite(commands).all():
        raise ArgumentError("U", f"shape {commands.shape}, or not finite", f"finite, (n, {model.nu})")
    data = tables(model)
    if device == "cpu":
        ops: Any = CpuOps(model, data, threads)
    else:
        inverse = model.proxy.factors[0].solve(np.eye(len(data["free"])))
        try:
            from pliant._kernels.geometric_torch import TorchOps
        except ImportError as error:
            raise MissingExtraError("torch", "learn") from error
        ops = TorchOps(data, inverse, device)
    raw = iterate(ops, data, commands, tolerance=tolerance, iterations=iterations, window=window)
    x, frames = raw.pop("x"), raw.pop("frames")
    layout = model.layout
    q = np.tile(model.rest, (len(x), 1))
    q[:, : len(layout.flat_free)] = x.reshape(len(x), -1)[:, layout.flat_free]
    for part, (R, p) in zip(layout.parts, frames):
        at = part.q_start
        q[:, at : at + 3] = p - part.origin
        q[:, at + 3 : at + 7] = np.array([quaternion_from_matrix(r) for r in R])
    return BatchResult(q=q, **raw)
