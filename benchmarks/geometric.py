"""The geometric model against finite elements: finger, iteration cost, solvers, workspace, inverse kinematics, batches.

    OMP_NUM_THREADS=1 python benchmarks/geometric.py [--fem] [--write] [part ...]

Times are CPU seconds of one process (the machine may be shared) and wall seconds beside them. Parts: finger, iteration,
solvers, scaling, collision, workspace, ik, arm, batch, accuracy, contact. `--fem` adds the finite-element baseline of the finger (minutes).
"""

from __future__ import annotations

import argparse
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from pliant.actuators import Chamber
from pliant.contact import SelfContact
from pliant.contact.detection import Detector
from pliant.inverse.descent import follow_path, sample_workspace
from pliant.materials import Corotational
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robots.notched_finger import notched_finger
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.silicone_finger import silicone_finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.forked import forked
from pliant.solve.geometric_batch import batch
from pliant.solve.projection import project
from pliant.solve.sensitivity import sensitivity

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
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


SIZES = ((7e-3, 1, 4), (5e-3, 1, 12), (2.9e-3, 1, 12), (2.9e-3, 2, 12), (1.6e-3, 2, 12), (1.25e-3, 2, 12))


def _memory(*, reset: bool = False) -> float:
    """Peak of the resident memory of this process since the last reset [MB] (Linux)."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5")
    words = Path("/proc/self/status").read_text().split()
    return float(words[words.index("VmHWM:") + 1]) / 1024


def _scaled(case: tuple[float, int, int]) -> dict[str, float]:
    """One mesh, in a process of its own: sizes, times and memory."""
    model = GeometricModel(pneumatic_finger(size=case[0], layers=case[1], teeth=case[2]))
    before = _memory(reset=True)
    command = model.command({"air": 1.01})
    flex(model, command)
    state, cpu, _ = timed(lambda: flex(model, model.command({"air": 2.0})))
    project(model, command, iterations=2, threads=1)
    _, step, _ = timed(lambda: project(model, command, iterations=20, threads=1))
    memory = _memory()
    return {
        "tets": len(model.layout.groups[0].cells), "unknowns": model.nv, "iterations": state.iterations,
        "ok": state.ok, "flex": cpu, "step": step / 20, "memory": memory - before,
    }  # fmt: skip


def scaling() -> None:
    """flex from rest to volume ratio 2, and one local/global iteration, on meshes of 2k to 200k tets."""
    say("\n## Scaling: pneumatic finger, rest to volume ratio 2.0 with flex; one local/global iteration\n")
    say("| tets | unknowns | Newton iterations | flex CPU s | memory of the solve MB | one local/global iteration ms |")
    say("|---|---|---|---|---|---|")
    rows = []
    _scaled(SIZES[0])  # compile
    for case in SIZES:
        rows.append(forked(_scaled, [case, SIZES[0]])[0])
        r = rows[-1]
        say(f"| {r['tets']} | {r['unknowns']} | {r['iterations']} {'' if r['ok'] else 'FAILED'} | {r['flex']:.2f} "
            f"| {r['memory']:.0f} | {1e3 * r['step']:.2f} |")  # fmt: skip
    tets = np.array([r["tets"] for r in rows], float)
    slopes = {}
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    for key, label in (("flex", "flex to ratio 2 [s]"), ("step", "one local/global iteration [s]")):
        y = np.array([r[key] for r in rows])
        slopes[key] = float(np.polyfit(np.log(tets[1:]), np.log(y[1:]), 1)[0])
        axes.loglog(tets, y, "o-", label=f"{label}: slope {slopes[key]:.2f}")
    axes.set_xlabel("tets")
    axes.set_ylabel("CPU time [s]")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / "geometric_scaling.png", dpi=110)
    say(f"\nSlope in log-log from {tets[1]:.0f} tets on: flex {slopes['flex']:.2f}, iteration {slopes['step']:.2f}.")


def accuracy() -> None:
    """Tip of the three-chamber arm against FEM over its workspace of pressures, 0 to 240 kPa."""
    robot = three_chamber_arm(size=0.011).but(gravity=(0, 0, 0))
    fem = FemModel(robot, element="quadratic")
    models = {
        "per principal stretch (default)": GeometricModel(robot, element="quadratic"),
        "one per element (secant)": GeometricModel(robot, element="quadratic", stiffness="secant"),
        "constant": GeometricModel(robot, element="quadratic", stiffness="constant"),
    }
    say("\n## Three-chamber arm against FEM under pressure: tip error in percent of the length (136 mm)\n")
    say("| chambers | kPa | motion mm | " + " | ".join(models) + " |\n|---|---|---|---|---|---|")
    figure = Figure(figsize=(12, 4), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (name, share) in zip(panels, (("one", (1, 0, 0)), ("two", (1, 1, 0)), ("three", (1, 1, 1)))):
        curves: dict[str, list[float]] = {k: [] for k in models}
        levels = np.linspace(40e3, 240e3, 6)
        reference = None
        states: dict[str, Any] = dict.fromkeys(models)
        for p in levels:
            u = p * np.array(share, float)
            reference = equilibrium(fem, u, start=reference)
            tip = fem.locate(reference, "tip").position
            motion = 1e3 * np.linalg.norm(tip - [0, 0, 0.136])
            for k, model in models.items():
                states[k] = flex(model, u, start=states[k])
                error = np.linalg.norm(model.locate(states[k], "tip").position - tip) / 0.136
                curves[k].append(100 * error if states[k].ok and reference.ok else np.nan)
            say(
                f"| {name} | {p / 1e3:.0f} | {motion:.1f} | "
                + " | ".join(f"{c[-1]:.2f}" for c in curves.values())
                + " |"
            )
        for k, c in curves.items():
            axes.plot(levels / 1e3, c, "o-", label=k)
        axes.axhline(3.0, color="0.5", ls="--")
        axes.set_title(f"{name} chamber{'s' if name != 'one' else ''}")
        axes.set_xlabel("pressure [kPa]")
    panels[0].set_ylabel("tip error [% of the length]")
    panels[0].legend(fontsize=8)
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / "geometric_accuracy.png", dpi=110)


def contact() -> None:
    """The silicone finger closing on itself: what detection and response cost (C7), and FEM beside it (C14)."""
    say("\n## Contact: silicone finger with self-contact, volume ratio 1.5\n")
    say("| solver | tets | iterations | CPU s | of it detection | status |\n|---|---|---|---|---|---|")
    robot = silicone_finger(teeth=4, size=4e-3)
    geometric, fem = GeometricModel(robot), FemModel(robot)
    command = geometric.command({"air": 1.5})
    for name, model, solve in (("flex", geometric, flex), ("FEM equilibrium", fem, equilibrium)):
        solve(model, {"air": 0.02 * command["air"]}, obstacles=[SelfContact()], alarm=1e-3)
        spent, original = [0.0], Detector.detect

        def detect(self: Any, *args: Any, spent: Any = spent, original: Any = original, **options: Any) -> Any:
            begin = time.process_time()
            try:
                return original(self, *args, **options)
            finally:
                spent[0] += time.process_time() - begin

        Detector.detect = detect  # type: ignore[method-assign]
        try:
            state, cpu, _ = timed(lambda m=model, s=solve: s(m, command, obstacles=[SelfContact()], alarm=1e-3))
        finally:
            Detector.detect = original  # type: ignore[method-assign]
        free, alone, _ = timed(lambda m=model, s=solve: s(m, command))
        tets = len(model.layout.groups[0].cells)
        say(
            f"| {name} | {tets} | {state.iterations} | {cpu:.2f} | {100 * spent[0] / cpu:.0f} % | {state.status.name} |"
        )
        say(f"| {name}, contact ignored | {tets} | {free.iterations} | {alone:.2f} | | {free.status.name} |")


def collision() -> None:
    """Self-collision query; its slope in log-log (C3)."""
    say("\n## Self-collision query (refit and query)\n\n| tets | skin triangles | CPU ms |\n|---|---|---|")
    sizes, times = [], []
    for size, layers in ((6e-3, 1), (4e-3, 1), (2.9e-3, 2), (2.2e-3, 2), (1.9e-3, 2)):
        model = GeometricModel(pneumatic_finger(size=size, layers=layers))
        detector = Detector(model, [SelfContact()], alarm=5e-4)
        poses = [flex(model, model.command({"air": r})).q for r in (1.25, 1.4)] * 4  # too far apart to reuse anything
        detector.detect(poses[-1])
        _, cpu, _ = timed(lambda d=detector, p=poses: [d.detect(x) for x in p])
        sizes.append(len(model.layout.groups[0].cells))
        times.append(cpu / 8)
        say(f"| {sizes[-1]} | {len(model.skin.triangles)} | {1e3 * times[-1]:.1f} |")
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    say(f"\nSlope in log-log: {slope:.2f} (C3: below 1.3).")


MIX = np.tril(np.ones((3, 3)))
BOUNDS = (np.full(3, 1e-4), np.full(3, 7e-3))


def workspace() -> None:
    """Workspace samples of the cable finger."""
    model = GeometricModel(notched_finger().but(gravity=(0, 0, 0)))
    flex(model, [1e-3, 2e-3, 3e-3])
    say(f"\n## Workspace of the cable finger, {len(model.layout.groups[0].cells)} tets, two processes\n")
    say("| samples | wall s | CPU s of both | CPU s per core | ms per sample |\n|---|---|---|---|---|")
    for count in (5, 15):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        found, _, wall = timed(lambda c=count: sample_workspace(model, "corner", BOUNDS, c, mix=MIX, workers=2))
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        say(f"| {len(found.u)} | {wall:.2f} | {cpu:.2f} | {cpu / 2:.2f} | {1e3 * cpu / len(found.u):.1f} |")


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


def arm(size: float = 0.0015) -> None:
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
    "ik": ik, "arm": arm, "batch": batches, "accuracy": accuracy, "contact": contact,
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
