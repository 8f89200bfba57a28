"""Contact detection: counts and times beside those of the thesis, and self-collision of a big mesh.

Scenes of the size of spec inverse-fem 9.2 (geometry not published; sizes matched): a soft beam on a
sphere, and a trunk with a coarse and a fine surface on a cylinder, each with mesh against mesh, with
the analytic obstacle, and with volume contact at two pixel sizes. Run with OMP_NUM_THREADS=1.

    python benchmarks/detection.py
"""

from __future__ import annotations

import time

import numpy as np
from scipy import sparse

from pliant.contact import Cylinder, Detector, MeshObstacle, Pipe, SelfContact, Sphere
from pliant.contact.primitives import revolved
from pliant.state import Skin

THESIS = {  # contacts and milliseconds: local minimum distance, then layered images
    "beam on sphere": (434, 15, 1.25, 4, 1.76),
    "trunk, coarse": (338, 7, 5.80, 4, 2.56),
    "trunk, fine": (1046, 5, 38.93, 4, 2.93),
}


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
    points, quads = [], []
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


def bellows(sides: int = 120, rings: int = 61) -> tuple[np.ndarray, np.ndarray]:
    """A corrugated tube with about as many triangles as the surface of 40,000 tets has."""
    z = np.linspace(0.0, 0.1, rings)
    r = 0.02 + 0.006 * np.sin(2 * np.pi * z / 0.012)
    profile = np.concatenate([[[0.0, 0.0]], np.stack([z, r], axis=1), [[0.1, 0.0]]])
    return revolved(profile, np.zeros(3), np.array([0.0, 0, 1]), sides=sides)


def scenes():
    """Name, skin, analytic obstacle."""
    x, t = beam()
    yield "beam on sphere", x, t, Sphere((0.05, 0.0075, -0.0298), 0.03)
    for name, rings, sides in (("trunk, coarse", 21, 16), ("trunk, fine", 58, 18)):
        x, t = trunk(rings, sides)
        reach = x[np.abs(x[:, 2] - 0.1) < 0.02, 0].max()
        yield name, x, t, Cylinder((reach + 0.0098, -0.05, 0.1), (reach + 0.0098, 0.05, 0.1), 0.01)


def main() -> dict[str, float]:
    """Print the tables; return the headline numbers [ms]."""
    headline = {}
    alarm = 0.002
    print(f"{'scene':16} {'nodes':>5}  {'method':26} {'contacts':>8} {'wall ms':>8} {'cpu ms':>8}   thesis")
    for name, x, t, obstacle in scenes():
        model = Shell(x, t)
        _, lmd_count, lmd_ms, ldi_count, ldi_ms = THESIS[name]
        layers = {"method": "volume", "pixel": 0.002}
        mesh = MeshObstacle(*obstacle.surface())
        rows = [
            ("mesh-mesh, local minima", mesh, {"vertices": "minimum"}, f"{lmd_count} / {lmd_ms} ms"),
            ("mesh-mesh, every vertex", mesh, {}, ""),
            ("analytic, local minima", obstacle, {"vertices": "minimum"}, ""),
            ("analytic, every vertex", obstacle, {}, ""),
            ("volume, 2 mm pixels", obstacle, layers, f"{ldi_count} / {ldi_ms} ms"),
            ("volume, 0.5 mm pixels", obstacle, {**layers, "pixel": 0.0005}, "31 / 4.84 ms (trunk)"),
        ]
        for label, thing, options, reference in rows:
            detector = Detector(model, [thing], alarm=alarm, **options)
            count = len(detector.detect(model.rest))
            ms, cpu = median_ms(lambda d=detector, m=model: d.detect(m.rest))
            headline[f"{name}: {label}"] = ms
            print(f"{name:16} {len(x):5d}  {label:26} {count:8d} {ms:8.3f} {cpu:8.3f}   {reference}")
    rod = np.stack([np.linspace(0.0, 0.1, 47), 0.0005 * np.ones(47), np.zeros(47)], axis=1)
    links = np.stack([np.arange(46), np.arange(1, 47)], axis=1)
    model = Shell(rod, np.zeros((0, 3), dtype=int), links, 0.001)
    fork = [([[0.05, 0, 0], [0.11, 0.02, 0]], 0.003), ([[0.05, 0, 0], [0.11, -0.02, 0]], 0.003)]
    pipe = Pipe([[0, 0, 0], [0.05, 0, 0]], 0.003, branches=fork)
    detector = Detector(model, [pipe], alarm=0.005)
    ms, cpu = median_ms(lambda: detector.detect(model.rest))
    headline["catheter in a forked pipe"] = ms
    count = len(detector.detect(model.rest))
    print(f"catheter in a forked pipe: {count} contacts (thesis: 47), {ms:.3f} ms wall, {cpu:.3f} ms cpu")
    x, t = bellows()
    model = Shell(x, t)
    edge = float(np.linalg.norm(x[t[:, 0]] - x[t[:, 1]], axis=1).mean())
    print(f"\nself-collision, {len(t)} triangles ({len(x)} nodes; thesis: 42 ms for 40k tets, bar 10 ms)")
    for squeeze, alarm in ((1.0, 0.25 * edge), (1.0, 0.5 * edge), (1.0, edge), (0.5, 0.5 * edge)):
        detector = Detector(model, [SelfContact()], alarm=alarm)
        q = (x * [1.0, 1.0, squeeze]).ravel()
        count = len(detector.detect(q))
        ms, cpu = median_ms(lambda d=detector, p=q: d.detect(p))
        headline[f"self, squeeze {squeeze}, alarm {alarm / edge:.2f} edges"] = ms
        print(
            f"  squeezed to {squeeze:.1f}, alarm {1e3 * alarm:.2f} mm: {count:5d} contacts, "
            f"{ms:7.2f} ms wall, {cpu:7.2f} ms cpu"
        )
    headline |= moving()
    return headline


def moving() -> dict[str, float]:
    """Self-collision of the pneumatic finger of 44k tets along its motion, lists of candidates made anew included."""
    from pliant.models.geometric import GeometricModel
    from pliant.robots.pneumatic_finger import pneumatic_finger
    from pliant.solve.flex import flex

    model = GeometricModel(pneumatic_finger(size=2.9e-3, layers=2))
    ends = [flex(model, model.command({"air": ratio})).q for ratio in (2.3, 2.4)]
    detector = Detector(model, [SelfContact()], alarm=5e-4)
    detector.detect(ends[0])
    headline = {}
    print(f"\npneumatic finger, {len(model.skin.triangles)} skin triangles, volume ratio 2.3 to 2.4, alarm 0.5 mm")
    way = 1e3 * float(np.abs(ends[1] - ends[0]).max())
    for far in (0.5, 0.1, 0.02, 0.005):  # mm per query
        cpu = []
        for k in range(min(60, int(way / far))):
            t = k * far / way
            q = (1.0 - t) * ends[0] + t * ends[1]
            start = time.thread_time()
            detector.detect(q)
            cpu.append(1e3 * (time.thread_time() - start))
        mean, median, worst = np.mean(cpu[5:]), np.median(cpu[5:]), np.max(cpu[5:])
        headline[f"finger, {far} mm per query"] = float(mean)
        print(f"  {far:5.2f} mm per query: mean {mean:6.2f}, median {median:6.2f}, worst {worst:6.2f} ms cpu")
    return headline


if __name__ == "__main__":
    main()
