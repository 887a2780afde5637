"""What makes a cached set stale, and how an entry appears and goes."""

from __future__ import annotations

import os
import shutil
import time
from pathlib import Path

import pytest

from lab.toolchain import pins
from lab.toolchain.cache import (
    ENTRY_UNUSED_SECONDS_MAX,
    LOGS_KEPT,
    Cache,
    default_root,
    set_key,
)
from lab.toolchain.failure import ToolchainError

LINUX = ("linux", "amd64")


@pytest.fixture
def go_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the pins that a test may change."""
    copy = tmp_path / "go"
    shutil.copytree(pins.GO_FOLDER, copy)
    monkeypatch.setattr(pins, "GO_FOLDER", copy)
    return copy


def _keys() -> dict[str, str]:
    return {s.name: set_key(s, LINUX) for s in pins.SETS}


@pytest.mark.parametrize("file", ["go.mod", "go.sum", "main.go"])
def test_a_change_of_pins_changes_the_key_of_that_set_alone(go_folder: Path, file: str) -> None:
    before = _keys()
    with (go_folder / "pulumi-kubernetes" / file).open("a", encoding="utf-8") as pin:
        pin.write("\n")
    changed = {name for name, key in _keys().items() if key != before[name]}
    assert changed == {"pulumi-kubernetes"}


def test_nothing_else_in_the_folder_changes_a_key(go_folder: Path) -> None:
    before = _keys()
    (go_folder / "kwok/NOTES.md").write_text("a note", encoding="utf-8")
    os.utime(go_folder / "kwok/go.mod", (0, 0))
    assert _keys() == before


def test_each_platform_has_its_own_key() -> None:
    kwok = next(s for s in pins.SETS if s.name == "kwok")
    assert set_key(kwok, LINUX) != set_key(kwok, ("linux", "arm64"))


@pytest.mark.parametrize(
    ("environ", "root"),
    [
        ({"HOME": "/home/li"}, "/home/li/.cache/tallyard"),
        ({"HOME": "/home/li", "XDG_CACHE_HOME": "/var/li"}, "/var/li/tallyard"),
        ({"XDG_CACHE_HOME": "/var/li", "TALLYARD_CACHE": "/data/t"}, "/data/t"),
    ],
)
def test_the_cache_lies_where_the_environment_says(environ: dict[str, str], root: str) -> None:
    assert default_root(environ) == Path(root)


def _finished(tool_set: pins.ToolSet, folder: Path) -> Path:
    for name in (*(f"bin/{p.name}" for p in tool_set.programs), "share/kwok-stages"):
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).touch()
    return folder


def test_a_published_set_is_found_and_a_damaged_one_is_not(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    kwok = next(s for s in pins.SETS if s.name == "kwok")
    assert cache.find(kwok) is None
    entry = cache.publish(kwok, _finished(kwok, tmp_path / "new"))
    assert cache.find(kwok) == entry
    entry.program("kwokctl").unlink()
    assert cache.find(kwok) is None
    assert cache.publish(kwok, _finished(kwok, tmp_path / "again")) == cache.find(kwok)


def test_files_alone_never_pass_for_a_whole_set(tmp_path: Path) -> None:
    cache = Cache(tmp_path / "cache")
    kwok = next(s for s in pins.SETS if s.name == "kwok")
    files = cache.publish(kwok, _finished(kwok, tmp_path / "new"), files_only=True)
    assert cache.find(kwok) is None
    assert cache.find(kwok, files_only=True) == files


def test_entries_that_nobody_uses_go_and_used_ones_stay(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    kwok = next(s for s in pins.SETS if s.name == "kwok")
    entry = cache.publish(kwok, _finished(kwok, tmp_path / "new"))
    old = tmp_path / "toolchain/kwok-0123456789abcdef"
    old.mkdir()
    left_behind = cache.work / "kueue-x1"
    left_behind.mkdir(parents=True)
    now = time.time()
    for folder in (old, entry.folder):
        os.utime(folder, (now, now - ENTRY_UNUSED_SECONDS_MAX - 60))
    assert cache.find(kwok) == entry  # use renews it
    assert cache.prune(now) == (old.name,)
    assert not left_behind.exists()
    assert cache.find(kwok) == entry


def test_only_the_latest_logs_are_kept(tmp_path: Path) -> None:
    cache = Cache(tmp_path)
    cache.logs.mkdir()
    for number in range(LOGS_KEPT + 5):
        log = cache.logs / f"{number}.log"
        log.touch()
        os.utime(log, (number, number))
    cache.prune(time.time())
    kept = sorted(int(log.stem) for log in cache.logs.iterdir())
    assert kept == list(range(5, LOGS_KEPT + 5))


def test_a_cache_that_cannot_be_written_is_one_message(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    cache = Cache(tmp_path / "file" / "cache")
    with (
        pytest.raises(
            ToolchainError, match=r"(?s)cannot be written: Not a directory.*TALLYARD_CACHE"
        ),
        cache.lock("kwok", print),
    ):
        pass
