"""Shape functions and quadrature of the solid elements, on their reference cells."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Array = np.ndarray

# Edges of a tetrahedron in the order in which quadratic elements number their mid-side nodes (VTK, Gmsh differs
# in the last two; files are converted when they are read).
TET_EDGES = ((0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3))
TRI_EDGES = ((0, 1), (1, 2), (2, 0))
# Nodes of a prism in a collapsed hexahedron.
PRISM = np.array([0, 1, 2, 4, 5, 6])
_HEX_CORNERS = np.array(
    [[-1, -1, -1], [1, -1, -1], [1, 1, -1], [-1, 1, -1], [-1, -1, 1], [1, -1, 1], [1, 1, 1], [-1, 1, 1]], float
)


def tet_shape(points: Array, order: int) -> tuple[Array, Array]:
    """Shape functions (n, k) and reference gradients (n, k, 3) of a tetrahedron at points (n, 3)."""
    points = np.atleast_2d(points)
    L = np.column_stack([1 - points.sum(axis=1), points])
    dL = np.array([[-1.0, -1, -1], [1, 0, 0], [0, 1, 0], [0, 0, 1]])
    if order == 1:
        return L, np.broadcast_to(dL, (len(L), 4, 3)).copy()
    N = np.empty((len(L), 10))
    dN = np.empty((len(L), 10, 3))
    for a in range(4):
        N[:, a] = L[:, a] * (2 * L[:, a] - 1)
        dN[:, a] = (4 * L[:, a] - 1)[:, None] * dL[a]
    for m, (a, b) in enumerate(TET_EDGES):
        N[:, 4 + m] = 4 * L[:, a] * L[:, b]
        dN[:, 4 + m] = 4 * (L[:, a, None] * dL[b] + L[:, b, None] * dL[a])
    return N, dN


def hex_shape(points: Array) -> tuple[Array, Array]:
    """Trilinear shape functions (n, 8) and reference gradients (n, 8, 3) at points (n, 3) of [-1, 1]^3."""
    points = np.atleast_2d(points)
    factors = 1 + points[:, None, :] * _HEX_CORNERS
    N = factors.prod(axis=2) / 8
    dN = np.empty((len(points), 8, 3))
    for j in range(3):
        others = [i for i in range(3) if i != j]
        dN[:, :, j] = _HEX_CORNERS[:, j] * factors[:, :, others].prod(axis=2) / 8
    return N, dN


def prism_shape(points: Array) -> tuple[Array, Array]:
    """Shape functions (n, 6) and reference gradients (n, 6, 3) of a prism at points (r, s, t): triangle, [-1, 1]."""
    points = np.atleast_2d(points)
    L, dL = tri_shape(points[:, :2], 1)
    low, high = 0.5 * (1 - points[:, 2:]), 0.5 * (1 + points[:, 2:])
    N = np.hstack([L * low, L * high])
    dN = np.empty((len(points), 6, 3))
    dN[:, :3, :2], dN[:, 3:, :2] = dL * low[:, :, None], dL * high[:, :, None]
    dN[:, :3, 2], dN[:, 3:, 2] = -0.5 * L, 0.5 * L
    return N, dN


def tri_shape(points: Array, order: int) -> tuple[Array, Array]:
    """Shape functions (n, k) and reference gradients (n, k, 2) of a triangle at points (n, 2)."""
    points = np.atleast_2d(points)
    L = np.column_stack([1 - points.sum(axis=1), points])
    dL = np.array([[-1.0, -1], [1, 0], [0, 1]])
    if order == 1:
        return L, np.broadcast_to(dL, (len(L), 3, 2)).copy()
    N = np.empty((len(L), 6))
    dN = np.empty((len(L), 6, 2))
    for a in range(3):
        N[:, a] = L[:, a] * (2 * L[:, a] - 1)
        dN[:, a] = (4 * L[:, a] - 1)[:, None] * dL[a]
    for m, (a, b) in enumerate(TRI_EDGES):
        N[:, 3 + m] = 4 * L[:, a] * L[:, b]
        dN[:, 3 + m] = 4 * (L[:, a, None] * dL[b] + L[:, b, None] * dL[a])
    return N, dN


@lru_cache
def tet_rule(degree: int) -> tuple[Array, Array]:
    """Quadrature points (n, 3) and weights (n,) summing to 1/6, exact to the degree (1, 2 or 4)."""
    if degree == 1:
        return np.full((1, 3), 0.25), np.array([1 / 6])
    if degree == 2:
        a, b = (5 - np.sqrt(5)) / 20, (5 + 3 * np.sqrt(5)) / 20
        points = np.full((4, 3), a)
        points[1:] += (b - a) * np.eye(3)
        return points, np.full(4, 1 / 24)
    # Keast's 11-point rule of degree 4.
    a, b = (1 + np.sqrt(5 / 14)) / 4, (1 - np.sqrt(5 / 14)) / 4
    corners = np.full((4, 4), 1 / 14) + np.eye(4) * (11 / 14 - 1 / 14)
    edges = np.array([[a if k in e else b for k in range(4)] for e in TET_EDGES])
    bary = np.vstack([np.full((1, 4), 0.25), corners, edges])
    weights = np.concatenate([[-74 / 5625], np.full(4, 343 / 45000), np.full(6, 56 / 2250)])
    return bary[:, 1:], weights


@lru_cache
def hex_rule() -> tuple[Array, Array]:
    """The 2 x 2 x 2 Gauss rule on [-1, 1]^3."""
    g = 1 / np.sqrt(3)
    return _HEX_CORNERS * g, np.ones(8)


@lru_cache
def prism_rule(full: bool = False) -> tuple[Array, Array]:
    """Quadrature of a prism: two points across its thickness at the middle of the triangle, or three times two.

    One point in the plane is exact for what is linear there, and keeps thin prisms from locking in shear.
    """
    plane, area = tri_rule(1) if full else (np.full((1, 2), 1 / 3), np.array([0.5]))
    g = 1 / np.sqrt(3)
    points = np.vstack([np.column_stack([plane, np.full(len(plane), t)]) for t in (-g, g)])
    return points, np.tile(area, 2)


@lru_cache
def tri_rule(order: int) -> tuple[Array, Array]:
    """Quadrature for surface integrals over 3-node (order 1) or 6-node triangles; weights sum to 1/2.

    Order 1 is exact to degree 2 and order 2 to degree 6, enough for volumes and first moments.
    """
    if order == 1:
        return np.array([[1 / 6, 1 / 6], [2 / 3, 1 / 6], [1 / 6, 2 / 3]]), np.full(3, 1 / 6)
    points, weights = [], []
    for w, (a, b) in ((0.116786275726379, (0.249286745170910,) * 2), (0.050844906370207, (0.063089014491502,) * 2)):
        c = 1 - a - b
        points += [(a, b), (c, a), (a, c)]
        weights += [w / 2] * 3
    a, b = 0.310352451033784, 0.053145049844817
    c = 1 - a - b
    for p in ((a, b), (b, a), (a, c), (c, a), (b, c), (c, b)):
        points.append(p)
        weights.append(0.082851075618374 / 2)
    return np.array(points), np.array(weights)


@dataclass(frozen=True, eq=False)
class Elements:
    """A group of elements of one kind, ready for the kernels.

    Attributes:
        cells: nodes (ne, k).
        grads: shape gradients w.r.t. the rest shape [1/m] (ne, ng, k, 3).
        weights: quadrature weights times the Jacobian [m^3] (ne, ng).
        shape: integrals of the shape functions [m^3] (ne, k).
        mass: integrals of products of shape functions [m^3] (ne, k, k).
        kind: "tet4", "tet10", "hex8" or "prism6".
        body: index of the body.
        ids: numbers of the cells in the body's mesh, as its regions count them (ne,).
    """

    cells: Array
    grads: Array
    weights: Array
    shape: Array
    mass: Array
    kind: str
    body: int
    ids: Array

    @property
    def volumes(self) -> Array:
        """Volume of each element [m^3] (ne,)."""
        return self.weights.sum(axis=1)


def elements(nodes: Array, cells: Array, kind: str, body: int, ids: Array) -> Elements:
    """Tabulate a group of elements at rest."""
    if kind == "prism6":
        points, weights = prism_rule()
        N, dN = prism_shape(points)
    elif kind == "hex8":
        points, weights = hex_rule()
        N, dN = hex_shape(points)
    else:
        order = 1 if kind == "tet4" else 2
        points, weights = tet_rule(order)
        N, dN = tet_shape(points, order)
        mass_points, wm = tet_rule(2 if order == 1 else 4)
        Nm, _ = tet_shape(mass_points, order)
    X = nodes[cells]
    jac = np.einsum("eai,gaj->egij", X, dN)
    det = np.linalg.det(jac)
    grads = np.einsum("gaj,egji->egai", dN, np.linalg.inv(jac))
    w = det * weights
    if kind == "prism6":
        full, area = prism_rule(full=True)
        N, dN = prism_shape(full)
        whole = np.linalg.det(np.einsum("eai,gaj->egij", X, dN)) * area
        shape, mass = np.einsum("eg,ga->ea", whole, N), np.einsum("eg,ga,gb->eab", whole, N, N)
    elif kind == "hex8":
        shape = np.einsum("eg,ga->ea", w, N)
        mass = np.einsum("eg,ga,gb->eab", w, N, N)
    else:
        scale = det[:, 0]  # straight-sided: constant Jacobian
        shape = scale[:, None] * (Nm * wm[:, None]).sum(axis=0)
        mass = scale[:, None, None] * np.einsum("g,ga,gb->ab", wm, Nm, Nm)
    return Elements(np.ascontiguousarray(cells), np.ascontiguousarray(grads), w, shape, mass, kind, body, ids)


def quadratic_cells(cells: Array, n_nodes: int) -> tuple[Array, Array]:
    """Ten-node cells from four-node ones: (cells (ne, 10), edges (m, 2) whose middles are the new nodes)."""
    pairs = np.sort(cells[:, np.array(TET_EDGES)].reshape(-1, 2), axis=1)
    edges, inverse = np.unique(pairs, axis=0, return_inverse=True)
    return np.hstack([cells, n_nodes + inverse.reshape(-1, 6)]), edges


def quadratic_triangles(triangles: Array, edges: Array, n_nodes: int) -> Array:
    """Six-node triangles from three-node ones, given the edges returned by `quadratic_cells`."""
    key = edges[:, 0] * n_nodes + edges[:, 1]
    pairs = np.sort(triangles[:, np.array(TRI_EDGES)], axis=2)
    wanted = pairs[..., 0] * n_nodes + pairs[..., 1]
    return np.hstack([triangles, n_nodes + np.searchsorted(key, wanted)])
