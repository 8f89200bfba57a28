"""Passivity-based adaptive tracking: follows a path while learning stiffness and payload online.

    e = q - q_d,  v_r = v_d - Lambda e,  e_r = v - v_r
    tau = M a_r + C v_r - f_g + f_e(pi) + R v - K_p e - K_d e_r,      pi' = -K_pi Y^T e_r,      u = G^+ tau
    V = 1/2 e_r M e_r + 1/2 e K_p e + 1/2 e_pi K_pi^-1 e_pi,          V' = -e_r K_d e_r - e K_p Lambda e  <= 0

The parameters enter linearly: the two coefficients of the axial law, the two of the bending law, the tip's
mass. The column of the mass is the difference of two exact models, one with a unit payload: inertia, Coriolis and
weight alike.

Tracking alone teaches slowly where parameters are nearly collinear: the weight of a tip mass bends a link as less
stiffness would. With `prediction` > 0 the controller also learns from what the arm did (composite adaptation): the
balance of forces over each tick, low-passed, W pi = y, where no acceleration is needed because
M a + C v = (M v)' - C^T v. Then K_pi is a matrix that shrinks as information comes in (least squares):

    pi' = -K_pi (Y^T e_r + W^T R (W pi - y)),     (K_pi^-1)' = W^T R W - forgetting (K_pi^-1 - K_pi(0)^-1)

and V' = -e_r K_d e_r - e K_p Lambda e - 1/2 e_pi W^T R W e_pi - ... is more negative than before.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant._kernels.pcc import law
from pliant.bodies import RodBody
from pliant.control.computed_torque import Path
from pliant.control.projection import commands_for
from pliant.errors import ArgumentError
from pliant.models.pcc import PccModel

Array = np.ndarray
PARAMETERS = ("axial a1", "axial a2", "bending a1", "bending a2", "payload")


class _Balance(NamedTuple):
    """Momentum and force (nv, 6) at a tick, and the low-passed balance of both since the first."""

    momentum: Array
    force: Array
    seen: Array


class AdaptiveTracking:
    """Adaptive controller of constant-curvature links with one joint law.

    Args:
        model: the arm without payload; its joint law gives a3 of both laws (not adapted) and the input map.
        path: t -> (q, v, a) wanted.
        estimate: start of the parameters, see PARAMETERS (5,).
        kp, kd: gains per coordinate of a link (3,).
        adaptation: K_pi, gains of the parameters: (5,), or a positive semi-definite matrix (5, 5), whose range is what
            may change: outer(p, p) of a law's two coefficients scales the law and keeps its shape.
        rate: Lambda [1/s].
        compensation: "measured" evaluates the model at the measured state (published; its sampling must resolve the
            fastest mode); "desired" on the wanted path, which leaves the arm's own stiffness in place and works at
            sampling rates far below it.
        prediction: weight R K_d of the prediction error against the tracking error [-]; 0 for the published law.
        memory: time constant of the low pass of the prediction error [s].
        forgetting: rate at which the gains recover, to follow parameters that change [1/s].
    """

    def __init__(
        self,
        model: PccModel,
        path: Path,
        estimate: Sequence[float],
        *,
        kp: Sequence[float],
        kd: Sequence[float],
        adaptation: ArrayLike,
        rate: float = 1.0,
        compensation: Literal["measured", "desired"] = "measured",
        prediction: float = 0.0,
        memory: float = 0.05,
        forgetting: float = 0.0,
    ) -> None:
        if compensation not in ("measured", "desired"):
            raise ArgumentError("compensation", f"{compensation!r}", "'measured' or 'desired'")
        self.desired = compensation == "desired"
        if len(estimate) != 5:
            raise ArgumentError("estimate", f"{len(estimate)} values", f"five: {PARAMETERS}")
        self.model, self.path = model, path
        self.parameters = np.array(estimate, float)
        self.kp, self.kd = np.tile(kp, model.links).astype(float), np.tile(kd, model.links).astype(float)
        self.adaptation, self.rate = _gain_matrix(adaptation), float(rate)
        if prediction < 0 or memory <= 0 or forgetting < 0:
            raise ArgumentError("prediction", f"{prediction}, memory {memory}", "numbers that are not negative")
        self.prediction, self.memory, self.forgetting = float(prediction), float(memory), float(forgetting)
        self._first_gains = np.linalg.pinv(self.adaptation, rcond=1e-12, hermitian=True)
        self._loaded = _with_unit_payload(model)
        self._balance: _Balance | None = None
        self._tau = np.zeros(model.nv)
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
        known, Y = self._terms(at, speed, vr, ar)
        if self._time is not None and t > self._time:
            if self.prediction:
                self._learn(t - self._time, q, v)
            self.parameters = self.parameters - (t - self._time) * (self.adaptation @ (Y.T @ er))
        elif self.prediction:
            self._balance = self._momenta(q, v)
        self._time = t
        self.history.append((t, self.parameters.copy()))
        tau = known + model.viscous * speed + Y @ self.parameters - self.kp * e - self.kd * er
        u = commands_for(model, q, tau)
        self._tau = model.actuation(q, u) @ u
        return u

    def regressor(self, q: Array, v: Array, vr: Array, ar: Array) -> Array:
        """d tau / d parameters (nv, 5)."""
        return self._terms(q, v, vr, ar)[1]

    def _terms(self, q: Array, v: Array, vr: Array, ar: Array) -> tuple[Array, Array]:
        """Force that the arm without payload and joints needs (nv,), and the regressor (nv, 5)."""
        model = self.model
        Y = np.zeros((model.nv, 5))
        for i in range(model.links):
            for column, table, rows in (
                (0, model.axial[i], slice(3 * i, 3 * i + 1)),
                (2, model.bending[i], slice(3 * i + 1, 3 * i + 3)),
            ):
                # f = (a1 - a2 shape(y)) y: linear in a1, a2
                y = q[rows]
                Y[rows, column] = y
                Y[rows, column + 1] = y * law(float(np.linalg.norm(y)), 0.0, 1.0, table[2], model.secant)[1]
        free, loaded = (m.inertia(q) @ ar + m.coriolis(q, v) @ vr - m.gravity(q) for m in (model, self._loaded))
        Y[:, 4] = loaded - free
        return free, Y

    def _momenta(self, q: Array, v: Array) -> _Balance:
        """Momenta and forces at a state, without payload in column 0 and per parameter in the others."""
        nothing = np.zeros(self.model.nv)
        joints = self._terms(q, v, nothing, nothing)[1][:, :4]
        free, loaded = ((m.inertia(q) @ v, m.coriolis(q, v).T @ v + m.gravity(q)) for m in (self.model, self._loaded))
        momentum, force = np.zeros((len(v), 6)), np.zeros((len(v), 6))
        momentum[:, 0], momentum[:, 5] = free[0], loaded[0] - free[0]
        force[:, 0], force[:, 5] = self.model.viscous * v - free[1], free[1] - loaded[1]
        force[:, 1:5] = joints
        return _Balance(momentum, force, np.zeros((len(v), 6)))

    def _learn(self, dt: float, q: Array, v: Array) -> None:
        """One least-squares step on the balance of forces since the last tick."""
        old, new = self._balance, self._momenta(q, v)
        assert old is not None
        rows = (new.momentum - old.momentum) / dt + 0.5 * (new.force + old.force)
        rows[:, 0] -= self._tau
        part = -np.expm1(-dt / self.memory)
        seen = old.seen + part * (rows - old.seen)
        self._balance = _Balance(new.momentum, new.force, seen)
        W, wrong = seen[:, 1:], seen[:, 1:] @ self.parameters + seen[:, 0]
        P = self.adaptation
        P = P + dt * self.forgetting * (P - P @ self._first_gains @ P)
        # implicit in time: stable however much a tick tells
        core = W @ P @ W.T + np.diag(self.kd / (self.prediction * dt))
        gain = np.linalg.solve(core, W @ P).T
        self.parameters = self.parameters - gain @ wrong
        P = P - gain @ W @ P
        self.adaptation = 0.5 * (P + P.T)

    def lyapunov(self, t: float, state: Any, truth: Sequence[float], plant: PccModel) -> float:
        """V of the true plant; needs the true parameters (for tests and plots)."""
        q, v = state.q, state.v
        qd, vd, _ = self.path(t)
        e = q - qd
        er = v - vd + self.rate * e
        ep = self.parameters - np.asarray(truth, float)
        # parameters that are not adapted (no gain) do not change: they store nothing
        stored = ep @ np.linalg.pinv(self.adaptation, rcond=1e-14, hermitian=True) @ ep
        return float(0.5 * er @ plant.inertia(q) @ er + 0.5 * e @ (self.kp * e) + 0.5 * stored)


def _gain_matrix(adaptation: ArrayLike) -> Array:
    gains = np.asarray(adaptation, float)
    if gains.shape == (5,):
        gains = np.diag(gains)
    if gains.shape != (5, 5) or not np.isfinite(gains).all():
        raise ArgumentError("adaptation", f"shape {gains.shape} or not finite", "(5,) or (5, 5) numbers")
    low, high = np.linalg.eigvalsh(0.5 * (gains + gains.T))[[0, -1]]
    if np.abs(gains - gains.T).max() > 1e-9 * max(high, 1e-300) or low < -1e-9 * max(high, 1e-300):
        raise ArgumentError("adaptation", "not symmetric and positive semi-definite", "gains of a passive law")
    return gains


def _with_unit_payload(model: PccModel) -> PccModel:
    rods = [b for b in model.robot.bodies if isinstance(b, RodBody)]
    last = replace(rods[-1], tip_mass=rods[-1].tip_mass + 1.0)
    robot = model.robot.but(bodies=(*model.robot.bodies[:-1], last), actuators=())
    loaded = PccModel(robot, links=model.links // len(rods), rotary=bool(np.any(model.rod.tables.rot)))
    return loaded
