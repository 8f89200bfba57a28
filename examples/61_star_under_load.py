"""A star under load: task-space control of a pneumatic arm whose payload the controller does not know.

The controller of the rigid-link paper sees the frames at the ends of four segments, estimates the state of the links
in closed form, and adds J^+ (kp e + feed-forward) times the stiffness to its pressures, twenty times a second. It
reaches ten targets and draws a star with 0 to 500 g at the tip. The plant is a rod with valves that lag by 0.1 s.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import FrameSensor, PressureMap, TaskSpacePid, closed_loop, settling
from pliant.robots.four_segment_arm import AREA, LEVER

EXPECTED = (0.5, 8.0)  # mm, rms on the star with 500 g
MAP = PressureMap(AREA, LEVER, LEVER)
REST = np.full(16, 1e5)


@cache
def plant(payload: float) -> pl.RodModel:
    """The arm with a payload [kg]."""
    robot = pl.robots.four_segment_arm(payload=payload)
    basis = pl.basis.legendre(1, strains=("twist", "bend_y", "bend_z", "stretch"))
    return pl.RodModel(robot, basis=basis, chambers=pl.robots.arm_channels(robot))


def control(payload: float, target, duration: float, jacobian: str = "estimated"):
    """Run the controller on the arm; it knows the arm without payload."""
    arm, robot = plant(payload), pl.robots.four_segment_arm()
    link = pl.LinkModel(robot, chambers=pl.robots.arm_channels(robot))
    see = FrameSensor(arm, [f"frame{i}" for i in range(1, 5)], link.frames(link.rest)[0])
    pid = TaskSpacePid(link, see, target, MAP, stiffness="tangent", jacobian=jacobian)
    return closed_loop(arm, pid, duration=duration, start=pl.equilibrium(arm, REST), dt=0.01, lag=0.1)


def star(t: float, duration: float = 25.0, size: float = 0.15) -> np.ndarray:
    """A five-pointed star, 0.7 of what the arm can reach, on a bowl below its base."""
    corner = np.exp(1j * (np.pi / 2 + 4 * np.pi / 5 * np.arange(6)))
    s = 5.0 * np.clip(t / duration, 0.0, 1.0 - 1e-12)
    k = int(s)
    z = size * ((1 - s + k) * corner[k] + (s - k) * corner[k + 1])
    return np.array([z.real, z.imag, -0.655 + 0.5 * abs(z) ** 2])


def main(quick: bool = False) -> float:
    """Reach, draw, plot; returns the rms error of the star with 500 g [mm]."""
    reached = []
    for jacobian in ("estimated",) if quick else ("estimated", "arc", "constant"):
        found, rng = [], np.random.default_rng(1)
        for _ in range(2 if quick else 10):
            tau = MAP.admissible(rng.uniform(-1, 1, (4, 3)) * [14, 14, 0] + [0, 0, 4 * AREA * 1e5])
            goal = plant(0.0).locate(pl.equilibrium(plant(0.0), MAP.pressures(tau).ravel()), "tip").position
            run = control(0.0, goal, 8.0, jacobian)
            error = run.error("tip")
            if jacobian == "estimated":
                reached.append((run.time, error))
            found.append((1e3 * error[-10:].mean(), settling(run.time, error)))
        mean = np.mean(found, axis=0)
        print(f"{jacobian:9s} jacobian: steady error {mean[0]:.3f} mm, 10 % settling {mean[1]:.2f} s")
    runs = {}
    for grams in (500,) if quick else (0, 100, 200, 500):
        runs[grams] = control(1e-3 * grams, star, 25.0)
        error = 1e3 * runs[grams].error("tip")[40:]
        print(
            f"star, {grams:3d} g: rms {np.sqrt(np.mean(error**2)):.2f} mm, max {error.max():.1f} mm",
            runs[grams].status[-1],
        )
    if not quick:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 5, figsize=(15, 3.4), layout="constrained")
        for time, error in reached:
            axes[-1].semilogy(time, 1e3 * np.maximum(error, 1e-7))
        axes[-1].set(title="ten targets", xlabel="time [s]", ylabel="error [mm]")
        for ax, (grams, run) in zip(axes, runs.items()):
            ax.plot(*run.targets["tip"].T[:2], "k--", lw=1, label="wanted")
            ax.plot(*run.points["tip"].T[:2], label="tip")
            ax.set(title=f"{grams} g", xlabel="x [m]", aspect="equal")
        axes[0].set_ylabel("y [m]")
        axes[0].legend(fontsize=8)
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/star_under_load.png", dpi=130)
        print("wrote out/star_under_load.png")
    return float(np.sqrt(np.mean((1e3 * runs[500].error("tip")[40:]) ** 2)))


if __name__ == "__main__":
    main()
