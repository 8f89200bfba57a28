"""Partition: nodes and elements shared out among threads, so that each adds up what belongs to its own nodes.

Elements with nodes of several parts are computed by each of them. That is a few per cent of all, since parts are
compact; in return nothing has to be collected afterwards, and every sum is formed in the same order by any number
of threads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.threads import thread_count, together

# [ns] of work from which on a second thread is worth waking
_WORTH = 4e5
# elements from which on their forces are added up in chunks, and how many
_FEW, _CHUNKS = 4000, 4


@dataclass(frozen=True, eq=False)
class Partition:
    """Parts of a mesh of several groups of elements.

    Attributes:
        owner: part of each node (N,).
        chosen: for each part, for each group, the elements that touch its nodes, ascending.
    """

    owner: NDArray[np.int64]
    chosen: tuple[tuple[NDArray[np.int64], ...], ...]

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.chosen)

    def name(self, part: int) -> int:
        """What kernels call a part: -1, whose nodes need no look at their owner, if there is no other."""
        return part if len(self.chosen) > 1 else -1

    @classmethod
    def of(cls, points: NDArray[np.float64], cells: Sequence[NDArray[np.int64]], parts: int) -> Partition:
        """Cut the nodes across their longest extent again and again.

        Args:
            points: positions of the nodes (N, 3).
            cells: nodes of the elements, one array (ne, k) per group.
            parts: how many parts.
        """
        load = np.zeros(len(points))  # what the elements around a node cost, in proportion
        for group in cells:
            load += np.bincount(group.ravel(), minlength=len(points)) * float(group.shape[1])
        owner = np.zeros(len(points), dtype=np.int64)
        _bisect(points, load, np.arange(len(points)), 0, parts, owner)
        chosen = tuple(
            tuple(np.flatnonzero((owner[group] == part).any(axis=1)) for group in cells) for part in range(parts)
        )
        return cls(owner, chosen)


def _bisect(points: NDArray, load: NDArray, nodes: NDArray, first: int, parts: int, owner: NDArray) -> None:
    """Give `parts` parts, numbered from `first`, about the same load of some nodes each."""
    if parts == 1 or len(nodes) == 0:
        owner[nodes] = first
        return
    inside = points[nodes]
    axis = int(np.argmax(np.ptp(inside, axis=0)))
    order = nodes[np.argsort(inside[:, axis], kind="stable")]
    half = parts // 2
    summed = np.cumsum(load[order])
    cut = int(np.searchsorted(summed, summed[-1] * half / parts))
    _bisect(points, load, order[:cut], first, half, owner)
    _bisect(points, load, order[cut:], first + half, parts - half, owner)


class Shared:
    """Partitions of one mesh by the number of parts, made when first needed, and work done by their parts.

    Args:
        points: positions of the nodes (N, 3).
        cells: nodes of the elements, one array (ne, k) per group.
    """

    def __init__(self, points: NDArray[np.float64], cells: Sequence[NDArray[np.int64]]) -> None:
        self._points, self._cells = points, tuple(cells)
        self._made: dict[int, Partition] = {}

    def partition(self, nanoseconds: float) -> Partition:
        """One part per thread for work that takes one thread so long; a single one if it is not worth sharing."""
        parts = thread_count() if nanoseconds >= _WORTH else 1
        if parts not in self._made:
            self._made[parts] = Partition.of(self._points, self._cells, parts)
        return self._made[parts]

    @staticmethod
    def run(partition: Partition, work: Callable[[int], object]) -> None:
        """Do work(part) for every part, by as many threads."""
        if partition.parts == 1:
            work(0)
            return
        waiting = iter(range(partition.parts))  # taking the next is one operation of the interpreter

        def take(_: int) -> None:
            for part in waiting:
                work(part)

        together(take, partition.parts)


def added_up(work: Callable[[int, int, NDArray], float], count: int, out: NDArray) -> float:
    """Sum of work(first, last, sums) over chunks of elements, by several threads: into out, and of what it returns.

    For work that is too light to be done twice at the seams of a partition. The chunks, and so the sums, do not depend
    on the number of threads.

    Args:
        work: adds what the elements first..last contribute to an array like out; compiled, without interpreter lock.
        count: number of elements.
        out: where the sums go.
    """
    if count < _FEW:
        return float(work(0, count, out))
    bounds = [count * i // _CHUNKS for i in range(_CHUNKS + 1)]
    sums = [out, *(np.zeros_like(out) for _ in range(_CHUNKS - 1))]
    totals = [0.0] * _CHUNKS
    waiting = iter(range(_CHUNKS))

    def take(_: int) -> None:
        for i in waiting:
            totals[i] = work(bounds[i], bounds[i + 1], sums[i])

    together(take, min(thread_count(), _CHUNKS))
    for part in sums[1:]:
        out += part
    return float(sum(totals))
