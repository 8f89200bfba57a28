"""Levenberg-Marquardt training of small dense networks, on values and on exact derivatives."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Protocol

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
    device: str | None = None,
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
        device: compute with torch on this device (a GPU); compiled on the CPU if None.
        report: called with (iteration, training rms, validation rms).
    """
    start = initial(sizes, np.random.default_rng(seed)) if theta is None else np.array(theta, float)
    wanted, weight = components(y, slopes, slope_weight)
    check = (x, y) if hold_out is None else hold_out
    if device is None:
        problem: Any = _Compiled(sizes, x, wanted, weight, slopes is not None, check)
    else:
        from pliant.learn.torch_training import TorchSquares

        problem = TorchSquares(sizes, x, wanted, weight, slopes is not None, check, device)
    return minimise(
        problem,
        start,
        iterations=iterations,
        damping=damping,
        tolerance=tolerance,
        patience=patience,
        time_limit=time_limit,
        decay=decay,
        report=report,
    )


class Squares(Protocol):
    """A least-squares problem of a network's parameters, wherever it is computed."""

    entries: int

    def take(self, theta: Array) -> Any:
        """Parameters as the problem wants them."""

    def cost(self, theta: Any) -> float:
        """Sum of the squared residuals."""

    def normal(self, theta: Any) -> tuple[Any, Any]:
        """Normal matrix (at least its upper triangle) and half of the gradient."""

    def mean_diagonal(self, A: Any) -> float:
        """Mean of the diagonal."""

    def solve(self, A: Any, g: Any, shift: float) -> Any:
        """(A + shift I)^-1 g."""

    def validation(self, theta: Any) -> float:
        """Root-mean-square error on the hold-out rows."""

    def give(self, theta: Any) -> Array:
        """Parameters as a NumPy array."""


def minimise(
    problem: Squares,
    start: Array,
    *,
    iterations: int,
    damping: float,
    tolerance: float,
    patience: int,
    time_limit: float,
    decay: float,
    report: Callable[[int, float, float], None] | None,
) -> Fit:
    """The Levenberg-Marquardt iteration (see `levenberg`)."""
    begin = time.perf_counter()
    now = problem.take(start)

    def cost(theta: Any) -> float:
        return problem.cost(theta) + decay * float(theta @ theta)

    energy, best, best_error, since = cost(now), now, problem.validation(now), 0
    history = [(np.sqrt(energy / problem.entries), best_error)]
    reason, k = "iterations used up", 0
    for k in range(1, iterations + 1):
        A, g = problem.normal(now)
        if decay:
            g = g + decay * now
        scale = problem.mean_diagonal(A)
        new, trial = np.inf, now
        for _ in range(12):
            trial = now - problem.solve(A, g, damping * scale + decay)
            new = cost(trial)
            if np.isfinite(new) and new < energy:
                break
            damping *= 10.0
        if not new < energy:
            reason = "no step lowers the error"
            break
        fall = 1.0 - new / energy
        now, energy, damping = trial, new, max(0.1 * damping, 1e-14)
        error = problem.validation(now)
        history.append((np.sqrt(energy / problem.entries), error))
        if report:
            report(k, *history[-1])
        since = 0 if error < 0.999 * best_error else since + 1
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
    return Fit(problem.give(best), np.array(history), k, time.perf_counter() - begin, reason)


class _Compiled:
    """The least-squares problem on the CPU, by compiled rows and BLAS."""

    def __init__(
        self, sizes: tuple[int, ...], x: Array, wanted: Array, weight: Array, slopes: bool, check: tuple[Array, Array]
    ) -> None:
        from pliant._kernels import network as kernels

        self._kernels: Any = kernels
        self._layers = np.array(sizes, dtype=np.int64)
        self._x, self._wanted, self._weight, self._slopes = np.ascontiguousarray(x, float), wanted, weight, slopes
        self._check = (np.ascontiguousarray(check[0], float), np.asarray(check[1], float))
        self.entries = wanted.size

    def take(self, theta: Array) -> Array:
        return np.array(theta, float)

    def give(self, theta: Array) -> Array:
        return theta

    def cost(self, theta: Array) -> float:
        value, J = self._kernels.evaluate(theta[None], self._layers, self._x, self._slopes)
        got = np.concatenate([value, J.reshape(len(value), -1)], axis=1) if self._slopes else value
        return float(np.sum(((got - self._wanted) * self._weight) ** 2))

    def validation(self, theta: Array) -> float:
        value = self._kernels.evaluate(theta[None], self._layers, self._check[0], False)[0]
        return float(np.sqrt(np.mean((value - self._check[1]) ** 2)))

    def normal(self, theta: Array) -> tuple[Array, Array]:
        return _normal(self._kernels, theta, self._layers, self._x, self._slopes, self._wanted, self._weight)

    def mean_diagonal(self, A: Array) -> float:
        return float(np.mean(np.diag(A)))

    def solve(self, A: Array, g: Array, shift: float) -> Array:
        return _solve(A, g, shift)


def components(y: Array, slopes: Array | None, slope_weight: float | Array) -> tuple[Array, Array]:
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
