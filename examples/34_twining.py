"""A tendril twines around a pole and grips it (X8).

The tendril is a toothed silicone finger (Ecoflex 00-30) with an inextensible strip, twisted along its length: filled,
it curls into a helix, because the side that cannot stretch winds around it. The pole stands inside that helix. Up to
1.7 times the volume nothing touches; then the strip lies down on the pole, and the grip grows from 0.04 N at 1.9 times
to 0.8 N at 2.5 (finite elements: 0.7 N). The pole has no friction; around a thinner one (27 mm) the tendril slips along
it, and hardly grips: 0.035 N at 2.3 times the volume, by finite elements too.
(The source's robot has a spiral slit in a cylinder; its dimensions are not published, and `23_twister` shows that kind
at 115 times its volume.)
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

import pliant as pl
from pliant.robots.silicone_finger import thesis_silicone

EXPECTED = (0.02, 5.0)
TWIST = 11.0  # [rad/m] of the tendril at rest
POLE = 0.031  # [m] radius


def tendril(teeth: int, size: float) -> pl.Robot:
    """A pneumatic finger of Ecoflex whose cross-section turns along its length."""
    straight = pl.robots.pneumatic_finger(teeth=teeth, size=size, material=thesis_silicone("ecoflex"))
    body = straight.soft_body()
    x, y, z = body.mesh.nodes.T
    turn = TWIST * x
    nodes = np.stack([x, y * np.cos(turn) - z * np.sin(turn), y * np.sin(turn) + z * np.cos(turn)], axis=1)
    tip = tuple(float(v) for v in nodes[np.argmax(x - np.abs(y) - np.abs(z))])
    return straight.but(
        name="tendril", bodies=(replace(body, mesh=replace(body.mesh, nodes=nodes)),), points=(pl.Point("tip", tip),)
    )


def main(quick: bool = False) -> float:
    """Fill the tendril around the pole; returns how hard it grips in the end [N]."""
    model = pl.GeometricModel(tendril(10 if quick else 22, 7e-3))
    along = np.array([TWIST, 42.0, 0.0])  # axis of the helix: twist and curvature of the tendril
    along /= np.linalg.norm(along)
    foot = np.array([0.0, 0.0, -POLE - 3e-4])
    pole = pl.Capsule(tuple(foot - 0.06 * along), tuple(foot + 0.14 * along), POLE)
    ratios = (1.8, 2.6) if quick else (1.4, 1.7, 1.9, 2.1, 2.3, 2.5)
    shown, state, grip = [], None, 0.0
    for ratio in ratios:
        command = model.command({"air": ratio})
        state = pl.flex(model, command, start=state, obstacles=[pole], alarm=2e-3, strict=True)
        forces = state.contacts.forces
        grip = float(forces.sum())
        print(f"alpha {ratio}: {state.effort[0] / 1e3:.1f} kPa, {int((forces > 0).sum())} contacts, grip {grip:.2f} N, "
              f"penetration {max(state.contacts.max_penetration, 0.0):.1e} m, {state.iterations} iterations, "
              f"{state.elapsed:.1f} s")  # fmt: skip
        shown.append((f"alpha {ratio}, {grip:.2f} N", state))
    _draw(model, pole, shown if quick else [shown[0], shown[3], shown[-1]])
    return grip


def _draw(model: pl.GeometricModel, pole: pl.Capsule, shown: list) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(shown), figsize=(5 * len(shown), 4.9), squeeze=False)
    for axis, (title, state) in zip(axes[0], shown):
        picture = pl.viewer.snapshot_image(
            model, state, obstacles=[pole], size=(800, 720), camera=(-35.0, 25.0), field="strain", ground=False,
            span=(0.0, 60.0),
        )  # fmt: skip
        axis.imshow(picture)
        axis.set(title=title)
        axis.axis("off")
    figure.tight_layout(rect=(0, 0, 1, 0.97))
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/twining.png", dpi=110)


if __name__ == "__main__":
    main()
