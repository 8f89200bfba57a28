"""A puppet driven by key points: strings follow an animation (spec 8.2).

A soft figure with two arms and a head stands in a pot; strings pull from above at the hands and at the head. An
animation gives the wanted places of hands and head over time; the inverse finds the strings, which can only pull. Where
the strings cannot follow, the nearest pose is taken, and the trajectory says so.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.materials import Corotational

EXPECTED = (0.9, 1.3)  # mean distance of the key points from the animation [mm]
HANDS = {"left": (-0.045, 0.0, 0.085), "right": (0.045, 0.0, 0.085), "head": (0.0, 0.0, 0.14)}


def puppet(size: float) -> pl.Robot:
    """A figure of 140 mm: trunk, arms and head, of silicone (350 kPa), with six strings from a frame above."""
    lines = [
        np.arange(-0.05, 0.05 + 1e-9, size),
        np.arange(-0.01, 0.01 + 1e-9, size),
        np.arange(0.0, 0.14 + 1e-9, size),
    ]
    centre = np.meshgrid(*[0.5 * (a[1:] + a[:-1]) for a in lines], indexing="ij")
    x, _, z = centre
    solid = (np.abs(x) < 0.012) & (z < 0.11) | (np.abs(z - 0.085) < 0.006) | (np.hypot(x, z - 0.125) < 0.017)
    mesh = pl.TetMesh.voxels(solid, size, (-0.05, -0.01, 0.0))
    mesh = mesh.with_node_set("pot", lambda p: p[:, 2] < 0.0101)
    strings = []
    for name, place in HANDS.items():
        for side, over in (("a", -0.05), ("b", 0.05)):
            top = (1.6 * place[0], over, 0.30)
            strings.append(pl.Cable(name=f"{name}_{side}", points=(place,), pull_point=top, effort_limits=(0.0, 6.0)))
    return pl.Robot(
        "puppet",
        (pl.SoftBody("body", mesh, Corotational.from_young(350e3, 0.45, density=1100.0)),),
        (pl.Fixation("pot"),),
        actuators=tuple(strings),
        points=tuple(pl.Point(n, p) for n, p in HANDS.items()),
        source="examples/32_puppet.py; modulus and number of strings after spec inverse-fem 8.2, shape chosen",
    )


def main(quick: bool = False) -> float:
    """Let it dance; returns the mean distance of the key points from the animation [mm]."""
    model = pl.FemModel(puppet(0.01 if quick else 0.005))
    rest = pl.equilibrium(model)
    home = model.locate(rest, tuple(HANDS)).position
    t = np.linspace(0.0, 2.0 * np.pi, 6 if quick else 41)[1:]
    lift = 0.5 - 0.5 * np.cos(t)
    moves = np.zeros((len(t), 3, 3))
    moves[:, 0, 2], moves[:, 1, 2] = 0.008 * lift, 0.008 * (0.5 - 0.5 * np.cos(2 * t))
    moves[:, 2, 1] = 0.004 * np.sin(t)
    goals = [[pl.PointsTarget(tuple(HANDS), home + m)] for m in moves]
    run = pl.follow(model, targets=goals, start=rest)
    places = np.stack([run.points[n] for n in HANDS], axis=1)
    error = 1e3 * np.linalg.norm(places - home - moves, axis=2)
    print(f"{model!r}: {len(run)} key frames, {sum(s.ok for s in run.status)} solved")
    print(
        f"key points: mean {error.mean():.2f} mm off, worst {error.max():.2f} mm; tensions to {run.effort.max():.2f} N"
    )
    print(f"{1e3 * np.median(run.elapsed):.0f} ms per frame; slackest string {run.effort.min():.1e} N")
    if not quick:
        half = len(run) // 2
        print("wrote", pl.snapshot(model, run[half], "out/puppet.png", marks=home + moves[half], camera=(-80, 8)))
    return float(error.mean())


if __name__ == "__main__":
    main()
