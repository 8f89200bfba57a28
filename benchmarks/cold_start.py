"""Cold start: how long a new process needs to import pliant and to give the first equilibrium.

    python benchmarks/cold_start.py [--compile] [--write]

Every row is a fresh process, timed by itself (wall-clock seconds, median of five): the import alone (public names
load on first use), beside that of numpy and of scipy.sparse in the same run; then from the start of the process to
the first equilibrium of `robots.finger` with compiled kernels in the cache, and what a second one takes. With
--compile also once with an empty cache, which is what the very first use on a machine costs unless `pliant warmup`
was run.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
from page import Page

PAGE = Page(
    name="cold_start",
    title="Cold start",
    text=__doc__ or "",
    columns=("what", "seconds", "bar"),
    decimals=3,
    command="cold_start.py --compile --write",
)
IMPORTS = {s: s for s in ("import pliant", "import numpy", "import scipy.sparse")}
EQUILIBRIUM = """
import time; begin = time.perf_counter()
import pliant as pl
model = pl.FemModel(pl.robots.finger())
pl.equilibrium(model, {model.robot.actuator_names[0]: 0.018}, strict=True)
first = time.perf_counter() - begin
begin = time.perf_counter()
pl.equilibrium(model, {model.robot.actuator_names[0]: 0.017}, strict=True)
print(first, time.perf_counter() - begin)
"""


def imported(statement: str, repeats: int) -> float:
    """Median time of an import in a fresh process, without the start of the interpreter [s]."""
    code = f"import time; b = time.perf_counter(); {statement}; print(time.perf_counter() - b)"
    return float(np.median([float(_run(code)) for _ in range(repeats)]))


def _run(code: str, **environment: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, env={**os.environ, **environment}
    )
    return done.stdout.strip()


def main(*, compile_again: bool = False, quick: bool = False) -> list[dict[str, Any]]:
    """Measure; print and return the rows.

    Args:
        compile_again: also with an empty cache of compiled kernels (minutes).
        quick: one repeat instead of five (for tests).
    """
    repeats = 1 if quick else 5
    rows: list[dict[str, Any]] = []

    def add(what: str, seconds: float, bar: str = "") -> None:
        rows.append({"what": what, "seconds": seconds, "bar": bar})
        print(f"{what}: {seconds:.3f} s {f'(bar: {bar})' if bar else ''}", flush=True)

    for what, statement in IMPORTS.items():
        add(what, imported(statement, repeats), "under 0.5 s" if what == "import pliant" else "")
    _run(EQUILIBRIUM)  # fills the cache if it is empty
    times = np.array([[float(x) for x in _run(EQUILIBRIUM).split()] for _ in range(repeats)])
    add("first equilibrium of robots.finger, kernels cached", float(np.median(times[:, 0])), "under 3 s")
    add("second equilibrium in the same process", float(np.median(times[:, 1])))
    if compile_again:
        with tempfile.TemporaryDirectory() as folder:
            begin = time.perf_counter()
            _run(EQUILIBRIUM, NUMBA_CACHE_DIR=folder)
            add("first equilibrium ever, everything compiled", time.perf_counter() - begin)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Import time and first equilibrium.")
    parser.add_argument("--compile", action="store_true", help="also with an empty kernel cache")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.path.name}")
    options = parser.parse_args()
    result = main(compile_again=options.compile)
    if options.write:
        PAGE.write(result)
