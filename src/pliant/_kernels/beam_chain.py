"""Chains of beam nodes: poses from coordinates and back, pulling wrenches back to the degrees of freedom.

`place` (n, 6) and `share` (n, 6) say which degree of freedom each component (rotation, move) of a node belongs to
(-1: none) and with which weight: a base on a slide moves along its axis by one coordinate.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def node_poses(q, rest_p, rest_Q, free, first_q, bases, axes, slide_q):
    """Positions (n, 3) and quaternions (n, 4) of all nodes."""
    p, Q = rest_p.copy(), rest_Q.copy()
    for i in range(len(free)):
        n, at = free[i], first_q[i]
        for k in range(3):
            p[n, k] = q[at + k]
        for k in range(4):
            Q[n, k] = q[at + 3 + k]
    for i in range(len(bases)):
        for k in range(3):
            p[bases[i], k] += q[slide_q[i]] * axes[i, k]
    return p, Q


@njit(cache=True)
def cross(a, b, out):
    """out = a x b."""
    out[0] = a[1] * b[2] - a[2] * b[1]
    out[1] = a[2] * b[0] - a[0] * b[2]
    out[2] = a[0] * b[1] - a[1] * b[0]


@njit(cache=True)
def rotation(Q, R):
    """Rotation matrix (3, 3) of a quaternion wxyz that is normalised here."""
    w, x, y, z = Q[0], Q[1], Q[2], Q[3]
    s = 2.0 / (w * w + x * x + y * y + z * z)
    R[0, 0], R[0, 1], R[0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    R[1, 0], R[1, 1], R[1, 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    R[2, 0], R[2, 1], R[2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)


@njit(cache=True)
def furthest_travel(dq, first_v, slide_v, length):
    """The largest motion of a node along an axis, its rotation times a length counted as one; and of the slides."""
    turned, moved = 0.0, 0.0
    for i in first_v:
        for k in range(3):
            turned = max(turned, abs(dq[i + k]))
            moved = max(moved, abs(dq[i + 3 + k]))
    for i in slide_v:
        moved = max(moved, abs(dq[i]))
    # the largest of numbers that are none is none
    return max(turned * length, moved) if np.isfinite(dq).all() else np.nan


@njit(cache=True)
def pulled_back(wrench, place, share, size):
    """Node wrenches (moment, force) (n, 6) as generalised forces (size,)."""
    out = np.zeros(size)
    for n in range(len(wrench)):
        for k in range(6):
            if place[n, k] >= 0:
                out[place[n, k]] += share[n, k] * wrench[n, k]
    return out


@njit(cache=True)
def _turn(angle, d, out):
    """out = exp(angle) d, by Rodrigues' formula."""
    size = np.sqrt(angle[0] ** 2 + angle[1] ** 2 + angle[2] ** 2)
    a = np.sin(size) / size if size > 0.0 else 1.0
    half = 0.5 * size
    b = 0.5 * (np.sin(half) / half) ** 2 if half > 0.0 else 0.5
    once, twice = np.empty(3), np.empty(3)
    cross(angle, d, once)
    cross(angle, once, twice)
    for k in range(3):
        out[k] = d[k] + a * once[k] + b * twice[k]


@njit(cache=True)
def retracted(q, dq, p, Q, ends, chains, free, first_q, first_v, bases, axes, slide_q, slide_v):
    """The configuration after an increment: elements turn with their nodes, chains are put together again.

    p and Q are the poses at q, and are overwritten. chains (rods, 3): first node, last node, first element.
    """
    n = len(p)
    angle, move = np.zeros((n, 3)), np.zeros((n, 3))
    for i in range(len(free)):
        for k in range(3):
            angle[free[i], k] = dq[first_v[i] + k]
            move[free[i], k] = dq[first_v[i] + 3 + k]
    out = q.copy()
    for i in range(len(bases)):
        out[slide_q[i]] = q[slide_q[i]] + dq[slide_v[i]]
        for k in range(3):
            move[bases[i], k] = dq[slide_v[i]] * axes[i, k]
    spans = np.empty((len(ends), 3))
    mean, d, once, turned = np.empty(3), np.empty(3), np.empty(3), np.empty(3)
    for e in range(len(ends)):
        a, b = ends[e]
        for k in range(3):
            mean[k], d[k] = 0.5 * (angle[a, k] + angle[b, k]), p[b, k] - p[a, k]
        _turn(mean, d, turned)
        cross(mean, d, once)
        for k in range(3):
            spans[e, k] = turned[k] + (move[b, k] - move[a, k]) - once[k]
    for c in range(len(chains)):
        first, last, e = chains[c]
        for k in range(3):
            p[first, k] += move[first, k]  # right for the first node; the others follow along the chain
        for node in range(first + 1, last + 1):
            for k in range(3):
                p[node, k] = p[node - 1, k] + spans[e + node - first - 1, k]
    for i in range(len(free)):
        node, at = free[i], first_q[i]
        half = 0.5 * np.sqrt(angle[node, 0] ** 2 + angle[node, 1] ** 2 + angle[node, 2] ** 2)
        w, s = np.cos(half), 0.5 * (np.sin(half) / half if half > 0.0 else 1.0)
        x, y, z = s * angle[node, 0], s * angle[node, 1], s * angle[node, 2]
        a, b, c, d0 = Q[node, 0], Q[node, 1], Q[node, 2], Q[node, 3]
        e0 = w * a - x * b - y * c - z * d0
        e1 = w * b + x * a + y * d0 - z * c
        e2 = w * c - x * d0 + y * a + z * b
        e3 = w * d0 + x * c - y * b + z * a
        size = np.sqrt(e0 * e0 + e1 * e1 + e2 * e2 + e3 * e3)
        for k in range(3):
            out[at + k] = p[node, k]
        out[at + 3], out[at + 4], out[at + 5], out[at + 6] = e0 / size, e1 / size, e2 / size, e3 / size
    return out


@njit(cache=True)
def located(p, Q, nodes, offsets, frames, place, share, size, jacobian):
    """Positions (m, 3), frames (m, 3, 3) and Jacobians (m, 6, size) of points carried by nodes; empty if not wanted."""
    m = len(nodes)
    position, frame = np.empty((m, 3)), np.empty((m, 3, 3))
    rows = np.zeros((m if jacobian else 0, 6, size))
    R, arm = np.empty((3, 3)), np.empty(3)
    for i in range(m):
        n = nodes[i]
        rotation(Q[n], R)
        for k in range(3):
            arm[k] = R[k, 0] * offsets[i, 0] + R[k, 1] * offsets[i, 1] + R[k, 2] * offsets[i, 2]
            position[i, k] = p[n, k] + arm[k]
            for j in range(3):
                frame[i, k, j] = R[k, 0] * frames[i, 0, j] + R[k, 1] * frames[i, 1, j] + R[k, 2] * frames[i, 2, j]
        if not jacobian:
            continue
        for k in range(3):
            if place[n, k] >= 0:
                rows[i, k, place[n, k]] += share[n, k]
            if place[n, 3 + k] >= 0:
                rows[i, 3 + k, place[n, 3 + k]] += share[n, 3 + k]
        # the velocity of the point is omega x arm
        for k, a, b in ((0, 1, 2), (1, 2, 0), (2, 0, 1)):
            if place[n, a] >= 0:
                rows[i, 3 + k, place[n, a]] += share[n, a] * arm[b]
            if place[n, b] >= 0:
                rows[i, 3 + k, place[n, b]] -= share[n, b] * arm[a]
    return position, frame, rows
