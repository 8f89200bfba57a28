"""Touching: iterations and time of static contact that used to be hard: rough by the hundred, soft on soft.

    OMP_NUM_THREADS=1 python benchmarks/touching.py [--write]

Process time of one `equilibrium` from rest, compiled before. The block is 100 x 100 x 40 mm (neo-Hookean, 0.1 MPa), on a
plane with friction 0.5, level and tilted by 25 degrees (it would slide at 26.6), and pressed by a ball of 60 mm, 12 mm
deep. The organs are the two bodies of example 16, pressed on each other; "moved" are 20 starts that are off by 1e-6 m.
"""

from __future__ import annotations

import argparse
import runpy
import time
from pathlib import Path
from typing import Any

import numpy as np
from page import Page, Row

import pliant as pl
from pliant.materials import NeoHookean

RUBBER = NeoHookean.from_young(1e5, 0.45, density=1000.0)
PAGE = Page(
    name="touching",
    title="Hard static contact",
    text=__doc__ or "",
    columns=("case", "unknowns", "pairs", "pressing", "status", "iterations", "CPU s"),
    command="touching.py --write",
)


def solved(case: str, model: pl.FemModel, command: dict[str, float], **options: Any) -> tuple[Row, pl.State]:
    """One row, and its state."""
    begin = time.process_time()
    state = pl.equilibrium(model, command, **options)
    spent = time.process_time() - begin
    pressing = int((state.contacts.forces > 0).sum())
    return {
        "case": case, "unknowns": model.nv, "pairs": len(state.contacts), "pressing": pressing,
        "status": state.status.name, "iterations": state.iterations, "CPU s": spent,
    }, state  # fmt: skip


def block(cells: int, tilt: float = 0.0, *, held: bool = False) -> pl.FemModel:
    """The block, free or held at its base; tilted by its gravity [rad]."""
    mesh = pl.TetMesh.box((0.1, 0.1, 0.04), (cells, cells, 2), origin=(-0.05, -0.05, 0.0))
    mesh = mesh.with_node_set("base", lambda x: x[:, 2] < 1e-9)
    gravity = (-9.81 * float(np.sin(tilt)), 0.0, -9.81 * float(np.cos(tilt)))
    fixations = (pl.Fixation("base"),) if held else ()
    return pl.FemModel(pl.Robot("block", pl.SoftBody("block", mesh, RUBBER), fixations, gravity=gravity))


def rough() -> list[Row]:
    """Friction."""
    floor, rows = [pl.Plane(friction=0.5)], []
    ball = [pl.Sphere((0.001, 0.002, 0.088), 0.06, friction=0.5)]
    solved("", block(3), {}, obstacles=floor)  # compiles
    for case, model, around in (
        ("block on a rough plane", block(17), floor),
        ("the same, tilted by 25 degrees", block(17, np.radians(25.0)), floor),
        ("rough ball pressed into the block", block(17, held=True), ball),
    ):
        row, _ = solved(case, model, {}, obstacles=around)
        PAGE.show(row)
        rows.append(row)
    return rows


def organs() -> list[Row]:
    """Soft on soft."""
    example = runpy.run_path(str(Path(__file__).resolve().parents[1] / "examples" / "16_two_bodies.py"))
    touching, rows = [pl.BodyContact(body_a=0, body_b=1)], []
    rng = np.random.default_rng(0)
    for cells in (5, 6):
        model = pl.FemModel(example["robot"](cells))
        for force in (0.4, 0.5, 0.8):
            row, state = solved(f"organs of {cells} cells, {force} N", model, {"press": force}, obstacles=touching)
            PAGE.show(row)
            rows.append(row)
            if force == 0.4:
                first = state
        counts, ended, spent = [], 0, 0.0
        for _ in range(20):
            q = first.q + 1e-6 * rng.uniform(-1.0, 1.0, len(first.q))
            row, state = solved("", model, {"press": 0.4}, obstacles=touching, start=first.but(q=q))
            counts.append(state.iterations)
            ended += state.ok and float(np.abs(state.q - first.q).max()) < 1e-8
            spent += row["CPU s"]
        status = f"{ended} of 20 at the same pose"
        row = {**row, "case": f"organs of {cells} cells, moved", "status": status, "iterations": max(counts)}
        row["CPU s"] = spent / 20
        PAGE.show(row)
        rows.append(row)
    return rows


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--write", action="store_true")
    write = parser.parse_args().write
    rows = [*rough(), *organs()]
    if write:
        PAGE.write(rows)


if __name__ == "__main__":
    main()
