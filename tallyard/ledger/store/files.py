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
    except BaseException:
        with suppress(OSError):
            half.unlink()
        raise
