"""Three fingertips shape a soft beam: nine drives, sticking contact, an object that nothing else holds (spec 13.3).

Two fingertips carry a soft beam, a third presses on its middle; three slides move each. The object is what is
controlled: four of its points are asked to go up and onto a parabola. Over every implicit time step the
inverse finds where the nine drives must go, with twelve contacts that stick and a floor under the grasp force. The
forward simulation, with Coulomb friction, takes the motion of the drives and says what shape the beam really has.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import pliant as pl
from pliant.robots.three_fingertips import POINTS, fingertip_pairs
from pliant.solve.problem import Problem

EXPECTED = (0.0, 0.2)  # distance of the four points from the wanted shape, root mean square, in the quick run [mm]
DT = 0.02  # time step [s]


@dataclass
class Shaping:
    """What happened: the last state, where the points began and should be, errors per step, unsolved, friction."""

    state: pl.State
    home: np.ndarray
    goal: np.ndarray
    errors: list[np.ndarray] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    unsolved: int = 0
    loose: int = 0

    @property
    def off(self) -> float:
        """Distance from the wanted shape in the end, root mean square [m]."""
        return float(np.sqrt(np.mean(self.errors[-1] ** 2)))


def shape(model: pl.FemModel, steps: int) -> Shaping:
    """Close the grasp, then bring the four points 2.5 mm up and onto a parabola."""
    touching = [pl.ContactPairs.nearest(model, *fingertip_pairs(model.robot), within=1e-6, friction=0.8)]
    problem = Problem(model, touching, alarm=0.002)
    forward = pl.Stepper(model, obstacles=touching, scheme="euler", alarm=0.002, iterations=60)
    state, press = forward.start(), np.zeros(model.nu)
    for k in range(16):  # close the grasp
        press[model.robot.actuator_index("top_z")] = -0.0015 * min(1.0, k / 8)
        state = forward.step(state, press, DT)
    home = model.locate(state, POINTS).position
    run = Shaping(state, home, home)
    for k in range(steps):
        share = min(1.0, (k + 1) / (0.8 * steps))
        share *= share * (3.0 - 2.0 * share)
        run.goal = home.copy()  # 2.5 mm up, and the ends another 7.5 mm
        run.goal[:, 2] += share * (0.0025 + 0.005 * (home[:, 0] / 0.035) ** 2)
        command = pl.invert(
            model, run.state, pl.PointsTarget(POINTS, run.goal), limits=[pl.GraspFloor(0.4)], problem=problem,
            dynamic=True, dt=DT, friction="stick", iterations=40,
        )  # fmt: skip
        run.unsolved += not command.ok
        run.ratios.append(float(command.solution.friction_ratio.max()))
        run.state = forward.step(run.state, command.displacement, DT)  # with Coulomb friction
        run.loose += not run.state.ok
        run.errors.append(np.linalg.norm(model.locate(run.state, POINTS).position - run.goal, axis=1))
    return run


def main(quick: bool = False) -> float:
    """Lift and bend the beam; returns how far its points are from the wanted shape [mm]."""
    model = pl.FemModel(pl.robots.three_fingertips(cells=(13, 2) if quick else (27, 3)))
    run = shape(model, 10 if quick else 40)
    moved, wanted = (1e3 * (p - run.home)[:, 2] for p in (model.locate(run.state, POINTS).position, run.goal))
    held = run.state.contacts.forces
    print(f"{model!r}: {len(run.errors)} steps, {run.unsolved} without an answer; {run.loose} forward steps loose")
    print(f"points moved up by {moved.round(2)} mm, wanted {wanted.round(2)}")
    print(f"shape within {1e3 * run.off:.3f} mm (root mean square), {1e3 * np.max(run.errors):.3f} mm worst on the way")
    print(f"grasp force {held.sum():.2f} N on {(held > 0).sum()} contacts, friction asked for by sticking: "
          f"{np.median(run.ratios):.2f} (median of the worst)")  # fmt: skip
    if not quick:
        print("wrote", pl.snapshot(model, run.state, "out/fingertips.png", camera=(-75, 10)))
    return 1e3 * run.off


if __name__ == "__main__":
    main()
