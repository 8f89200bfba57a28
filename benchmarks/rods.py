"""Rods: cost of one evaluation, against the figures measured for SoRoMoX on the same rod.

Same rod as the research note (anchors-reduced-and-style.md, 1.5): 0.1 m segments, radius 20 mm, 1050 kg/m^3, E = 0.6 MPa,
G = 0.25 MPa, material damping 300 Pa s, piecewise constant strain, five Gauss points per segment, all six strains.
SoRoMoX is run beside it when it can be imported; otherwise its measured figures are printed and marked so.

    OMP_NUM_THREADS=1 python benchmarks/rods.py
"""

from __future__ import annotations

import time

import numpy as np
from numba import njit

import pliant as pl
from pliant._kernels import rod, rod_mass, rod_points
from pliant.materials import NeoHookean
from pliant.models import basis as bases
from pliant.models.rod import RodModel
from pliant.models.rod_tables import Station, build

# measured on the two-core machine of the research note, microseconds
SOROMOX_DYNAMICS = {6: 79.0, 18: 140.0, 48: 257.0, 96: 2303.0}
SOROMOX_JACOBIAN = {6: 46.0, 18: 54.0, 48: 83.0, 96: 133.0}


def model_of(segments: int, young: float = 0.6e6) -> RodModel:
    """The benchmark rod with 6 dof per segment."""
    material = NeoHookean.from_young(young, 0.2, density=1050.0)  # G = E / 2.4 = 0.25 MPa
    body = pl.RodBody("rod", 0.1 * segments, 0.02, material, damping=300.0 / young)
    return RodModel(pl.Robot("rod", (body,)), basis=bases.constant(segments=segments, points=5))


@njit(cache=True)
def _dynamics(t, w, q, v, tau, still, lift, zero, out, n):
    for _ in range(n):
        rod_mass.forward_dynamics(t, w, q, v, tau, still, lift, zero, out)


@njit(cache=True)
def _tip(t, w, c, q, x, twists, jac, n):
    for _ in range(n):
        rod_points.locate_points(t, w, c, q, x, twists, jac, True)


def best(run, repeats: int = 40) -> float:
    """Smallest time of several bursts [s]: an estimate of the unloaded cost."""
    run()
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        run()
        times.append(time.perf_counter() - begin)
    return min(times)


def measure(segments: int) -> dict[str, float]:
    """Microseconds per evaluation, inside compiled code and from Python."""
    model = model_of(segments)
    rng = np.random.default_rng(0)
    n = model.nv
    scale = np.where(model.tables.comp < 3, 3.0, 0.1)
    q, v = rng.standard_normal(n) * scale, rng.standard_normal(n) * scale
    t, w, zero = model.tables, rod.make_work(model.tables), np.zeros(n)
    still, lift, out = np.zeros(6), np.array([0, 0, 0, 0, 0, 9.81]), np.empty(n)
    coarse = build(model.layout.bodies, model.bases, coarse=True)
    tc, wc = coarse.tables, rod.make_work(coarse.tables)
    c = coarse.points([Station(0, model.layout.bodies[0].length)])
    x, twists, jac = np.empty((1, 3)), np.empty((n, 6)), np.empty((1, 6, n))
    burst = 50
    none = np.zeros(0)
    return {
        "dynamics": best(lambda: _dynamics(t, w, q, v, zero, still, lift, zero, out, burst)) / burst * 1e6,
        "dynamics_python": best(lambda: model.acceleration(q, v, none), 200) * 1e6,
        "jacobian": best(lambda: _tip(tc, wc, c, q, x, twists, jac, burst)) / burst * 1e6,
        "jacobian_python": best(lambda: model.locate(q, "tip", jacobian=True), 200) * 1e6,
        "derivatives_python": best(lambda: model.inverse_dynamics(q, v, zero), 100) * 1e6,
    }


def main() -> float:
    """Prints the table; returns the smallest speed-up of forward dynamics over SoRoMoX."""
    try:
        import soromox  # noqa: F401

        print("SoRoMoX is importable; its figures below are still those of the research note.")
    except ImportError:
        print("SoRoMoX is not installed: its figures are those measured for the research note.")
    print(f"{'dof':>4} {'dynamics':>10} {'SoRoMoX':>9} {'ratio':>6} {'python':>8} | {'tip+J':>7} {'SoRoMoX':>8} {'python':>8} | dID")
    ratios = []
    for segments in (1, 3, 8, 16):
        row, n = measure(segments), 6 * segments
        ratios.append(SOROMOX_DYNAMICS[n] / row["dynamics"])
        print(
            f"{n:4d} {row['dynamics']:8.1f}us {SOROMOX_DYNAMICS[n]:7.0f}us {ratios[-1]:5.1f}x {row['dynamics_python']:6.1f}us |"
            f" {row['jacobian']:5.1f}us {SOROMOX_JACOBIAN[n]:6.0f}us {row['jacobian_python']:6.1f}us | {row['derivatives_python']:.0f}us"
        )
    return min(ratios)


if __name__ == "__main__":
    main()
