"""A pneumatic finger to 240 degrees: the geometric model and finite elements (X1, X5).

The finger's chamber is driven by its volume, as by a syringe. `flex` goes from the straight finger to each pose in one
go: about ten factorisations, because a step that bends is carried out with its rotations exact. Finite elements agree:
at the poses found their forces balance. Times to 90, 180 and 240 degrees are in `docs/benchmarks/geometric.md`.

The histograms show how far the material is strained where the structure moves far. The source takes a linear law where
nearly all of it stays below 20 % (its TPU) or 30 % (its Agilus). So does the three-chamber arm at 240 kPa, all but 3 %,
and this finger at 76 degrees. At 250 degrees a tenth of the finger is strained by more than 37 %: there a linear law
says less about a real one.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl

EXPECTED = (235.0, 285.0)


def main(quick: bool = False) -> float:
    """Bend the finger; returns its largest bending angle [degrees]."""
    robot = pl.robots.pneumatic_finger(size=6e-3 if quick else 2.9e-3, layers=1 if quick else 2)
    model = pl.GeometricModel(robot)
    fem = pl.FemModel(robot)
    largest, strains = 0.0, {}
    for ratio in (1.5, 2.2, 3.0 if quick else 2.6):
        state = pl.flex(model, model.command({"air": ratio}))
        R = model.locate(state, "tip").rotation
        angle = float(np.degrees(np.arctan2(-R[2, 0], R[0, 0])) % 360)
        strains[f"finger, {angle:.0f} degrees"] = model.strains(state)
        share = np.quantile(model.strains(state), [0.5, 0.9, 0.99])
        print(f"alpha {ratio}: {angle:.0f} degrees, {state.effort[0] / 1e3:.0f} kPa, {state.iterations} iterations, "
              f"{state.elapsed:.2f} s; strain of 50, 90, 99 % of the elements below {np.round(share, 3)}")  # fmt: skip
        residual = (
            np.abs(fem.force(state.q, state.effort)).max()
            / np.abs(fem.actuation(state.q, state.effort) @ state.effort).max()
        )
        print(f"   finite elements at this pose are out of balance by {residual:.1e}")
        largest = max(largest, angle)
    arm = pl.GeometricModel(pl.robots.three_chamber_arm(size=0.02), element="linear" if quick else "quadratic")
    bent = pl.flex(arm, [240e3, 0.0, 0.0])
    strains["three-chamber arm, 240 kPa in one"] = arm.strains(bent)
    share = np.quantile(arm.strains(bent), [0.5, 0.9, 0.99])
    print(f"arm: {bent.status.name}; strain of 50, 90, 99 % of the elements below {np.round(share, 3)}")
    _draw(model, state, f"{angle:.0f} degrees", strains)
    return largest


def _draw(model: pl.GeometricModel, state: pl.State, title: str, strains: dict[str, np.ndarray]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(12, 4.6))
    left.imshow(pl.viewer.snapshot_image(model, state, size=(960, 720), field="strain", span=(0.0, 60.0)))
    left.set(title=title)
    left.axis("off")
    for name, values in strains.items():
        right.hist(100 * values, bins=np.arange(0.0, 80.0, 2.0), weights=np.full(len(values), 100 / len(values)),
                   histtype="step", label=name)  # fmt: skip
    for limit, name in ((20, "TPU 95A"), (30, "Agilus 30")):
        right.axvline(limit, color="0.6", linestyle="--")
        right.text(limit + 0.5, right.get_ylim()[1] * 0.6, f"{name}: linear", rotation=90, fontsize=8, va="bottom")
    right.set(xlabel="largest principal strain [%]", ylabel="elements [% per 2 %]", title="strain of the elements")
    right.legend(fontsize=8)
    figure.tight_layout()
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/pneumatic_finger.png", dpi=110)


if __name__ == "__main__":
    main()
