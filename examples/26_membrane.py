"""A membrane shaped by four chambers below it (X9, X11).

Five bodies that touch: a silicone sheet, held at its rim, and four boxes whose roofs swell. The sheet moves only where
a roof pushes it. The geometric model's shape is compared with finite elements on the same meshes; the source measured
2 % of the side against motion capture.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.contact import BodyContact
from pliant.models.geometric import GeometricModel
from pliant.robots.membrane import membrane
from pliant.solve.flex import flex

EXPECTED = (0.0, 2.0)


def main(quick: bool = False) -> float:
    """Fill the chambers; returns the largest shape difference to finite elements [% of the side]."""
    robot = membrane(size=0.03 if quick else 0.02)
    model, fem = GeometricModel(robot), pl.FemModel(robot)
    meeting = [BodyContact(body_a=0, body_b=i) for i in range(1, 5)]
    out = Path("out")
    out.mkdir(exist_ok=True)
    from pliant.viewer.snapshot import snapshot

    sheet = slice(0, len(robot.bodies[0].mesh.nodes))
    worst = 0.0
    programs = {"one corner": (8e3, 0.0, 0.0, 0.0), "a ridge": (8e3, 0.0, 0.0, 8e3), "all": (8e3, 8e3, 8e3, 8e3)}
    for name, pressures in programs.items() if not quick else list(programs.items())[:2]:
        state = flex(model, pressures, obstacles=meeting, alarm=4e-3)
        reference = pl.equilibrium(fem, pressures, obstacles=meeting, alarm=4e-3)
        x, y = model.positions(state.q)[sheet], fem.positions(reference.q)[sheet]
        difference = 100 * float(np.linalg.norm(x - y, axis=1).max()) / 0.250
        closed = int((state.contacts.forces > 0).sum())
        rise = 1e3 * (x[:, 2].max() - robot.bodies[0].mesh.nodes[:, 2].max())
        print(f"{name}: {state.status.name} in {state.elapsed:.2f} s, {closed} contacts, "
              f"penetration {state.contacts.max_penetration:.1e} m; the sheet rises by {rise:.2f} mm; "
              f"finite elements ({reference.status.name}, {reference.elapsed:.2f} s) "
              f"differ by {difference:.3f} %")  # fmt: skip
        worst = max(worst, difference)
        snapshot(model, state, out / f"membrane_{name.replace(' ', '_')}.png", title=name)
    return worst


if __name__ == "__main__":
    main()
