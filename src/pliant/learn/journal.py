"""Journal: finished samples, appended one record at a time, readable after a crash at any moment.

A record is a fixed number of bytes with a checksum. A process that is killed leaves at most one incomplete
record at the end, which is cut off when the journal is opened again.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError

Array = np.ndarray
_MAGIC = b"pliant-journal-1\n"


class Journal:
    """An append-only file of records of one dtype.

    Args:
        path: the file; created if it does not exist.
        dtype: structured dtype of a record.
        header: what the records belong to; an existing journal must have the same.
    """

    def __init__(self, path: Path, dtype: np.dtype, header: Mapping[str, Any]) -> None:
        self.path, self.dtype = path, dtype
        self._head = _MAGIC + json.dumps(dict(header), sort_keys=True).encode() + b"\n"
        self._size = dtype.itemsize + 4
        self._pending = 0
        exists = path.is_file() and path.stat().st_size > 0
        self.records = self._recover() if exists else np.zeros(0, dtype)
        self._file = open(path, "r+b" if exists else "w+b")  # noqa: SIM115
        end = len(self._head) + self._size * len(self.records)
        if not exists:
            self._file.write(self._head)
        self._file.truncate(end)
        self._file.seek(end)
        self.sync()

    def _recover(self) -> Array:
        """All complete records of an existing journal."""
        data = self.path.read_bytes()
        if len(data) < len(self._head) and self._head.startswith(data):
            return np.zeros(0, self.dtype)  # killed while the header was written
        if not data.startswith(_MAGIC):
            raise FileError(self.path, "not a journal of samples")
        if not data.startswith(self._head):
            raise FileError(self.path, "it belongs to another plan, model or version; delete it or choose another file")
        body = memoryview(data)[len(self._head) :]
        good = 0
        while (good + 1) * self._size <= len(body):
            record = body[good * self._size : (good + 1) * self._size]
            if zlib.crc32(record[:-4]) != int.from_bytes(record[-4:], "little"):
                break
            good += 1
        rows = [bytes(body[i * self._size : (i + 1) * self._size - 4]) for i in range(good)]
        return np.frombuffer(b"".join(rows), self.dtype).copy()

    def append(self, records: Array) -> None:
        """Add records; they survive the death of this process from here on."""
        for record in np.atleast_1d(records):
            data = record.tobytes()
            self._file.write(data + zlib.crc32(data).to_bytes(4, "little"))
            self._pending += 1
        self._file.flush()
        if self._pending >= 200:
            self.sync()

    def sync(self) -> None:
        """Make the records survive a power failure too."""
        self._file.flush()
        os.fsync(self._file.fileno())
        self._pending = 0

    def close(self) -> None:
        """Close the file, keeping it."""
        self._file.close()

    def remove(self) -> None:
        """Close the file and delete it."""
        self._file.close()
        self.path.unlink(missing_ok=True)
