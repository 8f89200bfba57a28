"""One sample: the pose of any model under one command, with exact Jacobians, as a record of plain numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.models.contract import Model
from pliant.models.kinematic import KinematicModel
from pliant.state import State, Status

if TYPE_CHECKING:
    from pliant.solve.sensitivity import Sensitivity

Array = np.ndarray
REASON = 200
STATUSES = tuple(Status)


@dataclass(frozen=True)
class Question:
    """What to record of every sample.

    Attributes:
        points: names of the points.
        commands: number of actuators.
        vertices: number of skin vertices to record, 0 for none.
        jacobian: "exact", "differences" (central, as in the paper) or "none".
        step: step of the differences per actuator, if they are taken (nu,).
        start: "rest" (every sample by itself) or "neighbour" (samples of a chunk follow each other).
    """

    points: tuple[str, ...]
    commands: int
    vertices: int
    jacobian: str
    step: tuple[float, ...]
    start: str

    @property
    def dtype(self) -> np.dtype:
        """Record of one sample."""
        p, m = len(self.points), self.commands
        fields = [
            ("index", "<i8"),
            ("status", "u1"),
            ("elapsed", "<f8"),
            ("u", "<f8", (m,)),
            ("position", "<f8", (p, 3)),
            ("rotation", "<f8", (p, 3, 3)),
            ("jacobian", "<f8", (p, 6, m)),
            ("reason", f"S{REASON}"),
            ("shape", "<f4", (self.vertices, 3)),
        ]
        return np.dtype(fields)


def evaluate_chunk(model: Model, question: Question, index: Sequence[int], u: Array) -> Array:
    """Records of a few samples, in order; a sample that fails is recorded with its reason, never dropped."""
    if isinstance(model, KinematicModel) and question.jacobian == "exact" and not question.vertices:
        with contextlib.suppress(Exception):  # then one by one, to know which of them fails
            return _direct(model, question, index, u)
    out = np.zeros(len(index), question.dtype)
    before: Solved | None = None
    for k, (i, command) in enumerate(zip(index, u)):
        out[k], solved = evaluate_one(model, question, int(i), command, before)
        before = solved if question.start == "neighbour" else None
    return out


@dataclass(frozen=True, eq=False)
class Solved:
    """A sample that is solved: the next one of its chunk starts from it, moved along its sensitivity where known."""

    state: State
    slopes: Sensitivity | None = None

    def towards(self, model: Model, u: Array) -> State:
        """A start for the command u."""
        if self.slopes is None:
            return self.state
        change = u - self.state.u
        q = model.retract(self.state.q, self.slopes.configuration @ change)
        return self.state.but(q=q, effort=self.state.effort + self.slopes.effort @ change)


def _direct(model: KinematicModel, question: Question, index: Sequence[int], u: Array) -> Array:
    """Samples of a kinematic model: nothing to solve."""
    import time

    begin = time.perf_counter()
    out = np.zeros(len(index), question.dtype)
    rows = [model.point_names.index(n) for n in question.points]
    x, R, J = model.kinematics_many(u)
    out["index"], out["u"] = index, u
    out["position"], out["rotation"], out["jacobian"] = x[:, rows], R[:, rows], J[:, rows]
    out["status"] = STATUSES.index(Status.CONVERGED)
    bad = ~np.isfinite(out["position"]).all(axis=(1, 2))
    out["status"][bad], out["reason"][bad] = STATUSES.index(Status.DIVERGED), b"not finite"
    out["elapsed"] = (time.perf_counter() - begin) / max(len(index), 1)
    return out


def evaluate_one(
    model: Model, question: Question, index: int, u: Array, before: Solved | None = None
) -> tuple[Any, Solved | None]:
    """The record of one sample, and what the next one can start from."""
    import time

    begin = time.perf_counter()
    row = np.zeros((), question.dtype)
    row["index"], row["u"] = index, u
    row["position"], row["rotation"], row["jacobian"] = np.nan, np.nan, np.nan
    row["shape"] = np.nan
    solved: Solved | None = None
    try:
        state = _solve(model, u, None if before is None else before.towards(model, u))
        row["status"] = STATUSES.index(state.status)
        if state.ok:
            solved = _record(model, question, state, row)
        else:
            row["reason"] = (f"{state.status}" + "".join(f"; {n}" for n in state.notes)).encode()[:REASON]
    except Exception as error:  # whatever a model does wrong belongs to this sample, not to the others
        row["status"] = STATUSES.index(Status.DIVERGED)
        row["reason"] = f"{type(error).__name__}: {error}".encode()[:REASON]
        row["position"], solved = np.nan, None
    row["elapsed"] = time.perf_counter() - begin
    return row[()], solved


def _solve(model: Model, u: Array, before: State | None) -> State:
    from pliant.solve.equilibrium import equilibrium

    state = equilibrium(model, u, start=before)
    if before is not None and not state.ok:
        state = equilibrium(model, u)
    return state


def _record(model: Model, question: Question, state: State, row: Any) -> Solved:
    from pliant.solve.sensitivity import sensitivity

    place = model.locate(state.q, list(question.points))
    row["position"], row["rotation"] = place.position, place.rotation
    slopes = None
    if question.jacobian == "exact":
        slopes = sensitivity(model, state)
        row["jacobian"] = slopes.of(list(question.points))
    elif question.jacobian == "differences":
        row["jacobian"] = differences(
            lambda u: model.locate(_solve(model, u, state).require().q, list(question.points)),
            state.u,
            question.step,
        )
    if question.vertices:
        row["shape"] = model.skin_positions(state.q)
    return Solved(state, slopes)


def differences(place: Callable[[Array], Any], u: Array, step: Sequence[float]) -> Array:
    """Central differences of positions (eq. 3 of the paper) (p, 6, m); angular rows are not known (NaN)."""
    columns = []
    for k, h in enumerate(step):
        e = np.zeros(len(u))
        e[k] = h
        columns.append((place(u + e).position - place(u - e).position) / (2.0 * h))
    linear = np.stack(columns, axis=-1)
    return np.concatenate([np.full_like(linear, np.nan), linear], axis=1)
