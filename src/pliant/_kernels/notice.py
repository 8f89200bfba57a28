"""Say that kernels are being compiled, so that the first run on a machine does not look as if it hung.

One line on stderr, once per process, when compiling has taken three seconds; only where somebody reads it: stderr is a
terminal, or the program is the `pliant` command. The modules that the others build on import this one, so that it is
there whenever a kernel is.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from numba.core import event

from pliant._kernels import caching  # noqa: F401  comes along: both must be there before anything is compiled

PATIENCE = 3.0  # [s] of compiling before it is said
TEXT = (
    "pliant: compiling kernels, about a minute per kind of model and only once on this machine; "
    "`pliant warmup` compiles all of them ahead."
)


class CompileNotice(event.Listener):
    """Adds up the time that our functions take to compile, and says so once it is long.

    Args:
        say: what is called with the text.
        clock: time [s].
    """

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.perf_counter) -> None:
        self._say, self._clock = say, clock
        self._depth, self._begin, self._spent, self._said = 0, 0.0, 0.0, False

    def on_start(self, event: Any) -> None:
        """A function is about to be compiled; those it calls are compiled inside."""
        if self._depth == 0:
            self._begin = self._clock()
        self._depth += 1
        self._look()

    def on_end(self, event: Any) -> None:
        """A function is compiled."""
        self._look()
        self._depth -= 1
        if self._depth == 0:
            self._spent += self._clock() - self._begin

    def _look(self) -> None:
        if not self._said and self._spent + self._clock() - self._begin > PATIENCE:
            self._said = True
            self._say(TEXT)


def _somebody_reads() -> bool:
    stderr = sys.stderr
    return stderr is not None and (stderr.isatty() or Path(sys.argv[0] if sys.argv else "").name == "pliant")


def _say(text: str) -> None:
    if _somebody_reads():
        print(text, file=sys.stderr, flush=True)


event.register("numba:compile", CompileNotice(_say))
