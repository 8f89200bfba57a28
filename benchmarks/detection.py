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

from pliant.contact import Cylinder, Detector, MeshObstacle, SelfContact, Sphere
from pliant.contact.primitives import revolved
from pliant.state import Skin

THESIS = {  # contacts and milliseconds: local minimum distance, then layered images
    "beam on sphere": (434, 15, 1.25, 4, 1.76),
    "trunk, coarse": (338, 7, 5.80, 4, 2.56),
    "trunk, fine": (1046, 5, 38.93, 4, 2.93),
}


class Shell:
    """A model that is only a skin: q are the positions."""

    def __init__(self, x: np.ndarray, triangles: np.ndarray) -> None:
        n = len(x)
        nothing = np.zeros((0, 2), dtype=int)
        self.skin = Skin(triangles, nothing, np.zeros(n), np.zeros(n, dtype=int))
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


def median_ms(call, repeats: int = 30) -> float:
    """Median wall-clock time [ms], after two calls to warm up (on a busy machine this is pessimistic)."""
    call()
    call()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return 1e3 * float(np.median(times))


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
    print(f"{'scene':16} {'nodes':>5}  {'method':34} {'contacts':>8} {'ms':>8}   thesis")
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
            ms = median_ms(lambda d=detector, m=model: d.detect(m.rest))
            headline[f"{name}: {label}"] = ms
            print(f"{name:16} {len(x):5d}  {label:34} {count:8d} {ms:8.3f}   {reference}")
    x, t = bellows()
    model = Shell(x, t)
    edge = float(np.linalg.norm(x[t[:, 0]] - x[t[:, 1]], axis=1).mean())
    print(f"\nself-collision, {len(t)} triangles ({len(x)} nodes; thesis: 42 ms for 40k tets, bar 10 ms)")
    for squeeze, alarm in ((1.0, 0.25 * edge), (1.0, 0.5 * edge), (1.0, edge), (0.5, 0.5 * edge)):
        detector = Detector(model, [SelfContact()], alarm=alarm)
        q = (x * [1.0, 1.0, squeeze]).ravel()
        count = len(detector.detect(q))
        ms = median_ms(lambda d=detector, p=q: d.detect(p))
        headline[f"self, squeeze {squeeze}, alarm {alarm / edge:.2f} edges"] = ms
        print(f"  squeezed to {squeeze:.1f}, alarm {1e3 * alarm:.2f} mm: {count:5d} contacts, {ms:7.2f} ms")
    return headline


if __name__ == "__main__":
    main()
