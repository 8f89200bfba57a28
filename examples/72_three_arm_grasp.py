"""Three soft arms close around a ball and hold it against a pull, by friction at several places.

Three tapered, tendon-driven rods hang around a ball. Their tendons are tightened within half a second, the arms wrap
inwards and touch. Then the ball is pulled down; what the arms do to it is the pull-out curve of the grasp. Contact is
unilateral with Coulomb friction (0.6), on every capsule along the arms.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (0.3, 3.0)  # N
LENGTH, RADIUS, RING = 0.17, 0.008, 0.05
CLOSED, PULL = 0.6, 0.02  # time when the pull begins [s], its speed [m/s]
TENSION = 5.0
RUBBER = pl.materials.NeoHookean.from_young(0.6e6, 0.45, density=1100.0)


def gripper() -> pl.Robot:
    """Three rods on a ring, pointing down, with one tendon each on their inner side."""
    rods, cables = [], []
    for i, angle in enumerate(2 * np.pi * np.arange(3) / 3):
        c, s = np.cos(angle), np.sin(angle)
        base, inner = np.array([RING * c, RING * s, 0.0]), np.array([-c, -s, 0.0])
        down = pl.lie.quaternion_from_matrix(np.array([[0.0, c, s], [0.0, s, -c], [-1.0, 0.0, 0.0]]))
        body = pl.RodBody(f"arm{i}", LENGTH, (RADIUS, 0.6 * RADIUS), RUBBER, damping=0.05)
        rods.append(replace(body, position=tuple(base), rotation=tuple(down)))
        path = [tuple(base + 0.5 * RADIUS * inner + (0, 0, -z)) for z in (0.0, 0.95 * LENGTH)]
        cables.append(pl.Cable(name=f"tendon{i}", points=path, drive="effort", body=f"arm{i}"))
    return pl.Robot("gripper", tuple(rods), actuators=tuple(cables))


def main(quick: bool = False) -> float:
    """Close and pull; returns the force that holds the ball at the end of the pull [N]."""
    basis = pl.basis.legendre(2 if quick else 3, strains=("bend_y", "bend_z"))
    model = pl.RodModel(gripper(), basis=basis, skin_points=17)
    ball = pl.Sphere(
        centre=(0.0, 0.0, -0.105), radius=0.036, friction=0.6,
        motion=lambda t: pl.contact.Pose((0.0, 0.0, -PULL * max(0.0, t - CLOSED))),
    )  # fmt: skip
    stepper = pl.Stepper(model, obstacles=[ball])
    state, rows, dt = stepper.start(None), [], 0.02
    while state.time < (CLOSED + 0.1 if quick else CLOSED + 0.6):
        state = stepper.step(state, np.full(3, TENSION * min(1.0, state.time / 0.5)), dt).require()
        push = -state.contacts.force_vectors.sum(axis=0)  # of the arms on the ball
        rows.append((state.time, push[2], state.contacts.forces.sum(), (state.contacts.forces > 1e-4).sum()))
    time, lift, squeeze, touching = np.array(rows).T
    begin = int(np.argmax(time > CLOSED))
    print(f"closed: {touching[begin]:.0f} places press with {squeeze[begin]:.2f} N, lifting with {lift[begin]:.2f} N")
    print(f"pulled by {1e3 * PULL * (time[-1] - CLOSED):.0f} mm: lifting with {lift[-1]:.2f} N, {state.status}")
    if not quick:
        import matplotlib.pyplot as plt

        Path("out").mkdir(exist_ok=True)
        where = [ball.at(state.time)]
        print("wrote", pl.snapshot(model, state, "out/three_arm_grasp_pose.png", obstacles=where, camera=(-60, 10)))
        figure, axis = plt.subplots(figsize=(5.8, 3.6), layout="constrained")
        axis.plot(time, lift, label="arms on the ball, upwards")
        axis.plot(time, squeeze, label="sum of normal forces")
        axis.axvline(CLOSED, color="grey", ls=":")
        axis.set(xlabel="time [s]; the pull begins at the dotted line", ylabel="force [N]")
        axis.legend()
        figure.savefig("out/three_arm_grasp.png", dpi=130)
        print("wrote out/three_arm_grasp.png")
    return float(lift[-1])


if __name__ == "__main__":
    main()
