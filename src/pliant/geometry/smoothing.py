"""Better tets after stuffing: vertices slide to sharp features, then move to raise the worst quality."""

from __future__ import annotations

import numpy as np

from pliant.geometry import topology
from pliant.geometry.quality import volume_length_quality
from pliant.geometry.shapes import Shape

SHARP = np.cos(np.radians(35.0))  # normals that differ by more meet in a feature
FLOOR = 0.2  # volume-length quality that snapping to a feature must leave


def incidence(tets: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Offsets (n + 1,) and tets around each node."""
    order = np.argsort(tets.reshape(-1), kind="stable")
    start = np.concatenate([[0], np.cumsum(np.bincount(tets.reshape(-1), minlength=count))])
    return start, order // 4


def _mean_of_neighbours(edges: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    from scipy.sparse import coo_matrix

    n = len(nodes)
    both = np.concatenate([edges, edges[:, ::-1]])
    graph = coo_matrix((np.ones(len(both)), (both[:, 0], both[:, 1])), shape=(n, n)).tocsr()
    degree = np.maximum(np.asarray(graph.sum(axis=1)).reshape(-1), 1.0)
    return (graph @ nodes) / degree[:, None]


def feature_targets(
    shape: Shape, nodes: np.ndarray, triangles: np.ndarray, size: float
) -> tuple[np.ndarray, np.ndarray]:
    """Where surface vertices near sharp edges and corners should go.

    Around each vertex, tangent planes of the true surface are sampled; where they disagree, the point that
    fits them all in the least-squares sense lies on the edge or corner.

    Returns:
        (vertices (k,), targets (k, 3)).
    """
    weights = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4]]) / 6.0
    samples = np.einsum("sj,kji->ksi", weights, nodes[triangles]).reshape(-1, 3)
    foot = shape.project(samples, iterations=8, tolerance=1e-9)
    normal = shape.evaluate(foot)[1]
    normal /= np.maximum(np.linalg.norm(normal, axis=1, keepdims=True), 1e-12)
    # Every vertex of a triangle takes all three samples of that triangle.
    vertex = np.repeat(triangles, 3, axis=0).reshape(-1)
    sample = np.repeat(np.arange(len(samples)), 3)
    n = len(nodes)
    matrix, right, count = np.zeros((n, 3, 3)), np.zeros((n, 3)), np.zeros(n)
    arm = np.einsum("ki,ki->k", normal[sample], foot[sample] - nodes[vertex])
    np.add.at(matrix, vertex, normal[sample][:, :, None] * normal[sample][:, None, :])
    np.add.at(right, vertex, arm[:, None] * normal[sample])
    np.add.at(count, vertex, 1.0)
    # The mean of outer products has second eigenvalue near sin^2(angle / 2) where two normals meet.
    surface = np.unique(triangles)
    values, vectors = np.linalg.eigh(matrix[surface] / count[surface, None, None])
    spread = 0.25 * (1.0 - SHARP)
    keep = values > spread
    sharp = keep[:, 1]
    surface, values, vectors, keep = surface[sharp], values[sharp], vectors[sharp], keep[sharp]
    local = np.einsum("kij,ki->kj", vectors, right[surface] / count[surface, None])
    move = np.einsum("kij,kj->ki", vectors, np.where(keep, local / np.where(keep, values, 1.0), 0.0))
    target = nodes[surface] + move
    good = (np.linalg.norm(move, axis=1) < 0.8 * size) & (np.abs(shape.evaluate(target)[0]) < 0.03 * size)
    return surface[good], target[good]


def improve(
    shape: Shape, nodes: np.ndarray, tets: np.ndarray, size: float, *, features: bool, rounds: int
) -> np.ndarray:
    """New positions (n, 3): features snapped, worst qualities raised; connectivity and surface are kept.

    Args:
        shape: the body; surface vertices stay on it.
        nodes: (n, 3) [m].
        tets: (m, 4).
        size: lattice edge [m].
        features: snap vertices to sharp edges and corners.
        rounds: smoothing sweeps.
    """
    from pliant._kernels import stuffing as kernel  # imported on use: numba is slow to load

    nodes = nodes.copy()
    n = len(nodes)
    triangles = topology.boundary_faces(tets, np.zeros((0, 8), dtype=np.int64), n)[0]
    start, incident = incidence(tets, n)
    surface = np.unique(triangles)
    on_surface = np.zeros(n, dtype=bool)
    on_surface[surface] = True
    pinned = np.zeros(n, dtype=bool)
    edges = topology.unique_edges(tets, np.zeros((0, 8), dtype=np.int64), n)
    rim = np.unique(np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1), axis=0)

    for _ in range(3 if features else 0):
        vertices, goals = feature_targets(shape, nodes, triangles, size)
        goal = nodes.copy()
        goal[vertices] = goals
        length = np.linalg.norm(goals - nodes[vertices], axis=1)
        order = vertices[np.lexsort((vertices, np.round(length / size, 6)))]
        moved = kernel.move_vertices(nodes, tets, start, incident, order, goal, FLOOR, False)
        pinned[order[moved[order]]] = True

    for sweep in range(rounds):
        goal = _mean_of_neighbours(edges, nodes)
        slide = _mean_of_neighbours(rim, nodes)
        free = surface[~pinned[surface]]
        goal[free] = shape.project(slide[free], iterations=8, tolerance=1e-10)
        stay = np.linalg.norm(goal[free] - slide[free], axis=1) > 0.25 * size
        goal[free[stay]] = nodes[free[stay]]
        order = np.flatnonzero(~pinned)
        kernel.move_vertices(nodes, tets, start, incident, order, goal, 0.0, True)
        worst = np.full(n, np.inf)
        np.minimum.at(worst, tets.reshape(-1), np.repeat(volume_length_quality(nodes, tets), 4))
        poor = np.flatnonzero((worst < 0.45) & ~on_surface)
        kernel.interior_ascent(nodes, tets, start, incident, poor, np.full(n, 0.1 * size / (sweep + 1)))
    return nodes
