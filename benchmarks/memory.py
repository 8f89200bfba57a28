"""Memory: how much a finite-element model of a given size needs.

    OMP_NUM_THREADS=1 python benchmarks/memory.py [--write]

Each row is a fresh process that builds the beam of benchmarks/fem.py, finds its equilibrium under gravity and reports
the growth of its resident set [MB] since pliant and its kernels were loaded: after building the model, at the end, and
the peak. The last column is the peak for 10,000 nodes, in proportion.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from page import Page

HERE = Path(__file__).resolve().parent
SIZES = {"linear 1600": ((44, 5, 5), "linear"), "linear 4000": ((81, 6, 6), "linear"),
         "linear 12000": ((119, 9, 9), "linear"), "quadratic 4500": ((27, 4, 4), "quadratic")}  # fmt: skip
PAGE = Page(
    name="memory",
    title="Memory",
    text=__doc__ or "",
    columns=("body", "nodes", "unknowns", "model", "equilibrium", "peak", "peak per 10,000 nodes"),
    decimals=0,
    command="memory.py --write",
)
CODE = """
import json, resource, sys
sys.path.insert(0, {here!r})
from fem import beam
from pliant.models.fem import FemModel
from pliant.solve.equilibrium import equilibrium

def now():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 1e6

def peak():
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) / 1e3 for line in file if line.startswith("VmHWM"))

equilibrium(FemModel(beam((4, 1, 1)), element={element!r}))
base = now()
model = FemModel(beam({cells!r}), element={element!r})
built = now() - base
state = equilibrium(model, strict=True)
print(json.dumps({{"nodes": model.nodes, "unknowns": model.nv, "model": built, "equilibrium": now() - base,
                   "peak": peak() - base}}))
"""


def main(*, quick: bool = False) -> list[dict[str, Any]]:
    """Measure; print and return the rows.

    Args:
        quick: only the smallest body (for tests).
    """
    rows = []
    for body, (cells, element) in SIZES.items():
        code = CODE.format(here=str(HERE), cells=cells, element=element)
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        row = {"body": body, **json.loads(done.stdout.strip().splitlines()[-1])}
        row["peak per 10,000 nodes"] = row["peak"] * 1e4 / row["nodes"]
        rows.append(row)
        PAGE.show(row)
        if quick:
            break
    return rows


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Memory of finite-element models.")
    parser.add_argument("--write", action="store_true", help=f"write {PAGE.path.name}")
    options = parser.parse_args()
    result = main()
    if options.write:
        PAGE.write(result)
