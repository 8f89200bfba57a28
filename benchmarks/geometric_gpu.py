"""Batched poses of the three-chamber arm on a GPU: poses per second against batch size.

    python benchmarks/geometric_gpu.py --export out/arm.npz       # here: writes the problem
    python3 benchmarks/geometric_gpu.py --run out/arm.npz         # on the GPU machine: numpy and torch suffice
    python benchmarks/geometric_gpu.py --page LOG                 # here: what --run printed, into the page

The arm has about 10k linear tets, neo-Hookean, gravity, commanded volumes drawn uniformly from 1 to 1.3 of the rest
volume. Every pose starts at rest and ends when its plain local/global step is below 1e-6 of the arm's length; the export
contains the poses that `flex` finds (exact Hessian) for the first 32 commands, and the tip error against them is printed.
"""

from __future__ import annotations

import argparse
import pickle
import re
import sys
import time
from pathlib import Path

import numpy as np

HERE = Path(__file__).resolve().parents[1]


def export(path: Path) -> None:
    """Write the problem as plain arrays."""
    from pliant.actuators import Chamber
    from pliant.models.geometric import GeometricModel
    from pliant.robots.three_chamber_arm import three_chamber_arm
    from pliant.solve.flex import flex
    from pliant.solve.geometric_batch import tables

    robot = three_chamber_arm(size=0.0065)
    robot = robot.but(actuators=tuple(Chamber(name=a.name, drive="displacement") for a in robot.actuators))
    model = GeometricModel(robot)
    U = np.random.default_rng(0).uniform(0.0, 0.3, (4096, 3)) * model.rest_measures
    data = tables(model)
    tips = [model.locate(flex(model, u), "tip").position for u in U[:32]]
    matrix = model.proxy.matrix[data["free"]][:, data["free"]].tocoo()
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("wb") as file:
        pickle.dump({"data": data, "U": U, "tips": np.array(tips), "tip": np.array([0, 0, 0.136]),
                     "matrix": (matrix.row, matrix.col, matrix.data)}, file)  # fmt: skip
    print(f"{len(data['cells'])} tets, {len(data['rest'])} nodes -> {path}")


def run(path: Path, device: str, sizes: list[int], tolerance: float, window: int) -> None:
    """Solve batches of growing size and print poses per second."""
    import torch

    sys.path.insert(0, str(HERE / "src"))  # numpy and torch suffice for these, pliant need not be installed
    from pliant._kernels.geometric_iterate import iterate
    from pliant._kernels.geometric_torch import TorchOps
    from pliant._kernels.geometric_waves import iterate_in_waves

    with path.open("rb") as file:
        problem = pickle.load(file)
    data, U = problem["data"], problem["U"]
    row, col, values = problem["matrix"]
    n = len(data["free"])
    dense = torch.zeros((n, n), dtype=torch.float64, device=device)
    dense[torch.as_tensor(row, device=device).long(), torch.as_tensor(col, device=device).long()] = torch.as_tensor(
        values, device=device
    )
    inverse = torch.linalg.inv(dense)
    ops = TorchOps(data, inverse, device)
    name = torch.cuda.get_device_name(0) if device.startswith("cuda") else device
    print(f"device {name}, fused kernel {ops.kernel is not None}, window {window}, step {tolerance:.0e}, "
          f"{len(data['cells'])} tets, {time.strftime('%Y-%m-%d')}", flush=True)  # fmt: skip
    iterate(ops, data, U[:8], tolerance=1e-3, iterations=20, window=window)  # warm up
    for nb in sizes:
        begin = time.perf_counter()
        out = iterate_in_waves(ops, data, U[:nb], tolerance=tolerance, iterations=2000, window=window)
        if device.startswith("cuda"):
            torch.cuda.synchronize()
        elapsed = time.perf_counter() - begin
        R, p = out["frames"][0]
        origin = data["parts"][0][2]
        tips = p + np.einsum("bij,j->bi", R, problem["tip"] - origin)
        m = min(nb, len(problem["tips"]))
        error = np.linalg.norm(tips[:m] - problem["tips"][:m], axis=1)
        print(f"batch {nb:5d}  {elapsed:7.3f} s  {nb / elapsed:8.1f} poses/s  converged {out['converged'].mean():.3f}  "
              f"iterations median {np.median(out['iterations']):.0f} max {out['iterations'].max()}  "
              f"tip error mean {1e3 * error.mean():.4f} max {1e3 * error.max():.4f} mm", flush=True)  # fmt: skip


ROW = re.compile(
    r"batch +(\d+) +([\d.]+) s +([\d.]+) poses/s +converged ([\d.]+) +iterations median (\d+) max (\d+) +"
    r"tip error mean ([\d.]+) max ([\d.]+) mm"
)


def page(path: Path) -> None:
    """Write the section of the page from what `run` printed."""
    from geometric import ORDER
    from geometric_sections import Section

    out = Section("gpu", "Batches on one GPU: three-chamber arm, neo-Hookean with a stiffness per principal stretch")
    out.lines.pop()  # it was measured elsewhere; the log says where
    out.say("Bar: 500 poses per second, converged. Written from what `benchmarks/geometric_gpu.py --run` printed.\n")
    for line in path.read_text().splitlines():
        found = ROW.match(line)
        if line.startswith("device"):
            out.say(f"\n{line[7:]}:\n")
            out.table("batch", "s", "poses per second", "converged", "iterations, median", "most", "tip error to Newton mm",
                      "largest")  # fmt: skip
        elif found:
            out.row(*found.groups())
    out.write(ORDER)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--export", type=Path)
    parser.add_argument("--run", type=Path)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--sizes", default="1,64,256,1024,4096")
    parser.add_argument("--tolerance", type=float, default=1e-6)
    parser.add_argument("--window", type=int, default=30)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    if args.export:
        export(args.export)
    if args.page:
        page(args.page)
    if args.run:
        run(args.run, args.device, [int(s) for s in args.sizes.split(",")], args.tolerance, args.window)


if __name__ == "__main__":
    main()
