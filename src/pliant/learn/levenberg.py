"""Levenberg-Marquardt training of small dense networks, on values and on exact derivatives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from pliant.models.network import initial, parameter_count

Array = np.ndarray
_BLOCK = 6_000_000  # entries of the training Jacobian held at a time


@dataclass(frozen=True, eq=False)
class Fit:
    """What a trainer found, in scaled units.

    Attributes:
        theta: parameters (p,), those with the lowest validation error.
        history: training and validation root-mean-square error per iteration (k, 2).
        iterations: steps taken.
        elapsed: wall-clock time [s].
        reason: why it stopped.
    """

    theta: Array
    history: Array
    iterations: int
    elapsed: float
    reason: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)


def levenberg(
    sizes: tuple[int, ...],
    x: Array,
    y: Array,
    *,
    slopes: Array | None = None,
    slope_weight: float | Array = 1.0,
    hold_out: tuple[Array, Array] | None = None,
    theta: Array | None = None,
    seed: int = 0,
    iterations: int = 100,
    damping: float = 1e-3,
    tolerance: float = 1e-6,
    patience: int = 12,
    time_limit: float = np.inf,
    decay: float = 0.0,
    report: Callable[[int, float, float], None] | None = None,
) -> Fit:
    """Minimise |N(x) - y|^2 + |w (dN/dx - slopes)|^2 by damped Gauss-Newton steps (damping x0.1 on
    success, x10 on failure).

    Args:
        sizes: neurons per layer.
        x: scaled inputs (k, m).
        y: scaled outputs (k, n).
        slopes: scaled derivatives (k, n, m), or None to train on values only.
        slope_weight: factor of the derivative rows, a number or (n, m).
        hold_out: scaled (x, y) that decide when to stop; the best parameters on them are returned.
        theta: starting parameters; random by `seed` if None.
        iterations: steps allowed.
        damping: first Levenberg-Marquardt parameter.
        tolerance: relative fall of the training error below which a step counts as none.
        patience: steps without a better validation error before stopping.
        time_limit: wall-clock time allowed [s].
        decay: weight of |theta|^2 (a prior that keeps the network smooth).
        report: called with (iteration, training rms, validation rms).
    """
    from pliant._kernels import network as kernels

    begin = time.perf_counter()
    layers = np.array(sizes, dtype=np.int64)
    now = initial(sizes, np.random.default_rng(seed)) if theta is None else np.array(theta, float)
    x = np.ascontiguousarray(x, float)
    wanted, weight = _components(y, slopes, slope_weight)
    check_x, check_y = (x, np.asarray(y, float)) if hold_out is None else hold_out
    check_x = np.ascontiguousarray(check_x, float)

    def validation(parameters: Array) -> float:
        value = kernels.evaluate(parameters[None], layers, check_x, False)[0]
        return float(np.sqrt(np.mean((value - check_y) ** 2)))

    def cost(parameters: Array) -> float:
        value, J = kernels.evaluate(parameters[None], layers, x, slopes is not None)
        got = value if slopes is None else np.concatenate([value, J.reshape(len(x), -1)], axis=1)
        return float(np.sum(((got - wanted) * weight) ** 2)) + decay * float(parameters @ parameters)

    entries = wanted.size
    energy, best, best_error, since = cost(now), now, validation(now), 0
    history = [(np.sqrt(energy / entries), best_error)]
    reason, k = "iterations used up", 0
    for k in range(1, iterations + 1):
        A, g = _normal(kernels, now, layers, x, slopes is not None, wanted, weight)
        if decay:
            A[np.diag_indices_from(A)] += decay
            g += decay * now
        scale = float(np.mean(np.diag(A)))
        accepted = False
        for _ in range(12):
            trial = now - _solve(A, g, damping * scale)
            new = cost(trial)
            if np.isfinite(new) and new < energy:
                accepted = True
                break
            damping *= 10.0
        if not accepted:
            reason = "no step lowers the error"
            break
        fall = 1.0 - new / energy
        now, energy, damping = trial, new, max(0.1 * damping, 1e-14)
        error = validation(now)
        history.append((np.sqrt(energy / entries), error))
        if report:
            report(k, *history[-1])
        if error < 0.999 * best_error:
            since = 0
        else:
            since += 1
        if error < best_error:
            best, best_error = now, error
        if since >= patience:
            reason = "the validation error no longer falls"
            break
        if fall < tolerance:
            reason = "the training error no longer falls"
            break
        if time.perf_counter() - begin > time_limit:
            reason = "time used up"
            break
    return Fit(best, np.array(history), k, time.perf_counter() - begin, reason)


def _components(y: Array, slopes: Array | None, slope_weight: float | Array) -> tuple[Array, Array]:
    """Wanted values and weights of all components (k, c), (c,)."""
    y = np.asarray(y, float)
    ones = np.ones(y.shape[1])
    if slopes is None:
        return y, ones
    k, n, m = slopes.shape
    w = np.broadcast_to(np.asarray(slope_weight, float), (n, m)).ravel()
    return np.concatenate([y, slopes.reshape(k, n * m)], axis=1), np.concatenate([ones, w])


def _normal(
    kernels: object, theta: Array, layers: Array, x: Array, slopes: bool, wanted: Array, weight: Array
) -> tuple[Array, Array]:
    """Normal matrix (upper triangle) and gradient of the least-squares problem, in blocks of samples."""
    from scipy.linalg.blas import dsyrk

    p, c = parameter_count(tuple(layers)), wanted.shape[1]
    block = max(1, _BLOCK // (p * c))
    A = np.zeros((p, p), order="F")
    g = np.zeros(p)
    active = np.flatnonzero(weight)
    rows = np.empty((min(block, len(x)), c, p))
    value = np.empty((min(block, len(x)), c))
    for first in range(0, len(x), block):
        part = x[first : first + block]
        n = len(part)
        kernels.training_rows(theta, layers, part, slopes, value[:n], rows[:n])  # type: ignore[attr-defined]
        residual = (value[:n] - wanted[first : first + n]) * weight
        R = rows[:n]
        if len(active) < c:
            R = np.ascontiguousarray(R[:, active])
        if not np.all(weight[active] == 1.0):
            R = R * weight[active][None, :, None]
        R = R.reshape(-1, p)
        A = dsyrk(1.0, R.T, beta=1.0, c=A, overwrite_c=1)
        g += R.T @ residual[:, active].ravel()
    return A, g


def _solve(A: Array, g: Array, shift: float) -> Array:
    from scipy.linalg import LinAlgError, cho_factor, cho_solve

    for _ in range(8):
        B = A.copy(order="F")
        B[np.diag_indices_from(B)] += shift
        try:
            return cho_solve(cho_factor(B, lower=False, overwrite_a=True, check_finite=False), g)
        except LinAlgError:
            shift = max(10.0 * shift, 1e-300)
    return np.zeros_like(g)
