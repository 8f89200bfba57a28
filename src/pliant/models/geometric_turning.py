"""Turning steps: carry out a linear step with its rotations exact.

A Newton step is linear in the displacements; taken literally a bending step of 30 degrees stretches the body by 15 %.
Here every element keeps the change of its stretch that the step asks for and turns by the rotation vector that the
step asks for; the nodes then follow by one solve with the constant matrix of the local/global iteration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant._kernels import geometric_local as kernels
from pliant.models.geometric_proxy import Proxy

if TYPE_CHECKING:
    from pliant.models.geometric import GeometricModel

Array = np.ndarray


class Turner:
    """Exact rotations for the steps of one model.

    Args:
        model: the geometric model.
        proxy: the constant matrix; the model's own if None.
    """

    def __init__(self, model: GeometricModel, proxy: Proxy | None = None) -> None:
        self.model = model
        self.proxy = proxy or model.proxy
        share = self.proxy.share
        self.tables = []
        for group, grads, row in zip(model.layout.groups, model._grads, model._material):
            w = 2.0 * (model._shear[row] + share * model._lame[row])
            self.tables.append((group.cells, grads, group.weights * w[:, None]))

    def turn(self, q: Array, dq: Array, *, sweeps: int = 1) -> tuple[Array, float]:
        """The configuration that the tangent step dq leads to, and the largest change of stretch in it.

        Args:
            q: configuration.
            dq: tangent step (nv,).
            sweeps: global solves; more than one only matters if rigid parts rotate.
        """
        model = self.model
        x = model.positions(q)
        dx = (model.layout.tangent_map(q, x) @ dq).reshape(-1, 3)
        targets, strain = [], 0.0
        for cells, grads, _ in self.tables:
            T = np.empty((*grads.shape[:2], 3, 3))
            s = np.empty(len(cells))
            kernels.turned_targets(x, dx, cells, grads, T, s)
            targets.append(T)
            strain = max(strain, float(s.max(initial=0.0)))
        turns = any(p.rotates for p in model.layout.parts)
        out = q
        for _ in range(3 * sweeps if turns else sweeps):
            y = model.positions(out)
            g = np.zeros_like(y)
            for (cells, grads, weights), T in zip(self.tables, targets):
                kernels.target_forces(y, cells, grads, weights, T, g)
            out = model.retract(out, self.proxy.at(out).solve(model.layout.reduce(out, y, g)))
        return out, strain
