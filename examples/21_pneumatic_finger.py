"""A pneumatic finger to 240 degrees: the geometric model and finite elements (X1, X5).

The finger's chamber is driven by its volume, as by a syringe. `flex` goes from the straight finger to each pose in one
go: about ten factorisations, because a step that bends is carried out with its rotations exact. The strain histogram
shows why the model may be linear: the structure moves far, the material is strained little.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.models.geometric import GeometricModel
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.solve.flex import flex

EXPECTED = (235.0, 285.0)


def main(quick: bool = False) -> float:
    """Bend the finger; returns its largest bending angle [degrees]."""
    robot = pneumatic_finger(size=6e-3 if quick else 2.9e-3, layers=1 if quick else 2)
    model = GeometricModel(robot)
    fem = pl.FemModel(robot)
    largest = 0.0
    for ratio in (1.5, 2.2, 3.0 if quick else 2.6):
        state = flex(model, model.command({"air": ratio}))
        R = model.locate(state, "tip").rotation
        angle = float(np.degrees(np.arctan2(-R[2, 0], R[0, 0])) % 360)
        share = np.quantile(model.strains(state), [0.5, 0.9, 0.99])
        print(f"alpha {ratio}: {angle:.0f} degrees, {state.effort[0] / 1e3:.0f} kPa, {state.iterations} iterations, "
              f"{state.elapsed:.2f} s; strain of 50, 90, 99 % of the elements below {np.round(share, 3)}")  # fmt: skip
        residual = (
            np.abs(fem.force(state.q, state.effort)).max()
            / np.abs(fem.actuation(state.q, state.effort) @ state.effort).max()
        )
        print(f"   finite elements at this pose are out of balance by {residual:.1e}")
        largest = max(largest, angle)
    out = Path("out")
    out.mkdir(exist_ok=True)
    from pliant.viewer.snapshot import snapshot

    snapshot(model, state, out / "pneumatic_finger.png", title=f"{largest:.0f} degrees")
    return largest


if __name__ == "__main__":
    main()
