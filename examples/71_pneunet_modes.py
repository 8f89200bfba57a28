"""A pneu-net of finite elements becomes a rod with three modes, and the rod meets a post that FEM never saw.

The FEM inflates the finger quasi-statically. The strains along its axis give a basis of three modes (`modes_from`):
they carry the chambers' ripple and the stiff base, which polynomials would need many functions for. The rod keeps two
unknowns, the effective area and offset of its air channel; they are fitted to half of the pressures and judged on the
other half. The reduced finger is a hundred times faster and takes contact like any model, though with the shapes that
it was taught: without snapshots in contact it cannot bend locally at the post.
"""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import pliant as pl
from pliant.models.modes import Modes, slice_frames

EXPECTED = (0.0, 5.0)  # percent of the length
LENGTH, CENTRE = 0.120, -0.004
START, END = (CENTRE, 0.0, 0.0), (CENTRE, 0.0, -LENGTH)


def reduced(modes: Modes, area: float, offset: float, name: str) -> pl.RodModel:
    """The rod: the FEM's rubber, a channel of some area at some distance from the axis."""
    rubber = pl.materials.NeoHookean.from_young(0.5e6, 0.45, density=1070.0)
    down = tuple(pl.lie.quaternion_from_matrix(-np.eye(3)[::-1]))  # axes as in the frames that the modes were read in
    body = pl.RodBody("finger", LENGTH, 0.0125, rubber, position=START, rotation=down, damping=0.02)
    path = [(CENTRE - offset, 0.0, -LENGTH * s) for s in (0.0, 0.95)]
    robot = pl.Robot("finger", (body,), actuators=(pl.Chamber(name=name, cavity="channel"),), gravity=(0.0, 0.0, 0.0))
    return pl.RodModel(robot, basis=modes.basis, chambers={name: pl.ChamberPath(tuple(path), area)}, skin_points=41)


def main(quick: bool = False) -> float:
    """Reduce and judge; returns the largest tip error at pressures not fitted [% of the length]."""
    robot = pl.robots.pneunet().but(gravity=(0.0, 0.0, 0.0))
    fem, name = pl.FemModel(robot), robot.actuator_names[0]
    pressures = np.linspace(5e3, 40e3, 4 if quick else 8)
    states, state, begin = [], None, time.perf_counter()
    for p in pressures:
        state = pl.equilibrium(fem, {name: p}, start=state, strict=True)
        states.append(state)
    cost = (time.perf_counter() - begin) / len(pressures)
    modes = pl.modes_from(fem, np.array([s.q for s in states]), START, END, modes=3, stations=31)
    print(f"3 modes hold {100 * modes.energy[-1]:.3f} % of the energy; tip error {100 * modes.max_error:.2f} %")
    tips = np.array([modes_tip(fem, s.q) for s in states])
    fitted = np.arange(len(pressures)) % 2 == 1

    def errors(parameters: np.ndarray, which: np.ndarray) -> np.ndarray:
        rod, at, out = reduced(modes, *parameters, name), None, []
        for p, tip, wanted in zip(pressures, tips, which):
            at = pl.equilibrium(rod, {name: p}, start=at)
            if wanted:
                out.append(rod.locate(at, "tip").position - tip)
        return np.array(out)

    guess = (2e-4, 0.006)
    fit = least_squares(lambda x: errors(x, fitted).ravel(), guess, x_scale=guess, diff_step=1e-4, max_nfev=30)
    worst = 100 * float(np.linalg.norm(errors(fit.x, ~fitted), axis=1).max()) / LENGTH
    print(f"channel of {1e6 * fit.x[0]:.0f} mm^2 at {1e3 * fit.x[1]:.1f} mm")
    print(f"largest tip error at pressures not fitted: {worst:.2f} % of the length")
    rod = reduced(modes, *fit.x, name)
    begin = time.perf_counter()
    for p in pressures:
        free = pl.equilibrium(rod, {name: p})
    print(f"an equilibrium: FEM {1e3 * cost:.0f} ms, rod {1e3 * (time.perf_counter() - begin) / len(pressures):.1f} ms")
    post = pl.Cylinder(a=(0.034, -0.05, -0.09), b=(0.034, 0.05, -0.09), radius=0.012)
    bent = pl.equilibrium(rod, {name: pressures[-1]}, obstacles=[post])
    print(f"around a post: {bent.status}, {bent.contacts.forces.sum():.2f} N")
    if not quick:
        draw(fem, states, rod, free, bent, post)
    return worst


def modes_tip(fem: pl.FemModel, q: np.ndarray) -> np.ndarray:
    """Tip of the axis in the FEM [m]."""
    return slice_frames(fem, q, START, END, stations=31)[-1][:3, 3]


def draw(fem: pl.FemModel, states: list, rod: pl.RodModel, free: pl.State, bent: pl.State, post: pl.Cylinder) -> None:
    """The FEM's axis, the rod, and the rod around the post."""
    import matplotlib.pyplot as plt

    figure, axis = plt.subplots(figsize=(4.6, 5.0), layout="constrained")
    for i, s in enumerate(states):
        x = 1e3 * slice_frames(fem, s.q, START, END, stations=31)[:, :3, 3]
        axis.plot(x[:, 0], x[:, 2], color="0.7", lw=5, label="FEM" if i == 0 else None)
    for state, colour, label in ((free, "C0", "rod, three modes"), (bent, "C3", "rod at a post")):
        x = 1e3 * rod.skin_positions(state.q)
        axis.plot(x[:, 0], x[:, 2], color=colour, label=label)
    axis.add_patch(plt.Circle((34, -90), 12, color="0.5"))
    axis.set(xlabel="x [mm]", ylabel="z [mm]", aspect="equal")
    axis.legend(loc="upper right")
    Path("out").mkdir(exist_ok=True)
    figure.savefig("out/pneunet_modes.png", dpi=130)
    print("wrote out/pneunet_modes.png")


if __name__ == "__main__":
    main()
