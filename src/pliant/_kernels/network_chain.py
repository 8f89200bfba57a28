"""The learned map from actuation to one point, compiled: kinematics network, then the correction to reality.

    y = N(u)[rows],   z = [y, u (if used), load],   p = identity y + M z + c + C(z) + sum_k alpha_k
    exp(-|(z - z_k)/l|^2 / 2)

C is a dense network. Every part may be absent; the derivative dp/du is exact, or comes from a Jacobian
network of its own.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from pliant._kernels.network import ensemble

Array = np.ndarray


class Chain(NamedTuple):
    """Arrays of one learned map (see the module docstring).

    theta (members, p) and sizes: kinematics; rows (n,): its outputs that are this point; own (members, p')
    and own_sizes: Jacobian network, no members if there is none; own_rows (n,): where its n blocks of m
    start.
    """

    theta: Array
    sizes: Array
    rows: Array
    own: Array
    own_sizes: Array
    own_rows: Array
    identity: float
    linear: Array
    constant: Array
    correction: Array
    correction_sizes: Array
    centres: Array
    inverse_lengths: Array
    alpha: Array
    load: Array
    use_u: bool


class ChainWork(NamedTuple):
    """Storage that one evaluation needs."""

    y: Array
    J: Array
    net: Array
    own_y: Array
    own_slope: Array
    own_net: Array
    z: Array
    f: Array
    F: Array
    correction_net: Array
    Jy: Array


@njit(cache=True)
def make_work(chain: Chain) -> ChainWork:
    """Storage for evaluations of a chain."""
    m, n = chain.sizes[0], len(chain.rows)
    nz = n + (m if chain.use_u else 0) + len(chain.load)
    k, o, c = chain.sizes.max(), chain.own_sizes.max(), chain.correction_sizes.max()
    return ChainWork(
        np.empty(chain.sizes[-1]),
        np.empty((chain.sizes[-1], m)),
        np.empty((2, 1 + m, k)),
        np.empty(chain.own_sizes[-1]),
        np.empty((chain.own_sizes[-1], m)),
        np.empty((2, 1 + m, o)),
        np.empty(nz),
        np.empty(n),
        np.empty((n, nz)),
        np.empty((2, 1 + nz, c)),
        np.empty((n, m)),
    )


@njit(cache=True)
def chain_value(chain: Chain, work: ChainWork, u: Array, p: Array, Jp: Array, derivative: bool, own: bool) -> None:
    """p (n,) and, if asked, Jp = dp/du (n, m); `own` takes dN/du from the Jacobian network."""
    m, n = len(u), len(chain.rows)
    exact = derivative and not own
    ensemble(chain.theta, chain.sizes, u, work.y, work.J, work.net, exact)
    y, J = work.f, work.Jy
    for i in range(n):
        y[i] = work.y[chain.rows[i]]
        if exact:
            for j in range(m):
                J[i, j] = work.J[chain.rows[i], j]
    if derivative and own:
        ensemble(chain.own, chain.own_sizes, u, work.own_y, work.own_slope, work.own_net, False)
        for i in range(n):
            for j in range(m):
                J[i, j] = work.own_y[chain.own_rows[i] + j]
    kernels = len(chain.centres)
    if len(chain.correction) == 0 and kernels == 0 and len(chain.linear) == 0:
        for i in range(n):
            p[i] = y[i]
            if derivative:
                for j in range(m):
                    Jp[i, j] = J[i, j]
        return
    z = work.z
    for i in range(n):
        z[i] = y[i]
    nz = n
    if chain.use_u:
        for j in range(m):
            z[nz + j] = u[j]
        nz += m
    for k in range(len(chain.load)):
        z[nz + k] = chain.load[k]
    nz += len(chain.load)
    F = work.F
    if len(chain.correction):
        ensemble(chain.correction, chain.correction_sizes, z, p, F, work.correction_net, derivative)
    else:
        p[:] = 0.0
        if derivative:
            F[:] = 0.0
    for i in range(n):
        p[i] += chain.identity * y[i]
        if derivative:
            F[i, i] += chain.identity
    if len(chain.linear):
        for i in range(n):
            p[i] += chain.constant[i]
            for k in range(nz):
                p[i] += chain.linear[i, k] * z[k]
                if derivative:
                    F[i, k] += chain.linear[i, k]
    for c in range(kernels):
        r = 0.0
        for k in range(nz):
            d = (z[k] - chain.centres[c, k]) * chain.inverse_lengths[k]
            r += d * d
        if r > 80.0:  # less than 1e-17
            continue
        g = np.exp(-0.5 * r)
        for i in range(n):
            p[i] += g * chain.alpha[c, i]
        if derivative:
            for k in range(nz):
                d = g * (z[k] - chain.centres[c, k]) * chain.inverse_lengths[k] ** 2
                for i in range(n):
                    F[i, k] -= d * chain.alpha[c, i]
    if derivative:
        for i in range(n):
            for j in range(m):
                s = F[i, n + j] if chain.use_u else 0.0
                for k in range(n):
                    s += F[i, k] * J[k, j]
                Jp[i, j] = s


@njit(cache=True)
def chain_many(chain: Chain, u: Array, derivative: bool, own: bool) -> tuple[Array, Array]:
    """Positions (k, n) and derivatives (k, n, m) at many commands (k, m)."""
    n, m = len(chain.rows), u.shape[1]
    work = make_work(chain)
    p = np.empty((len(u), n))
    J = np.empty((len(u) if derivative else 0, n, m))
    none = np.empty((n, m))
    for k in range(len(u)):
        chain_value(chain, work, u[k], p[k], J[k] if derivative else none, derivative, own)
    return p, J
