"""Damping and creep of links from motions of their coordinates: free oscillations, steps that are held.

The balance of forces along a recorded motion q(t),

    y(t) = M a + C v + f_e(q) - f_g - G e = -R v + stiffness lam,     lam' = -decay lam - gain v

is linear in the viscous coefficients R and in stiffness * gain; only `decay` is searched for. Only the product of
stiffness and gain acts on the motion: the gain is one.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import ArgumentError
from pliant.models.contract import Model
from pliant.models.creep import Creep
from pliant.models.pcc import PccModel

Array = np.ndarray
KINDS = ((0,), (1, 2))
"""Coordinates of a link that share a law: the stretch, the two curvatures."""


def balance(model: Model, time: ArrayLike, q: ArrayLike, effort: ArrayLike) -> tuple[Array, Array]:
    """Velocities (n, nv) of a recorded motion and the force that elasticity, weight and input leave (n, nv).

    Args:
        model: links whose damping and creep are not known (they are left out).
        time: equally spaced [s] (n,).
        q: coordinates (n, nv).
        effort: of the actuators (n, nu), or one row.
    """
    t, q = np.asarray(time, float), np.asarray(q, float)
    if len(t) < 8 or q.shape != (len(t), model.nv) or np.ptp(np.diff(t)) > 1e-6 * (t[1] - t[0]):
        raise ArgumentError("time", f"{len(t)} samples for q {q.shape}", "at least 8 equally spaced samples")
    e = np.broadcast_to(np.atleast_2d(np.asarray(effort, float)), (len(t), model.nu))
    v = np.gradient(q, t, axis=0, edge_order=2)
    a = np.gradient(v, t, axis=0, edge_order=2)
    y = [model.inertia(q[i]) @ a[i] + model.bias(q[i], v[i]) - model.force(q[i], e[i]) for i in range(len(t))]
    # differences at the ends are one-sided: leave them out
    return v[2:-2], np.array(y)[2:-2]


def fit_damping_time(model: Model, stiffness: Array, time: ArrayLike, q: ArrayLike, effort: ArrayLike) -> float:
    """beta [s] of a damping beta K, from a free oscillation: the balance of power sum v y = -beta sum v K v.

    Coordinate by coordinate it cannot be told: a curve is no exact copy of the body, and the forces that are wrong
    between two coordinates look like damping of one and drive of the other; in the sum over a motion that returns they
    cancel.

    Args:
        model: without damping.
        stiffness: K (nv, nv).
        time, q, effort: the motion, see `balance`.
    """
    v, y = balance(model, time, q, effort)
    return max(0.0, -float((v * y).sum()) / max(float(np.einsum("ni,ij,nj->", v, stiffness, v)), 1e-300))


def fit_damping(model: PccModel, time: ArrayLike, q: ArrayLike, effort: ArrayLike) -> Array:
    """Viscous coefficients of stretch and curvature per link (links, 2), from a free oscillation.

    Proportional to the stiffness of each at rest, R = beta k, see `fit_damping_time`.
    """
    stiff = np.diag(model.elastic(model.rest)[2])
    beta = fit_damping_time(model, np.diag(stiff), time, q, effort)
    return beta * stiff.reshape(-1, 3)[:, :2]


def fit_creep(
    model: PccModel, time: ArrayLike, q: ArrayLike, effort: ArrayLike, *, rates: int = 40
) -> tuple[Creep | None, Array, float]:
    """Creep, viscous coefficients (links, 2) and what they leave, from a step that is held.

    Args:
        model: links without creep.
        time, q, effort: the motion, from the step on, see `balance`.
        rates: decay rates tried, from one over the duration to a tenth of the sampling rate: faster creep is viscosity.

    Returns:
        The creep of all links (None if the motion shows none), the viscous coefficients found with it, and the part of
        the unbalanced force that is left, rms [-].
    """
    t = np.asarray(time, float)
    v, y = balance(model, t, q, effort)
    h, n = float(t[1] - t[0]), len(v)
    v, y = v.reshape(n, -1, 3), y.reshape(n, -1, 3)
    start = (np.asarray(q, float)[2] - np.asarray(q, float)[0]).reshape(-1, 3)
    links = v.shape[1]
    decay, weight, viscous, left = np.zeros(3), np.zeros(3), np.zeros((links, 2)), np.zeros(2)
    for k, columns in enumerate(KINDS):
        best: tuple[float, float, float, Array] | None = None
        target = y[:, :, columns]
        for d in np.geomspace(1.0 / (n * h), 0.1 / h, rates):
            memory = _remembered(v[:, :, columns], start[:, columns], d, h)
            # columns: one viscous coefficient per link, one creep stiffness for all
            table = np.zeros((n, links, len(columns), links + 1))
            table[..., -1] = -memory
            for i in range(links):
                table[:, i, :, i] = -v[:, i, columns]
            found, cost = _non_negative(table.reshape(-1, links + 1), target.ravel())
            if best is None or cost < best[0]:
                best = (cost, d, float(found[-1]), found[:-1])
        assert best is not None
        cost, d, c, viscous[:, k] = best
        total = max(float((target**2).sum()), 1e-300)
        plain, alone = _non_negative(table[..., :-1].reshape(-1, links), target.ravel())
        if alone < max(2.0 * cost, 0.05**2 * total):
            # viscosity explains it nearly as well: the simpler law
            cost, c, viscous[:, k] = alone, 0.0, plain
        left[k] = np.sqrt(cost / total)
        decay[list(columns)], weight[list(columns)] = d, c
    creep = Creep(tuple(decay), (1.0, 1.0, 1.0), tuple(weight)) if weight.any() else None  # type: ignore[arg-type]
    if creep is not None and not weight[0]:
        creep = replace(creep, decay=(0.0, *creep.decay[1:]))
    return creep, viscous, float(left[1])


def _remembered(v: Array, start: Array, decay: float, h: float) -> Array:
    """int exp(-decay (t - s)) v(s) ds along a motion (same shape as v)."""
    out = np.empty_like(v)
    keep = np.exp(-decay * h)
    part = -np.expm1(-decay * h) / decay
    now = start * np.exp(-decay * h)
    out[0] = now
    for i in range(1, len(v)):
        now = keep * now + part * 0.5 * (v[i - 1] + v[i])
        out[i] = now
    return out


def _non_negative(A: Array, b: Array) -> tuple[Array, float]:
    from scipy.optimize import nnls

    scale = np.maximum(np.linalg.norm(A, axis=0), 1e-300)
    found, norm = nnls(A / scale, b)
    return found / scale, float(norm) ** 2
