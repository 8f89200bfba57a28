"""identify: constant-curvature links from runs of a finer model (FEM) of the same robot.

Frames at the ends of the links give their coordinates (stretch, curvatures) in every state; virtual work gives the
generalised force on each (`pliant.models.curve`); a joint law per link is fitted to both. A free oscillation gives the
damping, a step that is held the creep (`pliant.models.relaxation`). The errors are those of the identified model's own
equilibria in states that it has not seen.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant import lie
from pliant.errors import ArgumentError
from pliant.models.creep import Creep
from pliant.models.curve import Curve, as_vector, check_runs, held_out
from pliant.models.pcc import JointLaw, PccModel, fit_curve
from pliant.models.relaxation import fit_creep, fit_damping
from pliant.models.solid import SolidModel
from pliant.robot import Robot

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Identified:
    """What was identified.

    Attributes:
        joints: joint law of every link, generalised forces on (stretch, curvature).
        inputs: input map G (3 links, nu): generalised force per effort, mean over the states.
        coordinates: (stretch, bend_y, bend_z) per link of every state (k, 3 links).
        forces: generalised forces of every state (k, 3 links).
        curvature_error: rms error of the predicted curvatures on held-out states, over the largest one [-].
        tip_error: rms distance of the predicted to the true tip on held-out states, over the length [-].
        arc_error: rms distance of the best arcs' tip to the true one, over the length: what no joint law can
            remove [-].
        length: of the body [m].
        robot: the body as one rod of the same mass, with the finer robot's actuators.
        damping: viscous coefficients of stretch and curvature per link (links, 2), or None without an oscillation.
        creep: of all links, or None.
        creep_left: part of the held motion's unbalanced force that damping and creep leave, rms [-]; nan without one.
    """

    joints: tuple[JointLaw, ...]
    inputs: Array
    coordinates: Array
    forces: Array
    curvature_error: float
    tip_error: float
    arc_error: float
    length: float
    robot: Robot
    damping: Array | None = None
    creep: Creep | None = None
    creep_left: float = float("nan")

    def model(self, **options: Any) -> PccModel:
        """The identified links as a model; options as those of `PccModel`."""
        found: dict[str, Any] = {
            "links": len(self.joints), "joints": self.joints, "inputs": self.inputs, "damping": self.damping,
            "creep": self.creep, "rotary": False,
        }  # fmt: skip
        return PccModel(self.robot, **(found | options))


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
    model: SolidModel,
    runs: Any,
    start: ArrayLike,
    end: ArrayLike,
    *,
    links: int = 1,
    oscillation: Any = None,
    hold: Any = None,
    stations: int = 9,
    hold_out: float = 0.3,
) -> Identified:
    """Constant-curvature links from quasi-static states of a finer model, and their damping and creep from motions.

    Args:
        model: the finer model (FEM), without gravity.
        runs: a Trajectory or a list of States: equilibria that bend and stretch.
        start, end: axis of the body in the rest pose [m] (3,).
        links: number of equal links.
        oscillation: Trajectory of a free oscillation (equal steps), for the damping.
        hold: Trajectory of a step that is held (equal steps), for the creep.
        stations: frames along the axis at least; rounded up to a multiple of the links, plus one.
        hold_out: part of the states kept for the errors.
    """
    states = list(runs)
    check_runs(model, states)
    if links < 1:
        raise ArgumentError("links", f"{links}", "an integer >= 1")
    per = max(2, int(np.ceil((stations - 1) / links)))
    curve = Curve(model, as_vector(start), as_vector(end), links * per + 1)
    frames = [curve.frames(s.q) for s in states]
    size = curve.length / links
    q = np.array([link_coordinates(f, links, size) for f in frames])
    rod = PccModel(curve.robot, links=links, rotary=False).rod
    maps = np.array([curve.inputs(s, rod, x) for s, x in zip(states, q)])
    forces = np.einsum("ija,ia->ij", maps, np.array([s.effort for s in states]))
    held = held_out(len(states), hold_out)
    train = ~held
    joints = tuple(_law(q[train, 3 * i : 3 * i + 3], forces[train, 3 * i : 3 * i + 3], i) for i in range(links))
    inputs = maps[train].mean(axis=0)
    robot = curve.robot.but(actuators=model.robot.actuators)
    found: dict[str, Any] = {}
    static = PccModel(robot, links=links, joints=joints, inputs=inputs, damping=(0.0, 0.0), rotary=False)
    if oscillation is not None:
        found["damping"] = fit_damping(static, *_motion(curve, oscillation, links, size))
    if hold is not None:
        found["creep"], viscous, found["creep_left"] = fit_creep(static, *_motion(curve, hold, links, size))
        found.setdefault("damping", viscous)
    tips = np.array([curve.tip(f) for f in frames])
    arcs = np.array([static.locate(x, "tip").position for x in q])
    judged = np.flatnonzero(held) if held.any() else np.arange(len(states))
    predicted = np.array([_settle(static, states[i].effort, q[i]) for i in judged])
    reached = np.array([static.locate(x, "tip").position for x in predicted])
    bends = np.array([1 + 3 * i + j for i in range(links) for j in (0, 1)])
    return Identified(
        joints, inputs, q, forces,
        _rms((predicted - q[judged])[:, bends]) / max(float(np.abs(q[:, bends]).max()), 1e-300),
        _rms(np.linalg.norm(reached - tips[judged], axis=1)) / curve.length,
        _rms(np.linalg.norm(arcs - tips, axis=1)) / curve.length,
        curve.length, robot, **found,
    )  # fmt: skip


def link_coordinates(frames: Array, links: int, size: float) -> Array:
    """(stretch, bend_y, bend_z) of every link between frames that divide into the links (3 links,)."""
    ends = frames[:: (len(frames) - 1) // links]
    return np.concatenate([arc_coordinates(lie.inverse(a) @ b, size) for a, b in zip(ends[:-1], ends[1:])])


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


def _law(q: Array, force: Array, link: int) -> JointLaw:
    """The tangent law nearest to coordinates and forces of one link (k, 3)."""
    kappa = np.linalg.norm(q[:, 1:], axis=1)
    along = np.einsum("ni,ni->n", force[:, 1:], q[:, 1:]) / np.maximum(kappa, 1e-12)
    bend, stretch = kappa > 0.02 * kappa.max(), np.abs(q[:, 0]) > 0.02 * np.abs(q[:, 0]).max()
    fits = []
    for name, x, f in (("bend", kappa[bend], along[bend]), ("stretch", q[stretch, 0], force[stretch, 0])):
        if len(x) < 3 or float(x @ f) <= 0:
            raise ArgumentError("runs", f"do not {name} link {link} enough", "sweeps that bend and stretch every link")
        fits.append(fit_curve(x, f))
    return JointLaw(fits[1], fits[0], "tangent")


def _motion(curve: Curve, run: Any, links: int, size: float) -> tuple[Array, Array, Array]:
    """Times, coordinates (n, 3 links) and efforts of a recorded motion of the finer model."""
    if getattr(run, "q", None) is None or len(run) < 8:
        raise ArgumentError("oscillation", "not a recorded motion", "a Trajectory of at least 8 equal steps")
    q = np.array([link_coordinates(curve.frames(x), links, size) for x in run.q])
    return np.asarray(run.time, float), q, np.asarray(run.effort, float)


def _settle(model: PccModel, effort: Array, guess: Array) -> Array:
    """Equilibrium of the links by damped Newton steps, from a guess near it (nq,)."""
    q = np.array(guess, float)
    for _ in range(50):
        f, K = model.linearise(q, effort)
        step = np.linalg.solve(K, f)
        q = q + min(1.0, 0.2 * float(np.abs(guess).max() + 1.0) / max(float(np.abs(step).max()), 1e-300)) * step
        if np.abs(step).max() < 1e-10 * (np.abs(q).max() + 1e-6):
            return q
    raise ArgumentError("runs", "the identified links have no equilibrium", "sweeps that bend and stretch every link")


def _rms(x: ArrayLike) -> float:
    return float(np.sqrt(np.mean(np.asarray(x) ** 2)))
