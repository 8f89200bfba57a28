"""Where samples are computed: in this process, in processes of this machine, or on a Dask cluster.

All give records as they finish. The work is cut into chunks that do not depend on the number of workers,
so that the rows do not either.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import numpy as np

from pliant.errors import MissingExtraError
from pliant.learn.evaluate import STATUSES, Question, evaluate_chunk
from pliant.state import Status

Array = np.ndarray
Chunk = tuple[list[int], Array]
Factory = Callable[[], Any]
_model: Any = None  # of this worker process


def run_here(factory: Factory, question: Question, chunks: list[Chunk]) -> Iterator[Array]:
    """Compute the chunks one after the other, in this process."""
    from threadpoolctl import threadpool_limits

    model = factory()
    for index, u in chunks:
        with threadpool_limits(1):  # as in the other processes: the rows must be the same
            records = evaluate_chunk(model, question, index, u)
        yield records


def run_processes(factory: Factory, question: Question, chunks: list[Chunk], workers: int) -> Iterator[Array]:
    """Compute the chunks in processes of this machine; a death costs only the chunk that caused it."""
    waiting = list(reversed(chunks))
    suspects: list[Chunk] = []
    while waiting or suspects:
        # After a death the chunks that were under way run one at a time, so that the guilty one is known.
        alone = bool(suspects)
        pool = _pool(factory, 1 if alone else workers)
        running: dict[Future, Chunk] = {}
        try:
            while True:
                source = suspects if alone else waiting
                while source and len(running) < (1 if alone else 2 * workers):
                    chunk = source.pop()
                    running[pool.submit(_work, question, *chunk)] = chunk
                if not running:
                    break
                done, _ = wait(running, return_when=FIRST_COMPLETED)
                for future in done:
                    records = future.result()
                    del running[future]
                    yield records
        except BrokenProcessPool:
            if alone:
                for chunk in running.values():
                    yield _lost(question, *chunk)
            else:
                suspects += list(running.values())
        finally:
            pool.shutdown(wait=True, cancel_futures=True)


def run_dask(factory: Factory, question: Question, chunks: list[Chunk], address: str) -> Iterator[Array]:
    """Compute the chunks on a Dask cluster; a chunk that kills its workers is recorded as lost."""
    try:
        from distributed import Client, KilledWorker, as_completed
    except ImportError:
        raise MissingExtraError("distributed", "cluster") from None
    token = f"{os.getpid()}-{time.time_ns()}"  # names the model in the workers' memory
    waiting = list(reversed(chunks))
    with Client(address) as client:
        # The factory travels with every task, a few at a time: scattered data would die with the worker that holds it.
        ahead = 2 * max(sum(client.ncores().values()), 1)
        running: dict[Any, Chunk] = {}
        finished = as_completed()
        while waiting or running:
            while waiting and len(running) < ahead:
                chunk = waiting.pop()
                future = client.submit(_remote, token, factory, question, *chunk, pure=False)
                running[future] = chunk
                finished.add(future)
            future = next(finished)
            chunk = running.pop(future)
            try:
                records = future.result()
            except KilledWorker:
                records = _lost(question, *chunk)
            future.release()
            yield records


def _pool(factory: Factory, workers: int) -> ProcessPoolExecutor:
    import multiprocessing

    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(workers, mp_context=context, initializer=_begin, initargs=(factory, os.getpid()))


def _begin(factory: Factory, parent: int) -> None:
    """Prepare a worker: one thread per process, the model built once, gone when the parent is gone."""
    global _model

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(0.5)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()
    from threadpoolctl import threadpool_limits

    threadpool_limits(1)
    _model = factory()


def _work(question: Question, index: list[int], u: Array) -> Array:
    return evaluate_chunk(_model, question, index, u)


_remote_models: dict[str, Any] = {}  # the model of the last sampling run, in a worker of a cluster


def _remote(token: str, factory: Factory, question: Question, index: list[int], u: Array) -> Array:
    from threadpoolctl import threadpool_limits

    if token not in _remote_models:
        _remote_models.clear()
        _remote_models[token] = factory()
    with threadpool_limits(1):  # as in the other processes: the rows must be the same
        return evaluate_chunk(_remote_models[token], question, index, u)


def _lost(question: Question, index: list[int], u: Array) -> Array:
    out = np.zeros(len(index), question.dtype)
    out["index"], out["u"], out["status"] = index, u, STATUSES.index(Status.DIVERGED)
    for f in ("position", "rotation", "jacobian", "shape"):
        out[f] = np.nan
    out["reason"] = b"the worker process died on this sample or on one of its chunk (out of memory?)"
    return out
