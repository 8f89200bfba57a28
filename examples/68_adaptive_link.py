"""Adaptive control: a link with 100 g that it does not know of, and stiffness estimates that are far off.

Passivity-based adaptive control follows a path of bends and stretches while it learns how stiff the joints are and what
hangs at the tip. The published law learns from the tracking error alone: the tip follows, but payload and bending
stiffness, which look alike, stay wrong for minutes. Composite adaptation also learns from the balance of forces and
finds both within seconds. The picture shows estimates over truth, and the error of the tip.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import AdaptiveTracking, closed_loop
from pliant.robots.printed_link import GAINS, LENGTH

EXPECTED = (0.0, 1.5)  # percent of the length, root mean square over the last second
LAW = pl.JointLaw((223.0, 172.4, 455 * LENGTH), (1.31e-3 * LENGTH, 0.73e-3 * LENGTH, 0.229 * LENGTH), "secant")


def link(payload: float) -> pl.PccModel:
    """The hanging link with a payload [kg]."""
    bellows = tuple(pl.Chamber(name=f"b{i}") for i in (1, 2, 3))
    robot = pl.robots.printed_link(payload=payload, upright=False).but(actuators=bellows)
    return pl.PccModel(robot, joints=LAW, damping=(1e-2, 2.3e-7), gains=GAINS, rotary=False)


def path(t: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Wanted stretch and curvatures, their rates and accelerations."""
    s, c, size = np.sin(t), np.cos(t), np.array([0.01, 30.0, 30.0])
    return size * np.array([1 + s, s, c]), size * np.array([c, c, -s]), -size * np.array([s, s, c])


def track(seconds: float, period: float, composite: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Times, error of the tip [m]; times and estimates (k_e, k_b, payload) over the true ones."""
    truth = np.array([*LAW.axial[:2], *LAW.bending[:2], 0.1])
    plant, first = link(0.1), truth * [0.75, 0.75, 0.45, 0.45, 0.65]
    gains, kd, prediction = np.diag([5e3, 5e3, 2e-8, 2e-8, 0.01]), 0.3, 0.0
    if composite:
        shapes = np.zeros((5, 3))  # the laws keep their shapes: two scales and a mass are learned
        shapes[:2, 0], shapes[2:4, 1], shapes[4, 2] = first[:2], first[2:4], first[4]
        gains, kd, prediction = 0.1 * shapes @ shapes.T, 0.1, 1e5
    control = AdaptiveTracking(
        link(0.0), path, first, kp=(5, 5e-5, 5e-5), kd=(kd, 1e-5, 1e-5), adaptation=gains, prediction=prediction
    )
    q, v, _ = path(0.0)
    start = pl.State(q, v, np.zeros(3), np.zeros(3), np.zeros(3))
    run = closed_loop(plant, control, duration=seconds, period=period, dt=period, start=start, record=10)
    wanted = np.array([plant.locate(path(t)[0], "tip").position for t in run.time])
    t, p = (np.array(x) for x in zip(*control.history))
    # stiffnesses at 1 % stretch and at 30 1/m, and the payload
    at_e, at_b = (np.tanh(x) ** 2 - 1 for x in (0.01 * LAW.axial[2], 30 * LAW.bending[2]))
    rows = np.array([[1, at_e, 0, 0, 0], [0, 0, 1, at_b, 0], [0, 0, 0, 0, 1]])
    return run.time, np.linalg.norm(run.points["tip"] - wanted, axis=1), t, (p @ rows.T) / (rows @ truth)


def main(quick: bool = False) -> float:
    """Track; returns the error of the tip over the last second with composite adaptation [% of the length]."""
    seconds = 2.0 if quick else 20.0
    found = {} if quick else {"tracking error only": track(seconds, 1e-3, False)}
    found["composite"] = track(seconds, 2e-3, True)
    for name, (time, error, _, ratio) in found.items():
        last = 100 * float(np.sqrt(np.mean(error[time > seconds - 1.0] ** 2))) / LENGTH
        print(f"{name}: tip {last:.2f} % of the length, estimate / truth {ratio[-1].round(3)}")
    if not quick:
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
        for (name, (time, error, t, ratio)), style in zip(found.items(), (":", "-")):
            for i, label in enumerate(("axial stiffness", "bending stiffness", "payload")):
                left.plot(t, ratio[:, i], f"C{i}{style}", label=f"{label}, {name}")
            right.semilogy(time, 1e3 * error, f"k{style}", label=name)
        left.set(xlabel="time [s]", ylabel="estimate / truth", ylim=(0.3, 1.4))
        right.set(xlabel="time [s]", ylabel="error of the tip [mm]")
        for ax in (left, right):
            ax.grid(alpha=0.3)
            ax.legend(fontsize=7)
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/adaptive_link.png", dpi=130)
        print("wrote out/adaptive_link.png")
    return last


if __name__ == "__main__":
    main()
