"""From finite elements to a curve: links and rods identified from FEM runs of the same robot.

A soft beam is pulled by three cables in many ways with the FEM. Slices of its surface give frames along its axis; a
singular value decomposition of their strains gives modes, a strain basis for a rod. Virtual work gives the generalised
forces in every state, and with them the stiffness: a joint law per constant-curvature link, one stiffness per strain of
a rod, or a matrix between modes. A free oscillation gives the damping. All are judged by their own equilibria under
cable tensions that they have not seen; the picture shows such states.

This coarse mesh bends 1.7 times more easily along one diagonal than along the other. A joint law is the same in all
directions and cannot follow that; the matrix between modes can.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.models.curve import Curve

EXPECTED = (0.0, 5.0)  # percent of the length
DAMPING = 6e-4  # of the material, relative to its stiffness [s]
START, END = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)


def main(quick: bool = False) -> float:
    """Identify; returns the tip error of a rod of three modes on held-out states [% of the length]."""
    robot = pl.robots.golden_beam()
    cables = tuple(replace(c, drive="effort") for c in robot.actuators)
    body = robot.bodies[0]
    body = replace(body, material=replace(body.material, rayleigh_stiffness=DAMPING))
    model = pl.FemModel(robot.but(bodies=(body,), actuators=cables, gravity=(0.0, 0.0, 0.0)))
    states = []
    for share in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0.5, 0.5), (0.4, 1, 0)):
        state = None
        for tension in (0.5, 1.0, 1.5, 2.0) if quick else np.linspace(0.25, 2.5, 8):
            state = pl.equilibrium(model, tension * np.array(share, float), start=state, strict=True)
            states.append(state)
    released = states[1].but(u=np.zeros(3), effort=np.zeros(3))
    swing = pl.simulate(model, np.zeros(3), duration=0.3, dt=2e-3, start=released, damping=1.0)
    models = {}
    for links in (1, 3):
        law = pl.identify(model, states, START, END, links=links, oscillation=swing)
        models[f"{links} link{'s' * (links > 1)}"] = law.model()
        print(f"{links} links: tip error {100 * law.tip_error:.2f} % of L, best arcs {100 * law.arc_error:.2f} %")
    slope = law.joints[0].bending[0] - law.joints[0].bending[1]
    print(f"damping over stiffness: {law.damping[0, 1] / slope:.2e} s (the FEM's: {DAMPING:.2e} s)")
    modes = pl.modes_from(model, [s.q for s in states], START, END, modes=3, stations=13)
    rod = pl.identify_rod(model, states, START, END, basis=modes.basis, form="matrix", stations=13)
    models["3 modes"] = rod.model()
    print(f"3 modes: {100 * modes.energy[-1]:.3f} % of the strains, tip error {100 * rod.tip_error:.2f} %")
    if not quick:
        draw(model, models, [states[1], states[13], states[25]])
    return 100 * rod.tip_error


def draw(model: pl.FemModel, models: dict, states: list) -> None:
    """Centre lines of the FEM and of the identified models."""
    import matplotlib.pyplot as plt

    curve = Curve(model, START, END, 13)
    figure, axes = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
    for state in states:
        line = (curve.base @ curve.frames(state.q))[:, :3, 3]
        for ax, c in zip(axes, (1, 2)):
            ax.plot(1e3 * line[:, 0], 1e3 * line[:, c], "k", lw=4, alpha=0.3, label="FEM")
    for (name, reduced), style in zip(models.items(), ("C0:", "C1--", "C3-")):
        for state in states:
            x = reduced.skin_positions(pl.equilibrium(reduced, state.effort).q)
            for ax, c in zip(axes, (1, 2)):
                ax.plot(1e3 * x[:, 0], 1e3 * x[:, c], style, label=name)
    for ax, name in zip(axes, "yz"):
        ax.set(xlabel="x [mm]", ylabel=f"{name} [mm]")
        ax.grid(alpha=0.3)
    handles, labels = axes[0].get_legend_handles_labels()
    unique = dict(zip(labels, handles))
    axes[0].legend(unique.values(), unique.keys(), fontsize=8)
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/fem_to_curve.png", dpi=130)
    print("wrote out/fem_to_curve.png")


if __name__ == "__main__":
    main()
