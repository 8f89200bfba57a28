"""Anderson acceleration of fixed-point iterations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

Array = np.ndarray


@dataclass
class Anderson:
    """Anderson acceleration of a fixed-point iteration q <- q + f(q), in increments (so it works on manifolds)."""

    window: int

    def __post_init__(self) -> None:
        self.restart()

    def restart(self) -> None:
        """Forget the history."""
        self._dq: list[Array] = []
        self._df: list[Array] = []
        self._last: tuple[Array, Array] | None = None

    def step(self, f: Array) -> Array:
        """The accelerated increment for the residual f at the current iterate."""
        if self.window == 0:
            return f
        if self._last is not None:
            moved, before = self._last
            self._dq.append(moved)
            self._df.append(f - before)
            if len(self._dq) > self.window:
                self._dq.pop(0)
                self._df.pop(0)
        if not self._df:
            self._last = (f, f)
            return f
        D = np.array(self._df)
        gram = D @ D.T
        size = gram.diagonal().max()
        theta = np.linalg.solve(gram + 1e-12 * size * np.eye(len(D)), D @ f) if size > 0 else np.zeros(len(D))
        out = f.copy()
        for t, dq, df in zip(theta, self._dq, self._df):
            out -= t * (dq + df)
        self._last = (out, f)
        return out

    def moved(self, dq: Array) -> None:
        """Tell what increment was really taken, if not the proposed one."""
        if self._last is not None:
            self._last = (dq, self._last[1])
