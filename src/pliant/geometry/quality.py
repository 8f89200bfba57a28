"""What is wrong with a mesh, in numbers and in sentences."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from pliant.geometry import topology

if TYPE_CHECKING:
    from pliant.geometry.mesh import TetMesh

ZERO_VOLUME = 1e-12  # volume-length quality below which a tet counts as flat
SLIVER_ANGLE = 2.0  # [degrees] smallest dihedral angle below which a tet counts as a sliver


def volume_length_quality(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """6 sqrt(2) V / l_rms^3 of each tet (m,): 1 for the regular tet, 0 flat, negative inverted."""
    x = nodes[tets]
    edges = x[:, topology.TET_EDGES[:, 1]] - x[:, topology.TET_EDGES[:, 0]]
    rms = np.sqrt(np.einsum("kei,kei->k", edges, edges) / 6.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        quality = 6.0 * np.sqrt(2.0) * topology.tet_volumes(nodes, tets) / rms**3
    return np.where(rms > 0.0, quality, 0.0)


def dihedral_angles(nodes: np.ndarray, tets: np.ndarray) -> np.ndarray:
    """The six dihedral angles of each tet (m, 6) [degrees], in the order of `topology.TET_EDGES`."""
    x = nodes[tets]
    angles = np.empty((len(tets), 6))
    for e, (i, j) in enumerate(topology.TET_EDGES):
        k, m = (n for n in range(4) if n not in (i, j))
        axis = x[:, j] - x[:, i]
        u, v = np.cross(axis, x[:, k] - x[:, i]), np.cross(axis, x[:, m] - x[:, i])
        sine = np.linalg.norm(np.cross(u, v), axis=1)
        angles[:, e] = np.degrees(np.arctan2(sine, np.einsum("ki,ki->k", u, v)))
    return angles


@dataclass(frozen=True, eq=False)
class MeshQuality:
    """Report of `TetMesh.quality()`.

    Attributes:
        inverted: tets of negative volume (k,).
        flat: tets of (numerically) zero volume (k,).
        slivers: tets with a dihedral angle under 2 degrees, not flat and not inverted (k,).
        bad_hexes: hexahedra with a corner Jacobian that is not positive (k,).
        parts: number of disconnected parts.
        nonmanifold_faces: (k, 3) faces shared by more than two tets.
        pinched_nodes: boundary nodes where two sheets of the surface touch in a point or an edge (k,).
        unreferenced: nodes that no cell uses (k,).
        open_cavities: names of cavities that are not closed or have no positive volume.
        foreign_surfaces: names of surfaces or cavities with triangles that are not on the boundary.
        smallest_angle: smallest dihedral angle [degrees].
        largest_angle: largest dihedral angle [degrees].
        mean_quality: mean volume-length quality (1 is the regular tet).
        smallest_quality: its minimum.
        largest_aspect: largest ratio of longest edge to smallest height.
        cells: number of tets and hexahedra.
        volume: total volume [m^3].
    """

    inverted: np.ndarray
    flat: np.ndarray
    slivers: np.ndarray
    bad_hexes: np.ndarray
    parts: int
    nonmanifold_faces: np.ndarray
    pinched_nodes: np.ndarray
    unreferenced: np.ndarray
    open_cavities: tuple[str, ...]
    foreign_surfaces: tuple[str, ...]
    smallest_angle: float
    largest_angle: float
    mean_quality: float
    smallest_quality: float
    largest_aspect: float
    cells: int
    volume: float

    @property
    def faults(self) -> tuple[str, ...]:
        """What makes the mesh impossible to simulate, one sentence each."""
        said = []
        if self.cells == 0:
            said.append("The mesh has no cells.")
        for what, which in (
            ("tets are inverted (negative volume)", self.inverted),
            ("tets have zero volume", self.flat),
            ("hexahedra are inverted or flat", self.bad_hexes),
            ("faces are shared by more than two tets", self.nonmanifold_faces),
            ("nodes belong to no cell", self.unreferenced),
        ):
            if len(which):
                said.append(f"{len(which)} {what}: {_listed(which)}.")
        said += [f"Cavity {name!r} is not a closed surface of positive volume." for name in self.open_cavities]
        said += [f"{name!r} has triangles that are not on the boundary." for name in self.foreign_surfaces]
        return tuple(said)

    @property
    def warnings(self) -> tuple[str, ...]:
        """What can be simulated but deserves a look, one sentence each."""
        said = []
        if len(self.slivers):
            said.append(
                f"{len(self.slivers)} tets are slivers (dihedral angle under {SLIVER_ANGLE:g} degrees): "
                f"{_listed(self.slivers)}."
            )
        if self.parts > 1:
            said.append(f"The mesh has {self.parts} disconnected parts.")
        if len(self.pinched_nodes):
            said.append(f"The boundary is pinched at {len(self.pinched_nodes)} nodes: {_listed(self.pinched_nodes)}.")
        return tuple(said)

    @property
    def problems(self) -> tuple[str, ...]:
        """Faults, then warnings."""
        return self.faults + self.warnings

    @property
    def usable(self) -> bool:
        """Whether the mesh can be simulated (no faults; warnings are allowed)."""
        return not self.faults

    @property
    def elements(self) -> tuple[int, ...]:
        """The cells behind the faults."""
        return tuple(int(e) for e in (*self.inverted, *self.flat, *self.bad_hexes))

    def __str__(self) -> str:
        lines = [
            f"{self.cells} cells, {self.volume:.6g} m^3, dihedral angles {self.smallest_angle:.1f} to "
            f"{self.largest_angle:.1f} degrees, quality {self.smallest_quality:.3f} (min) "
            f"{self.mean_quality:.3f} (mean)"
        ]
        return "\n".join([*lines, *(f"  - {p}" for p in self.problems)])


def _listed(items: np.ndarray) -> str:
    text = ", ".join(str(i.tolist() if isinstance(i, np.ndarray) else int(i)) for i in items[:10])
    return text + (f" and {len(items) - 10} more" if len(items) > 10 else "")


def hex_jacobians(nodes: np.ndarray, hexes: np.ndarray) -> np.ndarray:
    """Corner Jacobian determinants of VTK hexahedra, collapsed ones too (h, 8) [m^3]."""
    neighbours = np.array([[1, 3, 4], [2, 0, 5], [3, 1, 6], [0, 2, 7], [7, 5, 0], [4, 6, 1], [5, 7, 2], [6, 4, 3]])
    x = nodes[hexes]
    arms = x[:, neighbours] - x[:, :, None, :]
    out = np.linalg.det(arms)
    prisms = topology.collapsed(hexes)
    if prisms.any():  # an edge of length zero is replaced by the next one
        for corner, three in ((2, [0, 1, 6]), (3, [0, 1, 7]), (6, [5, 4, 2]), (7, [5, 4, 3])):
            out[prisms, corner] = np.linalg.det(x[prisms][:, three] - x[prisms, corner][:, None])
    return out


def hex_volumes(nodes: np.ndarray, hexes: np.ndarray) -> np.ndarray:
    """Volumes of VTK hexahedra (h,) [m^3], exact for the trilinear map with bilinear faces."""
    x = nodes[hexes]
    if len(hexes) == 0:
        return np.zeros(0)
    # Divergence theorem; a bilinear face's flux of x is the mean of its two triangulations.
    total = np.zeros(len(hexes))
    centre = x.mean(axis=1)
    for face in topology.HEX_FACES:
        a, b, c, d = (x[:, f] - centre for f in face)
        for p, q, r in ((a, b, c), (a, c, d), (b, c, d), (b, d, a)):
            total += np.einsum("ki,ki->k", p, np.cross(q, r)) / 12.0
    return total


def assess(mesh: TetMesh) -> MeshQuality:
    """Examine a mesh (see `TetMesh.quality`)."""
    nodes, tets, hexes = mesh.nodes, mesh.tets, mesh.hexes
    n = len(nodes)
    quality = volume_length_quality(nodes, tets)
    angles = dihedral_angles(nodes, tets) if len(tets) else np.zeros((0, 6))
    inverted = np.flatnonzero(quality < -ZERO_VOLUME)
    flat = np.flatnonzero(np.abs(quality) <= ZERO_VOLUME)
    good = quality > ZERO_VOLUME
    slivers = np.flatnonzero(good & (angles.min(axis=1, initial=180.0) < SLIVER_ANGLE))
    jacobians = hex_jacobians(nodes, hexes) if len(hexes) else np.zeros((0, 8))
    used = np.zeros(n, dtype=bool)
    used[tets.reshape(-1)] = True
    used[hexes.reshape(-1)] = True
    labels = mesh.components()
    boundary = mesh.boundary()
    keys = np.unique(topology.face_keys(boundary, max(n, 1))) if len(boundary) else np.zeros(0, dtype=np.int64)
    open_cavities, foreign = [], []
    for name, triangles in mesh.cavities.items():
        if len(topology.open_edges(triangles)) or topology.enclosed_volume(nodes, triangles) <= 0.0:
            open_cavities.append(name)
    for name, triangles in (*mesh.surfaces.items(), *mesh.cavities.items()):
        if len(triangles) and not np.isin(topology.face_keys(triangles, max(n, 1)), keys).all():
            foreign.append(name)
    bad_edges = topology.open_edges(boundary)
    pinched = np.union1d(topology.pinched_nodes(boundary), np.unique(bad_edges)).astype(np.int64)
    if len(tets):
        x = nodes[tets]
        longest = np.linalg.norm(x[:, topology.TET_EDGES[:, 1]] - x[:, topology.TET_EDGES[:, 0]], axis=2).max(axis=1)
        f = x[:, topology.TET_FACES]
        area = np.linalg.norm(np.cross(f[:, :, 1] - f[:, :, 0], f[:, :, 2] - f[:, :, 0]), axis=2).max(axis=1) / 2
        with np.errstate(divide="ignore", invalid="ignore"):
            aspect = longest * area / np.abs(3.0 * topology.tet_volumes(nodes, tets))
        largest_aspect = float(np.nanmax(aspect)) if not np.isnan(aspect).all() else float("inf")
    else:
        largest_aspect = float("nan")
    return MeshQuality(
        inverted=inverted,
        flat=flat,
        slivers=slivers,
        bad_hexes=np.flatnonzero((jacobians <= 0.0).any(axis=1)),
        parts=len(np.unique(labels[used])),
        nonmanifold_faces=topology.nonmanifold_faces(tets, n),
        pinched_nodes=pinched,
        unreferenced=np.flatnonzero(~used),
        open_cavities=tuple(open_cavities),
        foreign_surfaces=tuple(dict.fromkeys(foreign)),
        smallest_angle=float(angles.min()) if len(tets) else float("nan"),
        largest_angle=float(angles.max()) if len(tets) else float("nan"),
        mean_quality=float(quality.mean()) if len(tets) else float("nan"),
        smallest_quality=float(quality.min()) if len(tets) else float("nan"),
        largest_aspect=largest_aspect,
        cells=len(tets) + len(hexes),
        volume=mesh.volume,
    )
