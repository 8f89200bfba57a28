"""Samples of the three-chamber arm (geometric model, 9.5k tets) with exact Jacobians: one GPU against CPU processes.

    PYTHONPATH=src python3 benchmarks/sampling_gpu.py --out out/sampling_gpu --device cuda --per-axis 16 --cpu 64

Writes the dataset and a JSON of what was measured: seconds of the batch, seconds of `cpu` samples in two processes,
and how far the rows are apart.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from pathlib import Path

import numpy as np

PRESSURE = 200e3


def make():
    """The arm with its default mesh."""
    from pliant.models.geometric import GeometricModel
    from pliant.robots.three_chamber_arm import three_chamber_arm

    return GeometricModel(three_chamber_arm())


def main() -> None:
    """Sample on the device, then some of the same rows in processes."""
    from pliant.learn import sample

    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--per-axis", type=int, default=16)
    parser.add_argument("--cpu", type=int, default=64, help="samples of the CPU run")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--start", default="neighbour")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    ranges = [(0.0, PRESSURE)] * 3
    model = make()
    facts: dict[str, object] = {"model": repr(model), "tets": len(model.layout.groups[0].cells)}
    warm = time.perf_counter()  # compilation of both sides, not part of the measurement
    sample(make, ranges, path=args.out / "warm.h5", plan="latin", count=8, device=args.device)
    sample(make, ranges, path=args.out / "warm_cpu.h5", plan="latin", count=2, workers=0)
    facts["warm_up"] = time.perf_counter() - warm
    begin = time.perf_counter()
    data = sample(make, ranges, path=args.out / "arm.h5", per_axis=args.per_axis, device=args.device, progress=True)
    facts |= {"samples": len(data), "failed": data.failed, "gpu_seconds": time.perf_counter() - begin,
              "gpu_seconds_per_sample": float(data.elapsed.mean())}  # fmt: skip
    print(facts, flush=True)
    if args.cpu:
        ask = {"per_axis": args.per_axis} if args.cpu >= len(data) else {"plan": "sobol", "count": args.cpu}
        begin = time.perf_counter()
        rows = sample(make, ranges, path=args.out / "cpu.h5", workers=args.workers, start=args.start, **ask)
        seconds = time.perf_counter() - begin
        same = sample(make, ranges, path=args.out / "same.h5", device=args.device, **ask)
        scale = np.abs(rows.jacobian).max(axis=(0, 3), keepdims=True)
        facts |= {
            "cpu_samples": len(rows), "cpu_failed": rows.failed, "cpu_workers": args.workers, "cpu_start": args.start,
            "cpu_seconds": seconds, "cpu_seconds_per_sample": float(np.median(rows.elapsed)),
            "cores": os.cpu_count(),
            "position_difference_m": float(np.nanmax(np.abs(rows.position - same.position))),
            "position_difference_99_m": float(np.nanquantile(np.abs(rows.position - same.position).max((1, 2)), 0.99)),
            "jacobian_difference": float(np.nanmax(np.abs(rows.jacobian - same.jacobian) / scale)),
        }  # fmt: skip
    if args.device.startswith("cuda"):
        import torch

        facts |= {"gpu": torch.cuda.get_device_name(), "gpu_peak_bytes": torch.cuda.max_memory_allocated()}
    (args.out / "facts.json").write_text(json.dumps(facts, indent=1))
    print(json.dumps(facts, indent=1))


if __name__ == "__main__":
    main()
