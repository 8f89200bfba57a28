"""A catheter in a forked pipe: beams, four cables and an insertion drive, dozens of contacts (spec 11.1).

The catheter is a chain of ten co-rotational beams. Its base slides into the vessel; four cables bend it up, down, left
and right. The tip is asked to follow the axis of one branch. The wall pushes back wherever the catheter
touches it: these
contacts are part of the inverse problem, and the catheter is steered by leaning on them.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.inverse.follow import follow
from pliant.materials import Corotational
from pliant.models.beam import BeamModel

EXPECTED = (0.0, 3.0)  # mean distance of the tip from the axis of the branch [mm]


def catheter(length: float = 0.08, radius: float = 1.5e-3) -> pl.Robot:
    """A rod of 80 mm and 3 mm diameter along x, with four cables and a slide at its base."""
    rod = pl.RodBody("rod", length, radius, Corotational.from_young(50e6, 0.45, density=1100.0))
    cables = []
    for name, y, z in (("up", 0, 1), ("down", 0, -1), ("left", 1, 0), ("right", -1, 0)):
        path = [(x, 0.8 * radius * y, 0.8 * radius * z) for x in np.linspace(0.0, length, 11)]
        cables.append(pl.Cable(name=name, points=path, effort_limits=(0.0, 20.0)))
    insertion = pl.Slide(name="insertion", part="rod", axis=(1, 0, 0), displacement_limits=(0.0, 0.08))
    return pl.Robot(
        "catheter", (rod,), actuators=(*cables, insertion), points=(pl.Point("tip", (length, 0, 0)),),
        gravity=(0.0, 0.0, 0.0), source="examples/15_catheter.py; spec inverse-fem 11.1, dimensions chosen",
    )  # fmt: skip


def vessel() -> pl.Pipe:
    """A vessel of 3.5 mm radius along x that forks at x = 0.1 m into branches up and down."""
    fork = (0.10, 0.0, 0.0)
    up = (np.array([fork, (0.13, 0.0, 0.012), (0.17, 0.0, 0.03)]), 0.0035)
    down = (np.array([fork, (0.13, 0.0, -0.012), (0.17, 0.0, -0.03)]), 0.0035)
    return pl.Pipe(centreline=np.array([(-0.02, 0.0, 0.0), fork]), radius=0.0035, branches=(up, down))


def main(quick: bool = False) -> float:
    """Steer the tip into the upper branch; returns its mean distance from the branch's axis [mm]."""
    model = BeamModel(catheter(), elements=10)
    wall = vessel()
    axis = np.array([(0.082, 0, 0), (0.10, 0, 0), (0.13, 0, 0.012), (0.150, 0, 0.021)])
    run = follow(model, axis, obstacles=[wall], spacing=0.008 if quick else 0.002, alarm=0.004)
    error = 1e3 * run.error("tip")
    solved = sum(s.ok for s in run.status)
    print(f"{model!r}: {solved} of {len(run)} waypoints solved; tip {error.mean():.2f} mm from the axis on average")
    print(f"insertion {1e3 * run.displacement[-1, -1]:.1f} mm, tensions {run.effort[-1, :4].round(2)} N")
    print(f"wall force up to {run.contact_force.max():.2f} N; {1e3 * np.median(run.elapsed):.1f} ms per waypoint")
    inside = wall.distance(model.skin_positions(run.q[-1])).min() - 1.5e-3
    print(f"deepest point of the catheter in the wall: {-1e3 * min(inside, 0.0):.1e} mm")
    if not quick:
        picture = pl.snapshot(model, run[len(run) - 1], "out/catheter.png", obstacles=[wall], camera=(-90, 5))
        print("wrote", picture)
    return float(error.mean())


if __name__ == "__main__":
    main()
