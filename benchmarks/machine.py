"""Is the machine fast now? A fixed compiled loop tells: some machines take half as long again for minutes at a time.

    machine = Machine()
    result, slow = machine.watched(run)     # slow: 1.0 while the machine is as fast as it ever was here
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numba import njit

NEAR = 1.1  # of the best time of the loop: fast enough
_TRIES = 3


@njit(cache=True)
def reference_loop(a: np.ndarray, memory: np.ndarray, repeats: int) -> float:
    """Products of small matrices, and passes over more memory than caches near the core hold: some milliseconds."""
    n = a.shape[0]
    total = 0.0
    for r in range(repeats):
        for i in range(n):
            for k in range(n):
                f = a[i, k] + r
                for j in range(n):
                    a[i, j] += 1e-12 * f * a[k, j]
        for i in range(r, memory.size, 8):  # one number per cache line
            total += memory[i]
    return total


class Machine:
    """Process times of the loop, and the best one ever seen here.

    Args:
        kept: file that remembers it between runs; it belongs to this machine and to no repository.
    """

    def __init__(self, kept: Path = Path("out/machine.json")) -> None:
        self._matrix, self._memory, self._kept = np.ones((160, 160)), np.ones(1_000_000), kept
        self.best = float(json.loads(kept.read_text())["best"]) if kept.exists() else np.inf
        reference_loop(self._matrix, self._memory, 1)
        for _ in range(5):
            self.slowness()

    def loop(self) -> float:
        """The loop now [s]: the median of nine."""
        times = []
        for _ in range(9):
            begin = time.process_time()
            reference_loop(self._matrix, self._memory, 4)
            times.append(time.process_time() - begin)
        return float(np.median(times))

    def slowness(self) -> float:
        """Time of the loop now, relative to the best so far [-]."""
        now = self.loop()
        if now < self.best:
            self.best = now
            self._kept.parent.mkdir(exist_ok=True)
            self._kept.write_text(json.dumps({"best": now}))
        return now / self.best

    def watched(self, run: Callable[[], Any]) -> tuple[Any, float]:
        """What a run gives, and how slow the machine was around it: repeated up to three times until it was not."""
        found: Any = None
        least = np.inf
        for _ in range(_TRIES):
            before = self.slowness()
            result = run()
            slow = max(before, self.slowness())
            if slow < least:
                found, least = result, slow
            if least <= NEAR:
                break
        return found, float(least)
