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
from dataclasses import dataclass, field

import numpy as np

import pliant as pl
from pliant.solve.problem import Problem

EXPECTED = (0.55, 0.7)  # distance rolled in the quick run [mm]
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


@dataclass
class Roll:
    """What happened: start and end, errors of barycentre and surface points [m], friction needed, contacts, efforts."""

    before: np.ndarray
    state: pl.State
    after: np.ndarray
    errors: list[float] = field(default_factory=list)
    off: list[float] = field(default_factory=list)
    friction: list[float] = field(default_factory=list)
    contacts: list[int] = field(default_factory=list)
    unsolved: int = 0

    @property
    def distance(self) -> float:
        """How far the barycentre went along x [m]."""
        return float((self.after.mean(axis=0) - self.before.mean(axis=0))[0])


def roll(model: pl.FemModel, steps: int, *, speed: float = 0.03, iterations: int = 40) -> Roll:
    """Roll along x, speeding up [m/s]."""
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
    run = Roll(skin, state, skin)
    for t in DT * np.arange(1, steps + 1):
        ahead = speed * (t - 0.3 if t > 0.6 else t * t / 1.2)
        goal = centre + [ahead, 0.0, 0.0]
        wanted = goal + (points - centre) @ turned(ahead / centre[2]).T
        targets = [pl.BarycentreTarget(goal), pl.PointsTarget(POINTS, wanted, weight=0.05), *lazy]
        command = pl.invert(
            model, run.state, targets, limits=floor, problem=problem, dynamic=True, dt=DT, friction="stick",
            iterations=iterations,
        )  # fmt: skip
        run.unsolved += not command.ok
        run.state = forward.step(run.state, command.effort, DT).require()  # with Coulomb friction
        run.after = model.skin_positions(run.state.q)
        run.errors.append(float(np.linalg.norm(run.after.mean(axis=0) - goal)))
        run.off.append(float(np.linalg.norm(model.locate(run.state, POINTS).position - wanted, axis=1).max()))
        push = run.state.contacts.wrench()[3:]
        run.friction.append(float(np.hypot(*push[:2]) / push[2]))
        run.contacts.append(len(run.state.contacts))
    return run


def main(quick: bool = False) -> float:
    """Roll along x; returns the distance [mm]."""
    model = pl.FemModel(pl.robots.rolling_sphere(divisions=4 if quick else 7))
    run = roll(model, 8 if quick else 50)
    radius, effort = 0.5 * np.ptp(run.before[:, 0]), run.state.effort
    print(f"{model!r}: {len(run.errors)} steps, {run.unsolved} not converged, {np.mean(run.contacts):.0f} contacts")
    angle, rigid = math.degrees(rolled_angle(run.before, run.after)), math.degrees(run.distance / radius)
    print(f"rolled {1e3 * run.distance:.2f} mm and {angle:.1f} degrees (a rigid sphere: {rigid:.1f})")
    print(f"barycentre {1e3 * np.mean(run.errors):.4f} mm from its path (mean), {1e3 * max(run.errors):.4f} mm at most")
    print(f"surface points {1e3 * max(run.off):.2f} mm at most; friction needed {max(run.friction):.2f}")
    print(f"stiffness {effort[:-1].min() + 1:.2f} to {effort[:-1].max() + 1:.2f}, pressure {effort[-1]:.0f} Pa")
    if not quick:
        ground = pl.Plane(friction=FRICTION, extent=0.2)
        print("wrote", pl.snapshot(model, run.state, "out/rolling_sphere.png", obstacles=[ground], camera=(-80, 8)))
    return 1e3 * run.distance


if __name__ == "__main__":
    main()
