"""A catheter in a forked vessel: beams, four cables and an insertion drive, steered by leaning on the wall (spec 11.1).

The catheter is a chain of ten co-rotational beams; fifty capsules along their curves may touch the wall. Its base
slides into the vessel; four cables bend it, along its whole length. The tip is asked to follow the axis into one branch
of the fork, then into the other. Bent as much as the branch demands, the catheter would leave the vessel far behind its
tip: the wall must hold it, and the inverse counts on that. A controller that does not know of the wall finds other
strokes, with which the body would lie in the wall.
"""

from __future__ import annotations

import numpy as np

import pliant as pl

EXPECTED = (0.0, 0.01)  # mean distance of the tip from the axis of the branch in the quick run [mm]
RADIUS, FORK, ANGLE = 0.005, np.array([0.12, 0.0, 0.0]), np.radians(50.0)
ALARM = 0.0037  # [m]: about 47 points are considered, as many as in the source


def branch(side: int) -> np.ndarray:
    """Axis of the upper (+1) or lower (-1) branch [m]: it turns in two steps."""
    first = FORK + 0.02 * np.array([np.cos(ANGLE / 2), 0.0, side * np.sin(ANGLE / 2)])
    return np.array([FORK, first, first + 0.05 * np.array([np.cos(ANGLE), 0.0, side * np.sin(ANGLE)])])


def vessel() -> pl.Pipe:
    """A vessel of 10 mm diameter along x that forks at x = 0.12 m into branches up and down."""
    axis = np.array([(-0.05, 0.0, 0.0), FORK])
    return pl.Pipe(centreline=axis, radius=RADIUS, branches=((branch(1), RADIUS), (branch(-1), RADIUS)))


def path(side: int) -> np.ndarray:
    """Where the tip should go: to the fork and 65 mm into a branch [m]."""
    _, turn, end = branch(side)
    return np.array([(0.102, 0.0, 0.0), FORK, turn, 0.1 * turn + 0.9 * end])


def catheter() -> pl.BeamModel:
    """The catheter, weightless in blood."""
    return pl.BeamModel(pl.robots.catheter().but(gravity=(0.0, 0.0, 0.0)), elements=10, capsules=5)


def main(quick: bool = False) -> float:
    """Steer into both branches; returns the mean distance of the tip from their axes [mm]."""
    model = catheter()
    wall, spacing, means = vessel(), (0.004 if quick else 0.002), []
    radius = model.skin.radius[0]
    for side, name in ((1, "upper"), (-1, "lower"))[: 1 if quick else 2]:
        run = pl.follow(model, path(side), obstacles=[wall], spacing=spacing, alarm=ALARM)
        blind = pl.follow(model, path(side), spacing=spacing)
        error, solved = 1e3 * run.error("tip"), sum(s.ok for s in run.status)
        last, straying = run[len(run) - 1], blind[len(blind) - 1]
        print(f"{name} branch: {solved} of {len(run)} waypoints solved, tip {error.mean():.1e} mm from the axis; "
              f"inserted {1e3 * run.displacement[-1, -1]:.0f} mm; {1e3 * np.median(run.elapsed):.0f} ms")  # fmt: skip
        again = pl.equilibrium(model, run.displacement[-1], obstacles=[wall], start=last, alarm=ALARM)
        off = 1e3 * np.linalg.norm(model.locate(again, "tip").position - path(side)[-1])
        room = 1e3 * (wall.distance(model.skin_positions(again.q)).min() - radius)
        print(f"  forward check: {again.status.name.lower()}, tip {off:.1e} mm off, {room:.2f} mm of room, "
              f"{(again.contacts.forces > 0).sum()} of {len(again.contacts)} contacts closed")  # fmt: skip
        deep = 1e3 * (radius - wall.distance(model.skin_positions(straying.q)).min())
        other = 1e3 * np.abs(run.displacement[-1] - blind.displacement[-1]).max()
        print(f"  without the wall: the catheter would lie {deep:.1f} mm deep in it; strokes differ by {other:.2f} mm")
        means.append(float(error.mean()))
        if not quick:
            picture = f"out/catheter_{name}.png"
            print("wrote", pl.snapshot(model, last, picture, obstacles=[wall], camera=(-90, 5)))
    return float(np.mean(means))


if __name__ == "__main__":
    main()
