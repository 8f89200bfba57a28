"""A soft sphere rolls: twenty cells of variable stiffness and one pressure, sticking contact (spec 13.2).

The sphere is a pressurised shell. Softening a cell lets it bulge; that shifts the weight over the patch that carries
it, and the sphere tips. Where the barycentre and two points of the surface should be follows from a rigid sphere that
rolls without slip; over every implicit time step the inverse finds 20 moduli and the pressure for these nine rows, with
contacts that stick to the ground. Of the many solutions one with moduli near the middle is preferred (a small weight on
each). The forward simulation, with Coulomb friction instead of sticking, takes the moduli and says where the sphere
really goes.
"""

from __future__ import annotations

import math

import numpy as np

import pliant as pl
from pliant.solve.problem import Problem

EXPECTED = (0.8, 1.3)  # distance rolled in the quick run [mm]
DT = 0.02  # time step [s]
FRICTION = 0.8
POINTS = ("top", "front")


def turned(angle: float) -> np.ndarray:
    """Rotation about +y, which rolls towards +x."""
    c, s = math.cos(angle), math.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def rolled_angle(before: np.ndarray, after: np.ndarray) -> float:
    """Angle about +y of the rotation that fits best between two clouds of the same points [rad]."""
    a, b = before - before.mean(axis=0), after - after.mean(axis=0)
    U, _, Vt = np.linalg.svd(b.T @ a)
    R = U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt
    return math.atan2(R[0, 2] - R[2, 0], R[0, 0] + R[2, 2])


def main(quick: bool = False) -> float:
    """Roll along x; returns the distance [mm]."""
    model = pl.FemModel(pl.robots.rolling_sphere(divisions=4 if quick else 7))
    ground = pl.Plane(friction=FRICTION, extent=0.2)
    problem = Problem(model, [ground], alarm=0.003)
    forward = pl.Stepper(model, obstacles=[ground], scheme="euler", alarm=0.003)
    state, rest = forward.start(), np.zeros(model.nu)
    for pressure in np.minimum(100.0 * np.arange(25), 1000.0):  # inflate and come to rest
        rest[-1] = pressure
        state = forward.step(state, rest, DT)
    skin = model.skin_positions(state.q)
    centre, points = skin.mean(axis=0), model.locate(state, POINTS).position
    lazy = [pl.EffortTarget(a.name, 0.0, weight=3e-5) for a in model.robot.actuators[:-1]]
    floor = [pl.EffortLimit("air", low=500.0)]  # without stress in the shell its stiffness does nothing
    steps, unsolved, errors, off, closed, friction = (10 if quick else 80), 0, [], [], [], []
    for t in DT * np.arange(1, steps + 1):
        ahead = 0.03 * (t - 0.3 if t > 0.6 else t * t / 1.2)
        goal = centre + [ahead, 0.0, 0.0]
        wanted = goal + (points - centre) @ turned(ahead / centre[2]).T
        targets = [pl.BarycentreTarget(goal), pl.PointsTarget(POINTS, wanted, weight=0.05), *lazy]
        command = pl.invert(
            model, state, targets, limits=floor, problem=problem, dynamic=True, dt=DT, friction="stick", iterations=40
        )
        unsolved += not command.ok
        state = forward.step(state, command.effort, DT).require()  # with Coulomb friction
        errors.append(np.linalg.norm(model.skin_positions(state.q).mean(axis=0) - goal))
        off.append(np.linalg.norm(model.locate(state, POINTS).position - wanted, axis=1).max())
        push = state.contacts.wrench()[3:]
        friction.append(np.hypot(*push[:2]) / push[2])
        closed.append(len(state.contacts))
    now = model.skin_positions(state.q)
    distance = (now.mean(axis=0) - centre)[0]
    print(f"{model!r}: {steps} steps, {unsolved} without an answer, {np.mean(closed):.0f} contacts")
    print(f"rolled {1e3 * distance:.2f} mm and {math.degrees(rolled_angle(skin, now)):.1f} degrees "
          f"(a rigid sphere: {math.degrees(distance / centre[2]):.1f})")  # fmt: skip
    print(f"barycentre within {1e3 * max(errors):.4f} mm, surface points within {1e3 * max(off):.2f} mm of their goals")
    print(f"friction needed {max(friction):.2f}; stiffness {command.effort[:-1].min() + 1:.2f} to "
          f"{command.effort[:-1].max() + 1:.2f}, pressure {command.effort[-1]:.0f} Pa")  # fmt: skip
    if not quick:
        print("wrote", pl.snapshot(model, state, "out/rolling_sphere.png", obstacles=[ground], camera=(-80, 8)))
    return 1e3 * float(distance)


if __name__ == "__main__":
    main()
