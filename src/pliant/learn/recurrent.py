"""The paper's comparison with a recurrent network (LSTM), with torch."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.learn.dataset import Dataset
from pliant.learn.torch_training import import_torch
from pliant.learn.train import Scaling

Array = np.ndarray


@dataclass(frozen=True, eq=False)
class Recurrent:
    """An LSTM from a sequence of commands to the position at its end.

    Attributes:
        errors: on held-out sequences [m]: mean, p95, max, and shares of the workspace width.
        parameters: number of parameters.
        seconds: training time.
        predict: function of command sequences (k, length, nu) -> positions (k, 3).
    """

    errors: dict[str, float]
    parameters: int
    seconds: float
    predict: Any


def fit_recurrent(
    dataset: Dataset,
    *,
    hidden: int = 32,
    layers: int = 1,
    length: int = 4,
    epochs: int = 300,
    rate: float = 0.01,
    batch: int = 200,
    share: float = 0.7,
    seed: int = 0,
    point: int = 0,
) -> Recurrent:
    """Train an LSTM on runs of consecutive samples, as in the paper's comparison (Fig. 5).

    Args:
        dataset: samples; their order gives the sequences.
        hidden: neurons per layer.
        layers: LSTM layers.
        length: commands per sequence.
        epochs: passes over the data.
        rate: first learning rate.
        batch: sequences per step.
        share: of the sequences that trains.
        seed: of the split and the parameters.
        point: index of the point.
    """
    torch = import_torch()
    torch.manual_seed(seed)
    begin = time.perf_counter()
    u, p = dataset.u[dataset.ok], dataset.position[dataset.ok, point]
    inputs, outputs = Scaling.of(u, inputs=True), Scaling.of(p)
    x = np.lib.stride_tricks.sliding_window_view(inputs.scale(u), length, axis=0).transpose(0, 2, 1).copy()
    y = outputs.scale(p)[length - 1 :]
    order = np.random.default_rng(seed).permutation(len(x))
    cut = round(share * len(x))
    X, Y = torch.tensor(x), torch.tensor(y)
    rows = torch.tensor(order[:cut])

    class Net(torch.nn.Module):  # type: ignore[name-defined, misc]
        def __init__(self) -> None:
            super().__init__()
            self.lstm = torch.nn.LSTM(x.shape[2], hidden, layers, batch_first=True)
            self.out = torch.nn.Linear(hidden, 3)

        def forward(self, s: Any) -> Any:
            return self.out(self.lstm(s)[0][:, -1])

    net = Net().double()
    optimiser = torch.optim.Adam(net.parameters(), lr=rate)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimiser, epochs, eta_min=0.01 * rate)
    for _ in range(epochs):
        for part in rows[torch.randperm(len(rows))].split(batch):
            optimiser.zero_grad()
            ((net(X[part]) - Y[part]) ** 2).mean().backward()
            optimiser.step()
        schedule.step()

    def predict(sequences: Array) -> Array:
        with torch.no_grad():
            return outputs.mid + outputs.half * net(torch.tensor(inputs.scale(sequences))).numpy()

    test = order[cut:]
    with torch.no_grad():
        got = outputs.mid + outputs.half * net(X[torch.tensor(test)]).numpy()
    e = np.linalg.norm(got - p[length - 1 :][test], axis=1)
    errors = {
        "mean": float(e.mean()),
        "p95": float(np.quantile(e, 0.95)),
        "max": float(e.max()),
        "mean_share": float(e.mean() / dataset.width),
        "max_share": float(e.max() / dataset.width),
    }
    count = sum(q.numel() for q in net.parameters())
    return Recurrent(errors, count, time.perf_counter() - begin, predict)
