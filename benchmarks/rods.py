"""Rods: cost of one evaluation, against the figures measured for SoRoMoX on the same rod.

Same rod as the research note (anchors-reduced-and-style.md, 1.5): 0.1 m segments, radius 20 mm, 1050 kg/m^3,
E = 0.6 MPa, G = 0.25 MPa, material damping 300 Pa s, piecewise constant strain, five Gauss points per
segment, all six strains.
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
from pliant.models.rod_rollout import rollout
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


def rolling(young: float, duration: float, steps: tuple[float, ...]) -> None:
    """One rollout of the 18 dof rod under a constant torque from rest: speed and tip error by time step."""
    model = model_of(3, young)
    torque = 3e-3 * young / 0.6e6
    force = np.tile([0.0, -torque, 0.5 * torque, 0.0, 0.0, 0.0], 3)

    def tip(run) -> np.ndarray:
        return model.locate(run.q[-1], "tip").position

    def run(dt: float, tolerance: float = 1e-7):
        return rollout(model, model.rest, duration=duration, dt=dt, force=force, tolerance=tolerance)

    fine, coarse = tip(run(2e-5, 1e-11)), tip(run(4e-5, 1e-11))
    exact = (4 * fine - coarse) / 3
    print(
        f"\nrollout, 18 dof, E = {young / 1e6:g} MPa, {duration} s,"
        f" tip moves {1e3 * np.linalg.norm(exact - (0.3, 0, 0)):.0f} mm"
    )
    for dt in steps:
        runs = [run(dt) for _ in range(15)]
        error = 1e3 * np.linalg.norm(tip(runs[0]) - exact)
        print(
            f"  dt {dt * 1e3:4.1f} ms: {max(r.speed for r in runs):5.0f} x real time,"
            f" tip error {error:.3f} mm, {runs[0].status}"
        )


def statics() -> None:
    """Equilibrium of a 12 dof rod with three tendons (SoRoSim: 32-42 ms published)."""
    material = NeoHookean.from_young(0.6e6, 0.45, density=1050.0)
    angles = np.arange(3) * 2 * np.pi / 3
    cables = tuple(
        pl.Cable(
            name=f"c{i}", points=[(s, 0.015 * np.cos(a), 0.015 * np.sin(a)) for s in (0, 0.3)], drive="effort"
        )
        for i, a in enumerate(angles)
    )
    body = pl.RodBody("rod", 0.3, 0.02, material)
    model = RodModel(
        pl.Robot("rod", (body,), actuators=cables), basis=bases.legendre(3, strains=bases.INEXTENSIBLE)
    )
    tension = {"c0": 3.0, "c1": 1.0}
    seconds = best(lambda: pl.equilibrium(model, tension), 60)
    state = pl.equilibrium(model, tension)
    q, effort = state.q, state.effort
    one = best(lambda: model.linearise(q, effort), 200)
    print(
        f"\nstatics, {model.nv} dof, three tendons: {1e3 * seconds:.2f} ms"
        f" ({state.status}, {state.iterations} Newton steps);"
    )
    print(f"  force and exact tangent once: {1e6 * one:.0f} us; SoRoSim 32-42 ms (published)")


def main() -> float:
    """Prints the table; returns the smallest speed-up of forward dynamics over SoRoMoX."""
    try:
        import soromox  # noqa: F401

        print("SoRoMoX is importable; its figures below are still those of the research note.")
    except ImportError:
        print("SoRoMoX is not installed: its figures are those measured for the research note.")
    print(" dof   dynamics   SoRoMoX  ratio   python |   tip+J  SoRoMoX   python | derivatives (python)")
    ratios = []
    for segments in (1, 3, 8, 16):
        row, n = measure(segments), 6 * segments
        ratios.append(SOROMOX_DYNAMICS[n] / row["dynamics"])
        print(
            f"{n:4d} {row['dynamics']:8.1f}us {SOROMOX_DYNAMICS[n]:7.0f}us {ratios[-1]:5.1f}x"
            f" {row['dynamics_python']:6.1f}us | {row['jacobian']:5.1f}us {SOROMOX_JACOBIAN[n]:6.0f}us"
            f" {row['jacobian_python']:6.1f}us | {row['derivatives_python']:.0f}us"
        )
    rolling(0.6e6, 1.0, (5e-3, 2e-3, 1.6e-3, 1e-3))
    rolling(60e6, 0.2, (5e-3, 1e-3, 5e-4))
    statics()
    return min(ratios)


if __name__ == "__main__":
    main()
