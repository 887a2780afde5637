"""Which programs of the machine's own stand in for the pinned ones."""

from __future__ import annotations

from pathlib import Path

import pytest

from lab.toolchain import found, pins
from tests.lab.toolchain.conftest import GoMachine

PROGRAMS = {program.name: program for s in pins.SETS for program in s.programs}


@pytest.mark.parametrize(
    ("program", "told", "pinned", "expected"),
    [
        ("kubectl", "v1.35.9", "v1.36.3", True),
        ("kubectl", "v1.37.0", "v1.36.3", True),
        ("kubectl", "v1.36.0-rc.1", "v1.36.3", True),
        ("kubectl", "v1.34.0", "v1.36.3", False),
        ("kubectl", "v2.36.3", "v1.36.3", False),
        ("kubectl", "", "v1.36.3", False),
        ("pulumi", "v3.274.0", "v3.274.1", True),
        ("pulumi", "v3.300.1", "v3.274.1", True),
        ("pulumi", "v3.273.9", "v3.274.1", False),
        ("pulumi", "v4.0.0", "v3.274.1", False),
        ("etcd", "3.7.3", "v3.7.3", True),
        ("etcd", "3.7.4", "v3.7.3", False),
        ("kube-apiserver", "1.36.3", "v1.36.3", True),
        ("kube-apiserver", "1.36.3-custom", "v1.36.3", False),
    ],
)
def test_a_version_fits_or_not(program: str, told: str, pinned: str, expected: bool) -> None:  # noqa: FBT001
    assert found.fits(program, told, pinned) is expected


def _look(machine: GoMachine, name: str, pinned: str) -> Path | None:
    return found.find(PROGRAMS[name], pinned, found.Machine.of(machine.environ))


def test_a_program_with_the_pinned_version_is_used(machine: GoMachine) -> None:
    etcd = machine.program("etcd", "#!/bin/sh\necho 'etcd Version: 3.7.3'\n")
    assert _look(machine, "etcd", "v3.7.3") == etcd
    assert _look(machine, "etcd", "v3.7.4") is None


def test_a_program_that_tells_its_version_and_then_fails_is_believed(machine: GoMachine) -> None:
    plugin = machine.program(
        "kubectl-kueue", "#!/bin/sh\necho 'Client Version: v0.17.0'\necho no cluster >&2\nexit 1\n"
    )
    assert _look(machine, "kubectl-kueue", "v0.17.0") == plugin


def test_a_program_that_cannot_tell_its_version_is_built(machine: GoMachine) -> None:
    machine.program("kueue", "#!/bin/sh\necho v0.17.0\n")
    assert _look(machine, "kueue", "v0.17.0") is None


def test_a_program_that_does_not_run_is_built(machine: GoMachine) -> None:
    machine.program("etcd", "#!/bin/sh\nexit 127\n")
    assert _look(machine, "etcd", "v3.7.3") is None


def test_asking_for_a_version_does_not_touch_the_persons_cluster(machine: GoMachine) -> None:
    machine.program("kubectl", '#!/bin/sh\nprintf \'"gitVersion": "v1.36.%s"\' "$KUBECONFIG"\n')
    told = found.told_version(
        machine.root / "bin/kubectl", PROGRAMS["kubectl"], found.Machine.of(machine.environ)
    )
    assert told == ""  # the path of the null device is no number


def test_pulumi_counts_only_with_its_language_host(machine: GoMachine) -> None:
    pulumi = machine.program("pulumi", "#!/bin/sh\necho v3.290.0\n")
    assert _look(machine, "pulumi", "v3.274.1") is None
    machine.program(found.LANGUAGE_HOST, "#!/bin/sh\n")
    assert _look(machine, "pulumi", "v3.274.1") == pulumi


def test_our_own_folder_on_path_is_not_the_machines(machine: GoMachine) -> None:
    machine.program("pulumi", "#!/bin/sh\necho v3.274.1\n")
    machine.program(found.LANGUAGE_HOST, "#!/bin/sh\n")
    (machine.root / "bin" / found.OWN_FOLDER_MARK).touch()
    assert _look(machine, "pulumi", "v3.274.1") is None


def test_an_installed_provider_is_used_once_it_is_whole(machine: GoMachine) -> None:
    plugins = machine.root / "home/.pulumi/plugins"
    folder = plugins / f"resource-kubernetes-{pins.PROVIDER_VERSION}"
    assert _look(machine, "pulumi-resource-kubernetes", pins.PROVIDER_VERSION) is None
    folder.mkdir(parents=True)
    provider = folder / "pulumi-resource-kubernetes"
    provider.touch()
    assert _look(machine, "pulumi-resource-kubernetes", pins.PROVIDER_VERSION) == provider
    (plugins / f"{folder.name}.partial").touch()
    assert _look(machine, "pulumi-resource-kubernetes", pins.PROVIDER_VERSION) is None
