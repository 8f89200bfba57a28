"""Correct a learned model with measurements of the real robot.

The measurements are a CSV file: one column per actuator (its name), x, y, z, and optionally load columns.

examples:
  pliant transfer arm.pliant --measurements real.csv --unit mm --out real.pliant
  pliant transfer arm.pliant --virtual 1 --count 100 --out real.pliant
"""

from __future__ import annotations

import argparse

from pliant.cli.console import emit
from pliant.cli.inputs import check_output
from pliant.errors import ArgumentError


def configure(parser: argparse.ArgumentParser) -> None:
    """The model, the measurements and the file."""
    parser.add_argument("model", metavar="FILE.pliant", help="learned model, made by `pliant train`")
    parser.add_argument("--out", required=True, metavar="FILE.pliant", help="the corrected model to write")
    parser.add_argument("--measurements", metavar="FILE.csv", help="what was measured on the real robot")
    parser.add_argument("--unit", default="m", choices=("m", "cm", "mm"), help="of x, y, z in the CSV file")
    parser.add_argument(
        "--virtual", type=int, choices=(1, 2), metavar="N", help="measure virtual specimen 1 or 2 of the chamber-arm"
    )
    parser.add_argument("--count", type=int, default=100, metavar="N", help="virtual measurements")
    parser.add_argument("--save-measurements", metavar="FILE.csv", help="keep the virtual measurements")
    parser.add_argument("--point", default="tip", metavar="NAME", help="which point was measured (default: tip)")
    parser.add_argument(
        "--kind", default="best", choices=("best", "affine", "single-layer", "residual", "gaussian-process"),
        help="form of the correction (default: the best of them by cross-validation)",
    )  # fmt: skip
    parser.add_argument("--seed", type=int, default=0, help="of all random numbers (default: 0)")


def run(args: argparse.Namespace) -> int:
    """Correct and report the cross-validated errors; exit code 1 if 1 % of the workspace is not met."""
    check_output("--out", args.out, ".pliant")
    check_output("--save-measurements", args.save_measurements, ".csv")
    if bool(args.measurements) == bool(args.virtual):
        raise ArgumentError("--measurements", "give measurements or --virtual", "exactly one of them")
    from pliant.learn.plans import make_plan
    from pliant.learn.recorder import Measurements, record
    from pliant.learn.transfer import transfer
    from pliant.models.learned import LearnedModel

    model = LearnedModel.load(args.model)
    names = model.robot.actuator_names
    if args.measurements:
        factor = {"m": 1.0, "cm": 1e-2, "mm": 1e-3}[args.unit]
        data = Measurements.load_csv(args.measurements, names, point=args.point, unit=factor)
    else:
        from pliant.learn.reality import specimen

        data = record(specimen(args.virtual), make_plan("sobol", model.ranges, count=args.count, seed=args.seed))
        if args.save_measurements:
            data.save(args.save_measurements, names)
    found = transfer(model, data, kind=args.kind, seed=args.seed)
    found.model.save(args.out)
    emit(args, {"file": args.out} | found.report.facts(), [f"{args.out}: {found.report.kind}", str(found.report)])
    return 0 if found.report.accepted else 1
