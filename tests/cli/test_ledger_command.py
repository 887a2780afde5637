"""`tally ledger …` on a store in a file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from sqlalchemy import text

from tallyard.cli.application import run_application
from tallyard.cli.exit_codes import ExitCode
from tallyard.cli.ledger_store import STORE_VARIABLE
from tallyard.ledger.store.engine import engine_of, writes
from tallyard.ledger.store.migrating import migrate
from tallyard.ledger.store.store import Store
from tests.ledger.ledgers import NOVEMBER, H, freeze_of

TAIL = """\
SEQ  AT                    COMMAND        ACCOUNT     SUBJECT  CORE-HOURS
  1  2026-10-31T16:00:00Z  grant-cluster              2026-11      999.00
  2  2026-10-31T16:00:00Z  grant-project  nlp         2026-11      100.00
  3  2026-10-31T16:00:00Z  set-price                  A100
  4  2026-10-31T16:00:00Z  freeze         nlp/li.wei  train-7       25.00
  5  2026-10-31T16:00:00Z  settle         nlp/li.wei  train-7       20.00
  6  2026-10-31T16:00:00Z  refund         nlp/li.wei  train-7        5.00
  7  2026-10-31T16:00:00Z  adjust         nlp         2026-11       -3.00
  8  2026-10-31T16:00:00Z  grant-project  vision      2026-11       10.00
  9  2026-10-31T16:00:00Z  merge          vision      nlp          -10.00
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
        "key": "r",
        "by": "zhao.min",
    }


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
        assert process.stdout.readline().startswith("SEQ")
        assert "train-8" in process.stdout.readline()
        timer.cancel()
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == ExitCode.CANCELLED


@pytest.mark.parametrize(("lang", "told"), [("en", "everything agrees"), ("zh", "账目全部相符")])
def test_books_that_are_right(
    store: Path, capsys: pytest.CaptureFixture[str], lang: str, told: str
) -> None:
    assert store.exists()
    assert run_application(["ledger", "verify", "--lang", lang]) == 0
    out = capsys.readouterr().out
    assert told in out
    assert all(number in out for number in ("9 ", "freezes" if lang == "en" else "冻结"))


def test_books_that_are_wrong_end_with_1_and_say_where(
    store: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with writes(engine_of(store)) as connection:
        connection.execute(text("UPDATE prices SET rate_milli = 1"))
    assert run_application(["ledger", "verify"]) == ExitCode.FAILED
    out = capsys.readouterr().out
    assert f"prices A100/{NOVEMBER}: rate_milli is 1, and by the journal 30000" in out
    assert "1 do not agree" in out
    run_application(["ledger", "verify", "-o", "json"])
    content = json.loads(capsys.readouterr().out)
    assert (content["kind"], content["transactions"], len(content["faults"])) == (
        "LedgerVerdict",
        9,
        1,
    )


@pytest.mark.usefixtures("store")
def test_a_backup_is_brought_back_into_an_empty_store_only(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, other = str(tmp_path / "backup"), str(tmp_path / "other.db")
    assert run_application(["ledger", "backup", file]) == 0
    assert run_application(["ledger", "restore", file, "--store", other]) == 0
    assert run_application(["ledger", "verify", "--store", other]) == 0
    assert "9 transactions restored" in capsys.readouterr().out
    assert run_application(["ledger", "restore", file, "--store", other]) == ExitCode.FAILED
    assert "the store is not empty" in capsys.readouterr().err


@pytest.mark.usefixtures("store")
def test_a_backup_that_cannot_be_written_is_told_with_its_path(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    nowhere = str(tmp_path / "no" / "folder")
    assert run_application(["ledger", "backup", nowhere]) == ExitCode.FAILED
    assert nowhere.rpartition("/")[0] in capsys.readouterr().err
    other = str(tmp_path / "other.db")
    assert run_application(["ledger", "restore", nowhere, "--store", other]) == ExitCode.FAILED


def test_tables_are_made_and_then_of_this_version(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "new.db")
    for _ in range(2):
        assert run_application(["ledger", "migrate", "--store", file]) == 0
        assert capsys.readouterr().out == "the tables are of version 0003\n"
    migrate(engine_of(file), "0001")
    assert run_application(["ledger", "verify", "--store", file]) == ExitCode.FAILED
    assert "`tally ledger migrate`" in capsys.readouterr().err
    assert run_application(["ledger", "migrate", "--store", file]) == 0
    assert "were of version 0001" in capsys.readouterr().out


@pytest.mark.parametrize(("lang", "told"), [("en", "no ledger is named"), ("zh", "没有指定账本")])
def test_without_a_store_nothing_is_guessed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], lang: str, told: str
) -> None:
    monkeypatch.delenv(STORE_VARIABLE, raising=False)
    assert run_application(["ledger", "verify", "--lang", lang]) == ExitCode.USAGE
    err = capsys.readouterr().err
    assert told in err
    assert STORE_VARIABLE in err


def test_a_file_that_is_not_there_is_not_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "none.db"
    assert run_application(["ledger", "verify", "--store", str(file)]) == ExitCode.FAILED
    assert f"there is no file {file}" in capsys.readouterr().err
    assert not file.exists()


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("postgresql://u:hunter2@127.0.0.1:1/x?connect_timeout=2", "u:***@127.0.0.1"),
        ("postgresql://u:hun/ter2@127.0.0.1:1/x", "postgresql://"),
        ("postgresql://u:a@hunter2@127.0.0.1:1/x?connect_timeout=2", "%40"),
        ("postgresql://u@127.0.0.1:1/x?password=hunter2&connect_timeout=2", "u@127.0.0.1:1/x"),
        ("postgresql://u:hunter2@127.0.0.1:many/x", "postgresql://"),
        ("mysql://u:hunter2@127.0.0.1/x", "mysql://u:***@"),
    ],
)
def test_a_password_is_not_shown(
    capsys: pytest.CaptureFixture[str], address: str, shown: str, lang: str
) -> None:
    command = ["ledger", "verify", "--store", address, "--lang", lang]
    assert run_application(command) == ExitCode.FAILED
    err = capsys.readouterr().err
    assert "hunter2" not in err
    assert "ter2" not in err
    assert shown in err
