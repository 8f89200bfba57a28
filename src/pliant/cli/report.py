"""Write one HTML page about a learned model: errors in the workspace, learning curves, paths, tables.

examples:
  pliant report arm.pliant --data arm.h5 --out report.html
  pliant report real.pliant --data arm.h5 --virtual 1 --out report.html
"""

from __future__ import annotations

import argparse
from typing import Any

from pliant.cli.console import emit
from pliant.cli.inputs import check_output


def configure(parser: argparse.ArgumentParser) -> None:
    """The model, what to judge it on and the page."""
    parser.add_argument("model", metavar="FILE.pliant", help="learned model")
    parser.add_argument("--out", required=True, metavar="FILE.html", help="the page to write")
    parser.add_argument("--data", metavar="FILE.h5", help="samples to judge it on")
    parser.add_argument(
        "--virtual",
        type=int,
        choices=(1, 2),
        metavar="N",
        help="try the flower path and all methods on virtual specimen 1 or 2 of the chamber-arm",
    )
    parser.add_argument("--count", type=int, default=100, metavar="N", help="measurements of the specimen")


def run(args: argparse.Namespace) -> int:
    """Write the page."""
    check_output("--out", args.out, ".html")
    from pliant.learn.dataset import Dataset
    from pliant.learn.report import write_report
    from pliant.models.learned import LearnedModel

    model = LearnedModel.load(args.model)
    data = Dataset.load(args.data) if args.data else None
    extra = _virtual(model, args) if args.virtual else {}
    path = write_report(args.out, model, data=data, **extra)
    emit(args, {"file": str(path), "bytes": path.stat().st_size}, [f"wrote {path}"])
    return 0


def _virtual(model: Any, args: argparse.Namespace) -> dict[str, Any]:
    from pliant.learn.comparison import compare_methods, execute
    from pliant.learn.inverse import follow_path
    from pliant.learn.paths import arm_flower
    from pliant.learn.plans import make_plan
    from pliant.learn.reality import specimen
    from pliant.learn.recorder import record
    from pliant.learn.sources import ConstantCurvatureArm, chamber_arm

    robot, targets = specimen(args.virtual), arm_flower()
    data = record(robot, make_plan("sobol", model.ranges, count=args.count))
    rows = compare_methods(
        model.without_correction(),
        robot,
        targets,
        data,
        analytical=ConstantCurvatureArm(),
        numerical=chamber_arm(),
        numerical_targets=12,
    )
    plain = follow_path(model.without_correction(), targets, flag=False)
    lines = (targets, rows[-1].reached, execute(robot, plain.u))
    return {"comparison": rows, "paths": {f"flower on specimen {args.virtual}": lines}}
