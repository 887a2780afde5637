"""What kwokctl is told, and which of its pids are believed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from lab import kwokctl
from lab.folder import LabFolder, lab_folder
from lab.kwokctl import COMPONENTS, PORTS, configuration

PROGRAMS = {name: Path("/tools") / name for name in (*COMPONENTS, "kubectl", "kwokctl", "pulumi")}
PORT_OF = {name: 10_000 + n for n, name in enumerate(PORTS)}


@pytest.fixture
def folder(tmp_path: Path) -> LabFolder:
    folder = lab_folder("demo", tmp_path)
    for part in ("pids", "bin"):
        (folder.cluster / part).mkdir(parents=True)
    return folder


def test_kwokctl_never_downloads_and_never_chooses_a_port() -> None:
    options = configuration(PROGRAMS, PORT_OF, Path("/s.yaml"))["options"]
    binaries = {k: v for k, v in options.items() if k.endswith("Binary")}
    assert len(binaries) == len(COMPONENTS) + 1
    assert all(value.startswith("/tools/") for value in binaries.values())
    ports = {v for k, v in options.items() if k.endswith("Port") and k != "securePort"}
    assert ports == set(PORT_OF.values())
    assert options["bindAddress"] == "127.0.0.1"


def test_every_check_of_the_api_server_is_on() -> None:
    config = configuration(PROGRAMS, PORT_OF, Path("/s.yaml"))
    assert config["options"]["securePort"]
    assert config["options"]["kubeAuthorization"]
    assert config["options"]["kubeAdmission"]
    patches = {patch["name"]: patch["extraArgs"] for patch in config["componentsPatches"]}
    (plugin,) = patches["kube-apiserver"]
    assert plugin["key"] == "enable-admission-plugins"
    assert plugin["value"].split(",") == ["NodeRestriction", "DenyServiceExternalIPs"]
    assert not plugin["override"]
    assert patches.keys() == set(COMPONENTS.values())


def test_each_controller_is_an_account_of_its_own() -> None:
    """As one administrator they would pass every check of access and every policy."""
    config = configuration(PROGRAMS, PORT_OF, Path("/s.yaml"))
    patches = {patch["name"]: patch["extraArgs"] for patch in config["componentsPatches"]}
    told = {argument["key"]: argument["value"] for argument in patches["kube-controller-manager"]}
    assert told == {"leader-elect": "false", "use-service-account-credentials": "true"}


@pytest.mark.parametrize(("is_small", "limit"), [(True, "400MiB"), (False, "off")])
def test_a_lab_for_a_load_has_no_bounds_of_memory(*, is_small: bool, limit: str) -> None:
    config = configuration(PROGRAMS, PORT_OF, Path("/s.yaml"), is_small=is_small)
    patches = {patch["name"]: patch["extraEnvs"] for patch in config["componentsPatches"]}
    assert patches["kube-apiserver"] == [{"name": "GOMEMLIMIT", "value": limit}]
    assert all((env["value"] == "off") != is_small for (env,) in patches.values())


def test_a_pid_of_another_program_or_folder_is_not_ours(folder: LabFolder) -> None:
    pid_file = kwokctl.pid_file(folder, "etcd")
    pid_file.write_text(str(os.getpid()))
    (folder.cluster / "bin" / "etcd").symlink_to("/bin/false")
    assert kwokctl.running(folder) == {}
    # Our own program by name, but it does not run in the cluster's folder.
    kwokctl.forget(folder, "etcd", Path(f"/proc/{os.getpid()}/exe").readlink())
    assert not pid_file.exists()
    pid_file.write_text(str(os.getpid()))
    assert kwokctl.running(folder) == {}


def test_our_program_in_our_folder_is_believed(
    folder: LabFolder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kwokctl.forget(folder, "kwok", Path(f"/proc/{os.getpid()}/exe").readlink())
    kwokctl.pid_file(folder, "kwok").write_text(str(os.getpid()))
    monkeypatch.chdir(folder.cluster)
    found = kwokctl.running(folder)
    assert set(found) == {"kwok"}
    assert found["kwok"].pid == os.getpid()
    assert found["kwok"].log.endswith("kwok-controller.log")


@pytest.mark.parametrize("content", ["", "x", "-1", "99999999"])
def test_a_pid_file_that_says_nothing_is_nobody(folder: LabFolder, content: str) -> None:
    kwokctl.pid_file(folder, "etcd").write_text(content)
    assert kwokctl.running(folder) == {}


def test_a_pid_file_that_is_not_written_yet_is_of_nothing_that_has_started(
    folder: LabFolder,
) -> None:
    assert not kwokctl.has_started(folder, "etcd")
    kwokctl.pid_file(folder, "etcd").write_text("")
    assert not kwokctl.has_started(folder, "etcd")
    kwokctl.pid_file(folder, "etcd").write_text("12\n")
    assert kwokctl.has_started(folder, "etcd")
