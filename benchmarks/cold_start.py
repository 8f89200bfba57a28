"""Cold start: how long a new process needs to import pliant and to give the first equilibrium.

    python benchmarks/cold_start.py [--compile] [--write]

Every row is a fresh process, median of five: the import alone (public names load on first use), beside that of the
libraries below it in the same run; then from the first line of a script to the first equilibrium of `robots.finger`
with compiled kernels in the cache, what a second one takes, and that whole process from start to end; the same for a
rod, the octopus arm under its weight. `seconds` are wall-clock, `CPU` what the process spent on it, which another program
on the machine disturbs less. Bytecode is cached, as in any installation. With --compile also once with an empty cache
of kernels, which is what the very first use on a machine costs unless `pliant warmup` was run.
"""

from __future__ import annotations

import argparse
import os
import resource
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
    columns=("what", "seconds", "CPU", "bar"),
    decimals=3,
    command="cold_start.py --compile --write",
)
IMPORTS = {s: s for s in ("import pliant", "import numpy", "import scipy.sparse", "import numba")}
CLOCK = """
import time
def clock():
    return time.perf_counter(), time.process_time()
def since(begin):
    print(*(now - then for now, then in zip(clock(), begin)))
begin = clock()
"""
EQUILIBRIUM = """
import pliant as pl
model = pl.FemModel(pl.robots.finger())
pl.equilibrium(model, {model.robot.actuator_names[0]: 0.018}, strict=True)
since(begin)
begin = clock()
pl.equilibrium(model, {model.robot.actuator_names[0]: 0.017}, strict=True)
since(begin)
"""

ROD = """
import pliant as pl
pl.equilibrium(pl.RodModel(pl.robots.octopus_arm()), strict=True)
since(begin)
"""


def run(code: str, folder: str, **environment: str) -> np.ndarray:
    """Wall-clock and CPU times [s] that a script printed, and those of its whole process (m, 2)."""
    surroundings = {k: v for k, v in os.environ.items() if k != "PYTHONDONTWRITEBYTECODE"}
    surroundings |= {"PYTHONPYCACHEPREFIX": folder, **environment}
    begin, spent = time.perf_counter(), resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(
        [sys.executable, "-c", CLOCK + code], capture_output=True, text=True, check=True, env=surroundings
    )
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cpu = after.ru_utime + after.ru_stime - spent.ru_utime - spent.ru_stime
    times = [[float(x) for x in line.split()] for line in done.stdout.strip().splitlines()]
    return np.array([*times, [time.perf_counter() - begin, cpu]])


def main(*, compile_again: bool = False, quick: bool = False) -> list[dict[str, Any]]:
    """Measure; print and return the rows.

    Args:
        compile_again: also with an empty cache of compiled kernels (minutes).
        quick: one repeat instead of five (for tests).
    """
    repeats = 1 if quick else 5
    rows: list[dict[str, Any]] = []

    def add(what: str, times: np.ndarray, bar: str = "") -> None:
        rows.append({"what": what, "seconds": float(times[0]), "CPU": float(times[1]), "bar": bar})
        PAGE.show(rows[-1])

    with tempfile.TemporaryDirectory() as folder:

        def median(code: str) -> np.ndarray:
            run(code, folder)  # fills the caches if they are empty
            return np.median([run(code, folder) for _ in range(repeats)], axis=0)

        for what, statement in IMPORTS.items():
            times = median(f"{statement}; since(begin)")
            add(what, times[0], "under 0.5 s" if what == "import pliant" else "")
        first, second, whole = median(EQUILIBRIUM)
        add("first equilibrium of robots.finger, kernels cached", first, "under 3 s")
        add("second equilibrium in the same process", second)
        add("the whole process, start of the interpreter included", whole)
        add("first equilibrium of a rod, kernels cached", median(ROD)[0], "under 2 s")
        if compile_again:
            for what, script in (("robots.finger", EQUILIBRIUM), ("a rod", ROD)):
                with tempfile.TemporaryDirectory() as empty:
                    times = run(script, folder, NUMBA_CACHE_DIR=empty)[-1]
                    add(f"first equilibrium of {what} ever, everything compiled", times)
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Import time and first equilibrium.")
    parser.add_argument("--compile", action="store_true", help="also with an empty kernel cache")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.path.name}")
    options = parser.parse_args()
    result = main(compile_again=options.compile)
    if options.write:
        PAGE.write(result)
