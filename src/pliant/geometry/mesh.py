"""`TetMesh`: nodes, tets (and hexahedra), with named regions, node sets, surfaces and closed cavities."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, MeshError
from pliant.geometry import topology
from pliant.geometry.locate import TetLocator
from pliant.geometry.quality import MeshQuality, assess, hex_volumes
from pliant.geometry.shapes import Shape

Where = Shape | Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False, repr=False)
class TetMesh:
    """A volume mesh with labels. Arrays are read-only; every change makes a new mesh.

    Attributes:
        nodes: (n, 3) positions [m].
        tets: (m, 4) node indices, det[b-a, c-a, d-a] > 0.
        hexes: (h, 8) node indices in VTK order; usually empty. A prism is a collapsed hexahedron, its nodes 2 and 3
            the same and 6 and 7: bottom triangle 0, 1, 2, top triangle 4, 5, 6.
        regions: name -> tet indices (k,) (hexahedron i, where there are any, counts as cell m + i).
        node_sets: name -> node indices (k,).
        surfaces: name -> (k, 3) triangles, oriented outward from the body.
        cavities: name -> (k, 3) triangles of a closed surface, oriented so that
            1/6 sum x_a . (x_b x x_c) is the positive volume of the cavity (normals point into the wall).
    """

    nodes: np.ndarray
    tets: np.ndarray
    hexes: np.ndarray = field(default_factory=lambda: np.zeros((0, 8), dtype=np.int64))
    regions: Mapping[str, np.ndarray] = field(default_factory=dict)
    node_sets: Mapping[str, np.ndarray] = field(default_factory=dict)
    surfaces: Mapping[str, np.ndarray] = field(default_factory=dict)
    cavities: Mapping[str, np.ndarray] = field(default_factory=dict)

    def __post_init__(self) -> None:
        nodes = _points("nodes", self.nodes)
        n = len(nodes)
        if n == 0:
            raise ArgumentError("nodes", "there are none", "at least the four corners of a tetrahedron")
        put = object.__setattr__
        put(self, "nodes", _frozen(nodes))
        put(self, "tets", _indices("tets", self.tets, n, 4))
        put(self, "hexes", _indices("hexes", self.hexes, n, 8))
        for label, width, limit in (
            ("regions", 0, len(self.tets) + len(self.hexes)),
            ("node_sets", 0, n),
            ("surfaces", 3, n),
            ("cavities", 3, n),
        ):
            given = getattr(self, label)
            if not isinstance(given, Mapping) or not all(isinstance(k, str) for k in given):
                raise ArgumentError(label, "must map names to index arrays", "a dict with string keys")
            put(self, label, {k: _indices(f"{label}[{k!r}]", v, limit, width) for k, v in given.items()})

    def __repr__(self) -> str:
        labels = {k: list(getattr(self, k)) for k in ("regions", "node_sets", "surfaces", "cavities")}
        named = "".join(f", {k}={v}" for k, v in labels.items() if v)
        hexes = f", {len(self.hexes)} hexes" if len(self.hexes) else ""
        return f"TetMesh({len(self.nodes)} nodes, {len(self.tets)} tets{hexes}{named})"

    # ---- measures -------------------------------------------------------------------------------

    def volumes(self) -> np.ndarray:
        """Signed volume of each tet (m,) [m^3]."""
        return topology.tet_volumes(self.nodes, self.tets)

    @cached_property
    def volume(self) -> float:
        """Total volume of tets and hexahedra [m^3]."""
        return float(self.volumes().sum() + hex_volumes(self.nodes, self.hexes).sum())

    @cached_property
    def bounds(self) -> np.ndarray:
        """Lowest and highest coordinates (2, 3) [m]."""
        return _frozen(np.stack([self.nodes.min(axis=0), self.nodes.max(axis=0)]))

    def cavity_volume(self, name: str) -> float:
        """Volume enclosed by a named cavity [m^3]."""
        from pliant.errors import UnknownNameError

        if name not in self.cavities:
            raise UnknownNameError("cavity", name, self.cavities)
        return topology.enclosed_volume(self.nodes, self.cavities[name])

    # ---- connectivity ---------------------------------------------------------------------------

    @cached_property
    def _boundary(self) -> tuple[np.ndarray, np.ndarray]:
        triangles, owners = topology.boundary_faces(self.tets, self.hexes, len(self.nodes))
        return _frozen(triangles), _frozen(owners)

    def boundary(self) -> np.ndarray:
        """Outward triangles (k, 3) of the whole mesh; cavity walls included."""
        return self._boundary[0]

    @cached_property
    def _edges(self) -> np.ndarray:
        return _frozen(topology.unique_edges(self.tets, self.hexes, len(self.nodes)))

    def edges(self) -> np.ndarray:
        """Unique edges (e, 2), low node first."""
        return self._edges

    def components(self) -> np.ndarray:
        """Label of the connected part of every node (n,)."""
        return topology.node_components(self.tets, self.hexes, len(self.nodes))

    def find_cavities(self) -> list[np.ndarray]:
        """Closed internal surfaces, each (k, 3) with positive volume; largest first, then by centre."""
        return topology.internal_surfaces(self.nodes, self.boundary())

    # ---- queries --------------------------------------------------------------------------------

    @cached_property
    def _locator(self) -> TetLocator:
        if len(self.tets) == 0:
            raise MeshError("points cannot be located: the mesh has no tets (split its hexahedra first)")
        tris, owners = topology.boundary_faces(self.tets, np.zeros((0, 8), dtype=np.int64), len(self.nodes))
        return TetLocator(self.nodes, self.tets, tris, owners)

    def locate(self, points: Any, *, tolerance: float | None = None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The tet and barycentric weights of points.

        Args:
            points: (p, 3) [m].
            tolerance: refuse points farther outside than this [m]; by default any distance is accepted.

        Returns:
            (tet (p,), weights (p, 4) in [0, 1] with sum 1, distance outside (p,) [m], 0 inside). Points
            outside get the weights of the closest point of the mesh.
        """
        points = np.atleast_2d(np.asarray(points, dtype=float))
        points = _points("points", points)
        cells, weights, distance = self._locator(points)
        if tolerance is not None and (distance > tolerance).any():
            worst = int(np.argmax(distance))
            raise ArgumentError(
                "points",
                f"point {worst} at {points[worst].tolist()} lies {distance[worst]:.3g} m outside the mesh",
                f"at most {tolerance:g} m outside; the mesh spans {self.bounds.tolist()}",
            )
        return cells, weights, distance

    def nodes_where(self, where: Where, *, tolerance: float = 1e-9) -> np.ndarray:
        """Indices of the nodes inside a shape (within tolerance [m]) or picked by a predicate of (n, 3)."""
        return np.flatnonzero(_picked(where, self.nodes, tolerance))

    def tets_where(self, where: Where, *, tolerance: float = 0.0) -> np.ndarray:
        """Cells (tets, then hexahedra) whose centre is inside a shape or picked by a predicate."""
        centres = np.concatenate([self.nodes[self.tets].mean(axis=1), self.nodes[self.hexes].mean(axis=1)])
        return np.flatnonzero(_picked(where, centres, tolerance))

    def triangles_where(self, where: Where, *, tolerance: float = 1e-9) -> np.ndarray:
        """Boundary triangles (k, 3) whose three nodes are inside a shape or picked by a predicate."""
        picked = _picked(where, self.nodes, tolerance)
        return self.boundary()[picked[self.boundary()].all(axis=1)]

    def quality(self) -> MeshQuality:
        """What is wrong with the mesh, in numbers and sentences."""
        return assess(self)

    def validate(self) -> TetMesh:
        """Return self, or raise `MeshError` naming the elements that cannot be simulated."""
        report = self.quality()
        if not report.usable:
            raise MeshError("the mesh cannot be simulated: " + " ".join(report.faults), report.elements)
        return self

    # ---- new meshes -----------------------------------------------------------------------------

    def with_region(self, name: str, where: Where | Sequence[int] | np.ndarray) -> TetMesh:
        """A copy with a region: cells whose centre a shape or a predicate picks, or given indices."""
        ids = self.tets_where(where) if isinstance(where, Shape) or callable(where) else where
        return replace(self, regions={**self.regions, name: _some("region", name, ids)})

    def with_node_set(
        self, name: str, where: Where | Sequence[int] | np.ndarray, *, tolerance: float = 1e-9
    ) -> TetMesh:
        """A copy with a node set: nodes in a shape, satisfying a predicate, or given indices."""
        is_rule = isinstance(where, Shape) or callable(where)
        ids = self.nodes_where(where, tolerance=tolerance) if is_rule else where  # type: ignore[arg-type]
        return replace(self, node_sets={**self.node_sets, name: _some("node set", name, ids)})

    def with_surface(self, name: str, where: Where | np.ndarray, *, tolerance: float = 1e-9) -> TetMesh:
        """A copy with a named surface: boundary triangles in a shape, by a predicate of nodes, or (k, 3)."""
        is_rule = isinstance(where, Shape) or callable(where)
        tris = self.triangles_where(where, tolerance=tolerance) if is_rule else where  # type: ignore[arg-type]
        return replace(self, surfaces={**self.surfaces, name: _some("surface", name, tris)})

    def with_cavity(self, name: str, triangles: np.ndarray | None = None) -> TetMesh:
        """A copy with a named cavity (k, 3); without triangles, the only cavity that the mesh has."""
        if triangles is None:
            found = self.find_cavities()
            if len(found) != 1:
                raise MeshError(f"cavity {name!r}: the mesh has {len(found)} cavities; say which one")
            triangles = found[0]
        triangles = _indices("triangles", triangles, len(self.nodes), 3)
        if len(triangles) == 0 or len(topology.open_edges(triangles)):
            raise MeshError(f"cavity {name!r} is not a closed surface")
        if topology.enclosed_volume(self.nodes, triangles) <= 0.0:
            raise MeshError(f"cavity {name!r} is turned inside out: its enclosed volume is not positive")
        return replace(self, cavities={**self.cavities, name: triangles})

    def merged(self, *others: TetMesh) -> TetMesh:
        """All meshes side by side, not welded. Equal names are joined; equal cavities are refused."""
        meshes = (self, *others)
        node0 = np.cumsum([0, *(len(m.nodes) for m in meshes)])
        tet0 = np.cumsum([0, *(len(m.tets) for m in meshes)])
        hex0 = tet0[-1] + np.cumsum([0, *(len(m.hexes) for m in meshes)])
        labels: dict[str, dict[str, np.ndarray]] = {}
        for label in ("regions", "node_sets", "surfaces", "cavities"):
            joined: dict[str, list[np.ndarray]] = {}
            for i, mesh in enumerate(meshes):
                for name, ids in getattr(mesh, label).items():
                    if label == "cavities" and name in joined:
                        raise ArgumentError("others", f"two meshes have a cavity named {name!r}", "distinct names")
                    if label == "regions":
                        m = len(mesh.tets)
                        shifted = np.where(ids < m, ids + tet0[i], ids - m + hex0[i])
                    else:
                        shifted = ids + node0[i]
                    joined.setdefault(name, []).append(shifted)
            labels[label] = {k: np.concatenate(v) for k, v in joined.items()}
        return TetMesh(
            np.concatenate([m.nodes for m in meshes]),
            np.concatenate([m.tets + o for m, o in zip(meshes, node0)]),
            np.concatenate([m.hexes + o for m, o in zip(meshes, node0)]),
            **labels,
        )

    def transformed(self, rotation: Any = None, translation: Any = (0.0, 0.0, 0.0)) -> TetMesh:
        """A copy with nodes x -> rotation x + translation (rotation (3, 3), a proper one)."""
        turn = np.eye(3) if rotation is None else np.asarray(rotation, dtype=float)
        shift = np.asarray(translation, dtype=float)
        if turn.shape != (3, 3) or not np.allclose(turn @ turn.T, np.eye(3), atol=1e-9) or np.linalg.det(turn) < 0:
            raise ArgumentError("rotation", "is not a proper rotation matrix", "(3, 3), R R^T = 1, det R = 1")
        if shift.shape != (3,) or not np.isfinite(shift).all():
            raise ArgumentError("translation", "is not a finite vector", "(3,) [m]")
        return replace(self, nodes=self.nodes @ turn.T + shift)

    def scaled(self, factor: float) -> TetMesh:
        """A copy with all positions multiplied by a positive number."""
        if not np.isfinite(factor) or factor <= 0.0:
            raise ArgumentError("factor", f"is {factor!r}", "a positive number")
        return replace(self, nodes=self.nodes * float(factor))

    def compacted(self) -> TetMesh:
        """A copy without unreferenced nodes; node sets lose the removed nodes."""
        used = np.zeros(len(self.nodes), dtype=bool)
        used[self.tets.reshape(-1)] = True
        used[self.hexes.reshape(-1)] = True
        new = np.cumsum(used) - 1
        return replace(
            self,
            nodes=self.nodes[used],
            tets=new[self.tets],
            hexes=new[self.hexes],
            node_sets={k: new[v[used[v]]] for k, v in self.node_sets.items()},
            surfaces={k: new[v] for k, v in self.surfaces.items()},
            cavities={k: new[v] for k, v in self.cavities.items()},
        )

    # ---- structured meshes ----------------------------------------------------------------------

    @classmethod
    def box(
        cls, lengths: Any, cells: Any, origin: Any = (0.0, 0.0, 0.0), *, hexes: bool = False, prisms: bool = False
    ) -> TetMesh:
        """A structured box.

        Args:
            lengths: (3,) edge lengths [m].
            cells: (3,) number of cells along x, y, z.
            origin: lowest corner [m].
            hexes: hexahedra instead of six tets per cell.
            prisms: two prisms per cell, their triangles in x and y, their thickness along z.

        Node (i, j, k) has index (i (ny+1) + j) (nz+1) + k.
        """
        size = _vector("lengths", lengths, positive=True)
        count = _counts("cells", cells)
        full = np.ones(tuple(count), dtype=bool)
        mesh = cls._grid(full, size / count, _vector("origin", origin), hexes or prisms)
        if not prisms:
            return mesh
        halves = np.array([[[0, 1, 2, 2, 4, 5, 6, 6], [0, 2, 3, 3, 4, 6, 7, 7]],
                           [[0, 1, 3, 3, 4, 5, 7, 7], [1, 2, 3, 3, 5, 6, 7, 7]]])  # fmt: skip
        i, j, _ = np.indices(tuple(count))
        way = ((i + j) % 2).ravel()  # diagonals alternate, else a bent strip would twist
        return replace(mesh, hexes=np.take_along_axis(mesh.hexes[:, None], halves[way], axis=2).reshape(-1, 8))

    @classmethod
    def voxels(cls, mask: Any, spacing: Any, origin: Any = (0.0, 0.0, 0.0), *, hexes: bool = False) -> TetMesh:
        """A conforming mesh of the True cells of a 3-D mask; unused nodes are left out.

        Args:
            mask: (nx, ny, nz) booleans.
            spacing: cell edge [m], one number or three.
            origin: lowest corner of cell (0, 0, 0) [m].
            hexes: hexahedra instead of tets.
        """
        cells = np.asarray(mask)
        if cells.ndim != 3 or cells.dtype != bool or not cells.any():
            raise ArgumentError("mask", f"has shape {cells.shape} and type {cells.dtype}", "3-D, bool, some True")
        step = _vector("spacing", np.broadcast_to(np.asarray(spacing, dtype=float), (3,)), positive=True)
        return cls._grid(cells, step, _vector("origin", origin), hexes).compacted()

    @classmethod
    def _grid(cls, mask: np.ndarray, step: np.ndarray, origin: np.ndarray, hexes: bool) -> TetMesh:
        ny, nz = mask.shape[1] + 1, mask.shape[2] + 1
        index = np.stack(np.meshgrid(*(np.arange(c + 1) for c in mask.shape), indexing="ij"), axis=-1)
        nodes = origin + index.reshape(-1, 3) * step
        i, j, k = np.nonzero(mask)
        offsets = [((i + a) * ny + (j + b)) * nz + (k + c) for a in (0, 1) for b in (0, 1) for c in (0, 1)]
        corners = np.stack(offsets, axis=1)
        if hexes:
            return cls(nodes, np.zeros((0, 4), dtype=np.int64), corners[:, topology.CELL_TO_VTK])
        return cls(nodes, topology.oriented(nodes, corners[:, topology.CELL_TETS].reshape(-1, 4)))


def _frozen(array: np.ndarray) -> np.ndarray:
    array.setflags(write=False)
    return array


def _points(name: str, given: Any) -> np.ndarray:
    try:
        array = np.array(given, dtype=np.float64, order="C")
    except (TypeError, ValueError) as error:
        raise ArgumentError(name, f"is not an array of numbers ({error})", "(n, 3) [m]") from None
    if array.ndim != 2 or array.shape[1] != 3:
        raise ArgumentError(name, f"has shape {array.shape}", "(n, 3) [m]")
    bad = np.flatnonzero(~np.isfinite(array).all(axis=1))
    if len(bad):
        raise ArgumentError(name, f"has NaN or infinite values in {len(bad)} rows, first row {bad[0]}", "finite")
    return array


def _indices(name: str, given: Any, limit: int, width: int) -> np.ndarray:
    array = np.asarray(given)
    if array.size == 0:
        return _frozen(np.zeros((0, width) if width else (0,), dtype=np.int64))
    shape = f"(k, {width})" if width else "(k,)"
    if array.ndim != (2 if width else 1) or (width and array.shape[1] != width):
        raise ArgumentError(name, f"has shape {array.shape}", f"{shape} integers")
    if array.dtype.kind not in "iu":
        raise ArgumentError(name, f"has type {array.dtype}", f"{shape} integers")
    if array.min() < 0 or array.max() >= limit:
        raise ArgumentError(name, f"has indices from {array.min()} to {array.max()}", f"0 to {limit - 1}")
    return _frozen(np.array(array, dtype=np.int64, order="C"))


def _vector(name: str, given: Any, *, positive: bool = False) -> np.ndarray:
    try:
        array = np.array(given, dtype=float)
    except (TypeError, ValueError):
        raise ArgumentError(name, f"is {given!r}", "three numbers") from None
    if array.shape != (3,) or not np.isfinite(array).all() or (positive and (array <= 0.0).any()):
        raise ArgumentError(name, f"is {given!r}", "three finite positive numbers" if positive else "three numbers")
    return array


def _counts(name: str, given: Any) -> np.ndarray:
    array = np.asarray(given)
    if array.shape != (3,) or array.dtype.kind not in "iu" or (array < 1).any():
        raise ArgumentError(name, f"is {given!r}", "three integers of at least 1")
    return array.astype(np.int64)


def _picked(where: Where, points: np.ndarray, tolerance: float) -> np.ndarray:
    if isinstance(where, Shape):
        return where.distance(points) <= tolerance
    if not callable(where):
        raise ArgumentError("where", f"is a {type(where).__name__}", "a Shape or a function of points (n, 3)")
    mask = np.asarray(where(points))
    if mask.shape != (len(points),) or mask.dtype != bool:
        raise ArgumentError("where", f"returned {mask.dtype} of shape {mask.shape}", f"({len(points)},) booleans")
    return mask


def _some(kind: str, name: str, ids: Any) -> np.ndarray:
    array = np.asarray(ids)
    if array.size == 0:
        raise MeshError(f"{kind} {name!r} would be empty: nothing in the mesh was picked")
    return array
