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
