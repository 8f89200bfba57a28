"""Learn a robot's kinematics from samples.

examples:
  pliant train arm.h5 --out arm.pliant
  pliant train arm.h5 --out arm.pliant --hidden 35,35 --jacobian-network 35,35 --members 5
"""

from __future__ import annotations

import argparse
import sys

from pliant.cli.console import emit
from pliant.cli.inputs import check_output
from pliant.errors import ArgumentError


def configure(parser: argparse.ArgumentParser) -> None:
    """The samples, the networks and the file."""
    parser.add_argument("data", metavar="FILE.h5", help="samples, made by `pliant sample`")
    parser.add_argument("--out", required=True, metavar="FILE.pliant", help="the learned model to write")
    parser.add_argument("--hidden", default="35,35", metavar="N,N", help="neurons per hidden layer")
    parser.add_argument("--jacobian-network", metavar="N,N", help="a network of its own for the Jacobian")
    parser.add_argument("--no-slopes", action="store_true", help="do not train on the Jacobians")
    parser.add_argument("--frames", action="store_true", help="learn orientations too")
    parser.add_argument("--shape-modes", type=int, default=0, metavar="N", help="modes of the whole shape")
    parser.add_argument(
        "--trainer", default="levenberg", choices=("levenberg", "adam", "lbfgs"),
        help="levenberg: Levenberg-Marquardt, best for small networks (default); the others for large ones",
    )  # fmt: skip
    parser.add_argument("--members", type=int, default=1, metavar="N", help="networks in the ensemble")
    parser.add_argument("--iterations", type=int, metavar="N", help="at most (default: what suits the trainer)")
    parser.add_argument("--time-limit", type=float, default=float("inf"), metavar="SECONDS", help="per network")
    parser.add_argument("--device", help="torch device, e.g. cuda")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Train and report the errors on samples that were held out."""
    check_output("--out", args.out, ".pliant")
    from pliant.learn.dataset import Dataset
    from pliant.learn.train import fit

    quiet = getattr(args, "json", False) or not sys.stderr.isatty()

    def told(name: str, k: int, train: float, check: float) -> None:
        print(f"{name}: iteration {k}, training {train:.2e}, validation {check:.2e}  ", end="\r", file=sys.stderr)

    model = fit(
        Dataset.load(args.data),
        hidden=layers("--hidden", args.hidden),
        slopes=not args.no_slopes,
        jacobian_network=layers("--jacobian-network", args.jacobian_network) if args.jacobian_network else None,
        frames=args.frames,
        shape_modes=args.shape_modes,
        trainer=args.trainer,
        members=args.members,
        seed=args.seed,
        iterations=args.iterations,
        time_limit=args.time_limit,
        device=args.device,
        report=None if quiet else told,
    )
    model.save(args.out)
    test = model.facts["test"]
    lines = [f"{args.out}: {model!r}, {model.facts['seconds']:.1f} s"]
    for point in model.point_names:
        e = test[point]
        lines.append(
            f"{point}: held-out error mean {1e3 * e['mean']:.4f} mm, max {1e3 * e['max']:.4f} mm "
            f"({100 * e['max_share']:.3f} % of the workspace)"
        )
    emit(args, {"file": args.out, "test": test, "seconds": model.facts["seconds"]}, lines)
    return 0


def layers(option: str, text: str) -> tuple[int, ...]:
    """Layer sizes from "35,35"."""
    parts = text.split(",")
    if not all(p.strip().isdigit() and int(p) > 0 for p in parts):
        raise ArgumentError(option, f"{text!r}", "positive numbers separated by commas, e.g. 35,35")
    return tuple(int(p) for p in parts)
