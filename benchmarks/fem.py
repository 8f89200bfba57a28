"""Finite elements: static equilibrium and dynamic steps of beams, beside Drake and MuJoCo flex in the same run.

    python benchmarks/fem.py [--baseline PYTHON] [--write] [--quick]

A beam of 200 x 30 x 30 mm (E 0.5 MPa, nu 0.45, 1100 kg/m^3, linear tetrahedra) held at one end falls under gravity.
Times are CPU milliseconds of the process on one thread; those with a 2 are wall-clock milliseconds on two threads.
`assembly` is force and exact tangent, `factor` the Cholesky factorisation with its pattern kept, `solve` one right-hand
side: together one full Newton iteration. `static` is the whole equilibrium from rest, converged to 1e-8 of the size.
`step` is one backward Euler step of 10 ms with stiffness damping 0.01 s, converged to 1e-9 of the size, the mean over
steps of the fall.

Drake's `Corotated` and `LinearCorotated` are timed on the same mesh, time step, moduli and damping, contact-free.
`LinearCorotated` takes the rotations of the last step and solves one linear system; `Corotated` iterates to Drake's own
tolerance. MuJoCo's flex (St. Venant-Kirchhoff, integrator "discrete") has the same nodes; its step is one linear solve
by an iterative method, which it reports as not converged here (warning INERTIA). The baselines run in a process of
their own: give a Python that has `drake` and `mujoco` by --baseline or in the variable PLIANT_BASELINE_PYTHON;
without it they are left out.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from page import Page

from pliant.algebra.factorisation import factorise
from pliant.algebra.threads import one_blas_thread, use_threads
from pliant.bodies import Fixation, Point, SoftBody
from pliant.geometry import TetMesh
from pliant.materials import Corotational
from pliant.models.fem import FemModel
from pliant.robot import Robot
from pliant.solve.dynamics import Stepper
from pliant.solve.equilibrium import equilibrium

HERE = Path(__file__).resolve().parent
CELLS = {150: (15, 2, 2), 700: (27, 4, 4), 1600: (44, 5, 5), 4000: (81, 6, 6), 12000: (119, 9, 9)}
YOUNG, POISSON, DENSITY, DAMPING, DT = 5e5, 0.45, 1100.0, 0.01, 0.01
PAGE = Page(
    name="fem",
    title="Finite elements",
    text=__doc__ or "",
    columns=("nodes", "unknowns", "assembly", "factor", "solve", "static", "iterations", "step", "per step",
             "assembly 2", "factor 2", "solve 2", "step 2", "Drake Corotated", "Drake LinearCorotated", "MuJoCo flex",
             "Drake / ours"),
    notes="`iterations` are full Newton iterations of `static`; `per step` are linear solves per dynamic step,\n"
    "of which usually one has a new tangent. `Drake / ours` compares `Corotated` with our `step` on one thread.",
    command="fem.py --write",
)  # fmt: skip


def beam(cells: tuple[int, int, int]) -> Robot:
    """The beam, clamped at x = 0."""
    mesh = TetMesh.box((0.2, 0.03, 0.03), cells, (0, -0.015, -0.015))
    mesh = mesh.with_node_set("base", np.flatnonzero(mesh.nodes[:, 0] < 1e-9))
    material = Corotational.from_young(YOUNG, POISSON, density=DENSITY, rayleigh_stiffness=DAMPING)
    return Robot("beam", (SoftBody("body", mesh, material),), (Fixation("base"),), points=(Point("tip", (0.2, 0, 0)),))


def timed(work: Callable[[], Any], repeats: int, clock: Callable[[], float] = time.process_time) -> float:
    """Median time of some work [ms]; CPU time if nothing else is said."""
    times = []
    for _ in range(repeats):
        begin = clock()
        work()
        times.append(clock() - begin)
    return 1e3 * float(np.median(times))


def ours(cells: tuple[int, int, int], steps: int) -> dict[str, Any]:
    """Our times on one beam."""
    model = FemModel(beam(cells))
    zero = np.zeros(0)
    stepper = Stepper(model, scheme="euler")
    state = stepper.start()
    for _ in range(3):
        state = stepper.step(state, None, DT)
    force, K = model.linearise(state.q, zero)
    factor = factorise(K)
    row: dict[str, Any] = {
        "nodes": model.nodes,
        "unknowns": model.nv,
        "assembly": timed(lambda: model.linearise(state.q, zero), 7),
        "factor": timed(lambda: factorise(K), 7),
        "solve": timed(lambda: factor.solve(force), 7),
    }
    equilibrium(model)  # so that nothing is compiled or analysed for the first time
    row["static"] = timed(lambda: equilibrium(model, strict=True), 3)
    row["iterations"] = equilibrium(model).iterations
    begin, spent = time.process_time(), 0
    for _ in range(steps):
        state = stepper.step(state, None, DT).require()
        spent += state.iterations
    row["step"] = 1e3 * (time.process_time() - begin) / steps
    row["per step"] = spent / steps
    row["lowest"] = float(model.positions(state.q)[:, 2].min())
    with use_threads(2):
        factor = factorise(K)
        wall = time.perf_counter
        row["assembly 2"] = timed(lambda: model.linearise(state.q, zero), 7, wall)
        row["factor 2"] = timed(lambda: factorise(K), 7, wall)
        row["solve 2"] = timed(lambda: factor.solve(force), 7, wall)
        begin = wall()
        for _ in range(steps):
            state = stepper.step(state, None, DT).require()
        row["step 2"] = 1e3 * (wall() - begin) / steps
    return row


def baseline(python: str, script: str, *arguments: object) -> dict[str, Any] | None:
    """What a baseline printed, or None with a message if it could not run."""
    command = [python, str(HERE / "baselines" / script), *(str(a) for a in arguments)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run(command, capture_output=True, text=True, cwd=folder, env=environment)
    if done.returncode != 0:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        print(f"{script} skipped: {last}")
        return None
    return json.loads(done.stdout.strip().splitlines()[-1])


def theirs(python: str, cells: tuple[int, int, int], steps: int) -> dict[str, Any]:
    """Times of Drake and MuJoCo on the same beam [ms]."""
    import meshio

    mesh = beam(cells).soft_body().mesh
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "beam.vtk"
        meshio.Mesh(mesh.nodes, [("tetra", mesh.tets)]).write(path, file_format="vtk42", binary=False)
        out: dict[str, Any] = {}
        for law in ("Corotated", "LinearCorotated"):
            count = steps if law == "LinearCorotated" else max(3, steps // 4)
            found = baseline(python, "drake_beam.py", path, f"k{law}", DT, count, YOUNG, POISSON, DENSITY, DAMPING)
            out[f"Drake {law}"] = None if found is None else found["ms"]
    nodes = [n + 1 for n in cells]
    found = baseline(python, "mujoco_beam.py", *nodes, DT, steps, YOUNG, POISSON, DENSITY, DAMPING)
    out["MuJoCo flex"] = None if found is None else found["ms"]
    if found is not None and found["warnings"]:
        print(f"MuJoCo warns at {np.prod(nodes)} nodes: {found['warnings']}")
    return out


def main(*, python: str | None = None, quick: bool = False) -> list[dict[str, Any]]:
    """Measure every beam; print the table and return its rows.

    Args:
        python: interpreter that has drake and mujoco; the variable PLIANT_BASELINE_PYTHON if None.
        quick: only the smallest beam and few steps (for tests).
    """
    python = python or os.environ.get("PLIANT_BASELINE_PYTHON")
    if not python:
        print("Drake and MuJoCo skipped: PLIANT_BASELINE_PYTHON names no Python with drake and mujoco installed.")
    rows = []
    with one_blas_thread():
        for nodes, cells in CELLS.items():
            steps = 3 if quick else (40 if nodes <= 1600 else 10)
            with use_threads(1):
                row = ours(cells, steps)
            if python:
                row.update(theirs(python, cells, steps))
                if row["Drake Corotated"]:
                    row["Drake / ours"] = row["Drake Corotated"] / row["step"]
            rows.append(row)
            PAGE.show(row)
            if quick:
                break
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Finite-element beams beside Drake and MuJoCo.")
    parser.add_argument("--baseline", help="Python interpreter that has drake and mujoco")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.path.name}")
    parser.add_argument("--quick", action="store_true", help="smallest beam only")
    options = parser.parse_args()
    result = main(python=options.baseline, quick=options.quick)
    if options.write:
        PAGE.write(result)
