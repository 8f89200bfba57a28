"""Contact detection: counts and times beside those of the thesis, and self-collision of a big mesh.

    python benchmarks/detection.py [--write] [--only thesis inverse moving sizes share]

Scenes of the size of spec inverse-fem 9.2 (geometry not published; sizes matched): a soft beam on a sphere, and a
trunk with a coarse and a fine surface on a cylinder; the scenes of the inverse benchmark at one pose; the
pneumatic finger of 44k tets along its motion, and from 5k to 80k tets (C3); the share of detection in a solve (C7).
Times are those of the process on one thread, and of the wall with two threads where they are used. With --write the
page docs/benchmarks/detection.md is written from scratch.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse

from pliant.algebra.threads import use_threads
from pliant.contact import Cylinder, Detector, MeshObstacle, Pipe, SelfContact, Sphere
from pliant.contact.primitives import revolved
from pliant.state import Skin

PAGE = Path(__file__).resolve().parent.parent / "docs" / "benchmarks" / "detection.md"
SAID: list[str] = []
THESIS = {  # contacts and milliseconds: local minimum distance, then layered images
    "beam on sphere": (434, 15, 1.25, 4, 1.76),
    "trunk, coarse": (338, 7, 5.80, 4, 2.56),
    "trunk, fine": (1046, 5, 38.93, 4, 2.93),
}


def say(*lines: str) -> None:
    """Print, and keep for the page."""
    for line in lines:
        print(line, flush=True)
        SAID.append(line)


class Shell:
    """A model that is only a skin: q are the positions."""

    def __init__(self, x: np.ndarray, triangles: np.ndarray, segments=None, radius: float = 0.0) -> None:
        n = len(x)
        segments = np.zeros((0, 2), dtype=int) if segments is None else segments
        self.skin = Skin(triangles, segments, np.full(n, radius), np.zeros(n, dtype=int))
        self.rest = x.ravel()
        self.nv = 3 * n

    def skin_positions(self, q: np.ndarray) -> np.ndarray:
        """Positions (n, 3)."""
        return q.reshape(-1, 3)

    def skin_rows(self, q, vertices, weights, directions):
        """Rows (m, nv)."""
        values = (weights[:, :, None] * directions[:, None]).ravel()
        columns = (3 * vertices[:, :, None] + np.arange(3)).ravel()
        rows = np.repeat(np.arange(len(vertices)), 3 * vertices.shape[1])
        return sparse.csr_array((values, (rows, columns)), shape=(len(vertices), self.nv))


def median_ms(call, repeats: int = 30) -> tuple[float, float]:
    """Median wall-clock and processor time [ms] after warming up; they differ on a busy machine."""
    call()
    call()
    times = []
    for _ in range(repeats):
        start, cpu = time.perf_counter(), time.thread_time()
        call()
        times.append((time.perf_counter() - start, time.thread_time() - cpu))
    wall, busy = 1e3 * np.median(times, axis=0)
    return float(wall), float(busy)


def beam(cells=(25, 4, 4), size=(0.1, 0.015, 0.015)) -> tuple[np.ndarray, np.ndarray]:
    """Surface of a box, 434 nodes."""
    cells = np.array(cells)
    points: list[np.ndarray] = []
    quads: list[np.ndarray] = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            i, j = np.meshgrid(np.arange(cells[u] + 1), np.arange(cells[v] + 1), indexing="ij")
            p = np.zeros((i.size, 3), dtype=int)
            p[:, u], p[:, v], p[:, axis] = i.ravel(), j.ravel(), side * cells[axis]
            base = sum(len(k) for k in points)
            a = (np.arange(cells[u])[:, None] * (cells[v] + 1) + np.arange(cells[v])).ravel() + base
            ring = [a, a + cells[v] + 1, a + cells[v] + 2, a + 1]
            quads.append(np.stack(ring if side else ring[::-1], axis=1))
            points.append(p)
    grid, index = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    quad = index.reshape(-1)[np.concatenate(quads)]
    return grid / cells * np.array(size), np.concatenate([quad[:, [0, 1, 2]], quad[:, [0, 2, 3]]])


def trunk(rings: int, sides: int, bumps: int = 10) -> tuple[np.ndarray, np.ndarray]:
    """A tapered trunk of 195 mm with articulations, rings x sides + 2 nodes."""
    z = np.linspace(0.0, 0.195, rings)
    r = (0.025 - 0.01 * z / 0.195) * (1.0 - 0.25 * (0.5 - 0.5 * np.cos(2 * np.pi * bumps * z / 0.195)))
    profile = np.concatenate([[[0.0, 0.0]], np.stack([z, r], axis=1), [[0.195, 0.0]]])
    return revolved(profile, np.zeros(3), np.array([0.0, 0, 1]), sides=sides)


def scenes():
    """Name, skin, analytic obstacle."""
    x, t = beam()
    yield "beam on sphere", x, t, Sphere((0.05, 0.0075, -0.0298), 0.03)
    for name, rings, sides in (("trunk, coarse", 21, 16), ("trunk, fine", 58, 18)):
        x, t = trunk(rings, sides)
        reach = x[np.abs(x[:, 2] - 0.1) < 0.02, 0].max()
        yield name, x, t, Cylinder((reach + 0.0098, -0.05, 0.1), (reach + 0.0098, 0.05, 0.1), 0.01)


def thesis() -> None:
    """Scenes of the sizes of the thesis."""
    say("", "## Scenes of the thesis' sizes", "", "| scene | method | contacts | ms | thesis: contacts / ms |",
        "|---|---|---|---|---|")  # fmt: skip
    for name, x, t, obstacle in scenes():
        model = Shell(x, t)
        _, lmd_count, lmd_ms, ldi_count, ldi_ms = THESIS[name]
        mesh = MeshObstacle(*obstacle.surface())
        rows: list[tuple[str, Any, dict[str, Any], str]] = [
            ("mesh against mesh, local minima", mesh, {"vertices": "minimum"}, f"{lmd_count} / {lmd_ms}"),
            ("mesh against mesh, every vertex", mesh, {}, ""),
            ("signed distance, every vertex", obstacle, {}, ""),
            ("volume, 2 mm pixels", obstacle, {"method": "volume", "pixel": 0.002}, f"{ldi_count} / {ldi_ms}"),
        ]
        for label, thing, options, reference in rows:
            detector = Detector(model, [thing], alarm=0.002, **options)
            count = len(detector.detect(model.rest))
            _, cpu = median_ms(lambda d=detector, m=model: d.detect(m.rest))
            say(f"| {name}, {len(x)} nodes | {label} | {count} | {cpu:.2f} | {reference} |")
    rod = np.stack([np.linspace(0.0, 0.1, 47), 0.0005 * np.ones(47), np.zeros(47)], axis=1)
    links = np.stack([np.arange(46), np.arange(1, 47)], axis=1)
    model = Shell(rod, np.zeros((0, 3), dtype=int), links, 0.001)
    fork = [([[0.05, 0, 0], [0.11, 0.02, 0]], 0.003), ([[0.05, 0, 0], [0.11, -0.02, 0]], 0.003)]
    pipe = Pipe([[0, 0, 0], [0.05, 0, 0]], 0.003, branches=fork)
    detector = Detector(model, [pipe], alarm=0.005)
    _, cpu = median_ms(lambda: detector.detect(model.rest))
    say(f"| rod of 47 nodes in a forked pipe | signed distance | {len(detector.detect(model.rest))} | {cpu:.2f} | 47 / |")


def inverse() -> None:
    """Scenes of the inverse benchmark, around the pose where their motion begins."""
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from inverse_scenes import scenes as inverse_scenes

    import pliant as pl

    say("", "## Scenes of the inverse benchmark, around one pose", "", "| scene | contacts | ms |", "|---|---|---|")
    for scene in inverse_scenes():
        if not scene.obstacles:
            continue
        model = pl.FemModel(scene.robot())
        start = pl.equilibrium(model, scene.command, obstacles=list(scene.obstacles), alarm=scene.alarm)
        alarm = scene.alarm or 0.05 * float(np.ptp(model.skin_positions(model.rest), axis=0).max())
        detector = Detector(model, scene.obstacles, alarm=alarm, sag=1e-4 * alarm)
        noise = np.random.default_rng(0).normal(size=(40, len(start.q)))
        contacts, cpu = detector.detect(start.q, start.contacts), []
        for shift in noise:
            begin = time.thread_time()
            contacts = detector.detect(start.q + 1e-6 * shift, contacts)
            cpu.append(1e3 * (time.thread_time() - begin))
        say(f"| {scene.name} | {len(contacts)} | {np.median(cpu[5:]):.2f} |")


def _finger(size: float, layers: int, ratios: tuple[float, ...]) -> tuple[Any, list[np.ndarray]]:
    """The pneumatic finger, and its poses at some volume ratios."""
    from pliant.models.geometric import GeometricModel
    from pliant.robots.pneumatic_finger import pneumatic_finger
    from pliant.solve.flex import flex

    model = GeometricModel(pneumatic_finger(size=size, layers=layers))
    poses, state = [], None
    for ratio in ratios:
        state = flex(model, model.command({"air": ratio}), start=state)
        poses.append(state.q)
    return model, poses


def moving() -> None:
    """Self-collision of the pneumatic finger of 44k tets along its motion, lists of candidates made anew included."""
    model, ends = _finger(2.9e-3, 2, (2.3, 2.4))
    say("", f"## Self-collision while moving: pneumatic finger, {len(model.skin.triangles)} skin triangles (44k tets)", "",
        "The bar is 10 ms on two cores; published about 42 ms. Volume ratio 2.3 to 2.4, alarm 0.5 mm.", "",
        "| largest motion per query [mm] | CPU ms on one thread: mean | median | worst | wall ms on two: mean | worst |",
        "|---|---|---|---|---|---|")  # fmt: skip
    way = 1e3 * float(np.abs(ends[1] - ends[0]).max())
    for far in (5.0, 0.5, 0.1, 0.02, 0.005):
        columns = []
        for threads in (1, 2):
            detector = Detector(model, [SelfContact()], alarm=5e-4)
            times = []
            with use_threads(threads):
                for k in range(60):
                    t = abs((k * far / way + 1.0) % 2.0 - 1.0)  # there and back
                    q = t * ends[0] + (1.0 - t) * ends[1]
                    begin, wall = time.process_time(), time.perf_counter()
                    detector.detect(q)
                    times.append((time.process_time() - begin, time.perf_counter() - wall)[threads - 1])
            columns.append(1e3 * np.array(times[8:]))
        one, two = columns
        say(f"| {far:g} | {one.mean():.1f} | {np.median(one):.1f} | {one.max():.1f} | {two.mean():.1f} | {two.max():.1f} |")


def sizes() -> None:
    """C3: the query against the size of the mesh, every list made anew."""
    say("", "## Self-collision against size (C3), poses too far apart to keep anything", "",
        "| tets | skin triangles | CPU ms, one thread | wall ms, two threads |", "|---|---|---|---|")  # fmt: skip
    count, times = [], []
    for size, layers in ((6e-3, 1), (4e-3, 1), (2.9e-3, 2), (2.2e-3, 2), (1.9e-3, 2)):
        model, poses = _finger(size, layers, (1.25, 1.4))
        row = []
        for threads in (1, 2):
            detector = Detector(model, [SelfContact()], alarm=5e-4)
            with use_threads(threads):
                wall, cpu = median_ms(lambda d=detector, p=poses: (d.detect(p[0]), d.detect(p[1])), 10)
            row.append(0.5 * (cpu if threads == 1 else wall))
        count.append(len(model.layout.groups[0].cells))
        times.append(row[0])
        say(f"| {count[-1]} | {len(model.skin.triangles)} | {row[0]:.1f} | {row[1]:.1f} |")
    slope = float(np.polyfit(np.log(count), np.log(times), 1)[0])
    say("", f"Slope in log-log: {slope:.2f} (C3 allows 1.3).")


def share() -> None:
    """C7: detection in the solve of the silicone finger that closes on itself."""
    from pliant.models.geometric import GeometricModel
    from pliant.robots.silicone_finger import silicone_finger
    from pliant.solve.flex import flex

    model = GeometricModel(silicone_finger(teeth=4, size=4e-3))
    command = model.command({"air": 1.5})
    spent, original, prepare = [0.0, 0.0], Detector.detect, Detector.__init__

    def timed(place: int, method: Any) -> Any:
        def call(self: Any, *args: Any, **options: Any) -> Any:
            begin = time.process_time()
            try:
                return method(self, *args, **options)
            finally:
                spent[place] += time.process_time() - begin

        return call

    say("", f"## Share of detection in a solve (C7): silicone finger, {len(model.skin.triangles)} skin triangles", "",
        "| solve | CPU ms | queries, ms | preparation, ms | share of the queries |", "|---|---|---|---|---|")  # fmt: skip
    Detector.detect, Detector.__init__ = timed(0, original), timed(1, prepare)  # type: ignore[method-assign]
    try:
        with use_threads(1):
            for label in ("compiling", "first", "second", "third"):
                spent[:] = [0.0, 0.0]
                begin = time.process_time()
                flex(model, command, obstacles=[SelfContact()], alarm=1e-3)
                total = time.process_time() - begin
                if label != "compiling":
                    say(f"| {label} | {1e3 * total:.0f} | {1e3 * spent[0]:.1f} | {1e3 * spent[1]:.1f} | "
                        f"{100 * spent[0] / total:.0f} % |")  # fmt: skip
    finally:
        Detector.detect, Detector.__init__ = original, prepare  # type: ignore[method-assign]


PARTS = {"thesis": thesis, "inverse": inverse, "moving": moving, "sizes": sizes, "share": share}


def main() -> None:
    """Print the tables, and write the page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write docs/benchmarks/detection.md")
    parser.add_argument("--only", nargs="+", choices=PARTS, default=list(PARTS))
    chosen = parser.parse_args()
    begin = time.process_time()
    say("# Contact detection", "", "Written by `python benchmarks/detection.py --write`. Time of one query [ms]; one thread "
        "where not said otherwise.", "The thesis' figures are from another machine (2018).")  # fmt: skip
    for name in chosen.only:
        PARTS[name]()
    say("", f"({time.process_time() - begin:.0f} CPU s for all of it.)")
    if chosen.write:
        PAGE.write_text("\n".join(SAID) + "\n")


if __name__ == "__main__":
    main()
