"""poses: many equilibria of one geometric model at once, with exact sensitivities, on a GPU.

The batched local/global iteration (see `geometric_batch`) brings all poses near; Newton with the exact Hessian finishes
them to rounding, and the same Hessian gives d(points)/du. What does not converge says so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant._kernels.geometric_iterate import iterate
from pliant._kernels.placing import place_point
from pliant.errors import ArgumentError, MissingExtraError, UnknownNameError
from pliant.solve.geometric_batch import tables

if TYPE_CHECKING:
    from pliant.models.geometric import GeometricModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Poses:
    """Equilibria of a batch.

    Attributes:
        position: of the points [m] (nb, p, 3).
        rotation: of the points (nb, p, 3, 3).
        jacobian: d(angular; linear)/du (nb, p, 6, nu).
        nodes: positions of all nodes [m] (nb, N, 3).
        effort: pressures [Pa] (nb, nu).
        converged: (nb,) bool; the other rows are not equilibria.
        step: last Newton step relative to the robot's size (nb,).
        elapsed: seconds in all.
    """

    position: Array
    rotation: Array
    jacobian: Array
    nodes: Array
    effort: Array
    converged: Array
    step: Array
    elapsed: float


class PoseSolver:
    """Solves batches of commands of one model on one device; what the batches share is made once.

    Args:
        model: geometric model of a robot with chambers and linear tets.
        device: of torch: "cuda", "cuda:1", "cpu".
        near: step relative to the robot's size at which the local/global iteration hands over to Newton.
        tolerance: largest last Newton step relative to the robot's size; quadratic convergence makes the error smaller.
        exactness: relative residual of the linear solves behind the Jacobians.
    """

    def __init__(
        self,
        model: GeometricModel,
        *,
        device: str = "cuda",
        near: float = 1e-5,
        tolerance: float = 1e-7,
        exactness: float = 1e-9,
    ) -> None:
        try:
            import torch

            from pliant._kernels.geometric_torch import TorchOps
            from pliant._kernels.geometric_torch_tangent import Products
        except ImportError as error:
            raise MissingExtraError("torch", "learn") from error
        if device.startswith("cuda") and not torch.cuda.is_available():
            raise ArgumentError("device", f"{device!r}: torch finds no GPU", "'cpu', or a machine with a GPU")
        if not hasattr(model, "proxy"):
            raise ArgumentError("device", f"{model!r} has no batched solve", "a GeometricModel, or workers instead")
        self.model, self.device = model, device
        self.near, self.tolerance, self.exactness = near, tolerance, exactness
        self.data = tables(model)
        inverse = model.proxy.factors[0].solve(np.eye(len(self.data["free"])))
        self.ops = TorchOps(self.data, inverse, device)
        self.products = Products(self.ops.data, self.ops.triangles, fused=self.ops.kernel is not None)

    def solve(self, commands: Array, points: Sequence[str], *, steps: int = 8) -> Poses:
        """Equilibria at the commands (nb, nu), from rest, and where the points are.

        Args:
            commands: each in the unit of its actuator's drive.
            points: names.
            steps: most Newton steps.
        """
        import torch

        from pliant._kernels.geometric_newton import Batch

        model, ops = self.model, self.ops
        U = np.atleast_2d(np.asarray(commands, float))
        if U.shape[1] != model.nu or not np.isfinite(U).all():
            raise ArgumentError("commands", f"shape {U.shape}, or not finite", f"finite, (n, {model.nu})")
        for name in points:
            if name not in model._embeddings:
                raise UnknownNameError("point", name, model._embeddings)
        begin = time.perf_counter()
        raw = iterate(ops, self.data, U, tolerance=self.near, iterations=400, window=20)
        frames = [(ops.array(R), ops.array(p)) for R, p in raw["frames"]]
        batch = Batch(ops, self.data, self.products, ops.array(raw["x"]), frames, ops.array(raw["effort"]))
        target = ops.array(U)
        # Only what the local/global iteration brought near goes on; the rest is reported as it is.
        alive = np.flatnonzero(raw["converged"])
        size = np.full(len(U), np.inf)
        for _ in range(steps):
            if not len(alive):
                break
            rows = ops.array(alive)
            part = batch.select(rows)
            moved, good, _ = part.newton(target[rows], 1e-6)
            batch.x[rows], batch.effort[rows] = part.x, part.effort
            for k in range(len(batch.R)):
                batch.R[k][rows], batch.p[k][rows] = part.R[k], part.p[k]
            size[alive] = ops.host(moved)
            alive = alive[ops.host(good) & (size[alive] > self.tolerance)]
        batch._arms()
        slopes, solved = batch.slopes(self.exactness)
        converged = (size <= self.tolerance) & ops.host(solved)
        nodes = ops.host(batch.x)
        position, rotation, jacobian = self._points(batch, nodes, slopes, points)
        if self.device.startswith("cuda"):
            torch.cuda.synchronize()
        for a in (position, rotation, jacobian):
            a[~converged] = np.nan
        elapsed = time.perf_counter() - begin
        return Poses(position, rotation, jacobian, nodes, ops.host(batch.effort), converged, size, elapsed)

    def _points(self, batch: Any, nodes: Array, slopes: Any, points: Sequence[str]) -> tuple[Array, Array, Array]:
        """Positions, rotations and Jacobians of the points; only the nodes around them come back from the device."""
        nb, nu = len(nodes), self.model.nu
        moved = batch.expand(slopes)
        position, rotation = np.empty((nb, len(points), 3)), np.empty((nb, len(points), 3, 3))
        jacobian = np.empty((nb, len(points), 6, nu))
        R = np.empty((3, 3))
        for i, name in enumerate(points):
            e, rest = self.model._embeddings[name]
            dx = self.ops.host(moved[:, :, self.ops.array(e.nodes)])  # (nb, nu, k, 3)
            position[:, i] = np.einsum("k,bki->bi", e.weights, nodes[:, e.nodes])
            jacobian[:, i, 3:] = np.einsum("k,bmki->bim", e.weights, dx)
            if e.part >= 0:
                at = 3 * batch.n + 6 * e.part + 3
                rotation[:, i] = self.ops.host(batch.R[e.part]) @ rest
                jacobian[:, i, :3] = self.ops.host(slopes[:, :, at : at + 3]).transpose(0, 2, 1)
                continue
            spin, where = np.zeros((len(e.nodes), 3, 3)), np.empty(3)
            for b in range(nb):
                place_point(nodes[b], e.nodes, e.weights, e.grads, where, R, spin)
                rotation[b, i] = R @ rest
                jacobian[b, i, :3] = np.einsum("kai,mki->am", spin, dx[b])
        return position, rotation, jacobian
