"""Calibration from a picture: the shape parameters of two materials from one stretched bar (X2).

A bar is stiff up to its middle and soft beyond. How far its interface moves when its end is pulled gives the ratio of
the two stiffnesses R_m, with no force measured. Bisection then finds the shape parameter of the softer material with
which the simulated bar moves alike. The ratio of shape parameters lies above R_m, as in table 2.1 of the source.
"""

from __future__ import annotations

from pliant.learn.calibration import calibrate_shape, measured_ratio, shape_material

EXPECTED = (4.5, 6.5)


def main(quick: bool = False) -> float:
    """Bisect two pairs of materials; returns the ratio of shape parameters for R_m = 3.75."""
    bar = {"cells": (12, 2, 2)} if quick else {}
    print(f"homogeneous bar: R_m = {measured_ratio(shape_material(1.0), shape_material(1.0), **bar)[0]:.4f}")
    first = 0.0
    for pair, elasticity, source in (("TPU 95A / NinjaFlex", 3.75, 7.08), ("Tango / Agilus", 5.68, 10.30)):
        found = calibrate_shape(elasticity, tolerance=4e-3, **bar)
        first = first or found.ratio
        print(f"{pair}: R_m {elasticity} -> ratio {found.ratio:.2f} in {found.steps} steps (source {source}), "
              f"interface moved {1e3 * found.interface_moved:.3f} mm")  # fmt: skip
    return first


if __name__ == "__main__":
    main()
