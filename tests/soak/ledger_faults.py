"""Faults made by hand in the ledger's code: which test catches each?

Usage: .venv/bin/python -m tests.soak.ledger_faults [--only N] [--workers N]

Each is one slip that somebody could make, under the rule that it breaks (`RULES`). It is made in
a copy of the checkout, the ledger's tests run there until the first fails, and that test is named.
At least 95 % must be caught. A fault with which the tests cannot even be read shows nothing about
them: it is broken, and so is one whose place is not there exactly once; either is a failure, as is
a test that fails without any fault.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from pathlib import Path

import pytest

from lab.folder import CHECKOUT

CAUGHT_PERCENT_MIN = 95
SECONDS_MAX = 900
# To end what the tests started.
_END_SECONDS_MAX = 60
_COPIED = ("tallyard", "tests", "stacks", "lab", "templates", "schemas", "pyproject.toml")
# A test, or what it stands on, which has checks of its own; a file that cannot be read has no `::`.
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+?::.+?)(?: - .*)?$", re.MULTILINE)
_SAID_MAX = 300

RULES = {
    "L1": "nothing lost, nothing charged twice, nothing negative, through any crash",
    "L2": "the same seed gives the same journal",
    "L3": "the same key is done once; with another content it is refused",
    "L4": "never above a quota, a share or the cap, whoever comes at once",
    "L5": "more than was frozen is never charged in silence; a debt has a bound",
    "L6": "freezes without work and work without a freeze are found",
    "L7": "the users' own numbers",
    "L8": "what was changed behind the ledger's back is found",
    "L9": "no clock makes a negative time or a double hour",
}


@dataclass(frozen=True)
class Fault:
    """A slip: where, what stands there, what would stand there."""

    rule: str
    file: str
    old: str
    new: str


FAULTS = (
    # What the rules of members, periods and versions, and the looks before writing hold off.
    Fault("L1", "store/store.py", "raise UnsoundError(", "repr("),
    Fault("L3", "store/rows.py", "if command.key != row.key:", "if False:"),
    Fault("L4", "freezing.py", "if account.user and not books.is_member(account):", "if False:"),
    Fault("L5", "refunding.py", "and not books.is_member(user):", "and True:"),
    Fault("L7", "due.py", "(lot.untaken and lot.available)", "False"),
    Fault("L7", "due.py", "if not running and (account, span.name)", "if (account, span.name)"),
    Fault("L7", "lots.py", "return self.given - self.expired", "return self.given"),
    Fault("L8", "store/backup.py", "if decided != wanted:", "if False:"),
    Fault("L8", "store/backup.py", "if transaction.digest(before) != digest:", "if False:"),
    Fault("L8", "store/verifying.py", "if found != count:", "if False:"),
    Fault("L9", "due.py", "at = max(at, books.at)", "at = int(at)"),
    # L1
    Fault(
        "L1", "lots.py", '(("frozen", -1), ("charged", 1))', '(("available", -1), ("charged", 1))'
    ),
    Fault("L1", "freezing.py", "record.is_open:", "record.is_open and False:"),
    Fault("L1", "freezing.py", "charged -= charge", "charged -= 0"),
    Fault("L1", "freezing.py", "beyond -= rest", "beyond -= 0"),
    Fault("L4", "facts.py", "record.queue] -= beyond", "record.queue] -= 0"),
    Fault(
        "L1",
        "freezing.py",
        "if rest := part.amount - charge:",
        "if (rest := part.amount - charge) > 1:",
    ),
    Fault("L1", "freezing.py", "at >= lot.expires:", "at > lot.expires:"),
    Fault("L1", "refunding.py", "record.charged - record.refunded", "record.charged"),
    Fault(
        "L1",
        "books.py",
        "lots = self.shared(account.project, grant)",
        "lots = {a: lot for a in (account,) if (lot := self.lot(a, grant))}",
    ),
    Fault("L1", "granting.py", "max(part - in_force, -available)", "part - in_force"),
    Fault("L1", "moving.py", "entries += adjusted(lot, source, -lot.available)", "pass"),
    Fault("L1", "moving.py", "theirs.expires == lot.expires", "True"),
    Fault("L1", "store/engine.py", '"synchronous = FULL"', '"synchronous = OFF"'),
    Fault("L1", "store/store.py", "self._books = None\n                raise", "raise"),
    # L2
    Fault("L2", "granting.py", "for account in sorted({*accounts", "for account in set({*accounts"),
    Fault("L2", "books.py", "return sorted(self._users", "return list(self._users"),
    Fault("L2", "transactions.py", "before.encode() + ", ""),
    # L3
    Fault(
        "L3",
        "store/store.py",
        "if before.command == command:",
        "if before.command.key == command.key:",
    ),
    Fault("L3", "store/store.py", "known[command.key] = outcome.transaction", "pass"),
    Fault(
        "L3",
        "store/store.py",
        "known = reading.by_keys(connection, {command.key for command in sound})",
        "known: dict[str, Transaction] = {}",
    ),
    Fault(
        "L3",
        "freezing.py",
        "part.id in books.freezes or part.id in ids[:index]",
        "part.id in ids[:index]",
    ),
    # L4
    Fault("L4", "freezing.py", "if need > available:", "if need > available + 1:"),
    Fault("L4", "freezing.py", "if frozen + need > cap:", "if need > cap:"),
    Fault(
        "L4",
        "freezing.py",
        "reversed(chain(command.project, command.user))",
        "chain(command.project, command.user)[:2]",
    ),
    Fault(
        "L4",
        "facts.py",
        "books.queue_frozen[record.project, record.queue] -= record.amount",
        "pass",
    ),
    Fault(
        "L4",
        "store/reading.py",
        "_HEAD_HELD if for_writing else _HEAD",
        "_HEAD",
    ),
    Fault(
        "L4",
        "store/store.py",
        "reading.journal(connection, books.seq, last.seq)",
        "reading.journal(connection, last.seq, last.seq)",
    ),
    # L5
    Fault(
        "L5",
        "freezing.py",
        "if command.amount > record.amount:",
        "if command.amount > record.amount + 1:",
    ),
    Fault(
        "L5", "refunding.py", "if owed > command.debt_max:", "if command.amount > command.debt_max:"
    ),
    Fault("L5", "freezing.py", "if owed := books.debt(Account(command.project)):", "if owed := 0:"),
    # L6
    Fault("L6", "store/backup.py", "if record is None:", "if False:"),
    Fault(
        "L6",
        "store/backup.py",
        "record.is_open and is_resolved",
        "record.is_open and not is_resolved",
    ),
    # L7
    Fault("L7", "amounts.py", "cents % 2", "True"),
    Fault("L7", "pricing.py", "cpu -= cards * card.includes_cpu", "cpu -= card.includes_cpu"),
    Fault(
        "L7",
        "pricing.py",
        "return round(cards * card_rate_milli + beyond * _MILLI)",
        "return int(cards * card_rate_milli + beyond * _MILLI)",
    ),
    Fault(
        "L7", "sentences.py", "(amount - self.wait) // self.rate_milli", "amount // self.rate_milli"
    ),
    # L8
    Fault("L8", "replaying.py", "if books.digest != digest:", "if False:"),
    Fault("L8", "replaying.py", "if decided != transaction:", "if False:"),
    Fault("L8", "store/verifying.py", "if found[key][name] != value:", "if False:"),
    # L9
    Fault("L9", "decide.py", "at = max(at, books.at)", "at = at"),
    Fault("L9", "pricing.py", "max(0, end - max(begin, until))", "end - max(begin, until)"),
    Fault("L9", "pricing.py", "max(begin, until))", "begin)"),
    Fault(
        "L9",
        "periods.py",
        "datetime.fromtimestamp(at, UTC).astimezone(zone).date()",
        "datetime.fromtimestamp(at, UTC).date()",
    ),
    Fault("L9", "lots.py", "self.starts <= at < self.expires", "self.starts <= at <= self.expires"),
    Fault("L9", "prices.py", "if since < earliest:", "if since < earliest - 1:"),
    Fault(
        "L9",
        "clock.py",
        "self._begun_wall + self._steady() - self._begun_steady)\n\n",
        "self._wall())\n\n",
    ),
)


class How(Enum):
    """How the tests' run with a fault ended."""

    FAILED = "caught by"
    TIMEOUT = "caught by a timeout:"
    PASSED = "NOT CAUGHT"
    BROKEN = "BROKEN FAULT:"


@dataclass(frozen=True)
class Verdict:
    """How it ended and what tells of it: the test, or what the run said."""

    how: How
    why: str = ""

    def __str__(self) -> str:
        """Return it as a person reads it."""
        return f"{self.how.value} {self.why}".strip()

    @property
    def is_caught(self) -> bool:
        """Say whether a test did not pass."""
        return self.how in (How.FAILED, How.TIMEOUT)


def main() -> int:
    """Make each fault; return whether too few were caught or one is broken."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, action="append", help="the number of a fault, from 1")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    if misplaced := list(_misplaced(FAULTS)):
        print(*misplaced, sep="\n")
        return 1
    # Else each fault would be "caught"; and where this ends in time, what does not end hangs.
    if (sound := _tried(None)).how is not How.PASSED:
        print(f"without any fault: {sound}")
        return 1
    chosen = [FAULTS[n - 1] for n in asked.only] if asked.only else list(FAULTS)
    verdicts = []
    with ThreadPoolExecutor(asked.workers) as workers:
        for fault, verdict in zip(chosen, workers.map(_tried, chosen), strict=True):
            print(f"{_told(fault)}\n       {verdict}", flush=True)
            verdicts.append(verdict)
    return _summed_up(dict(zip(chosen, verdicts, strict=True)))


def _summed_up(verdicts: Mapping[Fault, Verdict]) -> int:
    caught = sum(verdict.is_caught for verdict in verdicts.values())
    late = sum(verdict.how is How.TIMEOUT for verdict in verdicts.values())
    broken = [fault for fault, verdict in verdicts.items() if verdict.how is How.BROKEN]
    part = f"{100 * caught / len(verdicts):.0f} %, {late} of them by a timeout"
    print(f"{caught} of {len(verdicts)} faults caught ({part})")
    if broken:
        print(f"{len(broken)} broken, which show nothing:", *map(_told, broken), sep="\n")
    return 1 if broken or 100 * caught < CAUGHT_PERCENT_MIN * len(verdicts) else 0


def _misplaced(faults: Iterable[Fault]) -> Iterator[str]:
    """Yield which faults cannot be made, all at once: a run of all of them takes hours."""
    for fault in faults:
        file = _file(CHECKOUT, fault)
        found = file.read_text().count(fault.old) if file.exists() else 0
        if found != 1:
            yield f"{_told(fault)}\n       {How.BROKEN.value} it stands there {found} times"


def _tried(fault: Fault | None) -> Verdict:
    """Make a fault in a copy, or none, and run the tests there."""
    with tempfile.TemporaryDirectory() as folder:
        # Some tests run as nobody and import what they need from the copy.
        Path(folder).chmod(0o755)
        copy = Path(folder) / "checkout"
        copy.mkdir()
        for name in _COPIED:
            source = CHECKOUT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".*")
                shutil.copytree(source, copy / name, ignore=ignored)
            else:
                shutil.copy(source, copy / name)
        if fault:
            file = _file(copy, fault)
            file.write_text(file.read_text().replace(fault.old, fault.new))
        said = Path(folder) / "said"
        code = _run(copy, said)
        return _verdict(code, said.read_text())


def _run(copy: Path, said: Path) -> int | None:
    """Run the tests until one fails; return how that ended, None when it did not in time."""
    # The checkout's own code is installed; the copy goes before it.
    environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [
        sys.executable,
        "-P",
        "-m",
        "pytest",
        "-x",
        "-q",
        "-n",
        "0",
        "-p",
        "no:cacheprovider",
    ]
    # Into a file: a pipe would stay open for as long as a database that a hung test started.
    with (
        said.open("w") as out,
        subprocess.Popen(
            [*command, "tests/ledger"], cwd=copy, env=environment, stdout=out, stderr=out
        ) as run,
    ):
        try:
            return run.wait(SECONDS_MAX)
        except subprocess.TimeoutExpired:
            # As by Ctrl+C, so that pytest ends the databases that it started.
            run.send_signal(signal.SIGINT)
            try:
                run.wait(_END_SECONDS_MAX)
            except subprocess.TimeoutExpired:
                run.kill()
            return None


def _verdict(code: int | None, said: str) -> Verdict:
    if code is None:
        return Verdict(How.TIMEOUT, f"no end within {SECONDS_MAX} s")
    if code == pytest.ExitCode.OK:
        return Verdict(How.PASSED)
    if code == pytest.ExitCode.TESTS_FAILED and (failed := _FAILED.search(said)):
        return Verdict(How.FAILED, failed[1])
    last = " ".join(said.split())[-_SAID_MAX:]
    return Verdict(How.BROKEN, f"pytest ended with {code}: ...{last}")


def _file(checkout: Path, fault: Fault) -> Path:
    return checkout / "tallyard" / "ledger" / fault.file


def _told(fault: Fault) -> str:
    number = FAULTS.index(fault) + 1
    return f"{number:3} {fault.rule} {fault.file}: {_short(fault.old)} -> {_short(fault.new)}"


def _short(text: str) -> str:
    return " ".join(text.split())[:60]


if __name__ == "__main__":
    sys.exit(main())
