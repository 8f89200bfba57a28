"""The rigid-link paper's three simulated cases: a step of pressure on a four-segment arm, links against arcs over time.

(a) no gravity, all segments bend in one plane: only inertia makes the curvature vary along a segment; (b) gravity and
500 g at the tip, the same step; (c) gravity and 500 g, every segment bends in another direction (a helix): the link's
assumptions do not hold.

From the frames at the segments' ends we fit the published linkage, the five-state linkage with a constant-velocity
joint and arcs, and compare their tips with the arm's. In (a) and (b) the linkage is exact to rounding, as published,
and the arcs' error swings with the arm; in (c) only the five states hold.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import FrameSensor, PressureMap
from pliant.models.segments import representation_errors
from pliant.robots.four_segment_arm import AREA, LEVER

EXPECTED = (3.0, 40.0)  # mm, rms error of the arcs in case (b)
PLANE, HELIX = (0.0,) * 4, (0.0, np.pi / 2, np.pi, 1.5 * np.pi)
CASES = {
    "(a) no gravity, plane": (0.0, False, PLANE),
    "(b) gravity + 500 g, plane": (0.5, True, PLANE),
    "(c) gravity + 500 g, helix": (0.5, True, HELIX),
}
FAMILIES = {"paper": "link (paper)", "constant_velocity+twist": "link, five states", "arc_position": "arc"}


def errors(payload: float, gravity: bool, directions: tuple[float, ...], seconds: float) -> tuple[np.ndarray, dict]:
    """Times and tip error of every family [m] after a step of 30 degrees per segment."""
    robot = pl.robots.four_segment_arm(payload=payload, gravity=gravity)
    channels = pl.robots.arm_channels(robot)
    arm = pl.RodModel(robot, basis=pl.basis.legendre(1), chambers=channels)
    link = pl.LinkModel(robot, chambers=channels)
    see = FrameSensor(arm, [f"frame{i}" for i in range(1, 5)], link.frames(link.rest)[0])
    # EI / L = 55.6 N m per radian of bend
    tau = 55.56 * np.radians(30.0) * np.stack([np.cos(directions), -np.sin(directions), np.zeros(4)], axis=1)
    start = pl.equilibrium(arm, np.zeros(16), strict=True)
    pressures = PressureMap(AREA, LEVER, LEVER).pressures(tau).ravel()
    run = pl.rollout(arm, start.q, duration=seconds, dt=2e-3, effort=pressures, every=5)
    assert run.ok, run.status
    # the first samples are straight, where the two slides of a link cannot be told apart
    frames = [see(q) for q in run.q[8:]]
    found = {}
    for family in FAMILIES:
        options = {} if family.startswith("arc") else {"straight": 1e-6}
        found[family] = representation_errors(frames, family, **options).position
    return run.time[8:], found


def main(quick: bool = False) -> float:
    """Print and plot the errors; returns the arcs' rms error with gravity and load [mm]."""
    runs = {name: errors(*case, seconds=0.3 if quick else 1.5) for name, case in CASES.items()}
    rms = {}
    for name, (_, found) in runs.items():
        for family, error in found.items():
            rms[name, family] = 1e3 * float(np.sqrt(np.mean(error**2)))
        print(f"{name:28s}" + "".join(f"{FAMILIES[f]}: {rms[name, f]:9.2e} mm   " for f in FAMILIES))
    if not quick:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
        for ax, (name, (time, found)) in zip(axes, runs.items()):
            for family, error in found.items():
                ax.semilogy(time, 1e3 * np.maximum(error, 1e-17), label=FAMILIES[family])
            ax.set(title=name, xlabel="time [s]", ylim=(1e-14, 300))
            ax.grid(alpha=0.3)
        axes[0].set_ylabel("tip error [mm]")
        axes[0].legend(fontsize=8)
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/three_cases.png", dpi=130)
        print("wrote out/three_cases.png")
    return rms["(b) gravity + 500 g, plane", "arc_position"]


if __name__ == "__main__":
    main()
