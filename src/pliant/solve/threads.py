"""One BLAS thread where several would only get in each other's way.

On matrices of a few hundred rows a threaded BLAS is slower than a single thread. The number of threads
is a setting of the whole process, so it is lowered and restored under a lock, by the first to enter and
the last to leave, whatever the order in which Python threads do so.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import Any

_lock = threading.Lock()
_saved: list[int] = []  # thread counts to restore, one per library, while someone is inside
_users: list[None] = []  # as many as are inside


@cache
def _libraries() -> tuple[Any, ...]:
    """The BLAS that scipy brings (numpy has one of its own, which is left alone); found once, a few ms."""
    import scipy.linalg  # noqa: F401  so that its library is loaded
    from threadpoolctl import ThreadpoolController

    found = ThreadpoolController().select(user_api="blas").lib_controllers
    return tuple(lib for lib in found if "numpy.libs" not in (lib.filepath or ""))


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Run scipy's BLAS on one thread inside the block; costs a few microseconds."""
    libraries = _libraries()
    with _lock:
        if not _users:
            _saved[:] = [lib.num_threads for lib in libraries]
            for lib, count in zip(libraries, _saved):
                if count != 1:
                    lib.set_num_threads(1)
        _users.append(None)
    try:
        yield
    finally:
        with _lock:
            _users.pop()
            if not _users:
                for lib, count in zip(libraries, _saved):
                    if count != 1:
                        lib.set_num_threads(count)
