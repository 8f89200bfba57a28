"""Model-predictive control: the best efforts over a horizon, within their limits and rates, anew at every tick.

The mechanics are linearised at the measured state,

    M v' = r + G (e - e_0) - K (q - q_0) - D v - 2 C (v - v_0) + w,     r = force(q_0, e_0) - bias(q_0, v_0)

discretised exactly (matrix exponential) and condensed to the efforts of the next ticks, so that the point is at
y_k = y_0 + J (q_k - q_0) after k ticks:

    minimise    sum_k |y_k - reference(t_k)|^2 + effort |u_k / s|^2 + change |(u_k - u_{k-1}) / s|^2
    subject to  low <= u_k <= high,   |u_k - u_{k-1}| <= rate * period

w is a constant generalised force that explains why the last tick ended elsewhere than predicted: with it an unknown
payload leaves no steady error. Valves that follow late (`lag`) are part of the prediction.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.control.observation import reference_of
from pliant.errors import ArgumentError
from pliant.inverse.qp import QP, QPSolution, solve_qp
from pliant.models.contract import Model

Array = np.ndarray


class PredictiveControl:
    """Controller u = controller(t, state) that moves a point along a reference which it sees coming.

    Args:
        model: any model with a flat configuration space whose actuators are driven by effort.
        target: position (3,), PointTarget, or a function of time giving a position [m].
        point: name of the point; the target's own, or "tip".
        period: time of a control tick [s].
        horizon: ticks that are looked ahead.
        moves: ticks over which the efforts may change; they are held after, which makes moving references lag. The
            horizon if None.
        limits: lowest and highest effort, numbers or one per actuator (nu,); the actuators' own if
            None.
        rate: largest change of an effort [unit/s].
        lag: first-order time constant of the actuators [s].
        scale: effort that counts as one in the weights, one for all or (nu,); the largest limit (or 1) if None.
        effort, change: weights of the efforts and of their changes against the error of the point [m^2].
        correction: part of the unexplained force that is learned per tick, 0 to 1.

    Attributes:
        solution: of the last quadratic program.
        disturbance: w (nv,).
    """

    def __init__(
        self,
        model: Model,
        target: Any,
        *,
        point: str | None = None,
        period: float = 0.05,
        horizon: int = 6,
        moves: int | None = None,
        limits: tuple[ArrayLike, ArrayLike] | None = None,
        rate: float = np.inf,
        lag: float = 0.0,
        scale: ArrayLike | None = None,
        effort: float = 1e-10,
        change: float = 1e-8,
        correction: float = 0.3,
    ) -> None:
        if period <= 0 or rate <= 0 or lag < 0:
            raise ArgumentError("period", f"{period}, rate {rate}, lag {lag}", "positive numbers, lag not negative")
        if model.nv > 300:
            raise ArgumentError("model", f"{model.nv} degrees of freedom", "at most 300: a reduced model (identify)")
        moves = horizon if moves is None else moves
        if not 1 <= moves <= horizon:
            raise ArgumentError("moves", f"{moves}", f"an integer from 1 to the horizon, {horizon}")
        if any(a.drive != "effort" for a in model.robot.actuators):
            raise ArgumentError("model", "actuators driven by displacement", "drive='effort' of every actuator")
        self.model, self.reference = model, reference_of(target)
        self.point = str(point or getattr(target, "point", "tip"))
        self.period, self.horizon, self.moves = float(period), int(horizon), int(moves)
        if limits is None:
            limits = tuple(np.array([a.effort_limits[i] for a in model.robot.actuators]) for i in (0, 1))  # type: ignore[assignment]
        assert limits is not None
        self.low, self.high = (np.broadcast_to(np.asarray(x, float), (model.nu,)).copy() for x in limits)
        largest = np.where(np.isfinite(self.high), np.abs(self.high), np.abs(self.low))
        largest = np.where(np.isfinite(largest) & (largest > 0), largest, 1.0)
        self.scale = np.broadcast_to(np.asarray(largest if scale is None else scale, float), (model.nu,))
        self.rate, self.lag = float(rate), float(lag)
        self.effort, self.change, self.correction = float(effort), float(change), float(correction)
        self.disturbance = np.zeros(model.nv)
        self.solution: QPSolution | None = None
        self.targets = {self.point: lambda t: np.asarray(self.reference(t), float)}
        self._next, self._last = -np.inf, np.zeros(model.nu)
        self._expected: tuple[Array, Array] | None = None
        # applied effort after a tick, and its mean during it, as shares of the old one
        self._keep = float(np.exp(-self.period / self.lag)) if self.lag > 0 else 0.0
        self._mean = self.lag / self.period * (1.0 - self._keep)

    def __call__(self, t: float, state: Any) -> Array:
        """Efforts (nu,); computed anew at every tick."""
        if t + 1e-9 >= self._next:
            if self._next == -np.inf:
                self._next, self._last = t, np.clip(np.asarray(state.effort, float), self.low, self.high)
            self._next += self.period
            self._last = self.tick(t, state)
        return self._last

    def tick(self, t: float, state: Any) -> Array:
        """One control tick: efforts (nu,)."""
        q, v, applied = state.q, state.v, np.asarray(state.effort, float)
        if self._expected is not None:
            reached, response = self._expected
            self.disturbance = self.disturbance + self.correction * np.linalg.solve(response, q - reached)
        A, F, G, r = self._linear(q, v, applied)
        place = self.model.locate(q, self.point, jacobian=True)
        J = place.slopes[3:]
        free, columns = self._predict(A, F, G, r, v, applied, J)
        wanted = np.array([np.asarray(self.reference(t + k * self.period), float) for k in range(1, self.horizon + 1)])
        u = self._solve(columns, (wanted - place.position).ravel() - free)
        during = u + self._mean * (applied - u)
        n = len(q)
        start = np.concatenate([np.zeros(n), v])
        self._expected = q + (A @ start + F @ (r + self.disturbance + G @ (during - applied)))[:n], F[:n]
        return u

    def _linear(self, q: Array, v: Array, effort: Array) -> tuple[Array, Array, Array, Array]:
        """x = (q - q_0, v) after a tick: A x + F (r + w + G (e - e_0)); r holds at x = 0."""
        from scipy.linalg import expm

        model, n = self.model, self.model.nv
        M = np.asarray(model.inertia(q))
        D = np.asarray(model.damping(q, effort))
        K = np.asarray(model.stiffness(q, effort))
        coriolis = getattr(model, "coriolis", None)
        turning = np.zeros((n, n)) if coriolis is None else 2.0 * np.asarray(coriolis(q, v))
        inverse = np.linalg.inv(M)
        full = np.zeros((3 * n, 3 * n))
        full[:n, n : 2 * n] = np.eye(n)
        full[n : 2 * n] = inverse @ np.hstack([-K, -(D + turning), np.eye(n)])
        both = expm(full * self.period)[: 2 * n]
        r = model.force(q, effort) - model.bias(q, v) + turning @ v
        return both[:, : 2 * n], both[:, 2 * n :], np.asarray(model.actuation(q, effort)), r

    def _predict(
        self, A: Array, F: Array, G: Array, r: Array, v: Array, applied: Array, J: Array
    ) -> tuple[Array, Array]:
        """Motion of the point over the horizon without efforts (3 horizon,), and per effort of each move."""
        n, nu = len(v), len(applied)
        B = F @ G
        x = np.concatenate([np.zeros(n), v])
        drift = F @ (r + self.disturbance) - B @ applied
        S = np.zeros((2 * n, self.moves * nu))
        e, E = applied.copy(), np.zeros((nu, self.moves * nu))
        free, columns = [], []
        for k in range(self.horizon):
            now = slice(min(k, self.moves - 1) * nu, (min(k, self.moves - 1) + 1) * nu)
            during = self._mean * E
            during[:, now] += (1.0 - self._mean) * np.eye(nu)
            x, S = A @ x + drift + B @ (self._mean * e), A @ S + B @ during
            e, E = self._keep * e, self._keep * E
            E[:, now] += (1.0 - self._keep) * np.eye(nu)
            free.append(J @ x[:n])
            columns.append(J @ S[:n])
        return np.concatenate(free), np.vstack(columns)

    def _solve(self, columns: Array, wanted: Array) -> Array:
        """The first of the efforts that bring the point along its reference."""
        nu, m = self.model.nu, self.moves
        unit = np.tile(self.scale, m)
        T = columns * unit
        step = np.eye(nu * m) - np.eye(nu * m, k=-nu)
        before = np.zeros(nu * m)
        before[:nu] = self._last / self.scale
        Q = 2.0 * (T.T @ T + self.effort * np.eye(nu * m) + self.change * step.T @ step)
        c = -2.0 * (T.T @ wanted + self.change * step.T @ before)
        most = np.tile(self.rate * self.period / self.scale, m)
        rows: dict[str, Array] = {}
        if np.isfinite(self.rate):
            rows = {"G": step, "lower": before - most, "upper": before + most}
        problem = QP(Q, c, lo=np.tile(self.low, m) / unit, hi=np.tile(self.high, m) / unit, **rows)
        self.solution = solve_qp(problem)
        if not self.solution.status.success:
            # rates and limits contradict each other only if the last command was outside of its limits
            return np.clip(self._last, self.low, self.high)
        return np.clip(self.solution.x[:nu] * self.scale, self.low, self.high)
