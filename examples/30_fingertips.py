"""Three fingertips shape a soft beam: nine drives, sticking contact, an object that nothing else holds (spec 13.3).

Two fingertips carry a soft beam, a third presses on its middle; three slides move each. The object is what is
controlled: four of its points are asked to go up and onto a parabola. Over every implicit time step the
inverse finds where the nine drives must go, with twelve contacts that stick and a floor under the grasp force. The
forward simulation, with Coulomb friction, takes the motion of the drives and says what shape the beam really has.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.robots.three_fingertips import POINTS, fingertip_pairs
from pliant.solve.problem import Problem

EXPECTED = (0.0, 0.2)  # distance of the four points from the wanted shape, root mean square, in the quick run [mm]
DT = 0.02  # time step [s]


def main(quick: bool = False) -> float:
    """Lift and bend the beam; returns how far its points are from the wanted shape [mm]."""
    model = pl.FemModel(pl.robots.three_fingertips(cells=(13, 2) if quick else (27, 3)))
    touching = [pl.ContactPairs.nearest(model, *fingertip_pairs(model.robot), within=1e-6, friction=0.8)]
    problem = Problem(model, touching, alarm=0.002)
    forward = pl.Stepper(model, obstacles=touching, scheme="euler", alarm=0.002, iterations=60)
    state, press = forward.start(), np.zeros(model.nu)
    for k in range(16):  # close the grasp
        press[model.robot.actuator_index("top_z")] = -0.0015 * min(1.0, k / 8)
        state = forward.step(state, press, DT)
    home = model.locate(state, POINTS).position
    steps, unsolved, loose, ratios, errors = (10 if quick else 40), 0, 0, [], []
    for k in range(steps):
        share = min(1.0, (k + 1) / (0.8 * steps))
        share *= share * (3.0 - 2.0 * share)
        goal = home.copy()  # 2.5 mm up, and the ends another 7.5 mm
        goal[:, 2] += share * (0.0025 + 0.005 * (home[:, 0] / 0.035) ** 2)
        command = pl.invert(
            model, state, pl.PointsTarget(POINTS, goal), limits=[pl.GraspFloor(0.4)], problem=problem, dynamic=True,
            dt=DT, friction="stick", iterations=40,
        )  # fmt: skip
        unsolved += not command.ok
        ratios.append(float(command.solution.friction_ratio.max()))
        state = forward.step(state, command.displacement, DT)  # with Coulomb friction
        loose += not state.ok
        errors.append(np.linalg.norm(model.locate(state, POINTS).position - goal, axis=1))
    off = 1e3 * float(np.sqrt(np.mean(errors[-1] ** 2)))
    moved = 1e3 * (model.locate(state, POINTS).position - home)[:, 2]
    print(f"{model!r}: {steps} steps, {unsolved} without an answer ({loose} forward steps not converged)")
    print(f"points moved up by {moved.round(2)} mm, wanted {(1e3 * (goal - home)[:, 2]).round(2)}; shape within "
          f"{off:.3f} mm (root mean square), on the way {1e3 * np.max(errors):.3f} mm at worst")  # fmt: skip
    print(f"grasp force {state.contacts.forces.sum():.2f} N on {(state.contacts.forces > 0).sum()} contacts, friction "
          f"asked for by sticking: {np.median(ratios):.2f} (median of the worst)")  # fmt: skip
    if not quick:
        print("wrote", pl.snapshot(model, state, "out/fingertips.png", camera=(-75, 10)))
    return off


if __name__ == "__main__":
    main()
