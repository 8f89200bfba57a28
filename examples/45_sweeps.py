"""How large must the networks be, how much must be measured, and does the simulator matter?

The sweeps of the paper: hidden layers and neurons of the kinematics (dense and LSTM), the ratio eta of neurons to
measurements, the number of measurements, and a numerical against an analytical simulation as the source.
Writes out/sweeps.png.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.learn import (
    ConstantCurvatureArm,
    chamber_arm,
    errors,
    fit,
    fit_recurrent,
    make_plan,
    record,
    sample,
    specimen,
)
from pliant.learn.mappings import fit_correction
from pliant.learn.transfer import miss

EXPECTED = (1.2, 20.0)


def main(quick: bool = False) -> float:
    """All sweeps; returns how many times larger the error with the analytical source is, at 40 measurements."""
    per_axis, out = 5 if quick else 8, Path("out")
    data = sample(chamber_arm, path=out / f"arm_{per_axis}.h5", per_axis=per_axis, workers=0)
    check = sample(chamber_arm, path=out / "arm_check.h5", plan="latin", count=60 if quick else 300, workers=0)
    sizes: dict[str, float] = {}
    for hidden in ((6,), (12,), (12, 12)) if quick else ((10,), (20,), (35,), (20, 20), (35, 35), (30, 30, 30)):
        for slopes in (False, True):
            model = fit(data, hidden=hidden, iterations=15 if quick else 60, slopes=slopes)
            name = "x".join(map(str, hidden)) + (" with Jacobians" if slopes else "")
            sizes[name] = 100 * errors(model, check)["tip"]["mean_share"]
            print(f"kinematics {name}: mean {sizes[name]:.4f} % of the workspace")
    try:
        lstm = fit_recurrent(data, hidden=12 if quick else 35, epochs=20 if quick else 600)
        print(f"LSTM ({lstm.parameters} parameters): mean {100 * lstm.errors['mean_share']:.3f} %")
    except ImportError as error:
        print(error)

    robot, total = specimen(1), 120 if quick else 500
    measured = record(robot, make_plan("sobol", data.ranges, count=total))
    test = measured.select(np.arange(total - total // 3, total))
    learned = fit(data, hidden=(12, 12), iterations=25)
    poor = fit(
        sample(ConstantCurvatureArm(), path=out / "cc.h5", per_axis=8, workers=0), hidden=(12, 12), iterations=25
    )

    def error(model, n: int, eta: float) -> tuple[float, float]:
        part = measured.select(np.arange(n))
        y, y_test = model.position(part.u, "tip")[0], model.position(test.u, "tip")[0]
        c = fit_correction("single-layer", y, part.u, part.load, part.position, eta=eta)
        return 1e3 * miss(c, y, part).mean(), 1e3 * miss(c, y_test, test).mean()

    for eta in (1 / 16, 1 / 4, 1.0):
        a, b = error(learned, total // 3, eta)
        print(f"eta {eta:.3f}: training {a:.3f} mm, test {b:.3f} mm")
    curves = {name: [] for name in ("numerical", "analytical")}
    counts = [20, 40, 80] if quick else [20, 40, 80, 160, 330]
    for n in counts:
        curves["numerical"].append(error(learned, n, 0.25)[1])
        curves["analytical"].append(error(poor, n, 0.25)[1])
        a, b = (c[-1] for c in curves.values())
        print(f"{n} measurements: {a:.3f} mm (numerical source), {b:.3f} mm (analytical source)")
    _draw(out / "sweeps.png", sizes, counts, curves)
    return float(curves["analytical"][1] / curves["numerical"][1])


def _draw(path: Path, sizes: dict, counts: list, curves: dict) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subplots(1, 2)
    left.barh(list(sizes), list(sizes.values()))
    left.set_xscale("log")
    left.set_xlabel("mean error [% of the workspace]")
    for name, values in curves.items():
        right.loglog(counts, values, "o-", label=f"{name} simulation")
    right.set_xlabel("measurements")
    right.set_ylabel("error after the correction [mm]")
    right.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
