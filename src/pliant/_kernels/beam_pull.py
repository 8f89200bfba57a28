"""What actuators do to beams, and the whole balance of a robot of beams in one pass.

Actuators act on carried points x = p + R(Q) offset of a node, or on fixed points of the world (node -1). A cable is
a number of segments between carried points; `owner` says which actuator a segment belongs to.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels.beam import add_moment, element_forces
from pliant._kernels.beam_chain import cross, rotation


@njit(cache=True)
def carry(p, Q, node, offset):
    """Positions of the carried points and their arms about their nodes (m, 3); no arm for points of the world."""
    m = len(node)
    x, arm = offset.copy(), np.zeros((m, 3))
    R = np.empty((3, 3))
    for i in range(m):
        n = node[i]
        if n < 0:
            continue
        rotation(Q[n], R)
        for k in range(3):
            arm[i, k] = R[k, 0] * offset[i, 0] + R[k, 1] * offset[i, 1] + R[k, 2] * offset[i, 2]
            x[i, k] = p[n, k] + arm[i, k]
    return x, arm


@njit(cache=True)
def coordinates(x, ends, owner, at, along, pusher, count):
    """Displacements of cables (minus their length) and of pushed points (count,); zero for the others."""
    out = np.zeros(count)
    for s in range(len(ends)):
        a, b = ends[s]
        square = 0.0
        for k in range(3):
            square += (x[b, k] - x[a, k]) ** 2
        out[owner[s]] -= np.sqrt(square)
    for i in range(len(at)):
        for k in range(3):
            out[pusher[i]] += along[i, k] * x[at[i], k]
    return out


@njit(cache=True)
def _add(row, place, share, node, arm, f, sign, moment):
    """Add the pull of a force on a carried point to a row."""
    if node < 0:
        return
    cross(arm, f, moment)
    for k in range(3):
        if place[node, k] >= 0:
            row[place[node, k]] += sign * share[node, k] * moment[k]
        if place[node, 3 + k] >= 0:
            row[place[node, 3 + k]] += sign * share[node, 3 + k] * f[k]


@njit(cache=True)
def coordinate_rows(x, arm, node, ends, owner, at, along, pusher, place, share, slides, slide_v, count, size):
    """Derivatives of all displacements (count, size); `slides` are the actuators that move a base."""
    out = np.zeros((count, size))
    t, moment = np.empty(3), np.empty(3)
    for s in range(len(ends)):
        a, b = ends[s]
        for k in range(3):
            t[k] = x[b, k] - x[a, k]
        length = np.sqrt(t[0] ** 2 + t[1] ** 2 + t[2] ** 2)
        for k in range(3):
            t[k] /= length
        row = out[owner[s]]
        _add(row, place, share, node[a], arm[a], t, 1.0, moment)
        _add(row, place, share, node[b], arm[b], t, -1.0, moment)
    for i in range(len(at)):
        _add(out[pusher[i]], place, share, node[at[i]], arm[at[i]], along[i], 1.0, moment)
    for i in range(len(slides)):
        out[slides[i], slide_v[i]] += 1.0
    return out


@njit(cache=True)
def pulls(x, ends, owner, at, along, pusher, effort):
    """Force of all actuators on the carried points (m, 3)."""
    f = np.zeros_like(x)
    for s in range(len(ends)):
        e = effort[owner[s]]
        if e == 0.0:
            continue
        a, b = ends[s]
        square = 0.0
        for k in range(3):
            square += (x[b, k] - x[a, k]) ** 2
        size = e / np.sqrt(square)
        for k in range(3):
            t = size * (x[b, k] - x[a, k])
            f[a, k] += t
            f[b, k] -= t
    for i in range(len(at)):
        for k in range(3):
            f[at[i], k] += effort[pusher[i]] * along[i, k]
    return f


@njit(cache=True)
def _add_product(r, s, G, sign, flipped, M, column, block):
    """block (6, 6) += sign D(r)^T G D(s), or its transpose; D(r) = (-[r] I) (3, 6) is how a carried point moves with
    its node. M (3, 6) and column (3,) are storage."""
    for a in range(3):
        cross(s, G[a], M[a])
        for j in range(3):
            M[a, 3 + j] = G[a, j]
    for j in range(6):
        cross(r, M[:, j], column)
        for i in range(3):
            if flipped:
                block[j, i] += sign * column[i]
                block[j, 3 + i] += sign * M[i, j]
            else:
                block[i, j] += sign * column[i]
                block[3 + i, j] += sign * M[i, j]


@njit(cache=True)
def add_curvature(x, arm, node, ends, owner, pair, own, effort, f, blocks):
    """Add -sum effort d^2 displacement to the blocks of node pairs (pairs, 6, 6); f are the `pulls`.

    pair (s, 3): blocks of (first, first), (second, second), (first, second) per segment; -1 with the world. The last
    is stored as it is if the first is the lower node, else transposed. own (m,): diagonal block of each point's node.
    """
    M, G, t, column = np.empty((3, 6)), np.empty((3, 3)), np.empty(3), np.empty(3)
    for s in range(len(ends)):
        e = effort[owner[s]]
        if e == 0.0:
            continue
        a, b = ends[s]
        for k in range(3):
            t[k] = x[b, k] - x[a, k]
        size = np.sqrt(t[0] ** 2 + t[1] ** 2 + t[2] ** 2)
        for i in range(3):
            for j in range(3):
                G[i, j] = (e / size) * ((1.0 if i == j else 0.0) - t[i] * t[j] / size**2)
        if pair[s, 0] >= 0:
            _add_product(arm[a], arm[a], G, 1.0, False, M, column, blocks[pair[s, 0]])
        if pair[s, 1] >= 0:
            _add_product(arm[b], arm[b], G, 1.0, False, M, column, blocks[pair[s, 1]])
        if pair[s, 2] >= 0:
            if node[a] <= node[b]:
                _add_product(arm[a], arm[b], G, -1.0, False, M, column, blocks[pair[s, 2]])
            if node[a] >= node[b]:
                _add_product(arm[a], arm[b], G, -1.0, True, M, column, blocks[pair[s, 2]])
    for i in range(len(node)):
        if own[i] >= 0 and (f[i, 0] != 0.0 or f[i, 1] != 0.0 or f[i, 2] != 0.0):
            add_moment(arm[i], -f[i], blocks[own[i]])


@njit(cache=True)
def balance(
    p, Q, ends, lengths, stiffness, strain, weight, element_pairs, pairs,
    node, offset, cable_ends, owner, at, along, pusher, pair, own, effort, tangent,
):  # fmt: skip
    """Wrenches (moment, force) of everything on the nodes (n, 6), and blocks of the stiffness (pairs, 6, 6) if wanted.

    weight (n, 3): force of gravity on each node. element_pairs (ne, 3): blocks of (a, a), (a, b), (b, b).
    """
    n = len(p)
    wrench = np.zeros((n, 6))
    wrench[:, 3:] = weight
    elements = np.empty((len(ends) if tangent else 0, 12, 12))
    element_forces(p, Q, ends, lengths, stiffness, strain, 1 if tangent else 0, wrench, elements)
    x, arm = carry(p, Q, node, offset)
    f = pulls(x, cable_ends, owner, at, along, pusher, effort)
    moment = np.empty(3)
    for i in range(len(node)):
        if node[i] < 0:
            continue
        cross(arm[i], f[i], moment)
        for k in range(3):
            wrench[node[i], k] += moment[k]
            wrench[node[i], 3 + k] += f[i, k]
    blocks = np.zeros((pairs if tangent else 0, 6, 6))
    if tangent:
        gather(elements, element_pairs, blocks)
        add_curvature(x, arm, node, cable_ends, owner, pair, own, effort, f, blocks)
    return wrench, blocks


@njit(cache=True)
def gather(elements, element_pairs, blocks):
    """Add blocks per element (ne, 12, 12) to blocks per pair of nodes (pairs, 6, 6)."""
    for e in range(len(elements)):
        aa, ab, bb = element_pairs[e]
        for i in range(6):
            for j in range(6):
                blocks[aa, i, j] += elements[e, i, j]
                blocks[ab, i, j] += elements[e, i, 6 + j]
                blocks[bb, i, j] += elements[e, 6 + i, 6 + j]


@njit(cache=True)
def scattered(blocks, source, weight, places, size):
    """Entries of a matrix (size,) from blocks per pair of nodes."""
    out = np.zeros(size)
    flat = blocks.reshape(-1)
    for i in range(len(source)):
        out[places[i]] += weight[i] * flat[source[i]]
    return out
