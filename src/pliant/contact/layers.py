"""Volume contact on a layered grid: one constraint per cell of overlap.

Rays along x, y and z find the intervals that lie inside of two bodies. Every interval adds
pixel area x length to the overlap V of its cell. Rays along one axis see the component of the
surface's area vector along that axis, so that the three axes together give the gradient

    d V / d x_k = sum over axes, end and start of the intervals of  +- pixel area . b_k . axis ,

while V itself, which each axis measures on its own, is averaged with the weights n_axis^2 of the
patch's normal n: rays along a thin overlap would measure it badly. The gap of a cell is the mean
gap over its patch: with the skin inflated by the alarm distance a,  gap = a - V / A, where A is
the length of the patch's area vector. Cells are fixed in the world, hence their keys are stable.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant._kernels.layers import overlaps, raster
from pliant.contact.contacts import Contacts
from pliant.contact.obstacles import Obstacle
from pliant.contact.pairs import BodyContact, SelfContact, SoftContact
from pliant.contact.primitives import Box, Plane
from pliant.contact.shapes import Pipe
from pliant.contact.surface import Surface
from pliant.errors import ArgumentError

Array = np.ndarray
_CELL = 12  # kind of a cell in the keys
_SHIFT = np.array([0.3819660113, 0.2360679775, 0.4142135624])  # keeps rays off vertices and edges


@dataclass(frozen=True)
class VolumeGrid:
    """Resolution of volume contact.

    Attributes:
        pixel: distance of the rays [m].
        cell: size of the cells, one constraint each [m].
        inflate: grow the skin by the alarm distance, so that contacts exist before bodies overlap.
    """

    pixel: float
    cell: float
    inflate: bool = True


@dataclass(frozen=True, eq=False)
class _Scene:
    """What is rasterised: the skin and, behind it, the rigid obstacle."""

    x: Array
    triangles: Array
    label: Array  # per triangle: 0 first body, 1 second, -1 ignored
    soft: int  # vertices before this one belong to the skin
    reach: float  # how much the two sides were inflated together


def _closed(obstacle: Obstacle, x: Array) -> tuple[Array, Array]:
    """A closed surface of the obstacle, large enough for what is near."""
    if isinstance(obstacle, Pipe):
        raise ArgumentError("method", "a Pipe has no closed surface", "'proximity'")
    if not isinstance(obstacle, Plane):
        return obstacle.surface()
    local = obstacle.pose.undo(x)
    size = float(np.max(np.ptp(local, axis=0)))
    n = np.asarray(obstacle.normal)
    height = (local - obstacle.point) @ n
    depth = 2.0 * size + abs(min(0.0, float(height.min())))
    foot = local.mean(axis=0)
    foot = foot - ((foot - obstacle.point) @ n) * n
    other = np.eye(3)[np.argmin(np.abs(n))]
    u = np.cross(n, other)
    u /= np.linalg.norm(u)
    frame = np.stack([u, np.cross(n, u), n], axis=1)
    slab = Box(foot - 0.5 * depth * n, (2.0 * size, 2.0 * size, 0.5 * depth), rotation=frame)
    return slab.placed(obstacle.pose).surface()


def _scene(
    surface: Surface, x: Array, obstacle: Obstacle | SoftContact, grid: VolumeGrid, reach: float
) -> _Scene:
    t = surface.triangles
    inflated = x
    body = surface.body[t[:, 0]]
    if isinstance(obstacle, SelfContact):
        label = np.zeros(len(t), dtype=np.int64)
        if obstacle.body is not None:
            label[body != obstacle.body] = -1
        return _Scene(x, t, label, len(x), 0.0)
    share = 1.0 if isinstance(obstacle, Obstacle) else 0.5
    if grid.inflate:
        inflated = x + share * reach * surface.faces(x).vertex_normals
    else:
        reach = 0.0
    if isinstance(obstacle, BodyContact):
        label = np.full(len(t), -1, dtype=np.int64)
        label[body == obstacle.body_a] = 0
        label[body == obstacle.body_b] = 1
        return _Scene(inflated, t, label, len(x), reach)
    assert isinstance(obstacle, Obstacle)
    hard, faces = _closed(obstacle, x)
    label = np.concatenate([np.zeros(len(t), dtype=np.int64), np.ones(len(faces), dtype=np.int64)])
    triangles = np.concatenate([t, faces + len(x)])
    return _Scene(np.concatenate([inflated, hard]), triangles, label, len(x), reach)


def volume_contacts(
    surface: Surface, x: Array, obstacle: Obstacle | SoftContact, index: int, grid: VolumeGrid,
    *, alarm: float, offset: float,
) -> Contacts:  # fmt: skip
    """One contact per cell of overlap between the skin at x (n, 3) and an obstacle or another body."""
    if not len(surface.triangles):
        raise ArgumentError("method", "volume contact needs a skin of closed triangles", "'proximity'")
    scene = _scene(surface, x, obstacle, grid, alarm + offset)
    twice = isinstance(obstacle, SelfContact)
    region = _region(scene, twice)
    if region is None:
        return Contacts.none()
    cells, axes, middles, volumes, owners, hits, slopes = _intervals(scene, grid, *region, twice)
    if not len(cells):
        return Contacts.none()
    unique, cell_of = np.unique(cells, return_inverse=True)
    m = len(unique)
    cell = cell_of[owners]
    first = _first_side(scene, hits, slopes, cell, m, twice)
    area_vector = np.stack(
        [np.bincount(cell[first], weights=slopes[first, k], minlength=m) for k in range(3)], axis=1
    )
    area = np.linalg.norm(area_vector, axis=1)
    good = area > 1e-3 * grid.pixel**2
    normal = -area_vector / np.where(good, area, 1.0)[:, None]
    trust = normal[cell_of, axes] ** 2
    volume = np.bincount(cell_of, weights=trust * volumes, minlength=m)
    total = np.where(volume > 0.0, volume, 1.0)
    share = (trust * volumes)[:, None] * middles
    sums = [np.bincount(cell_of, weights=share[:, k], minlength=m) / total for k in range(3)]
    middle = np.stack(sums, axis=1)
    good &= volume > 0.0
    vertices, gradient = _gather(scene, hits, slopes, cell, m)
    gradient = -gradient / np.where(good, area, 1.0)[:, None, None]
    weights = np.einsum("mki,mi->mk", gradient, normal)
    position = np.einsum("mk,mki->mi", weights, x[vertices])
    contacts = Contacts.build(
        gap=scene.reach - volume / np.where(good, area, 1.0) - offset, normal=normal, vertices=vertices,
        weights=weights, position=position, point=middle, obstacle=np.full(m, index),
        key=(np.int64(index) << 5 | np.int64(_CELL)) << 50 | unique,
        friction=np.full(m, obstacle.friction), gradients=gradient,
    )  # fmt: skip
    return contacts.selected(good)


def _region(scene: _Scene, twice: bool) -> tuple[Array, Array] | None:
    """Corners of the box in which the two sides can overlap, or None."""
    boxes = []
    for side in (0,) if twice else (0, 1):
        corner = scene.x[np.unique(scene.triangles[scene.label == side])]
        if not len(corner):
            return None
        boxes.append((corner.min(axis=0), corner.max(axis=0)))
    low = np.max([b[0] for b in boxes], axis=0)
    high = np.min([b[1] for b in boxes], axis=0)
    return None if np.any(low >= high) else (low, high)


def _intervals(scene: _Scene, grid: VolumeGrid, low: Array, high: Array, twice: bool) -> tuple[Array, ...]:
    """Cells, axes, middles, volumes of intervals; of their ends: interval, (triangle, bary), area vector."""
    pixel = grid.pixel
    base = (np.floor(low / pixel) + _SHIFT) * pixel  # pixels are fixed in the world
    parts = []
    for axis in range(3):
        u, v = (axis + 1) % 3, (axis + 2) % 3
        shape = np.ceil((high - base)[[u, v]] / pixel) + 1.0
        shape = np.maximum(shape, 1.0).astype(np.int64)
        if int(shape[0]) * int(shape[1]) > 50_000_000:
            raise ArgumentError("pixel", f"{pixel} m gives {shape[0]} x {shape[1]} rays", "larger pixels")
        start, triangle, depth, bary = raster(scene.x, scene.triangles, axis, base, pixel, shape)
        found = overlaps(start, triangle, scene.label, twice)
        if not len(found):
            continue
        p, a, b = found.T
        middle = np.empty((len(p), 3))
        middle[:, u] = base[u] + pixel * (p // shape[1])
        middle[:, v] = base[v] + pixel * (p % shape[1])
        middle[:, axis] = 0.5 * (depth[a] + depth[b])
        ends = np.concatenate([a, b])
        direction = np.zeros((len(ends), 3))
        direction[: len(a), axis] = -(pixel**2)
        direction[len(a) :, axis] = pixel**2
        t = triangle[ends]
        t = np.where(t < 0, -t - 1, t)
        volume = pixel**2 * (depth[b] - depth[a])
        parts.append((middle, volume, t, bary[ends], direction, np.full(len(p), axis)))
    if not parts:
        empty = np.zeros(0)
        return np.zeros(0, dtype=np.int64), empty, empty, empty, empty, empty, empty
    middles = np.concatenate([part[0] for part in parts])
    volumes = np.concatenate([part[1] for part in parts])
    offsets = np.cumsum([0] + [len(part[0]) for part in parts[:-1]])
    owners = np.concatenate(
        [np.tile(np.arange(len(part[0])), 2) + o for part, o in zip(parts, offsets, strict=True)]
    )
    hits = (np.concatenate([part[2] for part in parts]), np.concatenate([part[3] for part in parts]))
    slopes = np.concatenate([part[4] for part in parts])
    axes = np.concatenate([part[5] for part in parts])
    grid_cell = np.floor(middles / grid.cell).astype(np.int64) + (1 << 15)
    cells = (grid_cell[:, 0] << 32) | (grid_cell[:, 1] << 16) | grid_cell[:, 2]
    return cells, axes, middles, volumes, owners, hits, slopes  # type: ignore[return-value]


def _first_side(scene: _Scene, hits: Array, slopes: Array, cell: Array, m: int, twice: bool) -> Array:
    """Which ends belong to the first body; within one body, to one of the two sheets that meet."""
    if not twice:
        return scene.label[hits[0]] == 0
    corners = scene.x[scene.triangles[hits[0]]]
    n = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    n /= np.linalg.norm(n, axis=1)[:, None]
    spread = np.zeros((m, 3, 3))
    np.add.at(spread, cell, n[:, :, None] * n[:, None, :])
    main = np.linalg.eigh(spread)[1][:, :, 2]
    # eigenvectors have no sign of their own; fix it, or the side would flicker
    lead = np.take_along_axis(main, np.argmax(np.abs(main), axis=1)[:, None], axis=1)
    main = main * np.sign(lead)
    return np.einsum("ni,ni->n", n, main[cell]) > 0.0


def _gather(scene: _Scene, hits: Array, slopes: Array, cell: Array, m: int) -> tuple[Array, Array]:
    """Skin vertices (m, k) of each cell and the gradients of its volume (m, k, 3)."""
    vertex = scene.triangles[hits[0]].reshape(-1)
    value = (hits[1][:, :, None] * slopes[:, None, :]).reshape(-1, 3)
    owner = np.repeat(cell, 3)
    mine = vertex < scene.soft
    tag, where = np.unique(owner[mine] * np.int64(scene.soft) + vertex[mine], return_inverse=True)
    total = np.stack(
        [np.bincount(where, weights=value[mine, k], minlength=len(tag)) for k in range(3)], axis=1
    )
    row, column = tag // scene.soft, tag % scene.soft
    start = np.searchsorted(row, np.arange(m))
    place = np.arange(len(tag)) - start[row]
    k = int(place.max()) + 1 if len(tag) else 1
    lead = column[np.minimum(start, len(tag) - 1)]  # unused places repeat a vertex of the cell
    vertices = np.repeat(lead[:, None], k, axis=1)
    gradient = np.zeros((m, k, 3))
    vertices[row, place] = column
    gradient[row, place] = total
    return vertices, gradient
