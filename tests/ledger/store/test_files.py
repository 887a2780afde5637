"""A file is there whole or not at all, and some are never written over."""

from __future__ import annotations

import os
import socket
import sqlite3
import threading
from contextlib import closing
from pathlib import Path

import pytest

from tallyard.ledger.store.engine import engine_of
from tallyard.ledger.store.files import Kept, NotReplacedError, refuse_the_store, whole_file


def _write(file: Path, content: bytes = b"new") -> None:
    with whole_file(file) as out:
        out.write(content)


def test_a_link_is_followed_and_the_rights_stay(tmp_path: Path) -> None:
    real, link, dangling = tmp_path / "real", tmp_path / "link", tmp_path / "dangling"
    real.write_text("old")
    real.chmod(0o640)
    link.symlink_to(real)
    dangling.symlink_to(tmp_path / "later")
    _write(link)
    _write(dangling)
    assert link.is_symlink()
    assert (real.read_bytes(), real.stat().st_mode & 0o777) == (b"new", 0o640)
    assert (tmp_path / "later").read_bytes() == b"new"
    assert len(list(tmp_path.iterdir())) == 4


def test_a_pipe_and_a_device_are_written_to(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read: list[bytes] = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()), daemon=True)
    reader.start()
    _write(pipe)
    reader.join(30)
    assert read == [b"new"]
    assert pipe.is_fifo()
    null = tmp_path / "null"
    null.symlink_to(os.devnull)
    _write(null)
    assert Path(os.devnull).is_char_device()


def test_what_is_open_already_is_written_through(tmp_path: Path) -> None:
    """As `tally ledger backup /dev/stdout > file`, where the shell holds the file."""
    with (tmp_path / "out").open("wb") as held:
        _write(Path(f"/dev/fd/{held.fileno()}"))
        assert os.fstat(held.fileno()).st_ino == (tmp_path / "out").stat().st_ino
    assert (tmp_path / "out").read_bytes() == b"new"


def test_a_folder_a_socket_and_a_database_are_not_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with closing(sqlite3.connect("x.db")) as raw, socket.socket(socket.AF_UNIX) as listening:
        raw.execute("CREATE TABLE t (a)")
        listening.bind("s")
        before = Path("x.db").read_bytes()
        for name, kept in (
            *(("/", Kept.FOLDER), (".", Kept.FOLDER), ("s", Kept.DEVICE), ("x.db", Kept.DATABASE)),
        ):
            with pytest.raises(NotReplacedError) as caught:
                _write(Path(name))
            assert (caught.value.kept, caught.value.filename) == (kept, name)
    assert Path("x.db").read_bytes() == before


def test_the_longest_name_is_written_and_a_longer_one_is_told_as_it_was_given(
    tmp_path: Path,
) -> None:
    _write(tmp_path / ("n" * 255))
    for name in ("n" * 256, "no/folder", "n" * 255 + "/below"):
        with pytest.raises(OSError, match=r"\[Errno") as caught:
            _write(tmp_path / name)
        assert caught.value.filename == str(tmp_path / name)
    assert len(list(tmp_path.iterdir())) == 1


def test_a_full_disk_is_told_with_the_name(tmp_path: Path) -> None:
    full = tmp_path / "full"
    full.symlink_to("/dev/full")
    with pytest.raises(OSError, match="No space left") as caught:
        _write(full)
    assert caught.value.filename == str(full)


def test_two_at_once_do_not_write_into_one_another(tmp_path: Path) -> None:
    file = tmp_path / "file"
    with whole_file(file) as one, whole_file(file) as other:
        one.write(b"one")
        other.write(b"the other")
    assert file.read_bytes() == b"one"
    assert len(list(tmp_path.iterdir())) == 1


def test_what_fails_on_the_way_leaves_what_was_there(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(file) as out:
        out.write(b"half" + None)  # type: ignore[operator]
    assert file.read_bytes() == b"old"
    assert len(list(tmp_path.iterdir())) == 1


def test_a_store_and_what_belongs_to_it_are_known_by_any_name(tmp_path: Path) -> None:
    store = tmp_path / "ledger.db"
    store.touch()
    (tmp_path / "link").symlink_to(store)
    (tmp_path / "hard").hardlink_to(store)
    for engine in (engine_of(store), engine_of(tmp_path / "link")):
        for name in ("ledger.db", "link", "hard", "ledger.db-wal", "ledger.db-shm"):
            with pytest.raises(NotReplacedError, match="the ledger itself"):
                refuse_the_store(engine, tmp_path / name)
        refuse_the_store(engine, tmp_path / "ledger.jsonl")
    refuse_the_store(engine_of("postgresql://u@h/x"), store)
