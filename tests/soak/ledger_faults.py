"""Faults made by hand in the ledger's code: which test catches each?

Usage: .venv/bin/python -m tests.soak.ledger_faults [--only N] [--workers N]

Each is one slip that somebody could make, under the rule that it breaks (`RULES`). It is made in
a copy of the checkout, the ledger's tests run there until the first fails, and that test is named.
At least 95 % must be caught.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from lab.folder import CHECKOUT

CAUGHT_PERCENT_MIN = 95
SECONDS_MAX = 900
_COPIED = ("tallyard", "tests", "stacks", "lab", "templates", "schemas", "pyproject.toml")
_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.MULTILINE)

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
    Fault("L1", "granting.py", "max(part - given, -available)", "part - given"),
    Fault("L1", "moving.py", "entries += adjusted(lot, source, -lot.available)", "pass"),
    Fault("L1", "moving.py", "theirs.expires == lot.expires", "True"),
    Fault("L1", "store/engine.py", '"synchronous = FULL"', '"synchronous = OFF"'),
    Fault("L1", "store/store.py", "self._books = None\n                raise", "raise"),
    # L2
    Fault("L2", "granting.py", "for account in sorted({*accounts", "for account in set({*accounts"),
    Fault("L2", "transactions.py", 'Encoder(order="deterministic")', "Encoder()"),
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
    Fault("L9", "moving.py", "if command.since < earliest:", "if command.since < earliest - 1:"),
    Fault(
        "L9",
        "clock.py",
        "self._begun_wall + self._steady() - self._begun_steady)\n\n",
        "self._wall())\n\n",
    ),
)


def main() -> int:
    """Make each fault; return whether too few were caught."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", type=int, action="append", help="the number of a fault, from 1")
    parser.add_argument("--workers", type=int, default=2)
    asked = parser.parse_args()
    chosen = [FAULTS[n - 1] for n in asked.only] if asked.only else list(FAULTS)
    caught = 0
    with ThreadPoolExecutor(asked.workers) as workers:
        for fault, test in zip(chosen, workers.map(_caught_by, chosen), strict=True):
            caught += test is not None
            number = FAULTS.index(fault) + 1
            print(
                f"{number:3} {fault.rule} {fault.file}: {_short(fault.old)} -> {_short(fault.new)}"
            )
            print(f"       {test or 'NOT CAUGHT'}", flush=True)
    print(f"{caught} of {len(chosen)} faults caught ({100 * caught / len(chosen):.0f} %)")
    return 0 if 100 * caught >= CAUGHT_PERCENT_MIN * len(chosen) else 1


def _caught_by(fault: Fault) -> str | None:
    """Return the first test that fails with a fault; None when all pass."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder) / "checkout"
        copy.mkdir()
        for name in _COPIED:
            source = CHECKOUT / name
            if source.is_dir():
                ignored = shutil.ignore_patterns("__pycache__", ".*")
                shutil.copytree(source, copy / name, ignore=ignored)
            else:
                shutil.copy(source, copy / name)
        file = copy / "tallyard" / "ledger" / fault.file
        text = file.read_text()
        if text.count(fault.old) < 1:
            raise SystemExit(f"{fault.file} has no {fault.old!r} any more")
        file.write_text(text.replace(fault.old, fault.new, 1))
        # The checkout's own code is installed; the copy goes before it.
        environment = {**os.environ, "PYTHONPATH": str(copy), "PYTHONDONTWRITEBYTECODE": "1"}
        command = [sys.executable, "-P", "-m", "pytest", "-x", "-q", "-n", "0", "tests/ledger"]
        ran = subprocess.run(
            [*command, "-p", "no:cacheprovider"],
            cwd=copy,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS_MAX,
            check=False,
        )
        failed = _FAILED.search(ran.stdout)
        return failed[1] if failed and ran.returncode else None


def _short(text: str) -> str:
    return " ".join(text.split())[:60]


if __name__ == "__main__":
    sys.exit(main())
