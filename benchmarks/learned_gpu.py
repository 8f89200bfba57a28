"""Training at the sizes of the paper on a GPU: kinematics error, with and without exact Jacobians.

    python benchmarks/learned_gpu.py --export out/learned_gpu.npz         # here: samples both robots
    PYTHONPATH=src python3 benchmarks/learned_gpu.py --run out/learned_gpu.npz --out result.json   # on the GPU machine

Needs numpy and torch only for the run. Arm: 16^3 samples, 2 x 35 neurons; finger manipulator: 29^3 samples, 3 x 30
neurons (learned-ik 4.3, A2). Beside each: a quarter of the samples, with exact Jacobians. Errors are on
5000 (finger) and 1000 (arm) Latin-hypercube samples that are in neither set.
"""

from __future__ import annotations

import argparse
import json
import time
from pathlib import Path

import numpy as np

CASES = {
    "arm 16^3, values": ("arm_grid", (35, 35), False),
    "arm 4x fewer, Jacobians": ("arm_few", (35, 35), True),
    "finger 29^3, values": ("finger_grid", (30, 30, 30), False),
    "finger 4x fewer, Jacobians": ("finger_few", (30, 30, 30), True),
}


def export(path: Path) -> None:
    """Sample both robots."""
    from pliant.learn import FingerManipulator, chamber_arm, sample

    arrays, folder = {}, path.parent
    plans = {
        "arm_grid": (chamber_arm, {"per_axis": 16}),
        "arm_few": (chamber_arm, {"plan": "sobol", "count": 1024}),
        "arm_test": (chamber_arm, {"plan": "latin", "count": 1000, "seed": 5}),
        "finger_grid": (FingerManipulator, {"per_axis": 29}),
        "finger_few": (FingerManipulator, {"plan": "sobol", "count": 6097}),
        "finger_test": (FingerManipulator, {"plan": "latin", "count": 5000, "seed": 5}),
    }
    for name, (make, plan) in plans.items():
        data = sample(make, path=folder / f"bench_{name}.h5", workers=2, start="neighbour", **plan)
        print(f"{name}: {len(data)} samples, {data.failed} failed, {data.facts['seconds']:.1f} s on two workers")
        arrays |= {f"{name}/u": data.u, f"{name}/p": data.position[:, 0], f"{name}/J": data.jacobian[:, 0, 3:]}
        arrays[f"{name}/seconds"] = np.array(data.facts["seconds"])
    np.savez_compressed(path, **arrays)


def run(path: Path, out: Path, device: str, iterations: int, budget: float) -> None:
    """Train all cases and print their errors."""
    import torch

    from pliant.learn.levenberg import levenberg
    from pliant.learn.torch_training import network

    with np.load(path) as f:
        data = {k: f[k] for k in f.files}
    results = {}
    for name, (source, hidden, slopes) in CASES.items():
        robot = source.split("_")[0]
        u, p, J = (data[f"{source}/{k}"] for k in "upJ")
        order = np.random.default_rng(0).permutation(len(u))
        cut = round(0.7 * len(u)) if not slopes else round(0.9 * len(u))
        train, check = order[:cut], order[cut:]
        x_mid, x_half = 0.5 * (u.max(0) + u.min(0)), 0.5 * np.ptp(u, axis=0)
        moving = np.ptp(p, axis=0) > 1e-9
        p, J, n = p[:, moving], J[:, moving], int(moving.sum())
        y_mid, y_half = 0.5 * (p.max(0) + p.min(0)), 0.5 * np.ptp(p, axis=0)
        x, y = (u - x_mid) / x_half, (p - y_mid) / y_half
        dy = J * x_half[None, None] / y_half[None, :, None]
        sizes = (3, *hidden, n)
        begin = time.perf_counter()
        found = levenberg(
            sizes,
            x[train],
            y[train],
            slopes=dy[train] if slopes else None,
            slope_weight=0.3,
            hold_out=(x[check], y[check]),
            iterations=iterations,
            time_limit=budget,
            device=device,
            patience=40,
            tolerance=1e-7,
        )
        seconds = time.perf_counter() - begin
        ut, pt = data[f"{robot}_test/u"], data[f"{robot}_test/p"][:, moving]
        xt = torch.tensor((ut - x_mid) / x_half, device=device)
        got, _ = network(torch, torch.tensor(found.theta, device=device), sizes, xt, False)
        e = np.linalg.norm(got.cpu().numpy() * y_half + y_mid - pt, axis=1)
        width = float(np.ptp(data[f"{robot}_grid/p"], axis=0).max())
        results[name] = {
            "training samples": int(cut),
            "neurons": "x".join(map(str, hidden)),
            "mean %": 100 * float(e.mean()) / width,
            "max %": 100 * float(e.max()) / width,
            "iterations": found.iterations,
            "seconds": seconds,
            "stopped": found.reason,
            "theta": found.theta.tolist(),
            "x_mid": x_mid.tolist(),
            "x_half": x_half.tolist(),
            "y_mid": y_mid.tolist(),
            "y_half": y_half.tolist(),
            "sizes": list(sizes),
        }
        shown = {
            k: v for k, v in results[name].items() if k not in ("theta", "x_mid", "x_half", "y_mid", "y_half", "sizes")
        }
        print(name, shown, flush=True)
        out.write_text(json.dumps(results))
    if device == "cuda":
        print(torch.cuda.get_device_name())


def main() -> None:
    """Export or run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--export", type=Path)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--out", type=Path, default=Path("out/learned_gpu.json"))
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--iterations", type=int, default=400)
    parser.add_argument("--budget", type=float, default=100.0, help="seconds per case")
    args = parser.parse_args()
    if args.export:
        args.export.parent.mkdir(parents=True, exist_ok=True)
        export(args.export)
    if args.run:
        run(args.run, args.out, args.device, args.iterations, args.budget)


if __name__ == "__main__":
    main()
