"""A trunk holds a cup and moves it, in position and orientation, by its eight cables (spec 13.3).

The trunk hangs, its lower half coiled around a cup that nothing else holds. What is controlled is the object: four of
its points should follow a moving and turning frame. Once per time step the mechanics of both soft bodies is linearised,
with contacts that stick, and the inverse finds the eight tensions. A floor under the sum of the contact forces keeps
the grasp closed; a small weight on the change of each tension keeps the motion calm. The forward simulation, with
Coulomb friction, takes the tensions; where the cup really is is fitted to its points.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.robots.cup_trunk import CUP_POINTS, grasp_contact, grasped
from pliant.solve.problem import Problem

EXPECTED = (0.0, 1.5)  # mean distance of the cup from where it should be, in the quick run [mm]
DT = 0.02  # time step [s]
FLOOR = 0.8  # sum of the contact forces at least [N]
ALARM = 0.006  # pairs of points closer than this are considered [m]: 26 to 37 (81 in the source)


def turn(angle: float) -> np.ndarray:
    """Rotation about y by an angle [rad]."""
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, 0.0, s], [0.0, 1.0, 0.0], [-s, 0.0, c]])


def fitted(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """The rotation that fits best between two sets of the same points (Kabsch)."""
    a, b = before - before.mean(axis=0), after - after.mean(axis=0)
    U, _, Vt = np.linalg.svd(b.T @ a)
    return U @ np.diag([1.0, 1.0, np.linalg.det(U @ Vt)]) @ Vt


def manipulate(
    model: pl.FemModel, state: pl.State, steps: int, *, shift: tuple[float, float, float] = (0.008, 0.002, 0.006),
    angle: float = np.radians(5.0), floor: float = FLOOR, calm: float = 1e-3,
    iterations: int = 1,
) -> tuple[pl.State, np.ndarray]:  # fmt: skip
    """Move and turn the cup: the last state, and per step (n, 6) errors [m] and [rad], predicted and true grasp [N],
    whether there was an answer, and how many contacts were considered."""
    touching = [grasp_contact()]
    problem = Problem(model, touching, alarm=ALARM)
    forward = pl.Stepper(model, obstacles=touching, scheme="euler", alarm=ALARM)
    home, names, rows = model.locate(state, CUP_POINTS).position, model.robot.actuator_names, []
    centre = home.mean(axis=0)
    for k in range(steps):
        share = min(1.0, (k + 1) / (0.8 * steps))
        share *= share * (3.0 - 2.0 * share)
        goal = centre + share * np.array(shift) + (home - centre) @ turn(share * angle).T
        slow = [pl.EffortTarget(a, float(e), weight=calm) for a, e in zip(names, state.effort)]
        command = pl.invert(
            model, state, [pl.PointsTarget(CUP_POINTS, goal), *slow], limits=[pl.GraspFloor(floor)] if floor else [],
            problem=problem, dynamic=True, dt=DT, iterations=iterations, friction="stick",
        )  # fmt: skip
        state = forward.step(state, command.effort, DT)  # with Coulomb friction
        points = model.locate(state, CUP_POINTS).position
        off = np.arccos(np.clip(0.5 * (np.trace(fitted(goal, points)) - 1.0), -1.0, 1.0))
        away = np.linalg.norm(points.mean(axis=0) - goal.mean(axis=0))
        grasp = command.state.contacts.forces.sum(), state.contacts.forces.sum()
        rows.append((away, off, *grasp, command.ok, len(command.state.contacts)))
    return state, np.array(rows)


def main(quick: bool = False) -> float:
    """Grasp, move, turn; returns the mean distance of the cup from its path [mm]."""
    model = pl.FemModel(pl.robots.cup_trunk(cells=(24, 8) if quick else (36, 15)))
    state = grasped(model, steps=24 if quick else 30)
    held = state.contacts
    print(f"{model!r}: holding with {held.forces.sum():.2f} N on {(held.forces > 0).sum()} of {len(held)} contacts")
    state, rows = manipulate(model, state, 8 if quick else 40)
    away, off = 1e3 * rows[:, 0], np.degrees(rows[:, 1])
    print(f"cup within {away.mean():.2f} mm (st. dev. {away.std():.2f}), {off.mean():.2f} degrees ({off.std():.2f})")
    print(f"grasp force: predicted at least {rows[:, 2].min():.2f} N, true {rows[:, 3].min():.2f} N")
    print(f"tensions {state.effort.round(1)} N")
    if not quick:
        print("wrote", pl.snapshot(model, state, "out/cup.png", camera=(-70, 10)))
    return float(away.mean())


if __name__ == "__main__":
    main()
