"""Pick and place with three pneumatic segments: position, grasp, place (X12).

Two segments bring the joint before the third to the rim of a cylinder, with the cylinder at a right angle to the arm.
The third segment bends until the circle through its strip has the cylinder's radius. Then the first two carry it to
its new place. Every stage is a few forward solves, each started from the last.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

import pliant as pl
from pliant.inverse.pick_place import PickAndPlace, Stage

EXPECTED = (0.0, 0.5)
RADIUS, OFFSET = 0.035, 0.0025


def main(quick: bool = False) -> float:
    """Carry a cylinder of 70 mm diameter; returns the largest error of the joint's distance to it [mm]."""
    teeth = 18 if quick else 24
    model = pl.GeometricModel(pl.robots.pneumatic_finger(teeth=teeth, segments=3, size=6e-3 if quick else 4e-3))
    mesh = model.robot.soft_body().mesh
    length = float(mesh.nodes[:, 0].max())
    layer = np.flatnonzero((mesh.nodes[:, 0] > 2 / 3 * length) & (mesh.nodes[:, 2] < 1e-9))
    high = 1.6 * model.rest_measures
    task = PickAndPlace(
        model, joint="joint2", layer=layer, position=(0, 1), grip=2, bounds=(np.zeros(3), high),
        radius=RADIUS, offset=OFFSET,
    )  # fmt: skip
    # A centre that is within reach: below the joint in some pose, then moved a little; and a place farther on.
    centres = []
    for share in ((0.20, 0.35), (0.50, 0.25)):
        place = model.locate(pl.flex(model, [share[0] * high[0], share[1] * high[1], 0.0]), "joint2")
        centres.append(place.position - (RADIUS + OFFSET) * place.rotation[:, 2])
    centre = centres[0] + [0.002, 0.0, -0.001]
    picked = task.pick(centre, samples=3 if quick else 4)
    grasped = task.grasp(picked, centre)
    seated = task.pick(centre, start=grasped)  # closing the grip moved the joint a little
    placed = task.place(seated, centres[1])
    stages = {"position": picked, "grasp": grasped, "position again": seated, "place": placed}
    for name, stage in stages.items():
        print(f"{name}: {stage.status.name}; distance off by {1e3 * stage.distance:.3f} mm, "
              f"angle {stage.angle:.1f} degrees, radius {1e3 * stage.radius:.2f} mm; "
              f"{stage.evaluations} solves, {stage.elapsed:.2f} s")  # fmt: skip
    _draw(model, stages, [centre, centre, centre, centres[1]])
    return 1e3 * max(abs(stage.distance) for stage in (picked, seated, placed))


def _draw(model: pl.GeometricModel, stages: dict[str, Stage], centres: list[np.ndarray]) -> None:
    """The stages side by side, with the object where it is."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, len(stages), figsize=(4 * len(stages), 4.2))
    for axis, (name, stage), c in zip(axes, stages.items(), centres):
        thing = pl.Cylinder(tuple(c - [0.0, 0.02, 0.0]), tuple(c + [0.0, 0.02, 0.0]), RADIUS)
        picture = pl.viewer.snapshot_image(
            model, stage.state, obstacles=[thing], size=(960, 960), camera=(-90.0, 12.0)
        )
        axis.imshow(picture)
        axis.set(title=name)
        axis.axis("off")
    figure.tight_layout(rect=(0, 0, 1, 0.96))
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/pick_and_place.png", dpi=110)


if __name__ == "__main__":
    main()
