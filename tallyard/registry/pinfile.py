"""The file of the pins on disk: written whole or not at all."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path


def replace(versions: Path, text: str) -> None:
    """Put a text in the file's place: all of it or, whatever happens, none.

    The file keeps its rights; a link keeps pointing to it.

    Raises:
        OSError: When it cannot be written; then the file is as it was.
    """
    file = versions.resolve()
    mode = file.stat().st_mode
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    fresh = Path(name)
    try:
        with os.fdopen(handle, "wb") as stream:
            stream.write(text.encode("utf-8"))
            stream.flush()
            os.fsync(stream.fileno())
        fresh.chmod(mode & 0o7777)
        fresh.replace(file)
    except BaseException:
        fresh.unlink(missing_ok=True)
        raise
