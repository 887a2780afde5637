"""One mutant under trial: loaded and told in this process, or validated by a real one."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tallyard.render.platform import render
from tallyard.spec.load import Loaded, load
from tests.soak import limits
from tests.spec import sanity
from tests.spec.mutations import Mutant
from tests.spec.specs import STACKS

SECONDS_MAX = 2.0
MEMORY_BYTES_MAX = 300_000_000
# What `tally` holds before it reads anything. A test's own process holds more, so there only
# what is added counts.
_IMPORTED_BYTES = 60_000_000
# Rendering has its own measure (the benchmarks); here it only must end.
RENDER_SECONDS_MAX = 30.0
RENDERED_QUEUES_MAX = 500
# Far above the limit that is judged: what runs away ends here.
ADDRESS_SPACE_BYTES_MAX = 3_000_000_000
# What else runs may slow memory and caches down, but hardly three times in a row.
_TRIES = 3
_HANG_SECONDS_MAX = 20.0
_OK, _REFUSED = 0, 2


@dataclass(frozen=True)
class Outcome:
    """How one mutant fared. `ending` is loads, warned, refused, broken, or an exit code.

    `faults` are what must not be; `codes` those of the problems, each once.
    """

    ending: str
    seconds: float
    memory_bytes: int
    codes: tuple[str, ...] = ()
    faults: tuple[str, ...] = ()


@contextlib.contextmanager
def written(mutant: Mutant, parent: Path) -> Iterator[Path]:
    """Write a mutant into a folder of its own."""
    folder = Path(tempfile.mkdtemp(prefix="mutant-", dir=parent))
    try:
        mutant.write(str(folder))
        yield folder
    finally:
        shutil.rmtree(folder)


def in_process(folder: Path) -> Outcome:
    """Load a mutant here, tell what is wrong in both languages, render what is right."""
    with contextlib.chdir(folder):
        for attempt in range(_TRIES):
            outcome = _attempt()
            if outcome.seconds <= SECONDS_MAX or attempt == _TRIES - 1:
                break
    return outcome


def _attempt() -> Outcome:
    limits.forget_peak()
    before = limits.peak_bytes()
    began = limits.own_seconds()
    loaded, faults = None, list[str]()
    try:
        with limits.seconds(SECONDS_MAX):
            loaded = load(Path("local.yaml"))
            told = list(sanity.faults_of_messages(loaded))
    except limits.TooSlow as error:
        faults.append(f"more than {SECONDS_MAX} s, last in {_innermost(error)}")
    except Exception as error:  # noqa: BLE001 - whatever it is, it is what we look for
        faults.append(f"{type(error).__name__} in {_innermost(error)}: {str(error)[:200]!a}")
    took = limits.own_seconds() - began
    peak = limits.peak_bytes() - before + _IMPORTED_BYTES
    if loaded is not None and not faults:
        faults += [*told, *sanity.faults_of_loaded(loaded), *_faults_of_rendering(loaded)]
    if peak > MEMORY_BYTES_MAX:
        faults.append(f"{peak // 10**6} MB of memory")
    codes = tuple(sorted({each.code for each in loaded.problems})) if loaded else ()
    return Outcome(_ending(loaded), took, peak, codes, tuple(dict.fromkeys(faults)))


def _ending(loaded: Loaded | None) -> str:
    if loaded is None:
        return "broken"
    if loaded.platform is None:
        return "refused"
    return "warned" if loaded.problems else "loads"


def _faults_of_rendering(loaded: Loaded) -> list[str]:
    platform = loaded.platform
    if platform is None or len(platform.projects) * len(platform.pools) > RENDERED_QUEUES_MAX:
        return []
    try:
        with limits.seconds(RENDER_SECONDS_MAX):
            return list(sanity.faults_of_rendered(render(platform)))
    except (limits.TooSlow, Exception) as error:  # noqa: BLE001 - as above
        return [f"rendering: {type(error).__name__} in {_innermost(error)}: {str(error)[:200]!a}"]


def _innermost(error: BaseException) -> str:
    """Return the last place in the project's own code, and the very last one."""
    every = traceback.extract_tb(error.__traceback__)
    frames = [frame for frame in every if frame.filename != limits.__file__] or every
    ours = [frame for frame in frames if "/tallyard/" in frame.filename] or frames
    places = [f"{Path(each.filename).name}:{each.lineno}" for each in (ours[-1], frames[-1])]
    return " > ".join(dict.fromkeys(places))


def as_process(folder: Path, logs: Path, lang: str) -> Outcome:
    """Validate a mutant by a process of its own, as a person would.

    Args:
        folder: Where the mutant is; it gets the shipped versions, so that schemas are checked.
        logs: A folder for what the process prints and writes elsewhere.
        lang: A value of LANG.
    """
    shutil.copy(STACKS / "versions.yaml", folder)
    for attempt in range(_TRIES):
        outcome = _process(folder, logs, lang)
        if outcome.seconds <= SECONDS_MAX or attempt == _TRIES - 1:
            break
    return outcome


def _process(folder: Path, logs: Path, lang: str) -> Outcome:
    command = [sys.executable, "-m", "tallyard.cli.main", "spec", "validate", "local.yaml"]
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(logs),
        "LANG": lang,
        "XDG_STATE_HOME": str(logs),
        # The same tree as the tests', whatever is installed.
        "PYTHONPATH": str(STACKS.parent),
    }
    if cache := os.environ.get("XDG_CACHE_HOME"):
        environment["XDG_CACHE_HOME"] = cache
    out, err = logs / "stdout", logs / "stderr"
    with out.open("wb") as stdout, err.open("wb") as stderr:
        process = subprocess.Popen(
            command,
            cwd=folder,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=stdout,
            stderr=stderr,
            preexec_fn=_cap,  # noqa: PLW1509 - this process has one thread
        )
        took, memory = _until_the_end(process, limits.own_seconds(process.pid))
        _, status, usage = os.wait4(process.pid, 0)
    code = process.returncode = os.waitstatus_to_exitcode(status)
    faults = list(_faults_of_output(code, out.read_bytes(), err.read_bytes()))
    if took > SECONDS_MAX:
        faults.append(f"{took:.1f} s, {usage.ru_utime + usage.ru_stime:.1f} s of them computing")
    if memory > MEMORY_BYTES_MAX:
        faults.append(f"{memory // 10**6} MB of memory")
    return Outcome(f"exit {code}", took, memory, (), tuple(faults))


def _cap() -> None:
    limits.cap_address_space(ADDRESS_SPACE_BYTES_MAX)


def _until_the_end(process: subprocess.Popen[bytes], began: float) -> tuple[float, int]:
    """Wait for the end, or make one, and leave the process to be waited for.

    Returns:
        Its seconds, and the highest memory in bytes that was seen. The kernel's own figure
        (`ru_maxrss`) begins with the memory of the process that started it.
    """
    wanted = os.WEXITED | os.WNOWAIT | os.WNOHANG
    memory = 0
    while os.waitid(os.P_PID, process.pid, wanted) is None:
        # The last one counts: the first may still be of the copy before exec.
        memory = limits.peak_bytes(process.pid) or memory
        if limits.own_seconds(process.pid) - began > _HANG_SECONDS_MAX:
            process.kill()
        time.sleep(0.005)
    return limits.own_seconds(process.pid) - began, memory


def _faults_of_output(code: int, out: bytes, err: bytes) -> Iterator[str]:
    both = (out + err).decode("utf-8", "backslashreplace")
    if code not in {_OK, _REFUSED}:
        yield f"exit {code}: {both[-300:]!a}"
    if "Traceback" in both or "fault of tally" in both or "tally 自身的缺陷" in both:
        yield f"a traceback or a fault of its own: {both[-300:]!a}"
    if code == _REFUSED and b"[SPEC" not in err:
        yield f"refused without a code: {both[-300:]!a}"
    if code == _REFUSED and not any(b":1:" in x or _is_located(x) for x in err.splitlines()):
        yield f"refused without a place: {both[-300:]!a}"
    if code == _OK and not out:
        yield "exit 0 and nothing said"


def _is_located(line: bytes) -> bool:
    parts = line.split(b":")
    return len(parts) > 2 and parts[1].isdigit() and parts[2].split(b" ")[0].isdigit()
