"""A soft ring rolls: locomotion by inverse dynamics with sticking contact (spec 13.1).

A ring with four cables across it lies on the ground and nothing holds it. Its barycentre is asked to move a little
ahead of where it is; the inverse, over one implicit time step, with contacts that stick to the ground, finds the
tensions that tip it over. The same controller takes it up a slope. Contacts that stick carry any tangential force here;
the ratio of tangential to normal force is printed, to compare with the real friction.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.geometry import tube_mesh
from pliant.materials import Corotational
from pliant.solve.problem import Problem

EXPECTED = (2.0, 500.0)  # distance rolled [mm]


def ring(around: int = 4, n_length: int = 2) -> pl.Robot:
    """A silicone ring of 100 mm diameter, 10 mm thick and 15 mm wide, with four cables across it."""
    mesh = tube_mesh(0.040, 0.050, 0.015, n_bore=around, n_radial=1, n_length=n_length, axis="y")
    mesh = mesh.transformed(translation=(0.0, -0.0075, 0.0505))
    mesh = mesh.with_node_set("middle", lambda x: np.abs(x[:, 1]) < 1e-6)
    material = Corotational.from_young(100e3, 0.45, density=1100.0, rayleigh_mass=2.0, rayleigh_stiffness=0.02)
    cables = []
    for i in range(4):
        a = np.pi * i / 4 + 0.2
        ends = [(r * np.cos(a), 0.0, 0.0505 + r * np.sin(a)) for r in (0.041, -0.041)]
        cables.append(
            pl.Cable(name=f"across{i + 1}", points=ends, drive="effort", effort_limits=(0.0, 0.8), rate_limit=8.0)
        )
    upright = (pl.Fixation("middle", axes="y"),)  # it rolls in a plane, as if between guides
    return pl.Robot(
        "ring", (pl.SoftBody("body", mesh, material),), upright, actuators=tuple(cables),
        points=(pl.Point("top", (0.0, 0.0, 0.1)),), source="spec inverse-fem 13.1; dimensions chosen",
    )  # fmt: skip


def roll(slope: float, steps: int, dt: float, model: pl.FemModel) -> tuple[pl.State, float]:
    """Roll on a slope [rad]; returns the last state and the distance along it [m]."""
    normal = np.array([-np.sin(slope), 0.0, np.cos(slope)])
    along = np.array([np.cos(slope), 0.0, np.sin(slope)])
    ground = pl.Plane(point=(0, 0, 0), normal=tuple(normal), friction=0.8, extent=0.3)
    problem = Problem(model, [ground], alarm=0.006)
    zero = np.zeros(model.nu)
    state = pl.State(model.rest.copy(), np.zeros(model.nv), zero, zero, model.displacement(model.rest))
    for _ in range(20):  # fall onto the ground and come to rest
        state = pl.step(model, state, zero, dt, obstacles=[ground], scheme="euler")
    start = model.skin_positions(state.q).mean(axis=0)
    ratios: list[float] = []
    failed = 0
    for k in range(steps):
        goal = start + along * 0.05 * dt * (k + 1)
        target = pl.BarycentreTarget(tuple(goal), axes="x")
        command = pl.invert(
            model, state, target, problem=problem, dynamic=True, dt=dt, iterations=8, friction="stick"
        )
        if not command.ok:  # nothing good was found: keep the tensions for a step
            failed += 1
            state = pl.step(model, state, state.effort, dt, obstacles=[ground], scheme="euler")
            continue
        state = command.state
        ratios += command.solution.friction_ratio[command.solution.friction_ratio > 0].tolist()
    moved = model.skin_positions(state.q).mean(axis=0) - start
    print(f"{steps} steps, {failed} without an answer; median friction ratio {np.median(ratios):.2f}")
    return state, float(moved @ along)


def main(quick: bool = False) -> float:
    """Roll on flat ground (and, in full, up a slope of 3 degrees); returns the distance on flat ground [mm]."""
    model = pl.FemModel(ring(3 if quick else 4))
    state, distance = roll(0.0, 12 if quick else 150, 0.02, model)
    print(f"{model!r}: rolled {1e3 * distance:.1f} mm on the flat")
    if not quick:
        ground = pl.Plane(friction=0.8, extent=0.2)
        print("wrote", pl.snapshot(model, state, "out/rolling_ring.png", obstacles=[ground], camera=(-85, 6)))
        _, up = roll(np.radians(3.0), 100, 0.02, model)
        print(f"rolled {1e3 * up:.1f} mm up a slope of 3 degrees")
    return 1e3 * distance


if __name__ == "__main__":
    main()
