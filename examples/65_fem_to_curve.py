"""From finite elements to a curve: strain modes and a joint law learned from FEM runs.

A soft beam is pulled by three cables in many ways with the FEM. Slices of its surface give frames along its
axis, their
logarithms give strains in 3-D, and a singular value decomposition gives modes: a strain basis for a rod. The
same runs identify
the joint law of a single constant-curvature link by virtual work. Both are judged on states that they have
not seen.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

import pliant as pl
from pliant.models.identify import identify
from pliant.models.modes import modes_from

EXPECTED = (0.0, 5.0)  # percent of the length
START, END = (0.0, 0.0, 0.0), (0.1, 0.0, 0.0)


def main(quick: bool = False) -> float:
    """Learn modes and law; returns the largest tip error of three modes on held-out states [% of the
    length]."""
    robot = pl.robots.golden_beam()
    cables = tuple(replace(c, drive="effort") for c in robot.actuators)
    model = pl.FemModel(robot.but(actuators=cables, gravity=(0.0, 0.0, 0.0)))
    states = []
    for share in ((1, 0, 0), (0, 1, 0), (0, 0, 1), (1, 0.5, 0.5), (0.4, 1, 0)):
        state = None
        for tension in (0.5, 1.0, 1.5, 2.0) if quick else np.linspace(0.25, 2.5, 8):
            state = pl.equilibrium(model, tension * np.array(share, float), start=state, strict=True)
            states.append(state)
    snapshots = np.array([s.q for s in states])
    for count in (1, 2, 3, 4):
        found = modes_from(model, snapshots, START, END, modes=count, stations=13)
        print(f"{count} modes: {100 * found.energy[-1]:6.2f} % of the energy, tip error {100 * found.max_error:.2f} %")
        if count == 3:
            error = 100 * found.max_error
    law = identify(model, states, START, END)
    print(f"one link: best arcs {100 * law.arc_error:.2f} %, joint law {100 * law.tip_error:.2f} % of the length")
    print(f"bending law {law.joints.bending}")
    return error


if __name__ == "__main__":
    main()
