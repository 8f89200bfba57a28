"""A thread that does the latest of what it is asked and forgets the rest, so that a page never waits."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any


class LatestWorker:
    """Runs jobs one at a time on its own thread; a new job replaces the one still waiting under its key.

    Args:
        name: name of the thread.
        failed: called with the exception of a job that raised; the worker goes on.
    """

    def __init__(self, name: str, *, failed: Callable[[BaseException], None] | None = None) -> None:
        self._failed = failed
        self._waiting: dict[str, Callable[[], Any]] = {}
        self._changed = threading.Condition()
        self._busy = False
        self._stopped = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def submit(self, key: str, job: Callable[[], Any]) -> None:
        """Ask for a job; it takes the place of a waiting job with the same key."""
        with self._changed:
            if self._stopped:
                return
            self._waiting.pop(key, None)
            self._waiting[key] = job
            self._changed.notify_all()

    def waiting(self, key: str) -> bool:
        """Whether a job is asked for under that key and has not begun."""
        with self._changed:
            return key in self._waiting

    def wait(self, timeout: float | None = None) -> bool:
        """Wait until nothing is running or waiting; False if the timeout [s] passed first."""
        with self._changed:
            return self._changed.wait_for(lambda: not self._busy and not self._waiting, timeout)

    def stop(self, timeout: float = 5.0) -> None:
        """Drop what waits, let the running job end, and end the thread."""
        with self._changed:
            self._stopped = True
            self._waiting.clear()
            self._changed.notify_all()
        if threading.current_thread() is not self._thread:
            self._thread.join(timeout)

    def _run(self) -> None:
        while True:
            with self._changed:
                self._changed.wait_for(lambda: bool(self._waiting) or self._stopped)
                if self._stopped:
                    return
                key = next(iter(self._waiting))
                job = self._waiting.pop(key)
                self._busy = True
            try:
                job()
            except BaseException as error:  # the thread must outlive any job
                if self._failed is not None:
                    self._failed(error)
            finally:
                with self._changed:
                    self._busy = False
                    self._changed.notify_all()
