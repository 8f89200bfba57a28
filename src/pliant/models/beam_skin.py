"""The skin of beams: capsules along the curves of the rods, for contact and for drawing."""

from __future__ import annotations

import numpy as np

from pliant._kernels import beam_skin as kernels
from pliant.models.beam_layout import BeamLayout
from pliant.state import Skin

Array = np.ndarray


class BeamSkin:
    """Points on the rods and the capsules between them.

    Between two nodes the rod follows the cubic curve with the nodes' tangents at its ends, which is how a beam
    without load between its nodes bends.

    Args:
        layout: nodes and elements.
        count: capsules per element; with 1 the points are the nodes.
    """

    def __init__(self, layout: BeamLayout, count: int) -> None:
        self._layout = layout
        nodes, factors, segments, radius, body = [], [], [], [], []
        s = np.arange(count) / count
        shape = np.column_stack([(1 + 2 * s) * (1 - s) ** 2, s * (1 - s) ** 2, s**2 * (3 - 2 * s), s**2 * (s - 1)])
        vertices = 0
        for first, last, element in layout.chains:
            n = last - first
            a = np.repeat(np.arange(first, last), count)
            own = np.tile(shape, (n, 1))
            own[:, 1::2] *= np.repeat(layout.lengths[element : element + n], count)[:, None]
            nodes += [np.column_stack([a, a + 1]), np.array([[last, last]])]
            factors += [own, np.array([[1.0, 0.0, 0.0, 0.0]])]
            thick = layout.radius[first : last + 1]
            radius.append(np.interp(np.linspace(0, n, n * count + 1), np.arange(n + 1), thick))
            body.append(np.full(n * count + 1, layout.body_of[first]))
            along = vertices + np.arange(n * count + 1)
            segments.append(np.column_stack([along[:-1], along[1:]]))
            vertices += n * count + 1
        self.nodes, self.factors = np.vstack(nodes).astype(np.int64), np.ascontiguousarray(np.vstack(factors))
        self.topology = Skin(
            np.zeros((0, 3), np.int64), np.vstack(segments).astype(np.int64), np.concatenate(radius),
            np.concatenate(body),
        )  # fmt: skip

    def positions(self, p: Array, Q: Array) -> Array:
        """World positions of the skin's vertices [m] (n, 3), for poses of the nodes."""
        return kernels.skin_points(p, kernels.tangents(Q), self.nodes, self.factors)

    def rows(self, Q: Array, vertices: Array, weights: Array, directions: Array) -> Array:
        """Derivative of sum_k w[i,k] d[i] . x[vertices[i,k]] w.r.t. q (m, nv)."""
        L = self._layout
        return kernels.skin_rows(
            kernels.tangents(Q), self.nodes, self.factors, np.asarray(vertices, np.int64), np.asarray(weights, float),
            np.asarray(directions, float), L.place, L.share, L.nv,
        )  # fmt: skip
