"""Sample a robot in simulation, with exact Jacobians, into one HDF5 file.

Killed at any moment, the same command goes on where it was.

examples:
  pliant sample three_chamber_arm --per-axis 8 --out arm.h5
  pliant sample trunk --count 2000 --plan sobol --range long1=0:20mm --out trunk.h5 --workers 4
  pliant sample chamber-arm --per-axis 8 --out arm.h5 --scheduler tcp://10.0.0.5:8786
"""

from __future__ import annotations

import argparse
from functools import partial
from typing import Any

from pliant.cli.console import emit
from pliant.cli.inputs import add_model, add_robot, build_model, check_output, load_robot, parse_value
from pliant.errors import ArgumentError

#: Analytical and rod robots that need no mesh: name -> class or function of `pliant.learn`.
SOURCES = {
    "constant-curvature-arm": "ConstantCurvatureArm",
    "finger-manipulator": "FingerManipulator",
    "chamber-arm": "chamber_arm",
}


def configure(parser: argparse.ArgumentParser) -> None:
    """ROBOT, the plan and the file."""
    add_robot(parser)
    add_model(parser)
    parser.add_argument("--out", required=True, metavar="FILE.h5", help="the file to write")
    parser.add_argument(
        "--plan", default="grid", choices=("grid", "latin", "sobol", "active"),
        help="which commands: all of a grid (default), a Latin hypercube, a Sobol sequence, or where a model errs most",
    )  # fmt: skip
    parser.add_argument("--count", type=int, metavar="N", help="number of samples")
    parser.add_argument("--per-axis", type=int, metavar="N", help="values per actuator of a grid")
    parser.add_argument(
        "--range",
        dest="ranges",
        action="append",
        default=[],
        metavar="NAME=LOW:HIGH",
        help="range of an actuator, e.g. chamber1=0:100kPa; the actuator's limits otherwise (repeatable)",
    )
    parser.add_argument("--points", metavar="NAMES", help="points to record, separated by commas (default: all)")
    parser.add_argument("--shape", action="store_true", help="record the whole surface too")
    parser.add_argument("--start", default="rest", choices=("rest", "neighbour"), help="start of every solve")
    parser.add_argument("--workers", type=int, metavar="N", help="processes (default: all cores; 0: this one)")
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of a Dask cluster, instead of local processes")
    parser.add_argument("--device", metavar="NAME", help="of torch (cuda): many samples at once, where the model can")
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Sample and say how it went."""
    check_output("--out", args.out, ".h5", ".hdf5")
    from pliant.learn.sampling import sample

    factory = partial(make_model, args.robot, tuple(args.options), args.model, args.element)
    model = factory()
    data = sample(
        factory,
        _ranges(model, args.ranges),
        path=args.out,
        plan=args.plan,
        count=args.count,
        per_axis=args.per_axis,
        points=args.points.split(",") if args.points else None,
        shape=args.shape,
        start=args.start,
        workers=args.workers,
        scheduler=args.scheduler,
        device=args.device,
        seed=args.seed,
        progress=not getattr(args, "json", False),
    )
    seconds = float(data.facts.get("seconds", 0.0))
    reasons: dict[str, int] = {}
    for reason in data.reason:
        if reason:
            reasons[reason] = reasons.get(reason, 0) + 1
    facts = {"file": args.out, "samples": len(data), "failed": data.failed, "width": data.width, "seconds": seconds}
    lines = [
        f"{args.out}: {len(data)} samples, {data.failed} failed, in {seconds:.1f} s",
        f"workspace {1e3 * data.width:.1f} mm wide",
        *(f"  {n} x {reason}" for reason, n in sorted(reasons.items(), key=lambda r: -r[1])[:5]),
    ]
    emit(args, facts | {"reasons": reasons}, lines)
    return 0 if data.failed < len(data) else 1


def make_model(robot: str, options: tuple[str, ...], model: str, element: str) -> Any:
    """The model that a command line names; workers call it too."""
    if robot in SOURCES:
        import pliant.learn

        if options:
            raise ArgumentError("--with", f"{robot} has no parameters", "robots of the catalogue only")
        return getattr(pliant.learn, SOURCES[robot])()
    args = argparse.Namespace(robot=robot, options=list(options), model=model, element=element)
    return build_model(args, load_robot(args))


def _ranges(model: Any, given: list[str]) -> dict[str, tuple[float, float]] | None:
    if not given:
        return None
    robot = model.robot
    out = {a.name: a.limits for a in robot.actuators}
    for text in given:
        name, sep, span = text.partition("=")
        parts = span.split(":")
        if not sep or len(parts) != 2:
            raise ArgumentError("--range", f"{text!r}", "NAME=LOW:HIGH, e.g. chamber1=0:100kPa")
        out[name] = (parse_value(robot, name, parts[0]), parse_value(robot, name, parts[1]))
    return out
