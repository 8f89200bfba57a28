"""identify: joint law and input gains of a constant-curvature link, from runs of a finer model of the same
robot.

For every state of the finer model the tip's pose gives the link's coordinates (stretch, curvatures); the
change of the
actuators' displacements with them gives the input map (virtual work); with the efforts this gives the
generalised force on
each coordinate, and the joint law is fitted to it. A free oscillation gives the damping.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant import lie
from pliant.errors import ArgumentError
from pliant.models.modes import slice_frames
from pliant.models.pcc import JointLaw, fit_curve

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Identified:
    """What was identified.

    Attributes:
        joints: joint law, generalised forces on (stretch, curvature).
        inputs: input map G (3, nu): generalised force per effort.
        coordinates: (stretch, bend_y, bend_z) of every state (k, 3).
        forces: generalised forces of every state (k, 3).
        curvature_error: rms error of the predicted curvature on held-out states, over the largest one [-].
        tip_error: rms distance of the predicted to the true tip on held-out states, over the length [-].
        arc_error: rms distance of the best arcs to the true tips, over the length: what no joint law can
            remove [-].
        length: of the link [m].
    """

    joints: JointLaw
    inputs: Array
    coordinates: Array
    forces: Array
    curvature_error: float
    tip_error: float
    arc_error: float
    length: float


def arc_coordinates(pose: ArrayLike, length: float) -> Array:
    """(stretch, bend_y, bend_z) of the arc nearest to a pose of the tip in the base frame (3,).

    The nearest constant strain without twist and shear: min |log(g(q)^-1 pose)|, by Gauss-Newton.
    """
    g = np.asarray(pose, float)
    columns = np.zeros((6, 3))
    columns[3, 0] = columns[1, 1] = columns[2, 2] = length
    xi = lie.log(g)
    q = np.array([xi[3] / length - 1.0, xi[1] / length, xi[2] / length])
    scale = np.array([1.0, 1.0, 1.0, 1.0 / length, 1.0 / length, 1.0 / length])
    for _ in range(30):
        twist = np.array([0.0, q[1], q[2], 1.0 + q[0], 0.0, 0.0]) * length
        error = lie.log(lie.inverse(lie.exp(twist)) @ g)
        J = lie.right_tangent(twist) @ columns
        step = np.linalg.lstsq(scale[:, None] * J, scale * error, rcond=None)[0]
        q = q + step
        if np.abs(step).max() < 1e-12 / length:
            break
    return q


def arc_pose(q: ArrayLike, length: float) -> Array:
    """Pose of the tip of an arc in its base frame (4, 4)."""
    e, ky, kz = np.asarray(q, float)
    return lie.exp(length * np.array([0.0, ky, kz, 1.0 + e, 0.0, 0.0]))


def identify(
    model: Any, runs: Any, start: ArrayLike, end: ArrayLike, *, stations: int = 9, hold_out: float = 0.3
) -> Identified:
    """Joint law and input map of one constant-curvature link from quasi-static states of a finer model.

    Args:
        model: the finer model (FEM), without gravity.
        runs: a Trajectory or a list of States: sweeps that bend and stretch.
        start, end: axis of the link in the rest pose [m].
        stations: frames along the axis used to find base and tip.
        hold_out: part of the states kept for the errors.
    """
    states = list(runs)
    if len(states) < 4:
        raise ArgumentError("runs", f"{len(states)} states", "at least four")
    if np.any(np.abs(model.robot.gravity) > 0):
        raise ArgumentError("model", "has gravity", "the same robot with gravity=(0, 0, 0)")
    length = float(np.linalg.norm(np.asarray(end, float) - np.asarray(start, float)))
    zero = slice_frames(model, model.rest, start, end, stations=stations)
    offset = lie.inverse(lie.inverse(zero[0]) @ zero[-1]) @ arc_pose(np.zeros(3), length)
    poses = []
    for s in states:
        g = slice_frames(model, s.q, start, end, stations=stations)
        poses.append(lie.inverse(g[0]) @ g[-1] @ offset)
    q = np.array([arc_coordinates(p, length) for p in poses])
    d = np.array([s.displacement for s in states])
    effort = np.array([s.effort for s in states])
    held = np.zeros(len(states), bool)
    held[1 :: max(2, round(1.0 / hold_out))] = True
    # displacement = G^T q + quadratic terms: the linear part is the input map at rest
    terms = np.column_stack([q, q**2, q[:, :1] * q[:, 1:], q[:, 1:2] * q[:, 2:]])
    unit = np.maximum(np.abs(terms).max(axis=0), 1e-12)
    used = np.abs(terms).max(axis=0) > 1e-9
    fit = np.zeros((terms.shape[1], d.shape[1]))
    columns = (terms / unit)[:, used]
    ridge = 1e-6 * np.eye(columns.shape[1])
    fit[used] = np.linalg.solve(columns.T @ columns + ridge, columns.T @ d) / unit[used][:, None]
    forces = np.empty_like(q)
    for i in range(len(states)):
        forces[i] = _slopes(fit, q[i]) @ effort[i]
    kappa = np.hypot(q[:, 1], q[:, 2])
    along = np.einsum("ni,ni->n", forces[:, 1:], q[:, 1:]) / np.maximum(kappa, 1e-12)
    bend, stretch = kappa > 0.02 * kappa.max(), np.abs(q[:, 0]) > 0.02 * np.abs(q[:, 0]).max()
    train = ~held
    bending = fit_curve(kappa[bend & train], along[bend & train])
    axial = fit_curve(q[stretch & train, 0], forces[stretch & train, 0])
    joints = JointLaw(axial, bending, "tangent")
    predicted = np.array([_solve(joints, f) for f in forces])
    tips = np.array([arc_pose(p, length)[:3, 3] for p in predicted])
    arcs = np.array([arc_pose(p, length)[:3, 3] for p in q])
    truth = np.array([p[:3, 3] for p in poses])
    k_new = np.hypot(predicted[:, 1], predicted[:, 2])

    def rms(x: Array) -> float:
        return float(np.sqrt(np.mean(np.asarray(x) ** 2)))

    return Identified(
        joints, fit[:3], q, forces,
        rms((k_new - kappa)[held]) / float(kappa.max()),
        rms(np.linalg.norm(tips - truth, axis=1)[held]) / length,
        rms(np.linalg.norm(arcs - truth, axis=1)) / length,
        length,
    )  # fmt: skip


def damping_from(time: ArrayLike, signal: ArrayLike) -> tuple[float, float]:
    """Frequency [Hz] and decay rate [1/s] of a free oscillation about its last value."""
    t, y = np.asarray(time, float), np.asarray(signal, float)
    y = y - y[-max(2, len(y) // 10) :].mean()
    peaks = np.flatnonzero((np.abs(y[1:-1]) >= np.abs(y[:-2])) & (np.abs(y[1:-1]) > np.abs(y[2:]))) + 1
    peaks = peaks[np.abs(y[peaks]) > 0.02 * np.abs(y).max()]
    if len(peaks) < 3:
        raise ArgumentError("signal", "fewer than three peaks", "an underdamped oscillation")
    slope = np.polyfit(t[peaks], np.log(np.abs(y[peaks])), 1)[0]
    return 0.5 / float(np.mean(np.diff(t[peaks]))), -float(slope)


def _slopes(fit: Array, q: Array) -> Array:
    """d displacement / d q of the fitted quadratic (3, nu)."""
    e, y, z = q
    linear, square, mixed, both = fit[:3], fit[3:6], fit[6:8], fit[8]
    out = linear + 2.0 * q[:, None] * square
    out[0] += y * mixed[0] + z * mixed[1]
    out[1] += e * mixed[0] + z * both
    out[2] += e * mixed[1] + y * both
    return out


def _solve(joints: JointLaw, force: Array) -> Array:
    """Coordinates at which the joint law balances generalised forces (3,)."""
    size = float(np.hypot(force[1], force[2]))
    k = _invert(joints, size, "bending")
    e = np.sign(force[0]) * _invert(joints, abs(float(force[0])), "axial")
    return np.array([e, *(k * force[1:] / max(size, 1e-300))])


def _invert(joints: JointLaw, force: float, which: str) -> float:
    y = force / getattr(joints, which)[0]
    high = y if y > 0 else 1e-12
    for _ in range(200):
        if joints.response(high, which)[0] >= force:  # type: ignore[arg-type]
            break
        high *= 2.0
    low = 0.0
    for _ in range(80):
        mid = 0.5 * (low + high)
        if joints.response(mid, which)[0] < force:  # type: ignore[arg-type]
            low = mid
        else:
            high = mid
    return 0.5 * (low + high)
