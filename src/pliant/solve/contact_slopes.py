"""Contact forces and slips to first order, friction and curvature included: what exact sensitivities need.

Contact i acts on its corners x_k with w_k f, f = lam n + tau (tau tangential, in the world). When corners move by dX,

    dp = J dX + e' dt,   dt = -(e C e')^-1 (e C J + d(n . e)/dX) dX      the point wanders over its simplex
    dn = C dp                                                             the normal turns
    df = n dlam + T' dtau + lam dn - n (tau . dn)                         tau stays tangential

with C the Hessian of the obstacle's distance, T the two tangents. Sliding contacts follow tau = -mu lam s / |s|, where
s is the tangential part of the slip m; sticking ones hold s = 0. With ds = T (dm - dn (n . m)) both are linear.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.contact.contacts import Contacts, ContactState
from pliant.solve.newton import dense_rows

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Local:
    """One contact to first order in the motion dX of its corners.

    Attributes:
        corners: skin vertices (k,).
        turning: minus the change of the forces on them at fixed lam and tau [N/m] (3k, 3k).
        slip: change of the slip along the tangents (2, 3k).
    """

    corners: Array
    turning: Array
    slip: Array


def wandering(C: Array, n: Array, corners: Array, weights: Array) -> Array:
    """How the coordinates t of the lowest point of a simplex change with its corners [1/m] (k - 1, 3k)."""
    k = len(weights)
    e = corners[1:] - corners[0]
    B = e @ C @ np.kron(weights, np.eye(3))
    for a in range(1, k):
        B[a - 1, 3 * a : 3 * a + 3] += n
        B[a - 1, :3] -= n
    bend = e @ C @ e.T
    size = float(np.abs(C).max() * np.einsum("ai,ai->", e, e)) if k > 1 else 0.0
    if not size > 0.0:
        return np.zeros((k - 1, 3 * k))
    values, axes = np.linalg.eigh(bend)
    curved = values > 1e-6 * size  # flat along the simplex: the point is anywhere, and stays
    return -(axes[:, curved] / values[curved]) @ (axes[:, curved].T @ B)


def local_contact(contacts: Contacts, i: int, x: Array) -> Local:
    """Contact i, at skin positions x [m] (n, 3)."""
    C = np.zeros((3, 3)) if contacts.curvature is None else contacts.curvature[i]
    n, T = contacts.normal[i], contacts.tangents[i]
    used = (contacts.weights[i] != 0.0) | (contacts.anchor_weights[i] != 0.0)
    used[0] |= not used.any()
    corners, w, material = contacts.vertices[i, used], contacts.weights[i, used], contacts.anchor_weights[i, used]
    k = len(corners)
    J = np.kron(w, np.eye(3))
    Dw = np.zeros((k, 3 * k))
    second = np.flatnonzero(w < 0.0)
    carrying = np.flatnonzero(w > 0.0)
    if C.any() and len(second) == 2 and len(carrying) == 1:  # a vertex of a curve on a segment of it
        e = x[corners[second[1]]] - x[corners[second[0]]]
        row = e @ C @ J
        row[3 * second[1] : 3 * second[1] + 3] += n
        row[3 * second[0] : 3 * second[0] + 3] -= n
        Dw[second[0]] = row / float(e @ C @ e)
        Dw[second[1]] = -Dw[second[0]]
    elif C.any() and len(carrying) > 1 and not len(second):
        columns = (3 * carrying[:, None] + np.arange(3)).ravel()
        Dt = wandering(C, n, x[corners[carrying]], w[carrying])
        Dw[np.ix_(carrying[1:], columns)] = Dt
        Dw[carrying[0], columns] = -Dt.sum(axis=0)
    Dp = J + np.einsum("ki,kj->ij", x[corners], Dw)
    Dn = C @ Dp
    tau = contacts.tangential[i] @ T
    f = contacts.forces[i] * n + tau
    df = contacts.forces[i] * Dn - np.outer(n, tau @ Dn)
    turning = -(np.kron(w[:, None], df) + np.einsum("kj,i->kij", Dw, f).reshape(3 * k, 3 * k))
    m = material @ x[corners] - contacts.anchor[i]
    Dm = np.kron(material, np.eye(3))
    if contacts.travelled is not None:  # another point touches now, and has moved by as much as that one
        Dm = Dm + np.einsum("ki,kj->ij", contacts.travelled[i, used], Dw)
    slip = T @ (Dm - float(n @ m) * Dn)
    return Local(corners, turning, slip)


@dataclass(frozen=True, eq=False)
class Slopes:
    """Pressing contacts to first order in dq and in multipliers z: normal and two tangential forces of each contact.

    K dq = ... + columns z - spread' skew spread dq - (symmetric part, which belongs to K), and rows dq + own z = 0.

    Attributes:
        rows: (3m, nv).
        own: (3m, 3m).
        columns: (nv, 3m).
        blocks: symmetric parts: corners (k,) and stiffness (3k, 3k) per contact.
        spread: coordinates of the corners of contacts with friction (s, nv).
        skew: what is not symmetric in their turning (s, s).
    """

    rows: Array
    own: Array
    columns: Array
    blocks: list[tuple[Array, Array]]
    spread: Array
    skew: Array


def slopes(model: Any, q: Array, contacts: Contacts) -> Slopes:
    """Linearise contacts that press (all forces positive)."""
    x = model.skin_positions(q)
    m, nv = len(contacts), model.nv
    H = dense_rows(contacts.frictional_rows(model, q)).reshape(m, 3, nv)
    rows, own = np.zeros((3 * m, nv)), np.zeros((3 * m, 3 * m))
    blocks, spreads, skews = [], [], []
    for i in range(m):
        at = 3 * i
        rows[at] = H[i, 0]
        if contacts.gradients is not None:  # volumes have no point that could wander
            own[at + 1, at + 1] = own[at + 2, at + 2] = 1.0
            continue
        local = local_contact(contacts, i, x)
        k = len(local.corners)
        S = dense_rows(
            model.skin_rows(q, np.repeat(local.corners, 3)[:, None], np.ones((3 * k, 1)), np.tile(np.eye(3), (k, 1)))
        )
        symmetric = 0.5 * (local.turning + local.turning.T)
        if symmetric.any():
            blocks.append((local.corners, symmetric))
        skew = local.turning - symmetric
        if np.abs(skew).max() > 1e-14 * np.abs(local.turning).max():
            spreads.append(S)
            skews.append(skew)
        state = contacts.states[i]
        if state == ContactState.STICK:
            rows[at + 1 : at + 3] = local.slip @ S
            continue
        own[at + 1, at + 1] = own[at + 2, at + 2] = 1.0
        push = contacts.tangential[i]
        size = float(np.linalg.norm(push))
        if state != ContactState.SLIDE or size == 0.0:
            continue
        along = push / size
        own[at + 1 : at + 3, at] = -contacts.friction[i] * along
        slipped = float(np.linalg.norm(contacts.slip(x)[i]))
        if slipped > 1e-12 * (1.0 + float(np.abs(x).max())):
            across = np.eye(2) - np.outer(along, along)
            rows[at + 1 : at + 3] = (size / slipped) * (across @ local.slip @ S)
    count = sum(map(len, skews))
    skew, place = np.zeros((count, count)), 0
    for block in skews:
        skew[place : place + len(block), place : place + len(block)] = block
        place += len(block)
    spread = np.vstack(spreads) if spreads else np.zeros((0, nv))
    return Slopes(rows, own, H.reshape(3 * m, nv).T, blocks, spread, skew)
