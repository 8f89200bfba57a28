"""Progress of a long run: done, failed, rate, time left."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable


class Progress:
    """Counts finished samples and says how it goes.

    Args:
        total: samples in all.
        done: those that were finished before.
        failed: those of them that failed.
        show: True prints a line (rewritten on a terminal, every ten seconds elsewhere); a function is called
            with (done, failed, total).
    """

    def __init__(self, total: int, done: int, failed: int, show: bool | Callable[[int, int, int], None]) -> None:
        self.total, self.done, self.failed, self.show = total, done, failed, show
        self._first, self._begin, self._last = done, time.perf_counter(), 0.0
        self._printed = False

    def add(self, done: int, failed: int) -> None:
        """Some more are finished."""
        self.done += done
        self.failed += failed
        if callable(self.show):
            self.show(self.done, self.failed, self.total)
        elif self.show:
            now, terminal = time.perf_counter(), sys.stderr.isatty()
            if now - self._last > (0.2 if terminal else 10.0):
                self._last, self._printed = now, True
                print(self.line(), end="\r" if terminal else "\n", file=sys.stderr, flush=True)

    def line(self) -> str:
        """One line of text."""
        spent = time.perf_counter() - self._begin
        rate = (self.done - self._first) / spent if spent > 0 else 0.0
        left = (self.total - self.done) / rate if rate > 0 else float("inf")
        when = f"{int(left // 3600)}:{int(left % 3600 // 60):02d}:{int(left % 60):02d}" if left < 1e7 else "unknown"
        bar = "#" * int(30 * self.done / max(self.total, 1))
        failed = f", {self.failed} failed" if self.failed else ""
        return f"[{bar:<30}] {self.done}/{self.total}{failed}  {rate:.1f}/s  {when} left "

    def close(self) -> None:
        """End the line."""
        if self._printed:
            print(self.line(), file=sys.stderr, flush=True)
