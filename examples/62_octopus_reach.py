"""An octopus arm reaches: energy shaping with muscles, and a bend that travels to the tip.

The controller cancels the arm's elasticity and weight and puts a virtual spring between its tip and the target; its
muscles, which can only pull and only with 20 N, carry that out. In the second run the target attracts whichever point
of a rolled-up arm is nearest to it: the bend then runs along the arm, as in the animal.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import energy_shaping

EXPECTED = (0.0, 1.0)  # mm, error of the tip at the end
BEND = ("bend_y", "bend_z")


def main(quick: bool = False) -> float:
    """Reach and unroll; returns the error of the tip at the end of the reach [mm]."""
    arm = pl.RodModel(pl.robots.octopus_arm(), basis=pl.basis.legendre(3, strains=BEND))
    control = energy_shaping(arm, target=pl.PointTarget("tip", (0.04, 0.0, -0.01)), stiffness=20.0)
    reach = pl.simulate(arm, control, duration=1.5, dt=0.01)
    error = 1e3 * reach.error("tip")
    print(f"reach: {reach.status[-1]}, error {error[-1]:.4f} mm, {reach.speed:.0f} times real time")
    print(f"muscles pull up to {reach.effort.max():.1f} N")

    octopus = pl.robots.octopus_arm(length=0.135, water=True)
    model = pl.Modal(pl.RodModel(octopus, basis=pl.basis.legendre(7, strains=BEND), skin_points=55))
    q = np.zeros(model.nq)
    q[0] = -40.0  # rolled up
    start = pl.State(q, np.zeros(16), np.zeros(16), np.zeros(16), q)
    wave = energy_shaping(
        model, target=(0.125, 0.0, 0.03), stiffness=1.0, injection=0.1, null_elasticity=0.05, relaxed=True
    )
    unroll = pl.simulate(model, wave, duration=1.0 if quick else 2.5, dt=0.01, start=start)
    t, s = np.array(wave.nearest).T
    done = int(np.flatnonzero(s > 0.9 * s[-1])[0])
    print(f"unroll: {unroll.status[-1]}, attracted point from {135 * s[0]:.0f} to {135 * s[-1]:.0f} mm", end="")
    print(f" at {135 * (s[done] - s[0]) / t[done]:.0f} mm/s (published 41 to 126 mm at 65 mm/s)")
    if not quick:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(13, 3.6), layout="constrained")
        for ax, m, run, goal in ((axes[0], arm, reach, (0.04, -0.01)), (axes[1], model, unroll, (0.125, 0.03))):
            for i in np.linspace(0, len(run) - 1, 12).astype(int):
                x = 1e3 * m.skin_positions(run.q[i])
                ax.plot(x[:, 0], x[:, 2], color=plt.cm.viridis(i / len(run)))
            ax.plot(*(1e3 * np.array(goal)), "r*", ms=12)
            ax.set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
        axes[0].set_title("reach with muscles")
        axes[1].set_title("unroll towards a target")
        axes[2].plot(t, 135 * s)
        axes[2].set(title="attracted point", xlabel="time [s]", ylabel="arc length [mm]")
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/octopus_reach.png", dpi=130)
        print("wrote out/octopus_reach.png")
    return float(error[-1])


if __name__ == "__main__":
    main()
