"""Compiled code on disk that processes cannot take for each other's.

numba (0.68) numbers the files of a function's versions 1, 2, 3, and writes the index before the code. Two processes
that compile two versions of one function at the same time both take the next number, and the index of one then names
the code of the other; a process that reads between the two writes gets what an older source left under that number.
Code that is called with arrays it was not made for crashes, or computes something else; a crash that went away with the
files of one function was seen here. So the name of a file is made from what it holds, and it is written before the
index that names it. What remains of the race is an entry that gets lost and is compiled once more.
"""

from __future__ import annotations

import contextlib
import hashlib
from pathlib import Path
from typing import Any

from numba.core.caching import IndexDataCacheFile


def save_apart(self: Any, key: Any, data: Any) -> None:
    """`IndexDataCacheFile.save`: the code under a name of its own, then the index."""
    name = self._data_name(_number((key, self._source_stamp)))
    if not self._load_index():  # of another source: nothing refers to what it left
        for old in Path(self._cache_path).glob(self._data_name_pattern.replace("{number:d}", "*")):
            with contextlib.suppress(OSError):
                old.unlink()
    self._save_data(name, data)
    overloads = self._load_index()
    overloads[key] = name
    self._save_index(overloads)


def _number(what: Any) -> int:
    return int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:8], "little")


if all(hasattr(IndexDataCacheFile, part) for part in ("_data_name", "_load_index", "_save_index", "_save_data")):
    IndexDataCacheFile.save = save_apart
