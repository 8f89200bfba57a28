"""Compile all kernels now, so that the first real computation does not wait for it.

Runs a tiny problem through every model, material, actuator and solver. The compiled code is kept on disk; it
is made again only after an update.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

from pliant.cli.console import emit, progress, table


def configure(parser: argparse.ArgumentParser) -> None:
    """No arguments of its own."""


def run(args: argparse.Namespace) -> int:
    """Run every task; 1 if one of them fails."""
    tasks = tasks_available()
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


def _rod() -> None:
    from pliant.actuators import Cable
    from pliant.bodies import Point, RodBody
    from pliant.materials import Linear
    from pliant.models.rod import RodModel
    from pliant.robot import Robot
    from pliant.solve.equilibrium import equilibrium

    rod = RodBody("rod", 0.2, 0.005, Linear.from_young(1e6, 0.45))
    cable = Cable(
        name="cable", points=((0.0, 0.004, 0.0), (0.1, 0.004, 0.0), (0.2, 0.004, 0.0)), drive="effort"
    )
    robot = Robot("rod", (rod,), actuators=(cable,), points=(Point("tip", (0.2, 0.0, 0.0)),))
    model = RodModel(robot)
    bent = equilibrium(model, {"cable": 0.1})
    model.locate(bent, "tip", jacobian=True)
    model.acceleration(bent.q, bent.v, bent.effort)
    for scheme in ("midpoint", "gauss", "explicit"):
        model.rollout(bent.q, bent.v, duration=0.01, dt=0.005, scheme=scheme)


def _picture() -> None:
    import tempfile
    from pathlib import Path

    from pliant.models.fem import FemModel
    from pliant.viewer.snapshot import snapshot

    with tempfile.TemporaryDirectory() as folder:
        snapshot(FemModel(_beam()), None, Path(folder) / "x.png", size=(64, 48))
