"""sample: evaluate any model at many commands, in parallel, into one file that survives being killed."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from pliant import checks
from pliant.errors import ArgumentError
from pliant.learn import workers as pools
from pliant.learn.dataset import Dataset
from pliant.learn.devices import DEVICE_CHUNK, run_device
from pliant.learn.evaluate import STATUSES, Question
from pliant.learn.journal import Journal
from pliant.learn.plans import PLANS, make_plan, row_count
from pliant.learn.progress import Progress
from pliant.models.kinematic import check_ranges

Array = np.ndarray
_CHUNK = {"rest": 1, "neighbour": 16}


def sample(
    source: Any,
    ranges: Mapping[str, Sequence[float]] | Array | None = None,
    *,
    path: str | Path,
    plan: str = "grid",
    count: int | None = None,
    per_axis: int | None = None,
    points: Sequence[str] | None = None,
    shape: bool = False,
    jacobian: Literal["exact", "differences", "none"] = "exact",
    start: Literal["rest", "neighbour"] = "rest",
    workers: int | None = None,
    scheduler: str | None = None,
    device: str | None = None,
    seed: int = 0,
    progress: bool | Callable[[int, int, int], None] = False,
) -> Dataset:
    """Sample a model over ranges of its commands.

    Finished samples go to a journal beside the file at once. Killed at any moment, the same call goes on
    where it was: nothing finished is lost or computed again. When all are done the journal becomes the
    file. Failed samples are kept, with their reason. The rows do not depend on the number of workers.

    Args:
        source: a model, or a function without arguments that makes one (it runs in every worker).
        ranges: (low, high) per actuator, by name or in order; the actuators' limits if None.
        path: the HDF5 file to write; if it exists and belongs to the same plan it is read back.
        plan: "grid", "latin", "sobol" or "active" (where an ensemble of networks disagrees most).
        count: number of samples.
        per_axis: values per axis of a grid.
        points: names of the points; all of the robot if None.
        shape: record the positions of the skin's vertices too.
        jacobian: "exact" (from the equilibrium), "differences" (eq. 3 of the paper: range / (10 N)) or
            "none".
        start: "rest" solves every sample by itself; "neighbour" follows the plan in chunks of 16, each
            sample from the last one, moved along its exact Jacobian (two to three times quicker; a chunk is
            recorded when it is complete).
        workers: processes; the number of cores if None, 0 for this process.
        scheduler: address of a Dask scheduler, instead of processes of this machine.
        device: "cuda" (or another device of torch) solves many samples at once there, for models that can
            (`GeometricModel` of a robot with chambers). Rows agree with those of the processes to 1e-9 of the
            robot's size (Jacobians to 1e-6 of their largest entry); a journal begun with one goes on with the other.
        seed: of the plan.
        progress: print a line with rate and time left, or call a function with (done, failed, total).
    """
    if plan not in PLANS:
        raise ArgumentError("plan", f"{plan!r}", ", ".join(PLANS))
    if start not in _CHUNK or jacobian not in ("exact", "differences", "none"):
        raise ArgumentError("start", f"{start!r}, jacobian {jacobian!r}", "see the docstring")
    if workers is not None:
        workers = checks.count("workers", workers, 0)
    seed = checks.count("seed", seed, 0)
    if device is not None and (scheduler or start != "rest" or jacobian == "differences"):
        raise ArgumentError("device", "with a scheduler, start='neighbour' or differences", "each sample by itself")
    factory = source if _is_factory(source) else partial(_same, source)
    model = source if not _is_factory(source) else source()
    limits = _ranges(model, ranges)
    names = tuple(points) if points is not None else _point_names(model)
    model.locate(model.rest, list(names))  # an unknown name is met here
    total, u = _commands(plan, limits, count, per_axis, seed)  # before the journal: a refused plan leaves none
    axis = per_axis or max(round(total ** (1.0 / len(limits))), 2)
    question = Question(
        names,
        model.nu,
        model.skin.size if shape else 0,
        jacobian,
        tuple(float(s) for s in np.ptp(limits, axis=1) / (10.0 * axis)),
        start,
    )
    header = {
        "robot": model.robot.name,
        "actuators": list(model.robot.actuator_names),
        "ranges": limits.tolist(),
        "plan": plan,
        "count": total,
        "per_axis": per_axis,
        "points": list(names),
        "vertices": question.vertices,
        "jacobian": jacobian,
        "start": start,
        "seed": seed,
        "model": _describe(model),
    }
    path = Path(path)
    if path.is_file():
        return _existing(path, header)
    path.parent.mkdir(parents=True, exist_ok=True)
    journal = Journal(path.with_name(path.name + ".journal"), question.dtype, header)
    begin = time.perf_counter()
    kept = len(journal.records)
    report = Progress(total, kept, _failed(journal.records), progress)
    place = Place(workers, scheduler, device)
    run = partial(_run, factory, question, journal, place, report)
    try:
        if u is None:
            from pliant.learn.active import active_rows

            rows = active_rows(limits, total, seed, run, question)
        else:
            rows = run(u, 0)
    finally:
        report.close()
        journal.sync()
    facts = header | _provenance(time.perf_counter() - begin, kept) | {"device": device or "cpu"}
    dataset = _dataset(model, limits, question, rows, facts)
    dataset.save(path)
    journal.remove()
    return dataset


@dataclass(frozen=True)
class Place:
    """Where samples are computed: processes of this machine, a Dask cluster, or a device of torch."""

    workers: int | None = None
    scheduler: str | None = None
    device: str | None = None

    def chunk(self, start: str) -> int:
        """Samples that are computed, and recorded, together."""
        return DEVICE_CHUNK if self.device else _CHUNK[start]


def _run(
    factory: Any, question: Question, journal: Journal, place: Place, report: Progress, u: Array, first: int
) -> Array:
    """Records of the rows u, numbered from `first`: those of the journal, and the rest computed now."""
    index = np.arange(first, first + len(u))
    known = {int(r["index"]): r for r in journal.records if first <= r["index"] < first + len(u)}
    for i, r in known.items():
        if not np.array_equal(r["u"], u[i - first]):
            raise ArgumentError("path", "the journal holds other commands for this plan", "delete it and start again")
    size = place.chunk(question.start)
    chunks: list[pools.Chunk] = []
    for a in range(0, len(u), size):
        block = index[a : a + size]
        if not all(int(i) in known for i in block):
            chunks.append(([int(i) for i in block], u[a : a + size]))
    fresh: list[Array] = []
    for records in _compute(factory, question, chunks, place):
        records = records[[int(r["index"]) not in known for r in records]]
        journal.append(records)
        fresh.append(records)
        report.add(len(records), _failed(records))
    rows = np.concatenate([np.array(list(known.values()), question.dtype), *fresh])
    journal.records = np.concatenate([journal.records, *fresh]) if fresh else journal.records
    return rows[np.argsort(rows["index"], kind="stable")]


def _compute(factory: Any, question: Question, chunks: list[pools.Chunk], place: Place) -> Iterator[Array]:
    if not chunks:
        return iter(())
    if place.device:
        return run_device(factory, question, chunks, place.device)
    if place.scheduler:
        return pools.run_dask(factory, question, chunks, place.scheduler)
    count = os.cpu_count() or 1 if place.workers is None else place.workers
    if count == 0:
        return pools.run_here(factory, question, chunks)
    return pools.run_processes(factory, question, chunks, min(count, len(chunks)))


def _dataset(model: Any, limits: Array, question: Question, rows: Array, facts: dict[str, Any]) -> Dataset:
    robot = model.robot
    skin = {}
    if question.vertices:
        s = model.skin
        skin = {"triangles": s.triangles, "segments": s.segments, "radius": s.radius}
    return Dataset(
        robot=robot.name,
        actuators=tuple({"name": a.name, "drive": a.drive, "unit": a.unit} for a in robot.actuators),
        ranges=limits,
        points=question.points,
        **{f: np.array(rows[f], float) for f in ("u", "position", "rotation", "jacobian", "elapsed")},
        status=tuple(STATUSES[c] for c in rows["status"]),
        reason=tuple(bytes(r).decode(errors="replace") for r in rows["reason"]),
        shape=np.array(rows["shape"], float) if question.vertices else None,
        skin=skin,
        facts=facts,
    )


def _existing(path: Path, header: dict[str, Any]) -> Dataset:
    dataset = Dataset.load(path)
    different = [k for k, v in header.items() if dataset.facts.get(k) != v]
    if different:
        raise ArgumentError("path", f"{path} holds another dataset ({', '.join(different)} differ)", "another path")
    return dataset


def _ranges(model: Any, ranges: Any) -> Array:
    if ranges is None:
        ranges = [a.limits for a in model.robot.actuators]
    return check_ranges(model.robot, ranges)


def _point_names(model: Any) -> tuple[str, ...]:
    names = getattr(model, "point_names", None) or tuple(p.name for p in model.robot.points)
    if "tip" in names:  # a rod offers its tip under two names
        names = tuple(n for n in names if not n.endswith(".tip"))
    if not names:
        raise ArgumentError("points", "the robot has no named points", "names of points")
    return tuple(names)


def _commands(
    plan: str, limits: Array, count: int | None, per_axis: int | None, seed: int
) -> tuple[int, Array | None]:
    """Number of samples and their commands (n, m); None for those of the active plan, which come on the way."""
    if plan == "active":
        return row_count(len(limits), count=count, per_axis=per_axis), None
    u = make_plan(plan, limits, count=count, per_axis=per_axis, seed=seed)
    return len(u), u


def _failed(records: Array) -> int:
    """How many records cannot be learned from, as `Dataset.failed` counts them."""
    good = np.array([s.ok for s in STATUSES])[records["status"]]
    return int((~(good & np.isfinite(records["position"]).all(axis=(1, 2)))).sum())


def _is_factory(source: Any) -> bool:
    return isinstance(source, type) or (callable(source) and not hasattr(source, "locate"))


def _same(model: Any) -> Any:
    return model


def _describe(model: Any) -> str:
    text = repr(model)
    return text if " at 0x" not in text else type(model).__name__


def _provenance(elapsed: float, kept: int) -> dict[str, Any]:
    from pliant import __version__

    return {
        "pliant": __version__,
        "numpy": np.__version__,
        "python": platform.python_version(),
        "machine": platform.machine(),
        "made": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "seconds": elapsed,
        "resumed_with": kept,
    }
