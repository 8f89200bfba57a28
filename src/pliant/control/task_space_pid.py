"""Task-space PID of a pneumatic arm on its link model: the controller of the rigid-link paper.

One tick:  frames -> q (closed form);  dq = J^+ (kp e + kd e' + ki int e + xdot_ref) dt;  dtau = K dq;  the
slides of a
segment are driven together;  tau += dtau;  pressures by the map, within the range of the valves.

J^+ is weighted and damped: a slide of 1 m is not worth a turn of 1 rad. Adding dtau at every tick already
integrates kp e, so ki = 0 is the better choice (with ki > 0 there are two integrators and a slow tail).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from pliant import lie
from pliant.control.observation import reference_of
from pliant.control.pressures import PressureMap
from pliant.errors import ArgumentError
from pliant.models.link import LinkModel

Array = np.ndarray


class TaskSpacePid:
    """Controller of an arm with four airbag groups per segment.

    Args:
        link: the link model used for control (kinematics and stiffness only; it knows no load).
        observe: state -> measured frames (n + 1, 4, 4), e.g. a `FrameSensor`.
        target: position (3,), pose (4, 4), PointTarget, FrameTarget, or a function of time giving one.
        pressures: map from generalised forces to pressures.
        kp, kd, ki: gains [1/s, -, 1/s^2].
        period: time of a control tick [s].
        slide_weight: how readily slides are used, relative to rotations [m/rad].
        damping: of the pseudo-inverse [m].
        bias: pressure about which bending works [Pa].
        jacobian: "estimated" at the measured pose (the paper); "constant" at the rest pose; "arc": constant
            curvature pose (d1 = d2), the two simplified baselines.
        stiffness: "joint" (diagonal and fixed, the paper) or "tangent": with gravity, at the measured pose, which a
            heavy hanging arm needs (its weight stiffens it by more than its material).
        estimator: options of `estimate_links`.
        point: name under which the target is recorded.
    """

    def __init__(
        self,
        link: LinkModel,
        observe: Callable[[Any], Array],
        target: Any,
        pressures: PressureMap,
        *,
        kp: float = 3.0,
        kd: float = 0.05,
        ki: float = 0.0,
        period: float = 0.05,
        slide_weight: float = 0.05,
        damping: float = 1e-3,
        bias: float = 1.0e5,
        jacobian: Literal["estimated", "constant", "arc"] = "estimated",
        stiffness: Literal["joint", "tangent"] = "joint",
        estimator: dict[str, Any] | None = None,
        point: str = "tip",
    ) -> None:
        if jacobian not in ("estimated", "constant", "arc"):
            raise ArgumentError("jacobian", f"{jacobian!r}", "'estimated', 'constant' or 'arc'")
        if stiffness not in ("joint", "tangent"):
            raise ArgumentError("stiffness", f"{stiffness!r}", "'joint' or 'tangent'")
        if period <= 0:
            raise ArgumentError("period", f"{period}", "a positive number [s]")
        self.link, self.observe, self.map = link, observe, pressures
        self.reference = reference_of(target)
        self.kp, self.kd, self.ki, self.period = kp, kd, ki, float(period)
        self.damping, self.jacobian, self.stiffness, self.estimator = (
            damping,
            jacobian,
            stiffness,
            dict(estimator or {}),
        )
        self._width = link.nq // link.segments
        weights = np.ones((link.segments, self._width))
        weights[:, [0, 3]] = slide_weight
        if self._width == 5:
            weights[:, 4] = 0.0  # torsion is observed, not driven
        self._weight2 = weights.ravel() ** 2
        start = np.zeros((link.segments, 3))
        start[:, 2] = bias * pressures.gains[2]
        self.force = start
        self.targets = {point: lambda t: self._position(self.reference(t))}
        self._next, self._command = -np.inf, self.map.limited(self.map.pressures(start)).ravel()
        self._last: Array | None = None
        self._sum: Array | None = None
        self._slope: Array | None = None
        self.saturated = np.zeros(link.segments, bool)

    def __call__(self, t: float, state: Any) -> Array:
        """Pressures of all groups [Pa] (4 n,); computed anew at every tick."""
        if t + 1e-9 >= self._next:
            self._next = (t if self._next == -np.inf else self._next) + self.period
            self._command = self.tick(t, self.observe(state))
        return self._command

    def error(self, t: float, frames: Array) -> Array:
        """Error of the tip: position (3,), or rotation vector and position (6,) if the target is a pose."""
        wanted, tip = np.asarray(self.reference(t), float), frames[-1]
        if wanted.shape == (3,):
            return wanted - tip[:3, 3]
        turn = lie.log(wanted[:3, :3] @ tip[:3, :3].T)
        return np.concatenate([turn, wanted[:3, 3] - tip[:3, 3]])

    def tick(self, t: float, frames: Array) -> Array:
        """One control tick: pressures (4 n,)."""
        h = self.period
        e = self.error(t, frames)
        if self._last is None or self._last.shape != e.shape:
            self._last, self._sum, self._slope = e, np.zeros_like(e), np.zeros_like(e)
        assert self._sum is not None
        assert self._slope is not None
        # a first-order filter over two ticks keeps marker noise out of the derivative
        self._slope = 0.5 * self._slope + 0.5 * (e - self._last) / h
        self._last = e
        if not self.saturated.any():
            self._sum = self._sum + h * e
        rate = self.kp * e + self.kd * self._slope + self.ki * self._sum + self._feedforward(t, len(e))
        pose = self._pose(frames)
        J = self.link.locate(pose, "tip", jacobian=True).jacobian
        assert J is not None
        J = J[-len(e) :]
        W = self._weight2
        core = (J * W) @ J.T + self.damping**2 * np.eye(len(e))
        dq = W * (J.T @ np.linalg.solve(core, rate)) * h
        if self.stiffness == "joint":
            change = self.link.joint_stiffness * dq
        else:
            change = self.link.stiffness(pose, np.zeros(self.link.nu)) @ dq
        change = change.reshape(self.link.segments, self._width)
        # The two slides of a segment are one piece of arm: half the stiffness each, driven together.
        step = np.stack([change[:, 1], change[:, 2], 0.5 * (change[:, 0] + change[:, 3])], axis=1)
        trial = self.force + step
        wanted = self.map.pressures(trial)
        self.saturated = self.map.saturated(wanted)
        # Anti-windup: what the valves cannot give is not accumulated.
        self.force = self.map.admissible(trial)
        return self.map.limited(self.map.pressures(self.force)).ravel()

    def _feedforward(self, t: float, n: int) -> Array:
        a, b = (np.asarray(self.reference(s), float) for s in (t, t + self.period))
        if n == 3:
            return (b - a) / self.period
        turn = lie.log(b[:3, :3] @ a[:3, :3].T)
        return np.concatenate([turn, b[:3, 3] - a[:3, 3]]) / self.period

    def _pose(self, frames: Array) -> Array:
        """The pose at which the model is linearised."""
        if self.jacobian == "constant":
            return self.link.rest
        rows = self.link.estimate(frames, **self.estimator).q
        if self.jacobian == "arc":
            rows[:, 0] = rows[:, 3] = 0.5 * (rows[:, 0] + rows[:, 3])
        return rows.ravel()

    @staticmethod
    def _position(target: Array) -> Array:
        target = np.asarray(target, float)
        return target if target.shape == (3,) else target[:3, 3]
