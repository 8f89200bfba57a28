"""Active sampling: new samples where an ensemble of networks disagrees most."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.learn.evaluate import STATUSES, Question
from pliant.learn.levenberg import levenberg
from pliant.learn.plans import scaled, unit_rows
from pliant.learn.train import Scaling

Array = np.ndarray
_MEMBERS, _HIDDEN, _POOL = 3, (12, 12), 2048


def active_rows(ranges: Array, total: int, seed: int, run: Callable[[Array, int], Array], question: Question) -> Array:
    """Records of all rows: a quarter by Sobol, then rounds of a quarter each, chosen by disagreement.

    `run(u, first)` gives the records of rows u, numbered from `first`. The choice depends on the earlier
    rows and the seed only, so a run that was killed chooses the same again.
    """
    m = len(ranges)
    first = min(total, max(total // 4, 4 * m))
    records = run(scaled(unit_rows("sobol", first, m, seed), ranges), 0)
    while len(records) < total:
        count = min(max(total // 4, 1), total - len(records))
        u = choose(records, ranges, count, seed + len(records), question)
        records = np.concatenate([records, run(u, len(records))])
    return records


def choose(records: Array, ranges: Array, count: int, seed: int, question: Question) -> Array:
    """Commands (count, m) where networks trained on the records disagree, spread out over the range."""
    good = np.array([STATUSES[c].ok for c in records["status"]])
    u, p = records["u"][good], records["position"][good].reshape(int(good.sum()), -1)
    pool = unit_rows("sobol", _POOL, len(ranges), seed)
    if len(u) < 8:
        return scaled(pool[:count], ranges)
    from pliant._kernels.network import spread

    mid, half = ranges.mean(axis=1), 0.5 * np.ptp(ranges, axis=1)
    x, outputs = (u - mid) / half, Scaling.of(p)
    y = outputs.scale(p)
    slopes = None
    J = records["jacobian"][good][:, :, 3:].reshape(len(u), -1, len(ranges))
    if np.isfinite(J).all():
        slopes = (
            J * half * np.where(outputs.half > 0, 1.0 / np.where(outputs.half > 0, outputs.half, 1.0), 0.0)[:, None]
        )
    sizes = (len(ranges), *_HIDDEN, p.shape[1])
    theta = np.array(
        [
            levenberg(sizes, x, y, slopes=slopes, slope_weight=0.3, seed=seed + k, iterations=15).theta
            for k in range(_MEMBERS)
        ]
    )
    candidates = 2.0 * pool - 1.0
    unsure = np.linalg.norm(spread(theta, np.array(sizes, np.int64), np.ascontiguousarray(candidates)), axis=1)
    # Greedy: the most uncertain candidate, discounted near points that are known or already chosen.
    near = np.full(len(candidates), np.inf)
    for known in np.array_split(x, max(len(x) // 256, 1)):
        near = np.minimum(near, np.linalg.norm(candidates[:, None] - known[None], axis=2).min(axis=1))
    chosen = []
    for _ in range(count):
        i = int(np.argmax(unsure * np.minimum(near, 0.5)))
        chosen.append(i)
        near = np.minimum(near, np.linalg.norm(candidates - candidates[i], axis=1))
        unsure[i] = 0.0
    return scaled(pool[chosen], ranges)
