"""Cable fingers of two materials, to 60 % shortening, against incremental linear models (X3).

Three fingers are pulled by one cable: a hard one (TPU 95A), a soft one (the same law, 3.75 times softer, the ratio
measured for NinjaFlex), and a hard one whose first knuckle is soft. Where the cable's length is commanded and nothing
else acts, a stiffness that is the same everywhere drops out of the pose: only the tension scales. Two stiffnesses in
one finger do not drop out: its soft knuckle bends first. At a third of the cable's length its teeth meet, and the other
knuckles take over; without contact the cable's length there would go to zero, and there is no equilibrium beyond.

The notches are wide and their hinges thin, so that three quarters of the cable can vanish in them; the geometry of the
source is not published. A linear model from rest is far off at such rotations; one that takes a single linear solve per
step of 1 %, as real-time solvers do, lags behind (the source reports it of SOFA beyond 45 %).
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.algebra.factorisation import factorise
from pliant.materials import preset

EXPECTED = (15.0, 50.0)
SHARES = (0.15, 0.30, 0.45, 0.60)


def main(quick: bool = False) -> float:
    """Pull the fingers; returns how far the incremental linear model is off at 60 % [mm]."""
    base = pl.robots.notched_finger(
        size=0.02 if quick else 0.0085, pitch=0.0115, opening=0.0100, root=0.0055, depth=0.0222, cable_depth=0.0235
    ).but(gravity=(0, 0, 0))
    mesh = base.soft_body().mesh.with_region("knuckle", lambda c: (c[:, 2] < -0.004) & (c[:, 2] > -0.040))
    hard, soft = preset("tpu-95a"), preset("tpu-95a").scaled(1 / 3.75)
    bodies = {
        "hard": pl.SoftBody("body", mesh, hard),
        "soft": pl.SoftBody("body", mesh, soft),
        "first knuckle soft": pl.SoftBody("body", mesh, hard, {"knuckle": soft}),
    }
    cable = replace(base.actuators[2], displacement_limits=(0.0, 0.08))
    shown, paths = [], {}
    if quick:
        del bodies["soft"]
    for name, body in bodies.items():
        model = pl.GeometricModel(base.but(bodies=(body,), actuators=(cable,)))
        rest, state, tips = float(model.rest_measures[0]), None, [model.locate(model.rest, "tip").position]
        for share in np.arange(1, 13) * 0.05:
            state = pl.equilibrium(
                model, [share * rest], start=state, obstacles=[pl.SelfContact()], alarm=1.5e-3, strict=True
            )
            tips.append(model.locate(state, "tip").position)
            if np.isclose(share, SHARES).any():
                print(f"{name}, {100 * share:.0f} %: {state.effort[0]:.2f} N, "
                      f"{int((state.contacts.forces > 0).sum())} contacts of the teeth, largest strain "
                      f"{100 * model.strains(state).max():.0f} %, {state.iterations} iterations")  # fmt: skip
        paths[name] = 1e3 * np.array(tips)
        shown.append((name, model, state))
        if name == "hard":
            paths["linear"] = 1e3 * _linear(model, rest, update=False)
            paths["one solve per 1 %"] = 1e3 * _linear(model, rest, update=True)
    off = {n: np.linalg.norm(paths[n] - paths["hard"], axis=1) for n in paths}
    for n in sorted(set(off) - {"hard"}):
        apart = ", ".join(f"{off[n][round(20 * s)]:.2f}" for s in SHARES)
        print(f"{n}: {apart} mm from the hard finger's tip at 15, 30, 45 and 60 %")
    _draw(shown, paths)
    return float(off["one solve per 1 %"][-1])


def _linear(model: pl.GeometricModel, rest: float, *, update: bool) -> np.ndarray:
    """Tips every 5 % of a linear model from rest, or of one that takes a single linear solve per step of 1 %."""
    q, effort, tips = model.rest, np.zeros(1), [model.locate(model.rest, "tip").position]
    for k in range(1, 61):
        if k == 1 or update:
            # the stiffness of the body alone, as solvers have it that treat the cable as a constraint
            factor, row = factorise(model.projected(q, np.zeros(1))[1]), model.displacement_rows(q)
            moved = factor.solve(row.T)[:, 0]
        free = factor.solve(model.force(q, effort)) if update else np.zeros(model.nv)
        missing = 0.01 * k * rest - model.displacement(q)[0] if update else 0.01 * rest
        more = (missing - float(row[0] @ free)) / float(row[0] @ moved)
        q, effort = model.retract(q, free + more * moved), effort + more
        if k % 5 == 0:
            tips.append(model.locate(q, "tip").position)
    return np.array(tips)


def _draw(shown: list, paths: dict[str, np.ndarray]) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 4, figsize=(16, 4.4))
    for axis, (name, model, state) in zip(axes, shown):
        picture = pl.viewer.snapshot_image(
            model, state, size=(760, 760), camera=(-90.0, 8.0), field="strain", span=(0.0, 12.0), ground=False
        )
        axis.imshow(picture)
        axis.set(title=f"{name}: 60 %, {state.effort[0]:.1f} N")
        axis.axis("off")
    for name, tips in paths.items():
        # the soft finger's path lies on the hard one's
        axes[3].plot(tips[:, 0], tips[:, 2], "--" if "linear" in name else "o-", ms=3, lw=5 if name == "hard" else 1.5,
                     label=name)  # fmt: skip
    axes[3].set(xlabel="x [mm]", ylabel="z [mm]", title="path of the tip, 0 to 60 %", aspect="equal")
    axes[3].legend(fontsize=7)
    figure.tight_layout()
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/cable_fingers.png", dpi=110)


if __name__ == "__main__":
    main()
