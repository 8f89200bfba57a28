"""A model that is nothing but skin, and meshes to put on it."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from pliant.state import Skin


class SkinModel:
    """Configuration = positions of the skin's vertices."""

    def __init__(self, x, triangles=(), segments=(), radius=0.0, body=0):
        self.x = np.array(x, dtype=float)
        n = len(self.x)
        self.skin = Skin(
            np.array(triangles, dtype=int).reshape(-1, 3),
            np.array(segments, dtype=int).reshape(-1, 2),
            np.full(n, radius, dtype=float),
            np.broadcast_to(np.asarray(body), (n,)).copy(),
        )
        self.nv = 3 * n

    @property
    def rest(self):
        return self.x.ravel()

    def skin_positions(self, q):
        return np.asarray(q, dtype=float).reshape(-1, 3)

    def skin_rows(self, q, vertices, weights, directions):
        m, k = vertices.shape
        values = (weights[:, :, None] * directions[:, None, :]).reshape(-1)
        columns = (3 * vertices[:, :, None] + np.arange(3)).reshape(-1)
        rows = np.repeat(np.arange(m), 3 * k)
        return sparse.csr_array((values, (rows, columns)), shape=(m, self.nv))


def box_mesh(low, high, cells):
    """Closed surface of a box with a regular grid on each side."""
    low, high, cells = np.asarray(low, float), np.asarray(high, float), np.asarray(cells)
    points, triangles = [], []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        for side in (0, 1):
            i, j = np.meshgrid(np.arange(cells[u] + 1), np.arange(cells[v] + 1), indexing="ij")
            p = np.zeros((i.size, 3), dtype=int)
            p[:, u], p[:, v], p[:, axis] = i.ravel(), j.ravel(), side * cells[axis]
            base = sum(len(q) for q in points)
            a = (np.arange(cells[u])[:, None] * (cells[v] + 1) + np.arange(cells[v])).ravel() + base
            b, c, d = a + cells[v] + 1, a + cells[v] + 2, a + 1
            quads = np.stack([a, b, c, d] if side else [a, d, c, b], axis=1)
            points.append(p)
            triangles += [quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]
    grid, index = np.unique(np.concatenate(points), axis=0, return_inverse=True)
    return low + grid / cells * (high - low), index.reshape(-1)[np.concatenate(triangles)]


def ball_mesh(radius=1.0, level=2, centre=(0, 0, 0)):
    """Subdivided octahedron projected on a sphere."""
    x = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
    t = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])
    for _ in range(level):
        e = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
        unique, index = np.unique(e, axis=0, return_inverse=True)
        ab, bc, ca = index.reshape(3, -1) + len(x)
        x = np.concatenate([x, x[unique].mean(axis=1)])
        a, b, c = t.T
        parts = ((a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca))
        t = np.concatenate([np.stack(k, axis=1) for k in parts])
    return radius * x / np.linalg.norm(x, axis=1)[:, None] + np.asarray(centre, float), t


def together(*meshes):
    """Positions, triangles and body indices of several meshes."""
    x, t, body, count = [], [], [], 0
    for k, (v, f) in enumerate(meshes):
        x.append(v)
        t.append(f + count)
        body.append(np.full(len(v), k))
        count += len(v)
    return np.concatenate(x), np.concatenate(t), np.concatenate(body)


@pytest.fixture
def make():
    """Constructors: make.model, make.box, make.ball, make.together."""
    return SimpleNamespace(model=SkinModel, box=box_mesh, ball=ball_mesh, together=together)
