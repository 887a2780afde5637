"""Builds one set from its pinned modules. Knows Go's command line; decides nothing else.

The sources are copied into a work folder first: Go writes nothing into the checkout, and
files that must be embedded can lie beside them. What Go compiled stays in Go's own cache,
so an interrupted build goes on where it was.
"""

from __future__ import annotations

import collections
import json
import os
import shutil
import signal
import subprocess
import tempfile
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from lab.toolchain import pins
from lab.toolchain.cache import Cache, Entry, go_platform
from lab.toolchain.failure import ToolchainError, build_failure, diagnose

LINES_KEPT = 40
STOP_SECONDS_MAX = 10

# A person's settings that would change what is built or weaken the check of checksums.
_DROPPED = (
    *("GOEXPERIMENT", "GOFIPS140", "GOINSECURE", "GONOSUMDB", "GONOSUMCHECK"),
    *("GOPRIVATE", "GOAMD64", "GOARM64", "GOARM", "GO386", "GOMIPS", "GOMIPS64"),
    *("GOPPC64", "GORISCV64", "GOWASM", "GO_EXTLINK_ENABLED"),
)
# The oldest processors of their kind. Said, not left out: what is left out falls back to
# what `go env -w` stored, and a program for a newer processor would get into the cache.
_PROCESSOR = {"amd64": ("GOAMD64", "v1"), "arm64": ("GOARM64", "v8.0")}


def build_environment(environ: Mapping[str, str], scratch: Path) -> dict[str, str]:
    """Return the environment of `go`: the person's network settings, our build settings.

    `GOFLAGS` is given a value because an empty one falls back to what `go env -w` stored.
    """
    system, architecture = go_platform()
    own = {
        "CGO_ENABLED": "0",
        "GOFLAGS": "-mod=readonly",
        "GOTOOLCHAIN": "local",
        "GOWORK": "off",
        "GOOS": system,
        "GOARCH": architecture,
        "GOTMPDIR": str(scratch),
    }
    if processor := _PROCESSOR.get(architecture):
        own[processor[0]] = processor[1]
    return {k: v for k, v in environ.items() if k not in _DROPPED} | own


@dataclass(frozen=True)
class Builder:
    """`go` and the cache it builds into. `environ` is the person's environment."""

    go: Path
    cache: Cache
    environ: Mapping[str, str]

    def build(
        self, tool_set: pins.ToolSet, note: Callable[[str], None], *, files_only: bool = False
    ) -> Entry:
        """Build a set, or with `files_only` fetch only the files it keeps, and publish it.

        Args:
            tool_set: what to build.
            note: told each package that was compiled and each program that is being linked.
            files_only: leave the programs out.

        Raises:
            ToolchainError: Go failed, or the disk is full.
        """
        self.cache.logs.mkdir(parents=True, exist_ok=True)
        self.cache.work.mkdir(parents=True, exist_ok=True)
        work = Path(tempfile.mkdtemp(prefix=f"{tool_set.name}-", dir=self.cache.work))
        log = self.cache.logs / f"{work.name}.log"
        try:
            run = _Run(self, tool_set, work, log, note)
            return self.cache.publish(tool_set, run.all(files_only), files_only=files_only)
        except OSError as error:
            cause = diagnose([str(error)], 1)
            raise ToolchainError(
                f"Building {tool_set.name} failed",
                why=f"{cause.why} ({error})",
                advice=cause.advice,
                log=log if log.exists() else None,
            ) from error
        finally:
            shutil.rmtree(work, ignore_errors=True)


@dataclass(frozen=True)
class _Run:
    """One build under way, in its own work folder."""

    builder: Builder
    tool_set: pins.ToolSet
    work: Path
    log: Path
    note: Callable[[str], None]

    def all(self, files_only: bool) -> Path:  # noqa: FBT001
        scratch, sources, out = (self.work / name for name in ("tmp", "src", "out"))
        for folder in (scratch, sources, out / "bin", out / "share"):
            folder.mkdir(parents=True)
        for source in self.tool_set.folder.iterdir():
            if source.suffix in {".mod", ".sum", ".go"}:
                shutil.copyfile(source, sources / source.name)
        for embedded in self.tool_set.embedded if not files_only else ():
            self._copy(embedded, sources / embedded.name)
        for program in self.tool_set.programs if not files_only else ():
            self._compile(program, out / "bin" / program.name)
        for copy in self.tool_set.copies:
            self._copy(copy, out / "share" / copy.name)
        return out

    def _compile(self, program: pins.Program, target: Path) -> None:
        self.note(f"compiling {program.name}")
        flags = ["-v", "-trimpath", "-ldflags", pins.linker_flags(self.tool_set)]
        self._go("build", *flags, "-o", str(target), program.package)

    def _copy(self, copy: pins.Copy, target: Path) -> None:
        """Copy from the module cache, whose files are read-only; ours can be removed again."""
        version = pins.module_versions(self.tool_set.folder / "go.mod")[copy.module]
        self.note(f"fetching {copy.module} {version}")
        answer = json.loads(self._go("mod", "download", "-json", f"{copy.module}@{version}"))
        source = Path(answer["Dir"]) / copy.source
        if source.is_dir():
            shutil.copytree(source, target, copy_function=shutil.copyfile)
            for folder, _, _ in os.walk(target):
                Path(folder).chmod(0o755)
        else:
            shutil.copyfile(source, target)

    def _go(self, *arguments: str) -> str:
        """Run `go`, its messages into the log and the last of them kept; return its output."""
        recent: collections.deque[str] = collections.deque(maxlen=LINES_KEPT)
        command = (str(self.builder.go), *arguments)
        with self.log.open("a", encoding="utf-8") as log:

            def hear(line: str) -> None:
                recent.append(line)
                log.write(f"{line}\n")
                self.note(line)

            log.write(f"$ {' '.join(command)}\n")
            output, returncode = _follow(
                command,
                self.work / "src",
                build_environment(self.builder.environ, self.work / "tmp"),
                hear,
            )
        if returncode != 0:
            lines = [*recent, *output.splitlines()[-LINES_KEPT:]]
            raise build_failure(f"Building {self.tool_set.name}", lines, returncode, self.log)
        return output


def _follow(
    command: tuple[str, ...],
    folder: Path,
    environment: Mapping[str, str],
    each_line: Callable[[str], object],
) -> tuple[str, int]:
    """Run a program to its end; hand over its error lines as they come, return its output.

    The program leads its own process group: when we are interrupted, by Ctrl-C or any other
    exception, the compilers that `go` started end with it.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env=dict(environment),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    assert process.stdout is not None  # noqa: S101
    assert process.stderr is not None  # noqa: S101
    output: list[str] = []
    reader = threading.Thread(target=lambda: output.extend(process.stdout or ()), daemon=True)
    reader.start()
    try:
        for line in process.stderr:
            each_line(line.rstrip("\n"))
        returncode = process.wait()
    except BaseException:
        _stop(process)
        raise
    reader.join()
    return "".join(output), returncode


def _stop(process: subprocess.Popen[str]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(STOP_SECONDS_MAX)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
