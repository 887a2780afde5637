"""Files that are there whole or not at all."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO


@contextmanager
def whole_file(file: Path) -> Iterator[BinaryIO]:
    """Give a file to write to, which takes another one's place when it is on the disk.

    Raises:
        OSError: It cannot be written; what was there is as it was.
    """
    half = file.with_name(f".{file.name}.half")
    try:
        with half.open("wb") as out:
            yield out
            out.flush()
            os.fsync(out.fileno())
        half.replace(file)
        _keep_name(file.parent)
    except BaseException:
        with suppress(OSError):
            half.unlink()
        raise


def _keep_name(folder: Path) -> None:
    """Bring a folder to the disk: until then its new entry can be lost with the power."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
