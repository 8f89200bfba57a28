"""Dense tanh networks, compiled: value, exact derivative, rows of the training Jacobian.

A network is a flat parameter vector and its layer sizes: for each layer W (out, in) row by row, then b
(out,). The hidden layers are tanh, the last one is linear. Scalings are folded into the first and last
layer by the caller. Several members of an ensemble are the rows of one matrix; the value is their mean.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from pliant._kernels import notice  # noqa: F401  says that kernels are being compiled

Array = np.ndarray
_FAST = {"reassoc", "contract"}  # lets dot products vectorise and keeps NaN and infinity as they are


@njit(cache=True)
def parameter_count(sizes: Array) -> int:
    """Number of parameters of a network."""
    n = 0
    for k in range(len(sizes) - 1):
        n += sizes[k + 1] * (sizes[k] + 1)
    return n


@njit(cache=True, fastmath=_FAST)
def forward(theta: Array, sizes: Array, x: Array, y: Array, J: Array, work: Array, derivative: bool) -> None:
    """y (n,) and, if asked, J = dy/dx (n, m) of one network; work is (2, 1 + m, widest)."""
    m = sizes[0]
    layers = len(sizes) - 1
    for i in range(m):
        work[0, 0, i] = x[i]
        if derivative:
            for j in range(m):
                work[0, 1 + j, i] = 1.0 if i == j else 0.0
    at = 0
    side = 0
    for layer in range(layers):
        n_in, n_out = sizes[layer], sizes[layer + 1]
        bias = at + n_in * n_out
        last = layer == layers - 1
        for o in range(n_out):
            row = theta[at + o * n_in : at + (o + 1) * n_in]
            z = theta[bias + o]
            a = work[side, 0]
            for i in range(n_in):
                z += row[i] * a[i]
            value = z if last else np.tanh(z)
            if last:
                y[o] = value
            else:
                work[1 - side, 0, o] = value
            if derivative:
                slope = 1.0 if last else 1.0 - value * value
                if layer == 0:
                    for j in range(m):
                        d = slope * row[j]
                        if last:
                            J[o, j] = d
                        else:
                            work[1 - side, 1 + j, o] = d
                else:
                    for j in range(m):
                        t = work[side, 1 + j]
                        d = 0.0
                        for i in range(n_in):
                            d += row[i] * t[i]
                        d *= slope
                        if last:
                            J[o, j] = d
                        else:
                            work[1 - side, 1 + j, o] = d
        side = 1 - side
        at = bias + n_out


@njit(cache=True)
def ensemble(theta: Array, sizes: Array, x: Array, y: Array, J: Array, work: Array, derivative: bool) -> None:
    """Mean of the members' values and derivatives; theta is (members, parameters)."""
    members, n, m = len(theta), sizes[-1], sizes[0]
    y1, J1 = y, J
    if members > 1:
        y1, J1 = np.empty(n), np.empty((n, m))
        y[:] = 0.0
        if derivative:
            J[:] = 0.0
    for e in range(members):  # one call only: the compiler copies `forward` into every place that calls it
        forward(theta[e], sizes, x, y1, J1, work, derivative)
        if members > 1:
            for o in range(n):
                y[o] += y1[o] / members
                if derivative:
                    for j in range(m):
                        J[o, j] += J1[o, j] / members


@njit(cache=True)
def evaluate(theta: Array, sizes: Array, x: Array, derivative: bool) -> tuple[Array, Array]:
    """Values (samples, n) and derivatives (samples, n, m) at many inputs (samples, m)."""
    n, m = sizes[-1], sizes[0]
    widest = 0
    for s in sizes:
        widest = max(widest, s)
    work = np.empty((2, 1 + m, widest))
    y = np.empty((len(x), n))
    J = np.empty((len(x) if derivative else 0, n, m))
    none = np.empty((n, m))
    for k in range(len(x)):
        ensemble(theta, sizes, x[k], y[k], J[k] if derivative else none, work, derivative)
    return y, J


@njit(cache=True)
def spread(theta: Array, sizes: Array, x: Array) -> Array:
    """Standard deviation of the members around their mean (samples, n)."""
    members = len(theta)
    y = np.empty((members, len(x), sizes[-1]))
    for e in range(members):
        y[e] = evaluate(theta[e : e + 1], sizes, x, False)[0]
    out = np.zeros((len(x), sizes[-1]))
    for k in range(len(x)):
        for o in range(sizes[-1]):
            mean = y[:, k, o].mean()
            out[k, o] = np.sqrt(((y[:, k, o] - mean) ** 2).mean())
    return out


@njit(cache=True, fastmath=_FAST)
def training_rows(theta: Array, sizes: Array, x: Array, slopes: bool, value: Array, rows: Array) -> None:
    """Outputs and their gradients with respect to the parameters, for least squares.

    For each of the samples x (k, m), value (k, c) and rows (k, c, parameters), where the c components are
    the n outputs and, with `slopes`, the n*m entries of dy/dx row by row.
    """
    m, n = sizes[0], sizes[-1]
    layers = len(sizes) - 1
    widest = 0
    for s in sizes:
        widest = max(widest, s)
    a = np.empty((layers, widest))  # input of each layer
    t = np.empty((layers, m, widest))  # its tangents
    zt = np.empty((layers, m, widest))  # tangents before tanh, of the layer that produced it
    abar, tbar = np.empty(widest), np.empty(widest)
    zbar, ztbar = np.empty(widest), np.empty(widest)
    offset = np.empty(layers, np.int64)
    at = 0
    for k in range(layers):
        offset[k] = at
        at += sizes[k + 1] * (sizes[k] + 1)
    for s in range(len(x)):
        for i in range(m):
            a[0, i] = x[s, i]
            for j in range(m):
                t[0, j, i] = 1.0 if i == j else 0.0
        for k in range(layers):
            n_in, n_out = sizes[k], sizes[k + 1]
            bias = offset[k] + n_in * n_out
            for o in range(n_out):
                row = theta[offset[k] + o * n_in : offset[k] + (o + 1) * n_in]
                z = theta[bias + o]
                for i in range(n_in):
                    z += row[i] * a[k, i]
                if k == layers - 1:
                    value[s, o] = z
                else:
                    a[k + 1, o] = np.tanh(z)
                if slopes:
                    for j in range(m):
                        d = 0.0
                        for i in range(n_in):
                            d += row[i] * t[k, j, i]
                        if k == layers - 1:
                            value[s, n + o * m + j] = d
                        else:
                            zt[k + 1, j, o] = d
                            t[k + 1, j, o] = (1.0 - a[k + 1, o] ** 2) * d
        for o in range(n):
            _value_row(theta, sizes, offset, a, o, abar, zbar, rows[s, o])
            if slopes:
                for j in range(m):
                    _slope_row(
                        theta,
                        sizes,
                        offset,
                        a,
                        t[:, j],
                        zt[:, j],
                        o,
                        abar,
                        tbar,
                        zbar,
                        ztbar,
                        rows[s, n + o * m + j],
                    )


@njit(cache=True, fastmath=_FAST)
def _value_row(
    theta: Array, sizes: Array, offset: Array, a: Array, o: int, abar: Array, zbar: Array, row: Array
) -> None:
    """Gradient of output o with respect to the parameters."""
    layers = len(sizes) - 1
    k = layers - 1
    n_in, n_out = sizes[k], sizes[k + 1]
    row[offset[k] :] = 0.0
    start = offset[k] + o * n_in
    for i in range(n_in):
        row[start + i] = a[k, i]
        abar[i] = theta[start + i]
    row[offset[k] + n_in * n_out + o] = 1.0
    for k in range(layers - 2, -1, -1):
        n_in, n_out = sizes[k], sizes[k + 1]
        for p in range(n_out):
            zbar[p] = (1.0 - a[k + 1, p] ** 2) * abar[p]
        for i in range(n_in):
            abar[i] = 0.0
        for p in range(n_out):
            start = offset[k] + p * n_in
            g = zbar[p]
            for i in range(n_in):
                row[start + i] = g * a[k, i]
                abar[i] += theta[start + i] * g
            row[offset[k] + n_in * n_out + p] = g


@njit(cache=True, fastmath=_FAST)
def _slope_row(
    theta: Array,
    sizes: Array,
    offset: Array,
    a: Array,
    t: Array,
    zt: Array,
    o: int,
    abar: Array,
    tbar: Array,
    zbar: Array,
    ztbar: Array,
    row: Array,
) -> None:
    """Gradient of the directional derivative of output o (tangents t) with respect to the parameters."""
    layers = len(sizes) - 1
    k = layers - 1
    n_in = sizes[k]
    row[offset[k] :] = 0.0
    start = offset[k] + o * n_in
    for i in range(n_in):
        row[start + i] = t[k, i]
        tbar[i] = theta[start + i]
        abar[i] = 0.0
    for k in range(layers - 2, -1, -1):
        n_in, n_out = sizes[k], sizes[k + 1]
        for p in range(n_out):
            value = a[k + 1, p]
            slope = 1.0 - value * value
            ztbar[p] = slope * tbar[p]
            zbar[p] = slope * (abar[p] - 2.0 * value * zt[k + 1, p] * tbar[p])
        for i in range(n_in):
            abar[i] = 0.0
            tbar[i] = 0.0
        for p in range(n_out):
            start = offset[k] + p * n_in
            g, h = zbar[p], ztbar[p]
            for i in range(n_in):
                row[start + i] = g * a[k, i] + h * t[k, i]
                abar[i] += theta[start + i] * g
                tbar[i] += theta[start + i] * h
            row[offset[k] + n_in * n_out + p] = g
