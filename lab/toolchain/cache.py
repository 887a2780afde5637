"""Where built programs are kept: outside the checkout, one entry per set and pins.

An entry is a folder `<set>-<key>` with `bin/` and `share/`. It appears whole, by one rename,
or not at all. The key is a hash of what decides the outcome, so a change of pins finds no
entry and nothing else makes one stale.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.toolchain import pins
from lab.toolchain.failure import ToolchainError

# Another checkout may still use an entry that is old to us, so age alone decides.
ENTRY_UNUSED_SECONDS_MAX = 30 * 24 * 3600
LOGS_KEPT = 20
# Raise when the steps of a build change in a way that the pins and flags do not show.
RECIPE = "1"

_ARCHITECTURES = {"x86_64": "amd64", "AMD64": "amd64", "aarch64": "arm64", "arm64": "arm64"}


def go_platform() -> tuple[str, str]:
    """Return GOOS and GOARCH of this machine, as Go names them."""
    machine = platform.machine()
    return sys.platform, _ARCHITECTURES.get(machine, machine)


def set_key(tool_set: pins.ToolSet, target: tuple[str, str]) -> str:
    """Return the key of a set: 16 hex digits over pins, own sources, flags and platform."""
    digest = hashlib.sha256()
    parts = [RECIPE, *target, pins.linker_flags(tool_set), repr(tool_set.programs)]
    parts += [repr(tool_set.copies), repr(tool_set.embedded)]
    for part in parts:
        digest.update(part.encode() + b"\0")
    for source in sorted(tool_set.folder.iterdir()):
        if source.suffix in {".mod", ".sum", ".go"}:
            digest.update(source.name.encode() + b"\0" + source.read_bytes() + b"\0")
    return digest.hexdigest()[:16]


def default_root(environ: Mapping[str, str]) -> Path:
    """Return the cache folder: TALLYARD_CACHE, else `tallyard` in the person's cache folder."""
    if own := environ.get("TALLYARD_CACHE"):
        return Path(own).expanduser().absolute()
    shared = environ.get("XDG_CACHE_HOME") or Path(environ.get("HOME", "~")).expanduser() / ".cache"
    return Path(shared).absolute() / "tallyard"


@dataclass(frozen=True)
class Entry:
    """A set on disk."""

    folder: Path

    def program(self, name: str) -> Path:
        """Return the path of one program."""
        return self.folder / "bin" / name

    def copy(self, name: str) -> Path:
        """Return the path of a file or folder that was copied from the set's modules."""
        return self.folder / "share" / name


@dataclass(frozen=True)
class Cache:
    """The cache folder. It is created on first use, not by looking."""

    root: Path

    @property
    def logs(self) -> Path:
        """Where the logs of builds are."""
        return self.root / "logs"

    @property
    def work(self) -> Path:
        """Where builds under way live; same disk as the entries, so publishing is a rename."""
        return self.root / "work"

    def _folder(self, tool_set: pins.ToolSet, kind: str) -> Path:
        name = f"{tool_set.name}{kind}-{set_key(tool_set, go_platform())}"
        return self.root / "toolchain" / name

    def find(self, tool_set: pins.ToolSet, *, files_only: bool = False) -> Entry | None:
        """Return the entry of a set and note that it was used.

        Args:
            tool_set: the set.
            files_only: an entry without programs will do; a whole one is preferred.
        """
        for kind in ("", "-files") if files_only else ("",):
            entry = Entry(self._folder(tool_set, kind))
            if _is_whole(entry, tool_set, files_only=bool(kind)):
                with contextlib.suppress(OSError):  # a read-only cache still serves
                    os.utime(entry.folder)
                return entry
        return None

    def publish(self, tool_set: pins.ToolSet, built: Path, *, files_only: bool = False) -> Entry:
        """Move a finished folder into its place in one step."""
        folder = self._folder(tool_set, "-files" if files_only else "")
        folder.parent.mkdir(parents=True, exist_ok=True)
        # Only an entry that somebody damaged by hand is in the way here.
        shutil.rmtree(folder, ignore_errors=True)
        built.rename(folder)
        os.utime(folder)
        return Entry(folder)

    def prune(self, now: float) -> tuple[str, ...]:
        """Remove what builds left behind, old logs, and entries that nobody used for long.

        Call it with the lock held. Returns the names of the entries that went.
        """
        shutil.rmtree(self.work, ignore_errors=True)
        for log in sorted(self.logs.glob("*.log"), key=_modified)[:-LOGS_KEPT]:
            log.unlink(missing_ok=True)
        old = tuple(
            folder
            for folder in sorted((self.root / "toolchain").glob("*-*"))
            if now - _modified(folder) > ENTRY_UNUSED_SECONDS_MAX
        )
        for folder in old:
            shutil.rmtree(folder, ignore_errors=True)
        return tuple(folder.name for folder in old)

    @contextlib.contextmanager
    def lock(self, purpose: str, say: Callable[[str], None]) -> Iterator[None]:
        """Hold the cache's lock; wait for another builder and say for whom.

        The kernel drops the lock when its holder dies, however it dies.

        Raises:
            ToolchainError: the cache folder cannot be written.
        """
        path = self.root / "lock"
        try:
            self.root.mkdir(parents=True, exist_ok=True)
            handle = path.open("a+", encoding="utf-8")
        except OSError as error:
            raise ToolchainError(
                f"the cache {self.root} cannot be written",
                why=str(error.strerror),
                advice="Name a folder of yours in TALLYARD_CACHE",
            ) from error
        with handle:
            _acquire(handle.fileno(), path, say)
            handle.truncate(0)
            handle.write(f"process {os.getpid()} since {time.strftime('%H:%M:%S')} ({purpose})")
            handle.flush()
            yield


def _is_whole(entry: Entry, tool_set: pins.ToolSet, *, files_only: bool) -> bool:
    programs = () if files_only else tool_set.programs
    return all(entry.program(p.name).is_file() for p in programs) and all(
        entry.copy(c.name).exists() for c in tool_set.copies
    )


def _modified(path: Path) -> float:
    return path.stat().st_mtime


def _acquire(descriptor: int, path: Path, say: Callable[[str], None]) -> None:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = path.read_text(encoding="utf-8").strip() or "another process"
        say(f"Another build of the toolchain is under way: {holder}. Waiting for it.")
        fcntl.flock(descriptor, fcntl.LOCK_EX)
