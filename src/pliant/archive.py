"""Files of plain arrays and a JSON header: written atomically, and refused with a clear error if they are not sound."""

from __future__ import annotations

import json
import os
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import FileError, PliantError

Array = np.ndarray
MAX_BYTES = 2_000_000_000  # unpacked; a small file may claim to hold much more
#: What reading a damaged, truncated or hostile file may raise.
BROKEN = (
    ValueError, OSError, EOFError, KeyError, IndexError, TypeError, AttributeError, RuntimeError, MemoryError,
    zipfile.BadZipFile, zlib.error, struct.error, PliantError,
)  # fmt: skip


@contextmanager
def reading(path: Path, what: str) -> Iterator[None]:
    """Turn whatever goes wrong while a file is read into `FileError`; `what` it should be is in the sentence."""
    if not path.is_file():
        raise FileError(path, "there is no such file")
    try:
        yield
    except FileError:
        raise
    except BROKEN as error:
        raise FileError(path, f"not a {what} ({error or type(error).__name__})") from None


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A temporary file beside `path` that takes its place when the block ends well, and goes away when it does not."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        yield temporary
        os.replace(temporary, path)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def check_format(path: Path, found: object, wanted: str) -> None:
    """Refuse a file of another format or version."""
    if found != wanted:
        raise FileError(path, f"format {found!r}; expected {wanted!r}")


def write_archive(path: Path, form: str, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Path:
    """Write a header and arrays as one compressed .npz archive; returns the path."""
    text = json.dumps({"format": form, **header}).encode()
    with replacing(path) as temporary, temporary.open("wb") as out:
        np.savez_compressed(out, **arrays, header=np.frombuffer(text, np.uint8))  # type: ignore[arg-type]
    return path


def read_archive(path: Path, form: str, what: str) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of an archive that `write_archive` wrote; nothing in it can execute code."""
    with reading(path, what):
        with zipfile.ZipFile(path) as archive:
            size = sum(i.file_size for i in archive.infolist())
        if size > MAX_BYTES:
            raise FileError(path, f"it unpacks to {size} bytes; at most {MAX_BYTES} are read")
        with np.load(path, allow_pickle=False) as data:
            arrays = {k: data[k] for k in data.files}
        header = json.loads(arrays.pop("header").tobytes().decode())
        check_format(path, header["format"], form)
    return header, arrays
