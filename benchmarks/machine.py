"""Is the machine fast now? A fixed compiled loop tells: some machines take half as long again for minutes at a time.

    machine = Machine()
    result, slow = machine.watched(run)     # slow: 1.0 while the machine is as fast as it ever was here
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numba import njit

NEAR = 1.1  # of the best time of the loop: fast enough
_TRIES = 3


@njit(cache=True)
def reference_loop(a: np.ndarray, repeats: int) -> float:
    """Products of small matrices and a pass over memory, like a factorisation: about two milliseconds."""
    n = a.shape[0]
    total = 0.0
    for r in range(repeats):
        for i in range(n):
            for k in range(n):
                f = a[i, k] + r
                for j in range(n):
                    a[i, j] += 1e-12 * f * a[k, j]
        total += a[r % n, r % n] ** 0.5
    return total


class Machine:
    """Process times of the loop, and the best one so far."""

    def __init__(self) -> None:
        self._matrix = np.ones((160, 160))
        reference_loop(self._matrix, 1)
        self.best = min(self.loop() for _ in range(5))

    def loop(self) -> float:
        """The loop now [s]: the median of nine."""
        times = []
        for _ in range(9):
            begin = time.process_time()
            reference_loop(self._matrix, 4)
            times.append(time.process_time() - begin)
        return float(np.median(times))

    def slowness(self) -> float:
        """Time of the loop now, relative to the best so far [-]."""
        now = self.loop()
        self.best = min(self.best, now)
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
