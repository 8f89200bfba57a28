"""Fitting corrections from simulation to reality, one function per kind; all give a `Correction`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import ArgumentError
from pliant.learn.levenberg import levenberg
from pliant.learn.train import Scaling
from pliant.models.correction import Correction, gaussian
from pliant.models.network import Network

Array = np.ndarray
KINDS = ("affine", "single-layer", "residual", "gaussian-process")


def fit_correction(
    kind: str, y: Array, u: Array, load: Array, measured: Array, *, eta: float = 0.25, seed: int = 0
) -> Correction:
    """A correction of positions.

    Args:
        kind: "affine"; "single-layer" (the paper: one hidden layer with eta * samples neurons, position
            in, position out); "residual" (a small network on position, command and load, added to the
            position); "gaussian-process" (on position, command and load, around an affine trend).
        y: positions by the model [m] (n, 3).
        u: commands (n, m).
        load: loads (n, l).
        measured: measured positions [m] (n, 3).
        eta: neurons per sample of the single layer.
        seed: of the starting parameters.
    """
    makers: dict[str, Callable[[], Correction]] = {
        "affine": lambda: _affine(y, u, load, measured),
        "single-layer": lambda: _single_layer(y, u, load, measured, eta, seed),
        "residual": lambda: _residual(y, u, load, measured, seed),
        "gaussian-process": lambda: _gaussian_process(y, u, load, measured),
    }
    if kind not in makers:
        raise ArgumentError("kind", f"{kind!r}", ", ".join(KINDS))
    if len(y) < 4:
        raise ArgumentError("measurements", f"{len(y)} rows", "at least 4")
    return makers[kind]()


def _correction(
    kind: str, z: Array, load: Array, *, use_u: bool, identity: float, **parts: Array | Network | None
) -> Correction:
    nz = z.shape[1]
    current = load.mean(axis=0) if load.shape[1] else np.zeros(0)
    given: dict[str, Any] = {
        "linear": np.zeros((0, nz)),
        "constant": np.zeros(3),
        "network": None,
        "centres": np.zeros((0, nz)),
        "lengths": np.ones(nz),
        "alpha": np.zeros((0, 3)),
    } | parts
    return Correction(
        kind,
        use_u,
        identity,
        load=current,
        low=z.min(axis=0),
        high=z.max(axis=0),
        **given,  # type: ignore[arg-type]
    )


def _trend(z: Array, residual: Array, ridge: float = 1e-6) -> tuple[Array, Array]:
    """Linear part (3, nz) and constant (3,) of residuals, by regularised least squares in scaled inputs."""
    scaling = Scaling.of(z, inputs=True)
    s = scaling.scale(z)
    A = np.column_stack([s, np.ones(len(s))])
    H = A.T @ A + ridge * len(A) * np.diag([*np.ones(s.shape[1]), 0.0])
    w = np.linalg.solve(H + 1e-12 * np.eye(len(H)), A.T @ residual)
    linear = w[:-1].T / scaling.half
    return linear, w[-1] - linear @ scaling.mid


def _affine(y: Array, u: Array, load: Array, measured: Array) -> Correction:
    z = np.concatenate([y, load], axis=1)
    linear, constant = _trend(z, measured - y)
    return _correction("affine", z, load, use_u=False, identity=1.0, linear=linear, constant=constant)


def _network(z: Array, target: Array, hidden: int, seed: int, decay: float, iterations: int, early: bool) -> Network:
    inputs, outputs = Scaling.of(z, inputs=True), Scaling.of(target)
    x, t = inputs.scale(z), outputs.scale(target)
    order = np.random.default_rng(seed).permutation(len(x))
    cut = max(round(0.7 * len(x)), 3)
    hold_out = (x[order[cut:]], t[order[cut:]]) if early and len(x) - cut >= 3 else None
    rows = order[:cut] if hold_out is not None else order
    sizes = (z.shape[1], hidden, target.shape[1])
    found = levenberg(
        sizes, x[rows], t[rows], hold_out=hold_out, seed=seed, iterations=iterations, decay=decay, patience=8
    )
    return Network(sizes, found.theta[None], inputs.mid, inputs.half, outputs.mid, outputs.half)


def _single_layer(y: Array, u: Array, load: Array, measured: Array, eta: float, seed: int) -> Correction:
    z = np.concatenate([y, load], axis=1)
    net = _network(z, measured, max(round(eta * len(y)), 1), seed, 1e-8 * len(y), 60, early=True)
    return _correction("single-layer", z, load, use_u=False, identity=0.0, network=net)


def _residual(y: Array, u: Array, load: Array, measured: Array, seed: int) -> Correction:
    """Identity, affine trend in position and load, and a small smooth network on everything."""
    z = np.concatenate([y, u, load], axis=1)
    linear = np.zeros((3, z.shape[1]))
    seen = [0, 1, 2, *range(3 + u.shape[1], z.shape[1])]
    linear[:, seen], constant = _trend(z[:, seen], measured - y)
    rest = measured - y - z @ linear.T - constant
    hidden = int(np.clip(len(y) // 12, 3, 20))
    net = _network(z, rest, hidden, seed, 2e-3 * len(y), 40, early=False)
    return _correction("residual", z, load, use_u=True, identity=1.0, linear=linear, constant=constant, network=net)


def _gaussian_process(y: Array, u: Array, load: Array, measured: Array) -> Correction:
    """Kernel regression around an affine trend; lengths and noise by the largest marginal likelihood."""
    from scipy.optimize import minimize

    z = np.concatenate([y, u, load], axis=1)
    n_y, n_u, n_l = 3, u.shape[1], load.shape[1]
    linear = np.zeros((3, z.shape[1]))
    seen = [0, 1, 2, *range(n_y + n_u, z.shape[1])]
    linear[:, seen], constant = _trend(z[:, seen], measured - y)
    rest = measured - y - z @ linear.T - constant
    half = Scaling.of(z, inputs=True).half
    size = max(float(np.sqrt(np.mean(rest**2))), 1e-12)
    t = rest / size
    group = np.array([0] * n_y + [1] * n_u + [2] * n_l)

    def parts(x: Array) -> tuple[Array, Array]:
        lengths = half * np.exp(x[group])
        K = gaussian(z, z, lengths)
        return lengths, K

    def cost(x: Array) -> float:
        _, K = parts(x)
        A = np.exp(2.0 * x[3]) * K + (np.exp(2.0 * x[4]) + 1e-8) * np.eye(len(z))
        try:
            L = np.linalg.cholesky(A)
        except np.linalg.LinAlgError:
            return 1e12
        a = np.linalg.solve(L, t)
        prior = 0.02 * float(np.sum((x - start) ** 2))
        return 0.5 * float(np.sum(a * a)) + 3.0 * float(np.log(np.diag(L)).sum()) + prior

    start = np.array([0.3, 0.3, 0.3, 0.0, -2.0])
    bounds = [(-2.0, 4.0)] * 3 + [(-3.0, 4.0), (-7.0, 1.0)]
    found = minimize(cost, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 40, "maxfun": 400})
    x = np.asarray(found.x)
    lengths, K = parts(x)
    A = np.exp(2.0 * x[3]) * K + (np.exp(2.0 * x[4]) + 1e-8) * np.eye(len(z))
    alpha = np.exp(2.0 * x[3]) * np.linalg.solve(A, t) * size
    return _correction(
        "gaussian-process",
        z,
        load,
        use_u=True,
        identity=1.0,
        linear=linear,
        constant=constant,
        centres=z,
        lengths=lengths,
        alpha=alpha,
    )
