"""What must be true before half an hour of compiling begins: Go, memory, disk. All faults at once.

`judge` decides from measured facts; `require` measures and refuses.
"""

from __future__ import annotations

import contextlib
import re
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from lab.toolchain import pins
from lab.toolchain.builder import build_environment
from lab.toolchain.failure import ToolchainError

GIB = pins.GIB
# Measured with all seven sets and nothing there before: GOCACHE 12.1 GiB, GOMODCACHE 3.7 GiB,
# entries 1.0 GiB; while a set is compiled, Go keeps its packages a second time in a scratch
# folder, which lies in the cache.
GO_CACHE_BYTES = 13 * GIB
MODULE_CACHE_BYTES = 4 * GIB
ENTRIES_BYTES = 5 * GIB
VERSION_SECONDS_MAX = 20


@dataclass(frozen=True)
class Disk:
    """Free space at a folder; `device` tells folders of one disk from those of another."""

    folder: Path
    purpose: str
    device: int
    free_bytes: int
    needed_bytes: int


@dataclass(frozen=True)
class Facts:
    """What was measured. `go_version` is empty where there is no usable Go."""

    go_version: tuple[int, ...]
    memory_bytes: int | None
    disks: tuple[Disk, ...]


def judge(facts: Facts, sets: Sequence[pins.ToolSet], floor: tuple[int, ...]) -> tuple[str, ...]:
    """Return one sentence per fault that would make a build of these sets fail."""
    return (*_go(facts, floor), *_memory(facts, sets), *_disk(facts))


def _go(facts: Facts, floor: tuple[int, ...]) -> tuple[str, ...]:
    if facts.go_version >= floor:
        return ()
    needed = ".".join(map(str, floor))
    if not facts.go_version:
        return (f"No Go was found and none could be installed; install Go {needed} or later.",)
    found = ".".join(map(str, facts.go_version))
    return (f"Go {found} is too old: the pinned modules need {needed}. Install a newer one.",)


def _memory(facts: Facts, sets: Sequence[pins.ToolSet]) -> tuple[str, ...]:
    needed, name = max((s.memory_bytes, s.name) for s in sets)
    if facts.memory_bytes is None or facts.memory_bytes >= needed:
        return ()
    fault = (
        f"{_size(facts.memory_bytes)} of memory are available and building {name} takes "
        f"{_size(needed)}. Close other programs or use a larger machine."
    )
    return (fault,)


def _disk(facts: Facts) -> tuple[str, ...]:
    faults = []
    for device in dict.fromkeys(disk.device for disk in facts.disks):
        here = [disk for disk in facts.disks if disk.device == device]
        needed, free = sum(d.needed_bytes for d in here), min(d.free_bytes for d in here)
        if free < needed:
            places = ", ".join(f"{d.folder} ({d.purpose}, {_size(d.needed_bytes)})" for d in here)
            faults.append(
                f"{_size(free)} are free and a build takes up to {_size(needed)}: {places}. "
                "Free some, or point the named variable at another disk."
            )
    return tuple(faults)


def _size(count: int) -> str:
    return f"{count / GIB:.1f} GiB"


def require(
    go: Path | None,
    go_version: tuple[int, ...],
    sets: Sequence[pins.ToolSet],
    cache: Path,
    environ: Mapping[str, str],
) -> None:
    """Check everything that a build of these sets needs.

    Raises:
        ToolchainError: something is missing; the text names all of it.
    """
    share = sum(s.seconds for s in sets) / sum(s.seconds for s in pins.SETS)
    facts = Facts(go_version, available_memory(), _disks(go, share, cache, environ))
    if faults := judge(facts, sets, pins.go_floor()):
        lines = "".join(f"\n  - {fault}" for fault in faults)
        raise ToolchainError(
            "the toolchain cannot be built on this machine yet",
            why=f"{len(faults)} of its needs are not met{lines}",
            advice="Do what is said there, then run the command again",
        )


def version_of(go: Path, environ: Mapping[str, str]) -> tuple[int, ...]:
    """Return the version that a `go` tells, or nothing when it does not run (a shim may not)."""
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        answer = subprocess.run(
            (str(go), "version"),
            env=_environment(environ),
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
            timeout=VERSION_SECONDS_MAX,
        )
        if found := re.search(r"go version go(\S+)", answer.stdout):
            return pins.parse_version(found[1])
    return ()


def find_go(
    environ: Mapping[str, str], install: Callable[[], Path | None]
) -> tuple[Path | None, tuple[int, ...]]:
    """Return a Go that is new enough: the one on PATH, else the one that `install` brings.

    When neither will do, the one on PATH and its version are returned for the message.
    """
    floor = pins.go_floor()
    named = shutil.which("go", path=environ.get("PATH", ""))
    own = Path(named) if named else None
    own_version = version_of(own, environ) if own else ()
    if own_version >= floor:
        return own, own_version
    if (brought := install()) and (version := version_of(brought, environ)) >= floor:
        return brought, version
    return own, own_version


def available_memory(
    meminfo: Path = Path("/proc/meminfo"), limit: Path = Path("/sys/fs/cgroup/memory.max")
) -> int | None:
    """Return the bytes that a program may still take, None where the system does not tell.

    In a container the limit of its cgroup counts, less what is used.
    """
    amounts = []
    with contextlib.suppress(OSError):
        if found := re.search(r"MemAvailable:\s+(\d+) kB", meminfo.read_text(encoding="utf-8")):
            amounts.append(int(found[1]) * 1024)
    with contextlib.suppress(OSError, ValueError):
        used = int(limit.with_name("memory.current").read_text(encoding="utf-8"))
        amounts.append(int(limit.read_text(encoding="utf-8")) - used)
    return min(amounts, default=None)


def _disks(
    go: Path | None, share: float, cache: Path, environ: Mapping[str, str]
) -> tuple[Disk, ...]:
    folders = [(cache, "TALLYARD_CACHE", ENTRIES_BYTES)]
    if go:
        told = subprocess.run(
            (str(go), "env", "GOCACHE", "GOMODCACHE"),
            env=_environment(environ),
            cwd="/",
            capture_output=True,
            text=True,
            check=False,
        ).stdout.split("\n")
        needs = (("GOCACHE", GO_CACHE_BYTES), ("GOMODCACHE", MODULE_CACHE_BYTES))
        folders += [(Path(p), name, need) for p, (name, need) in zip(told, needs, strict=False)]
    return tuple(_disk_at(folder, name, int(need * share)) for folder, name, need in folders)


def _environment(environ: Mapping[str, str]) -> dict[str, str]:
    """Return what a build runs with: a person's GOFLAGS could keep Go from any answer."""
    return build_environment(environ, Path(tempfile.gettempdir()))


def _disk_at(folder: Path, purpose: str, needed: int) -> Disk:
    there = next(p for p in (folder, *folder.parents) if p.exists())
    return Disk(folder, purpose, there.stat().st_dev, shutil.disk_usage(there).free, needed)
