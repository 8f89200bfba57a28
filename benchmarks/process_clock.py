"""Phases of `invert` in process time: on a machine shared with others, wall-clock phases count their work too."""

from __future__ import annotations

import importlib
import time
from types import SimpleNamespace


def use_process_time() -> None:
    """Let the phases in `Command.timing` be measured by the time of this process (one thread)."""
    clock = SimpleNamespace(perf_counter=time.process_time)
    for name in ("pliant.inverse.invert", "pliant.inverse.iteration", "pliant.inverse.condense"):
        importlib.import_module(name).time = clock  # type: ignore[attr-defined]
