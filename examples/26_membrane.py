"""A membrane shaped by four chambers below it (X9, X11).

Five bodies that touch: a silicone sheet, held at its rim, and four boxes whose roofs swell. The sheet moves only where
a roof pushes it. The geometric model's shape is compared with finite elements on the same meshes; the source measured
2 % of the side against motion capture. Where the time goes is printed as the source's table 3.1 has it: mesh, check for
collisions, response to them, and solver (there 0.96, 0.12, 1.63 and 3.83 s).
"""

from __future__ import annotations

import cProfile
import pstats
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (0.0, 2.0)


def main(quick: bool = False) -> float:
    """Fill the chambers; returns the largest shape difference to finite elements [% of the side]."""
    begin = time.process_time()
    robot = pl.robots.membrane(size=0.03 if quick else 0.02)
    meshing = time.process_time() - begin
    model, fem = pl.GeometricModel(robot), pl.FemModel(robot)
    meeting = [pl.BodyContact(body_a=0, body_b=i) for i in range(1, 5)]
    out = Path("out")
    out.mkdir(exist_ok=True)
    from pliant.viewer.snapshot import snapshot

    sheet = slice(0, len(robot.bodies[0].mesh.nodes))
    worst = 0.0
    programs = {"one corner": (8e3, 0.0, 0.0, 0.0), "a ridge": (8e3, 0.0, 0.0, 8e3), "all": (8e3, 8e3, 8e3, 8e3)}
    for name, pressures in programs.items() if not quick else list(programs.items())[:2]:
        state, check, response, rest = split(lambda p=pressures: pl.flex(model, p, obstacles=meeting, alarm=4e-3))
        reference = pl.equilibrium(fem, pressures, obstacles=meeting, alarm=4e-3)
        x, y = model.positions(state.q)[sheet], fem.positions(reference.q)[sheet]
        difference = 100 * float(np.linalg.norm(x - y, axis=1).max()) / 0.250
        closed = int((state.contacts.forces > 0).sum())
        rise = 1e3 * (x[:, 2].max() - robot.bodies[0].mesh.nodes[:, 2].max())
        print(f"{name}: {state.status.name} in {state.elapsed:.2f} s, {closed} contacts, "
              f"penetration {state.contacts.max_penetration:.1e} m; the sheet rises by {rise:.2f} mm; "
              f"finite elements ({reference.status.name}, {reference.elapsed:.2f} s) "
              f"differ by {difference:.3f} %")  # fmt: skip
        print(f"   CPU s: mesh {meshing:.2f}, collision check {check:.2f}, response {response:.2f}, solver {rest:.2f}")
        worst = max(worst, difference)
        snapshot(model, state, out / f"membrane_{name.replace(' ', '_')}.png", title=name)
    return worst


def split(solve: Callable[[], pl.State]) -> tuple[pl.State, float, float, float]:
    """Its answer, and CPU seconds of the collision check, of the response (rows, forces) and of the rest."""
    profile = cProfile.Profile(time.process_time)
    state = profile.runcall(solve)
    spent = {(Path(f).name, name): cumulative for (f, _, name), (*_, cumulative, _) in _entries(profile).items()}
    check = spent.get(("problem.py", "detect"), 0.0) + spent.get(("problem.py", "begin"), 0.0)
    response = spent.get(("problem.py", "rows"), 0.0) + spent.get(("complementarity.py", "solve_contact"), 0.0)
    total = max(cumulative for *_, cumulative, _ in _entries(profile).values())
    return state, check, response, total - check - response


def _entries(profile: cProfile.Profile) -> dict:
    return pstats.Stats(profile).stats  # type: ignore[attr-defined]


if __name__ == "__main__":
    main()
