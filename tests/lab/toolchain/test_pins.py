"""The table of programs against the pinned modules that it is built from."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from lab.toolchain import pins

ROOT = Path(__file__).resolve().parents[3]
NEEDED = {
    "etcd",
    "kube-apiserver",
    "kube-controller-manager",
    "kube-scheduler",
    "kubectl",
    "kueue",
    "kubectl-kueue",
    "jobset",
    "kwok",
    "kwokctl",
    "pulumi",
    "pulumi-resource-kubernetes",
}


def test_every_program_of_the_lab_stands_in_one_set() -> None:
    names = [program.name for s in pins.SETS for program in s.programs]
    assert sorted(names) == sorted(NEEDED)


@pytest.mark.parametrize("tool_set", pins.SETS, ids=lambda s: s.name)
def test_every_package_is_pinned_as_a_tool_with_checksums(tool_set: pins.ToolSet) -> None:
    text = (tool_set.folder / "go.mod").read_text(encoding="utf-8")
    sums = (tool_set.folder / "go.sum").read_text(encoding="utf-8")
    versions = pins.module_versions(tool_set.folder / "go.mod")
    for program in tool_set.programs:
        assert program.package == "." or re.search(
            rf"\b{re.escape(program.package)}$", text, re.MULTILINE
        )
    for copy in (*tool_set.copies, *tool_set.embedded):
        assert f"{copy.module} {versions[copy.module]} h1:" in sums
    assert f"{tool_set.module} {versions[tool_set.module]} h1:" in sums


def test_versions_are_read_from_the_modules() -> None:
    told = {s.name: pins.version(s) for s in pins.SETS}
    kubernetes = (pins.GO_FOLDER / "kubernetes/go.mod").read_text(encoding="utf-8")
    assert f"k8s.io/kubernetes {told['kubernetes']}" in kubernetes
    assert all(re.fullmatch(r"v\d+\.\d+\.\d+", version) for version in told.values()), told


def test_the_provider_is_the_one_that_the_python_package_asks_for() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wanted = pins.PROVIDER_VERSION.removeprefix("v")
    assert f"pulumi-kubernetes=={wanted}" in project["dependencies"]


def test_kubernetes_is_stamped_with_its_version() -> None:
    kubernetes = next(s for s in pins.SETS if s.name == "kubernetes")
    version = pins.version(kubernetes)
    minor = version.split(".")[1]
    flags = pins.linker_flags(kubernetes)
    assert f"-X k8s.io/component-base/version.gitVersion={version}" in flags
    assert f"-X k8s.io/client-go/pkg/version.gitMinor={minor}" in flags


def test_the_staging_modules_of_kubernetes_share_one_version() -> None:
    text = (pins.GO_FOLDER / "kubernetes/go.mod").read_text(encoding="utf-8")
    replaced = re.findall(r"^\t(k8s\.io/\S+) => (\S+) (v\S+)$", text, re.MULTILINE)
    assert len(replaced) > 20
    kubernetes = next(s for s in pins.SETS if s.name == "kubernetes")
    staging = "v0" + pins.version(kubernetes).removeprefix("v1")
    assert {(old == new, version) for old, new, version in replaced} == {(True, staging)}


def test_the_floor_of_go_is_the_highest_of_the_sets() -> None:
    floors = [
        re.findall(r"^go (\S+)$", (s.folder / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
        for s in pins.SETS
    ]
    assert pins.go_floor() == max(pins.parse_version(found[0]) for found in floors)


@pytest.mark.parametrize(
    ("text", "numbers"),
    [("v1.36.3", (1, 36, 3)), ("1.32.4-dispatcher", (1, 32, 4)), ("1.27rc1", (1, 27, 1)), ("", ())],
)
def test_a_version_is_its_numbers(text: str, numbers: tuple[int, ...]) -> None:
    assert pins.parse_version(text) == numbers
