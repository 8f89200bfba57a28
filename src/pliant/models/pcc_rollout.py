"""Compiled rollouts of a PccModel: exact implicit midpoint with creep, and the published sweep for
comparison.

`pliant.simulate` also runs a PccModel (with contact); these are for long runs, learning and control.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant import lie
from pliant._kernels import pcc as _k
from pliant._kernels import pcc_mde as _mde
from pliant.bodies import RodBody
from pliant.errors import ArgumentError
from pliant.models.creep import MEMORY, Creep
from pliant.models.pcc import PccModel
from pliant.models.rod_tables import section
from pliant.state import Status

Array = np.ndarray
Effort = ArrayLike | Callable[[float], ArrayLike] | None


@dataclass(frozen=True, eq=False)
class LinkRollout:
    """What a rollout of links found.

    Attributes:
        time: of the stored states [s] (k,).
        q, v: configurations and velocities (k, nq).
        creep: creep states (k, nq).
        status: how it ended; states up to a failure are kept.
        iterations: Newton iterations in all.
        elapsed: wall-clock time [s].
    """

    time: Array
    q: Array
    v: Array
    creep: Array
    status: Status
    iterations: int
    elapsed: float

    @property
    def ok(self) -> bool:
        """True if every step converged."""
        return self.status.ok

    @property
    def memory(self) -> dict[str, Array]:
        """What a run that goes on from here needs to know, as in `State.memory`."""
        return {MEMORY: self.creep[-1]}

    @property
    def speed(self) -> float:
        """Simulated time per wall-clock time."""
        return float(self.time[-1] - self.time[0]) / self.elapsed


def rollout_links(
    model: PccModel,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    duration: float,
    dt: float,
    effort: Effort = None,
    force: Effort = None,
    creep: Creep | None = None,
    creep_state: ArrayLike | None = None,
    memory: Mapping[str, Any] | None = None,
    every: int = 1,
    tolerance: float = 1e-8,
    max_iterations: int = 30,
) -> LinkRollout:
    """Motion of constant-curvature links by the implicit midpoint rule with exact Newton.

    Args:
        model: links; their actuators' rows must be constant (bellows gains, or channels parallel to the arm).
        q, v: start (nq,); at rest if None.
        duration: simulated time [s].
        dt: time step [s].
        effort: per actuator: constant (nu,), one row per step, or a function of time (taken at mid-step).
        force: additional generalised force (nq,), in the same forms.
        creep: viscoelastic creep, the same for all links; the model's own if None.
        creep_state: its start (nq,); from the memory if None.
        memory: of the state that the run goes on from.
        every: store every so many steps.
        tolerance: error allowed in a step, as a displacement of the tip [m].
        max_iterations: Newton iterations allowed per step.
    """
    steps = _steps(duration, dt, every)
    n = model.nv
    if creep_state is None and memory is not None:
        creep_state = memory.get(MEMORY)
    start, speed, lam = (_vector(name, x, n) for name, x in (("q", q), ("v", v), ("creep_state", creep_state)))
    middle = (np.arange(steps) + 0.5) * duration / steps
    taus = _rows("force", force, n, middle)
    if model.nu:
        taus = taus + _rows("effort", effort, model.nu, middle) @ model.displacement_rows(model.rest)
    creep = creep or model.creep
    table = np.zeros((3, n)) if creep is None else creep.table(model.links)
    length = float(model.lengths.sum())
    scale = np.tile([length, 0.5 * length**2, 0.5 * length**2], model.links)
    size = steps // every + 1
    qs, vs, ls = np.zeros((size, n)), np.zeros((size, n)), np.zeros((size, n))
    rod = model.rod
    begin = time.perf_counter()
    done, spent = _k.rollout(
        rod.tables, rod._work, model.tangent_work(), model.axial, model.bending, model.secant, model.viscous,
        np.ascontiguousarray(taus), rod._lift, table, start, speed, lam, duration / steps, steps, every,
        max_iterations, tolerance, scale, qs, vs, ls,
    )  # fmt: skip
    elapsed = time.perf_counter() - begin
    kept = done // every + 1
    finite = bool(np.isfinite(qs[:kept]).all())
    status = Status.CONVERGED if done == steps and finite else Status.MAX_ITERATIONS
    times = np.arange(kept) * every * duration / steps
    return LinkRollout(times, qs[:kept], vs[:kept], ls[:kept], status, int(spent), elapsed)


@dataclass(frozen=True, eq=False)
class Sweep:
    """Dynamics swept along the arm: M, C (n, n), weight (n,), tip pose (4, 4) and body Jacobian (6, n)."""

    inertia: Array
    coriolis: Array
    weight: Array
    tip: Array
    jacobian: Array


def mde_sweep(model: PccModel, q: ArrayLike, v: ArrayLike, *, elements: int) -> Sweep:
    """The matrix-differential sweep of the thesis (second-order Runge-Kutta in arc length), errata repaired.

    For comparison and teaching: `model` itself evaluates the same quantities exactly, and faster. One rod of
        equal
    links with a uniform section and no payload.
    """
    length, inertia, g, R0 = _uniform(model)
    n = model.nv
    M, C, f = np.empty((n, n)), np.empty((n, n)), np.empty(n)
    T, J = np.eye(4), np.empty((6, n))
    R, p = np.empty((3, 3)), np.empty(3)
    _mde.mde_sweep(_vector("q", q, n), _vector("v", v, n), length, inertia, g, R0, elements, M, C, f, R, p, J)
    T[:3, :3], T[:3, 3] = R, p
    return Sweep(M, C, f, T, J)


def mde_rollout(
    model: PccModel,
    q: ArrayLike | None = None,
    v: ArrayLike | None = None,
    *,
    duration: float,
    dt: float,
    elements: int,
    effort: Effort = None,
    tolerance: float = 1e-6,
    max_iterations: int = 200,
) -> tuple[LinkRollout, Array]:
    """The published scheme: implicit trapezoidal steps on the swept dynamics; also the tip over time (k.

    3).
    """
    length, inertia, g, R0 = _uniform(model)
    steps, n = _steps(duration, dt, 1), model.nv
    times = np.arange(steps + 1) * duration / steps
    taus = np.zeros((1, n))
    if model.nu:
        taus = _rows("effort", effort, model.nu, times) @ model.displacement_rows(model.rest)
    qs, tips = np.zeros((steps + 1, n)), np.zeros((steps + 1, 3))
    begin = time.perf_counter()
    done, spent = _mde.mde_rollout(
        _vector("q", q, n), _vector("v", v, n), length, inertia, g, R0, elements, model.axial, model.bending,
        model.secant, model.viscous, np.ascontiguousarray(taus), duration / steps, steps, max_iterations, tolerance,
        qs, tips,
    )  # fmt: skip
    elapsed = time.perf_counter() - begin
    status = Status.CONVERGED if done == steps else Status.MAX_ITERATIONS
    kept = done + 1
    nothing = np.zeros((kept, n))
    run = LinkRollout(times[:kept], qs[:kept], nothing, nothing, status, int(spent), elapsed)
    return run, tips[:kept]


def _uniform(model: PccModel) -> tuple[float, Array, Array, Array]:
    rods = [b for b in model.robot.bodies if isinstance(b, RodBody)]
    if len(rods) != 1 or rods[0].tip_mass or not np.isscalar(rods[0].radius):
        raise ArgumentError("model", "not one uniform rod without payload", "one rod; use rollout_links otherwise")
    _, line, turn = section(rods[0], np.array([0.0]))
    rotary = turn[0] if np.any(model.rod.tables.rot) else np.zeros(3)
    inertia = np.array([*rotary, line[0], line[0], line[0]])
    return rods[0].length, inertia, np.array(model.robot.gravity), lie.matrix_from_quaternion(rods[0].rotation)


def _steps(duration: float, dt: float, every: int) -> int:
    for name, value in (("duration", duration), ("dt", dt)):
        if not (np.isfinite(value) and value > 0):
            raise ArgumentError(name, f"{value}", "a positive number [s]")
    steps = max(1, round(duration / dt))
    if every < 1 or steps % every:
        raise ArgumentError("every", f"{every}", f"a divisor of the {steps} steps")
    return steps


def _vector(name: str, value: ArrayLike | None, n: int) -> Array:
    out = np.zeros(n) if value is None else np.array(value, dtype=float)
    if out.shape != (n,) or not np.isfinite(out).all():
        raise ArgumentError(name, f"shape {out.shape} or not finite", f"({n},) finite numbers")
    return out


def _rows(name: str, value: Effort, n: int, times: Array) -> Array:
    if value is None:
        return np.zeros((1, n))
    rows = np.array([np.asarray(value(t), float) for t in times]) if callable(value) else np.array(value, float)
    rows = np.atleast_2d(rows)
    if rows.shape[1:] != (n,) or len(rows) not in (1, len(times)) or not np.isfinite(rows).all():
        raise ArgumentError(name, f"shape {rows.shape} or not finite", f"({n},) or ({len(times)}, {n})")
    return rows
