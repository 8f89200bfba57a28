"""Rods: cost of dynamics, kinematics, rollouts and statics, with SoRoMoX, PyElastica and MuJoCo in the same run.

One rod for all (research note anchors-reduced-and-style.md, 1.5): 0.1 m segments, radius 20 mm, 1050 kg/m^3,
E = 0.6 MPa, G = 0.25 MPa, viscosity 300 Pa s, standing upright under gravity, piecewise constant strain, five Gauss
points per segment, all six strains. That it is the same rod is checked: accelerations must agree to 1e-6.

    python -m venv peers && peers/bin/pip install soromox pyelastica mujoco
    OMP_NUM_THREADS=1 python benchmarks/rods.py --peers peers/bin/python

Peers run in their own environment and are skipped, with a message, if it is not there. Times are CPU times of the
process, the smallest of several bursts. Writes docs/benchmarks/rods.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

import pliant as pl
from pliant._kernels import rod, rod_mass, rod_points
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel
from pliant.models.rod_rollout import rollout
from pliant.models.rod_tables import Station, build

HERE = Path(__file__).parent
UPRIGHT = (np.sqrt(0.5), 0.0, -np.sqrt(0.5), 0.0)  # local x along world z, as SoRoMoX stands its rods
FIRST = """
import numpy as np, pliant as pl
from pliant.materials import NeoHookean
from pliant.models import basis
from pliant.models.rod import RodModel
body = pl.RodBody("rod", 0.3, 0.02, NeoHookean.from_young(0.6e6, 0.2, density=1050.0))
model = RodModel(pl.Robot("rod", (body,)), basis=basis.constant(segments=3, points=5))
model.acceleration(model.rest, np.zeros(18), np.zeros(0))
"""


def model_of(segments: int, young: float = 0.6e6) -> RodModel:
    """The benchmark rod with 6 dof per segment."""
    material = NeoHookean.from_young(young, 0.2, density=1050.0)  # G = E / 2.4 = 0.25 MPa
    body = pl.RodBody("rod", 0.1 * segments, 0.02, material, damping=300.0 / young, rotation=UPRIGHT)
    return RodModel(pl.Robot("rod", (body,)), basis=bases.constant(segments=segments, points=5))


@njit(cache=True)
def _dynamics(t, w, q, v, tau, still, lift, zero, out, n):
    for _ in range(n):
        rod_mass.forward_dynamics(t, w, q, v, tau, still, lift, zero, out)


@njit(cache=True)
def _tip(t, w, c, q, x, twists, jac, n):
    for _ in range(n):
        rod_points.locate_points(t, w, c, q, x, twists, jac, True)


def best(run: Any, repeats: int = 30, burst: int = 20) -> float:
    """Smallest CPU time per call [s]."""
    run()
    times = []
    for _ in range(repeats):
        begin = time.process_time()
        for _ in range(burst):
            run()
        times.append((time.process_time() - begin) / burst)
    return min(times)


def evaluations(segments: int, peer: dict[str, Any] | None) -> dict[str, float]:
    """Seconds per evaluation, inside compiled code and from Python; checks that the peer has the same rod."""
    model = model_of(segments)
    rng = np.random.default_rng(0)
    n = model.nv
    scale = np.where(model.tables.comp < 3, 3.0, 0.1)
    q, v = rng.standard_normal(n) * scale, rng.standard_normal(n) * scale
    t, w, zero = model.tables, rod.make_work(model.tables), np.zeros(n)
    still, lift, out, none = np.zeros(6), np.array([0, 0, 0, 0, 0, 9.81]), np.empty(n), np.zeros(0)
    coarse = build(model.layout.bodies, model.bases, coarse=True)
    tc, wc = coarse.tables, rod.make_work(coarse.tables)
    c = coarse.points([Station(0, model.layout.bodies[0].length)])
    x, twists, jac = np.empty((1, 3)), np.empty((n, 6)), np.empty((1, 6, n))
    if peer:
        theirs = np.array(peer["acceleration"][str(n)])
        difference = np.abs(model.acceleration(q, v, none) - theirs).max() / np.abs(theirs).max()
        if difference > 1e-6:
            raise RuntimeError(f"not the same rod: accelerations differ by {difference:.1e}")
    inner = 50
    return {
        "dynamics": best(lambda: _dynamics(t, w, q, v, zero, still, lift, zero, out, inner), 30, 2) / inner,
        "dynamics_python": best(lambda: model.acceleration(q, v, none)),
        "tip": best(lambda: _tip(tc, wc, c, q, x, twists, jac, inner), 30, 2) / inner,
        "tip_python": best(lambda: model.locate(q, "tip", jacobian=True)),
        "derivatives": best(lambda: model.inverse_dynamics(q, v, zero)),
    }


def rolling(
    young: float, duration: float, runs: tuple[tuple[str, float, float], ...]
) -> tuple[list[list[Any]], np.ndarray, float]:
    """One rollout of the 18 dof rod under constant moments from rest: step, speed, tip error; the end; its travel.

    Runs are (scheme, dt, tolerance). The reference is an explicit run at a local error of 1e-12 m.
    """
    model = model_of(3, young)
    torque = 2e-2 * young / 0.6e6
    force = np.tile([0.0, -torque, 0.5 * torque, 0.0, 0.0, 0.0], 3)

    def run(scheme: str, dt: float, tolerance: float) -> np.ndarray:
        end = rollout(model, model.rest, duration=duration, dt=dt, force=force, scheme=scheme, tolerance=tolerance)
        if not end.ok:
            raise RuntimeError(str(end.status))
        return model.locate(end.q[-1], "tip").position

    exact = run("explicit", 5e-3, 1e-12)
    rows = []
    for scheme, dt, tolerance in runs:
        seconds = best(lambda: run(scheme, dt, tolerance), 15, 1)
        error = 1e3 * float(np.linalg.norm(run(scheme, dt, tolerance) - exact))
        step = f"dt {1e3 * dt:.3g} ms" if scheme != "explicit" else ""
        step += f" tolerance {tolerance:g} m" if tolerance != 1e-7 else ""
        rows.append([f"{scheme}, {step.strip()}", duration / seconds, error])
    return rows, exact, 1e3 * float(np.linalg.norm(exact - (0, 0, 0.3)))


def statics() -> tuple[float, Any]:
    """Equilibrium of a 12 dof rod with three tendons from its straight pose."""
    material = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
    cables = tuple(
        pl.Cable(
            name=f"c{i}", points=[(s, 0.015 * np.cos(a), 0.015 * np.sin(a)) for s in (0, 0.3)], drive="effort"
        )
        for i, a in enumerate(np.arange(3) * 2 * np.pi / 3)
    )
    body = pl.RodBody("rod", 0.3, 0.02, material)
    model = RodModel(
        pl.Robot("rod", (body,), actuators=cables), basis=bases.legendre(3, strains=bases.INEXTENSIBLE)
    )
    tension = {"c0": 3.0, "c1": 1.0}
    return best(lambda: pl.equilibrium(model, tension), 30, 5), pl.equilibrium(model, tension)


def octopus() -> float:
    """Check F6: eight modes per strain, steps of 2 mm of fourth order along the arm; times real time."""
    body = pl.RodBody("arm", 0.12, 8.25e-3, NeoHookean.from_young(0.25e6, 0.25, density=1250.0), damping=0.4)
    basis = bases.legendre(7, strains=bases.INEXTENSIBLE, points=60)
    model = RodModel(pl.Robot("octopus", (body,)), basis=basis)
    return 0.5 / best(lambda: rollout(model, model.rest, duration=0.5, dt=1e-2), 3, 1)


def fresh() -> tuple[float, float]:
    """Wall and CPU time of a new process up to its first acceleration, kernels cached [s]."""
    import resource

    wall, cpu = [], []
    for _ in range(4):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", FIRST], check=True)
        wall.append(time.perf_counter() - begin)
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    return min(wall), min(cpu)


def ask_peers(interpreter: str, results: str) -> dict[str, Any]:
    """What the peers measured, or {} with a message."""
    if results:
        return json.loads(Path(results).read_text())
    if not interpreter or not Path(interpreter).exists():
        print("peers skipped: give --peers PYTHON of an environment with soromox, pyelastica and mujoco")
        return {}
    print("running the peers (several minutes: SoRoMoX compiles every size) ...")
    done = subprocess.run([interpreter, HERE / "rods_peers.py"], capture_output=True, text=True, check=False)
    return json.loads(done.stdout) if done.returncode == 0 else {}


def main(argv: list[str] | None = None) -> float:
    """Prints and writes the table; returns the smallest speed-up of forward dynamics (nan without peers)."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--peers", default="", help="Python of the peers' environment")
    parser.add_argument("--results", default="", help="JSON that rods_peers.py printed before, instead of running it")
    parser.add_argument("--output", default=str(HERE.parent / "docs" / "benchmarks" / "rods.md"))
    options = parser.parse_args(argv)
    peers = ask_peers(options.peers, options.results)
    rival = peers.get("soromox", {})
    rival = rival if "dynamics" in rival else {}
    lines = ["# Rods", "", *__doc__.strip().splitlines()[2:6], ""]
    lines += ["| case | pliant | best peer | ratio | bar |", "|---|---|---|---|---|"]
    ratios = []
    for segments in (1, 3, 8, 16):
        own, n = evaluations(segments, rival or None), 6 * segments
        other = rival["dynamics"][str(n)] if rival else np.nan
        ratios.append(other / own["dynamics"])
        lines.append(
            f"| forward dynamics, {n} dof | {1e6 * own['dynamics']:.1f} us"
            f" ({1e6 * own['dynamics_python']:.1f} from Python) | SoRoMoX {1e6 * other:.0f} us"
            f" | {ratios[-1]:.1f}; {other / own['dynamics_python']:.1f} from Python | 8 |"
        )
        if n == 18:
            other = rival["tip"]["18"] if rival else np.nan
            tip = (
                f"| tip pose and Jacobian, 18 dof | {1e6 * own['tip']:.1f} us"
                f" ({1e6 * own['tip_python']:.1f} from Python) | SoRoMoX {1e6 * other:.0f} us (54 us for the Jacobian"
                f" in the research note) | {other / own['tip']:.0f}; {other / own['tip_python']:.0f} from Python"
                f" | 5 us; 15 us from Python |"
            )
    lines.append(tip)
    explicit = ("explicit", 5e-3, 1e-6)
    soft = (("midpoint", 5e-3, 1e-7), ("midpoint", 1e-3, 1e-7), ("gauss", 5e-3, 1e-7), ("gauss", 2e-3, 1e-7), explicit)
    stiff = (("midpoint", 5e-3, 1e-7), ("midpoint", 1e-4, 1e-7), ("gauss", 1 / 3e3, 1e-5), ("gauss", 2.5e-4, 1e-6), explicit)
    for young, duration, runs, bar in (
        (0.6e6, 1.0, soft, "100 x real time below 0.05 mm"),
        (60e6, 0.2, stiff, "5 x real time, accurate (below 0.05 mm)"),
    ):
        rows, exact, travel = rolling(young, duration, runs)
        theirs = []
        for e, d, name, seconds, pose in peers.get("rollouts", []) if isinstance(peers.get("rollouts"), list) else []:
            if e == young and name != "reference":
                error = 1e3 * float(np.linalg.norm(np.array(pose).reshape(4, 4)[:3, 3] - exact))
                theirs.append(f"{name}: {d / seconds:.2f} x, {error:.3f} mm")
        mine = "; ".join(f"{name}: {speed:.{0 if speed > 20 else 1}f} x, {error:.3f} mm" for name, speed, error in rows)
        lines.append(
            f"| rollout {duration:g} s, 18 dof, E = {young / 1e6:g} MPa, tip travels {travel:.0f} mm | {mine}"
            f" | SoRoMoX {'; '.join(theirs) or '-'} | | {bar} |"
        )
    seconds, state = statics()
    lines.append(
        f"| static equilibrium, 12 dof, three tendons | {1e3 * seconds:.2f} ms ({state.iterations} Newton steps)"
        f" | SoRoSim 32-42 ms (published, other machine) | | 1 ms |"
    )
    wall, cpu = fresh()
    first = rival.get("first", [np.nan, np.nan])
    lines.append(
        f"| fresh process to first acceleration, warm cache | {wall:.1f} s ({cpu:.1f} s CPU)"
        f" | SoRoMoX {first[0]:.0f} s ({first[1]:.0f} s CPU) | {first[1] / cpu:.0f} (CPU) | 2 s |"
    )
    lines.append(f"| check F6: octopus arm, 24 dof, 61 steps along it | {octopus():.0f} x real time | | | 1 |")
    lines += [
        "",
        "SoRoMoX is called from Python, compiled by JAX; ratios \"from Python\" compare like with like. The stiff rod rings: modes",
        "of 15 to 370 Hz are still alive at the end, and their phase decides the error. The midpoint rule stays stable but turns",
        "them too slowly at any affordable step; Gauss collocation (fourth order) follows them, and explicit steps do so exactly at",
        "the price that their highest frequency sets. Error: distance of the tip at the end from that of a run at 1e-12 m.",
        f"Load of the machine while measuring: {os.getloadavg()[0]:.1f} on {os.cpu_count()} cores"
        f" (peers: {peers.get('load', float('nan')):.1f}).",
    ]
    lines += ["", "Other discretisations of the soft rod, for orientation (not matched in accuracy):", ""]
    for name in ("elastica", "mujoco"):
        row = peers.get(name, {})
        what = f"{row['elements']} elements" if "elements" in row else f"{row.get('dof')} dof link chain"
        if "step" in row:
            lines.append(f"- {name}: {what}, {1e6 * row['step']:.1f} us per step of {1e3 * row['dt']:.2g} ms"
                         f" = {row['speed']:.0f} x real time")  # fmt: skip
        else:
            lines.append(f"- {name}: {row.get('error', 'not run')}")
    text = "\n".join(lines) + "\n"
    print(text)
    if peers:
        output = Path(options.output)
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    return float(min(ratios))


if __name__ == "__main__":
    main()
