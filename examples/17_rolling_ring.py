"""A soft ring rolls: locomotion by inverse dynamics with sticking contact, on the flat and up a slope (spec 13.1).

A ring with four cables across it stands on the ground and nothing holds it. Its barycentre is asked to go along at a
constant height; over every implicit time step, with contacts that stick to the ground, the inverse finds the tensions.
They make the ring oval, with the short axis ahead of upright, and it tips over and over. The forward simulation, with
Coulomb friction instead of sticking, is the judge: it takes the tensions and says where the ring really goes.
Sticking forces have no cone; what the ground must really provide is the total tangential over the total normal force.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

import pliant as pl
from pliant.solve.problem import Problem

EXPECTED = (3.5, 4.5)  # distance rolled in the quick run [mm]
DT = 0.02  # time step [s]


@dataclass
class Roll:
    """What happened on the way: worst and mean error, friction needed, pivots, and how the steps ended."""

    state: pl.State
    distance: float = 0.0
    errors: list[float] = field(default_factory=list)
    friction: list[float] = field(default_factory=list)
    ratios: list[float] = field(default_factory=list)
    pivots: list[int] = field(default_factory=list)
    unsolved: int = 0

    def __str__(self) -> str:
        return (
            f"rolled {1e3 * self.distance:.1f} mm in {len(self.errors)} steps, {self.unsolved} without an answer; "
            f"error {1e3 * np.mean(self.errors):.4f} mm mean, {1e3 * max(self.errors):.4f} mm worst; friction needed "
            f"{max(self.friction):.2f} in all, {np.median(self.ratios):.2f} per contact (median); up to "
            f"{max(self.pivots)} pivots"
        )


def roll(model: pl.FemModel, steps: int, *, speed: float = 0.05, height: float = -0.003, friction: float = 0.8) -> Roll:
    """Roll along x: speed [m/s], change of height [m]."""
    ground = pl.Plane(friction=friction, extent=0.3)
    problem = Problem(model, [ground], alarm=0.003)
    forward = pl.Stepper(model, obstacles=[ground], scheme="euler", alarm=0.003)
    run = Roll(forward.start())

    def driven(goal: np.ndarray, axes: str) -> pl.Command:
        return pl.invert(
            model, run.state, pl.BarycentreTarget(tuple(goal), axes=axes), problem=problem, dynamic=True, dt=DT,
            friction="stick", redundancy="least effort", iterations=30,
        )  # fmt: skip

    start = model.skin_positions(run.state.q).mean(axis=0)
    for _ in range(15):  # come to rest on the ground; on a slope the ring would roll away, so it is held
        run.state = forward.step(run.state, driven(start, "x").effort, DT)
    start = model.skin_positions(run.state.q).mean(axis=0)
    for t in DT * np.arange(1, steps + 1):
        ahead = speed * (t - 0.3 if t > 0.6 else t * t / 1.2)  # speed up over 0.6 s
        goal = start + [ahead, 0.0, height * min(1.0, t / 0.3)]
        command = driven(goal, "xz")
        run.unsolved += not command.ok
        run.state = forward.step(run.state, command.effort, DT).require()  # with Coulomb friction
        run.errors.append(float(np.linalg.norm((model.skin_positions(run.state.q).mean(axis=0) - goal)[[0, 2]])))
        push = run.state.contacts.wrench()[3:]
        run.friction.append(float(np.hypot(*push[:2]) / push[2]))
        if command.solution is not None:
            run.pivots.append(command.solution.pivots)
            run.ratios += command.solution.friction_ratio[command.solution.friction_ratio > 0].tolist()
    run.distance = float((model.skin_positions(run.state.q).mean(axis=0) - start)[0])
    return run


def main(quick: bool = False) -> float:
    """Roll on flat ground (and, in full, up a slope of 5 degrees); returns the distance on flat ground [mm]."""
    model = pl.FemModel(pl.robots.rolling_ring(around=42 if quick else 82))
    flat = roll(model, 16 if quick else 150)
    print(f"{model!r} on the flat: {flat}")
    if not quick:
        ground = pl.Plane(friction=0.8, extent=0.3)
        print("wrote", pl.snapshot(model, flat.state, "out/rolling_ring.png", obstacles=[ground], camera=(-80, 8)))
        print("up 5 degrees:", roll(pl.FemModel(pl.robots.rolling_ring(slope=np.radians(5.0))), 100))
    return 1e3 * flat.distance


if __name__ == "__main__":
    main()
