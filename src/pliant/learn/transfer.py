"""transfer: correct a learned model with measurements of the real robot."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.learn.mappings import KINDS, fit_correction
from pliant.learn.recorder import Measurements
from pliant.models.correction import Correction
from pliant.models.learned import LearnedModel

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class TransferReport:
    """How well the correction works, by cross-validation: every error is of a measurement that was not used.

    Attributes:
        kind: the correction that was chosen.
        before: errors without correction [m]: mean and max.
        errors: kind -> mean, p95 and max of the cross-validated error [m].
        curve: samples -> mean and p95 of the error of the chosen kind, trained on that many.
        enough: number of measurements beyond which the error hardly falls; None if more would still help.
        accepted: whether 95 % of the cross-validated errors are below 1 % of the workspace width.
        width: of the workspace [m].
        samples: number of measurements.
        notes: sentences about anything unusual.
    """

    kind: str
    before: Mapping[str, float]
    errors: Mapping[str, Mapping[str, float]]
    curve: Mapping[int, Mapping[str, float]]
    enough: int | None
    accepted: bool
    width: float
    samples: int
    notes: tuple[str, ...] = field(default_factory=tuple)

    def __str__(self) -> str:
        def mm(x: float) -> str:
            return f"{1e3 * x:.3f} mm ({100 * x / self.width:.2f} %)"

        lines = [
            f"{self.samples} measurements",
            f"  before: mean {mm(self.before['mean'])}, max {mm(self.before['max'])}",
            *(
                f"{'*' if k == self.kind else ' '} {k}: mean {mm(e['mean'])}, 95 % {mm(e['p95'])}, max {mm(e['max'])}"
                for k, e in self.errors.items()
            ),
            *(f"  with {n} measurements: mean {mm(e['mean'])}, 95 % {mm(e['p95'])}" for n, e in self.curve.items()),
            f"enough: {self.enough}" if self.enough else "more measurements would still help",
            *self.notes,
        ]
        return "\n".join(lines)

    def facts(self) -> dict[str, Any]:
        """As plain values."""
        return {
            "kind": self.kind,
            "before": dict(self.before),
            "errors": {k: dict(v) for k, v in self.errors.items()},
            "curve": {str(k): dict(v) for k, v in self.curve.items()},
            "enough": self.enough,
            "accepted": self.accepted,
            "width": self.width,
            "samples": self.samples,
            "notes": list(self.notes),
        }


@dataclass(frozen=True, eq=False)
class Transferred:
    """A corrected model and the report on it."""

    model: LearnedModel
    report: TransferReport


def transfer(
    learned: LearnedModel,
    measurements: Measurements,
    *,
    kind: str = "best",
    kinds: Sequence[str] = KINDS,
    folds: int = 5,
    eta: float = 0.25,
    curve: bool = True,
    seed: int = 0,
) -> Transferred:
    """Correct a learned model so that it says where the real robot is.

    Args:
        learned: a model learned in simulation (an older correction of the same point is replaced).
        measurements: commands and measured positions; with different loads, the load becomes an input.
        kind: "best" (by cross-validation), or one of `KINDS`.
        kinds: which to compare.
        folds: of the cross-validation.
        eta: neurons per sample of the single layer (1/4 in the paper).
        curve: also find out how many measurements are enough.
        seed: of the folds and the starting parameters.
    """
    name = measurements.point
    if name not in learned.point_names:
        raise ArgumentError("measurements", f"their point {name!r} was not learned", ", ".join(learned.point_names))
    if measurements.u.shape[1] != learned.nu:
        raise ArgumentError("measurements", f"{measurements.u.shape[1]} commands", f"{learned.nu}")
    if kind != "best" and kind not in KINDS:
        raise ArgumentError("kind", f"{kind!r}", ", ".join(("best", *KINDS)))
    if not 2 <= folds <= len(measurements):
        raise ArgumentError("folds", f"{folds}", f"2 to {len(measurements)}")
    data = _varying(measurements)
    plain = learned.without_correction()
    y = plain.position(data.u, name)[0]
    compared = list(kinds) if kind == "best" else [kind]
    errors, worst = {}, {}
    for k in compared:
        e = cross_validate(k, y, data, folds=folds, eta=eta, seed=seed)
        errors[k] = summary(e)
        worst[k] = errors[k]["mean"]
    chosen = _simplest(worst)
    correction = fit_correction(chosen, y, data.u, data.load, data.position, eta=eta, seed=seed)
    before = summary(np.linalg.norm(y - data.position, axis=1))
    steps = _curve(chosen, y, data, eta, seed) if curve else {}
    notes = []
    outside = ((data.u < learned.ranges[:, 0] - 1e-9) | (data.u > learned.ranges[:, 1] + 1e-9)).any(axis=1)
    if outside.any():
        notes.append(f"{int(outside.sum())} measurements lie outside of the range that was learned")
    report = TransferReport(
        chosen,
        before,
        errors,
        steps,
        _enough(steps),
        errors[chosen]["p95"] <= 0.01 * learned.width,
        learned.width,
        len(data),
        tuple(notes),
    )
    facts = dict(learned.facts) | {"transfer": report.facts()}
    return Transferred(plain.but(corrections={**learned.knowledge.corrections, name: correction}, facts=facts), report)


def _simplest(worst: Mapping[str, float]) -> str:
    """The quickest kind whose error is within 5 % of the best."""
    best = min(worst.values())
    order = ("affine", "residual", "single-layer", "gaussian-process")
    return next(k for k in order if k in worst and worst[k] <= 1.05 * best)


def cross_validate(
    kind: str, y: Array, data: Measurements, *, folds: int = 5, eta: float = 0.25, seed: int = 0
) -> Array:
    """Errors of measurements that were left out [m] (n,)."""
    order = np.random.default_rng(seed).permutation(len(data))
    out = np.empty(len(data))
    for part in np.array_split(order, folds):
        rest = np.setdiff1d(order, part)
        c = fit_correction(kind, y[rest], data.u[rest], data.load[rest], data.position[rest], eta=eta, seed=seed)
        out[part] = miss(c, y[part], data.select(part))
    return out


def miss(correction: Correction, y: Array, data: Measurements) -> Array:
    """Distances between corrected and measured positions [m] (n,)."""
    load = data.load if data.load.shape[1] else None
    return np.linalg.norm(correction(y, data.u, load) - data.position, axis=1)


def summary(e: Array) -> dict[str, float]:
    """Mean, 95 % quantile and maximum."""
    return {"mean": float(e.mean()), "p95": float(np.quantile(e, 0.95)), "max": float(e.max())}


def _varying(data: Measurements) -> Measurements:
    """Without load columns that never change: nothing can be learned about them."""
    moving = np.ptp(data.load, axis=0) > 0 if len(data) else np.zeros(0, bool)
    return Measurements(data.u, data.position, data.load[:, moving], data.point)


def _curve(kind: str, y: Array, data: Measurements, eta: float, seed: int) -> dict[int, dict[str, float]]:
    """Error on a fifth of the measurements when trained on more and more of the others."""
    order = np.random.default_rng(seed + 1).permutation(len(data))
    test, pool = order[: max(len(data) // 5, 2)], order[max(len(data) // 5, 2) :]
    counts = sorted({int(len(pool) * 2.0**-k) for k in range(6) if len(pool) * 2.0**-k >= 8} | {len(pool)})
    out = {}
    for n in counts:
        rows = pool[:n]
        c = fit_correction(kind, y[rows], data.u[rows], data.load[rows], data.position[rows], eta=eta, seed=seed)
        out[n] = summary(miss(c, y[test], data.select(test)))
    return out


def _enough(curve: Mapping[int, Mapping[str, float]]) -> int | None:
    """The smallest count whose mean error is within 15 % of the last one, unless it is the last."""
    counts = list(curve)
    if len(counts) < 2:
        return None
    last = curve[counts[-1]]["mean"]
    good = [n for n in counts if curve[n]["mean"] <= 1.15 * last]
    return good[0] if good[0] != counts[-1] else None
