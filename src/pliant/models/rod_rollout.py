"""Fast rollouts of a RodModel in compiled code, for prediction, learning and control: implicit or explicit.

`pliant.step` and `pliant.simulate` are the general way (contact, every actuator); this is the same mechanics
without contact, for tendons, chambers and generalised forces, a hundred times faster than real time.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant._kernels.rod_explicit import explicit_rollout as _explicit
from pliant._kernels.rod_gauss import gauss_rollout as _gauss
from pliant._kernels.rod_step import rollout as _midpoint
from pliant._kernels.rod_tangent import make_tangent_work
from pliant.errors import ArgumentError
from pliant.models.rod import RodModel
from pliant.state import Status

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Rollout:
    """What a rollout found.

    Attributes:
        time: times of the stored states [s] (k,).
        q: configurations (k, nq).
        v: velocities (k, nv).
        status: how it ended; if it did not converge, the states up to then are kept.
        sweeps: evaluations of the equations of motion.
        tangents: of these, with the exact tangent (none in an explicit run).
        halvings: how often a step had to be cut to converge or, in an explicit run, to be accurate.
        elapsed: wall-clock time [s].
    """

    time: Array
    q: Array
    v: Array
    status: Status
    sweeps: int
    tangents: int
    halvings: int
    elapsed: float

    @property
    def ok(self) -> bool:
        """True if every step converged."""
        return self.status.ok

    @property
    def speed(self) -> float:
        """Simulated time per wall-clock time."""
        return float(self.time[-1] - self.time[0]) / self.elapsed


def rollout(
    model: RodModel,
    q: ArrayLike,
    v: ArrayLike | None = None,
    *,
    duration: float,
    dt: float = 2e-3,
    scheme: str = "midpoint",
    effort: ArrayLike | None = None,
    force: ArrayLike | None = None,
    every: int = 1,
    tolerance: float = 1e-7,
    max_iterations: int = 25,
) -> Rollout:
    """Motion from (q, v) under given efforts.

    "midpoint" and "gauss" are implicit and stable at any dt, whatever the stiffness; they are of second and of fourth
    order in dt. The first is the faster one per step, the second the one for stiff rods that ring. "explicit" is of
    fifth order with steps of its own size within every dt, as small as `tolerance` and the highest frequency ask for.

    Args:
        model: rods; their actuators may be tendons and chambers inside the body (no point forces).
        q: start configuration (nq,).
        v: start velocity (nv,); at rest if None.
        duration: simulated time [s].
        dt: time step [s]; the number of steps is rounded. Efforts are held over it and states stored at its ends.
        scheme: "midpoint", "gauss" or "explicit".
        effort: effort per actuator, constant (nu,) or one row per step (steps, nu).
        force: additional generalised force, constant (nv,) or one row per step (steps, nv).
        every: store every so many steps.
        tolerance: error allowed in a step, as a displacement [m]: of the solution of its equations (implicit schemes),
            of the motion itself (explicit).
        max_iterations: Newton iterations allowed per step (implicit schemes).

    Returns:
        Rollout with status; nothing unconverged is in it.
    """
    for name, value in (("duration", duration), ("dt", dt), ("tolerance", tolerance)):
        if not (np.isfinite(value) and value > 0):
            raise ArgumentError(name, f"{value}", "a positive number")
    if scheme not in ("midpoint", "gauss", "explicit"):
        raise ArgumentError("scheme", f"{scheme!r}", "'midpoint', 'gauss' or 'explicit'")
    if model.drives.pointed:
        raise ArgumentError(
            "model", "point forces and external cables need pliant.simulate", "tendons and chambers"
        )
    if model.drives.rough:
        raise ArgumentError("model", "cables with friction need pliant.simulate", "friction = 0")
    if model.layout.turning or model.drives.sliding:
        raise ArgumentError("model", "moving bases need pliant.simulate", "rods with a held base")
    if model._rayleigh:
        raise ArgumentError("model", "mass-proportional damping needs pliant.simulate", "rayleigh_mass = 0")
    if model.fluid is not None:
        raise ArgumentError("model", "drag needs pliant.simulate", "fluid = None")
    steps, n = max(1, round(duration / dt)), model.nv
    if every < 1 or steps % every:
        raise ArgumentError("every", f"{every}", f"a divisor of the {steps} steps")
    start = _rows("q", q, n, 1)[0]
    speed = np.zeros(n) if v is None else _rows("v", v, n, 1)[0]
    taus = _rows("force", np.zeros(n) if force is None else force, n, steps)
    given = _rows("effort", np.zeros(model.nu) if effort is None else effort, model.nu, steps)
    efforts = np.ascontiguousarray(given[:, model.drives.thread_of])
    t = model.tables
    length = sum(body.length for body in model.layout.bodies)
    # A curvature moves the tip by about half the length squared, a stretch by the length.
    scale = np.where((t.comp >= 0) & (t.comp >= 3), length, 0.5 * length**2)
    qs, vs = np.empty((steps // every + 1, n)), np.empty((steps // every + 1, n))
    counts = np.array([steps, 0, 0, 0], np.int64)
    begin = time.perf_counter()
    if scheme == "explicit":
        good = _explicit(
            t, model._work, model.drives.threads, start, speed, taus, efforts, model._lift, duration / steps, every,
            scale, tolerance, qs, vs, counts,
        )  # fmt: skip
        counts[1] = 0
    else:
        run = _gauss if scheme == "gauss" else _midpoint
        good = run(
            t, model._work, make_tangent_work(t), model.drives.threads, start, speed, taus, efforts, model._lift,
            duration / steps, every, scale, tolerance, max_iterations, qs, vs, counts,
        )  # fmt: skip
    elapsed = time.perf_counter() - begin
    kept = len(qs) if good else int(counts[2]) // every + 1
    finite = bool(np.isfinite(qs[:kept]).all())
    status = Status.CONVERGED if good and finite else (Status.MAX_ITERATIONS if finite else Status.DIVERGED)
    times = np.arange(kept) * every * duration / steps
    return Rollout(
        times, qs[:kept], vs[:kept], status, int(counts[0]), int(counts[1]), int(counts[3]), elapsed
    )


def _rows(name: str, value: ArrayLike, n: int, steps: int) -> Array:
    array = np.atleast_2d(np.array(value, dtype=float)) if n else np.zeros((1, 0))
    if array.ndim != 2 or array.shape[1] != n or len(array) not in (1, steps):
        raise ArgumentError(name, f"shape {np.shape(value)}", f"({n},) or ({steps}, {n})")
    if not np.isfinite(array).all():
        raise ArgumentError(name, "contains NaN or infinity", "finite numbers")
    return np.ascontiguousarray(array)
