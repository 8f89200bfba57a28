"""Points of the skin of beams: on the cubic curve between two nodes that has their tangents at its ends.

x = c0 p_a + c1 t_a + c2 p_b + c3 t_b with t = R(Q) e_x; a point at a node has c = (1, 0, 0, 0).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.beam_chain import cross, rotation


@njit(cache=True)
def tangents(Q):
    """First axes of the nodes (n, 3)."""
    out, R = np.empty((len(Q), 3)), np.empty((3, 3))
    for n in range(len(Q)):
        rotation(Q[n], R)
        for k in range(3):
            out[n, k] = R[k, 0]
    return out


@njit(cache=True)
def skin_points(p, t, nodes, factors):
    """Positions (m, 3) of points between nodes (m, 2) with factors (m, 4); t: tangents of the nodes."""
    out = np.empty((len(nodes), 3))
    for i in range(len(nodes)):
        a, b = nodes[i]
        for k in range(3):
            out[i, k] = (
                factors[i, 0] * p[a, k] + factors[i, 1] * t[a, k] + factors[i, 2] * p[b, k] + factors[i, 3] * t[b, k]
            )
    return out


@njit(cache=True)
def skin_rows(t, nodes, factors, vertices, weights, directions, place, share, size):
    """Derivatives (m, size) of sum_k w[i, k] d[i] . x[vertices[i, k]]."""
    out = np.zeros((len(vertices), size))
    moment = np.empty(3)
    for i in range(len(vertices)):
        d = directions[i]
        for c in range(vertices.shape[1]):
            w, v = weights[i, c], vertices[i, c]
            if w == 0.0:
                continue
            for side in range(2):
                n, move, turn = nodes[v, side], w * factors[v, 2 * side], w * factors[v, 2 * side + 1]
                if turn != 0.0:
                    cross(t[n], d, moment)
                for k in range(3):
                    if place[n, 3 + k] >= 0:
                        out[i, place[n, 3 + k]] += move * share[n, 3 + k] * d[k]
                    if turn != 0.0 and place[n, k] >= 0:
                        out[i, place[n, k]] += turn * share[n, k] * moment[k]
    return out
