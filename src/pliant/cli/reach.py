"""Find the actuation that brings a point of a robot to a target; without a target, drag it in the browser.

Points are x,y,z in m, or with a unit: 50,20,180mm. A path is a CSV file of such points, one per line.

Without --target and --path a page opens: drag the target and the robot follows, drag the ball into it, switch
contact and limits on and off, read efforts, contact forces and times.

examples:
  pliant reach trunk                                                   in the browser
  pliant reach trunk --obstacle cylinder:40,-60,90,40,60,90,12mm       with a post instead of the ball
  pliant reach trunk --target 0.05,0.02,0.18
  pliant reach trunk --target 50,20,180mm --picture trunk.png
  pliant reach trunk --path circle.csv --out run.npz --html run.html
  pliant reach trunk --target 50,20,180mm --path circle.csv --json     the target first, then the path
  pliant reach trunk --target 50,20,180mm --tolerance 1mm              exit code 1 if it stays farther away
  pliant reach trunk --target 0,0,155mm --search multistart            look from other poses too
  pliant reach trunk --target 50,20,180mm --set long1=5mm              one cable is given, the others are solved for
  pliant reach trunk --target 50,20,180mm --obstacle sphere:45,0,90,15mm --picture trunk.png
  pliant reach --model learned.pliant --target 5,10,130mm
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pliant.cli.console import progress, quantity
from pliant.cli.inputs import (
    add_model,
    add_robot,
    build_model,
    load_robot,
    own_contacts,
    parse_commands,
    parse_length,
    parse_point,
)
from pliant.cli.obstacles import add_obstacles, beside, parse_obstacle
from pliant.cli.simulate import add_outputs, check_outputs, report
from pliant.cli.view import add_page
from pliant.errors import ArgumentError, FileError

if TYPE_CHECKING:
    from pliant.models.contract import Model

FAR = 50.0  # sizes of the robot: a target farther away was meant in other units


def configure(parser: argparse.ArgumentParser) -> None:
    """ROBOT, the target and what to write."""
    add_robot(parser, optional=True)
    add_model(parser)
    parser.add_argument("--target", metavar="X,Y,Z", help="where the point should be")
    parser.add_argument("--path", metavar="FILE.csv", help="points to pass one after another")
    parser.add_argument(
        "--point", default="tip", metavar="NAME", help="which point of the robot (default: tip)"
    )
    parser.add_argument(
        "--tolerance",
        default="0.1mm",
        metavar="LENGTH",
        help="how far from a target still counts as reached (default: 0.1mm)",
    )
    parser.add_argument(
        "--search",
        choices=("auto", "local", "multistart"),
        default="auto",
        help="where a target is not reached: look from a few other poses too (auto), from all (multistart), or not",
    )
    parser.add_argument(
        "--set",
        dest="values",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="an actuator that is given, not solved for (repeatable); units: m, mm, N, Pa, kPa, ml, ...",
    )
    add_obstacles(parser)
    add_outputs(parser)
    add_page(parser)


def run(args: argparse.Namespace) -> int:
    """Invert and report; 1 if a target was not reached."""
    check_outputs(args)
    tolerance = parse_length("--tolerance", args.tolerance)
    live = not (args.target or args.path)
    if live:
        check_live(args)
    obstacles = tuple(parse_obstacle(text) for text in args.obstacles)
    wanted = [parse_point("--target", args.target)] if args.target else []
    wanted += read_path(Path(args.path)) if args.path else []
    robot = load_robot(args)
    robot.point(args.point)
    given = parse_commands(robot, args.values)
    model, contacts = build_model(args, robot), (*own_contacts(args, robot), *obstacles)
    if live:
        return reach_live(args, model, contacts)
    import numpy as np

    from pliant.inverse.invert import invert
    from pliant.inverse.targets import PointTarget
    from pliant.trajectory import Trajectory

    commands, state = [], None
    with progress(args, robot.name) as tick:
        for i, position in enumerate(wanted):
            target = PointTarget(args.point, position)
            command = invert(model, state, [target], obstacles=contacts, prescribed=given, search=args.search)
            commands.append(command)
            if command.ok:
                state = command.state
            tick((i + 1) / len(wanted))
    states = [c.state.but(u=c.u, status=c.status, time=float(i), factor=None) for i, c in enumerate(commands)]
    found = Trajectory.from_states(model, states, targets={args.point: np.array(wanted)})
    errors = found.error(args.point)
    missed = int((~(errors <= tolerance)).sum())
    extra = {"target": wanted, "error": errors, "reached": missed == 0, "notes": [list(c.notes) for c in commands]}
    code = report(args, model, found, extra, obstacles=contacts)
    if not getattr(args, "json", False):
        print(
            f"{args.point}: {quantity(float(errors.max()), 'm')} from the target"
            + (" at worst" if len(errors) > 1 else "")
            + (f"; {missed} of {len(errors)} not reached within {args.tolerance}" if missed else "")
        )
        if missed and errors.max() > FAR * extent(model):
            print("Positions are in m; a unit after the last number counts for all: --target 50,20,180mm.")
        elif missed and args.search != "multistart":
            print("--search multistart looks farther: from all poses that one actuator makes.")
    return code or int(missed > 0)


def extent(model: Model) -> float:
    """Size of a robot at rest [m]."""
    import numpy as np

    return float(np.linalg.norm(np.ptp(model.skin_positions(model.rest), axis=0)))


def check_live(args: argparse.Namespace) -> None:
    """Refuse what needs a target when there is none."""
    needless = [f"--{o}" for o in ("out", "picture", "html") if getattr(args, o)]
    needless += ["--json"] if getattr(args, "json", False) else []
    needless += ["--search"] if args.search != "auto" else []
    needless += ["--set"] if args.values else []
    if needless:
        raise ArgumentError(
            "--target", f"{', '.join(needless)} needs to know where to go", "--target X,Y,Z, --path FILE.csv, or both"
        )


def reach_live(args: argparse.Namespace, model: Model, obstacles: tuple[Any, ...]) -> int:
    """Serve the page in which target and obstacles are dragged, until interrupted."""
    from pliant.solve.equilibrium import equilibrium
    from pliant.viewer.browser import view

    state = None
    if not (args.obstacles or getattr(model, "forceless", False)):
        state = equilibrium(model, obstacles=obstacles)
        obstacles = (*obstacles, beside(model, state.q))
        state = state if state.ok else None
    view(
        model, state, obstacles=obstacles, targets=[args.point], host=args.host, port=args.port,
        open_browser=not args.no_browser,
    )  # fmt: skip
    return 0


def read_path(path: Path) -> list[tuple[float, float, float]]:
    """Points of a CSV file; a first line that is not numbers is taken as the heading."""
    if not path.is_file():
        raise FileError(path, "there is no such file")
    points: list[tuple[float, float, float]] = []
    problems: list[str] = []
    heading = ""
    for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
        text = line.split("#")[0].strip().replace(";", ",").rstrip(",")
        if not text:
            continue
        try:
            points.append(parse_point("point", text if "," in text else ",".join(text.split())))
        except ArgumentError:
            if points or problems or number > 1:
                problems.append(f"line {number}: {line.strip()[:40]!r} is not a point x,y,z")
            else:
                heading = line.strip()[:40]
    if problems or not points:
        none = f"it has no points; line 1, {heading!r}, is no point x,y,z either" if heading else "it has no points"
        raise FileError(path, problems or none)
    return points
