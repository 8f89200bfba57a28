"""How many threads work on one problem, and the one place that starts them.

The number is that of the variable PLIANT_THREADS; without it that of OMP_NUM_THREADS; without that all cores this
process may use (eight at most). `use_threads(n)` sets it for a block. Processes that were forked, or started by
multiprocessing, use one: their siblings have the other cores.

`together` is how compiled kernels share work: each caller of the kernel takes tasks from a shared counter until
none is left, so that any number of them, also one, gets everything done. What they compute does not depend on how
many they are, to the last bit.

BLAS itself runs on one thread meanwhile (`one_blas_thread`): on matrices of a few hundred rows several would only get
in each other's way. Its number of threads is a setting of the whole process, so it is lowered and restored under a
lock, by the first to enter and the last to leave, in whatever order Python threads do so.
(`threadpoolctl.threadpool_limits` lets only one Python thread change it, and would leave it lowered; it serves here to
find the library.) A BLAS other than OpenBLAS with its own threads is left alone.
"""

from __future__ import annotations

import ctypes
import multiprocessing
import os
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ContextDecorator, contextmanager, suppress
from functools import cache

from pliant.errors import ArgumentError

_MOST = 8  # threads used unless more are asked for: the problems here do not feed more
Library = tuple[Callable[[], int], Callable[[int], None]]


class _Process:
    """What belongs to this process and must not survive a fork: threads do not, and locks may be held."""

    def __init__(self, default: int | None = None) -> None:
        self.lock = threading.Lock()
        self.saved: list[int] = []  # BLAS thread counts to restore, one per library, while someone is inside
        self.users = 0  # how many are inside
        self.default = default  # None: not asked for yet
        self.chosen: list[tuple[object, int]] = []  # by use_threads, the last one counts
        self.team = threading.Lock()  # held while the pool is at work
        self.pool: ThreadPoolExecutor | None = None
        self.size = 0  # threads of the pool


_process = _Process()


def _after_fork() -> None:
    global _process
    inside, _process = _process, _Process(default=1)
    # a fork inside one_blas_thread: the child leaves the block too, and restores what its parent had found
    _process.saved, _process.users = inside.saved, inside.users


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


def thread_count() -> int:
    """How many threads may share one problem."""
    chosen = _process.chosen
    if chosen:
        return chosen[-1][1]
    if _process.default is None:
        _process.default = _default()
    return _process.default


def _default() -> int:
    asked = os.environ.get("PLIANT_THREADS", "").strip()
    if asked:
        if not asked.isdecimal() or int(asked) < 1:
            raise ArgumentError("PLIANT_THREADS", f"is {asked!r}", "a whole number, 1 or more")
        return int(asked)
    if multiprocessing.parent_process() is not None:
        return 1
    asked = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    if asked.isdecimal() and int(asked) >= 1:
        return int(asked)
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(_MOST, usable)


@contextmanager
def use_threads(count: int) -> Iterator[None]:
    """Let `count` threads share each problem inside the block; a setting of the whole process.

    Where the blocks of several Python threads overlap, the one that was entered last counts.
    """
    if isinstance(count, bool) or not isinstance(count, int) or count < 1:
        raise ArgumentError("count", f"is {count!r}", "a whole number, 1 or more")
    mine = (object(), count)
    process = _process
    with process.lock:
        process.chosen = [*process.chosen, mine]
    try:
        yield
    finally:
        with process.lock:
            process.chosen = [c for c in process.chosen if c is not mine]


def _started(process: _Process, work: Callable[[int], object], members: int) -> list[Future[object]]:
    """The calls that help; none where the interpreter is about to end and starts no threads any more."""
    pool = _pool(process, members - 1)
    others: list[Future[object]] = []
    with suppress(RuntimeError):
        others.extend(pool.submit(work, i) for i in range(1, members))
    return others


def together(work: Callable[[int], object], members: int) -> None:
    """Call work(0) here and work(1) ... work(members - 1) in threads beside it; return when none is at work.

    Every call must take tasks from a shared counter until none is left: those that come late, or find the threads
    busy with another problem, are left out.
    """
    process = _process
    if members <= 1 or not process.team.acquire(blocking=False):
        work(0)
        return
    try:
        others = _started(process, work, members)
        try:
            work(0)
        finally:
            for other in others:
                if not other.cancel():
                    other.result()
    finally:
        process.team.release()


def _pool(process: _Process, size: int) -> ThreadPoolExecutor:
    if process.pool is None or process.size < size:
        if process.pool is not None:
            process.pool.shutdown(wait=False)
        process.pool, process.size = ThreadPoolExecutor(size, thread_name_prefix="pliant-team"), size
    return process.pool


@cache
def blas_libraries() -> tuple[Library, ...]:
    """(get, set) the number of threads of the BLAS that scipy and numpy bring; found once, which takes some ms."""
    import scipy.linalg  # noqa: F401  so that its library is loaded
    from threadpoolctl import threadpool_info

    libraries: list[Library] = []
    for info in threadpool_info():
        ours = info.get("internal_api") == "openblas" and info.get("threading_layer") == "pthreads"
        if not ours:
            continue
        library = ctypes.CDLL(info["filepath"])
        for name in ("scipy_openblas_{}_num_threads", "scipy_openblas_{}_num_threads64_", "openblas_{}_num_threads"):
            if hasattr(library, name.format("set")):
                getter, setter = getattr(library, name.format("get")), getattr(library, name.format("set"))
                getter.restype, setter.argtypes, setter.restype = ctypes.c_int, [ctypes.c_int], None
                libraries.append((getter, setter))
                break
    return tuple(libraries)


class _OneThread(ContextDecorator):
    """The block (or decorator) of `one_blas_thread`; what it has to remember belongs to the process."""

    def __enter__(self) -> None:
        process = _process
        with process.lock:
            if process.users == 0:
                process.saved[:] = [get() for get, _ in blas_libraries()]
                _change(process.saved, to_one=True)
            process.users += 1

    def __exit__(self, *_: object) -> None:
        process = _process
        with process.lock:
            process.users -= 1
            if process.users == 0:
                _change(process.saved, to_one=False)


_ONE = _OneThread()


def one_blas_thread() -> _OneThread:
    """A block, or a decorator of a function, inside which the BLAS of scipy and numpy runs on one thread.

    Costs about a microsecond. For the vectors and small matrices of a solve BLAS threads mostly wait for each other.
    """
    return _ONE


def _change(counts: list[int], *, to_one: bool) -> None:
    """Set libraries that had more than one thread to one, or back."""
    for (_, set_), count in zip(blas_libraries(), counts):
        if count != 1:
            set_(1 if to_one else count)
