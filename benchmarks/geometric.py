"""The geometric model against finite elements: finger, iteration cost, solvers, workspace, inverse kinematics, batches.

    OMP_NUM_THREADS=1 python benchmarks/geometric.py [--fem] [--write] [part ...]

Times are CPU seconds of one process (the machine may be shared) and wall seconds beside them. Parts: finger, iteration,
solvers, scaling, collision, workspace, ik, arm, batch. `--fem` adds the finite-element baseline of the finger (minutes).
"""

from __future__ import annotations

import argparse
import platform
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from pliant.actuators import Chamber
from pliant.contact import SelfContact
from pliant.contact.detection import Detector
from pliant.inverse.descent import follow_path, sample_workspace
from pliant.materials import Corotational
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robots.notched_finger import notched_finger
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.geometric_batch import batch
from pliant.solve.projection import project
from pliant.solve.sensitivity import sensitivity

REPORT = Path(__file__).resolve().parents[1] / "docs" / "benchmarks" / "geometric.md"
LINES: list[str] = []


def say(text: str) -> None:
    """Print a row and keep it for the report."""
    print(text, flush=True)
    LINES.append(text)


def timed(work: Callable[[], Any]) -> tuple[Any, float, float]:
    """Result, CPU seconds, wall seconds."""
    cpu, wall = time.process_time(), time.perf_counter()
    out = work()
    return out, time.process_time() - cpu, time.perf_counter() - wall


def angle(model: Any, state: Any) -> float:
    """Bending angle of the finger's tip [degrees]."""
    R = model.locate(state, "tip").rotation
    return float(np.degrees(np.arctan2(-R[2, 0], R[0, 0])) % 360)


def finger(fem: bool) -> None:
    """Pneumatic finger, 44k tets, from rest to 90, 180 and 240 degrees in one go each."""
    robot = pneumatic_finger(size=2.9e-3, layers=2)
    model = GeometricModel(robot)
    tets = len(model.layout.groups[0].cells)
    flex(model, model.command({"air": 1.02}))
    model.projected(model.rest, np.zeros(1))
    say(f"\n## Pneumatic finger, {tets} tets, {model.nv} unknowns\n")
    say("| solver | volume ratio | angle | iterations | residual | CPU s | wall s | tip to FEM |")
    say("|---|---|---|---|---|---|---|---|")
    for ratio in (1.57, 2.15, 2.55):
        command = model.command({"air": ratio})
        state, cpu, wall = timed(lambda c=command: flex(model, c))
        gap = ""
        if fem:
            reference = FemModel(robot)
            equilibrium(reference, {"air": 0.02 * command["air"]})
            found, fcpu, fwall = timed(lambda c=command: equilibrium(reference, c, max_iterations=1000))
            gap = f"{1e3 * np.linalg.norm(reference.locate(found, 'tip').position - model.locate(state, 'tip').position):.4f} mm"
        say(f"| flex | {ratio} | {angle(model, state):.1f} | {state.iterations} ({state.notes[0]}) | {state.residual:.1e} "
            f"| {cpu:.2f} | {wall:.2f} | {gap} |")  # fmt: skip
        if fem:
            say(f"| FEM equilibrium | {ratio} | {angle(reference, found):.1f} | {found.iterations} | {found.residual:.1e} "
                f"| {fcpu:.2f} | {fwall:.2f} | {found.status.name} |")  # fmt: skip


def iteration() -> None:
    """One local/global iteration."""
    say("\n## One local/global iteration (one thread)\n\n| tets | nodes | CPU ms |\n|---|---|---|")
    for size, layers in ((5e-3, 1), (2.9e-3, 1), (2.65e-3, 2), (1.5e-3, 2)):
        model = GeometricModel(pneumatic_finger(size=size, layers=layers))
        command = model.command({"air": 1.1})
        project(model, command, iterations=2)
        _, cpu, _ = timed(lambda m=model, c=command: project(m, c, iterations=60, threads=1))
        say(f"| {len(model.layout.groups[0].cells)} | {model.nodes} | {1e3 * cpu / 60:.2f} |")


def _arm(size: float, law: bool = False) -> GeometricModel:
    material = None if law else Corotational.from_young(5.5e6, 0.40)
    robot = three_chamber_arm(size=size, material=material)
    return GeometricModel(
        robot.but(actuators=tuple(Chamber(name=a.name, drive="displacement") for a in robot.actuators))
    )


def solvers() -> None:
    """Plain, Anderson and Newton on the three-chamber arm."""
    model = _arm(0.0065)
    command = dict(zip(model.robot.actuator_names, (0.3, 0.0, 0.1) * model.rest_measures))
    exact = flex(model, command)
    tip = model.locate(exact, "tip").position
    say(f"\n## Same pose, three ways: three-chamber arm, {len(model.layout.groups[0].cells)} tets\n")
    say("| solver | iterations | CPU s | tip error to Newton mm |\n|---|---|---|---|")
    runs: list[tuple[str, Callable[[], Any]]] = [
        ("plain, step 1e-6", lambda: project(model, command, acceleration="none", tolerance=1e-6, iterations=5000)),
        ("Anderson 6, step 1e-6", lambda: project(model, command, tolerance=1e-6)),
        ("Anderson 12, step 1e-6", lambda: project(model, command, window=12, tolerance=1e-6)),
        ("Anderson 12, step 1e-8", lambda: project(model, command, window=12, tolerance=1e-8)),
        ("flex (Newton, turning steps)", lambda: flex(model, command)),
        ("equilibrium (Newton)", lambda: equilibrium(model, command)),
    ]
    for name, run in runs:
        state, cpu, _ = timed(run)
        error = 1e3 * np.linalg.norm(model.locate(state, "tip").position - tip)
        say(f"| {name} | {state.iterations} {'' if state.ok else state.status.name} | {cpu:.2f} | {error:.5f} |")


def scaling() -> None:
    """flex from rest to volume ratio 2 on meshes of 2k to 200k tets."""
    say(
        "\n## Scaling: finger, rest to volume ratio 2.0 with flex\n\n| tets | unknowns | iterations | CPU s |\n|---|---|---|---|"
    )
    for size, layers, teeth in ((7e-3, 1, 4), (5e-3, 1, 12), (2.9e-3, 1, 12), (2.9e-3, 2, 12), (1.6e-3, 2, 12)):
        model = GeometricModel(pneumatic_finger(size=size, layers=layers, teeth=teeth))
        flex(model, model.command({"air": 1.01}))
        state, cpu, _ = timed(lambda m=model: flex(m, m.command({"air": 2.0})))
        say(
            f"| {len(model.layout.groups[0].cells)} | {model.nv} | {state.iterations} {state.status.name} | {cpu:.2f} |"
        )


def collision() -> None:
    """Self-collision query."""
    say("\n## Self-collision query (refit and query)\n\n| tets | skin triangles | CPU ms |\n|---|---|---|")
    for size, layers in ((4e-3, 1), (2.9e-3, 2), (2.2e-3, 2)):
        model = GeometricModel(pneumatic_finger(size=size, layers=layers))
        detector = Detector(model, [SelfContact()], alarm=5e-4)
        q = flex(model, model.command({"air": 1.4})).q
        detector.detect(q)
        _, cpu, _ = timed(lambda d=detector, q=q: [d.detect(q) for _ in range(5)])
        say(f"| {len(model.layout.groups[0].cells)} | {len(model.skin.triangles)} | {200 * cpu:.1f} |")


MIX = np.tril(np.ones((3, 3)))
BOUNDS = (np.full(3, 1e-4), np.full(3, 7e-3))


def workspace() -> None:
    """Workspace samples of the cable finger."""
    model = GeometricModel(notched_finger().but(gravity=(0, 0, 0)))
    flex(model, [1e-3, 2e-3, 3e-3])
    say(f"\n## Workspace of the cable finger, {len(model.layout.groups[0].cells)} tets, two processes\n")
    say("| samples | wall s | ms per sample |\n|---|---|---|")
    for count in (5, 15):
        found, _, wall = timed(lambda c=count: sample_workspace(model, "corner", BOUNDS, c, mix=MIX, workers=2))
        say(f"| {len(found.u)} | {wall:.2f} | {1e3 * wall / len(found.u):.1f} |")


def ik() -> None:
    """L and flame paths of the cable finger."""
    model = GeometricModel(notched_finger().but(gravity=(0, 0, 0)))
    space = sample_workspace(model, "corner", BOUNDS, 4, mix=MIX)
    middle = flex(model, MIX @ np.full(3, 3.5e-3))
    centre = model.locate(middle, "corner").position
    J = sensitivity(model, middle).of("corner")[3:][[0, 2]] @ MIX * 7e-3
    frame, reach, _ = np.linalg.svd(J)
    easy, hard = (0.12 * r * np.array([d[0], 0.0, d[1]]) for r, d in zip(reach, frame.T))
    s, t = np.linspace(0, 1, 28)[:, None], np.linspace(0, 2 * np.pi, 85)[:, None]
    ell = np.vstack([centre + s * hard, centre + hard + s[1:] * easy])
    flame = centre + np.sin(t) * (0.6 + 0.4 * np.cos(t)) * hard + np.cos(t) * easy
    say("\n## Inverse kinematics of the cable finger (0.2 mm)\n")
    say(
        "| path | points | method | CPU s | wall s | mean error mm | max error mm | forward solves |\n|---|---|---|---|---|---|---|---|"
    )
    for name, path, method in (("L", ell, "gauss-newton"), ("flame", flame, "gauss-newton"), ("L", ell, "descent")):
        found, cpu, wall = timed(
            lambda p=path, m=method: follow_path(
                model, "corner", p, BOUNDS, workspace=space, threshold=2e-4, axes=(0, 2), mix=MIX, method=m
            )
        )
        error = [
            1e3 * np.linalg.norm((model.locate(f.state, "corner").position - p)[[0, 2]]) for f, p in zip(found, path)
        ]
        say(f"| {name} | {len(path)} | {method} | {cpu:.2f} | {wall:.2f} | {np.mean(error):.3f} | {max(error):.3f} "
            f"| {sum(f.evaluations for f in found)} |")  # fmt: skip


def arm(size: float = 0.0021) -> None:
    """Inverse kinematics of the fine three-chamber arm."""
    model = _arm(size)
    tets = len(model.layout.groups[0].cells)
    low, high = np.zeros(3), 0.4 * model.rest_measures
    first = flex(model, 0.4 * high)
    base = model.locate(first, "tip").position
    path = [base + 2e-3 * np.array([np.cos(t), np.sin(t), 0.3]) for t in np.linspace(0, 2, 4)]
    say(
        f"\n## Inverse kinematics of the three-chamber arm, {tets} tets\n\n| waypoint | CPU s | wall s | error mm | solves |\n|---|---|---|---|---|"
    )
    from pliant.inverse.descent import gauss_newton

    u, state = 0.4 * high, first
    for i, target in enumerate(path):
        found, cpu, wall = timed(
            lambda t=target, u=u, s=state: gauss_newton(model, "tip", t, u, (low, high), threshold=1e-4, state=s)
        )
        say(f"| {i + 1} | {cpu:.2f} | {wall:.2f} | {1e3 * found.objective:.3f} | {found.evaluations} |")
        u, state = found.u, found.state


def batches() -> None:
    """Poses per second on the CPU."""
    model = _arm(0.0065, law=True)
    U = np.random.default_rng(0).uniform(0, 0.3, (32, 3)) * model.rest_measures
    batch(model, U[:1], iterations=2)
    say(f"\n## Batches on the CPU (two threads), arm of {len(model.layout.groups[0].cells)} tets, step 1e-6\n")
    say("| batch | wall s | poses per second |\n|---|---|---|")
    for nb in (1, 8, 32):
        found, _, wall = timed(lambda n=nb: batch(model, U[:n]))
        say(f"| {nb} | {wall:.2f} | {nb / wall:.2f} {'' if found.converged.all() else 'not all converged'} |")


PARTS: dict[str, Callable[[], None]] = {
    "iteration": iteration, "solvers": solvers, "scaling": scaling, "collision": collision, "workspace": workspace,
    "ik": ik, "arm": arm, "batch": batches,
}  # fmt: skip


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[])
    parser.add_argument("--fem", action="store_true")
    parser.add_argument("--write", action="store_true")
    args = parser.parse_args()
    say(f"# Geometric model\n\n{platform.processor() or platform.machine()}, {time.strftime('%Y-%m-%d')}; "
        "`OMP_NUM_THREADS=1 python benchmarks/geometric.py`")  # fmt: skip
    chosen = args.parts or ["finger", *PARTS]
    for name in chosen:
        if name == "finger":
            finger(args.fem)
        else:
            PARTS[name]()
    if args.write:
        REPORT.parent.mkdir(parents=True, exist_ok=True)
        REPORT.write_text("\n".join(LINES) + "\n")


if __name__ == "__main__":
    main()
