"""A printed soft link: free oscillation, forced motion, payloads, and what a Hookean joint misses.

One link with three bellows as a constant-curvature model, with the joint law of its FEM curves. Released from a bend it
swings at 7.5 Hz (published: 8); under rotating pressures it draws a circle; a payload pulls it straight. The Hookean
joint agrees for small bends only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.models.identify import damping_from
from pliant.models.pcc_rollout import rollout_links
from pliant.robots.printed_link import LENGTH, link_creep, link_model

EXPECTED = (7.0, 8.5)  # Hz


def pressures(t: float) -> np.ndarray:
    """Rotating pressures, ramped over 20 s [Pa]."""
    phase = np.arange(3) * 2 * np.pi / 3
    return 1e3 * (10.0 + 25.0 * (0.5 + 0.5 * np.sin(t + phase)) * min(0.05 * t, 1.0))


def main(quick: bool = False) -> float:
    """Run the three experiments; returns the frequency of the free oscillation [Hz]."""
    model = link_model()
    free = rollout_links(model, [0.0, 4.75, 0.0], duration=1.0, dt=1e-3, creep=link_creep())
    frequency, decay = damping_from(free.time, free.q[:, 1])
    print(f"free: {frequency:.2f} Hz (published 8.0), decay {decay:.1f} 1/s, {free.speed:.0f} times real time")
    duration = 5.0 if quick else 40.0
    forced = {}
    for law in (False, True):
        arm = link_model(hyperelastic=law, upright=False)
        forced[law] = rollout_links(arm, duration=duration, dt=5e-3, effort=pressures, every=2)
        bend = np.hypot(*forced[law].q[:, 1:].T)
        print(
            f"forced, {'hyperelastic' if law else 'Hookean':12s}: curvature up to {bend.max():.2f} 1/m",
            forced[law].status,
        )
    sag = {}
    for grams in (0, 50, 100, 150):
        arm = link_model(payload=1e-3 * grams, upright=False, hyperelastic=True)
        sag[grams] = arm.locate(pl.equilibrium(arm, [6e4, 0.0, 0.0], strict=True), "tip").position
        print(f"payload {grams:3d} g: tip at {1e3 * sag[grams].round(5)} mm")
    if not quick:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 2, figsize=(10, 3.6), layout="constrained")
        axes[0].plot(free.time, np.degrees(free.q[:, 1] * LENGTH))
        axes[0].set(title="free oscillation", xlabel="time [s]", ylabel="bending angle [deg]")
        for law, run in forced.items():
            axes[1].plot(run.time, np.hypot(*run.q[:, 1:].T), label="hyperelastic" if law else "Hookean")
        axes[1].set(title="rotating pressures", xlabel="time [s]", ylabel="curvature [1/m]")
        axes[1].legend()
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/printed_link.png", dpi=130)
        print("wrote out/printed_link.png")
    return frequency


if __name__ == "__main__":
    main()
