"""`tally ledger …` on a store in a file."""

from __future__ import annotations

import json
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

PRICED = ("--price", "0.35", "--currency", "CNY")


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
        assert capsys.readouterr().out == "the tables are of version 0004\n"
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


@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.parametrize("command", ["backup", "export"])
def test_a_ledger_is_never_written_over(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], command: str, lang: str
) -> None:
    other, link = tmp_path / "other.db", tmp_path / "link"
    run_application(["ledger", "migrate", "--store", str(other)])
    link.symlink_to(store)
    before = (store.read_bytes(), other.read_bytes())
    for name in (store, link, f"{store}-wal", f"{store}-shm", other):
        assert run_application(["ledger", command, str(name), "--lang", lang]) == ExitCode.FAILED
        err = capsys.readouterr().err
        assert f"{name}\n" in err
        assert ("请指定其他文件" if lang == "zh" else "name another file") in err
    assert (store.read_bytes(), other.read_bytes()) == before
    assert run_application(["ledger", "verify"]) == 0


@pytest.mark.parametrize("command", ["backup", "export", "restore", "since"])
@pytest.mark.usefixtures("store")
def test_an_empty_name_is_a_mistake_of_the_command_line(
    capsys: pytest.CaptureFixture[str], command: str
) -> None:
    assert run_application(["ledger", command, ""]) == ExitCode.USAGE
    assert "the file's name is empty" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("command", "what"),
    [
        ("backup", {"en": "the backup cannot be written", "zh": "备份无法写入"}),
        ("export", {"en": "the export cannot be written", "zh": "导出文件无法写入"}),
    ],
)
@pytest.mark.parametrize("lang", ["en", "zh"])
@pytest.mark.usefixtures("store")
def test_a_file_is_told_as_it_was_written(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    command: str,
    what: dict[str, str],
    lang: str,
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in (".", "/", "./no/folder", "n" * 256, "/dev/full"):
        assert run_application(["ledger", command, name, "--lang", lang]) == ExitCode.FAILED
        err = capsys.readouterr().err
        assert what[lang] in err
        assert f": {name}\n" in err
        assert "half" not in err
    assert run_application(["ledger", command, "n" * 255]) == 0


@pytest.mark.parametrize("address", ["sqlite://", ":memory:", "file:x.db?mode=ro", ""])
@pytest.mark.parametrize("command", [("migrate",), ("restore", "backup"), ("verify",)])
def test_what_would_keep_nothing_is_refused(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    address: str,
    command: tuple[str, ...],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_application(["ledger", "backup", "backup"]) == 0
    there = sorted(tmp_path.iterdir())
    assert run_application(["ledger", *command, "--store", address]) != 0
    err = capsys.readouterr().err
    assert "the ledger's address is wrong" in err or "no ledger is named" in err
    assert sorted(tmp_path.iterdir()) == there
    assert store in there


@pytest.mark.parametrize(
    "command",
    [("verify",), ("tail",), ("export",), ("migrate",), ("backup", "b"), ("since", "b")],
    ids=lambda command: command[0],
)
@pytest.mark.parametrize(
    ("change", "said"),
    [
        ("UPDATE alembic_version SET version_num = '0099'", ("a newer tally", "更新版本")),
        ("UPDATE alembic_version SET version_num = ''", ("is damaged", "已损坏")),
        ("DELETE FROM alembic_version", ("is damaged", "已损坏")),
        ("DROP TABLE entries", ("tables are gone: entries", "缺少表")),
    ],
)
def test_tables_that_are_not_as_they_should_be(
    store: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    *,
    command: tuple[str, ...],
    change: str,
    said: tuple[str, str],
) -> None:
    monkeypatch.chdir(tmp_path)
    with writes(engine_of(store)) as connection:
        connection.execute(text(change))
    for lang, words in zip(("en", "zh"), said, strict=True):
        assert run_application(["ledger", *command, "--lang", lang]) == ExitCode.FAILED
        told = capsys.readouterr()
        assert words in told.err
        assert told.out == ""


@pytest.mark.parametrize("at", [10**17, "noon"])
def test_a_moment_that_there_is_not_is_damage_and_no_crash(
    store: Path, capsys: pytest.CaptureFixture[str], at: object
) -> None:
    assert run_application(["ledger", "backup", f"{store}.jsonl"]) == 0
    with writes(engine_of(store)) as connection:
        connection.execute(text("UPDATE transactions SET at = :at WHERE seq = 9"), {"at": at})
    for command in (["tail"], ["export"], ["export", "--format", "focus", *PRICED]):
        assert run_application(["ledger", *command]) == ExitCode.FAILED
        assert "transaction 9" in (err := capsys.readouterr().err) or "a row" in err
        assert "the ledger's store is damaged" in err


def test_what_was_done_since_a_backup(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = str(tmp_path / "backup.jsonl")
    run_application(["ledger", "backup", file])
    capsys.readouterr()
    assert run_application(["ledger", "since", file]) == 0
    assert capsys.readouterr().out == (
        "0 transactions since the backup, which ends at transaction 9\n"
    )
    Store(engine_of(store), lambda: NOVEMBER + 60).do([freeze_of("f2", "train-8", H)])
    assert run_application(["ledger", "since", file]) == 0
    heading, row, last = capsys.readouterr().out.splitlines()
    assert heading.split()[:2] == ["SEQ", "AT"]
    assert row.split() == ["10", "2026-10-31T16:01:00Z", "freeze", "nlp/li.wei", "train-8", "1.00"]
    assert last == "1 transactions since the backup, which ends at transaction 9"
    assert run_application(["ledger", "since", file, "--lang", "zh"]) == 0
    assert "有 1 笔交易" in capsys.readouterr().out
    assert run_application(["ledger", "since", file, "-o", "json"]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["kind"] == "LedgerSince"
    assert (document["backupSeq"], document["count"]) == (9, 1)
    assert len(document["backupDigest"]) == 64
    assert document["items"] == [
        {
            "seq": 10,
            "at": "2026-10-31T16:01:00Z",
            "command": "freeze",
            "account": "nlp/li.wei",
            "subject": "train-8",
            "amount": H,
            "unit": "core-second/1000",
            "key": "f2",
            "by": None,
            "reason": None,
        }
    ]


@pytest.mark.parametrize("lang", ["en", "zh"])
def test_a_backup_of_another_ledger_or_course_is_told(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str
) -> None:
    """The store is brought back to transaction 9 and goes on in another way."""
    early, late, again = (str(tmp_path / name) for name in ("early", "late", "again.db"))
    run_application(["ledger", "backup", early])
    Store(engine_of(store), lambda: NOVEMBER + 60).do([freeze_of("f2", "train-8", H)])
    run_application(["ledger", "backup", late])
    run_application(["ledger", "restore", early, "--store", again])
    since = ["ledger", "since", late, "--store", again, "--lang", lang]
    capsys.readouterr()
    what = "another course of this one" if lang == "en" else "另一段历史"
    sentences = {
        "en": ("the store ends at transaction 9, and the backup at 10", "another transaction 10"),
        "zh": ("备份在第 10 笔", "第 10 笔交易与备份不同"),
    }
    for said in sentences[lang]:
        assert run_application(since) == ExitCode.FAILED
        told = capsys.readouterr()
        assert told.out == ""
        assert what in told.err
        assert said in told.err
        Store(engine_of(again), lambda: NOVEMBER + 60).do([freeze_of("f3", "train-9", H)])
    assert run_application(["ledger", "since", early, "--store", again]) == 0
    for content in ("", "SQLite format 3", "{}", '{"format":9,"seq":1,"at":1,"digest":"x"}\n'):
        (tmp_path / "none").write_text(content)
        assert run_application(["ledger", "since", str(tmp_path / "none")]) == ExitCode.FAILED
        assert "is no backup of a ledger" in capsys.readouterr().err
    assert run_application(["ledger", "since", str(tmp_path / "nowhere")]) == ExitCode.FAILED
    assert f"{tmp_path}/nowhere" in capsys.readouterr().err


@pytest.mark.parametrize(("lang", "why"), [("en", "was changed"), ("zh", "交易 4 已被改动")])
def test_a_backup_that_was_changed_is_named_and_not_the_store(
    store: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str, why: str
) -> None:
    assert store.exists()
    file = tmp_path / "changed.jsonl"
    run_application(["ledger", "backup", str(file)])
    lines = file.read_bytes().splitlines(keepends=True)
    lines[4] = lines[4].replace(b'"digest":"', b'"digest":"0')
    file.write_bytes(b"".join(lines))
    command = ["ledger", "restore", str(file), "--store", str(tmp_path / "new.db"), "--lang", lang]
    capsys.readouterr()
    assert run_application(command) == ExitCode.FAILED
    told = capsys.readouterr().err
    assert str(file) in told
    assert "new.db" not in told
    assert why in told


def test_a_slip_in_a_backups_name_makes_no_store(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    new = tmp_path / "new.db"
    command = ["ledger", "restore", str(tmp_path / "nofile"), "--store", str(new)]
    assert run_application(command) == ExitCode.FAILED
    assert "nofile" in capsys.readouterr().err
    assert not new.exists()


@pytest.mark.parametrize(("lang", "todo"), [("en", "tally ledger migrate"), ("zh", "请检查路径")])
def test_a_slip_in_a_stores_name_gets_advice_that_helps(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], lang: str, todo: str
) -> None:
    command = ["ledger", "verify", "--store", str(tmp_path / "nope.db"), "--lang", lang]
    assert run_application(command) == ExitCode.FAILED
    assert todo in capsys.readouterr().err
