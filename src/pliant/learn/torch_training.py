"""Training with torch (extra "learn"): Adam and L-BFGS, on a GPU if there is one."""

from __future__ import annotations

import time
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from pliant.errors import ArgumentError, MissingExtraError
from pliant.learn.levenberg import Fit
from pliant.models.network import initial

Array = np.ndarray


def import_torch() -> Any:
    """The torch module, or an error that says which extra provides it."""
    try:
        import torch
    except ImportError:
        raise MissingExtraError("torch", "learn") from None
    return torch


def train_torch(
    sizes: tuple[int, ...],
    x: Array,
    y: Array,
    *,
    method: str = "adam",
    slopes: Array | None = None,
    slope_weight: float | Array = 1.0,
    hold_out: tuple[Array, Array] | None = None,
    theta: Array | None = None,
    seed: int = 0,
    iterations: int | None = None,
    batch: int = 200,
    rate: float = 3e-3,
    patience: int = 200,
    time_limit: float = np.inf,
    device: str | None = None,
    report: Callable[[int, float, float], None] | None = None,
) -> Fit:
    """Minimise the mean squared error of values and derivatives; arguments as for `levenberg`.

    Args:
        method: "adam" (batches, falling rate, epochs count as iterations; default 2000) or "lbfgs" (all
            rows at once; 1000).
        batch: rows per step of Adam (200 in the paper).
        rate: first learning rate of Adam.
        patience: iterations without a better validation error before stopping.
        device: torch device; a GPU if there is one, else the CPU.
    """
    torch = import_torch()
    if method not in ("adam", "lbfgs"):
        raise ArgumentError("method", f"{method!r}", "'adam' or 'lbfgs'")
    where = device or ("cuda" if torch.cuda.is_available() else "cpu")
    begin = time.perf_counter()
    steps = iterations if iterations is not None else (2000 if method == "adam" else 1000)
    start = initial(sizes, np.random.default_rng(seed)) if theta is None else np.asarray(theta, float)
    parameters = torch.tensor(start, dtype=torch.float64, device=where, requires_grad=True)
    tensors = [torch.tensor(np.asarray(a), dtype=torch.float64, device=where) for a in (x, y)]
    if slopes is not None:
        tensors.append(torch.tensor(slopes, dtype=torch.float64, device=where))
    weight = torch.tensor(np.broadcast_to(slope_weight, (y.shape[1], x.shape[1])).copy(), device=where)
    check = tensors[:2] if hold_out is None else [torch.tensor(np.asarray(a), device=where) for a in hold_out]

    def loss(rows: Any = slice(None)) -> Any:
        value, tangent = network(torch, parameters, sizes, tensors[0][rows], slopes is not None)
        out = ((value - tensors[1][rows]) ** 2).mean()
        if slopes is not None:
            out = out + (((tangent - tensors[2][rows]) * weight) ** 2).mean() * x.shape[1]
        return out

    def validation() -> float:
        with torch.no_grad():
            value, _ = network(torch, parameters, sizes, check[0], False)
            return float(((value - check[1]) ** 2).mean().sqrt())

    best, best_error, since = parameters.detach().clone(), validation(), 0
    history = [(float(loss().detach().sqrt()), best_error)]
    reason, k = "iterations used up", 0
    if method == "adam":
        optimiser = torch.optim.Adam([parameters], lr=rate)
        schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, steps, eta_min=1e-2 * rate)
    else:
        optimiser = torch.optim.LBFGS(
            [parameters],
            max_iter=20,
            history_size=50,
            line_search_fn="strong_wolfe",
            tolerance_grad=1e-12,
            tolerance_change=1e-14,
        )
    shuffle = torch.Generator().manual_seed(seed)
    for k in range(1, steps + 1):
        if method == "adam":
            for rows in torch.randperm(len(x), generator=shuffle).split(batch):
                optimiser.zero_grad()
                loss(rows.to(where)).backward()
                optimiser.step()
            schedule.step()
        else:

            def closure() -> Any:
                optimiser.zero_grad()
                value = loss()
                value.backward()
                return value

            optimiser.step(closure)
        error = validation()
        if method == "lbfgs" or k % 10 == 0 or k == steps:
            history.append((float(loss().detach().sqrt()), error))
            if report:
                report(k, *history[-1])
        since = 0 if error < 0.999 * best_error else since + 1
        if error < best_error:
            best, best_error = parameters.detach().clone(), error
        if since >= (patience if method == "adam" else 10):
            reason = "the validation error no longer falls"
            break
        if time.perf_counter() - begin > time_limit:
            reason = "time used up"
            break
    return Fit(best.cpu().numpy(), np.array(history), k, time.perf_counter() - begin, reason, (f"device {where}",))


def network(torch: Any, theta: Any, sizes: tuple[int, ...], x: Any, derivative: bool) -> tuple[Any, Any]:
    """Value (k, n) and derivative (k, n, m) of a dense tanh network, as torch tensors."""
    at, layers = 0, len(sizes) - 1
    a = x
    t: Any = torch.eye(sizes[0], dtype=x.dtype, device=x.device).expand(len(x), -1, -1) if derivative else None
    for k, (n_in, n_out) in enumerate(pairwise(sizes)):
        W = theta[at : at + n_in * n_out].reshape(n_out, n_in)
        b = theta[at + n_in * n_out : at + (n_in + 1) * n_out]
        at += (n_in + 1) * n_out
        a = a @ W.T + b
        if derivative:
            t = t @ W.T  # (k, m, out)
        if k < layers - 1:
            a = torch.tanh(a)
            if derivative:
                t = t * (1.0 - a * a)[:, None, :]
    return a, t.transpose(1, 2) if derivative else None


class TorchSquares:
    """The least-squares problem of Levenberg-Marquardt on a torch device (see `levenberg.Squares`)."""

    def __init__(
        self,
        sizes: tuple[int, ...],
        x: Array,
        wanted: Array,
        weight: Array,
        slopes: bool,
        check: tuple[Array, Array],
        device: str,
    ) -> None:
        torch = self._torch = import_torch()
        self._sizes, self._slopes, self._device = sizes, slopes, device
        self._x, self._wanted, self._weight, *self._check = (
            torch.tensor(np.asarray(a, float), device=device) for a in (x, wanted, weight, *check)
        )
        self.entries = wanted.size

    def take(self, theta: Array) -> Any:
        """Parameters as the problem wants them."""
        return self._torch.tensor(theta, dtype=self._torch.float64, device=self._device)

    def give(self, theta: Any) -> Array:
        """Parameters as a NumPy array."""
        return theta.cpu().numpy()

    def _residual(self, theta: Any, x: Any, wanted: Any) -> Any:
        value, tangent = network(self._torch, theta, self._sizes, x, self._slopes)
        if self._slopes:
            value = self._torch.cat([value, tangent.reshape(len(x), -1)], dim=1)
        return (value - wanted) * self._weight

    def cost(self, theta: Any) -> float:
        """Sum of the squared residuals."""
        return float((self._residual(theta, self._x, self._wanted) ** 2).sum())

    def validation(self, theta: Any) -> float:
        """Root-mean-square error on the hold-out rows."""
        value, _ = network(self._torch, theta, self._sizes, self._check[0], False)
        return float(((value - self._check[1]) ** 2).mean().sqrt())

    def normal(self, theta: Any) -> tuple[Any, Any]:
        """Normal matrix and half of the gradient, in blocks of samples."""
        torch = self._torch
        p, c = len(theta), self._wanted.shape[1]
        block = max(1, 60_000_000 // (p * c))

        def one(parameters: Any, x: Any, wanted: Any) -> Any:
            return self._residual(parameters, x[None], wanted[None])[0]

        rows = torch.func.vmap(torch.func.jacrev(one), in_dims=(None, 0, 0))
        A = torch.zeros((p, p), dtype=theta.dtype, device=theta.device)
        g = torch.zeros_like(theta)
        for first in range(0, len(self._x), block):
            x, wanted = self._x[first : first + block], self._wanted[first : first + block]
            J = rows(theta, x, wanted).reshape(-1, p)
            A += J.T @ J
            g += J.T @ self._residual(theta, x, wanted).reshape(-1)
        return A, g

    def mean_diagonal(self, A: Any) -> float:
        """Mean of the diagonal."""
        return float(A.diagonal().mean())

    def solve(self, A: Any, g: Any, shift: float) -> Any:
        """(A + shift I)^-1 g."""
        torch = self._torch
        for _ in range(8):
            B = A.clone()
            B.diagonal().add_(shift)
            L, info = torch.linalg.cholesky_ex(B)
            if int(info) == 0:
                return torch.cholesky_solve(g[:, None], L)[:, 0]
            shift = max(10.0 * shift, 1e-300)
        return torch.zeros_like(g)
