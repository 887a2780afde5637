"""`tally ledger tail`: the journal as people and programs read it."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from lab.folder import CHECKOUT
from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.ledger.commands import Adjust, AnyCommand, Expire, Freeze, Reduce, Settle
from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Store
from tests.ledger.ledgers import DECEMBER, NOVEMBER, H, freeze_of

TAIL = """\
SEQ  AT                    COMMAND        ACCOUNT     SUBJECT       CORE-HOURS
  1  2026-10-31T16:00:00Z  grant-cluster              2026-11           999.00
  2  2026-10-31T16:00:00Z  grant-project  nlp         2026-11           100.00
  3  2026-10-31T16:00:00Z  set-price                  A100 30.00/h
  4  2026-10-31T16:00:00Z  freeze         nlp/li.wei  train-7            25.00
  5  2026-10-31T16:00:00Z  settle         nlp/li.wei  train-7            20.00
  6  2026-10-31T16:00:00Z  refund         nlp/li.wei  train-7             5.00
  7  2026-10-31T16:00:00Z  adjust         nlp         2026-11            -3.00
  8  2026-10-31T16:00:00Z  grant-project  vision      2026-11            10.00
  9  2026-10-31T16:00:00Z  merge          vision      nlp               -10.00
"""


@pytest.mark.usefixtures("store")
def test_the_tail_is_the_journal_as_people_read_it(capsys: pytest.CaptureFixture[str]) -> None:
    assert run_application(["ledger", "tail"]) == 0
    shown = [line.rstrip() for line in capsys.readouterr().out.splitlines()]
    assert shown == TAIL.splitlines()
    run_application(["ledger", "tail", "-n", "2", "--lang", "zh"])
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["序号", "时刻", "命令", "账户", "对象名", "核时"]
    assert [line.split()[0] for line in lines[1:]] == ["8", "9"]


@pytest.mark.usefixtures("store")
def test_the_tails_document_has_exact_amounts_and_who_asked(
    capsys: pytest.CaptureFixture[str],
) -> None:
    run_application(["ledger", "tail", "-n", "4", "-o", "json"])
    first = json.loads(capsys.readouterr().out)["items"][0]
    assert first == {
        "seq": 6,
        "at": "2026-10-31T16:00:00Z",
        "command": "refund",
        "account": "nlp/li.wei",
        "subject": "train-7",
        "amount": 5 * H,
        "unit": "core-second/1000",
        "key": "r",
        "by": "zhao.min",
        "reason": "node failure",
    }


def test_small_amounts_and_losses_are_seen_as_that(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing, a thousandth, and what ends; the name of the work and not the id of its freeze."""
    freeze = freeze_of("f2", "f-8-id", H)
    named = Freeze(**{n: getattr(freeze, n) for n in freeze.__struct_fields__} | {"job": "train-8"})
    commands: tuple[AnyCommand, ...] = (
        named,
        Reduce(key="rd", freeze="f-8-id", amount=H - 1),
        Settle(key="s2", freeze="f-8-id", amount=0),
        Adjust(key="a2", project="nlp", grant="2026-11", amount=-1, reason="a try"),
    )
    Store(engine_of(store), lambda: NOVEMBER).do(commands)
    Store(engine_of(store), lambda: DECEMBER).do([Expire(key="e", project="nlp", grant="2026-11")])
    run_application(["ledger", "tail", "-n", "5"])
    rows = [line.split() for line in capsys.readouterr().out.splitlines()[1:]]
    assert [(row[2], row[4], row[5]) for row in rows] == [
        ("freeze", "train-8", "1.00"),
        ("reduce", "train-8", "<0.01"),
        ("settle", "train-8", "0.00"),
        ("adjust", "2026-11", "-<0.01"),
        ("expire", "2026-11", "-91.00"),
    ]


def test_who_follows_as_json_reads_a_line_for_each(store: Path) -> None:
    command = [sys.executable, "-m", "tallyard.cli.main", "ledger", "tail", "-f", "-o", "json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        timer = threading.Timer(90, process.kill)
        timer.start()
        rows = [json.loads(process.stdout.readline()) for _ in range(9)]
        timer.cancel()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == ExitCode.CANCELLED
    assert [row["seq"] for row in rows] == list(range(1, 10))
    assert store.exists()


def test_who_follows_sees_what_comes(store: Path) -> None:
    command = [sys.executable, "-m", "tallyard.cli.main", "ledger", "tail", "-n", "0", "-f"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1"}
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environment
    ) as process:
        assert process.stdout is not None
        # Whoever waits in vain for a line would wait for ever.
        timer = threading.Timer(90, process.kill)
        timer.start()
        assert process.stdout.readline().startswith("SEQ")
        later = Store(engine_of(store), lambda: NOVEMBER + 60)
        later.do([freeze_of("f2", "train-8", H)])
        # The header stands once, whatever comes.
        assert "train-8" in process.stdout.readline()
        timer.cancel()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == ExitCode.CANCELLED


def test_the_example_of_the_docs_runs(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    docs = (CHECKOUT / "docs" / "ledger.md").read_text(encoding="utf-8")
    (example,) = re.findall(r"```python\n(.*?)```", docs, re.DOTALL)
    file = tmp_path / "ledger.db"
    migrate(engine_of(file))
    moved = example.replace('"ledger.db"', repr(str(file))).replace(
        "stacks/", f"{CHECKOUT}/stacks/"
    )
    exec(moved, {})  # noqa: S102 - our own docs
    assert capsys.readouterr().out.count("Done(") == 4
    run_application(["ledger", "tail", "--store", str(file), "-o", "json"])
    (*_, freeze, settle) = json.loads(capsys.readouterr().out)["items"]
    assert (freeze["command"], settle["command"]) == ("freeze", "settle")
    assert (settle["subject"], settle["amount"]) == ("train-7", 20 * H)
