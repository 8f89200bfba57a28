"""Looking ahead: model-predictive control against the paper's PID on a star that asks for all that the valves can give.

The four-segment arm draws the star of the rigid-link paper four times as fast, with 500 g at its tip that neither
controller knows of. Valves reach 0 to 2.5 bar, change by at most 10 bar/s and lag by 0.1 s. The predictive controller
linearises the arm's mechanics at every tick, sees the corners coming, and solves a quadratic program for the pressures
of the next 0.3 s within these limits; what it cannot explain it books as a force, and so carries the load.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import FrameSensor, PredictiveControl, PressureMap, TaskSpacePid, closed_loop
from pliant.robots.four_segment_arm import AREA, LEVER

EXPECTED = (0.2, 4.0)  # mm, rms with predictive control
DURATION = 6.0


def arm(payload: float) -> pl.RodModel:
    """The plant with a payload [kg]."""
    robot = pl.robots.four_segment_arm(payload=payload)
    basis = pl.basis.legendre(1, strains=("twist", "bend_y", "bend_z", "stretch"))
    return pl.RodModel(robot, basis=basis, chambers=pl.robots.arm_channels(robot))


def star(t: float, size: float = 0.15) -> np.ndarray:
    """The star of example 61 in 6 s instead of 25 s."""
    corner = np.exp(1j * (np.pi / 2 + 4 * np.pi / 5 * np.arange(6)))
    s = 5.0 * np.clip(t / DURATION, 0.0, 1.0 - 1e-12)
    k = int(s)
    z = size * ((1 - s + k) * corner[k] + (s - k) * corner[k + 1])
    return np.array([z.real, z.imag, -0.655 + 0.5 * abs(z) ** 2])


def main(quick: bool = False) -> float:
    """Draw with both controllers; returns the rms error of the predictive one [mm]."""
    plant, known, robot = arm(0.5), arm(0.0), pl.robots.four_segment_arm()
    link = pl.LinkModel(robot, chambers=pl.robots.arm_channels(robot))
    see = FrameSensor(plant, [f"frame{i}" for i in range(1, 5)], link.frames(link.rest)[0])
    controllers = {
        "PID": TaskSpacePid(link, see, star, PressureMap(AREA, LEVER, LEVER), stiffness="tangent"),
        "predictive": PredictiveControl(
            known, star, limits=(0.0, 2.5e5), rate=1e6, lag=0.1, change=1e-7, effort=1e-9
        ),
    }
    start = pl.equilibrium(plant, np.full(16, 1e5), strict=True)
    runs = {}
    for name, controller in controllers.items():
        begin = time.perf_counter()
        runs[name] = closed_loop(
            plant, controller, duration=2.0 if quick else DURATION, start=start, dt=0.01, lag=0.1
        )
        spent = time.perf_counter() - begin - runs[name].elapsed.sum()
        error = 1e3 * runs[name].error("tip")[10:]
        print(
            f"{name:10s} rms {np.sqrt(np.mean(error**2)):6.2f} mm, max {error.max():6.1f} mm, pressures "
            f"{runs[name].u[1:].min():.0f} to {runs[name].u.max():.0f} Pa, {1e3 * spent / len(runs[name]):.1f} ms/tick"
        )
    if not quick:
        import matplotlib.pyplot as plt

        figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
        left.plot(*runs["PID"].targets["tip"].T[:2], "k--", lw=1, label="wanted")
        for name, run in runs.items():
            left.plot(*run.points["tip"].T[:2], label=name)
        left.set(xlabel="x [m]", ylabel="y [m]", aspect="equal")
        left.legend(fontsize=8)
        right.plot(runs["predictive"].time[1:], 1e-5 * runs["predictive"].u[1:], lw=0.8)
        right.set(xlabel="time [s]", ylabel="pressures [bar], predictive")
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/predictive_star.png", dpi=130)
        print("wrote out/predictive_star.png")
    return float(np.sqrt(np.mean((1e3 * runs["predictive"].error("tip")[10:]) ** 2)))


if __name__ == "__main__":
    main()
