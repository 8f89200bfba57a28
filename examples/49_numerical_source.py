"""Which simulation should the network learn from: a numerical one, or a formula?

The three-chamber arm as a tetrahedral mesh (geometric model, exact Jacobians) and as one section of constant curvature
(calibrated on three poses of the mesh) are both learned; both are then corrected with measurements of the same robot,
finite elements of another rubber behind other gains, hysteresis and a crooked mount. The paper needs 300 measurements
with its simulator and 1000 with the formula until the prediction is within 1 % of the workspace at most points.
Writes out/numerical_source.png.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import pliant as pl
from pliant.learn import ConstantCurvatureArm, VirtualRobot, fit, make_plan, record, sample
from pliant.learn.mappings import fit_correction
from pliant.learn.transfer import miss

EXPECTED = (1.1, 20.0)
PRESSURE = 42e3


def arm(kind=pl.GeometricModel, young: float = 0.6e6, poisson: float = 0.45):
    """The arm in soft rubber, on a coarse mesh."""
    rubber = pl.materials.NeoHookean.from_young(young, poisson, density=1140.0)
    return kind(pl.robots.three_chamber_arm(size=0.02, folds=4, material=rubber))


def robot() -> VirtualRobot:
    """What is measured: another model of another rubber, with the faults of hardware."""
    return VirtualRobot(
        lambda payload: arm(pl.FemModel, 0.56e6, 0.455), gains=(1.05, 0.96, 1.0), hysteresis=0.002,
        span=(PRESSURE,) * 3, offset=(8e-4, -6e-4, 4e-4), tilt=(0.006, -0.004, 0.01), scale=1.004, noise=2e-5, seed=1,
    )  # fmt: skip


def formula(numerical) -> ConstantCurvatureArm:
    """The analytical arm that meets three poses of the numerical one as well as it can."""
    u = PRESSURE * np.array([[1.0, 0, 0], [0.5, 0, 0], [1.0, 1, 1]])
    wanted = numerical.position(u, "tip")[0]

    def make(p):
        return ConstantCurvatureArm(length=0.136, radius=p[0], gain=p[1], curve=p[2], pressure=PRESSURE)

    def error(p):
        return np.concatenate([make(p).place(c, "tip").position - x for c, x in zip(u, wanted)])

    return make(least_squares(error, [0.0125, 0.006, 0.2], x_scale=[1e-2, 1e-3, 1.0]).x)


def main(quick: bool = False) -> float:
    """The study; returns how many times more measurements the analytical source needs."""
    out = Path("out")
    data = sample(arm, [(0.0, PRESSURE)] * 3, path=out / "mesh_arm_6.h5", per_axis=6, start="neighbour", workers=0)
    numerical = fit(data, hidden=(20, 20), iterations=40)
    print(f"kinematics: at most {100 * numerical.facts['test']['tip']['max_share']:.3f} % of the workspace off")
    curved = sample(formula(numerical), path=out / "formula_arm.h5", per_axis=8, workers=0)
    sources = {"numerical": numerical, "analytical": fit(curved, hidden=(12, 12), iterations=25)}
    counts = (15, 30, 60) if quick else (15, 30, 60, 120, 240)
    measured = record(robot(), make_plan("sobol", data.ranges, count=(2 if quick else 3) * counts[-1]))
    test, pool = measured.select(np.arange(60)), len(measured) - 60
    curves: dict[str, list[float]] = {name: [] for name in sources}
    for n in counts:
        for name, model in sources.items():
            y_test, errors = model.position(test.u, "tip")[0], []
            for k in range(min(pool // n, 4)):  # several draws: a correction from few measurements is a matter of luck
                part = measured.select(60 + k * n + np.arange(n))
                y = model.position(part.u, "tip")[0]
                correction = fit_correction("single-layer", y, part.u, part.load, part.position, seed=k)
                errors.append(np.quantile(miss(correction, y_test, test), 0.9))
            curves[name].append(100 * float(np.median(errors)) / data.width)
        a, b = (c[-1] for c in curves.values())
        print(f"{n} measurements, error of 90 % of the poses: numerical {a:.2f} %, analytical {b:.2f} %")
    _draw(out / "numerical_source.png", counts, curves)
    needed = {name: _crossing(counts, values) for name, values in curves.items()}
    print("measurements until it is below 1 %: " + ", ".join(f"{k} {v:.0f}" for k, v in needed.items()))
    return needed["analytical"] / needed["numerical"]


def _crossing(counts, values) -> float:
    """Where the curve falls below 1 %, on logarithmic axes."""
    return float(np.exp(np.interp(0.0, -np.log(values), np.log(counts))))


def _draw(path: Path, counts, curves) -> None:
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 4), layout="constrained")
    axes = figure.subplots()
    for name, values in curves.items():
        axes.loglog(counts, values, "o-", label=f"{name} simulation")
    axes.axhline(1.0, color="0.5", ls=":", label="the paper's bar")
    axes.set(xlabel="measurements", ylabel="error of 90 % of the poses [% of the workspace]")
    axes.set_xticks(counts, [str(n) for n in counts], minor=False)
    axes.set_yticks([0.5, 1, 2, 5], ["0.5", "1", "2", "5"])
    axes.minorticks_off()
    axes.legend()
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
