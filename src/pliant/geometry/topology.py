"""Connectivity of tetrahedral and hexahedral meshes: faces, edges, boundary, components, closed surfaces.

Plain functions on index arrays; `TetMesh` caches their results. Triangles are oriented outward: the
normal (b - a) x (c - a) leaves the body.
"""

from __future__ import annotations

import numpy as np

# Faces of a positively oriented tet (a, b, c, d), det[b-a, c-a, d-a] > 0, seen from outside.
TET_FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])
TET_EDGES = np.array([[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]])
# Faces and edges of a VTK hexahedron, faces outward.
HEX_FACES = np.array([[0, 3, 2, 1], [4, 5, 6, 7], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]])
HEX_EDGES = np.array([[0, 1], [1, 2], [2, 3], [3, 0], [4, 5], [5, 6], [6, 7], [7, 4], [0, 4], [1, 5], [2, 6], [3, 7]])
# The split of a cell whose corners are numbered 4a + 2b + c (offsets a, b, c along x, y, z).
CELL_TETS = np.array([[0, 4, 6, 7], [0, 6, 2, 7], [0, 2, 3, 7], [0, 3, 1, 7], [0, 1, 5, 7], [0, 5, 4, 7]])
CELL_TO_VTK = np.array([0, 4, 6, 2, 1, 5, 7, 3])


def face_keys(faces: np.ndarray, count: int) -> np.ndarray:
    """One integer per face (k, 3) that does not depend on the order of its nodes (k,)."""
    s = np.sort(faces, axis=1).astype(np.int64)
    if count <= 2_000_000:  # three indices fit into one int64
        return (s[:, 0] * count + s[:, 1]) * count + s[:, 2]
    return np.unique(s, axis=0, return_inverse=True)[1].reshape(-1)


def edge_keys(edges: np.ndarray, count: int) -> np.ndarray:
    """One integer per undirected edge (k, 2)."""
    low, high = np.minimum(edges[:, 0], edges[:, 1]), np.maximum(edges[:, 0], edges[:, 1])
    return low.astype(np.int64) * count + high


def unique_edges(tets: np.ndarray, hexes: np.ndarray, count: int) -> np.ndarray:
    """Unique undirected edges (e, 2), low node first, sorted."""
    pairs = np.concatenate([tets[:, TET_EDGES].reshape(-1, 2), hexes[:, HEX_EDGES].reshape(-1, 2)])
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]  # of collapsed hexahedra
    keys = np.unique(edge_keys(pairs, max(count, 1)))
    return np.stack([keys // max(count, 1), keys % max(count, 1)], axis=1)


def tet_faces(tets: np.ndarray) -> np.ndarray:
    """All outward faces of all tets (4 m, 3); face f of tet e is row 4 e + f."""
    return tets[:, TET_FACES].reshape(-1, 3)


def _hex_triangles(hexes: np.ndarray) -> np.ndarray:
    """Outward triangles of all hexahedron faces; the diagonal starts at the lowest node of a face."""
    quads = hexes[:, HEX_FACES].reshape(-1, 4)
    start = np.argmin(quads, axis=1)
    quads = np.take_along_axis(quads, (start[:, None] + np.arange(4)) % 4, axis=1)
    triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    a, b, c = triangles.T
    return triangles[(a != b) & (b != c) & (c != a)]


def collapsed(hexes: np.ndarray) -> np.ndarray:
    """Which hexahedra are prisms: nodes 2 and 3, 6 and 7 the same (h,) bool."""
    return (hexes[:, 2] == hexes[:, 3]) & (hexes[:, 6] == hexes[:, 7])


def boundary_faces(tets: np.ndarray, hexes: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Faces that belong to one cell only.

    Returns:
        (triangles (k, 3) oriented outward, owner tet of each (k,), -1 for the face of a hexahedron).
    """
    faces = np.concatenate([tet_faces(tets), _hex_triangles(hexes)])
    owner = np.concatenate(
        [np.repeat(np.arange(len(tets)), 4), np.full(len(faces) - 4 * len(tets), -1, dtype=np.int64)]
    )
    keys = face_keys(faces, max(count, 1))
    order = np.argsort(keys, kind="stable")
    changes = np.diff(keys[order]) != 0
    before, after = np.ones(len(keys), dtype=bool), np.ones(len(keys), dtype=bool)
    before[1:], after[:-1] = changes, changes
    alone = np.sort(order[before & after])
    return np.ascontiguousarray(faces[alone]), owner[alone]


def nonmanifold_faces(tets: np.ndarray, count: int) -> np.ndarray:
    """Faces shared by more than two tets, as (k, 3) sorted node triples."""
    faces = np.sort(tet_faces(tets), axis=1)
    keys = face_keys(faces, max(count, 1))
    _, first, occurrences = np.unique(keys, return_index=True, return_counts=True)
    return faces[first[occurrences > 2]]


def graph_components(rows: np.ndarray, columns: np.ndarray, size: int) -> np.ndarray:
    """Label of the connected part of each of `size` vertices, given edges rows[i] - columns[i]."""
    from scipy.sparse import coo_matrix  # imported on use: keeps `import pliant` fast
    from scipy.sparse.csgraph import connected_components

    graph = coo_matrix((np.ones(len(rows), dtype=np.int8), (rows, columns)), shape=(size, size))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def node_components(tets: np.ndarray, hexes: np.ndarray, count: int) -> np.ndarray:
    """Label of the connected part of every node (n,), parts numbered by their lowest node."""
    edges = unique_edges(tets, hexes, count)
    return graph_components(edges[:, 0], edges[:, 1], count)


def triangle_components(triangles: np.ndarray) -> np.ndarray:
    """Label of the edge-connected part of every triangle (k,)."""
    k = len(triangles)
    if k == 0:
        return np.zeros(0, dtype=np.int64)
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    keys = np.unique(edge_keys(edges, int(triangles.max()) + 1), return_inverse=True)[1].reshape(-1)
    labels = graph_components(np.repeat(np.arange(k), 3), keys + k, k + len(keys))[:k]
    return np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)


def open_edges(triangles: np.ndarray) -> np.ndarray:
    """Directed edges (k, 2) without exactly one opposite partner; none when the surface is closed."""
    if len(triangles) == 0:
        return np.zeros((0, 2), dtype=np.int64)
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2).astype(np.int64)
    count = int(triangles.max()) + 1
    forward, backward = edges[:, 0] * count + edges[:, 1], edges[:, 1] * count + edges[:, 0]
    values, occurrences = np.unique(forward, return_counts=True)
    at = np.minimum(np.searchsorted(values, backward), len(values) - 1)
    partners = np.where(values[at] == backward, occurrences[at], 0)
    mine = occurrences[np.searchsorted(values, forward)]
    return edges[(partners != 1) | (mine != 1)]


def pinched_nodes(triangles: np.ndarray) -> np.ndarray:
    """Nodes of a surface whose triangles form more than one fan (two sheets touch in a point)."""
    if len(triangles) == 0:
        return np.zeros(0, dtype=np.int64)
    # Corners of neighbouring triangles at the same node are linked through their common edge.
    k = len(triangles)
    corner = np.arange(3 * k).reshape(k, 3)
    count = int(triangles.max()) + 1
    rows, keys = [], []
    for i, j in ((0, 1), (1, 2), (2, 0)):
        key = edge_keys(triangles[:, [i, j]], count)
        for end in (i, j):
            rows.append(corner[:, end])
            keys.append(key * 2 + (triangles[:, end] > triangles[:, j if end == i else i]))
    row = np.concatenate(rows)
    key = np.unique(np.concatenate(keys), return_inverse=True)[1].reshape(-1)
    label = graph_components(row, key + 3 * k, 3 * k + int(key.max()) + 1)[: 3 * k]
    fans = np.unique(np.stack([triangles.reshape(-1), label], axis=1), axis=0)
    nodes, occurrences = np.unique(fans[:, 0], return_counts=True)
    return nodes[occurrences > 1]


def enclosed_volume(nodes: np.ndarray, triangles: np.ndarray) -> float:
    """1/6 sum x_a . (x_b x x_c) [m^3], relative to the mean node to keep digits."""
    if len(triangles) == 0:
        return 0.0
    x = nodes[triangles] - nodes[triangles].mean(axis=(0, 1))
    return float(np.einsum("ki,ki->", x[:, 0], np.cross(x[:, 1], x[:, 2])) / 6.0)


def internal_surfaces(nodes: np.ndarray, boundary: np.ndarray) -> list[np.ndarray]:
    """Closed boundary parts that enclose a hole, turned so that their volume is positive.

    Ordered by volume (largest first), equal volumes by centre (x, then y, then z).
    """
    found = []
    labels = triangle_components(boundary)
    extent = float(np.ptp(nodes[boundary.reshape(-1)], axis=0).max()) if len(boundary) else 0.0
    for label in range(int(labels.max()) + 1 if len(labels) else 0):
        part = boundary[labels == label]
        volume = enclosed_volume(nodes, part)
        if volume < 0.0 and len(open_edges(part)) == 0:
            centre = nodes[part].mean(axis=(0, 1))
            key = (-round(-volume / extent**3, 9), *np.round(centre / extent, 6))
            found.append((key, np.ascontiguousarray(part[:, [0, 2, 1]])))
    found.sort(key=lambda item: item[0])
    return [triangles for _, triangles in found]


def euler_characteristic(triangles: np.ndarray) -> int:
    """Vertices - edges + faces of a triangle surface; twice that of the solid it bounds."""
    edges = triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    count = int(triangles.max()) + 1 if len(triangles) else 1
    return len(np.unique(triangles)) - len(np.unique(edge_keys(edges, count))) + len(triangles)


def split_prisms(top: np.ndarray, bottom: np.ndarray, diagonals: np.ndarray) -> np.ndarray:
    """Three tets (3 k, 4) for each triangular prism with vertical edges top[i] - bottom[i].

    Args:
        top: (k, 3) nodes.
        bottom: (k, 3) nodes.
        diagonals: (k, 3) booleans; entry i is True when the diagonal of the side (i, i+1) is
            top[i] - bottom[i+1], False when it is top[i+1] - bottom[i]. Not all three equal.
    """
    # Exactly one corner i has both diagonals: side (i-1, i) False and side (i, i+1) True.
    first = np.argmax(diagonals & ~np.roll(diagonals, 1, axis=1), axis=1)
    turn = (first[:, None] + np.arange(3)) % 3
    u, v = np.take_along_axis(top, turn, axis=1), np.take_along_axis(bottom, turn, axis=1)
    middle = np.take_along_axis(diagonals, turn, axis=1)[:, 1]
    u0, u1, u2 = u.T
    v0, v1, v2 = v.T
    one = np.stack([u0, v0, v1, v2], axis=1)
    two = np.where(middle[:, None], np.stack([u0, u1, v1, v2], 1), np.stack([u0, u1, v1, u2], 1))
    three = np.where(middle[:, None], np.stack([u0, u1, v2, u2], 1), np.stack([u0, u2, v1, v2], 1))
    return np.concatenate([one, two, three])


def tet_volumes(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """Signed volumes (m,) [m^3], positive when det[b-a, c-a, d-a] > 0."""
    x = nodes[tets]
    return np.einsum("ki,ki->k", np.cross(x[:, 1] - x[:, 0], x[:, 2] - x[:, 0]), x[:, 3] - x[:, 0]) / 6.0


def oriented(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """The tets with the last two nodes swapped where the volume was negative."""
    tets = np.array(tets, dtype=np.int64)
    flip = tet_volumes(nodes, tets) < 0.0
    tets[flip] = tets[flip][:, [0, 1, 3, 2]]
    return tets
