"""fit: from samples to a learned model."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pliant import checks
from pliant.errors import ArgumentError
from pliant.learn.dataset import Dataset
from pliant.learn.levenberg import Fit, levenberg
from pliant.models.learned import Knowledge, LearnedModel, Shape
from pliant.models.network import Network

Array = np.ndarray
Trainer = Literal["levenberg", "adam", "lbfgs"]
TRAINERS = ("levenberg", "adam", "lbfgs")
HEAD_START = 6000  # equations of the first stage of Levenberg-Marquardt on a CPU, where there are many more
KEPT_SAMPLES = 4096  # inputs kept in the model, to know where it was learned


@dataclass(frozen=True, eq=False)
class Scaling:
    """To and from [-1, 1]; a column that never changes has half 0."""

    mid: Array
    half: Array

    @classmethod
    def of(cls, values: Array, *, inputs: bool = False) -> Scaling:
        """From the extremes of the rows."""
        low, high = values.min(axis=0), values.max(axis=0)
        half = 0.5 * (high - low)
        still = half <= 1e-9 * max(float(half.max(initial=0.0)), 1e-300)
        return cls(0.5 * (low + high), np.where(still, 1.0 if inputs else 0.0, half))

    def scale(self, values: Array) -> Array:
        """Into [-1, 1] (columns that never change become 0)."""
        return (values - self.mid) * np.where(self.half > 0, 1.0 / np.where(self.half > 0, self.half, 1.0), 0.0)


def fit(
    dataset: Dataset,
    *,
    hidden: Sequence[int] = (35, 35),
    slopes: bool = True,
    slope_weight: float = 0.3,
    jacobian_network: Sequence[int] | None = None,
    frames: bool = False,
    shape_modes: int = 0,
    trainer: Trainer = "levenberg",
    members: int = 1,
    share: float = 0.7,
    seed: int = 0,
    iterations: int | None = None,
    time_limit: float = np.inf,
    device: str | None = None,
    base: Sequence[float] = (0.0, 0.0, 0.0),
    report: Callable[[str, int, float, float], None] | None = None,
) -> LearnedModel:
    """Learn the kinematics of a robot from samples.

    A share of the good rows trains, a tenth decides when to stop, the rest tests; the test errors are in
    `model.facts`.

    Args:
        dataset: samples.
        hidden: neurons per hidden layer (2 x 35 as in the paper).
        slopes: train on the exact Jacobians too (needs about four times fewer samples).
        slope_weight: weight of the derivative rows against the value rows, in scaled units.
        jacobian_network: hidden layers of a separate network for the Jacobian (the paper's way), or None.
        frames: learn orientations too.
        shape_modes: number of modes of the whole shape, 0 for none (needs a dataset with shapes). Too many cost time,
            not accuracy; ten are enough for an arm.
        trainer: "levenberg" (no torch needed), "adam" or "lbfgs" (torch, on a GPU if there is one).
        members: networks in the ensemble; more than one tells how sure it is.
        share: of the rows that trains.
        seed: of the split and the starting parameters.
        iterations: steps of the trainer; its own default if None.
        time_limit: wall-clock time per network [s].
        device: torch device, e.g. "cuda"; if None torch chooses, and Levenberg-Marquardt runs compiled on the CPU.
        base: where the robot is held [m].
        report: called with (network, iteration, training rms, validation rms), scaled units.
    """
    checks.instance("dataset", dataset, Dataset)
    if trainer not in TRAINERS:
        raise ArgumentError("trainer", f"{trainer!r}", ", ".join(TRAINERS))
    layers = tuple(int(h) for h in hidden)
    if not layers or min(layers) < 1 or members < 1:
        raise ArgumentError("hidden", f"{tuple(hidden)}, members {members}", "positive numbers")
    if slopes and not dataset.has_slopes and not np.isfinite(dataset.jacobian[dataset.ok][:, :, 3:]).all():
        slopes = False
    begin = time.perf_counter()
    train, check, test = _three(dataset, share, seed)
    work = _Work(train, check, trainer, seed, iterations, time_limit, device, report)
    y, dy = outputs_of(dataset, frames, slopes)
    kinematics, fits = work.network(layers, y, dy, slope_weight, members, "kinematics")
    networks = ["kinematics"] if members == 1 else [f"kinematics {k + 1}" for k in range(members)]
    own = None
    if jacobian_network is not None:
        if not np.isfinite(dataset.jacobian[dataset.ok][:, :, 3:]).all():
            raise ArgumentError("jacobian_network", "the samples have no Jacobians", "samples with Jacobians")
        flat = dataset.jacobian[:, :, 3:].reshape(len(dataset), -1)
        own, more = work.network(tuple(jacobian_network), lambda rows: flat[rows], None, 0.0, 1, "jacobian")
        fits += more
        networks.append("Jacobian")
    shape = _shape(dataset, shape_modes, layers, work) if shape_modes else None
    facts: dict[str, Any] = {
        "width": dataset.width,
        "samples": len(train),
        "slopes": bool(slopes),
        "trainer": trainer,
        "seed": seed,
        "hidden": list(layers),
        "members": members,
        "seconds": 0.0,
        "history": [[[float(v) for v in row] for row in f.history[:: max(1, len(f.history) // 200)]] for f in fits],
        "networks": networks,
        "stopped": [f.reason for f in fits],
        "failed_samples": dataset.failed,
        "source": _plain(dataset.facts),
    }
    u = dataset.u[train.rows]
    keep = np.random.default_rng(seed).permutation(len(u))[:KEPT_SAMPLES]
    rest = kinematics(np.clip(np.zeros(len(dataset.ranges)), *dataset.ranges.T))[: 3 * len(dataset.points)]
    knowledge = Knowledge(
        robot=dataset.robot,
        actuators=dataset.actuators,
        ranges=dataset.ranges,
        points=dataset.points,
        kinematics=kinematics,
        frames=frames,
        rest=rest.reshape(-1, 3),
        base=np.asarray(base, float),
        samples=u[np.sort(keep)],
        jacobian=own,
        shape=shape,
        facts=facts,
    )
    model = LearnedModel(knowledge)
    facts["test"] = errors(model, dataset.select(test))
    facts["seconds"] = time.perf_counter() - begin
    return model.but(facts=facts)


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows of the dataset with their commands."""

    rows: Array
    u: Array

    def __len__(self) -> int:
        return len(self.rows)


@dataclass(frozen=True, eq=False)
class _Work:
    """What the trainings of one model share."""

    train: _Part
    check: _Part
    trainer: str
    seed: int
    iterations: int | None
    time_limit: float
    device: str | None
    report: Callable[[str, int, float, float], None] | None

    def network(
        self,
        hidden: tuple[int, ...],
        y: Callable[[Array], Array],
        dy: Callable[[Array], Array] | None,
        weight: float,
        members: int,
        name: str,
        *,
        one_unit: bool = False,
    ) -> tuple[Network, list[Fit]]:
        """Train an ensemble on y(rows) and, if given, its derivatives dy(rows).

        With `one_unit` all outputs are scaled alike, so that an error counts the same in each of them.
        """
        inputs = Scaling.of(self.train.u, inputs=True)
        values = y(self.train.rows)
        outputs = Scaling.of(values)
        if one_unit:
            outputs = Scaling(outputs.mid, np.where(outputs.half > 0, outputs.half.max(), 0.0))
        sizes = (self.train.u.shape[1], *hidden, values.shape[1])
        moving = outputs.half > 0
        slopes, weights = None, 1.0
        if dy is not None:
            factor = inputs.half[None, :] * np.where(moving, 1.0 / np.where(moving, outputs.half, 1.0), 0.0)[:, None]
            slopes, weights = dy(self.train.rows) * factor, weight
        x, target = inputs.scale(self.train.u), outputs.scale(values)
        hold_out = (inputs.scale(self.check.u), outputs.scale(y(self.check.rows)))
        fits = []
        for member in range(members):
            told = None if self.report is None else _named(self.report, f"{name} {member + 1}")
            common: dict[str, Any] = {
                "slopes": slopes,
                "slope_weight": weights,
                "hold_out": hold_out,
                "seed": self.seed + 1000 * member,
                "time_limit": self.time_limit,
                "report": told,
            }
            if self.iterations is not None:
                common["iterations"] = self.iterations
            if self.trainer == "levenberg":
                if self.device is None:
                    common["theta"] = self._head_start(sizes, x, target, common)
                fits.append(levenberg(sizes, x, target, device=self.device, **common))
            else:
                from pliant.learn.torch_training import train_torch

                fits.append(train_torch(sizes, x, target, method=self.trainer, device=self.device, **common))
        theta = np.array([f.theta for f in fits])
        return Network(sizes, theta, inputs.mid, inputs.half, outputs.mid, outputs.half), fits

    def _head_start(self, sizes: tuple[int, ...], x: Array, target: Array, common: dict[str, Any]) -> Array | None:
        """Parameters to start from, and fewer iterations in `common`, where there are many rows.

        A step of Levenberg-Marquardt costs as much as there are rows, and the first hundred steps do not need them all:
        a random part of the rows does these, all of them the last tenth.
        """
        per_row = target.shape[1] * (1 if common["slopes"] is None else 1 + x.shape[1])
        rows = HEAD_START // per_row
        if len(x) < 3 * rows:
            return None
        part = np.sort(np.random.default_rng(common["seed"]).permutation(len(x))[:rows])
        slopes = None if common["slopes"] is None else common["slopes"][part]
        first = levenberg(sizes, x[part], target[part], **(common | {"slopes": slopes}))
        common["iterations"] = max(common.get("iterations", 100) // 10, 5)
        return first.theta


def outputs_of(
    dataset: Dataset, frames: bool, slopes: bool
) -> tuple[Callable[[Array], Array], Callable[[Array], Array] | None]:
    """Functions of rows: outputs (k, n) and their derivatives (k, n, m)."""

    def values(rows: Array) -> Array:
        out = [dataset.position[rows].reshape(len(rows), -1)]
        if frames:
            axes = dataset.rotation[rows][..., :2]  # two columns per frame
            out.append(np.swapaxes(axes, -1, -2).reshape(len(rows), -1))
        return np.concatenate(out, axis=1)

    def derivatives(rows: Array) -> Array:
        J = dataset.jacobian[rows]
        k, p, _, m = J.shape
        out = [J[:, :, 3:].reshape(k, 3 * p, m)]
        if frames:
            columns = np.swapaxes(dataset.rotation[rows][..., :2], -1, -2)  # (k, p, 2, 3)
            turned = np.cross(np.swapaxes(J[:, :, :3], -1, -2)[:, :, None], columns[:, :, :, None])  # (k, p, 2, m, 3)
            out.append(np.swapaxes(turned, -1, -2).reshape(k, 6 * p, m))
        return np.concatenate(out, axis=1)

    return values, derivatives if slopes else None


def errors(model: LearnedModel, test: Dataset) -> dict[str, Any]:
    """Errors of a model on the samples of `test`: of every point [m], relative to the workspace, of the Jacobian."""
    ok = test.ok
    u, width = test.u[ok], model.width
    out: dict[str, Any] = {"samples": int(ok.sum()), "width": width}
    for i, name in enumerate(test.points):
        p, J = model.position(u, name, derivative=True)
        distance = np.linalg.norm(p - test.position[ok, i], axis=1)
        out[name] = {
            "mean": float(distance.mean()),
            "p95": float(np.quantile(distance, 0.95)),
            "max": float(distance.max()),
            "mean_share": float(distance.mean() / width),
            "max_share": float(distance.max() / width),
        }
        known = test.jacobian[ok, i, 3:]
        if np.isfinite(known).all() and J is not None:
            size = np.linalg.norm(known, axis=(1, 2))
            out[name]["slope_error"] = float(np.mean(np.linalg.norm(J - known, axis=(1, 2)) / size))
            net = model.knowledge.jacobian
            if net is not None:
                own = net(u).reshape(len(u), len(test.points), 3, -1)[:, i]
                out[name]["own_slope_error"] = float(np.mean(np.linalg.norm(own - known, axis=(1, 2)) / size))
    if model.knowledge.shape is not None and test.shape is not None:
        x = np.array([model.skin_positions(model.scale * row) for row in u])
        distance = np.linalg.norm(x - test.shape[ok], axis=2)
        out["shape"] = {
            "mean": float(distance.mean()),
            "max": float(distance.max()),
            "mean_share": float(distance.mean() / width),
            "max_share": float(distance.max() / width),
        }
    return out


def _three(dataset: Dataset, share: float, seed: int) -> tuple[_Part, _Part, Array]:
    """Rows for training, for stopping and for testing."""
    if not 0.0 < share < 1.0:
        raise ArgumentError("share", f"{share}", "between 0 and 1")
    rows = np.random.default_rng(seed).permutation(np.flatnonzero(dataset.ok))
    if len(rows) < 8:
        raise ArgumentError("dataset", f"{len(rows)} good rows", "at least 8")
    cut = round(share * len(rows))
    stop = cut + max((len(rows) - cut) // 3, 1)
    parts = [np.sort(rows[:cut]), np.sort(rows[cut:stop]), np.sort(rows[stop:])]
    if min(map(len, parts)) == 0:
        raise ArgumentError("share", f"{share}", f"a share that leaves rows to test, of {len(rows)}")
    return _Part(parts[0], dataset.u[parts[0]]), _Part(parts[1], dataset.u[parts[1]]), parts[2]


def _shape(dataset: Dataset, modes: int, hidden: tuple[int, ...], work: _Work) -> Shape:
    """A linear basis of the whole shape, and the network that drives it."""
    if dataset.shape is None:
        raise ArgumentError("shape_modes", "the samples have no shapes", "samples taken with shape=True")
    flat = dataset.shape.reshape(len(dataset), -1)
    mean = flat[work.train.rows].mean(axis=0)
    _, s, Vt = np.linalg.svd(flat[work.train.rows] - mean, full_matrices=False)
    modes = min(modes, int((s > 1e-9 * s[0]).sum()))
    basis = Vt[:modes]
    # Scaled to [-1, 1] each, the faintest modes would count as much as the strongest and spoil them.
    network, _ = work.network(hidden, lambda rows: (flat[rows] - mean) @ basis.T, None, 0.0, 1, "shape", one_unit=True)
    skin = dataset.skin
    return Shape(
        mean.reshape(-1, 3),
        basis.reshape(modes, -1, 3),
        network,
        np.asarray(skin["triangles"]),
        np.asarray(skin["segments"]),
        np.asarray(skin["radius"], float),
    )


def _named(report: Callable[[str, int, float, float], None], name: str) -> Callable[[int, float, float], None]:
    return lambda k, a, b: report(name, k, a, b)


def _plain(facts: Any) -> dict[str, Any]:
    return {k: v for k, v in dict(facts).items() if isinstance(v, str | int | float | bool | list)}
