"""Put finite elements and the geometric model side by side on the same inputs.

Prints, per point of the robot, how far the two poses are apart, and the time and memory of both solves. Robots of the
catalogue are given a moderate command of their own if there is no --set. Memory is what Python allocates in a solve.

examples:
  pliant compare pneunet
  pliant compare finger --set cable=18mm
  pliant compare accordion --set chamber=20kPa --picture compare.png
"""

from __future__ import annotations

import argparse
import time
import tracemalloc
from pathlib import Path
from typing import Any

from pliant.cli.console import emit, table
from pliant.cli.inputs import add_robot, catalogued, check_output, load_robot, own_contacts, parse_commands
from pliant.errors import ArgumentError


def configure(parser: argparse.ArgumentParser) -> None:
    """ROBOT, the actuation and the picture."""
    add_robot(parser)
    parser.add_argument(
        "--set", dest="values", action="append", default=[], metavar="NAME=VALUE",
        help="command of an actuator (repeatable)",
    )  # fmt: skip
    parser.add_argument("--picture", metavar="FILE.png", help="save a picture of both poses, one above the other")


def run(args: argparse.Namespace) -> int:
    """Solve with both models and report the differences."""
    import numpy as np

    check_output("--picture", args.picture, ".png")
    robot = load_robot(args)
    values, entry = parse_commands(robot, args.values), catalogued(args)
    if not values:
        if entry is None:
            raise ArgumentError("--set", "nothing is commanded", "--set NAME=VALUE")
        values = dict(entry.move)
    from pliant.bodies import SoftBody

    if not any(isinstance(b, SoftBody) for b in robot.bodies):
        raise ArgumentError("ROBOT", f"{robot.name} has no soft body to model both ways", "robots with a mesh")
    from pliant.models.fem import FemModel
    from pliant.models.geometric import GeometricModel
    from pliant.solve.equilibrium import equilibrium
    from pliant.solve.flex import flex

    contacts = own_contacts(args, robot)
    fem, geometric = FemModel(robot), GeometricModel(robot)
    pairs: list[tuple[Any, Any]] = [(fem, equilibrium), (geometric, flex)]
    for model, solve in pairs:  # compile before timing
        solve(model, {k: 1e-3 * v for k, v in values.items()}, obstacles=contacts)
    first, fem_time, fem_memory = _measured(lambda: equilibrium(fem, values, obstacles=contacts))
    second, time_, memory = _measured(lambda: flex(geometric, values, obstacles=contacts))
    size = float(np.linalg.norm(np.ptp(fem.skin_positions(fem.rest), axis=0)))
    points = {}
    for point in robot.points:
        a, b = fem.locate(first, point.name).position, geometric.locate(second, point.name).position
        points[point.name] = float(np.linalg.norm(a - b))
    worst = float(np.linalg.norm(fem.positions(first.q) - geometric.positions(second.q), axis=1).max())
    data = {
        "robot": robot.name,
        "command": values,
        "fem": _row(first, fem_time, fem_memory),
        "geometric": _row(second, time_, memory),
        "point_difference_m": points,
        "largest_difference_m": worst,
        "largest_difference_relative": worst / size,
    }
    rows = [
        [
            name,
            s.status.name,
            str(s.iterations),
            f"{t:.3f} s",
            f"{m / 1e6:.0f} MB",
            ", ".join(f"{e:.4g}" for e in s.effort),
        ]
        for name, s, t, m in (("FEM", first, fem_time, fem_memory), ("geometric", second, time_, memory))
    ]
    lines = [f"{robot.name}: {fem.nodes} nodes, {fem.nv} unknowns", ""]
    lines += table(rows, head=("model", "status", "iterations", "time", "memory", "efforts"))
    lines += ["", *(f"  {name}: {1e3 * d:.4f} mm apart" for name, d in points.items())]
    lines.append(f"  largest difference of any node: {1e3 * worst:.4f} mm, {100 * worst / size:.3f} % of the size")
    if args.picture:
        _picture(Path(args.picture), (fem, first), (geometric, second))
        lines.append(f"  picture: {args.picture}")
        data["picture"] = args.picture
    emit(args, data, lines)
    return 0 if first.ok and second.ok else 1


def _measured(work: Any) -> tuple[Any, float, int]:
    begin = time.perf_counter()
    out = work()
    elapsed = time.perf_counter() - begin
    tracemalloc.start()
    work()
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return out, elapsed, peak


def _row(state: Any, seconds: float, memory: int) -> dict[str, Any]:
    return {
        "status": str(state.status), "iterations": state.iterations, "seconds": seconds, "memory_bytes": memory,
        "effort": [float(e) for e in state.effort], "residual": state.residual,
    }  # fmt: skip


def _picture(path: Path, *solved: tuple[Any, Any]) -> None:
    import tempfile

    import matplotlib.image
    import numpy as np

    from pliant.archive import replacing
    from pliant.viewer.snapshot import snapshot

    # one scale of colours for both, else the same colour would mean two displacements
    moved = [np.linalg.norm(m.skin_positions(s.q) - m.skin_positions(m.rest), axis=1).max() for m, s in solved]
    images, span = [], (0.0, 1e3 * float(max(moved)))
    with tempfile.TemporaryDirectory() as folder:
        for i, (model, state) in enumerate(solved):
            file = Path(folder) / f"{i}.png"
            snapshot(model, state, file, title=type(model).__name__, size=(800, 520), span=span)
            images.append(matplotlib.image.imread(file))
    with replacing(path) as temporary:
        matplotlib.image.imsave(temporary, np.concatenate(images, axis=0), format="png")
