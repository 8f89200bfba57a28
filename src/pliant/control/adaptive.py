"""Passivity-based adaptive tracking: follows a path while learning stiffness and payload online.

    e = q - q_d,  v_r = v_d - Lambda e,  e_r = v - v_r
    tau = M a_r + C v_r - f_g + f_e(pi) + R v - K_p e - K_d e_r,      pi' = -K_pi Y^T e_r,      u = G^+ tau
    V = 1/2 e_r M e_r + 1/2 e K_p e + 1/2 e_pi K_pi^-1 e_pi,          V' = -e_r K_d e_r - e K_p Lambda e  <= 0

The parameters enter linearly: the two coefficients of the axial law, the two of the bending law, the tip's
mass. The column
of the mass is the difference of two exact models, one with a unit payload: inertia, Coriolis and weight
alike.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

import numpy as np

from pliant._kernels.pcc import law
from pliant.bodies import RodBody
from pliant.control.computed_torque import Path
from pliant.control.projection import commands_for
from pliant.errors import ArgumentError
from pliant.models.pcc import PccModel

Array = np.ndarray
PARAMETERS = ("axial a1", "axial a2", "bending a1", "bending a2", "payload")


class AdaptiveTracking:
    """Adaptive controller of constant-curvature links with one joint law.

    Args:
        model: the arm without payload; its joint law gives a3 of both laws (not adapted) and the input map.
        path: t -> (q, v, a) wanted.
        estimate: start of the parameters, see PARAMETERS (5,).
        kp, kd: gains per coordinate of a link (3,).
        adaptation: gains of the parameters (5,).
        rate: Lambda [1/s].
        compensation: "measured" evaluates the model at the measured state (published; its sampling must
            resolve the
            fastest mode); "desired" on the wanted path, which leaves the arm's own stiffness in place and
            works at
            sampling rates far below it.
    """

    def __init__(
        self,
        model: PccModel,
        path: Path,
        estimate: Sequence[float],
        *,
        kp: Sequence[float],
        kd: Sequence[float],
        adaptation: Sequence[float],
        rate: float = 1.0,
        compensation: Literal["measured", "desired"] = "measured",
    ) -> None:
        if compensation not in ("measured", "desired"):
            raise ArgumentError("compensation", f"{compensation!r}", "'measured' or 'desired'")
        self.desired = compensation == "desired"
        if len(estimate) != 5 or len(adaptation) != 5:
            raise ArgumentError("estimate", f"{len(estimate)} values", f"five: {PARAMETERS}")
        self.model, self.path = model, path
        self.parameters = np.array(estimate, float)
        self.kp, self.kd = np.tile(kp, model.links).astype(float), np.tile(kd, model.links).astype(float)
        self.adaptation, self.rate = np.array(adaptation, float), float(rate)
        self._loaded = _with_unit_payload(model)
        self._time: float | None = None
        self.history: list[tuple[float, Array]] = []

    def __call__(self, t: float, state: Any) -> Array:
        """Efforts (nu,); the parameters are advanced by explicit Euler steps between calls."""
        model, q, v = self.model, state.q, state.v
        qd, vd, ad = self.path(t)
        e = q - qd
        vr, ar = vd - self.rate * e, ad - self.rate * (v - vd)
        er = v - vr
        if self.desired:
            at, speed, vr, ar = qd, vd, vd, ad
        else:
            at, speed = q, v
        Y = self.regressor(at, speed, vr, ar)
        if self._time is not None and t > self._time:
            self.parameters = self.parameters - (t - self._time) * self.adaptation * (Y.T @ er)
        self._time = t
        self.history.append((t, self.parameters.copy()))
        known = model.inertia(at) @ ar + model.coriolis(at, speed) @ vr - model.gravity(at) + model.viscous * speed
        tau = known + Y @ self.parameters - self.kp * e - self.kd * er
        return commands_for(model, q, tau)

    def regressor(self, q: Array, v: Array, vr: Array, ar: Array) -> Array:
        """d tau / d parameters (nv, 5)."""
        model, loaded = self.model, self._loaded
        Y = np.zeros((model.nv, 5))
        secant = model.secant
        for i in range(model.links):
            o = 3 * i
            for c, (column, table) in enumerate(((0, model.axial[i]), (2, model.bending[i]))):
                y = q[o : o + 1] if c == 0 else q[o + 1 : o + 3]
                size = float(np.linalg.norm(y))
                rows = slice(o, o + 1) if c == 0 else slice(o + 1, o + 3)
                # f = (a1 - a2 shape(y)) y: linear in a1, a2
                Y[rows, column] = y
                Y[rows, column + 1] = y * law(size, 0.0, 1.0, table[2], secant)[1]
        Y[:, 4] = (loaded.inertia(q) - model.inertia(q)) @ ar + (loaded.coriolis(q, v) - model.coriolis(q, v)) @ vr
        Y[:, 4] -= loaded.gravity(q) - model.gravity(q)
        return Y

    def lyapunov(self, t: float, state: Any, truth: Sequence[float], plant: PccModel) -> float:
        """V of the true plant; needs the true parameters (for tests and plots)."""
        q, v = state.q, state.v
        qd, vd, _ = self.path(t)
        e = q - qd
        er = v - vd + self.rate * e
        ep = self.parameters - np.asarray(truth, float)
        # The regressor is that of a1 y - a2 shape y, so that both errors enter with their own sign.
        stored = np.where(self.adaptation > 0, ep**2 / np.where(self.adaptation > 0, self.adaptation, 1.0), 0.0)
        return float(0.5 * er @ plant.inertia(q) @ er + 0.5 * e @ (self.kp * e) + 0.5 * stored.sum())


def _with_unit_payload(model: PccModel) -> PccModel:
    rods = [b for b in model.robot.bodies if isinstance(b, RodBody)]
    last = replace(rods[-1], tip_mass=rods[-1].tip_mass + 1.0)
    robot = model.robot.but(bodies=(*model.robot.bodies[:-1], last), actuators=())
    loaded = PccModel(robot, links=model.links // len(rods), rotary=bool(np.any(model.rod.tables.rot)))
    return loaded
