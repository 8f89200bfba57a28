"""Adaptive control: a link with 100 g that it does not know of, and stiffness estimates that are far off.

Passivity-based adaptive control follows a path of bends and stretches while it learns the joint law and the
payload. The tip
follows within a per cent of the link's length after some seconds; the parameters need not converge for that
(this path does
not tell the payload from the bending stiffness), and they do not.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.control import AdaptiveTracking, closed_loop
from pliant.models.pcc import JointLaw, PccModel
from pliant.robots.printed_link import GAINS, LENGTH, printed_link

EXPECTED = (0.0, 12.0)  # percent of the length, root mean square over the last second
LAW = JointLaw((223.0, 172.4, 455 * LENGTH), (1.31e-3 * LENGTH, 0.73e-3 * LENGTH, 0.229 * LENGTH), "secant")


def link(payload: float) -> PccModel:
    """The hanging link with a payload [kg]."""
    bellows = tuple(pl.Chamber(name=f"b{i}") for i in (1, 2, 3))
    robot = printed_link(payload=payload, upright=False).but(actuators=bellows)
    return PccModel(robot, joints=LAW, damping=(1e-2, 2.3e-7), gains=GAINS, rotary=False)


def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wanted stretch and curvatures, their rates and accelerations."""
    s, c, size = np.sin(t), np.cos(t), np.array([0.01, 30.0, 30.0])
    return size * np.array([1 + s, s, c]), size * np.array([c, c, -s]), -size * np.array([s, s, c])


def main(quick: bool = False) -> float:
    """Track; returns the error of the tip over the last second [% of the length]."""
    truth = np.array([*LAW.axial[:2], *LAW.bending[:2], 0.1])
    plant, free = link(0.1), link(0.0)
    control = AdaptiveTracking(
        free, path, truth * [0.75, 0.75, 0.45, 0.45, 0.65], kp=(5, 5e-5, 5e-5), kd=(0.3, 1e-5, 1e-5),
        adaptation=[5e3, 5e3, 2e-8, 2e-8, 0.01],
    )  # fmt: skip
    q, v, _ = path(0.0)
    start = pl.State(q, v, np.zeros(3), np.zeros(3), np.zeros(3))
    run = closed_loop(plant, control, duration=5.0 if quick else 30.0, period=1e-3, dt=1e-3, start=start, record=50)
    wanted = np.array([plant.locate(path(t)[0], "tip").position for t in run.time])
    error = np.linalg.norm(run.points["tip"] - wanted, axis=1)
    last = 100 * float(np.sqrt(np.mean(error[-20:] ** 2))) / LENGTH
    print(
        f"{run.status[-1]}: tip error {1e3 * error[1]:.1f} mm -> {1e3 * error[-1]:.3f} mm, {last:.2f} % of the length"
    )
    print("estimate / truth:", (control.parameters / truth).round(3))
    return last


if __name__ == "__main__":
    main()
