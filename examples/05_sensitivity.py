"""Sensitivity: how a pose changes with its actuation, exactly and for free.

An equilibrium leaves a factorised tangent stiffness K behind. The implicit function theorem then gives dq/du with a
few back substitutions: K^-1 A for actuators driven by effort, and the same condensed to W = C K^-1 A for cables driven
by their length. No simulation is repeated and there is no step to choose. Inverse, control and calibration are built on
these derivatives.

The script computes the 3 x 8 Jacobian of the trunk's tip and compares one column with central differences of two
fully converged equilibria. Then it uses the Jacobian: the singular values tell in which directions the tip can move.
"""

from __future__ import annotations

import time

import numpy as np

import pliant as pl

EXPECTED = (0.0, 1e-5)


def main(quick: bool = False) -> float:
    """Derivatives of the trunk's tip; returns the largest relative difference from finite differences."""
    model = pl.FemModel(pl.robots.trunk())
    names = model.robot.actuator_names
    command = dict(zip(names, (0.012, 0.009, 0.007, 0.009, 0.006, 0.005, 0.004, 0.005)))  # all cables taut
    state = pl.equilibrium(model, command)
    print(f"{model!r}: {state.status}, {1e3 * state.elapsed:.0f} ms, {state.iterations} iterations")

    begin = time.perf_counter()
    exact = pl.sensitivity(model, state)
    tip = exact.of("tip")[3:]  # rows are (angular; linear)
    print(f"all {model.nu} derivatives took {1e3 * (time.perf_counter() - begin):.1f} ms")
    for name, column, tension in zip(names, tip.T, np.diag(exact.effort)):
        print(f"  {name}: tip moves {np.round(column, 3)} mm per mm, {tension:7.0f} N/m")

    worst, h = 0.0, 1e-5
    for name in names[:1] if quick else names:
        ends = [pl.equilibrium(model, {name: command[name] + s * h}, start=state) for s in (1, -1)]
        differences = np.subtract(*(model.locate(e, "tip").position for e in ends)) / (2 * h)
        column = tip[:, names.index(name)]
        worst = max(worst, float(np.linalg.norm(differences - column) / np.linalg.norm(column)))
    print(f"largest difference from re-solved finite differences: {worst:.1e}")

    strength = np.linalg.svd(tip, compute_uv=False)
    print(f"the tip moves by at most {strength[0]:.2f} and at least {strength[-1]:.2f} mm per mm of cable (norm of 8)")
    return worst


if __name__ == "__main__":
    main()
