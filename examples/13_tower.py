"""A tower of four chambers whose storeys touch each other: a round trip through self-contact (spec 10.1).

Four pressures are applied, the positions of two points noted, and the inverse asked for the pressures, from rest. The
slots between the storeys close on the way; ignoring that contact gives wrong pressures, shown at the end.
"""

from __future__ import annotations

import numpy as np

import pliant as pl

EXPECTED = (0.0, 0.1)  # largest error of a pressure [%]; the thesis has 0.5


def main(quick: bool = False) -> float:
    """Recover four pressures; returns the largest relative error [%]."""
    model = pl.FemModel(pl.robots.tower())
    touching = [pl.SelfContact()]
    applied = np.array([20e3, 18e3, 24e3, 22e3])
    points = ("tip", "middle")
    state = pl.equilibrium(model, applied, obstacles=touching)
    wanted = model.locate(state, points).position
    closed = int((state.contacts.forces > 0).sum())
    print(f"{model!r}: {state.status}; {closed} contacts closed, {state.contacts.forces.sum():.2f} N in all")

    command = pl.invert(model, None, pl.PointsTarget(points, wanted), obstacles=touching)
    error = 100.0 * np.abs(command.effort / applied - 1.0)
    print(f"inverse: {command.status}, {command.iterations} iterations, {command.elapsed:.2f} s")
    for name, a, e in zip(model.robot.actuator_names, applied, command.effort):
        print(f"  {name}: applied {1e-3 * a:.3f} kPa, found {1e-3 * e:.6f} kPa")

    blind = pl.invert(model, None, pl.PointsTarget(points, wanted))
    off = 100.0 * np.abs(blind.effort / applied - 1.0).max()
    print(f"blind to contact: {blind.status}; pressures off by up to {off:.0f} %")
    if not quick:
        print("wrote", pl.snapshot(model, command.state, "out/tower.png", opacity=0.5, camera=(-60, 10)))
    return float(error.max())


if __name__ == "__main__":
    main()
