"""The folder of programs that the lab puts on PATH, and the provider's installation."""

from __future__ import annotations

import errno
import stat
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from lab.toolchain import found, pins
from lab.toolchain.failure import ToolchainError
from lab.toolchain.programs import PROVIDER, Toolchain, install_provider, link

PULUMI = """#!/bin/sh
{body}
mkdir -p "$PULUMI_HOME/plugins/resource-kubernetes-{version}"
cp "{provider}" "$PULUMI_HOME/plugins/resource-kubernetes-{version}/"
echo "$*" >>"{calls}"
"""


def _program(path: Path, script: str = "#!/bin/sh\necho here\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(script, encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.fixture
def toolchain(tmp_path: Path) -> Toolchain:
    programs = {name: _program(tmp_path / "built" / name) for name in ("etcd", "kubectl", "pulumi")}
    programs[PROVIDER] = _program(tmp_path / "built/provider" / PROVIDER)
    executor = _program(tmp_path / "built/pulumi-language-python-exec")
    charts = (tmp_path / "kueue", tmp_path / "jobset")
    return Toolchain(programs, *charts, tmp_path / "stages", executor)


def test_programs_are_real_files_with_the_language_host_beside_pulumi(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    link(toolchain, folder)
    for name in ("etcd", "kubectl", "pulumi"):
        assert not (folder / name).is_symlink()
        assert (folder / name).samefile(toolchain.programs[name])
    assert not (folder / PROVIDER).exists()
    host = folder / found.LANGUAGE_HOST
    assert host.stat().st_mode & stat.S_IXUSR
    assert "language_host.py" in host.read_text(encoding="utf-8")
    told = subprocess.run((str(host), "--help"), capture_output=True, text=True, check=True)
    assert "usage: pulumi-language-python" in told.stdout


def test_linking_again_repairs_the_folder(toolchain: Toolchain, tmp_path: Path) -> None:
    folder = tmp_path / "bin"
    link(toolchain, folder)
    (folder / "etcd").unlink()
    (folder / "kubectl").unlink()
    (folder / "kubectl").symlink_to("/nowhere")
    link(toolchain, folder)
    assert (folder / "etcd").samefile(toolchain.programs["etcd"])
    assert (folder / "kubectl").samefile(toolchain.programs["kubectl"])
    assert [p.name for p in folder.iterdir() if p.name.startswith(".")] == [found.OWN_FOLDER_MARK]


def test_an_official_pulumi_keeps_its_own_language_host(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    folder = tmp_path / "bin"
    link(replace(toolchain, language_exec=None, from_machine=frozenset({"pulumi"})), folder)
    assert not (folder / found.LANGUAGE_HOST).exists()
    told = subprocess.run((str(folder / "pulumi"),), capture_output=True, text=True, check=True)
    assert told.stdout == "here\n"
    assert not (folder / "pulumi").samefile(toolchain.programs["pulumi"])


def test_another_disk_gets_copies(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def other_device(*_: object) -> None:
        raise OSError(18, "Invalid cross-device link")

    monkeypatch.setattr("lab.toolchain.programs.os.link", other_device)
    link(toolchain, tmp_path / "bin")
    assert (tmp_path / "bin/etcd").read_bytes() == toolchain.programs["etcd"].read_bytes()
    assert (tmp_path / "bin/etcd").stat().st_mode & stat.S_IXUSR


def _pulumi(toolchain: Toolchain, tmp_path: Path, body: str = "") -> None:
    _program(
        toolchain.programs["pulumi"],
        PULUMI.format(
            body=body,
            version=pins.PROVIDER_VERSION,
            provider=toolchain.programs[PROVIDER],
            calls=tmp_path / "calls",
        ),
    )


def test_the_provider_is_installed_once_and_again_when_it_was_built_anew(
    toolchain: Toolchain, tmp_path: Path
) -> None:
    _pulumi(toolchain, tmp_path)
    for _ in range(2):
        install_provider(toolchain, tmp_path / "home")
    calls = (tmp_path / "calls").read_text(encoding="utf-8").splitlines()
    assert len(calls) == 1
    assert calls[0].startswith(f"plugin install resource kubernetes {pins.PROVIDER_VERSION}")
    _program(toolchain.programs[PROVIDER], "#!/bin/sh\necho another build\n")
    install_provider(toolchain, tmp_path / "home")
    assert len((tmp_path / "calls").read_text(encoding="utf-8").splitlines()) == 2


def test_a_refusal_of_pulumi_is_one_message(toolchain: Toolchain, tmp_path: Path) -> None:
    _pulumi(toolchain, tmp_path, body="echo 'error: disk is full' >&2; exit 255")
    with pytest.raises(ToolchainError, match="could not install the Kubernetes provider") as told:
        install_provider(toolchain, tmp_path / "home")
    assert "error: disk is full" in str(told.value)


def test_a_copy_that_does_not_fit_on_the_disk_leaves_nothing(
    toolchain: Toolchain, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EXDEV, "another disk")

    def half(_: Path, target: Path) -> None:
        target.write_bytes(b"half")
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("os.link", refuse)
    monkeypatch.setattr("shutil.copy2", half)
    with pytest.raises(OSError, match="No space left"):
        link(toolchain, tmp_path / "bin")
    assert [path for path in (tmp_path / "bin").iterdir() if path.stat().st_size] == []
