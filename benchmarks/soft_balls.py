"""A rigid ball and a rigid cylinder pressed into a soft block: iterations against the mesh, and both against Hertz.

    OMP_NUM_THREADS=1 python benchmarks/soft_balls.py [--small]    prints the section of docs/benchmarks/contact_applications.md

Only the quarter of the block (of the strip under the cylinder: half) is meshed, planes of symmetry being held across. Widths of
contact come from the forces: Hertz's pressure has a mean square distance of 2/5 a^2 from the middle of a disc, of 1/4 b^2 in a strip.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

import pliant as pl

SIDE, RADIUS, YOUNG, POISSON = 0.04, 0.05, 1e5, 0.3
CELLS = (4, 8, 12)
DEPTHS = (0.2e-3, 0.5e-3, 0.8e-3, 1.4e-3, 2.0e-3)
PLACES = ((0.0, 0.0), (1.1e-3, -0.6e-3))
DEPTH, HALF, SIZES = 0.4e-3, 0.16, (2.0e-3, 1.5e-3, 1.0e-3, 0.75e-3)  # of the block compared with Hertz
STRIP = (1.0e-3, 0.5e-3, 0.25e-3, 0.125e-3)  # element sizes under the cylinder
MODULUS = YOUNG / (1 - POISSON**2)


def block(mesh: pl.TetMesh, *more: pl.Fixation) -> pl.FemModel:
    """A block without weight whose bottom is held."""
    law = pl.materials.Corotational(young=YOUNG, poisson=POISSON, density=1000.0)
    robot = pl.Robot("block", (pl.SoftBody("block", mesh, law),), fixations=(pl.Fixation("bottom"), *more))
    return pl.FemModel(robot.but(gravity=(0.0, 0.0, 0.0)))


def small(cells: int) -> pl.FemModel:
    """40 x 40 x 20 mm."""
    mesh = pl.TetMesh.box(
        (SIDE, SIDE, 0.5 * SIDE), (cells, cells, max(2, cells // 2)), (-0.5 * SIDE, -0.5 * SIDE, -0.5 * SIDE)
    )
    return block(mesh.with_node_set("bottom", np.flatnonzero(mesh.nodes[:, 2] < -0.5 * SIDE + 1e-9)))


def quarter(h: float) -> pl.FemModel:
    """A quarter of a block 320 mm wide and 160 mm deep, with elements of size h where the ball touches."""
    radius = np.sqrt(RADIUS * DEPTH)
    side = _graded(np.ceil(1.3 * radius / h) * h, h)
    mesh = _grid(side, side, -_graded(np.ceil(1.2 * radius / h) * h, h)[::-1])
    return block(mesh, pl.Fixation("x0", axes="x"), pl.Fixation("y0", axes="y"))


def strip(h: float, width: float = 4.5e-3) -> pl.FemModel:
    """Half of a block 320 mm wide and 160 mm deep in plane strain, one element thick, with elements of size h below the cylinder."""
    side = _graded(np.ceil(1.3 * width / h) * h, h)
    mesh = _grid(side, np.array([0.0, h]), -_graded(np.ceil(1.2 * width / h) * h, h)[::-1])
    mesh = mesh.with_node_set("all", np.arange(len(mesh.nodes)))
    return block(mesh, pl.Fixation("x0", axes="x"), pl.Fixation("all", axes="y"))


def _grid(x: np.ndarray, y: np.ndarray, z: np.ndarray) -> pl.TetMesh:
    """A box with given planes of nodes, its lowest held and those through the origin named."""
    cells = (len(x) - 1, len(y) - 1, len(z) - 1)
    unit = pl.TetMesh.box((float(cells[0]), float(cells[1]), float(cells[2])), cells)
    i, j, k = np.rint(unit.nodes).astype(int).T
    mesh = pl.TetMesh(np.stack([x[i], y[j], z[k]], axis=1), unit.tets)
    for name, on in (("bottom", k == 0), ("x0", i == 0), ("y0", j == 0)):
        mesh = mesh.with_node_set(name, np.flatnonzero(on))
    return mesh


def ball_over_hertz(h: float) -> dict[str, float]:
    """Force and radius of contact of a ball over those of Hertz at its depth and force."""
    ball = pl.Sphere(centre=(0.0, 0.0, RADIUS - DEPTH), radius=RADIUS)
    model = quarter(h)
    state = pl.equilibrium(model, obstacles=[ball], alarm=0.5 * DEPTH, strict=True)
    force = 4.0 * float(state.contacts.forces.sum())
    point, weight = state.contacts.point, state.contacts.forces
    spread = float((weight * (point[:, 0] ** 2 + point[:, 1] ** 2)).sum() / weight.sum())
    radius = (0.75 * force * RADIUS / MODULUS) ** (1 / 3)
    hertz = 4 / 3 * MODULUS * np.sqrt(RADIUS) * DEPTH**1.5
    return {"h": h, "unknowns": model.nv, "force": float(force / hertz), "width": float(np.sqrt(2.5 * spread)) / radius,
            "iterations": state.iterations}  # fmt: skip


def cylinder_over_hertz(h: float, depth: float = 0.6e-3) -> dict[str, float]:
    """Half-width of contact of a cylinder over that of Hertz at its force per length; contact and theory in plane strain."""
    model = strip(h)
    roller = pl.Cylinder((0.0, -1.0, RADIUS - depth), (0.0, 1.0, RADIUS - depth), RADIUS)
    state = pl.equilibrium(model, obstacles=[roller], alarm=0.5 * depth, strict=True)
    line = 2.0 * float(state.contacts.forces.sum()) / h
    weight = state.contacts.forces
    spread = float((weight * state.contacts.point[:, 0] ** 2).sum() / weight.sum())
    width = np.sqrt(4.0 * line * RADIUS / (np.pi * MODULUS))
    return {"h": h, "unknowns": model.nv, "line": line, "width": 2.0 * float(np.sqrt(spread)) / float(width),
            "iterations": state.iterations}  # fmt: skip


def _graded(fine: float, h: float) -> np.ndarray:
    """Coordinates from 0 to the side of the block: steps h up to `fine`, growing beyond it [m]."""
    out, step = list(np.arange(round(fine / h) + 1) * h), h
    while out[-1] < HALF:
        step *= 1.45
        out.append(min(out[-1] + step, HALF) if HALF - out[-1] > 1.7 * step else HALF)
    return np.array(out)


def measured(coarse: bool = False) -> dict[str, Any]:
    """Iterations per mesh, and force and width over those of Hertz per element size."""
    iterations: dict[str, list[int]] = {}
    for cells in CELLS[:2] if coarse else CELLS:
        model = small(cells)
        used = []
        for depth in DEPTHS:
            for x, y in PLACES:
                ball = pl.Sphere(centre=(x, y, RADIUS - depth), radius=RADIUS)
                state = pl.equilibrium(model, obstacles=[ball])
                used.append(state.iterations if state.status is pl.Status.CONVERGED else -1)
        iterations[str(cells)] = used
    balls = [ball_over_hertz(h) for h in (SIZES[:2] if coarse else SIZES)]
    rollers = [cylinder_over_hertz(h) for h in (STRIP[:2] if coarse else STRIP)]
    a, b = balls[-2], balls[-1]
    limit = b["force"] - (a["force"] - b["force"]) * b["h"] ** 2 / (a["h"] ** 2 - b["h"] ** 2)
    return {"iterations": iterations, "ball": balls, "cylinder": rollers, "limit": limit}


def section(kept: dict[str, Any]) -> str:
    """The part of the page."""
    rows = []
    for cells, used in kept["iterations"].items():
        good = [u for u in used if u > 0]
        rows.append(f"| {cells} | {min(good)} to {max(good)} | {len(good)} of {len(used)} |")
    forces = [
        f"| {1e3 * r['h']:.2f} | {r['unknowns']} | {r['force']:.3f} | {r['width']:.3f} | {r['iterations']} |" for r in kept["ball"]
    ]
    widths = [
        f"| {1e3 * r['h']:.3f} | {r['unknowns']} | {r['line']:.2f} | {r['width']:.3f} | {r['iterations']} |" for r in kept["cylinder"]
    ]
    return (
        "## A ball in a soft block\n\n"
        "Frictionless ball of 50 mm radius, co-rotational linear tets, E = 100 kPa, nu = 0.3, bottom held. Block of 40 x "
        "40 x 20 mm,\ndepths of 0.2 to 2 mm, centred and off centre.\n\n"
        "| cells across | iterations | converged |\n|---|---|---|\n" + "\n".join(rows) + "\n\n"
        "Against Hertz (F = 4/3 E* sqrt(R) d^1.5, d = 0.4 mm, contact radius 4.5 mm), a quarter of a block 320 mm wide and "
        "160 mm deep,\ngraded. The radius of contact is compared with that of Hertz at the force found.\n\n"
        "| element size at the contact [mm] | unknowns | force over Hertz's | radius over Hertz's | iterations |\n|---|---|---|---|---|\n"
        + "\n".join(forces) + f"\n\nForce extrapolated with the square of the element size: {kept['limit']:.3f}.\n\n"
        "## A cylinder on a soft strip\n\n"
        "Frictionless cylinder of 50 mm radius, the same block in plane strain. The depth has no meaning in a line contact (it "
        "grows with\nthe logarithm of the block's size); force per length and half-width have: b = sqrt(4 F' R / (pi E*)).\n\n"
        "| element size at the contact [mm] | unknowns | force [N/m] | half-width over Hertz's | iterations |\n|---|---|---|---|---|\n"
        + "\n".join(widths) + "\n"
    )  # fmt: skip


def main() -> None:
    """Print the section."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--small", action="store_true", help="the two coarsest meshes only")
    print(section(measured(parser.parse_args().small)))


if __name__ == "__main__":
    main()
