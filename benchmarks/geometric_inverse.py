"""Parts of `benchmarks/geometric.py`: workspace, inverse kinematics, batches on the CPU."""

from __future__ import annotations

import resource
from typing import Any

import numpy as np
from geometric_sections import Section, timed

from pliant.actuators import Chamber
from pliant.inverse.descent import follow_path, gauss_newton, sample_workspace
from pliant.materials import Corotational
from pliant.models.geometric import GeometricModel
from pliant.robots.notched_finger import notched_finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.flex import flex
from pliant.solve.geometric_batch import batch

MIX = np.tril(np.ones((3, 3)))
BOUNDS = (np.full(3, 1e-4), np.full(3, 7e-3))


def tets(model: Any) -> int:
    """Number of elements."""
    return sum(len(g.cells) for g in model.layout.groups)


def driven_arm(size: float, law: bool = False) -> GeometricModel:
    """Three-chamber arm driven by volumes; rubber if `law`, else co-rotational."""
    robot = three_chamber_arm(size=size, material=None if law else Corotational.from_young(5.5e6, 0.40))
    chambers = tuple(Chamber(name=a.name, drive="displacement") for a in robot.actuators)
    return GeometricModel(robot.but(actuators=chambers))


def _children() -> float:
    """CPU seconds of all processes that this one has started and seen end."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _cable_finger() -> GeometricModel:
    return GeometricModel(notched_finger().but(gravity=(0, 0, 0)))


def workspace() -> Section:
    """Workspace samples of the cable finger."""
    model = _cable_finger()
    flex(model, [1e-3, 2e-3, 3e-3])
    out = Section("workspace", f"Workspace of the cable finger, {tets(model)} tets, two processes")
    out.say(
        "Published: 8.3 s for 125 samples, over 300 s for 3375; bars 1.5 s and 30 s. Finger of 120 x 25 x 25 mm with three"
    )
    out.say(
        "knuckles and a cable each, grids of 5^3 and 15^3 shortenings (steps of 1.7 and 0.5 mm), each pose to 1e-6.\n"
    )
    out.table("samples", "wall s", "CPU s of both", "CPU s per core", "CPU ms per sample")
    for count in (5, 15):
        before = _children()
        found, _, wall = timed(lambda c=count: sample_workspace(model, "corner", BOUNDS, c, mix=MIX, workers=2))
        cpu = _children() - before
        out.row(len(found.u), f"{wall:.2f}", f"{cpu:.2f}", f"{cpu / 2:.2f}", f"{1e3 * cpu / len(found.u):.1f}")
    return out


def paths() -> Section:
    """L and flame paths of the cable finger."""
    return _paths("paths", "Inverse kinematics", (("L", "gauss-newton"), ("flame", "gauss-newton")))


def descent() -> Section:
    """The L path by the source's gradient descent."""
    return _paths("descent", "Inverse kinematics by the source's gradient descent", (("L", "descent"),))


def _paths(part: str, title: str, runs: tuple[tuple[str, str], ...]) -> Section:
    """Paths of `examples/27_paths.py`: one tendon per knuckle, up to 20 mm each."""
    notches = {"pitch": 0.0115, "opening": 0.0100, "root": 0.0055, "depth": 0.0222, "cable_depth": 0.0235}
    model = GeometricModel(notched_finger(sheathed=True, **notches).but(gravity=(0, 0, 0)))
    bounds = np.full(3, 1e-4), np.full(3, 20e-3)
    space = sample_workspace(model, "corner", bounds, 5)
    leg, t = np.linspace(0.0, 1.0, 28), np.linspace(0.0, 2 * np.pi, 85)
    turn = np.array([[0.45, 0.89], [0.89, -0.45]])
    plane = {
        "L": np.vstack([np.stack([68.0 + 0 * leg, -58.0 - 16.0 * leg], axis=1),
                        np.stack([68.0 + 6.0 * leg[1:], -74.0 + 0 * leg[1:]], axis=1)]),
        "flame": [69.0, -66.0] + np.stack([12.0 * np.cos(t), 4.5 * np.sin(t) * (1.0 - 0.5 * np.cos(t))], axis=1) @ turn,
    }  # fmt: skip
    curves = {name: 1e-3 * np.insert(p, 1, -12.5, axis=1) for name, p in plane.items()}
    out = Section(part, f"{title}: cable finger, {tets(model)} tets, to 0.2 mm")
    out.say("Published: 38 s for the L path, 46 s for the flame; bars 4 s and 5 s.\n")
    out.table(
        "path", "points", "reached", "method", "CPU s", "wall s", "mean error mm", "max error mm", "forward solves"
    )
    for name, method in runs:
        path = curves[name]
        found, cpu, wall = timed(
            lambda p=path, m=method: follow_path(
                model, "corner", p, bounds, workspace=space, threshold=2e-4, axes=(0, 2), method=m
            )
        )
        error = [
            1e3 * np.linalg.norm((model.locate(f.state, "corner").position - p)[[0, 2]]) for f, p in zip(found, path)
        ]
        out.row(name, len(path), sum(e <= 0.2 for e in error), method, f"{cpu:.2f}", f"{wall:.2f}",
                f"{np.mean(error):.3f}", f"{max(error):.3f}", sum(f.evaluations for f in found))  # fmt: skip
    return out


def arm() -> Section:
    """Inverse kinematics of the three-chamber arm, two meshes."""
    out = Section("arm", "Inverse kinematics of the three-chamber arm, waypoints 1 to 2 mm apart, to 0.1 mm")
    out.say("Published: 138 s per waypoint at 135 000 tets; bar 3 s.\n")
    out.table("tets", "waypoint", "CPU s", "wall s", "error mm", "forward solves", "factorisations")
    for size in (0.0026, 0.00158):
        model = driven_arm(size)
        low, high = np.zeros(3), 0.4 * model.rest_measures
        u = 0.4 * high
        state = flex(model, u)
        base = model.locate(state, "tip").position
        for i, t in enumerate(np.linspace(0, 2, 4)):
            target = base + 2e-3 * np.array([np.cos(t), np.sin(t), 0.3])
            found, cpu, wall = timed(
                lambda m=model, t=target, u=u, s=state: gauss_newton(
                    m, "tip", t, u, (low, high), threshold=1e-4, state=s
                )
            )
            out.row(tets(model), i + 1, f"{cpu:.2f}", f"{wall:.2f}", f"{1e3 * found.objective:.3f}", found.evaluations,
                    found.state.notes[0].split()[0])  # fmt: skip
            u, state = found.u, found.state
    return out


def batches() -> Section:
    """Poses per second on the CPU."""
    model = driven_arm(0.0065, law=True)
    U = np.random.default_rng(0).uniform(0, 0.3, (32, 3)) * model.rest_measures
    out = Section("batch", f"Batches on the CPU, arm of {tets(model)} tets, neo-Hookean, step 1e-6")
    flex(model, 0.1 * U[0])
    batch(model, U[:1], iterations=2, method="projection")
    out.table("method", "batch", "wall s", "poses per second", "CPU ms per pose", "converged")
    for method, sizes in (("newton", (1, 8, 32)), ("projection", (1, 8))):
        for nb in sizes:
            before = _children()
            found, cpu, wall = timed(lambda n=nb, m=method: batch(model, U[:n], method=m))
            cpu += _children() - before
            out.row(method, nb, f"{wall:.2f}", f"{nb / wall:.2f}", f"{1e3 * cpu / nb:.0f}",
                    f"{found.converged.sum()} of {nb}")  # fmt: skip
    out.say(
        '\nNewton\'s method in two processes, each pose from the nearest one before it, is what `device="cpu"` takes.'
    )
    return out
