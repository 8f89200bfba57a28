"""Show a robot in the browser: sliders for its actuators, a target to drag, replay of motions.

examples:
  pliant view finger
  pliant view finger --set cable=18mm
  pliant view accordion --sweep chamber=0:40kPa:20     play a motion
  pliant view accordion --replay run.npz               play one that was saved
  pliant view trunk --obstacle sphere:60,0,100,15mm    with a ball to drag into it
  pliant view --model learned.pliant                   a learned model
"""

from __future__ import annotations

import argparse
from typing import Any

from pliant.cli.console import progress
from pliant.cli.inputs import (
    add_commands,
    add_model,
    add_robot,
    build_model,
    load_robot,
    own_contacts,
    parse_commands,
    parse_sweep,
)
from pliant.cli.obstacles import add_obstacles, parse_obstacle
from pliant.errors import FileError


def configure(parser: argparse.ArgumentParser) -> None:
    """ROBOT, what to show first and where to serve."""
    add_robot(parser, optional=True)
    add_model(parser)
    add_commands(parser, set_to="command to start from (repeatable)", swept="solve a sweep first, then play it")
    parser.add_argument("--replay", metavar="FILE.npz", help="play a saved trajectory")
    add_obstacles(parser)
    add_page(parser)


def add_page(parser: argparse.ArgumentParser) -> None:
    """Where the page is served."""
    parser.add_argument(
        "--port", type=int, default=8080, help="port of the page (default: 8080, or the next free one)"
    )
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to serve on; 0.0.0.0 lets other machines in"
    )
    parser.add_argument(
        "--no-browser", action="store_true", help="do not open the page, only print its address"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    obstacles = tuple(parse_obstacle(text) for text in args.obstacles)
    robot = load_robot(args)
    values, commands = parse_commands(robot, args.values), parse_sweep(robot, args.sweep)
    model, contacts = build_model(args, robot), (*own_contacts(args, robot), *obstacles)
    shown: Any = None
    if args.replay:
        from pliant.trajectory import Trajectory

        shown = Trajectory.load(args.replay)
        if shown.q.shape[1:] != (model.nq,):
            raise FileError(
                args.replay, f"its states have {shown.q.shape[1]} coordinates, this model has {model.nq}"
            )
    elif commands:
        from pliant.solve.simulate import sweep

        with progress(args, robot.name) as tick:
            shown = sweep(model, [{**values, **c} for c in commands], obstacles=contacts, progress=tick)
    elif values:
        from pliant.solve.equilibrium import equilibrium

        shown = equilibrium(model, values, obstacles=contacts)
    from pliant.viewer.browser import view

    view(model, shown, obstacles=contacts, host=args.host, port=args.port, open_browser=not args.no_browser)
    return 0
