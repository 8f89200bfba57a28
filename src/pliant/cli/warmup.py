"""Compile all kernels now, so that the first real computation does not wait for it.

Runs a tiny problem through every model, material, actuator and solver. The compiled code is kept on disk; it
is made again only after an update. Two processes can share the work, each with its half:

  pliant warmup --share 1/2 & pliant warmup --share 2/2; wait
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from pliant.cli.console import emit, progress, table

#: What the second of two processes does: kernels that solids made of elements do not use come first.
_SECOND = ("rod model", "rods in time", "segments", "beam model", "learned model", "geometric model", "pictures")


def configure(parser: argparse.ArgumentParser) -> None:
    """Which tasks."""
    parser.add_argument(
        "--share", choices=("1/2", "2/2"), help="only this half of the tasks, while another process does the other half"
    )


def run(args: argparse.Namespace) -> int:
    """Run every task; 1 if one of them fails."""
    tasks = tasks_available()
    if args.share:
        second = {name: tasks[name] for name in _SECOND if name in tasks}
        tasks = second if args.share == "2/2" else {k: v for k, v in tasks.items() if k not in second}
    rows, data, failed = [], {}, False
    with progress(args, "compiling") as tick:
        for i, (name, task) in enumerate(tasks.items()):
            begin = time.perf_counter()
            problem = ""
            try:
                task()
            except ImportError as error:  # a part that this installation does not have
                problem = f"not available ({error})"
            except Exception as error:
                if getattr(args, "debug", False):
                    raise
                problem, failed = f"failed: {type(error).__name__}: {error}", True
            elapsed = time.perf_counter() - begin
            data[name] = {"elapsed": elapsed, "problem": problem}
            rows.append((name, f"{elapsed:.1f} s", problem))
            tick((i + 1) / len(tasks))
    emit(args, {"tasks": data, "ok": not failed}, table(rows, head=("task", "time", "")))
    return 1 if failed else 0


def tasks_available() -> dict[str, Callable[[], Any]]:
    """Name -> tiny problem."""
    return {
        "materials": _materials,
        "fem, linear": lambda: _solve("linear"),
        "fem, quadratic": lambda: _solve("quadratic"),
        "fem, hexahedra": _hexahedra,
        "chambers": _chambers,
        "contact": _contact,
        "dynamics": _dynamics,
        "inverse": _inverse,
        "geometric model": _geometric,
        "rod model": _rod,
        "rods in time": _rollouts,
        "segments": _segments,
        "beam model": _catheter,
        "learned model": _learned,
        "pictures": _picture,
    }


def _beam(**options: Any) -> Any:
    from pliant import robots

    return robots.beam(size=0.01, **options)


def _solve(element: str) -> None:
    from pliant.models.fem import FemModel
    from pliant.solve.equilibrium import equilibrium

    equilibrium(FemModel(_beam(), element=element), {"top": 2e-3})


def _hexahedra() -> None:
    from pliant.models.fem import FemModel
    from pliant.solve.equilibrium import equilibrium

    equilibrium(FemModel(_beam(hexes=True)), {"top": 2e-3})


def _materials() -> None:
    from pliant.materials.laws import LAWS
    from pliant.models.fem import FemModel
    from pliant.solve.equilibrium import equilibrium

    for law in LAWS.values():
        equilibrium(FemModel(_beam(material=law.from_young(350e3, 0.45))), {"top": 1e-3})


def _chambers() -> None:
    from pliant import robots
    from pliant.models.fem import FemModel
    from pliant.solve.equilibrium import equilibrium

    robot = robots.accordion(sides=6, folds=2, size=0.02)
    for element in ("linear", "quadratic"):
        equilibrium(FemModel(robot, element=element), {"chamber": 1e3})


def _contact() -> None:
    from pliant.contact import SelfContact, Sphere
    from pliant.models.fem import FemModel
    from pliant.solve.equilibrium import equilibrium

    ball = Sphere(centre=(0.1, 0, -0.02), radius=0.01, friction=0.3)
    equilibrium(FemModel(_beam()), {"bottom": 5e-3}, obstacles=[ball, SelfContact()])


def _dynamics() -> None:
    from pliant.models.fem import FemModel
    from pliant.solve.simulate import simulate

    simulate(FemModel(_beam()), {"top": 1e-3}, duration=0.03, dt=0.01)


def _inverse() -> None:
    from pliant.contact import Sphere
    from pliant.inverse.invert import invert
    from pliant.inverse.targets import PointTarget
    from pliant.models.fem import FemModel

    model = FemModel(_beam())
    target = PointTarget("tip", (0.098, 0.0, 0.005))
    invert(model, targets=[target])
    invert(model, targets=[target], obstacles=[Sphere(centre=(0.1, 0, -0.02), radius=0.01)])


def _geometric() -> None:
    from pliant.models.geometric import GeometricModel
    from pliant.solve.equilibrium import equilibrium

    equilibrium(GeometricModel(_beam()), {"top": 2e-3})


def _cable_rod() -> Any:
    from pliant.actuators import Cable
    from pliant.bodies import Point, RodBody
    from pliant.materials import Linear
    from pliant.models.rod import RodModel
    from pliant.robot import Robot

    rod = RodBody("rod", 0.2, 0.005, Linear.from_young(1e6, 0.45))
    cable = Cable(
        name="cable", points=((0.0, 0.004, 0.0), (0.1, 0.004, 0.0), (0.2, 0.004, 0.0)), drive="effort"
    )
    return RodModel(Robot("rod", (rod,), actuators=(cable,), points=(Point("tip", (0.2, 0.0, 0.0)),)))


def _rod() -> None:
    from pliant.solve.equilibrium import equilibrium

    model = _cable_rod()
    bent = equilibrium(model, {"cable": 0.1})
    model.locate(bent, "tip", jacobian=True)
    model.acceleration(bent.q, bent.v, bent.effort)


def _rollouts() -> None:
    model = _cable_rod()
    for scheme in ("midpoint", "gauss", "explicit"):
        model.rollout(model.rest, [0.0] * model.nv, duration=0.01, dt=0.005, scheme=scheme)


def _segments() -> None:
    from pliant import robots
    from pliant.models.link import LinkModel
    from pliant.models.pcc import PccModel
    from pliant.robots.four_segment_arm import arm_channels
    from pliant.solve.simulate import simulate

    simulate(PccModel(robots.printed_link(), gains=(1e-7, 1e-8)), duration=0.02, dt=0.01)
    arm = robots.four_segment_arm()
    simulate(LinkModel(arm, chambers=arm_channels(arm)), duration=0.02, dt=0.01)


def _catheter() -> None:
    from pliant import robots
    from pliant.models.beam import BeamModel
    from pliant.solve.equilibrium import equilibrium

    equilibrium(BeamModel(robots.catheter()))


def _learned() -> None:
    import tempfile
    from pathlib import Path

    from pliant.inverse.invert import invert
    from pliant.inverse.targets import PointTarget
    from pliant.learn import ConstantCurvatureArm, fit, sample

    with tempfile.TemporaryDirectory() as folder:
        data = sample(ConstantCurvatureArm(), path=Path(folder) / "d.h5", per_axis=2, workers=0)
        model = fit(data, hidden=(3,), iterations=2)
    invert(model, targets=[PointTarget("tip", model.locate(model.rest, "tip").position)])


def _picture() -> None:
    import tempfile
    from pathlib import Path

    from pliant.models.fem import FemModel
    from pliant.viewer.snapshot import snapshot

    with tempfile.TemporaryDirectory() as folder:
        snapshot(FemModel(_beam()), None, Path(folder) / "x.png", size=(64, 48))
