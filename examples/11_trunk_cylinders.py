"""A trunk between two cylinders: contact in the inverse problem.

The tip follows a path while the body leans on two fixed cylinders. The controller knows about them: contact forces are
unknowns beside the cable tensions, tied to the gaps by complementarity (a QPCC), so the cylinders are used as supports
instead of being run into. Every pose is checked by a forward solve with contact.
"""

from __future__ import annotations

import numpy as np

import pliant as pl

EXPECTED = (0.0, 0.05)  # largest distance of the tip from its path [mm]


def scene() -> tuple[pl.FemModel, list]:
    """The trunk and the two cylinders, left and right of its middle."""
    model = pl.FemModel(pl.robots.trunk())
    posts = [
        pl.Cylinder(a=(0.030, -0.06, 0.09), b=(0.030, 0.06, 0.09), radius=0.012, name="right"),
        pl.Cylinder(a=(-0.032, -0.06, 0.12), b=(-0.032, 0.06, 0.12), radius=0.012, name="left"),
    ]
    return model, posts


def main(quick: bool = False) -> float:
    """Move the tip from side to side; returns the largest distance from the path [mm]."""
    model, posts = scene()
    rest = pl.equilibrium(model, obstacles=posts)
    tip = model.locate(rest, "tip").position
    t = np.linspace(0.0, 1.0, 7 if quick else 41)
    reach = 0.045 * np.sin(1.5 * np.pi * t)
    path = tip + np.stack([reach, 0.01 * np.sin(2 * np.pi * t), -9.0 * reach**2 - 0.002 * t], axis=1)
    run = pl.follow(model, path, obstacles=posts, start=rest)
    error = 1e3 * run.error("tip")
    touching = int((run.contact_force > 1e-6).sum())
    print(f"{model!r}: {sum(s.ok for s in run.status)} of {len(run)} solved, {touching} of them in contact")
    print(f"error: largest {error.max():.1e} mm; contact force up to {run.contact_force.max():.2f} N")
    worst = int(np.argmax(run.contact_force))
    again = pl.equilibrium(model, run.u[worst], obstacles=posts, start=run[worst])
    off = np.linalg.norm(model.locate(again, "tip").position - run.points["tip"][worst])
    print(f"forward check with contact: {again.status}, {1e3 * off:.1e} mm")
    if not quick:
        picture = "out/trunk_cylinders.png"
        print("wrote", pl.snapshot(model, again, picture, obstacles=posts, marks=path, camera=(-70, 12)))
    return float(error.max())


if __name__ == "__main__":
    main()
