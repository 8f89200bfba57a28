"""Our side of the contacts of benchmarks/peers: each case gives rows of (case, who, result, reference, error, ms)."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np
import references as exact
from rows import Row, row

import pliant as pl

NONE = np.zeros(0)
FRICTION, SPEED, STEP = 0.3, 0.5, 2e-3
WAY = SPEED**2 / (2 * FRICTION * exact.GRAVITY)
FLOOR = pl.Plane(point=(0, 0, 0), normal=(0, 0, 1), friction=FRICTION)


def _slide(model: Any, state: Any, who: str, case: str, scheme: str) -> Row:
    """Let a state that moves come to rest; its way against that of a point."""
    stepper = pl.Stepper(model, obstacles=[FLOOR], scheme=scheme)
    start, steps = model.skin_positions(state.q)[:, 0].mean(), 150
    begin = time.process_time()
    for _ in range(steps):
        state = stepper.step(state, None, STEP).require()
    ms = 1e3 * (time.process_time() - begin) / steps
    way = float(model.skin_positions(state.q)[:, 0].mean() - start)
    return row(case, f'pliant {who}, scheme "{scheme}", 2 ms steps', f"{1e3 * way:.2f} mm", f"{1e3 * WAY:.2f} mm",
               abs(way / WAY - 1), ms)  # fmt: skip


def cube() -> Iterator[Row]:
    """A soft cube of 50 mm is dropped from 2 cm, rests, and slides to rest from 0.5 m/s."""
    law = pl.materials.NeoHookean.from_young(1e5, 0.45, density=1000.0, rayleigh_stiffness=0.005)
    body = pl.SoftBody("cube", pl.TetMesh.box((0.05,) * 3, (3,) * 3), law)
    model = pl.FemModel(pl.Robot("cube", body))
    lifted = model.rest.reshape(-1, 3) + [0, 0, 0.02]
    weight = 1000.0 * 0.05**3 * exact.GRAVITY
    stepper = pl.Stepper(model, obstacles=[FLOOR], scheme="euler")
    state = pl.State(lifted.ravel(), np.zeros(model.nv), NONE, NONE, NONE)
    force, begin = [], time.process_time()
    for _ in range(300):
        state = stepper.step(state, None, STEP).require()
        force.append(float(state.contacts.forces.sum()))
    ms, rest = 1e3 * (time.process_time() - begin) / 300, float(np.mean(force[-50:]))
    yield row("soft cube dropped on a plane, force at rest", f"pliant FemModel, 64 nodes, 2 ms steps (force +- "
              f"{np.std(force[-50:]):.1g} N, {1e3 * state.contacts.max_penetration:.1g} mm deep)", f"{rest:.4f} N",
              f"{weight:.4f} N", abs(rest / weight - 1), ms)  # fmt: skip
    moving = np.tile([SPEED, 0, 0], len(lifted))
    for scheme in ("euler", "alpha"):
        yield _slide(model, state.but(v=moving, memory={}), "FemModel, 64 nodes", "soft cube slides on a plane, way to rest",
                     scheme)  # fmt: skip


def _free_rod(tilt: float, height: float) -> Any:
    material = pl.materials.NeoHookean.from_young(exact.YOUNG, exact.POISSON, density=exact.DENSITY)
    axes = ((1.0, 0, 0), (0, 1.0, 0), (0, 0, 1.0))
    body = pl.RodBody(
        "rod", exact.LENGTH, exact.RADIUS, material, position=(0, 0, height), damping=0.005, axes=axes, rotates=True,
        rotation=(float(np.cos(tilt / 2)), 0.0, -float(np.sin(tilt / 2)), 0.0),
    )  # fmt: skip
    return pl.RodModel(pl.Robot("rod", body))


def rod_slides() -> Iterator[Row]:
    """A free rod slides along itself on the floor."""
    model = _free_rod(0.0, exact.RADIUS)
    moving = np.zeros(model.nv)
    moving[0] = SPEED
    for scheme in ("euler", "alpha"):
        state = pl.State(model.rest, moving, NONE, NONE, NONE)
        yield _slide(model, state, "RodModel, Legendre of order 3", "rod slides along itself on a plane, way to rest", scheme)


def rod_falls() -> Iterator[Row]:
    """A free rod, tilted by 20 degrees, falls on the floor and comes to rest: the floor carries its weight."""
    weight = exact.WEIGHT * exact.LENGTH
    for scheme in ("euler", "alpha"):
        model = _free_rod(np.radians(20), 0.02)
        stepper, state = pl.Stepper(model, obstacles=[FLOOR], scheme=scheme), None
        force, steps, failed, begin = [0.0], 0, "", time.process_time()
        for _ in range(300):
            try:
                state = stepper.step(state, None, STEP)
            except pl.PliantError as error:
                failed = f"raised {type(error).__name__} at step {steps}"
                break
            steps += 1
            force.append(float(state.contacts.forces.sum()) if state.contacts is not None else 0.0)
            if not state.ok:
                failed = f"{state.status.name} at step {steps}"
                break
        ms, rest = 1e3 * (time.process_time() - begin) / steps, float(np.mean(force[-30:]))
        yield row("tilted rod falls on a plane, force at rest", f'pliant RodModel, scheme "{scheme}", 2 ms steps',
                  failed or f"{rest:.4f} N", f"{weight:.4f} N", np.nan if failed else abs(rest / weight - 1), ms)  # fmt: skip


def pulley() -> Iterator[Row]:
    """A rope over a quarter of a pulley with friction: pulled against the load, tensions follow the capstan."""
    drum, radius, length, load, friction = 0.05, 1e-3, 0.3, 2.0, 0.2
    rope = pl.materials.NeoHookean.from_young(2e7, 0.45, density=1000.0)
    pulley = pl.Cylinder(a=(0.05, -0.1, -drum - radius), b=(0.05, 0.1, -drum - radius), radius=drum, friction=friction)
    weight = pl.PointForce(name="load", point=(length, 0, 0), direction=(0, 0, -1))
    pull = pl.Slide(name="pull", part="rope", axis=(-1.0, 0, 0), drive="displacement")
    body = pl.RodBody("rope", length, radius, rope, axes=((1.0, 0, 0),))
    model = pl.BeamModel(pl.Robot("rope", body, actuators=(weight, pull), gravity=(0, 0, 0)), elements=60)
    goal = float(np.exp(friction * np.pi / 2))
    state, begin = None, time.process_time()
    for share, way in ((0.05, 0.0), (0.3, 0.0), (1.0, 0.0), (1.0, 4e-3)):
        state = pl.equilibrium(model, {"load": share * load, "pull": way}, obstacles=[pulley], start=state).require()
        if way == 0.0 and share == 1.0:
            given = state.effort[1] / load
            yield row("rope let down over a pulley, ratio of tensions", "pliant BeamModel, 60 elements", f"{given:.4f}",
                      f"{1 / goal:.4f}", abs(given * goal - 1), 1e3 * (time.process_time() - begin) / 3)  # fmt: skip
            begin = time.process_time()
    taken = state.effort[1] / load
    yield row("rope pulled over a pulley, ratio of tensions", "pliant BeamModel, 60 elements", f"{taken:.4f}", f"{goal:.4f}",
              abs(taken / goal - 1), 1e3 * (time.process_time() - begin))  # fmt: skip


CASES = (cube, rod_slides, rod_falls, pulley)
