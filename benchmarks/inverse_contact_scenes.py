"""The scenes of the thesis that only contact holds or guides: ring, sphere, fingers, trunk with cup, catheter.

Each function gives a `ContactScene`: a model at its start, targets that move with the time, and how they are solved. The
body is moved on by the forward simulation (with Coulomb friction), which is not timed; timed is one linearisation of
the inverse per step, the same work as in the thesis, in process time.

    python benchmarks/inverse_contact_scenes.py [--steps 40] [--only NAME]
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import pliant as pl
from pliant.robots.cup_trunk import CUP_POINTS, cup_trunk, grasp_contact, grasped
from pliant.robots.three_fingertips import POINTS, fingertip_pairs
from pliant.solve.problem import Problem

PHASES = ("detection", "assembly", "factorisation", "condensation", "qp")


@dataclass(frozen=True)
class ContactScene:
    """A scene ready to run.

    Attributes:
        name: of the row.
        whole: time per step in the thesis [s]; None for the catheter, of which only the next two are known.
        condensing: time of W there [s].
        qp: time of its QPs there [s].
        size: size there, in words.
        model: the mechanics.
        state: where it starts.
        targets: time [s] -> targets.
        limits: further limits.
        obstacles: what it touches.
        alarm: distance at which contacts are considered [m].
        dt: time step of the inverse dynamics [s]; infinite for statics.
        motion: (state, command) -> the next state, by the forward simulation.
    """

    name: str
    whole: float | None
    condensing: float
    qp: float
    size: str
    model: Any
    state: pl.State
    targets: Callable[[float], list]
    obstacles: Sequence[Any]
    alarm: float
    motion: Callable[[pl.State, pl.Command], pl.State]
    dt: float = np.inf
    limits: Sequence[Any] = field(default=())

    @property
    def reference(self) -> float:
        """What there is to compare a whole step with [s]."""
        return self.condensing + self.qp if self.whole is None else self.whole

    def options(self) -> dict[str, Any]:
        """Arguments of `invert` that go with it."""
        if not np.isfinite(self.dt):
            return {"limits": self.limits}
        return {"limits": self.limits, "dynamic": True, "dt": self.dt, "friction": "stick"}


def load_example(name: str) -> Any:
    """An example as a module."""
    path = Path(__file__).parent.parent / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(f"example_{name}", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def _settled(model: Any, obstacles: Sequence[Any], alarm: float, commands: Any, dt: float) -> tuple[Any, pl.State]:
    """A stepper, and the state after a sequence of commands."""
    forward = pl.Stepper(model, obstacles=obstacles, scheme="euler", alarm=alarm)
    state = forward.start()
    for command in commands:
        state = forward.step(state, command, dt)
    return forward, state


def ring() -> ContactScene:
    """The rolling ring (spec 13.1)."""
    model = pl.FemModel(pl.robots.rolling_ring())
    ground, dt, alarm = [pl.Plane(friction=0.8)], 0.02, 5e-4
    forward, state = _settled(model, ground, alarm, np.zeros((15, 4)), dt)
    start = model.skin_positions(state.q).mean(axis=0)

    def targets(t: float) -> list:
        ahead = 0.05 * (t - 0.3 if t > 0.6 else t * t / 1.2)
        return [pl.BarycentreTarget(start + [ahead, 0.0, -0.003 * min(1.0, t / 0.3)], axes="xz")]

    return ContactScene(
        "ring", 38.51e-3, 7.91e-3, 0.21e-3, "2238 DoFs, 9 contacts", model, state, targets, ground, alarm,
        lambda s, c: forward.step(s, c.effort, dt), dt,
    )  # fmt: skip


def sphere() -> ContactScene:
    """The rolling sphere (spec 13.2)."""
    model = pl.FemModel(pl.robots.rolling_sphere())
    ground, dt, alarm = [pl.Plane(friction=0.8)], 0.02, 3e-3
    rest = np.zeros((25, 21))
    rest[:, -1] = np.minimum(100.0 * np.arange(25), 1000.0)
    forward, state = _settled(model, ground, alarm, rest, dt)
    names = ("top", "front")
    centre, points = model.skin_positions(state.q).mean(axis=0), model.locate(state, names).position
    lazy = [pl.EffortTarget(a.name, 0.0, weight=3e-5) for a in model.robot.actuators[:-1]]

    def targets(t: float) -> list:
        ahead = 0.03 * (t - 0.3 if t > 0.6 else t * t / 1.2)
        c, s = np.cos(ahead / centre[2]), np.sin(ahead / centre[2])
        turn = np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])
        goal = centre + [ahead, 0.0, 0.0]
        wanted = goal + (points - centre) @ turn.T
        return [pl.BarycentreTarget(goal), pl.PointsTarget(names, wanted, weight=0.05), *lazy]

    return ContactScene(
        "sphere", 151.29e-3, 79.56e-3, 10.67e-3, "3003 DoFs, 39 contacts", model, state, targets, ground, alarm,
        lambda s, c: forward.step(s, c.effort, dt), dt, [pl.EffortLimit("air", low=500.0)],
    )  # fmt: skip


def fingers() -> ContactScene:
    """Three fingertips shaping a beam (spec 13.3)."""
    model = pl.FemModel(pl.robots.three_fingertips())
    touching = [pl.ContactPairs.nearest(model, *fingertip_pairs(model.robot), within=1e-6, friction=0.8)]
    dt, alarm = 0.02, 2e-3
    press = np.zeros((16, 9))
    press[:, 8] = -0.0015 * np.minimum(1.0, np.arange(16) / 8)
    forward, state = _settled(model, touching, alarm, press, dt)
    home = model.locate(state, POINTS).position

    def targets(t: float) -> list:
        goal, f = home.copy(), min(1.0, t / 0.6)
        goal[:, 2] += f * f * (3 - 2 * f) * 0.005 * (0.5 + (home[:, 0] / 0.035) ** 2)
        return [pl.PointsTarget(POINTS, goal)]

    return ContactScene(
        "fingers", 15.80e-3, 2.87e-3, 0.98e-3, "1335 + 9 DoFs, 12 contacts", model, state, targets, touching, alarm,
        lambda s, c: forward.step(s, c.displacement, dt), dt, [pl.GraspFloor(0.4)],
    )  # fmt: skip


def cup() -> ContactScene:
    """The trunk that moves and turns the cup it holds (spec 13.3), as in example 19."""
    example = load_example("19_cup")
    model = pl.FemModel(cup_trunk())
    touching, dt = [grasp_contact()], example.DT
    state = grasped(model, steps=30)
    forward = pl.Stepper(model, obstacles=touching, scheme="euler", alarm=example.ALARM)
    home = model.locate(state, CUP_POINTS).position
    centre = home.mean(axis=0)
    slow = [pl.EffortTarget(a, float(e), weight=1e-3) for a, e in zip(model.robot.actuator_names, state.effort)]

    def targets(t: float) -> list:
        share = min(1.0, t / 0.6)
        share *= share * (3.0 - 2.0 * share)
        goal = centre + share * np.array((0.008, 0.002, 0.006)) + (home - centre) @ example.turn(0.087 * share).T
        return [pl.PointsTarget(CUP_POINTS, goal), *slow]

    return ContactScene(
        "trunk + cup", 185.18e-3, 76.53e-3, 35.47e-3, "2127 + 3765 DoFs, 81 contacts", model, state, targets, touching,
        example.ALARM, lambda s, c: forward.step(s, c.effort, dt), dt, [pl.GraspFloor(example.FLOOR)],
    )  # fmt: skip


def catheter() -> ContactScene:
    """The catheter inside the upper branch of the vessel (spec 11.1), going on along its axis, as in example 15."""
    example = load_example("15_catheter")
    model, wall, way = example.catheter(), example.vessel(), example.path(1)
    run = pl.follow(model, way[:3], obstacles=[wall], spacing=0.004, alarm=example.ALARM)
    along = (way[3] - way[2]) / np.linalg.norm(way[3] - way[2])

    def targets(t: float) -> list:
        return [pl.PointTarget("tip", tuple(way[2] + 0.02 * min(t, 1.0) * along))]

    return ContactScene(
        "catheter", None, 0.75e-3, 3.13e-3, "66 DoFs, 47 contacts", model, run[len(run) - 1], targets, [wall],
        example.ALARM, lambda s, c: c.state,
    )  # fmt: skip


SCENES = {"ring": ring, "sphere": sphere, "fingers": fingers, "trunk + cup": cup, "catheter": catheter}


def measure(scene: ContactScene, steps: int) -> dict[str, Any]:
    """One linearisation per step; medians of process time, wall-clock time per phase, and counts."""
    problem = Problem(scene.model, scene.obstacles, alarm=scene.alarm)
    state, spent, contacts, pieces = scene.state, [], [], []
    phases: dict[str, list[float]] = {p: [] for p in PHASES}
    dt = scene.dt if np.isfinite(scene.dt) else 0.02
    for k in range(steps + 3):
        goals = scene.targets(dt * (k + 1))
        begin = time.process_time()
        command = pl.invert(scene.model, state, goals, problem=problem, iterations=1, **scene.options())
        elapsed = time.process_time() - begin
        state = scene.motion(state, command)
        if k >= 3:
            spent.append(elapsed)
            contacts.append(0 if command.state.contacts is None else len(command.state.contacts))
            pieces.append(len(command.solution.pieces))
            for p in PHASES:
                phases[p].append(command.timing.get(p, 0.0))
    return {
        "dofs": scene.model.nv, "contacts": float(np.mean(contacts)), "step": float(np.median(spent)),
        "pieces": float(np.mean(pieces)), "phases": {p: float(np.median(v)) for p, v in phases.items()},
        "error": float(np.abs(command.error).max()),
    }  # fmt: skip


def main() -> None:
    """Print one row per scene."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    head = "| scene | theirs | ours: DoFs / contacts / QPs per step | theirs [ms] | ours [ms] | ratio | "
    print(head + " | ".join(PHASES) + " |")
    for name, make in SCENES.items():
        if options.only in name:
            scene = make()
            r = measure(scene, options.steps)
            shares = " | ".join(f"{1e3 * r['phases'][p]:.2f}" for p in PHASES)
            print(
                f"| {name} | {scene.size} | {r['dofs']} / {r['contacts']:.0f} / {r['pieces']:.1f} | "
                f"{1e3 * scene.reference:.2f} (QPs {1e3 * scene.qp:.2f}) | {1e3 * r['step']:.2f} | "
                f"{scene.reference / r['step']:.1f} | {shares} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
