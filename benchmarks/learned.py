"""Learned inverse and transfer: time per waypoint, errors, measurements needed, against the published figures.

    OMP_NUM_THREADS=1 python benchmarks/learned.py                 # all parts
    OMP_NUM_THREADS=1 python benchmarks/learned.py --only methods  # one part; the others as they were measured last

All robots are virtual; published figures are of the paper (i7-9750H, C++). Times are the best of several runs on this
machine. The simulator in the loop runs on the same path in the same process. Writes docs/benchmarks/learned.md.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import time
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

from pliant.learn import (
    ConstantCurvatureArm,
    Dataset,
    FingerManipulator,
    chamber_arm,
    eight,
    errors,
    finger_specimen,
    fit,
    follow_path,
    make_plan,
    record,
    sample,
    specimen,
    transfer,
)
from pliant.learn.comparison import compare_methods, execute, table
from pliant.learn.paths import arm_box, arm_flower
from pliant.models.learned import LearnedModel

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT / "out"
ARM = DATA / "bench_learned_arm.pliant"


def best(model: Any, targets: np.ndarray, repeats: int = 30, **options: Any) -> Any:
    """The quickest of several runs."""
    runs = [follow_path(model, targets, flag=False, **options) for _ in range(repeats)]
    return min(runs, key=lambda w: w.elapsed)


def share(e: np.ndarray, width: float) -> str:
    """Mean and largest error in per cent of the workspace."""
    return f"{100 * e.mean() / width:.3f} % / {100 * e.max() / width:.3f} %"


def arm_rows(rows: list[list[str]]) -> tuple[Any, Any]:
    """The three-chamber arm: kinematics and inverse, simulated and on the specimen."""
    data = sample(
        chamber_arm, path=DATA / "bench_learned_arm.h5", plan="sobol", count=1024, workers=2, start="neighbour"
    )
    rate = len(data) / data.facts["seconds"]
    rows.append(["4096 samples with Jacobians, rod arm, two workers", "4.9 h", f"{4096 / rate:.0f} s"])
    begin = time.perf_counter()
    arm = fit(data, hidden=(35, 35), iterations=12, jacobian_network=(35, 35))
    test = arm.facts["test"]["tip"]
    rows.append(
        [
            f"arm kinematics, 2x35, {arm.facts['samples']} samples with Jacobians "
            f"({time.perf_counter() - begin:.0f} s)",
            "0.34 % max (2867 samples)",
            f"{100 * test['max_share']:.4f} % max",
        ]
    )
    start, targets = arm.ranges.mean(axis=1), arm_flower()
    for method, text in (("gauss-newton", "bounded Gauss-Newton"), ("gradient", "the paper's iteration")):
        w = best(arm, targets, start=start, method=method)
        rows.append(
            [
                f"inverse, three-chamber, {text}",
                "28 ms",
                f"{1e6 * w.time_per_target:.1f} us, {w.iterations.mean():.1f} iterations, {share(w.error, arm.width)}",
            ]
        )
    return arm, data


def transfer_rows(arm: Any, rows: list[list[str]]) -> None:
    """Error on both specimens against the number of measurements."""
    start = arm.ranges.mean(axis=1)
    for number in (1, 2):
        for name, targets in (("flower", arm_flower()), ("box", arm_box())):
            robot = specimen(number)
            bare = follow_path(arm, targets, start=start, flag=False)
            e = 1e3 * np.linalg.norm(execute(robot, bare.u) - targets, axis=1)
            text = [f"no correction: {e.mean():.2f} / {e.max():.2f} mm"]
            for count in (27, 50, 100, 343):
                data = record(robot, make_plan("sobol", arm.ranges, count=count))
                found = transfer(arm, data, curve=False)
                w = best(found.model, targets, 5, start=start)
                e = 1e3 * np.linalg.norm(execute(robot, w.u) - targets, axis=1)
                text.append(
                    f"{count}: {e.mean():.2f} / {e.max():.2f} mm "
                    f"({found.report.kind}, {1e6 * w.time_per_target:.0f} us)"
                )
            published = "5 to 1.2 mm max (343)" if name == "flower" else "4.5 to 1.0 mm max (343)"
            rows.append([f"{name}, specimen {number}, mean / max by measurements", published, "; ".join(text)])


def finger_rows(rows: list[list[str]]) -> None:
    """The redundant finger manipulator."""
    data = sample(FingerManipulator(), path=DATA / "bench_learned_finger.h5", plan="sobol", count=1500, workers=0)
    begin = time.perf_counter()
    finger = fit(data, hidden=(30, 30), iterations=60, share=0.85)
    test = finger.facts["test"]["tip"]
    rows.append(
        [
            f"finger kinematics, 2x30, {finger.facts['samples']} samples with Jacobians "
            f"({time.perf_counter() - begin:.0f} s)",
            "0.58 % max (17072 samples)",
            f"{100 * test['max_share']:.3f} % max",
        ]
    )
    targets = eight((-0.014, 0.028, 0.0), width=0.012, height=0.016)
    start = np.array([-2.0e5, 1.5e5, 1.0e5])
    for method in ("gauss-newton", "gradient"):
        w = best(finger, targets, start=start, axes="xy", method=method)
        rows.append(
            [
                f"inverse, finger eight, {method}, learned world",
                "39 ms, 0.08 % / 0.18 %",
                f"{1e6 * w.time_per_target:.1f} us, {share(w.error, finger.width)}",
            ]
        )
    robot = finger_specimen()
    real = transfer(finger, record(robot, make_plan("sobol", finger.ranges, count=150)), curve=False)
    u = 1e5 * np.random.default_rng(0).uniform(-1.8, 1.8, (60, 3))
    goals = real.model.position(u, "tip")[0]
    w = best(real.model, goals, start=np.full(3, 2e4), axes="xy", restart=True)
    e = np.linalg.norm(execute(robot, w.u) - goals, axis=1)
    met = sum(s.name == "CONVERGED" for s in w.status)
    rows.append(
        [
            f"interactive from zero with transfer ({real.report.kind}, 150 measurements), 60 targets, {met} met",
            "47 ms, under 0.9 %",
            f"{1e6 * w.time_per_target:.0f} us, {share(e, finger.width)}",
        ]
    )


def methods(arm: Any, **options: float) -> str:
    """The four methods of the paper's table, and ours."""
    robot = specimen(1, **options)
    data = record(robot, make_plan("grid", arm.ranges, per_axis=7))
    rows = compare_methods(arm, robot, arm_flower(), data, analytical=ConstantCurvatureArm(), numerical=chamber_arm())
    return table(rows)


def fem_row(rows: list[list[str]]) -> None:
    """Sampling a finite-element arm, measured on a part and extrapolated."""
    from functools import partial

    path = DATA / "bench_learned_fem.h5"
    path.unlink(missing_ok=True)
    data = sample(
        partial(_fem_arm), [(0.0, 60e3)] * 3, path=path, plan="grid", per_axis=4, workers=2, start="neighbour"
    )
    each = float(data.elapsed.mean()) / 2
    begin = max(data.facts["seconds"] - len(data) * each, 0.0)  # starting the workers
    rows.append(
        [
            f"4096 samples with Jacobians, FEM arm (2.2k unknowns), two workers, "
            f"extrapolated from {len(data)}, {data.failed} failed",
            "4.9 h plus differences",
            f"{(begin + 4096 * each) / 60:.1f} min",
        ]
    )


def mesh_row(rows: list[list[str]]) -> None:
    """Learning the meshed arm from the samples that `sampling_gpu.py` left as out/gpu_arm.h5, where they are."""
    path = DATA / "gpu_arm.h5"
    if not path.is_file():
        return
    data = Dataset.load(path)
    order = np.random.default_rng(0).permutation(len(data))
    few, rest = data.select(np.sort(order[:797])), data.select(np.sort(order[797:]))
    begin = time.process_time()
    model = fit(few, hidden=(35, 35), share=0.9, iterations=15)
    seconds, e = time.process_time() - begin, errors(model, rest)["tip"]
    rows.append(
        [
            f"meshed arm (geometric model, 9468 tets) kinematics, 2x35, {model.facts['samples']} samples with Jacobians "
            f"({seconds:.0f} s of CPU), tested on {len(rest)} others",
            "0.34 % max (2867 samples)",
            f"{100 * e['mean'] / data.width:.3f} % mean, {100 * e['max'] / data.width:.3f} % max",
        ]
    )


def _fem_arm() -> Any:
    import pliant as pl

    soft = pl.materials.NeoHookean.from_young(0.8e6, 0.45, density=1140.0)
    return pl.FemModel(pl.robots.three_chamber_arm(size=0.011, material=soft))


def _arm() -> list[list[str]]:
    rows: list[list[str]] = []
    arm, _ = arm_rows(rows)
    arm.save(ARM)
    return rows


def _part(function: Any) -> list[list[str]]:
    rows: list[list[str]] = []
    function(rows)
    return rows


#: Parts of the page, each a list of rows (or of one text); the first leaves the model that the others load.
PARTS = {
    "arm": _arm,
    "finger": lambda: _part(finger_rows),
    "transfer": lambda: _part(lambda rows: transfer_rows(LearnedModel.load(ARM), rows)),
    "fem": lambda: _part(fem_row),
    "mesh": lambda: _part(mesh_row),
    "methods": lambda: [[methods(LearnedModel.load(ARM))]],
    "smooth": lambda: [[methods(LearnedModel.load(ARM), hysteresis=0.0)]],
}


def main(only: str | None = None) -> float:
    """Measure all parts, or one; write the page; returns the time per waypoint of the default inverse [us]."""
    DATA.mkdir(exist_ok=True)
    store = DATA / "bench_learned.json"
    found = json.loads(store.read_text()) if only and store.is_file() else {}
    for name in [only] if only else PARTS:
        found[name] = PARTS[name]()
        store.write_text(json.dumps(found))
        print("\n".join(" | ".join(r) for r in found[name]), flush=True)
    missing = [name for name in PARTS if name not in found]
    if missing:
        print(f"not measured yet: {', '.join(missing)}; the page is not written")
        return float("nan")
    rows = [r for name in ("arm", "mesh", "finger", "transfer", "fem") for r in found[name]]
    text, smooth = found["methods"][0][0], found["smooth"][0][0]
    lines = [
        "# Learned inverse and transfer",
        "",
        f"Written by `benchmarks/learned.py`. Python {platform.python_version()}, two shared cores, one thread for the",
        "inverse.",
        "Robots and specimens are virtual; errors are mean / max. Published: learned-ik 5.1 to 5.5.",
        "",
        "| case | published | here |",
        "|---|---|---|",
        *("| " + " | ".join(r) + " |" for r in rows),
        "",
        "## The methods on one path (flower, 120 waypoints, specimen 1, 343 measurements)",
        "",
        "```text",
        text,
        "```",
        "",
        "Published (real arm): analytical 12.6 ms, 8.2 mm; numerical 138 s, 4.7 mm; direct 3.2 ms, 0.97 mm;",
        "the paper 28 ms, 0.78 mm. The simulator here is a rod that solves in milliseconds, so its loop is far",
        "quicker than the published one.",
        "",
        "The learned methods tie because of the hysteresis of the specimen (0.4 % of the range): a map from the present",
        "command cannot know on which side a drive lies. Its play is found in the order of the measurements (`find_play`)",
        "and taken out in the last row. On a specimen without hysteresis the methods separate:",
        "",
        "```text",
        smooth,
        "```",
        "",
        "The paper's iteration stops at 0.1 % of the workspace (0.06 mm), which is what it reaches.",
    ]
    lines += _sampling()
    extra = DATA / "learned_gpu.json"
    if extra.is_file():
        lines += _gpu(extra)
    (ROOT / "docs" / "benchmarks" / "learned.md").write_text("\n".join(lines) + "\n")
    quick = next(r for r in rows if "three-chamber, bounded" in r[0])[2]
    return float(quick.split()[0])


def _sampling() -> list[str]:
    """What `benchmarks/sampling_gpu.py` measured on the GPU machine, where its files are here."""
    full, two = (DATA / "sampling_gpu" / f"{name}.json" for name in ("full", "two"))
    if not (full.is_file() and two.is_file()):
        return []
    g, c = json.loads(full.read_text()), json.loads(two.read_text())
    rate = c["cpu_seconds"] / c["cpu_samples"]
    return [
        "",
        f"## Sampling the meshed arm with exact Jacobians (geometric model, {g['tets']} tets)",
        "",
        "From `benchmarks/sampling_gpu.py`, pressures 0 to 200 kPa, all on one kind of machine (two cores: pinned).",
        "",
        "| samples | where | time | failed |",
        "|---|---|---|---|",
        f"| {g['samples']} (16^3) | one {g['gpu']}, model building included | {g['gpu_seconds']:.1f} s | {g['failed']} |",
        f"| {g['cpu_samples']} (16^3) | {g['cpu_workers']} processes, each from rest | {g['cpu_seconds']:.0f} s "
        f"| {g['cpu_failed']} |",
        f"| {c['cpu_samples']} (6^3) | two cores, from the neighbour along its Jacobian | {c['cpu_seconds']:.0f} s "
        f"| {c['cpu_failed']} |",
        f"| 4096 | two cores, extrapolated from that | {4096 * rate / 60:.1f} min | |",
        "",
        f"All {g['cpu_samples']} rows of GPU and CPU agree to {g['position_difference_m']:.1e} m and "
        f"{g['jacobian_difference']:.1e} of the largest Jacobian entry. Peak GPU memory {g['gpu_peak_bytes'] / 1e9:.1f} GB.",
    ]


def _gpu(path: Path) -> list[str]:
    out = [
        "",
        "## Training at the sizes of the paper on a GPU (NVIDIA H200)",
        "",
        "From `benchmarks/learned_gpu.py`; Levenberg-Marquardt in double precision; errors on samples of neither set.",
        "",
        "| case | training samples | neurons | mean | max | time |",
        "|---|---|---|---|---|---|",
    ]
    for name, r in json.loads(path.read_text()).items():
        out.append(
            f"| {name} | {r['training samples']} | {r['neurons']} | {r['mean %']:.5f} % | {r['max %']:.5f} % "
            f"| {r['seconds']:.0f} s |"
        )
    return out


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", choices=tuple(PARTS))
    main(parser.parse_args().only)
