"""forked: the same work on several parts, each in a process of its own that inherits everything by fork."""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pliant.errors import ArgumentError, PliantError

Part = TypeVar("Part")
Result = TypeVar("Result")


def forks() -> bool:
    """Whether processes can inherit by fork here."""
    return "fork" in multiprocessing.get_all_start_methods()


def forked(work: Callable[[Part], Result], parts: Sequence[Part]) -> list[Result]:
    """Results of `work` on each part, in order; one part runs here, without a process.

    Args:
        work: a function of one part; it may be a closure, its result must be picklable.
        parts: what to work on.

    Raises:
        PliantError: a process died, or the work failed in it (with what it said).
    """
    if len(parts) == 1:
        return [work(parts[0])]
    if not forks():
        raise ArgumentError("workers", "this operating system cannot fork", "1")
    context = multiprocessing.get_context("fork")
    jobs = []
    for part in parts:
        ours, theirs = context.Pipe(duplex=False)

        def run(part: Part = part, pipe: Any = theirs) -> None:
            try:
                pipe.send((work(part), None))
            except BaseException as error:  # the other side has to hear of it, whatever it is
                pipe.send((None, f"{type(error).__name__}: {error}"))
            pipe.close()

        job = context.Process(target=run)
        job.start()
        theirs.close()
        jobs.append((job, ours))
    out, failures = [], []
    for job, ours in jobs:
        try:
            result, failure = ours.recv()
        except EOFError:
            result, failure = None, "the process died"
        job.join()
        out.append(result)
        if failure:
            failures.append(failure)
    if failures:
        raise PliantError("; ".join(failures))
    return out
