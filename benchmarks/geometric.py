"""The geometric model against finite elements: every number of docs/benchmarks/geometric.md.

    python benchmarks/geometric.py [--write] [part ...]

Parts: finger, iteration, solvers, scaling, collision, contact, workspace, paths, arm, batch, accuracy (all by default, about
ten minutes); descent, the source's own method on the L path, only by name (minutes). Those of the GPU:
`benchmarks/geometric_gpu.py`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from geometric_inverse import arm, batches, descent, driven_arm, paths, tets, workspace
from geometric_sections import IMAGES, Section, memory, timed
from matplotlib.figure import Figure

from pliant.algebra.factorisation import factorise
from pliant.algebra.threads import use_threads
from pliant.contact import SelfContact
from pliant.contact.detection import Detector
from pliant.materials import MooneyRivlin, NeoHookeanLog, Ogden, Yeoh
from pliant.models.fem import FemModel
from pliant.models.geometric import GeometricModel
from pliant.robots.pneumatic_finger import pneumatic_finger
from pliant.robots.silicone_finger import silicone_finger
from pliant.robots.three_chamber_arm import three_chamber_arm
from pliant.solve.equilibrium import equilibrium
from pliant.solve.flex import flex
from pliant.solve.forked import forked
from pliant.solve.projection import project


def angle(model: Any, state: Any) -> float:
    """Bending angle of the finger's tip [degrees]."""
    R = model.locate(state, "tip").rotation
    return float(np.degrees(np.arctan2(-R[2, 0], R[0, 0])) % 360)


def _warm(model: GeometricModel) -> None:
    """What is done once per model: the constant matrix, the factor at rest, the analysis of the sparsity, compilation."""
    flex(model, {"air": 0.02 * model.command({"air": 2.0})["air"]})
    model.projected(model.rest, np.zeros(1))


#: Volume ratios of the finger that bend it by about 60, 90, 120, 150, 180, 210 and 240 degrees.
RATIOS = (1.40, 1.57, 1.75, 1.94, 2.12, 2.32, 2.55)


def finger() -> Section:
    """Pneumatic finger, 44k tets, from rest to 60 to 240 degrees in one go each; FEM beside it (A15)."""
    robot = pneumatic_finger(size=2.9e-3, layers=2)
    model, fem = GeometricModel(robot), FemModel(robot)
    _, once, _ = timed(lambda: _warm(model))
    equilibrium(fem, {"air": 0.02 * model.command({"air": 2.0})["air"]})
    out = Section("finger", f"Pneumatic finger, {tets(model)} tets, {model.nv} unknowns, from rest in one go")
    out.say(
        "Published: 23.2 s to 240 degrees (Abaqus 820 to 1068 s). Bars: under 3 s, 10 times faster than our FEM; A15: 20 times."
    )
    out.say("The material is co-rotational: the two energies are the same and only the solvers differ.\n")
    out.table(
        "volume ratio", "angle", "flex: iterations", "residual", "CPU s", "wall s", "FEM: iterations", "residual", "CPU s",
        "wall s", "tip, flex to FEM mm", "FEM / flex, CPU", "wall",
    )  # fmt: skip
    ratios = []
    for ratio in RATIOS:
        u = model.command({"air": ratio})
        state, cpu, wall = timed(lambda u=u: flex(model, u))
        found, fcpu, fwall = timed(lambda u=u: equilibrium(fem, u, max_iterations=1000))
        gap = 1e3 * np.linalg.norm(fem.locate(found, "tip").position - model.locate(state, "tip").position)
        ratios.append(fcpu / cpu)
        out.row(ratio, f"{angle(model, state):.0f}", f"{state.iterations} ({state.notes[0]})", f"{state.residual:.0e}",
                f"{cpu:.2f}", f"{wall:.2f}", f"{found.iterations} ({found.status.name})", f"{found.residual:.0e}",
                f"{fcpu:.2f}", f"{fwall:.2f}", f"{gap:.5f}", f"{fcpu / cpu:.1f}", f"{fwall / wall:.1f}")  # fmt: skip
    model.linearise(model.rest, np.zeros(1))
    K = model.stiffness(model.rest, np.zeros(1))
    _, least, _ = timed(lambda: (model.linearise(model.rest, np.zeros(1)), factorise(K)))
    out.say(
        f"\nOnce per model, not in the rows: {once:.1f} CPU s (constant matrix, factor at rest, sparsity, compiled code)."
    )
    out.say(f"One Hessian made and factorised takes {least:.2f} CPU s, in either model. FEM to {RATIOS[1]} is worth a dozen of "
            "those, so that 20 times faster is less than one: A15 can hold only where FEM must follow its load in parts. The "
            f"largest ratio measured is {max(ratios):.0f}. (`flex` counts {RATIOS[-1]} as one go; so did FEM, which needed "
            "more iterations the farther it went.)")  # fmt: skip
    return out


def iteration() -> Section:
    """One local/global iteration."""
    out = Section("iteration", "One local/global iteration")
    out.say("Published: 40 ms at 50 000 tets on six cores; bar 15 ms.\n")
    out.table("tets", "nodes", "one thread: CPU ms", "all threads: wall ms")
    for size, layers in ((5e-3, 1), (2.9e-3, 1), (2.65e-3, 2), (1.5e-3, 2)):
        model = GeometricModel(pneumatic_finger(size=size, layers=layers))
        command = model.command({"air": 1.1})
        project(model, command, iterations=2)
        _, cpu, _ = timed(lambda m=model, c=command: project(m, c, iterations=60, threads=1))
        _, _, wall = timed(lambda m=model, c=command: project(m, c, iterations=60))
        out.row(tets(model), model.nodes, f"{1e3 * cpu / 60:.2f}", f"{1e3 * wall / 60:.2f}")
    return out


def solvers() -> Section:
    """Plain, Anderson and Newton on the three-chamber arm."""
    model = driven_arm(0.0065)
    command = dict(zip(model.robot.actuator_names, (0.3, 0.0, 0.1) * model.rest_measures))
    exact = flex(model, command)
    tip = model.locate(exact, "tip").position
    out = Section("solvers", f"Same pose, three ways: three-chamber arm, {tets(model)} tets")
    out.table("solver", "iterations", "CPU s", "tip error to Newton mm")
    runs: list[tuple[str, Callable[[], Any]]] = [
        ("plain, step 1e-6", lambda: project(model, command, acceleration="none", tolerance=1e-6, iterations=2000, handover=False)),
        ("Anderson 6, step 1e-6", lambda: project(model, command, tolerance=1e-6)),
        ("Anderson 12, step 1e-6", lambda: project(model, command, window=12, tolerance=1e-6)),
        ("Anderson 12, step 1e-8", lambda: project(model, command, window=12, tolerance=1e-8)),
        ("flex", lambda: flex(model, command)),
        ("equilibrium", lambda: equilibrium(model, command)),
    ]  # fmt: skip
    for name, run in runs:
        state, cpu, _ = timed(run)
        error = 1e3 * np.linalg.norm(model.locate(state, "tip").position - tip)
        out.row(name, f"{state.iterations} {'' if state.ok else state.status.name}", f"{cpu:.2f}", f"{error:.5f}")
    out.say(
        "\nLocal/global iterations are slow where a stiff strip runs along a slender body: `flex` is the default there."
    )
    return out


#: Size, layers and teeth of the meshes; the last columns say whether FEM is run as well.
SIZES = ((7e-3, 1, 4, True), (5e-3, 1, 12, True), (2.9e-3, 1, 12, True), (2.9e-3, 2, 12, True), (1.6e-3, 2, 12, False),
         (1.2e-3, 2, 12, False))  # fmt: skip


def _scaled(case: tuple[float, int, int, bool]) -> dict[str, Any]:
    """One mesh, in a process of its own: sizes, times and memory."""
    robot = pneumatic_finger(size=case[0], layers=case[1], teeth=case[2])
    model = GeometricModel(robot)
    before = memory(reset=True)
    first = model.command({"air": 1.01})
    flex(model, first)
    command = model.command({"air": 2.0})
    state, cpu, _ = timed(lambda: flex(model, command))
    project(model, first, iterations=2, threads=1)
    _, step, _ = timed(lambda: project(model, first, iterations=20, threads=1))
    out = {
        "tets": tets(model), "unknowns": model.nv, "work": state.notes[0].split()[0], "ok": state.ok, "flex": cpu,
        "step": step / 20, "memory": memory() - before, "fem": np.nan, "fem_memory": np.nan, "gap": np.nan,
    }  # fmt: skip
    if case[3]:
        tip = model.locate(state, "tip").position
        del model, state
        fem = FemModel(robot)
        before = memory(reset=True)
        equilibrium(fem, first)
        found, out["fem"], _ = timed(lambda: equilibrium(fem, command, max_iterations=1000))
        out["fem_memory"] = memory() - before
        out["gap"] = 1e3 * np.linalg.norm(fem.locate(found, "tip").position - tip)
    return out


def scaling() -> Section:
    """flex and FEM from rest to volume ratio 2, and one local/global iteration, on meshes of 2k to over 200k tets."""
    out = Section(
        "scaling", "Scaling: pneumatic finger, rest to volume ratio 2; flex, FEM and one local/global iteration"
    )
    out.table("tets", "unknowns", "factorisations", "flex CPU s", "memory MB", "FEM CPU s", "memory MB", "tip to FEM mm",
              "one iteration ms")  # fmt: skip
    rows = []
    _scaled(SIZES[0])  # compile
    for case in SIZES:
        r = forked(_scaled, [case, SIZES[0]])[0]
        rows.append(r)
        blank = np.isnan(r["fem"])
        out.row(r["tets"], r["unknowns"], r["work"] + ("" if r["ok"] else " FAILED"), f"{r['flex']:.2f}",
                f"{r['memory']:.0f}", "" if blank else f"{r['fem']:.2f}", "" if blank else f"{r['fem_memory']:.0f}",
                "" if blank else f"{r['gap']:.5f}", f"{1e3 * r['step']:.2f}")  # fmt: skip
    size = np.array([r["tets"] for r in rows], float)
    figure = Figure(figsize=(6.4, 4.4), layout="constrained")
    axes = figure.add_subplot()
    labels = (("flex", "flex to ratio 2"), ("fem", "FEM to ratio 2"), ("step", "one local/global iteration"))
    slopes = []
    for key, label in labels:
        y = np.array([r[key] for r in rows])
        known = np.flatnonzero(np.isfinite(y))[1:]
        slope = float(np.polyfit(np.log(size[known]), np.log(y[known]), 1)[0])
        slopes.append(f"{label} {slope:.2f}")
        axes.loglog(size, y, "o-", label=f"{label}: slope {slope:.2f}")
    axes.set_xlabel("tets")
    axes.set_ylabel("CPU time [s]")
    axes.grid(True, which="both", alpha=0.3)
    axes.legend()
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / "geometric_scaling.png", dpi=110)
    out.say(
        f"\nSlopes in log-log from {size[1]:.0f} tets on: {', '.join(slopes)} (A14 allows the iteration 0.9 to 1.3)."
    )
    out.say("Memory: what the solve adds to the model, symbolic analysis and all factors included.")
    out.say("\n![scaling](../images/geometric_scaling.png)")
    return out


def collision() -> Section:
    """Self-collision query; its slope in log-log (C3)."""
    out = Section("collision", "Self-collision query: refit and query, poses too far apart to reuse candidates")
    out.say("Published: 42 ms at 40 000 tets; bar 10 ms.\n")
    out.table("tets", "skin triangles", "CPU ms", "wall ms")
    sizes, times = [], []
    for size, layers in ((6e-3, 1), (4e-3, 1), (2.9e-3, 2), (2.2e-3, 2), (1.9e-3, 2)):
        model = GeometricModel(pneumatic_finger(size=size, layers=layers))
        detector = Detector(model, [SelfContact()], alarm=5e-4)
        poses = [flex(model, model.command({"air": r})).q for r in (1.25, 1.4)] * 4
        detector.detect(poses[-1])
        _, cpu, wall = timed(lambda d=detector, p=poses: [d.detect(x) for x in p])
        sizes.append(tets(model))
        times.append(cpu / 8)
        out.row(sizes[-1], len(model.skin.triangles), f"{1e3 * times[-1]:.1f}", f"{125 * wall:.1f}")
    slope = float(np.polyfit(np.log(sizes), np.log(times), 1)[0])
    out.say(f"\nSlope in log-log: {slope:.2f} (C3: below 1.3).")
    return out


@contextmanager
def _watched() -> Iterator[list[float]]:
    """CPU seconds of making each `Detector`, and of its queries, meanwhile."""
    spent: list[float] = []
    originals = Detector.__init__, Detector.detect

    def watched(work: Callable[..., Any]) -> Callable[..., Any]:
        def run(*args: Any, **given: Any) -> Any:
            begin = time.process_time()
            try:
                return work(*args, **given)
            finally:
                spent.append(time.process_time() - begin)

        return run

    Detector.__init__, Detector.detect = (watched(work) for work in originals)  # type: ignore[method-assign]
    try:
        yield spent
    finally:
        Detector.__init__, Detector.detect = originals  # type: ignore[method-assign]


#: Teeth, size of the cells and layers of the walls of the silicone fingers; the largest has about 77 000 tets.
FINGERS = ((4, 4e-3, 1), (8, 4e-3, 1), (12, 4e-3, 1), (4, 2e-3, 2), (4, 1.3e-3, 2), (4, 1.05e-3, 2))


def contact() -> Section:
    """The silicone finger closing on itself: what detection and response cost (C7), and FEM beside it (C14)."""
    out = Section("contact", "Contact: silicone fingers that close on themselves, rest to volume ratio 1.5")
    out.say("A step as the source counts it has four parts: meshing, detection, response and solver (its table 3.1: 79 048 tets,")
    out.say("0.07 s of detection in 15.45 s; shares of detection 0.4 to 1.8 %, of response 21 to 28 %). Here meshing is making")
    out.say("robot and model, detection making the detector and its queries, response what else the solve takes longer than")
    out.say("without contact; one thread. C7 wants 2 % and 20 to 30 % of the step.\n")
    out.table("tets", "skin triangles", "pressing", "meshing CPU s", "queries", "detection", "response", "solver", "step",
              "detection of the step", "of the solve", "response of the step", "of the solve", "iterations",
              "without contact")  # fmt: skip
    options: dict[str, Any] = {"obstacles": [SelfContact()], "alarm": 1e-3}
    ours = (0.0, 0.0)
    with use_threads(1):
        for case in FINGERS:
            model, meshing, _ = timed(lambda c=case: GeometricModel(silicone_finger(teeth=c[0], size=c[1], layers=c[2])))
            command = model.command({"air": 1.5})
            flex(model, {"air": 0.02 * command["air"]}, **options)
            if case == FINGERS[0]:  # load compiled code
                flex(model, command, **options)
            with _watched() as spent:
                state, cpu, _ = timed(lambda m=model, c=command: flex(m, c, **options))
            free, alone, _ = timed(lambda m=model, c=command: flex(m, c))
            ours = ours if case != FINGERS[0] else (cpu, alone)
            seen = sum(spent)
            response = max(cpu - alone - seen, 0.0)
            out.row(tets(model), len(model.skin.triangles), int((state.contacts.forces > 0.0).sum()), f"{meshing:.2f}",
                    len(spent) - 1, f"{seen:.3f}", f"{response:.2f}", f"{alone:.2f}", f"{meshing + cpu:.2f}",
                    f"{100 * seen / (meshing + cpu):.1f} %", f"{100 * seen / cpu:.1f} %",
                    f"{100 * response / (meshing + cpu):.0f} %", f"{100 * response / cpu:.0f} %",
                    f"{state.iterations} ({state.notes[0]}) {'' if state.ok else state.status.name}",
                    f"{free.iterations} ({free.notes[0]})")  # fmt: skip
    fem = FemModel(silicone_finger(teeth=FINGERS[0][0], size=FINGERS[0][1], layers=FINGERS[0][2]))
    command = GeometricModel(fem.robot).command({"air": 1.5})
    equilibrium(fem, {"air": 0.02 * command["air"]}, **options)
    with _watched() as spent:
        found, fcpu, _ = timed(lambda: equilibrium(fem, command, **options))
    free, falone, _ = timed(lambda: equilibrium(fem, command))
    out.say(f"\nFEM on the first mesh: {fcpu:.2f} CPU s ({found.status.name}, {found.iterations} iterations, detection "
            f"{100 * sum(spent) / fcpu:.0f} %), {falone:.2f} without contact: {fcpu / ours[0]:.0f} and {falone / ours[1]:.0f} "
            "times flex (C14 wants 20 to 25).")  # fmt: skip
    out.say("A query looks at every triangle of the skin; a solve has five to eleven, of which the first (at rest) and the last "
            "two or three find their pairs on the list of another. What touches is followed without a query in between. On "
            "meshes smaller than the source's (28 000 to 79 000 tets) the rest is more than 2 %: the solve takes a tenth of a "
            "second there, three queries at a microsecond per triangle are 4 % of it.")  # fmt: skip
    return out


def accuracy() -> Section:
    """Tip of the three-chamber arm against FEM over its workspace of pressures, 0 to 240 kPa; other laws."""
    robot = three_chamber_arm(size=0.011).but(gravity=(0, 0, 0))
    fem = FemModel(robot, element="quadratic")
    models = {
        "per principal stretch (default)": GeometricModel(robot, element="quadratic"),
        "one per element (secant)": GeometricModel(robot, element="quadratic", stiffness="secant"),
        "constant": GeometricModel(robot, element="quadratic", stiffness="constant"),
    }
    out = Section("accuracy", "Three-chamber arm against FEM under pressure: tip error in percent of the length, bar 3")
    out.say(f"Neo-Hookean, quadratic elements, {fem.nv} unknowns, length 136 mm, no gravity.\n")
    out.table("chambers", "kPa", "motion mm", *models)
    figure = Figure(figsize=(12, 4), layout="constrained")
    panels = figure.subplots(1, 3, sharey=True)
    for axes, (name, share) in zip(panels, (("one", (1, 0, 0)), ("two", (1, 1, 0)), ("three", (1, 1, 1)))):
        curves: dict[str, list[float]] = {k: [] for k in models}
        levels = np.linspace(60e3, 240e3, 4)
        reference = None
        states: dict[str, Any] = dict.fromkeys(models)
        for p in levels:
            u = p * np.array(share, float)
            reference = equilibrium(fem, u, start=reference)
            tip = fem.locate(reference, "tip").position
            for k, model in models.items():
                states[k] = flex(model, u, start=states[k])
                error = np.linalg.norm(model.locate(states[k], "tip").position - tip) / 0.136
                curves[k].append(100 * error if states[k].ok and reference.ok else np.nan)
            motion = 1e3 * np.linalg.norm(tip - [0, 0, 0.136])
            out.row(name, f"{p / 1e3:.0f}", f"{motion:.1f}", *(f"{c[-1]:.2f}" for c in curves.values()))
        for k, c in curves.items():
            axes.plot(levels / 1e3, c, "o-", label=k)
        axes.axhline(3.0, color="0.5", ls="--")
        axes.set_title(f"{name} chamber{'s' if name != 'one' else ''}")
        axes.set_xlabel("pressure [kPa]")
    panels[0].set_ylabel("tip error [% of the length]")
    panels[0].legend(fontsize=8)
    IMAGES.mkdir(parents=True, exist_ok=True)
    figure.savefig(IMAGES / "geometric_accuracy.png", dpi=110)
    out.say("\n![tip error](../images/geometric_accuracy.png)\n")
    out.say("Other laws, coarser arm (four folds), 240 kPa in one chamber:\n")
    out.table("law", "Poisson ratio", "default", "secant")
    laws = ((NeoHookeanLog, 0.45), (MooneyRivlin, 0.45), (MooneyRivlin, 0.49), (Ogden, 0.45), (Yeoh, 0.45))
    for law, nu in laws:
        options = {"alpha": 3.0} if law is Ogden else {}
        coarse = three_chamber_arm(size=0.02, folds=4, material=law.from_young(5.5e6, nu, **options))
        coarse = coarse.but(gravity=(0, 0, 0))
        fem = FemModel(coarse, element="quadratic")
        u = np.array([240e3, 0.0, 0.0])
        tip = fem.locate(equilibrium(fem, u, strict=True), "tip").position
        errors = []
        for kind in ("auto", "secant"):
            model = GeometricModel(coarse, element="quadratic", stiffness=kind)
            errors.append(np.linalg.norm(model.locate(flex(model, u, strict=True), "tip").position - tip) / 0.136)
        out.row(law.__name__, nu, *(f"{100 * e:.2f}" for e in errors))
    return out


PARTS: dict[str, Callable[[], Section]] = {
    "finger": finger, "iteration": iteration, "solvers": solvers, "scaling": scaling, "collision": collision,
    "contact": contact, "workspace": workspace, "paths": paths, "arm": arm, "batch": batches, "accuracy": accuracy,
}  # fmt: skip
ON_REQUEST: dict[str, Callable[[], Section]] = {"descent": descent}
#: Order of the sections in the page; that of the GPU is written by `geometric_gpu.py`.
ORDER = ("finger", "iteration", "solvers", "scaling", "collision", "contact", "workspace", "paths", "descent", "arm",
         "gpu", "batch", "accuracy")  # fmt: skip


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=[], choices=[*PARTS, *ON_REQUEST, []])
    parser.add_argument("--write", action="store_true", help="put the sections into docs/benchmarks/geometric.md")
    args = parser.parse_args()
    for name in args.parts or PARTS:
        begin = time.perf_counter()
        section = (PARTS | ON_REQUEST)[name]()
        print(f"({name}: {time.perf_counter() - begin:.0f} s)\n", flush=True)
        if args.write:
            section.write(ORDER)


if __name__ == "__main__":
    main()
