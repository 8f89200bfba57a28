"""Isosurface stuffing: tets that fill a signed-distance shape, cut from a body-centred cubic lattice.

Method (Labelle and Shewchuk, "Isosurface stuffing", SIGGRAPH 2007), written from the idea: sample the
distance on a BCC lattice, find where lattice edges cross the surface, snap lattice vertices that lie too
close to a crossing onto it, and fill each lattice tet by a fixed pattern that depends on the signs of its
corners. All dihedral angles are bounded away from 0 and 180 degrees because nothing is cut off close to a
vertex.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.errors import ArgumentError, MeshError
from pliant.geometry import topology
from pliant.geometry.quality import volume_length_quality
from pliant.geometry.shapes import Shape

# Closer than this part of an edge, a crossing moves the vertex (long: axis-aligned; short: half diagonals).
ALPHA_LONG, ALPHA_SHORT = 0.24999, 0.41189
MAX_NODES = 30_000_000


@dataclass(frozen=True, eq=False)
class Lattice:
    """A BCC lattice over a box: cell corners, then cell centres.

    Attributes:
        origin: lowest corner [m].
        step: cell edges (3,) [m].
        cells: (3,) number of cells.
    """

    origin: np.ndarray
    step: np.ndarray
    cells: np.ndarray

    @classmethod
    def around(cls, bounds: np.ndarray, size: float, shift: float = 0.0) -> Lattice:
        """A lattice whose planes meet the faces of the box, with one more cell on every side.

        Meeting the faces makes axis-aligned bodies exact. `shift` (a part of a cell) gives that up.
        """
        extent = bounds[1] - bounds[0]
        inner = np.maximum(np.ceil(extent / size - 0.25), 1.0)
        step = extent / inner
        cells = inner.astype(np.int64) + 2 + (1 if shift else 0)
        count = float(np.prod(cells + 1.0) + np.prod(cells * 1.0))
        if count > MAX_NODES:
            raise ArgumentError(
                "size",
                f"{size:g} m needs a lattice of {count:.2g} nodes for a body of {extent.round(6).tolist()} m",
                f"at least {size * (count / MAX_NODES) ** (1 / 3):.2g} m",
            )
        return cls(bounds[0] - (1.0 + shift) * step, step, cells)

    def nodes(self) -> np.ndarray:
        """Positions (n, 3) [m]."""
        corners = np.stack(np.meshgrid(*(np.arange(c + 1) for c in self.cells), indexing="ij"), axis=-1)
        centres = np.stack(np.meshgrid(*(np.arange(c) + 0.5 for c in self.cells), indexing="ij"), axis=-1)
        index = np.concatenate([corners.reshape(-1, 3), centres.reshape(-1, 3)])
        return self.origin + index * self.step

    def tets(self, active: np.ndarray) -> np.ndarray:
        """Tets (m, 4) with an active node: two centres, then two corners (both pairs are long edges)."""
        nx, ny, nz = self.cells
        corner_count = (nx + 1) * (ny + 1) * (nz + 1)
        corner = np.arange(corner_count).reshape(nx + 1, ny + 1, nz + 1)
        centre = corner_count + np.arange(nx * ny * nz).reshape(nx, ny, nz)
        parts = []
        for axis in range(3):
            one, two = np.moveaxis(centre, axis, 0)[:-1], np.moveaxis(centre, axis, 0)[1:]
            face = np.moveaxis(corner, axis, 0)[1:-1]
            ring = [face[:, :-1, :-1], face[:, 1:, :-1], face[:, 1:, 1:], face[:, :-1, 1:]]
            for i in range(4):
                tets = np.stack([one, two, ring[i], ring[(i + 1) % 4]], axis=-1).reshape(-1, 4)
                parts.append(tets[active[tets].any(axis=1)])
        return np.concatenate(parts)

    def is_long(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Whether lattice edges are long ones (both ends corners, or both centres)."""
        corner_count = int(np.prod(self.cells + 1))
        return (a < corner_count) == (b < corner_count)


def crossings(shape: Shape, inside: np.ndarray, outside: np.ndarray, values: np.ndarray) -> np.ndarray:
    """Part t (k,) of the way from inside to outside points (k, 3) where the distance vanishes.

    Args:
        shape: the body.
        inside: points with negative distance.
        outside: points with positive distance.
        values: distances (k, 2) at both ends.
    """
    low, high = np.zeros(len(inside)), np.ones(len(inside))
    f_low, f_high = values[:, 0].copy(), values[:, 1].copy()
    t = f_low / (f_low - f_high)
    todo = np.arange(len(inside))
    for _ in range(40):
        f = shape.evaluate(inside[todo] + t[todo, None] * (outside[todo] - inside[todo]))[0]
        neg = f < 0.0
        # Illinois rule: halve the kept end so that the bracket shrinks from both sides.
        low[todo[neg]], f_low[todo[neg]] = t[todo[neg]], f[neg]
        f_high[todo[neg]] *= 0.5
        high[todo[~neg]], f_high[todo[~neg]] = t[todo[~neg]], f[~neg]
        f_low[todo[~neg]] *= 0.5
        scale = np.abs(values[todo, 0]) + np.abs(values[todo, 1])
        todo = todo[(np.abs(f) > 1e-12 * scale) & (high[todo] - low[todo] > 1e-12)]
        if len(todo) == 0:
            break
        denominator = f_low[todo] - f_high[todo]
        guess = low[todo] + (high[todo] - low[todo]) * f_low[todo] / np.where(
            denominator == 0, 1, denominator
        )
        t[todo] = np.clip(guess, low[todo], high[todo])
    return t


def stuff(shape: Shape, lattice: Lattice) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Fill a shape.

    Returns:
        (nodes (n, 3), tets (m, 4) positively oriented, on_surface (n,) booleans).
    """
    from pliant._kernels import stuffing as kernel  # imported on use: numba is slow to load

    grid = lattice.nodes()
    value = _values(shape, lattice)
    sign = np.sign(np.where(np.abs(value) < 1e-9 * float(lattice.step.min()), 0.0, value)).astype(np.int64)
    tets = lattice.tets(sign < 0)
    if len(tets) == 0:
        raise MeshError("no lattice point is inside the shape: it is empty or much thinner than the size")

    # Crossed edges, inside end first.
    edges = tets[:, topology.TET_EDGES].reshape(-1, 2)
    keys = np.unique(topology.edge_keys(edges[sign[edges[:, 0]] * sign[edges[:, 1]] < 0], len(grid)))
    edges = np.stack([keys // len(grid), keys % len(grid)], axis=1)
    swap = sign[edges[:, 0]] > 0
    edges[swap] = edges[swap][:, ::-1]
    a, b = edges.T
    t = crossings(shape, grid[a], grid[b], value[edges])
    cut = grid[a] + t[:, None] * (grid[b] - grid[a])

    # Snap vertices onto crossings that are too close.
    alpha = np.where(lattice.is_long(a, b), ALPHA_LONG, ALPHA_SHORT)
    near_a, near_b = np.flatnonzero(t < alpha), np.flatnonzero(1.0 - t < alpha)
    vertex = np.concatenate([a[near_a], b[near_b]])
    edge = np.concatenate([near_a, near_b])
    # Nearest first, in length: the smallest moves disturb the lattice least.
    length = np.linalg.norm(grid[b] - grid[a], axis=1)
    move = np.concatenate([t[near_a] * length[near_a], (1.0 - t[near_b]) * length[near_b]])
    order = np.lexsort((edge, vertex, np.round(move / float(lattice.step.min()), 9)))
    warped_to = np.full(len(grid), -1)
    kernel.choose_warps(vertex, edge, order, edges, np.ones(len(edges), dtype=bool), warped_to)
    warped = np.flatnonzero(warped_to >= 0)
    position = grid.copy()
    position[warped] = cut[warped_to[warped]]
    sign[warped] = 0

    nodes, ideal, out = _fill(tets, sign, position, grid, edges, cut, lattice)
    # Tets with all corners on the surface: most are flat, but across thin walls and edges they are the body.
    touching = tets[(sign[tets] == 0).all(axis=1)]
    if len(touching):
        depth = shape.evaluate(position[touching].mean(axis=1))[0]
        flip = topology.tet_volumes(grid, touching) < 0.0
        touching[flip] = touching[flip][:, [0, 1, 3, 2]]
        solid = volume_length_quality(position, touching) > 0.15
        out = np.concatenate([out, touching[solid & (depth < -0.1 * float(lattice.step.min()))]])
    if len(out) == 0:
        raise MeshError("the shape is so thin that every lattice point inside it lies next to its surface")
    used = np.unique(out)
    new = np.full(len(nodes), -1)
    new[used] = np.arange(len(used))
    on_surface = np.concatenate([sign == 0, np.ones(len(nodes) - len(grid), dtype=bool)])[used]
    # Orientation from the undisturbed lattice, so that a tet turned over by warping is seen as such.
    flip = topology.tet_volumes(ideal, out) < 0.0
    out[flip] = out[flip][:, [0, 1, 3, 2]]
    return nodes[used], new[out], on_surface


def _fill(
    tets: np.ndarray,
    sign: np.ndarray,
    position: np.ndarray,
    grid: np.ndarray,
    edges: np.ndarray,
    cut: np.ndarray,
    lattice: Lattice,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Apply the fill patterns: (nodes, undisturbed positions, tets)."""
    n = len(grid)
    keys = topology.edge_keys(edges, n)
    rank = np.argsort(keys)
    nodes = np.concatenate([position, cut])
    ideal = np.concatenate([grid, 0.5 * (grid[edges[:, 0]] + grid[edges[:, 1]])])

    def crossing(p: np.ndarray, q: np.ndarray) -> np.ndarray:
        return n + rank[np.searchsorted(keys, topology.edge_keys(np.stack([p, q], 1), n), sorter=rank)]

    def first_diagonal(
        p: np.ndarray, q: np.ndarray, cp: np.ndarray, cq: np.ndarray, r: np.ndarray
    ) -> np.ndarray:
        """Whether the side p, q, cq, cp (cut towards r) is split by p - cq rather than q - cp.

        Depends on the face alone, so both its tets agree. Where one cut edge is long, the diagonal starts at
        its vertex; with two short ones the shorter diagonal wins. Never cyclic around a prism, because its
        two mixed sides meet at the long edge.
        """
        long_p, long_q = lattice.is_long(p, r), lattice.is_long(q, r)
        one = np.linalg.norm(nodes[p] - nodes[cq], axis=1)
        two = np.linalg.norm(nodes[q] - nodes[cp], axis=1)
        tie = np.abs(one - two) <= 1e-9 * (one + two)
        shorter = np.where(tie, p < q, one < two)
        return np.where(long_p, True, np.where(long_q, False, shorter))

    corner_sign = sign[tets]
    order = np.argsort(corner_sign, axis=1, kind="stable")
    tets, corner_sign = np.take_along_axis(tets, order, 1), np.take_along_axis(corner_sign, order, 1)
    negative, positive = (corner_sign < 0).sum(axis=1), (corner_sign > 0).sum(axis=1)
    out = [tets[(positive == 0) & (negative > 0)]]

    def pick(neg: int, pos: int) -> np.ndarray:
        return tets[(negative == neg) & (positive == pos)].T

    a, p, q, r = pick(1, 3)
    out.append(np.stack([a, crossing(a, p), crossing(a, q), crossing(a, r)], axis=1))
    a, z, p, q = pick(1, 2)
    out.append(np.stack([a, z, crossing(a, p), crossing(a, q)], axis=1))
    a, z, y, p = pick(1, 1)
    out.append(np.stack([a, z, y, crossing(a, p)], axis=1))

    a, b, z, p = pick(2, 1)
    ca, cb = crossing(a, p), crossing(b, p)
    d = first_diagonal(a, b, ca, cb, p)
    out.append(np.stack([z, a, b, np.where(d, cb, ca)], axis=1))
    out.append(np.stack([z, np.where(d, a, b), cb, ca], axis=1))

    a, b, p, q = pick(2, 2)
    ap, aq, bp, bq = crossing(a, p), crossing(a, q), crossing(b, p), crossing(b, q)
    side_p = first_diagonal(a, b, ap, bp, p)  # a - bp
    side_q = ~first_diagonal(a, b, aq, bq, q)  # aq - b
    free = np.linalg.norm(nodes[ap] - nodes[bq], axis=1) < np.linalg.norm(nodes[aq] - nodes[bp], axis=1)
    free = np.where(side_p == side_q, ~side_p, free)
    out.append(
        topology.split_prisms(
            np.stack([a, ap, aq], 1), np.stack([b, bp, bq], 1), np.stack([side_p, free, side_q], 1)
        )
    )

    a, b, c, p = pick(3, 1)
    ca, cb, cc = crossing(a, p), crossing(b, p), crossing(c, p)
    sides = [
        first_diagonal(a, b, ca, cb, p),
        first_diagonal(b, c, cb, cc, p),
        first_diagonal(c, a, cc, ca, p),
    ]
    out.append(topology.split_prisms(np.stack([a, b, c], 1), np.stack([ca, cb, cc], 1), np.stack(sides, 1)))
    return nodes, ideal, np.concatenate(out)


def sign_topology(shape: Shape, lattice: Lattice, *, smallest: int = 5) -> tuple[int, int]:
    """(parts, Euler characteristic) of the body as the lattice sees it, from signs alone.

    The lattice complex of the inside nodes has the shape of the filled body. Parts of fewer than `smallest`
    nodes (the tips of sharp wedges) are ignored.
    """
    inside = _values(shape, lattice) < -1e-9 * float(lattice.step.min())
    split = int(np.prod(lattice.cells + 1))
    shapes = tuple(lattice.cells + 1), tuple(lattice.cells)
    number = np.cumsum(inside) - 1  # inside nodes, counted
    corner_id, centre_id = number[:split].reshape(shapes[0]), number[split:].reshape(shapes[1])
    corner, centre = inside[:split].reshape(shapes[0]), inside[split:].reshape(shapes[1])
    pairs = [(corner_id[s][e], corner_id[t][e]) for s, t, e in _neighbours(corner)]
    pairs += [(centre_id[s][e], centre_id[t][e]) for s, t, e in _neighbours(centre)]
    for window in _windows(corner, centre.shape):
        both = corner[window] & centre
        pairs.append((corner_id[window][both], centre_id[both]))
    rows, columns = (np.concatenate(part) for part in zip(*pairs))
    count = int(inside.sum())
    label = topology.graph_components(rows, columns, count) if count else np.zeros(0, dtype=np.int64)
    members = np.bincount(label)
    inside[inside] = members[label] >= smallest
    return int((members >= smallest).sum()), _euler(corner, centre)


def _values(shape: Shape, lattice: Lattice) -> np.ndarray:
    """Distances at the lattice nodes, evaluated in pieces to bound memory."""
    grid = lattice.nodes()
    value = np.concatenate(
        [shape.evaluate(part)[0] for part in np.array_split(grid, len(grid) // 500_000 + 1)]
    )
    if not np.isfinite(value).all():
        raise MeshError("the shape's distance is not finite somewhere in its bounds")
    return value


def _neighbours(inside: np.ndarray) -> list[tuple[tuple[slice, ...], tuple[slice, ...], np.ndarray]]:
    """Per axis: slices of the two ends of all grid edges, and which edges have both ends inside."""
    found = []
    for axis in range(3):
        one = tuple(slice(None, -1) if i == axis else slice(None) for i in range(3))
        two = tuple(slice(1, None) if i == axis else slice(None) for i in range(3))
        found.append((one, two, inside[one] & inside[two]))
    return found


def _windows(grid: np.ndarray, shape: tuple[int, ...]) -> list[tuple[slice, ...]]:
    """All shifted views of `grid` that have the given shape."""
    ranges = [range(g - s + 1) for g, s in zip(grid.shape, shape)]
    return [
        (slice(a, a + shape[0]), slice(b, b + shape[1]), slice(c, c + shape[2]))
        for a in ranges[0]
        for b in ranges[1]
        for c in ranges[2]
    ]


def _euler(corner: np.ndarray, centre: np.ndarray) -> int:
    """Vertices - edges + faces - tets of the BCC complex of the True nodes, counted by shifted views."""
    total = int(corner.sum()) + int(centre.sum())
    total -= sum(int((corner[w] & centre).sum()) for w in _windows(corner, centre.shape))
    for axis in range(3):
        c, m = np.moveaxis(corner, axis, 0), np.moveaxis(centre, axis, 0)
        cc, mm = c[:-1] & c[1:], m[:-1] & m[1:]
        total -= int(cc.sum()) + int(mm.sum())
        total += sum(int((cc[w] & m).sum()) for w in _windows(cc, m.shape))
        face = c[1:-1]
        ring = [face[:, :-1, :-1], face[:, 1:, :-1], face[:, 1:, 1:], face[:, :-1, 1:]]
        for i in range(4):
            triangle = mm & ring[i]
            total += int(triangle.sum()) - int((triangle & ring[(i + 1) % 4]).sum())
    return total
