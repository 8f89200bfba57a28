"""From the skin of a model to triangles that look right: sharp edges kept sharp, curves drawn as tubes.

The topology is fixed once, at rest; per frame only positions are computed. A `BodySurface` draws the
triangles of a skin as they are and sweeps its segments into tubes of the skin's radius.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.state import Skin

Array = np.ndarray
SIDES = 14
CREASE = np.cos(np.radians(40.0))


def vertex_normals(vertices: Array, triangles: Array) -> Array:
    """Area-weighted unit normals at the vertices (n, 3)."""
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    normals = np.zeros_like(vertices)
    for k in range(3):
        for axis in range(3):
            normals[:, axis] += np.bincount(triangles[:, k], weights=face[:, axis], minlength=len(vertices))
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    return normals / np.where(length > 0, length, 1.0)


def split_creases(vertices: Array, triangles: Array) -> tuple[Array, Array]:
    """Split vertices where faces meet at a sharp edge, so that smooth shading keeps the edge.

    Returns the original vertex of every new vertex (m,) and the new triangles (nt, 3). Corners of a
    vertex whose faces are connected through edges flatter than 40 degrees stay one vertex.
    """
    if len(triangles) == 0:
        return np.zeros(0, np.int64), np.zeros((0, 3), np.int64)
    a, b, c = (vertices[triangles[:, k]] for k in range(3))
    face = np.cross(b - a, c - a)
    face /= np.maximum(np.linalg.norm(face, axis=1, keepdims=True), 1e-300)
    # Union-find over the 3 nt corners: two corners at the same vertex join across a flat edge.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nt = len(triangles)
    corner = np.arange(3 * nt).reshape(nt, 3)
    start = triangles.ravel()
    end = triangles[:, [1, 2, 0]].ravel()
    low, high = np.minimum(start, end), np.maximum(start, end)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    first, second = order[:-1][same], order[1:][same]
    flat = np.einsum("ij,ij->i", face[first // 3], face[second // 3]) > CREASE
    first, second = first[flat], second[flat]
    ends = []
    for edge in (first, second):
        here, there = corner.ravel()[edge], corner[:, [1, 2, 0]].ravel()[edge]
        ends.append((here, there))
    (a0, a1), (b0, b1) = ends
    opposite = start[first] != start[second]  # consistently oriented neighbours run the edge backwards
    links_from = np.concatenate([a0, a1])
    links_to = np.concatenate([np.where(opposite, b1, b0), np.where(opposite, b0, b1)])
    graph = coo_array((np.ones(len(links_from)), (links_from, links_to)), shape=(3 * nt, 3 * nt))
    count, label = connected_components(graph, directed=False)
    source = np.zeros(count, np.int64)
    source[label] = start
    return source, label.reshape(nt, 3).astype(np.int64)


def chains(segments: Array) -> list[list[int]]:
    """Polylines (lists of vertices) that cover all segments, each segment once."""
    neighbours: dict[int, list[int]] = {}
    for i, j in segments.tolist():
        neighbours.setdefault(i, []).append(j)
        neighbours.setdefault(j, []).append(i)
    left = {(min(i, j), max(i, j)) for i, j in segments.tolist()}
    out = []
    starts = sorted(neighbours, key=lambda v: (len(neighbours[v]) == 2, v))
    for start in starts:
        for then in neighbours[start]:
            if (min(start, then), max(start, then)) not in left:
                continue
            path, here, nxt = [start], start, then
            while True:
                left.discard((min(here, nxt), max(here, nxt)))
                path.append(nxt)
                onward = [v for v in neighbours[nxt] if (min(nxt, v), max(nxt, v)) in left]
                if len(neighbours[nxt]) != 2 or not onward:
                    break
                here, nxt = nxt, onward[0]
            out.append(path)
    return out


def tube_frames(points: Array) -> tuple[Array, Array]:
    """Two unit normals (n, 3) along a polyline, carried without twist from one point to the next."""
    n = len(points)
    tangent = np.gradient(points, axis=0) if n > 2 else np.repeat(points[-1:] - points[:1], n, axis=0)
    tangent = tangent / np.maximum(np.linalg.norm(tangent, axis=1, keepdims=True), 1e-300)
    first = np.zeros((n, 3))
    axis = np.eye(3)[np.argmin(np.abs(tangent[0]))]
    normal = axis - tangent[0] * (axis @ tangent[0])
    for i in range(n):
        normal = normal - tangent[i] * (normal @ tangent[i])
        length = np.linalg.norm(normal)
        if length < 1e-9:  # the curve turned by 90 degrees at once: start the frame afresh
            axis = np.eye(3)[np.argmin(np.abs(tangent[i]))]
            normal = axis - tangent[i] * (axis @ tangent[i])
            length = np.linalg.norm(normal)
        normal = normal / length
        first[i] = normal
    return first, np.cross(tangent, first)


def tube(points: Array, radius: Array, *, sides: int = SIDES) -> tuple[Array, Array]:
    """A closed tube around a polyline: vertices ((n * sides) + 2 * (sides + 1), 3) and outward triangles."""
    n = len(points)
    u, v = tube_frames(points)
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    ring = np.cos(angle)[None, :, None] * u[:, None] + np.sin(angle)[None, :, None] * v[:, None]
    wall = (points[:, None] + np.asarray(radius)[:, None, None] * ring).reshape(-1, 3)
    # End caps have their own vertices so that the rim stays sharp.
    vertices = np.concatenate([wall, wall[:sides], points[:1], wall[-sides:], points[-1:]])
    return vertices, tube_triangles(n, sides)


def tube_triangles(n: int, sides: int = SIDES) -> Array:
    """Triangles of `tube` for n points along the curve."""
    i = np.arange(n - 1)[:, None] * sides
    k, k1 = np.arange(sides)[None, :], (np.arange(sides)[None, :] + 1) % sides
    a, b, c, d = i + k, i + k1, i + sides + k, i + sides + k1
    wall = np.concatenate([np.stack([a, b, d], -1).reshape(-1, 3), np.stack([a, d, c], -1).reshape(-1, 3)])
    base, top = n * sides, n * sides + sides + 1
    j, j1 = np.arange(sides), (np.arange(sides) + 1) % sides
    cap0 = np.stack([np.full(sides, base + sides), base + j1, base + j], -1)
    cap1 = np.stack([np.full(sides, top + sides), top + j, top + j1], -1)
    return np.concatenate([wall, cap0, cap1]).astype(np.int64)


def skin_strain(skin: Skin, rest: Array, now: Array) -> Array:
    """Largest principal strain of the skin in magnitude, |stretch - 1| [-], at its vertices (n,).

    It needs nothing but the skin: the in-plane strain of its triangles and the axial strain of its
    segments, averaged over the neighbours of a vertex by their size at rest.
    """
    total, weight = np.zeros(len(rest)), np.zeros(len(rest))

    def spread(cells: Array, values: Array, sizes: Array) -> None:
        for k in range(cells.shape[1]):
            np.add.at(total, cells[:, k], values * sizes)
            np.add.at(weight, cells[:, k], sizes)

    triangles = np.asarray(skin.triangles, np.int64).reshape(-1, 3)
    if len(triangles):
        grams = []
        for x in (rest, now):
            edges = np.stack(
                [x[triangles[:, 1]] - x[triangles[:, 0]], x[triangles[:, 2]] - x[triangles[:, 0]]], 1
            )
            grams.append(edges @ edges.transpose(0, 2, 1))
        area = np.sqrt(np.maximum(np.linalg.det(grams[0]), 0.0)) / 2
        sound = area > 1e-12 * max(float(area.max()), 1e-300)
        value = np.zeros(len(triangles))
        # Eigenvalues of G0^-1 G are the squared principal stretches.
        m = np.linalg.solve(grams[0][sound], grams[1][sound])
        half = np.trace(m, axis1=1, axis2=2) / 2
        root = np.sqrt(np.maximum(half**2 - np.linalg.det(m), 0.0))
        squares = np.stack([half + root, half - root], axis=1)
        value[sound] = np.abs(np.sqrt(np.maximum(squares, 0.0)) - 1).max(axis=1)
        spread(triangles, value, area)
    segments = np.asarray(skin.segments, np.int64).reshape(-1, 2)
    if len(segments):
        long0, long1 = (np.linalg.norm(x[segments[:, 1]] - x[segments[:, 0]], axis=1) for x in (rest, now))
        spread(segments, np.abs(long1 / np.maximum(long0, 1e-300) - 1), long0)
    return total / np.where(weight > 0, weight, 1.0)


@dataclass(frozen=True, eq=False)
class BodySurface:
    """Drawn surface of a skin: fixed triangles and, per drawn vertex, the skin vertex it belongs to.

    Attributes:
        triangles: triangles of the drawn surface (k, 3).
        source: skin vertex of each drawn vertex (n,), to carry scalar values over.
        solid: number of drawn vertices that are skin vertices; the rest are tubes.
        curves: polylines of skin vertices that are drawn as tubes.
        radius: thickness around each skin vertex [m].
    """

    triangles: Array
    source: Array
    solid: int
    curves: tuple[Array, ...]
    radius: Array

    @staticmethod
    def of(skin: Skin, rest: Array) -> BodySurface:
        """Build the topology from a skin and its vertices at rest [m] (n, 3)."""
        source, triangles = split_creases(rest, np.asarray(skin.triangles, np.int64).reshape(-1, 3))
        curves = tuple(np.array(c) for c in chains(np.asarray(skin.segments, np.int64).reshape(-1, 2)))
        sources, faces, offset = [source], [triangles], len(source)
        for curve in curves:
            faces.append(tube_triangles(len(curve)) + offset)
            ends = [np.full(SIDES + 1, curve[0]), np.full(SIDES + 1, curve[-1])]
            sources.append(np.concatenate([np.repeat(curve, SIDES), *ends]))
            offset += len(sources[-1])
        return BodySurface(
            triangles=np.concatenate(faces),
            source=np.concatenate(sources),
            solid=len(source),
            curves=curves,
            radius=np.asarray(skin.radius, float),
        )

    def vertices(self, skin_positions: Array) -> Array:
        """Drawn vertices [m] (n, 3) for skin vertices [m]."""
        parts = [skin_positions[self.source[: self.solid]]]
        parts += [tube(skin_positions[c], self.radius[c])[0] for c in self.curves]
        return np.concatenate(parts)
