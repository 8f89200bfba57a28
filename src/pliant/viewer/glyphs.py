"""Small drawn things as triangles: balls, arrows, tubes."""

from __future__ import annotations

import numpy as np

from pliant.viewer.surface import tube, tube_triangles

Array = np.ndarray
Mesh = tuple[Array, Array]
_GOLDEN = (1 + 5**0.5) / 2


def merged(meshes: list[Mesh]) -> Mesh:
    """Several meshes as one."""
    if not meshes:
        return np.zeros((0, 3)), np.zeros((0, 3), np.int64)
    offsets = np.cumsum([0] + [len(v) for v, _ in meshes[:-1]])
    return np.concatenate([v for v, _ in meshes]), np.concatenate(
        [t + o for (_, t), o in zip(meshes, offsets)]
    )


def unit_ball() -> Mesh:
    """A ball of radius 1 (an icosahedron, once refined)."""
    base = np.array([(0, s, t * _GOLDEN) for s in (-1, 1) for t in (-1, 1)], float)
    corners = np.concatenate([base, base[:, [1, 2, 0]], base[:, [2, 0, 1]]])
    corners /= np.linalg.norm(corners[0])
    # Faces are the triples at mutual edge distance.
    gap = np.linalg.norm(corners[:, None] - corners[None], axis=2)
    edge = np.isclose(gap, gap[gap > 0].min())
    faces = [
        (i, j, k)
        for i in range(12)
        for j in range(i + 1, 12)
        for k in range(j + 1, 12)
        if edge[i, j] and edge[j, k] and edge[i, k]
    ]
    triangles = np.array(
        [
            f
            if np.dot(np.cross(*(corners[f[m]] - corners[f[0]] for m in (1, 2))), corners[f[0]]) > 0
            else f[::-1]
            for f in faces
        ]
    )
    points, out, middle = list(corners), [], {}
    for a, b, c in triangles.tolist():
        mids = []
        for i, j in ((a, b), (b, c), (c, a)):
            key = (min(i, j), max(i, j))
            if key not in middle:
                middle[key] = len(points)
                points.append((points[i] + points[j]) / np.linalg.norm(points[i] + points[j]))
            mids.append(middle[key])
        out += [(a, mids[0], mids[2]), (b, mids[1], mids[0]), (c, mids[2], mids[1]), tuple(mids)]
    return np.array(points), np.array(out, np.int64)


def balls(centres: Array, radius: float) -> Mesh:
    """Balls around points [m] (n, 3)."""
    points, triangles = unit_ball()
    return merged([(c + radius * points, triangles) for c in centres])


def arrows(segments: Array, radius: float) -> Mesh:
    """Arrows from segments[:, 0] to segments[:, 1] [m] (n, 2, 3)."""
    meshes = []
    for start, end in segments:
        length = float(np.linalg.norm(end - start))
        if length <= 0:
            continue
        head = min(6 * radius, 0.6 * length)
        neck = end - (end - start) * (head / length)
        line = np.stack([start, neck, neck, end])
        # A step in radius at the neck makes the head; the rings stay distinct.
        line[2] += (end - start) * 1e-6
        meshes.append(
            (tube(line, np.array([radius, radius, 2.6 * radius, 0.02 * radius]))[0], tube_triangles(4))
        )
    return merged(meshes)
