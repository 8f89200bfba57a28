"""Two more scenes of the thesis, from their examples: the catheter in a forked vessel, and the trunk with a cup."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import numpy as np
from inverse_contact_scenes import ContactScene

import pliant as pl


def _example(name: str) -> Any:
    """An example as a module."""
    path = Path(__file__).parent.parent / "examples" / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def catheter() -> ContactScene:
    """Inside the upper branch of the vessel; the tip goes on along its axis (spec 11.1). Reference: W and QPs."""
    scene = _example("15_catheter")
    model = pl.BeamModel(pl.robots.catheter().but(gravity=(0.0, 0.0, 0.0)), elements=10)
    wall, way = scene.vessel(), scene.path(1)
    run = pl.follow(model, way[:3], obstacles=[wall], spacing=0.004, alarm=scene.ALARM)
    along = (way[3] - way[2]) / np.linalg.norm(way[3] - way[2])

    def targets(t: float) -> list:
        return [pl.PointTarget("tip", tuple(way[2] + 0.02 * min(t, 1.0) * along))]

    return ContactScene(
        "catheter", 3.9e-3, 3.13e-3, "66 DoFs, 47 contacts", model, run[len(run) - 1], targets, [wall], scene.ALARM,
        lambda s, c: c.state,
    )  # fmt: skip


def cup() -> ContactScene:
    """The trunk moves and turns the cup that it holds (spec 13.3)."""
    from pliant.robots.cup_trunk import CUP_POINTS, cup_trunk, grasp_contact, grasped

    scene = _example("19_cup")
    model = pl.FemModel(cup_trunk(cells=(36, 15)))
    state = grasped(model, steps=30)
    touching, dt, alarm = [grasp_contact()], scene.DT, 0.003
    forward = pl.Stepper(model, obstacles=touching, scheme="euler", alarm=alarm)
    home = model.locate(state, CUP_POINTS).position
    centre = home.mean(axis=0)
    slow = [pl.EffortTarget(a, float(e), weight=1e-3) for a, e in zip(model.robot.actuator_names, state.effort)]

    def targets(t: float) -> list:
        share = min(1.0, t / 0.6)
        share *= share * (3.0 - 2.0 * share)
        goal = centre + share * np.array((0.008, 0.002, 0.006)) + (home - centre) @ scene.turn(0.087 * share).T
        return [pl.PointsTarget(CUP_POINTS, goal), *slow]

    return ContactScene(
        "trunk + cup", 185e-3, 35.5e-3, "5892 DoFs, 81 contacts", model, state, targets, touching, alarm,
        lambda s, c: forward.step(s, c.effort, dt), dt, [pl.GraspFloor(scene.FLOOR)],
    )  # fmt: skip


MORE = {"catheter": catheter, "trunk + cup": cup}
