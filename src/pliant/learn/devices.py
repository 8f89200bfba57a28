"""Samples computed many at a time on a device of torch."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pliant.learn.evaluate import STATUSES, Question, evaluate_one
from pliant.state import Status

Array = np.ndarray
DEVICE_CHUNK = 1024  # samples solved and recorded together; a vector of 10k unknowns and 3 sides is then 250 MB


def run_device(
    factory: Callable[[], Any], question: Question, chunks: list[tuple[list[int], Array]], device: str
) -> Iterator[Array]:
    """Compute the chunks one after the other on a device.

    A sample that the batch does not bring to equilibrium is solved by itself in this process, so that it ends with the
    same status and reason as everywhere.
    """
    from pliant.solve.geometric_slopes import PoseSolver

    model = factory()
    solver = PoseSolver(model, device=device)
    for index, u in chunks:
        poses = solver.solve(u, question.points)
        out = np.zeros(len(index), question.dtype)
        out["index"], out["u"] = index, u
        out["status"] = STATUSES.index(Status.CONVERGED)
        out["position"], out["rotation"] = poses.position, poses.rotation
        out["jacobian"] = poses.jacobian if question.jacobian == "exact" else np.nan
        out["elapsed"] = poses.elapsed / len(index)
        if question.vertices:
            out["shape"] = poses.nodes[:, model.layout.skin_nodes]
        for k in np.flatnonzero(~poses.converged):
            out[k], _ = evaluate_one(model, question, int(index[k]), u[k])
        yield out
