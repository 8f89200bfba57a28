"""One BLAS thread where several would only get in each other's way.

On matrices of a few hundred rows a threaded BLAS is slower than a single thread. The number of threads
of OpenBLAS is a setting of the whole process, so it is lowered and restored under a lock, by the first to
enter and the last to leave, in whatever order Python threads do so. (`threadpoolctl.threadpool_limits`
lets only one Python thread change it, and would leave it lowered; it serves here to find the library.)
A BLAS other than OpenBLAS with its own threads is left alone.
"""

from __future__ import annotations

import ctypes
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache

_lock = threading.Lock()
_saved: list[int] = []  # thread counts to restore, one per library, while someone is inside
_users: list[None] = []  # as many as are inside

Library = tuple[Callable[[], int], Callable[[int], None]]


@cache
def blas_libraries() -> tuple[Library, ...]:
    """(get, set) the number of threads of the BLAS that scipy brings; found once, which takes some ms.

    numpy has a copy of its own, which is left alone.
    """
    import scipy.linalg  # noqa: F401  so that its library is loaded
    from threadpoolctl import threadpool_info

    libraries: list[Library] = []
    for info in threadpool_info():
        ours = info.get("internal_api") == "openblas" and info.get("threading_layer") == "pthreads"
        if not ours or "numpy.libs" in info["filepath"]:
            continue
        library = ctypes.CDLL(info["filepath"])
        for name in ("scipy_openblas_{}_num_threads", "openblas_{}_num_threads"):
            if hasattr(library, name.format("set")):
                getter, setter = getattr(library, name.format("get")), getattr(library, name.format("set"))
                getter.restype, setter.argtypes, setter.restype = ctypes.c_int, [ctypes.c_int], None
                libraries.append((getter, setter))
                break
    return tuple(libraries)


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run scipy's BLAS on one thread inside the block; costs a few microseconds."""
    libraries = blas_libraries()
    with _lock:
        if not _users:
            _saved[:] = [get() for get, _ in libraries]
            _set(libraries, [1] * len(libraries))
        _users.append(None)
    try:
        yield
    finally:
        with _lock:
            _users.pop()
            if not _users:
                _set(libraries, _saved)


def _set(libraries: tuple[Library, ...], counts: list[int]) -> None:
    for (get, set_), count in zip(libraries, counts):
        if get() != count:
            set_(count)
