"""A folder that somebody without rights can reach, and being that person for a while."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_NOBODY = 65534


@contextmanager
def folder() -> Iterator[Path]:
    """Give a folder on the way to which nobody is kept out; pytest's own are their owner's."""
    made = Path(tempfile.mkdtemp())
    made.chmod(0o755)
    try:
        yield made
    finally:
        made.chmod(0o755)
        shutil.rmtree(made)


@contextmanager
def nobody() -> Iterator[None]:
    """Be a user without rights: for root, nothing is read-only."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(_NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)
