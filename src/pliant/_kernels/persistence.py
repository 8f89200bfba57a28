"""Contacts that persist: what those of an earlier step hand on to those of the same keys, compiled."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def same_keys(key, old_key):
    """Per key (m,) its first place among the old ones, or -1."""
    m, n = len(key), len(old_key)
    out = np.empty(m, dtype=np.int64)
    if m == n and (key == old_key).all():
        for i in range(m):
            out[i] = i
        return out
    order = np.argsort(old_key, kind="mergesort")
    for i in range(m):
        low, high = 0, n
        while low < high:
            mid = (low + high) >> 1
            if old_key[order[mid]] < key[i]:
                low = mid + 1
            else:
                high = mid
        out[i] = order[low] if low < n and old_key[order[low]] == key[i] else -1
    return out


@njit(cache=True)
def handed_on(
    key, tangents, vertices, anchor, anchor_weights,
    old_key, old_tangents, old_vertices, old_anchor, old_weights, old_forces, old_tangential, old_states,
):  # fmt: skip
    """Forces (m,), tangential forces (m, 2), states (m,), anchors (m, 3) and their weights (m, k) of contacts.

    Contacts that are new have no force and state 0, and keep their anchors. So do those that were open (state 0), and
    those whose old anchor lies on other vertices. Vertices have weight zero beyond their number.
    """
    m, k, k_old = len(key), vertices.shape[1], old_vertices.shape[1]
    forces, tangential, states = np.zeros(m), np.zeros((m, 2)), np.zeros(m, dtype=old_states.dtype)
    anchor, anchor_weights = anchor.copy(), anchor_weights.copy()
    place = same_keys(key, old_key)
    for i in range(m):
        j = place[i]
        if j < 0:
            continue
        forces[i], states[i] = old_forces[j], old_states[j]
        for d in range(3):
            world = old_tangential[j, 0] * old_tangents[j, 0, d] + old_tangential[j, 1] * old_tangents[j, 1, d]
            tangential[i, 0] += tangents[i, 0, d] * world
            tangential[i, 1] += tangents[i, 1, d] * world
        held = states[i] != 0
        for c in range(k_old):
            if old_weights[j, c] != 0.0 and (c >= k or old_vertices[j, c] != vertices[i, c]):
                held = False
        if held:
            for d in range(3):
                anchor[i, d] = old_anchor[j, d]
            for c in range(k):
                anchor_weights[i, c] = old_weights[j, c] if c < k_old else 0.0
    return forces, tangential, states, anchor, anchor_weights
