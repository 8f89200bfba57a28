"""Four soft fingers turn a bolt: grip, sweep, let go, go back, once a second.

The gripper of Suzumori with the numbers of the thesis: fingers of 80 mm on a circle of 37.5 mm, three pressure chambers
each, three bending functions about either axis. The bolt is an obstacle that turns: friction drives it, a viscous
moment resists. It advances by a step per stroke (check J4: 0.1 to 0.3 turns per second; 0.16 published). The head is
round, of radius 10 mm, and the fingers slide on it: friction alone carries the moment. The area of the chambers and the
drag of the bolt are not published and chosen here: the speed is of the right size, not a prediction.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (0.1, 0.3)  # turns per second
LENGTH, RADIUS, CIRCLE, HEAD = 0.080, 0.006, 0.0375, 0.010
DRAG = 2.2e-4  # viscous moment of the bolt [N m s]
GRIP, SWEEP = 1.75e5, 0.8e5  # pressure differences [Pa]
RUBBER = pl.materials.NeoHookean.from_young(1.0e6, 0.3, density=2000.0)


def gripper() -> tuple[pl.Robot, dict[str, pl.ChamberPath]]:
    """Four fingers pointing down, with the channels of their chambers; chamber 0 is on the outer side."""
    rods, chambers, paths = [], [], {}
    for i, angle in enumerate(0.5 * np.pi * np.arange(4)):
        out, side = np.array([np.cos(angle), np.sin(angle), 0]), np.array([-np.sin(angle), np.cos(angle), 0])
        down = pl.lie.quaternion_from_matrix(np.stack([(0, 0, -1), out, -side], axis=1))
        base = tuple(CIRCLE * out)
        rods.append(pl.RodBody(f"f{i}", LENGTH, RADIUS, RUBBER, position=base, rotation=tuple(down), damping=0.01))
        for j, turn in enumerate(2 * np.pi / 3 * np.arange(3)):
            at = CIRCLE * out + 0.003 * (np.cos(turn) * out + np.sin(turn) * side)
            chambers.append(pl.Chamber(name=f"f{i}c{j}", body=f"f{i}"))
            paths[f"f{i}c{j}"] = pl.ChamberPath((tuple(at), tuple(at + (0, 0, -LENGTH))), 1.2e-5)
    return pl.Robot("gripper", tuple(rods), actuators=tuple(chambers)), paths


def pressures(t: float) -> np.ndarray:
    """Pressures (12,) [Pa] of the gait at time t [s]: inward and sideways bending as functions of the phase."""
    phase = t % 1.0
    inward = np.interp(phase, (0.0, 0.2, 0.6, 0.75, 1.0), (0.0, 1.0, 1.0, 0.0, 0.0)) * GRIP
    sideways = np.interp(phase, (0.0, 0.2, 0.6, 0.75, 1.0), (-1.0, -1.0, 1.0, 1.0, -1.0)) * SWEEP
    turn = 2 * np.pi / 3 * np.arange(3)
    # pressure on one side bends the finger to the other
    return np.tile(1.5e5 + inward * np.cos(turn) - sideways * np.sin(turn), 4)


def turn_bolt(strokes: int, dt: float = 0.005) -> tuple[np.ndarray, pl.RodModel, pl.State, pl.Cylinder]:
    """Angle of the bolt after every step [rad], and where everything is at the end."""
    robot, paths = gripper()
    basis = pl.basis.legendre(2, strains=("bend_y", "bend_z"))
    model = pl.RodModel(robot, basis=basis, chambers=paths, skin_points=13)
    angle = [0.0]

    def pose(t: float) -> pl.contact.Pose:
        return pl.contact.Pose((0.0, 0.0, 0.0), pl.lie.exp(np.array([0.0, 0.0, angle[-1]])))

    bolt = pl.Cylinder(a=(0, 0, -0.12), b=(0, 0, -0.06), radius=HEAD, friction=0.8, motion=pose)
    stepper = pl.Stepper(model, obstacles=[bolt], scheme="euler")
    state = stepper.start(pl.equilibrium(model, pressures(0.0)).require())
    while state.time < strokes - 0.5 * dt:
        state = stepper.step(state, pressures(state.time + dt), dt).require()
        moment = np.cross(state.contacts.point, -state.contacts.force_vectors)[:, 2].sum()
        angle.append(angle[-1] + dt * float(moment) / DRAG)
    return np.array(angle), model, state, bolt.at(state.time)


def main(quick: bool = False) -> float:
    """Turn the bolt for some strokes; returns its mean speed [turns/s]."""
    strokes = 1 if quick else 4
    angle, model, state, bolt = turn_bolt(strokes, dt=0.01 if quick else 0.005)
    turns = angle / (2 * np.pi)
    speed = turns[-1] / strokes
    print(f"{turns[-1]:.3f} turns in {strokes} s: {speed:.3f} per second (published 0.16, hardware 0.25)")
    if not quick:
        import matplotlib.pyplot as plt

        Path("out").mkdir(exist_ok=True)
        figure, axis = plt.subplots(figsize=(5.5, 3.4), layout="constrained")
        axis.plot(np.linspace(0, strokes, len(turns)), turns)
        axis.set(xlabel="time [s]", ylabel="turns of the bolt")
        figure.savefig("out/bolt.png", dpi=130)
        print("wrote out/bolt.png")
        print("wrote", pl.snapshot(model, state, "out/bolt_pose.png", obstacles=[bolt], camera=(-60, 15)))
    return float(speed)


if __name__ == "__main__":
    main()
