"""Cable fingers of two materials: the same geometry, the same poses, other tensions (X3).

Three fingers are pulled by one cable: a hard one (TPU 95A), a soft one (the same law, 3.75 times softer, the ratio
measured for NinjaFlex), and a hard one whose first knuckle is soft. Where the cable's length is commanded and nothing
else acts, a stiffness that is the same everywhere drops out of the pose: only the tension scales. Two stiffnesses in
one finger do not drop out: its soft knuckle bends twice as far. One linear step from rest, the beginning of an
incremental linear model, is far off at such rotations. The uniform fingers are pulled by up to 24 % of the cable's
length, which turns the tip by a right angle; beyond 27 % (the source goes to 60 %), and with the soft knuckle from 20 %
on, no equilibrium is found.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.bodies import SoftBody
from pliant.materials import preset
from pliant.models.geometric import GeometricModel
from pliant.robots.notched_finger import notched_finger
from pliant.solve.flex import flex
from pliant.solve.sensitivity import sensitivity

EXPECTED = (12.0, 17.0)


def main(quick: bool = False) -> float:
    """Pull the fingers; returns by how much the soft knuckle moves the tip [mm]."""
    base = notched_finger(size=0.02 if quick else 0.0085).but(gravity=(0, 0, 0))
    mesh = base.soft_body().mesh.with_region("knuckle", lambda c: (c[:, 2] < -0.010) & (c[:, 2] > -0.040))
    hard, soft = preset("tpu-95a"), preset("tpu-95a").scaled(1 / 3.75)
    fingers = {
        "hard": SoftBody("body", mesh, hard),
        "soft": SoftBody("body", mesh, soft),
        "both": SoftBody("body", mesh, hard, {"knuckle": soft}),
    }
    cable = base.actuators[2]
    out = Path("out")
    out.mkdir(exist_ok=True)
    from pliant.viewer.snapshot import snapshot

    tips = {}
    for name, body in fingers.items():
        model = GeometricModel(base.but(bodies=(body,), actuators=(cable,)))
        first = flex(model, [1e-4])  # taut
        slope = sensitivity(model, first).of("tip")[3:, 0]
        rest = model.rest_measures[0]
        state = first
        far = () if quick or name == "both" else (0.20 * rest, 0.24 * rest)
        for pulled in (5e-3, 10e-3, 15e-3, *far):
            state = flex(model, [pulled], start=state)
            tip = model.locate(state, "tip").position
            linear = model.locate(first, "tip").position + slope * (pulled - 1e-4)
            knuckle = model.locate(state, "knuckle1").rotation
            bend = np.degrees(np.arccos(np.clip(knuckle[2, 2], -1, 1)))
            if pulled == 15e-3:
                tips[name] = tip
            print(f"{name}, {1e3 * pulled:.0f} mm ({100 * pulled / rest:.0f} %): {state.status.name}, "
                  f"{state.effort[0]:.1f} N, first knuckle {bend:.0f} degrees; "
                  f"a linear step is {1e3 * np.linalg.norm(linear - tip):.1f} mm off")  # fmt: skip
        snapshot(model, state, out / f"cable_finger_{name}.png", title=name)
    same, other = (1e3 * float(np.linalg.norm(tips[n] - tips["hard"])) for n in ("soft", "both"))
    print(f"a softer material moves the tip by {same:.4f} mm, two materials in one finger by {other:.1f} mm")
    return other


if __name__ == "__main__":
    main()
