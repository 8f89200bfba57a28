"""Rows of the comparison and how they are timed."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

Row = dict[str, Any]


def timed(run: Callable[[], Any], repeats: int = 2) -> tuple[Any, float]:
    """What a run gives, and its least CPU time [ms]."""
    found, times = run(), []
    for _ in range(repeats):
        begin = time.process_time()
        found = run()
        times.append(time.process_time() - begin)
    return found, 1e3 * min(times)


def row(case: str, who: str, result: str, reference: str, error: float, ms: float) -> Row:
    """One row; ms is CPU time of the whole solve, or of one step where the case is a motion."""
    return {"case": case, "who": who, "result": result, "reference": reference, "error": float(error), "ms": ms}
