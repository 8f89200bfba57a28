"""First lines: pull the cable of a finger and see where its tip goes.

A robot is described once (here by the catalogue), a model turns it into mechanics, and the verb `equilibrium`
finds the pose in which all forces balance. The cable is commanded by the length pulled in; the tension that this
takes comes out. The status is a sentence, and a result that did not converge says so.

`pl.view(model, bent)` opens a page in the browser with one slider per actuator and a target to drag; this script
writes a picture without a screen instead, and then asks the inverse question: which pull brings the tip to a
given point?
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (20.0, 90.0)  # mm that the tip moves


def main(quick: bool = False) -> float:
    """Bend the finger and bring it back by the inverse; returns how far its tip moved [mm]."""
    finger = pl.robots.finger()  # one cable, silicone, fixed base
    model = pl.FemModel(finger)
    rest = pl.equilibrium(model)  # hangs under its own weight
    bent = pl.equilibrium(model, {"cable": 0.018}, start=rest)  # 18 mm pulled in

    tip = model.locate(bent, "tip").position
    moved = 1e3 * float(np.linalg.norm(tip - model.locate(rest, "tip").position))
    print(f"{model!r}: {bent.status}")
    print(f"tip at {1e3 * tip.round(5)} mm, moved {moved:.1f} mm, tension {bent.effort[0]:.3f} N")
    print(f"{bent.iterations} Newton iterations, residual {bent.residual:.1e}")

    # The other way round: one cable has one degree of freedom, so only the height of the tip is asked for.
    wanted = pl.PointTarget("tip", tip, axes="z")
    command = pl.invert(model, rest, [wanted])
    off = 1e3 * float(np.abs(command.error).max())
    print(f"inverse: {command.status}; cable {1e3 * command.u[0]:.4f} mm, tip {off:.1e} mm off")

    if not quick:
        Path("out").mkdir(exist_ok=True)
        print("wrote", pl.snapshot(model, bent, "out/first_lines.png", title="finger, cable pulled 18 mm"))
    return moved


if __name__ == "__main__":
    main()
