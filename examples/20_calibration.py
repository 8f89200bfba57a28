"""Calibration from a picture: the shape parameters of two materials from one stretched bar (X2).

A bar is stiff up to its middle and soft beyond. How far its interface moves when its end is pulled gives the ratio of
the two stiffnesses R_m, with no force measured. Bisection then finds the shape parameter of the softer material with
which the simulated bar moves alike. The ratio of shape parameters lies above R_m, as in table 2.1 of the source. The
parameters found are then tried on another motion: the bar is twisted, and its softer half takes most of the turn.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.learn.calibration import calibrate_shape, measured_ratio, shape_material, two_material_bar

EXPECTED = (4.5, 6.5)


def main(quick: bool = False) -> float:
    """Bisect two pairs of materials; returns the ratio of shape parameters for R_m = 3.75."""
    bar = {"cells": (12, 2, 2)} if quick else {}
    print(f"homogeneous bar: R_m = {measured_ratio(shape_material(1.0), shape_material(1.0), **bar)[0]:.4f}")
    first, twisted = 0.0, {}
    for pair, elasticity, source in (("TPU 95A / NinjaFlex", 3.75, 7.08), ("Tango / Agilus", 5.68, 10.30)):
        found = calibrate_shape(elasticity, tolerance=4e-3, **bar)
        first = first or found.ratio
        print(f"{pair}: R_m {elasticity} -> ratio {found.ratio:.2f} in {found.steps} steps (source {source}), "
              f"interface moved {1e3 * found.interface_moved:.3f} mm")  # fmt: skip
        robot = two_material_bar(shape_material(1.0), shape_material(found.shape), twist=True, **bar)
        twisted[pair] = twist(pl.GeometricModel(robot))
        print(f"   twisted: the softer half takes {100 * (1 - twisted[pair][2]):.0f} % of the turn")
    _draw(twisted)
    return first


def twist(model: pl.GeometricModel) -> tuple[pl.GeometricModel, pl.State, float]:
    """The bar with its end turned, and the share of the turn that its stiffer half takes."""
    state = pl.flex(model, {"up": 2.0, "down": 2.0}, strict=True)
    turn = []
    for name in ("interface", "tip"):
        d = model.locate(state, f"{name}_rim").position - model.locate(state, name).position
        turn.append(np.arctan2(d[2], d[1]))
    return model, state, float(turn[0] / turn[1])


def _draw(twisted: dict[str, tuple[pl.GeometricModel, pl.State, float]]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(twisted), figsize=(6 * len(twisted), 4.6))
    for axis, (pair, (model, state, share)) in zip(axes, twisted.items()):
        axis.imshow(pl.viewer.snapshot_image(model, state, size=(960, 720), field="strain", span=(0.0, 12.0)))
        axis.set(title=f"{pair}: the softer half (right) takes {100 * (1 - share):.0f} % of the turn")
        axis.axis("off")
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/calibration.png", dpi=110)


if __name__ == "__main__":
    main()
