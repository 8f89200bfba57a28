"""Arrays as compiled functions take them, and numbers as they pass them on.

numba compiles a function once per combination of types, and a read-only array is another type than a writable one; so
is an integer that stands in the source: f(0) and f(1) are two functions. Whoever calls large compiled functions takes
care to call them with one combination: `writable(x)` for poses that may come from a frozen state, and np.int64(0)
instead of 0 inside compiled code.
"""

from __future__ import annotations

import numpy as np


def writable(x: np.ndarray) -> np.ndarray:
    """The same numbers as contiguous doubles that are not read-only; a copy only where it must be one."""
    x = np.ascontiguousarray(x, dtype=np.float64)
    return x if x.flags.writeable else x.copy()
