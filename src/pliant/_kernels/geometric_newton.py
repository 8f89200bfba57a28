"""Newton's method and exact sensitivities for a batch of poses of a geometric model, on any device of torch.

The local/global iteration brings the poses near their equilibria. From there Newton steps solve with the exact Hessian
K by conjugate gradients, preconditioned by the constant matrix of the local/global iteration; the same solves give
dq/du = K^-1 A. Each pose and each right-hand side has its own conjugate-gradient coefficients.
Needs torch and numpy, nothing else of pliant but the kernels.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from pliant._kernels.geometric_iterate import _coefficients, _exp, _part_loads
from pliant._kernels.geometric_torch import TorchOps
from pliant._kernels.geometric_torch_tangent import Products

LOOK = 8  # iterations between two looks at the residuals: a look is a synchronisation


class Batch:
    """Poses of one model that are solved together.

    Args:
        ops: forces, volumes and the constant inverse on the device.
        data: tables of the model (see `geometric_batch.tables`).
        products: Hessian times vectors.
        x: node positions (nb, N, 3).
        frames: rotation (nb, 3, 3) and origin (nb, 3) of each rigid part.
        effort: pressures (nb, nc).
    """

    def __init__(
        self, ops: TorchOps, data: dict[str, Any], products: Products, x: Any, frames: list[Any], effort: Any
    ) -> None:
        self.ops, self.data, self.products = ops, data, products
        self.x, self.effort = x.clone(), effort.clone()
        self.R, self.p = [r.clone() for r, _ in frames], [o.clone() for _, o in frames]
        self.free = ops.array(data["free"])
        self.n = len(data["free"])
        self.parts = [(ops.array(nodes), ops.array(arm), ops.array(origin)) for nodes, arm, origin in data["parts"]]
        self.fields = ops.array(np.hstack(data["fields"])) if self.parts else None
        self.gram = ops.array(data["gram"])
        self.gravity = ops.array(data["gravity"])
        self.driven = [int(i) for i in np.flatnonzero(data["driven"])]
        self.rest_volumes = ops.array(data["rest_volumes"])
        self._arms()

    def select(self, rows: Any) -> Batch:
        """Some of the poses."""
        frames = [(r[rows], o[rows]) for r, o in zip(self.R, self.p)]
        return Batch(self.ops, self.data, self.products, self.x[rows], frames, self.effort[rows])

    def _arms(self) -> None:
        """What depends on the frames of the parts."""
        self.big = self.schur = None
        if self.parts:
            self.big = _coefficients(torch, self.R, len(self.parts))
            self.schur = torch.einsum("bimd,mo,bioe->bde", self.big, self.gram, self.big)
        self.arm = [self.x[:, nodes] - o[:, None] for (nodes, _, _), o in zip(self.parts, self.p)]

    def load(self) -> tuple[Any, Any, Any]:
        """Force on the nodes (nb, N, 3), volumes (nb, nc), their gradients (nb, nc, N, 3)."""
        V, C = self.ops.volumes(self.x)
        g = self.ops.forces(self.x) + self.gravity + torch.einsum("bc,bcni->bni", self.effort, C)
        return g, V, C

    def reduce(self, g: Any) -> Any:
        """Gradients on the nodes (nb, k, N, 3) over the degrees of freedom (nb, k, nv)."""
        flat = g[:, :, self.free].reshape(*g.shape[:2], 3 * self.n)
        if not self.parts:
            return flat
        return torch.cat([flat, _part_loads(torch, g, self.parts, self.R, self.p, self.x)], 2)

    def expand(self, v: Any) -> Any:
        """Motions of the nodes (nb, k, N, 3) along degrees of freedom (nb, k, nv)."""
        nb, k = v.shape[:2]
        out = torch.zeros((nb, k, self.x.shape[1], 3), dtype=v.dtype, device=v.device)
        out[:, :, self.free] = v[..., : 3 * self.n].reshape(nb, k, self.n, 3)
        for i, (nodes, _, _) in enumerate(self.parts):
            at = 3 * self.n + 6 * i
            spin = torch.linalg.cross(v[..., at + 3 : at + 6][:, :, None], self.arm[i][:, None])
            out[:, :, nodes] = v[..., at : at + 3][:, :, None] + spin
        return out

    def spin(self, g: Any) -> list[Any]:
        """Stiffness of each part's rotation against the forces that it carries (nb, 3, 3)."""
        out = []
        for (nodes, _, _), arm in zip(self.parts, self.arm):
            moment = torch.einsum("bni,bnj->bij", arm, g[:, nodes])
            trace = torch.einsum("bii->b", moment)
            eye = torch.eye(3, dtype=g.dtype, device=g.device)
            out.append(trace[:, None, None] * eye - 0.5 * (moment + moment.mT))
        return out

    def stiffness(self, v: Any, hessian: Callable[[Any], Any], spin: list[Any]) -> Any:
        """K v for (nb, k, nv)."""
        out = self.reduce(hessian(self.expand(v)))
        for i, block in enumerate(spin):
            at = 3 * self.n + 6 * i + 3
            out[..., at : at + 3] += v[..., at : at + 3] @ block
        return out

    def precondition(self, r: Any) -> Any:
        """The constant matrix, rigid parts condensed, divided into (nb, k, nv)."""
        full = r[..., : 3 * self.n].reshape(*r.shape[:2], self.n, 3)
        solved = self.ops.solve(full)
        if not self.parts:
            return solved.reshape(*r.shape[:2], 3 * self.n)
        modes = torch.einsum("nm,bkni->bkmi", self.fields, full)
        load = r[..., 3 * self.n :] - torch.einsum("bimd,bkmi->bkd", self.big, modes)
        motions = torch.linalg.solve_ex(self.schur[:, None], load[..., None])[0][..., 0]
        weights = torch.einsum("bimd,bkd->bkmi", self.big, motions)
        solved = solved - torch.einsum("nm,bkmi->bkni", self.fields, weights)
        return torch.cat([solved.reshape(*r.shape[:2], 3 * self.n), motions], 2)

    def solve(self, b: Any, g: Any, tolerance: float, iterations: int = 1500) -> tuple[Any, Any, int]:
        """K^-1 b (nb, k, nv) by conjugate gradients; which poses are solved (nb,) bool; iterations."""
        spin, hessian = self.spin(g), self.products.at(self.x, self.effort)
        out = torch.zeros_like(b)
        r = b.clone()
        z = self.precondition(r)
        d = z.clone()
        rho = (r * z).sum(-1)
        goal = tolerance**2 * rho
        tiny = torch.finfo(b.dtype).tiny
        sound = torch.ones_like(rho, dtype=torch.bool)
        used = 0
        for used in range(1, iterations + 1):
            Kd = self.stiffness(d, hessian, spin)
            curve = (d * Kd).sum(-1)
            active = (rho > goal) & sound
            sound &= (curve > 0) | ~active  # no minimum along this direction
            alpha = torch.where(active & sound, rho / curve.clamp(min=tiny), torch.zeros_like(rho))
            out += alpha[..., None] * d
            r -= alpha[..., None] * Kd
            z = self.precondition(r)
            new = (r * z).sum(-1)
            beta = torch.where(active, new / rho.clamp(min=tiny), torch.zeros_like(rho))
            d = z + beta[..., None] * d
            rho = torch.where(active, new, rho)
            if used % LOOK == 0 and not bool(((rho > goal) & sound).any()):
                break
        return out, ((rho <= goal) & sound).all(1), used

    def move(self, dq: Any) -> None:
        """Move the poses along dq (nb, nv)."""
        n = self.n
        self.x[:, self.free] += dq[:, : 3 * n].reshape(-1, n, 3)
        for i, (nodes, arm, _) in enumerate(self.parts):
            at = 3 * n + 6 * i
            self.p[i] = self.p[i] + dq[:, at : at + 3]
            self.R[i] = _exp(torch, dq[:, at + 3 : at + 6]) @ self.R[i]
            self.x[:, nodes] = self.p[i][:, None] + torch.einsum("bij,nj->bni", self.R[i], arm)
        self._arms()

    def newton(self, commands: Any, tolerance: float) -> tuple[Any, Any, Any]:
        """One Newton step towards equilibrium at the commands: its size relative to the robot, solved, moved poses."""
        g, V, C = self.load()
        rows = self.reduce(C[:, self.driven]) if self.driven else None
        sides = self.reduce(g[:, None])
        if rows is not None:
            sides = torch.cat([sides, rows], 1)
        found, solved, _ = self.solve(sides, g, tolerance)
        dq = found[:, 0]
        if rows is not None:
            flexible = found[:, 1:]
            W = torch.einsum("bin,bjn->bij", rows, flexible)
            error = V[:, self.driven] - self.rest_volumes[self.driven] - commands[:, self.driven]
            change = torch.linalg.solve_ex(W, -(error + torch.einsum("bin,bn->bi", rows, dq))[..., None])[0][..., 0]
            dq = dq + torch.einsum("bj,bjn->bn", change, flexible)
            self.effort[:, self.driven] += change
        size = dq.abs().amax(1) / self.data["length"]
        good = solved & torch.isfinite(size)
        dq = torch.where(good[:, None], dq, torch.zeros_like(dq))
        self.move(dq)
        return torch.where(good, size, torch.full_like(size, torch.inf)), good, V

    def slopes(self, tolerance: float) -> tuple[Any, Any]:
        """dq/du (nb, nu, nv) and which poses are solved (nb,)."""
        g, _, C = self.load()
        rows = self.reduce(C)
        found, solved, _ = self.solve(rows, g, tolerance)
        if not self.driven:
            return found, solved
        pushed = [i for i in range(rows.shape[1]) if i not in self.driven]
        W = torch.einsum("bin,bjn->bij", rows[:, self.driven], found[:, self.driven])
        held = torch.linalg.solve_ex(W, found[:, self.driven])[0]  # W is symmetric
        out = torch.empty_like(found)
        out[:, self.driven] = held
        for i in pushed:
            moved = torch.einsum("bjn,bn->bj", rows[:, self.driven], found[:, i])
            out[:, i] = found[:, i] - torch.einsum("bj,bjn->bn", moved, held)
        return out, solved
