"""Find the shape of a robot under given actuation (statics), or its motion (dynamics).

Values are in the unit of each actuator's drive (m, m^3, Pa, N), or carry a unit: 18mm, 20kPa, 5ml.

examples:
  pliant simulate finger --set cable=18mm
  pliant simulate finger --set cable=18mm --picture finger.png --html finger.html
  pliant simulate accordion --sweep chamber=0:40kPa:20 --out run.npz --html run.html
  pliant simulate trunk --set long1=20mm,long3=-20mm --element quadratic
  pliant simulate finger --set cable=18mm --obstacle plane:30,0,0,-1,0,0mm --picture finger.png
  pliant simulate beam --set top=5mm --duration 0.5 --dt 0.01 --html swing.html
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pliant.cli.console import emit, position, progress, quantity, table
from pliant.cli.inputs import (
    add_commands,
    add_model,
    add_robot,
    build_model,
    check_output,
    load_robot,
    own_contacts,
    parse_commands,
    parse_sweep,
)
from pliant.cli.obstacles import add_obstacles, parse_obstacle
from pliant.errors import ArgumentError

if TYPE_CHECKING:
    from pliant.models.contract import Model
    from pliant.robot import Robot


def configure(parser: argparse.ArgumentParser) -> None:
    """ROBOT, the actuation and what to write."""
    add_robot(parser, optional=True)
    add_model(parser)
    add_commands(parser, set_to="command of an actuator (repeatable)", swept="take an actuator through its range")
    parser.add_argument(
        "--steps", type=int, default=1, help="reach the command of --set in this many steps (default: 1)"
    )
    parser.add_argument(
        "--duration",
        type=float,
        metavar="SECONDS",
        help="simulate the motion for this long instead of the equilibrium",
    )
    parser.add_argument(
        "--dt", type=float, default=0.01, metavar="SECONDS", help="time step of the motion (default: 0.01)"
    )
    add_obstacles(parser)
    add_outputs(parser)


def add_outputs(parser: argparse.ArgumentParser) -> None:
    """Options that write files."""
    parser.add_argument(
        "--out", metavar="FILE.npz", help="save all states (pliant.Trajectory.load reads them)"
    )
    parser.add_argument("--picture", metavar="FILE.png", help="save a picture of the last state")
    parser.add_argument(
        "--html", metavar="FILE.html", help="save a self-contained page that shows all states"
    )


def check_outputs(args: argparse.Namespace) -> None:
    """Refuse file names with a wrong ending before any work is done."""
    for option, ending in (("out", ".npz"), ("picture", ".png"), ("html", ".html")):
        check_output(f"--{option}", getattr(args, option), ending)


def run(args: argparse.Namespace) -> int:
    """Solve and report."""
    check_outputs(args)
    if args.steps < 1:
        raise ArgumentError("--steps", f"{args.steps}", "at least 1")
    obstacles = tuple(parse_obstacle(text) for text in args.obstacles)
    robot = load_robot(args)
    values = parse_commands(robot, args.values)
    commands = parse_sweep(robot, args.sweep)
    model, contacts = build_model(args, robot), (*own_contacts(args, robot), *obstacles)
    from pliant.solve.simulate import simulate, sweep

    with progress(args, robot.name) as tick:
        if args.duration is not None:
            if commands:
                raise ArgumentError("--duration", "cannot stand together with --sweep", "one of them")
            run_ = simulate(model, values, duration=args.duration, dt=args.dt, obstacles=contacts, progress=tick)
        elif commands:
            run_ = sweep(model, [{**values, **c} for c in commands], obstacles=contacts, progress=tick)
        else:
            ramp = [{k: v * (i + 1) / args.steps for k, v in values.items()} for i in range(args.steps)]
            run_ = sweep(model, ramp, obstacles=contacts, progress=tick)
    return report(args, model, run_, obstacles=contacts)


def report(
    args: argparse.Namespace,
    model: Model,
    run_: Any,
    extra: dict[str, Any] | None = None,
    *,
    obstacles: tuple[Any, ...] = (),
) -> int:
    """Write the files that were asked for, print the last state; 0 if every state was found."""
    files = write_files(args, model, run_, obstacles)
    robot, last = model.robot, len(run_) - 1
    failed = [i for i, s in enumerate(run_.status) if not s.ok]
    data = {
        "robot": robot.name,
        "model": repr(model),
        "ok": run_.ok,
        "status": str(run_.status[last]),
        "states": len(run_),
        "failed": failed,
        "residual": float(run_.residual[last]),
        "iterations": int(run_.iterations.sum()),
        "elapsed": float(run_.elapsed.sum()),
        "time": run_.time,
        "command": {n: run_.u[:, i] for i, n in enumerate(run_.actuators)},
        "effort": {n: run_.effort[:, i] for i, n in enumerate(run_.actuators)},
        "displacement": {n: run_.displacement[:, i] for i, n in enumerate(run_.actuators)},
        "points": run_.points,
        "readings": run_.readings,
        "contact_force": run_.contact_force,
        "files": files,
        "units": units(robot, extra or {}),
        **(extra or {}),
    }
    rows: list[tuple[str, ...]] = [
        (a.name, quantity(run_.u[last, i], a.unit), quantity(run_.effort[last, i], a.effort_unit),
         quantity(run_.displacement[last, i], a.displacement_unit))
        for i, a in enumerate(robot.actuators)
    ]  # fmt: skip
    heading: tuple[str, ...] = ("actuator", "command", "effort", "displacement")
    if getattr(model, "forceless", False):  # no mechanics: its efforts and displacements are stand-ins
        data["effort"] = data["displacement"] = None
        rows, heading = [r[:2] for r in rows], heading[:2]
    lines = [f"{model!r}: {run_.status[last]}"]
    if len(run_) > 1:
        lines.append(f"{len(run_)} states, {len(failed)} of them not found; the last one:")
    if rows:
        lines += ["", *table(rows, head=heading)]
    lines += [
        "",
        *table([(n, position(p[last])) for n, p in run_.points.items()], head=("point", "position")),
    ]
    if obstacles:
        lines += ["", f"contact force {quantity(float(run_.contact_force[last]), 'N')} in all"]
    lines += [
        "",
        f"residual {data['residual']:.1e}, {data['iterations']} iterations, {data['elapsed']:.2f} s",
    ]
    lines += [f"wrote {f}" for f in files]
    if failed and failed[-1] == last:
        from pliant.solve.commands import beyond_limits, impossible

        why = [*impossible(model, run_.u[last]), *beyond_limits(robot, run_.u[last])]
        data["notes"] = data.get("notes") or why
        lines += why or (["try more steps, e.g. --steps 12"] if len(run_) == 1 and hasattr(args, "steps") else [])
    emit(args, data, lines)
    return 0 if run_.ok else 1


def units(robot: Robot, extra: Mapping[str, Any]) -> dict[str, Any]:
    """Unit of every number in the JSON object, by key; of actuators by name."""
    lengths = ["points", *(k for k in ("target", "error") if k in extra)]
    return {
        **dict.fromkeys(lengths, "m"),
        **dict.fromkeys(("elapsed", "time"), "s"),
        "contact_force": "N",
        "command": {a.name: a.unit for a in robot.actuators},
        "effort": {a.name: a.effort_unit for a in robot.actuators},
        "displacement": {a.name: a.displacement_unit for a in robot.actuators},
    }


def write_files(args: argparse.Namespace, model: Model, run_: Any, obstacles: tuple[Any, ...] = ()) -> list[str]:
    """The files of --out, --picture and --html."""
    files = []
    if args.out:
        files.append(str(run_.save(args.out)))
    if args.picture:
        from pliant.viewer.snapshot import snapshot

        files.append(str(snapshot(model, run_[len(run_) - 1], args.picture, obstacles=obstacles)))
    if args.html:
        from pliant.viewer.html import export_html

        files.append(str(export_html(model, run_ if len(run_) > 1 else run_[0], args.html, obstacles=obstacles)))
    return files
