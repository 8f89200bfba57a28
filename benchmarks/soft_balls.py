"""A rigid ball pressed into a soft block: iterations against the mesh, and the force against Hertz."""

from __future__ import annotations

from typing import Any

import numpy as np

import pliant as pl

SIDE, RADIUS, YOUNG, POISSON = 0.04, 0.05, 1e5, 0.3
CELLS = (4, 8, 12, 16)
DEPTHS = (0.2e-3, 0.5e-3, 0.8e-3, 1.4e-3, 2.0e-3)
PLACES = ((0.0, 0.0), (0.7e-3, 0.0), (1.1e-3, -0.6e-3))
DEPTH, HALF, SIZES = 0.4e-3, 0.16, (2.0e-3, 1.5e-3)  # of the block compared with Hertz


def block(mesh: pl.TetMesh) -> pl.FemModel:
    """A block without weight whose bottom is held."""
    law = pl.materials.Corotational(young=YOUNG, poisson=POISSON, density=1000.0)
    robot = pl.Robot("block", (pl.SoftBody("block", mesh, law),), fixations=(pl.Fixation("bottom"),))
    return pl.FemModel(robot.but(gravity=(0.0, 0.0, 0.0)))


def small(cells: int) -> pl.FemModel:
    """40 x 40 x 20 mm."""
    mesh = pl.TetMesh.box(
        (SIDE, SIDE, 0.5 * SIDE), (cells, cells, max(2, cells // 2)), (-0.5 * SIDE, -0.5 * SIDE, -0.5 * SIDE)
    )
    return block(mesh.with_node_set("bottom", np.flatnonzero(mesh.nodes[:, 2] < -0.5 * SIDE + 1e-9)))


def large(h: float) -> pl.FemModel:
    """320 mm wide, 160 mm deep, with elements of size h where the ball touches."""
    radius = np.sqrt(RADIUS * DEPTH)
    side = _graded(np.ceil(1.3 * radius / h) * h, h)
    side = np.concatenate([-side[:0:-1], side])
    down = -_graded(np.ceil(1.2 * radius / h) * h, h)[::-1]
    cells = (len(side) - 1, len(side) - 1, len(down) - 1)
    unit = pl.TetMesh.box((float(cells[0]), float(cells[1]), float(cells[2])), cells)
    place = np.rint(unit.nodes).astype(int)
    nodes = np.stack([side[place[:, 0]], side[place[:, 1]], down[place[:, 2]]], axis=1)
    return block(pl.TetMesh(nodes, unit.tets).with_node_set("bottom", np.flatnonzero(place[:, 2] == 0)))


def _graded(fine: float, h: float) -> np.ndarray:
    """Coordinates from 0 to the side of the block: steps h up to `fine`, growing beyond it [m]."""
    out, step = list(np.arange(round(fine / h) + 1) * h), h
    while out[-1] < HALF:
        step *= 1.45
        out.append(min(out[-1] + step, HALF) if HALF - out[-1] > 1.7 * step else HALF)
    return np.array(out)


def measured() -> dict[str, Any]:
    """Iterations per mesh, and force over that of Hertz per element size."""
    iterations: dict[str, list[int]] = {}
    for cells in CELLS:
        model = small(cells)
        used = []
        for depth in DEPTHS:
            for x, y in PLACES:
                ball = pl.Sphere(centre=(x, y, RADIUS - depth), radius=RADIUS)
                state = pl.equilibrium(model, obstacles=[ball])
                used.append(state.iterations if state.status is pl.Status.CONVERGED else -1)
        iterations[str(cells)] = used
    hertz = 4 / 3 * YOUNG / (1 - POISSON**2) * np.sqrt(RADIUS) * DEPTH**1.5
    ratios = []
    for h in SIZES:
        ball = pl.Sphere(centre=(0.0, 0.0, RADIUS - DEPTH), radius=RADIUS)
        state = pl.equilibrium(large(h), obstacles=[ball], alarm=0.5 * DEPTH, strict=True)
        ratios.append(float(-state.contacts.wrench()[5] / hertz))
    a, b = SIZES[0] ** 2, SIZES[1] ** 2
    return {"iterations": iterations, "ratios": ratios, "limit": ratios[1] - (ratios[0] - ratios[1]) * b / (a - b)}


def section(kept: dict[str, Any]) -> str:
    """The part of the page."""
    rows = []
    for cells, used in kept["iterations"].items():
        good = [u for u in used if u > 0]
        rows.append(f"| {cells} | {min(good)} to {max(good)} | {len(good)} of {len(used)} |")
    forces = [f"| {1e3 * h:.1f} | {r:.3f} |" for h, r in zip(SIZES, kept["ratios"])]
    return (
        "## A ball in a soft block\n\n"
        "Frictionless ball of 50 mm radius, co-rotational linear tets, E = 100 kPa, nu = 0.3, bottom held. Block of 40 x "
        "40 x 20 mm,\ndepths of 0.2 to 2 mm, centred and two places off centre.\n\n"
        "| cells across | iterations | converged |\n|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "Against Hertz (F = 4/3 E* sqrt(R) d^1.5, d = 0.4 mm, contact radius 4.5 mm), graded meshes of a block 320 mm wide "
        "and 160 mm\ndeep:\n\n| element size at the contact [mm] | force over Hertz's |\n|---|---|\n"
        + "\n".join(forces) + f"\n\nExtrapolated with the square of the element size: {kept['limit']:.2f}.\n"
    )  # fmt: skip
