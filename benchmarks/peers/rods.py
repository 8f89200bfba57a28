"""Our side of the rods of benchmarks/peers: each case gives rows of (case, who, result, reference, error, ms)."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np
import references as exact
from rows import Row, row, timed

import pliant as pl

LENGTH, RADIUS = exact.LENGTH, exact.RADIUS
STILL = (0.0, 0.0, 0.0)
NONE = np.zeros(0)
MATERIAL = pl.materials.NeoHookean.from_young(exact.YOUNG, exact.POISSON, density=exact.DENSITY)


def _mm(*values: float) -> str:
    return ", ".join(f"{1e3 * v:.2f}" for v in values) + " mm"


def noodle() -> Iterator[Row]:
    """A heavy cantilever (weight L^3 / EI = 216) with a tip load."""
    load = 0.05
    push = pl.PointForce(name="load", point=(LENGTH, 0, 0), direction=(0, 0, -1))
    robot = pl.Robot("noodle", pl.RodBody("rod", LENGTH, RADIUS, MATERIAL), actuators=push)
    goal = exact.heavy_elastica(load, exact.WEIGHT)
    for name, model in (
        ("RodModel, Legendre of order 5", pl.RodModel(robot, basis=pl.basis.legendre(5))),
        ("RodModel, 8 x Legendre of order 2", pl.RodModel(robot, basis=pl.basis.legendre(2, segments=8))),
        ("RodModel, 40 segments of constant strain", pl.RodModel(robot, basis=pl.basis.constant(segments=40))),
        ("BeamModel, 40 elements, shear", pl.BeamModel(robot, elements=40, shear=True)),
    ):
        state, ms = timed(lambda m=model: pl.equilibrium(m, {"load": load}).require())
        x, _, z = np.ravel(model.locate(state, "tip").position)
        yield row("noodle: heavy cantilever with a tip load, tip", f"pliant {name}", _mm(x, z), _mm(goal[0], -goal[1]),
                  np.hypot(x - goal[0], z + goal[1]) / LENGTH, ms)  # fmt: skip


def helix() -> Iterator[Row]:
    """A spring of five turns pulled by the wrench that makes it another helix."""
    rest, bent = np.array([4.0, 0, 60]), np.array([20.0, 0, 50])
    force, moment, goal = exact.helix(rest, bent, LENGTH)
    body = pl.RodBody("rod", LENGTH, RADIUS, MATERIAL, rest_curvature=tuple(rest))
    bare = pl.RodModel(pl.Robot("spring", body, gravity=STILL), basis=pl.basis.constant())
    tip = np.ravel(bare.locate(bare.rest, "tip").position)
    wrench = pl.Wrench(name="pull", point=tuple(tip), force=tuple(force), moment=tuple(moment), body="rod")
    robot = pl.Robot("spring", body, actuators=wrench, gravity=STILL)
    for name, basis in (
        ("Legendre of order 3", None),
        ("Legendre of order 8", pl.basis.legendre(8)),
        ("20 segments of constant strain", pl.basis.constant(segments=20)),
    ):
        model = pl.RodModel(robot, basis=basis)
        state, ms = timed(lambda m=model: pl.equilibrium(m, [1.0]).require())
        place = np.ravel(model.locate(state, "tip").position)
        yield row("spring of 5 turns pulled out, tip", f"pliant RodModel, {name}", _mm(*place), _mm(*goal),
                  np.linalg.norm(place - goal) / LENGTH, ms)  # fmt: skip


def column() -> Iterator[Row]:
    """A straight column pushed above Euler's load: 40 degrees at its tip. No imperfection."""
    share, x, y = exact.buckled(np.radians(40))
    push = pl.PointForce(name="load", point=(LENGTH, 0, 0), direction=(-1, 0, 0))
    robot = pl.Robot("column", pl.RodBody("rod", LENGTH, RADIUS, MATERIAL), actuators=push, gravity=STILL)
    load = share * exact.euler_load()
    for name, model in (
        ("RodModel, Legendre of order 3", pl.RodModel(robot)),
        ("BeamModel, 40 elements", pl.BeamModel(robot, elements=40)),
    ):
        state, ms = timed(lambda m=model: pl.equilibrium(m, [load]), 1)
        place = np.ravel(model.locate(state, "tip").position) / LENGTH
        side = np.hypot(place[1], place[2])
        yield row("straight column at 1.064 of Euler's load, tip / L", f"pliant {name} ({state.status.name.lower()})",
                  f"{place[0]:.4f}, {side:.4f}", f"{x:.4f}, {y:.4f}", np.hypot(place[0] - x, side - y), ms)  # fmt: skip


def pendulum() -> Iterator[Row]:
    """The soft rod swings about its end from 60 degrees, undamped: energy after 6 s over the energy of the swing."""
    half = np.pi / 4 - np.radians(60) / 2
    turned = (float(np.cos(half)), 0.0, float(np.sin(half)), 0.0)
    body = pl.RodBody("rod", LENGTH, RADIUS, MATERIAL, rotation=turned, rotates=True)
    model = pl.RodModel(pl.Robot("pendulum", body))
    first = model.energy(model.rest, NONE)
    swing, dt = first + 0.5 * exact.WEIGHT * LENGTH**2, 3e-3
    for scheme in ("alpha", "trapezoidal"):
        stepper = pl.Stepper(model, scheme=scheme)
        state = stepper.step(pl.State(model.rest, np.zeros(model.nv), NONE, NONE, NONE), None, dt)
        steps, begin = int(6.0 / dt), time.process_time()
        for _ in range(steps - 1):
            state = stepper.step(state, None, dt).require()
        ms = 1e3 * (time.process_time() - begin) / steps
        energy = model.energy(state.q, NONE) + 0.5 * state.v @ model.inertia(state.q) @ state.v
        drift = (energy - first) / swing
        yield row("soft pendulum, energy after 6 s", f'pliant RodModel, scheme "{scheme}", 3 ms steps, {steps} steps',
                  f"{100 * drift:+.3f} %", "0 %", abs(drift), ms)  # fmt: skip


def arm() -> Iterator[Row]:
    """Two rods in a row, one tendon to the end of the first, one through both; no weight: two arcs."""
    offset, pulls = 4e-3, np.array([0.3, 0.5])
    bodies = (pl.RodBody("upper", 0.3, RADIUS, MATERIAL), pl.RodBody("fore", 0.2, RADIUS, MATERIAL, parent="upper"))
    ends = (0.3, 0.5)
    tendons = [
        pl.Cable(name=f"t{i}", points=((0, 0, -offset), (end, 0, -offset)), drive="effort") for i, end in enumerate(ends)
    ]
    robot = pl.Robot("arm", bodies, actuators=tendons, gravity=STILL)
    model = pl.RodModel(robot, basis=pl.basis.legendre(2))
    state, ms = timed(lambda: pl.equilibrium(model, pulls).require())
    tension = np.array([pulls.sum(), pulls[1]])
    shrunk = 1 - tension / (exact.YOUNG * exact.AREA)
    goal = exact.arms(tension * offset / exact.BENDING / shrunk, np.array([0.3, 0.2]) * shrunk)
    place = np.ravel(model.locate(state, "fore.tip").position)
    yield row("arm of two rods, two tendons, tip", "pliant RodModel, Legendre of order 2", _mm(*place), _mm(*goal),
              np.linalg.norm(place - goal) / LENGTH, ms)  # fmt: skip


def sizes() -> Iterator[Row]:
    """The noodle as large as a hair and as a tree: shapes over size must be the same, whatever the unit."""
    shapes, times = [], []
    factors = (1e-4, 1e-2, 1.0, 1e2, 1e4)
    for s in factors:
        soft = pl.materials.NeoHookean.from_young(exact.YOUNG * s, exact.POISSON, density=exact.DENSITY)
        model = pl.BeamModel(pl.Robot("noodle", pl.RodBody("rod", s * LENGTH, s * RADIUS, soft)), elements=40)
        floor = pl.Plane(point=(0, 0, -0.3 * s * LENGTH), normal=(0, 0, 1))
        state, ms = timed(lambda m=model, f=floor: pl.equilibrium(m, obstacles=[f]).require(), 1)
        shapes.append(np.ravel(model.locate(state, "tip").position) / (s * LENGTH))
        times.append(ms)
    spread = float(np.abs(np.array(shapes) - shapes[2]).max())
    yield row("heavy rod on a floor, 0.05 mm to 5 km long, tip / L", "pliant BeamModel, 40 elements, spread over five sizes",
              f"{spread:.1e}", "0", spread, max(times))  # fmt: skip


CASES = (noodle, helix, column, pendulum, arm, sizes)
