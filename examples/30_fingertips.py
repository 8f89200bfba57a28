"""Three fingertips shape a soft beam: nine drives, sticking contact, an object that nothing else holds (spec 13.3).

Each fingertip is a rigid ball that three slides move along x, y and z. A soft beam rests on two of them; the third
presses from above between them. The object is what is controlled: its points are asked to go up and to bend, over
implicit time steps, with contacts that stick to the fingertips.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.contact.primitives import Sphere
from pliant.materials import Corotational
from pliant.solve.problem import Problem

EXPECTED = (0.5, 50.0)  # how far the beam's middle was lifted [mm]
TIPS = {"left": (-0.025, 0.0, -0.0131), "right": (0.025, 0.0, -0.0131), "top": (0.0, 0.0, 0.0131)}


def scene() -> pl.Robot:
    """A soft beam of 80 x 12 x 12 mm and three fingertips of 14 mm diameter."""
    mesh = pl.TetMesh.box((0.08, 0.012, 0.012), (13, 2, 2), (-0.04, -0.006, -0.006))
    soft = Corotational.from_young(60e3, 0.45, density=1100.0, rayleigh_mass=4.0, rayleigh_stiffness=0.02)
    fingers, slides = [], []
    for name, place in TIPS.items():
        vertices, triangles = Sphere(place, 0.007).surface()
        fingers.append(pl.RigidBody(name, vertices, triangles, mass=0.01, rotates=False))
        for axis, direction in zip("xyz", np.eye(3)):
            slides.append(
                pl.Slide(name=f"{name}_{axis}", part=name, axis=tuple(direction), displacement_limits=(-0.03, 0.03))
            )
    return pl.Robot(
        "three-fingers", (pl.SoftBody("beam", mesh, soft), *fingers), actuators=tuple(slides),
        points=(pl.Point("a", (-0.03, 0, 0), "beam"), pl.Point("b", (0.03, 0, 0), "beam"),
                pl.Point("middle", (0, 0, 0), "beam")),
        source="examples/30_fingertips.py; spec inverse-fem 13.3, dimensions chosen",
    )  # fmt: skip


def main(quick: bool = False) -> float:
    """Lift the beam; returns how far its middle moved up [mm]."""
    model = pl.FemModel(scene())
    touching = [pl.BodyContact(body_a=0, body_b=i, friction=0.8) for i in (1, 2, 3)]
    problem = Problem(model, touching, alarm=0.003)
    zero = np.zeros(model.nu)
    state = pl.State(model.rest.copy(), np.zeros(model.nv), zero, zero, model.displacement(model.rest))
    dt = 0.02
    for _ in range(10):
        state = pl.step(model, state, zero, dt, obstacles=touching, scheme="euler")
    names = ("a", "b", "middle")
    home = model.locate(state, names).position
    steps, failed = (8 if quick else 60), 0
    for k in range(steps):
        shift = np.array([0.0, 0.0, 2e-4 * (k + 1)])
        goal = pl.PointsTarget(names, tuple(map(tuple, home + shift)))
        command = pl.invert(model, state, goal, problem=problem, dynamic=True, dt=dt, iterations=6, friction="stick")
        if command.ok:
            state = command.state
        else:
            failed += 1
            state = pl.step(model, state, state.displacement, dt, obstacles=touching, scheme="euler")
    moved = 1e3 * (model.locate(state, names).position - home)
    force = state.contacts.forces.sum()
    print(f"{model!r}: {steps} steps, {failed} without an answer; contact force {force:.3f} N")
    print(f"points moved up by {moved[:, 2].round(3)} mm (wanted {0.2 * steps:.1f} mm)")
    if not quick:
        print("wrote", pl.snapshot(model, state, "out/fingertips.png", camera=(-75, 10)))
    return float(moved[2, 2])


if __name__ == "__main__":
    main()
