"""`up` killed at moments drawn over its recorded steps: does one command converge?

Usage: .venv/bin/python -m tests.soak.interrupted [MOMENTS] [--seed N] [--from N]
       (20 moments, seed 2026, from the first: a run that was broken off goes on at another)

The first `up` is recorded: which steps Pulumi told, how often. Each moment is one of those steps
on a fresh control plane; there SIGKILL ends the command, Pulumi, its provider, its language host
and the program, all at once. Then the one command that the documents name is run, mostly that of
a stack of one's own, at one moment in five that of the lab (`Way`). It has converged when that
command succeeds, a further `up` that looks at the cluster first has nothing to change, and what
is in the cluster and what is in the state are the same objects.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from lab import stack
from lab.folder import CHECKOUT
from lab.stack import STACK
from lab.toolchain.ensure import ensure
from lab.toolchain.progress import report_to
from tallyard.spec.load import load
from tests.cluster_objects import Objects, in_cluster, in_state
from tests.own_stack import run_commands
from tests.running_lab import OVERLAY, RunningLab

MOMENTS_DEFAULT = 20
SEED_DEFAULT = 2026
# The lab's first run keeps no state until its end, so that one killed begins anew: one in so many.
LABS_EVERY = 5
# A step that does not come: the run is over before it, or hangs.
STEP_SECONDS_MAX = 900.0
# Pulumi tells a step by one of these lines; `(0s)` and what follows differs from run to run.
_STEP = re.compile(r"^ *[-+~]+ +(?P<type>\S+) (?P<name>\S+) (?P<what>creating|created)\b")
_POLL_SECONDS = 0.02
_MODULE = "tests.soak.interrupted"


class Way(StrEnum):
    """How the platform is made, and by which command one goes on."""

    LAB = "make up"
    OWN = "pulumi cancel; pulumi up --refresh --run-program; pulumi refresh --clear-pending-creates"


@dataclass(frozen=True)
class Moment:
    """When to kill: at the `number`th line that tells this of this type, and a little later.

    `what` is `creating` or `created`, or one of `_OTHERS` with an empty type.
    """

    type: str
    what: str
    number: int
    later_seconds: float

    def __str__(self) -> str:
        """Return it as a person reads it."""
        name = self.type.removeprefix("kubernetes:") or "-"
        return f"{self.what} no. {self.number} of {name}, {self.later_seconds * 1000:.0f} ms later"


@dataclass(frozen=True)
class Outcome:
    """What one moment came to; `fault` is None when it converged."""

    killed: tuple[str, ...]
    until_seconds: float
    converge_seconds: float
    fault: str | None


PROVIDER_STARTS, STATE_WRITTEN, WEBHOOK_WAIT = "provider starts", "state written", "webhook wait"
_PROVIDER = "pulumi-resource-kubernetes"
_CHART = "kubernetes:helm.sh/v4:Chart"
# The last of Kueue's definitions; after it the program waits for the webhooks.
_LAST_OF_CHART = "CustomResourceDefinition kueue:workloads.kueue.x-k8s.io created"


def main() -> int:
    """Record, draw, kill, converge; say how many did."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("moments", nargs="?", type=int, default=MOMENTS_DEFAULT)
    arguments.add_argument("--seed", type=int, default=SEED_DEFAULT)
    arguments.add_argument("--from", dest="first", type=int, default=1)
    told = arguments.parse_args()
    tried = converged = 0
    with tempfile.TemporaryDirectory(prefix="tallyard-soak-") as folder:
        steps = recorded(Path(folder))
        print(f"recorded {sum(steps.values())} steps of {len(steps)} sorts; seed {told.seed}")
        moments = drawn(steps, told.moments, random.Random(told.seed))  # noqa: S311 - a test's
        for number, moment in enumerate(moments, 1):
            if number < told.first:
                continue
            tried += 1
            way = Way.OWN if number % LABS_EVERY else Way.LAB
            outcome = interrupted(Path(folder), f"killed-{number}", moment, way)
            converged += outcome.fault is None
            print(line(number, len(moments), moment, way, outcome), flush=True)
    print(f"{converged} of {tried} interrupted runs converged by one command")
    return 0 if converged == tried else 1


def line(number: int, of: int, moment: Moment, way: Way, outcome: Outcome) -> str:
    """Return what is told of one moment."""
    return (
        f"{number:>3} of {of}  killed after {outcome.until_seconds:.1f} s at {moment}: "
        f"{', '.join(outcome.killed)}\n"
        f"          `{way}`: {outcome.fault or 'converged'} in {outcome.converge_seconds:.1f} s"
    )


def drawn(steps: Mapping[tuple[str, str], int], count: int, chance: random.Random) -> list[Moment]:
    """Draw moments: first those that are no object, then of each type in turn.

    Args:
        steps: how often a type was told to be `creating` or `created`.
        count: how many.
        chance: the dice.
    """
    types = sorted({type_ for type_, _ in steps if type_ != _CHART})
    chance.shuffle(types)
    fixed = [
        Moment("", PROVIDER_STARTS, 1, chance.uniform(0, 0.5)),
        Moment("", WEBHOOK_WAIT, 1, chance.uniform(0, 0.5)),
        Moment("", STATE_WRITTEN, chance.randint(2, 80), 0.0),
        Moment(_CHART, "creating", 1, chance.uniform(0, 2)),
    ]
    moments = fixed[:count]
    while len(moments) < count:
        type_ = types[(len(moments) - len(fixed)) % len(types)]
        what = chance.choice([w for t, w in sorted(steps) if t == type_])
        number = chance.randint(1, steps[type_, what])
        moments.append(Moment(type_, what, number, chance.uniform(0, 0.3)))
    return moments


def recorded(base: Path) -> Mapping[tuple[str, str], int]:
    """Run a whole `up` and return how often each step of its log was told."""
    lab = _lab(base, "recorded")
    try:
        with _child(lab, Way.OWN, "up") as child:
            assert child.wait(STEP_SECONDS_MAX) == 0, _tail(lab)
        found = (_STEP.match(text) for text in _log(lab).read_text().splitlines())
        steps = Counter((m["type"], m["what"]) for m in found if m)
        return {key: n for key, n in steps.items() if key[0].startswith("kubernetes:")}
    finally:
        lab.down()


def interrupted(base: Path, name: str, moment: Moment, way: Way) -> Outcome:
    """Kill an `up` of a fresh lab at a moment, and go on by the way's command."""
    lab = _lab(base, name)
    lab.up()
    bare = in_cluster(lab)
    try:
        began = time.monotonic()
        killed = _killed(lab, moment, way)
        begun_again = time.monotonic()
        with _child(lab, way, "again") as child:
            code = _ended(child)
        took = time.monotonic() - begun_again
        fault = _tail(lab) if code != 0 else difference(lab, bare)
        return Outcome(killed, begun_again - began, took, fault)
    finally:
        lab.down()


def _ended(child: subprocess.Popen[bytes]) -> int | None:
    """Return how a process ended; None where it does not end."""
    try:
        return child.wait(STEP_SECONDS_MAX)
    except subprocess.TimeoutExpired:
        return None


def difference(lab: RunningLab, bare: Objects) -> str | None:
    """Return what keeps a lab from being whole: a change to make, a duplicate, an orphan.

    Args:
        lab: a lab with everything in it.
        bare: the objects of its cluster before.
    """
    again = lab.pulumi(
        *("up", "--yes", "--skip-preview", "--expect-no-changes", "--refresh", "--run-program")
    )
    if again.returncode:
        return f"a second up has something to do:\n{again.stdout[-3000:]}{again.stderr[-1000:]}"
    state = in_state(lab)
    if state.odd:
        return f"the state has {', '.join(state.odd)}"
    there = in_cluster(lab).made_by_us(bare)
    orphans, missing = there - state.objects, state.objects - there
    told = [f"orphan {each}" for each in sorted(orphans)]
    told += [f"not in the cluster: {each}" for each in sorted(missing)]
    return "; ".join(told) or None


def _lab(base: Path, name: str) -> RunningLab:
    platform = load(OVERLAY).platform
    assert platform is not None
    return RunningLab(base, name, platform, ensure(report_to()))


def _killed(lab: RunningLab, moment: Moment, way: Way) -> tuple[str, ...]:
    """Start, wait for the moment, kill; return the names of what was killed."""
    with _child(lab, way, "up") as child:
        is_now = _watch(lab, moment, child.pid)
        deadline = time.monotonic() + STEP_SECONDS_MAX
        while not is_now():
            assert child.poll() is None, f"it ended before {moment}:\n{_tail(lab)}"
            assert time.monotonic() < deadline, f"no {moment}:\n{_tail(lab)}"
            time.sleep(_POLL_SECONDS)
        time.sleep(moment.later_seconds)
        return kill(child.pid)


def _watch(lab: RunningLab, moment: Moment, pid: int) -> Callable[[], bool]:
    """Return whether the moment has come; asked again and again."""
    log = _log(lab)
    if moment.what == PROVIDER_STARTS:
        return lambda: any(_PROVIDER in name for _, name in _tree(pid))
    if moment.what == STATE_WRITTEN:
        return _Writes(lab, moment.number)

    def lines() -> int:
        text = log.read_text(errors="replace") if log.exists() else ""
        if moment.what == WEBHOOK_WAIT:
            return text.count(_LAST_OF_CHART)
        found = (_STEP.match(line) for line in text.splitlines())
        return sum(1 for m in found if m and (m["type"], m["what"]) == (moment.type, moment.what))

    return lambda: lines() >= moment.number


class _Writes:
    """Counts how often the file of the state has become another one.

    The lab's first run keeps no state until its end, so there the first one is the moment.
    """

    def __init__(self, lab: RunningLab, number: int) -> None:
        self._root, self._left, self._seen = lab.folder.pulumi, number, 0

    def __call__(self) -> bool:
        files = [*self._root.glob(f".pulumi/stacks/**/{STACK}.json*")]
        newest = max((path.stat().st_mtime_ns for path in files if path.exists()), default=0)
        self._left -= newest != self._seen
        self._seen = newest
        return self._left <= 0


def kill(pid: int) -> tuple[str, ...]:
    """Kill a command with its Pulumi and all below that; the lab's own programs live on."""
    tree = list(_tree(pid))
    pulumis = [p for p, name in tree if name == stack.NAME]
    below = [each for p in pulumis for each in _tree(p)]
    # Stopped first, so that none sees the end of another.
    doomed = {pid: "up", **dict(below)}
    for signal_ in (signal.SIGSTOP, signal.SIGKILL):
        for each in doomed:
            try:
                os.kill(each, signal_)
            except ProcessLookupError:
                continue
    return tuple(sorted(doomed.values()))


def _tree(pid: int) -> Iterator[tuple[int, str]]:
    """Yield a process and all below it, each with its program's name."""
    parents: dict[int, tuple[int, str]] = {}
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            name, _, rest = stat.read_text().partition("(")[2].rpartition(")")
            program = stat.with_name("exe").readlink().name
        except OSError:
            continue
        parents[int(stat.parent.name)] = (int(rest.split()[1]), program or name)
    reached = {pid}
    while True:
        more = {p for p, (parent, _) in parents.items() if parent in reached} - reached
        if not more:
            break
        reached |= more
    yield from ((p, parents[p][1]) for p in sorted(reached) if p in parents)


@contextmanager
def _child(lab: RunningLab, way: Way, step: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a step of a way in a process of its own, which does not outlive the context."""
    log = lab.base / f"{lab.name}.log"
    with log.open("ab") as file:
        process = subprocess.Popen(
            [sys.executable, "-m", _MODULE, "--child", str(lab.base), lab.name, way, step],
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=file,
            stderr=file,
            start_new_session=True,
        )
    try:
        yield process
    finally:
        if process.poll() is None:
            kill(process.pid)
        process.wait()


def child(base: str, name: str, way: str, step: str) -> None:
    """Do what `_child` is for: `make up`, or Pulumi as a person runs it, beside a lab's managers."""
    lab = _lab(Path(base), name)
    if way == Way.LAB:
        lab.up(make_stack=None)
        return
    up = ("up", "--yes", "--skip-preview")
    first = [("stack", "select", "--create"), up]
    # The last one takes what was under way from the state; everything is there by then.
    clear = ("refresh", "--yes", "--skip-preview", "--run-program", "--clear-pending-creates")
    again = [("cancel", "--yes"), (*up, "--refresh", "--run-program"), clear]
    lab.up(lambda parts: run_commands(parts, first if step == "up" else again))


def _log(lab: RunningLab) -> Path:
    return lab.folder.logs / "pulumi.log"


def _tail(lab: RunningLab) -> str:
    own = lab.base / f"{lab.name}.log"
    files = [path for path in (_log(lab), own) if path.exists()]
    return "\n".join(path.read_text(errors="replace")[-3000:] for path in files)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        child(*sys.argv[2:])
        sys.exit(0)
    sys.exit(main())
