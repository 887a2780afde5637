"""Seeded mutants of specs: each loads or is refused with a place, quickly and in little memory.

Usage: .venv/bin/python -m tests.soak.mutants [COUNT] [--seed N] [--processes N] [--only I]

COUNT mutants (10,000 by default) are loaded in one process, 200 of them (--processes) also
validated by a process of their own. A mutant is named by its number; --only repeats one and
shows what it is told. What fails is kept in a folder, with the command that repeats it. The
short form in `make test` is tests/spec/test_mutants.py.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import select
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path

from tallyard.spec.load import load
from tallyard.spec.messages import report
from tests.soak import limits, mutant_trial
from tests.soak.mutant_trial import Outcome
from tests.spec.mutations import kind_of, kinds, mutant

COUNT_DEFAULT = 10_000
PROCESSES_DEFAULT = 200
SEED_DEFAULT = 2026
LANGS = ("C.UTF-8", "zh_CN.UTF-8")
# A worker that says nothing for so long does not even hear its alarm clock.
_SILENCE_SECONDS_MAX = 60.0
_FAULTS_SHOWN_MAX = 20
_PROGRESS = 1_000


def main() -> int:
    """Run them and say how they fared."""
    asked = _arguments()
    if asked.worker:
        return _work(asked.seed, asked.first, asked.count)
    if asked.only is not None:
        return _show(asked.seed, asked.only)
    tally = _Tally(asked.seed)
    began = time.monotonic()
    for number, outcome in _in_one_process(asked.seed, asked.count):
        tally.add(number, outcome)
        if (number + 1) % _PROGRESS == 0:
            print(f"{number + 1} of {asked.count}, {tally.failed} failed", flush=True)
    chosen = random.Random(asked.seed).sample(range(asked.count), min(asked.processes, asked.count))  # noqa: S311
    for number, outcome in _as_processes(asked.seed, sorted(chosen)):
        tally.add(number, outcome)
    tally.show(time.monotonic() - began)
    return 1 if tally.failed or tally.shows_nothing() else 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("count", type=int, nargs="?", default=COUNT_DEFAULT)
    parser.add_argument("--seed", type=int, default=SEED_DEFAULT)
    parser.add_argument("--processes", type=int, default=PROCESSES_DEFAULT)
    parser.add_argument("--only", type=int, metavar="I")
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--first", type=int, default=0, help=argparse.SUPPRESS)
    return parser.parse_args()


def _in_one_process(seed: int, count: int) -> Iterator[tuple[int, Outcome]]:
    """Yield the outcomes of a worker; one that dies or hangs is replaced by a new one."""
    number = 0
    while number < count:
        command = [sys.executable, "-m", "tests.soak.mutants", str(count), "--seed", str(seed)]
        command += ["--worker", "--first", str(number)]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as worker:
            for line in _lines(worker):
                yield number, _outcome(line)
                number += 1
            worker.kill()
        if number < count:
            fault = f"the worker hung, or ended with {worker.returncode}"
            yield number, Outcome("broken", 0, 0, faults=(fault,))
            number += 1


def _lines(worker: subprocess.Popen[bytes]) -> Iterator[bytes]:
    """Yield a worker's lines until it ends or is silent for too long."""
    assert worker.stdout is not None
    while select.select([worker.stdout], [], [], _SILENCE_SECONDS_MAX)[0]:
        # Unbuffered below, so that nothing is in hand that select cannot see.
        line = b""
        while not line.endswith(b"\n"):
            piece = os.read(worker.stdout.fileno(), 1)
            if not piece:
                return
            line += piece
        yield line


def _outcome(line: bytes) -> Outcome:
    data = json.loads(line)
    return Outcome(**{**data, "codes": tuple(data["codes"]), "faults": tuple(data["faults"])})


def _work(seed: int, first: int, count: int) -> int:
    """Try the mutants in this process, one line of JSON for each."""
    limits.cap_address_space(mutant_trial.ADDRESS_SPACE_BYTES_MAX)
    limits.spare_what_is_here()
    with tempfile.TemporaryDirectory(prefix="tallyard-soak-") as parent:
        for number in range(first, count):
            with mutant_trial.written(mutant(seed, number), Path(parent)) as folder:
                outcome = mutant_trial.in_process(folder)
            print(json.dumps(asdict(outcome)), flush=True)
    return 0


def _as_processes(seed: int, numbers: Iterable[int]) -> Iterator[tuple[int, Outcome]]:
    with tempfile.TemporaryDirectory(prefix="tallyard-soak-") as parent:
        logs = Path(parent) / "logs"
        logs.mkdir()
        for turn, number in enumerate(numbers):
            with mutant_trial.written(mutant(seed, number), Path(parent)) as folder:
                yield number, mutant_trial.as_process(folder, logs, LANGS[turn % len(LANGS)])


def _show(seed: int, number: int) -> int:
    """Try one mutant both ways, and show what a person is told about it."""
    made = mutant(seed, number)
    with tempfile.TemporaryDirectory(prefix="tallyard-soak-") as parent:
        with mutant_trial.written(made, Path(parent)) as folder:
            outcomes = [mutant_trial.in_process(folder)]
            if outcomes[0].ending != "broken":
                loaded = load(folder / "local.yaml")
                print(report(loaded.problems, "en", loaded.texts))
        ((_, outcome),) = _as_processes(seed, [number])
    outcomes.append(outcome)
    print(f"{number} of seed {seed}: {made.kind} of {made.base}")
    for each in outcomes:
        print(f"  {_figures(each)}", *(f"    {fault}" for fault in each.faults), sep="\n")
    return 1 if any(each.faults for each in outcomes) else 0


class _Tally:
    """Adds up outcomes, and keeps the files of those that must not be."""

    def __init__(self, seed: int) -> None:
        self.seed = seed
        self.kept: Path | None = None
        self.failed = 0
        self.families: Counter[str] = Counter()
        self.kinds: Counter[str] = Counter()
        self.endings: Counter[str] = Counter()
        self.codes: Counter[str] = Counter()
        self.slowest: dict[bool, tuple[float, int]] = {}
        self.largest: dict[bool, tuple[int, int]] = {}

    def add(self, number: int, outcome: Outcome) -> None:
        kind = kind_of(number)
        is_process = outcome.ending.startswith("exit")
        self.endings[outcome.ending] += 1
        self.codes.update(outcome.codes)
        if not is_process:
            self.kinds[kind] += 1
            self.families[kind.partition("/")[0]] += 1
        none = (0, number)
        self.slowest[is_process] = max(
            self.slowest.get(is_process, none), (outcome.seconds, number)
        )
        self.largest[is_process] = max(
            self.largest.get(is_process, none), (outcome.memory_bytes, number)
        )
        if outcome.faults:
            self._keep(number, kind, outcome)

    def _keep(self, number: int, kind: str, outcome: Outcome) -> None:
        self.failed += 1
        self.kept = self.kept or Path(tempfile.mkdtemp(prefix="tallyard-mutants-"))
        folder = self.kept / str(number)
        if not folder.exists():
            folder.mkdir()
            mutant(self.seed, number).write(str(folder))
        if self.failed > _FAULTS_SHOWN_MAX:
            return
        print(f"mutant {number} of seed {self.seed} ({kind}): {_figures(outcome)}")
        print(*(f"    {fault}" for fault in outcome.faults[:5]), sep="\n")
        print(
            f"    files: {folder}\n    again: python -m tests.soak.mutants --seed {self.seed} --only {number}",
            flush=True,
        )

    def shows_nothing(self) -> bool:
        """Return whether the run was one-sided, so that it would not have shown a fault."""
        return not (self.endings["refused"] and self.endings["loads"] + self.endings["warned"])

    def show(self, seconds: float) -> None:
        for title, counted in (("kinds", self.families), ("endings", self.endings)):
            print(f"{title}: " + ", ".join(f"{name} {n}" for name, n in sorted(counted.items())))
        shares = ", ".join(f"{name} {self.kinds[name]}" for name in kinds())
        print(f"each kind: {shares}")
        print(
            f"{len(self.codes)} codes: "
            + ", ".join(f"{c} {n}" for c, n in sorted(self.codes.items()))
        )
        for is_process, what in ((False, "in one process"), (True, "as processes")):
            if is_process in self.slowest:
                (slow, at), (large, where) = self.slowest[is_process], self.largest[is_process]
                print(
                    f"{what}: slowest {slow:.2f} s (mutant {at}), largest {large / 1e6:.0f} MB (mutant {where})"
                )
        print(
            f"{self.kinds.total()} mutants of seed {self.seed}: {self.failed} failed, {seconds:.0f} s"
        )


def _figures(outcome: Outcome) -> str:
    return f"{outcome.ending}, {outcome.seconds:.2f} s, {outcome.memory_bytes / 1e6:.0f} MB"


if __name__ == "__main__":
    sys.exit(main())
