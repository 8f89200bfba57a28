"""Cases with known answers that other tools have too: pliant, PyElastica and MuJoCo in one run.

    OMP_NUM_THREADS=1 python benchmarks/peers/compare.py [--peers PYTHON] [--write] [--merge] [CASE ...]

Textbook cases that are no test of this repository, set up as a stranger would. Statics: the error is the distance of the tip over the
length, or relative, and the time that of the whole solve. Motions: the time is that of one step. The peers have no statics:
they are damped until they rest, and the time is that of the whole motion. The rod is 0.5 m long, 5 mm thick in radius, E = 1 MPa, 1100 kg/m^3.

Times are CPU milliseconds of one thread. The peers run in a process of their own: give a Python that has them by --peers or in the
variable PLIANT_PEERS_PYTHON (`python -m venv peers && peers/bin/pip install pyelastica mujoco scipy`); without it they are
left out. All of it takes about three CPU minutes; `--merge` runs some cases anew and keeps the others.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
from pathlib import Path

import contacts
import rods
import solids
from rows import Row

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
from page import Page  # noqa: E402

KEPT = HERE.parents[1] / "out" / "peers.json"
OURS = {case.__name__ if module is not solids else f"solid_{case.__name__}": case
        for module in (rods, solids, contacts) for case in module.CASES}  # fmt: skip
NOTES = """Read with care:

- A dash in `error` is a case that did not end: the result says how.
- Shear of `BeamModel` has the factor 0.9, that of `RodModel` 1: the noodle's reference has 1.
- The ball's cavity is a polyhedron: much of its error is that of the mesh. Linear tets are too stiff in bending and twist and lock at
  nu = 0.4999, as `docs/fem.md` says; they are here to show by how much.
- The answer to Cook's membrane is the published one (7.77), not computed here.
- The peers' steps are explicit (PyElastica) or one linear solve (MuJoCo flex), ours are solved to convergence: compare times per simulated
  second and errors together.
"""


def theirs(python: str) -> list[Row]:
    """Rows of the peers, or none if they cannot be run."""
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run([python, str(HERE / "theirs.py")], capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        print(f"the peers did not run: {done.stderr.strip().splitlines()[-1:]}")
        return []
    rows: list[Row] = json.loads(done.stdout.strip().splitlines()[-1])
    return rows


def beside(ours: list[Row], others: list[Row]) -> list[Row]:
    """All rows, those of the peers below ours of the same case."""
    rows = list(ours)
    for other in others:
        same = [i for i, r in enumerate(rows) if r["case"] == other["case"]]
        rows.insert(same[-1] + 1 if same else len(rows), other)
    return rows


def digits(value: float) -> str:
    """A time or an error in two digits."""
    return "-" if math.isnan(value) else f"{value:.2g}"


def main() -> None:
    """Run the cases and print them; write the page if asked to."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("cases", nargs="*", choices=[[], *OURS], help="cases of ours, all by default")
    parser.add_argument("--peers", default=os.environ.get("PLIANT_PEERS_PYTHON", ""), help="Python that has the peers")
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/peers.md")
    parser.add_argument("--merge", action="store_true", help="keep what was measured before of the cases not named")
    options = parser.parse_args()
    page = Page(
        name="peers", title="Known answers, and peers", text=__doc__, threads="one thread", notes=NOTES,
        columns=("case", "reference", "who", "result", "error", "ms"), command="peers/compare.py --write",
        formats={"error": digits, "ms": digits},
    )  # fmt: skip
    found: dict[str, list[Row]] = json.loads(KEPT.read_text()) if options.merge and KEPT.exists() else {}
    for name, case in OURS.items():
        if name in (options.cases or OURS):
            found[name] = list(case())
            for line in found[name]:
                page.show(line)
    if options.peers:
        found["theirs"] = theirs(options.peers)
        for line in found["theirs"]:
            page.show(line)
    if options.write:
        KEPT.parent.mkdir(exist_ok=True)
        KEPT.write_text(json.dumps(found))
        page.write(beside([r for name in OURS for r in found.get(name, [])], found.get("theirs", [])))


if __name__ == "__main__":
    main()
