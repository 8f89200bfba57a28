"""Registration of a soft body to two-dimensional contour points, with its stiffness estimated (spec 8.1).

A block hangs from its base and is pushed by an unknown load. A few of its surface points are seen in two slices: each
gives two coordinates. The inverse finds the loads and the stiffness of two regions that bring the points where
they were
seen; the stiffness of a region is an actuator like any other. The volume overlap (DICE) tells how good the match is.
"""

from __future__ import annotations

import numpy as np

import pliant as pl
from pliant.materials import Corotational

EXPECTED = (0.999, 1.0)  # DICE of the registered and the true body


def robot(cells: int) -> pl.Robot:
    """A block of 30 x 30 x 60 mm of two regions, held at the top, with two unknown loads and two unknown
    stiffnesses."""
    mesh = pl.TetMesh.box((0.03, 0.03, 0.06), (cells, cells, 2 * cells), (-0.015, -0.015, -0.06))
    mesh = mesh.with_node_set("base", lambda x: x[:, 2] > -1e-9)
    mesh = mesh.with_region("upper", lambda x: x[:, 2] > -0.03).with_region("lower", lambda x: x[:, 2] <= -0.03)
    corners = [(x, y, z) for x in (-0.015, 0.015) for y in (-0.015, 0.015) for z in (-0.03, -0.06)]
    return pl.Robot(
        "gland",
        (pl.SoftBody("body", mesh, Corotational.from_young(10e3, 0.45, density=1000.0)),),
        (pl.Fixation("base"),),
        actuators=(
            pl.Stiffness(name="upper", region="upper", effort_limits=(-0.9, 3.0)),
            pl.Stiffness(name="lower", region="lower", effort_limits=(-0.9, 3.0)),
            pl.PatchForce(name="push", centre=(0.015, 0, -0.045), radius=0.012, direction=(-1, 0, 0)),
            pl.PatchForce(name="press", centre=(0, 0.015, -0.055), radius=0.012, direction=(0, -1, 0)),
        ),
        points=tuple(pl.Point(f"p{i}", c) for i, c in enumerate(corners)),
        source="examples/31_registration.py; spec inverse-fem 8.1, dimensions chosen",
    )


def overlap(model: pl.FemModel, a: np.ndarray, b: np.ndarray) -> float:
    """DICE of two poses of the body, by sampling: 2 |A and B| / (|A| + |B|)."""
    body = model.robot.soft_body().mesh
    shapes = [pl.TetMesh(model.positions(q), body.tets) for q in (a, b)]
    low = np.min([s.bounds[0] for s in shapes], axis=0)
    high = np.max([s.bounds[1] for s in shapes], axis=0)
    points = np.random.default_rng(0).uniform(low, high, (4000, 3))
    inside = [s.locate(points)[2] <= 1e-9 for s in shapes]
    return 2.0 * float((inside[0] & inside[1]).sum()) / float(inside[0].sum() + inside[1].sum())


def main(quick: bool = False) -> float:
    """Register; returns the DICE of the result with the truth."""
    model = pl.FemModel(robot(3 if quick else 5))
    truth = pl.equilibrium(model, {"upper": -0.4, "lower": 0.5, "push": 0.06, "press": 0.03})
    names = [p.name for p in model.robot.points]
    seen = model.locate(truth, names).position
    planes = ["xz" if i % 2 else "yz" for i in range(len(names))]  # two slices, two coordinates of each point
    targets = [pl.PointTarget(n, p, axes=a) for n, p, a in zip(names, seen, planes)]
    command = pl.invert(model, None, targets)
    found = dict(zip(model.robot.actuator_names, command.effort.round(6).tolist()))
    rest = pl.equilibrium(model)
    before, after = overlap(model, rest.q, truth.q), overlap(model, command.state.q, truth.q)
    print(f"{model!r}: {command.status}, {command.iterations} iterations, {command.elapsed:.2f} s")
    print(f"found {found}; true: upper -0.4, lower 0.5, push 0.06 N, press 0.03 N")
    print(f"DICE before {before:.3f}, after {after:.4f}")
    if not quick:
        print("wrote", pl.snapshot(model, command.state, "out/registration.png", marks=seen))
    return after


if __name__ == "__main__":
    main()
