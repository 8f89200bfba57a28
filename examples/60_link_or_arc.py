"""Link or arc: how well do rigid links and constant-curvature arcs represent a loaded soft arm?

A four-segment pneumatic arm hangs under its own weight with 500 g at its tip and is bent more and more. From the
frames at the ends of its segments we fit the published linkage (slide - universal joint - slide), the
constant-velocity variant with and without a fifth state for torsion, and arcs, chain the fits and compare the tips.

In a principal plane the linkage is exact and the arcs are not; at 45 degrees the twist of a universal joint ruins it,
and the constant-velocity joint does not have it; on a helix only the fifth state holds.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.control import FrameSensor, PressureMap
from pliant.models.segments import representation_errors
from pliant.robots.four_segment_arm import AREA, LEVER

EXPECTED = (4.0, 20.0)  # times that the arcs' error on the helix exceeds the five-state link's
FAMILIES = {
    "paper": "universal joint (paper)",
    "constant_velocity": "constant-velocity joint",
    "constant_velocity+twist": "constant-velocity + twist",
    "arc_position": "arc, position fit",
    "arc_orientation": "arc, orientation fit",
}
CASES = {"plane": (0.0,) * 4, "plane at 45 deg": (np.pi / 4,) * 4, "helix": (0.0, np.pi / 2, np.pi, 1.5 * np.pi)}


def bent(directions: tuple[float, ...], degrees: np.ndarray) -> list[np.ndarray]:
    """Frames of the arm for growing bends per segment."""
    robot = pl.robots.four_segment_arm(payload=0.5)
    channels = pl.robots.arm_channels(robot)
    arm = pl.RodModel(robot, basis=pl.basis.legendre(1), chambers=channels)
    base = pl.LinkModel(robot, chambers=channels)
    see = FrameSensor(arm, [f"frame{i}" for i in range(1, 5)], base.frames(base.rest)[0])
    pressures = PressureMap(AREA, LEVER, LEVER)
    samples, state = [], None
    for angle in np.radians(degrees):
        # EI / L = 55.6 N m per radian of bend
        tau = 55.56 * angle * np.stack([np.cos(directions), -np.sin(directions), np.zeros(4)], axis=1)
        state = pl.equilibrium(arm, pressures.pressures(tau).ravel(), start=state, strict=True)
        samples.append(see(state))
    return samples


def main(quick: bool = False) -> float:
    """Print and plot the tip errors; returns arc error over five-state error on the helix."""
    degrees = np.array([5.0, 25.0, 45.0]) if quick else np.arange(5.0, 46.0, 2.5)
    worst: dict[tuple[str, str], float] = {}
    curves = {}
    for case, directions in CASES.items():
        samples = bent(directions, degrees)
        for family in FAMILIES:
            options = {} if family.startswith("arc") else {"straight": 1e-3}
            curves[case, family] = representation_errors(samples, family, **options).position
            worst[case, family] = 1e3 * float(curves[case, family].max())
    for family, label in FAMILIES.items():
        print(f"{label:28s}" + "".join(f"{case}: {worst[case, family]:8.3f} mm   " for case in CASES))
    if not quick:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(1, 3, figsize=(12, 3.6), sharey=True, layout="constrained")
        for ax, case in zip(axes, CASES):
            for family, label in FAMILIES.items():
                ax.semilogy(degrees, 1e3 * np.maximum(curves[case, family], 1e-9), label=label)
            ax.set(title=case, xlabel="bend per segment [deg]", ylim=(1e-4, 300))
            ax.grid(alpha=0.3)
        axes[0].set_ylabel("tip error [mm]")
        axes[0].legend(fontsize=8)
        Path("out").mkdir(exist_ok=True)
        figure.savefig("out/link_or_arc.png", dpi=130)
        print("wrote out/link_or_arc.png")
    return worst["helix", "arc_position"] / worst["helix", "constant_velocity+twist"]


if __name__ == "__main__":
    main()
