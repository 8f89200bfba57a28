"""Anderson's mixing for many iterations side by side, written once for numpy and torch."""

from __future__ import annotations

from typing import Any


class Mixing:
    """Anderson's mixing of the fixed-point steps of a batch, each pose with its own history.

    The differences of steps and their inner products are kept in rings, so that one turn reads the history three times
    and writes one column of it.

    Args:
        ops: the backend (see `geometric_iterate`).
        shape: number of poses and of unknowns.
        window: differences that are kept.
    """

    def __init__(self, ops: Any, shape: tuple[int, int], window: int) -> None:
        self.ops, self.window = ops, window
        nb, n = shape
        self.change = ops.zeros((nb, window, n))  # of the plain steps
        self.whole = ops.zeros((nb, window, n))  # of the mixed steps, plus those of the plain ones
        self.gram = ops.zeros((nb, window, window))
        self.valid = ops.zeros((nb, window))  # 1 where a pose may use a difference, else 0
        self.eye = ops.eye(window)
        self.turn = 0
        self.last: Any = None

    def step(self, f: Any, restart: Any) -> Any:
        """The mixed step (nb, n) for plain steps f (nb, n); poses with `restart` (nb,) forget what was before."""
        xp = self.ops.xp
        if not self.window:
            return f
        if self.last is not None:
            before, taken = self.last
            slot = (self.turn - 1) % self.window
            change = f - before
            self.change[:, slot] = change
            self.whole[:, slot] = change + taken
            self.valid[:, slot] = 1.0
            products = xp.einsum("bin,bn->bi", self.change, change)
            self.gram[:, slot], self.gram[:, :, slot] = products, products
        if self.turn:
            self.valid = self.valid * (1.0 - restart)[:, None]
        self.turn += 1
        pairs = self.valid[:, :, None] * self.valid[:, None, :]
        gram = self.gram * pairs
        trace = xp.einsum("bii->b", gram)
        # what a pose may not use has a unit row of its own, and weight zero
        own = (1e-12 * trace + 1e-300)[:, None] + (1.0 - self.valid) * (trace[:, None] + 1.0)
        gram = gram + own[..., None] * self.eye
        wanted = self.valid * xp.einsum("bin,bn->bi", self.change, f)
        weights = self.valid * self.ops.small(gram, wanted[..., None])[..., 0]
        return f - xp.einsum("bi,bin->bn", weights, self.whole)

    def took(self, f: Any, step: Any) -> None:
        """Remember the plain step and the step that was taken."""
        self.last = (f, step)

    def keep(self, rows: Any) -> None:
        """Go on with these poses only."""
        self.change, self.whole = self.change[rows], self.whole[rows]
        self.gram, self.valid = self.gram[rows], self.valid[rows]
        if self.last is not None:
            self.last = (self.last[0][rows], self.last[1][rows])
