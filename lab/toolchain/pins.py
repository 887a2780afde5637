"""Which programs the lab needs, and from which pinned Go modules each is built.

Versions stand in the `go.mod` files and nowhere else; this file reads them. One folder
under `go/` is a *set*: programs that share a module graph and are built together.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

GO_FOLDER = Path(__file__).parent / "go"
GIB = 2**30

# pulumi-kubernetes releases are tagged without the provider's own prefix, so Go knows this
# release only by its commit. The Python SDK asks the engine for exactly this version.
PROVIDER_COMMIT = "v4.0.0-20260115033456-f47bc2d6f199"
PROVIDER_VERSION = "v4.25.0"


@dataclass(frozen=True)
class Program:
    """One program of a set.

    `version_arguments` make it tell its version, `version_pattern` finds it in the answer
    (first group); a program without them cannot tell, and is always built.
    """

    name: str
    package: str
    version_arguments: tuple[str, ...] = ()
    version_pattern: str = ""


@dataclass(frozen=True)
class Copy:
    """A file or folder of a module, kept beside the set's programs under the name `name`."""

    name: str
    module: str
    source: str


@dataclass(frozen=True)
class ToolSet:
    """What is built in one go from one `go.mod`.

    `stamps` are linker variables that receive the version (`{version}`; `{bare}` is
    the same without its `v`; `{major}`, `{minor}`).
    `embedded` are files copied into the sources before the build, because Go refuses to
    embed from another module. `seconds` and `memory_bytes` were measured on 2 cores with
    nothing compiled before.
    """

    name: str
    module: str
    programs: tuple[Program, ...]
    seconds: int
    memory_bytes: int
    stamps: tuple[str, ...] = ()
    copies: tuple[Copy, ...] = ()
    embedded: tuple[Copy, ...] = ()

    @property
    def folder(self) -> Path:
        """Where the set's go.mod and own sources are."""
        return GO_FOLDER / self.name


_KUBERNETES = "k8s.io/kubernetes"
_KUEUE = "sigs.k8s.io/kueue"
_JOBSET = "sigs.k8s.io/jobset"
_KWOK = "sigs.k8s.io/kwok"
_PULUMI = "github.com/pulumi/pulumi/pkg/v3"
_PULUMI_SDK = "github.com/pulumi/pulumi/sdk/v3"
_PROVIDER = "github.com/pulumi/pulumi-kubernetes/provider/v4"
_VERSION = r"v?(\d+\.\d+\.\d+\S*)"


def _kubernetes(name: str) -> Program:
    return Program(name, f"{_KUBERNETES}/cmd/{name}", ("--version",), rf"Kubernetes {_VERSION}")


SETS: tuple[ToolSet, ...] = (
    ToolSet(
        name="etcd",
        module="go.etcd.io/etcd/server/v3",
        programs=(
            Program(
                "etcd", "go.etcd.io/etcd/server/v3", ("--version",), rf"etcd Version: {_VERSION}"
            ),
        ),
        seconds=60,
        memory_bytes=1 * GIB,
    ),
    ToolSet(
        name="kwok",
        module=_KWOK,
        programs=(
            Program("kwok", f"{_KWOK}/cmd/kwok", ("--version",), rf"kwok version {_VERSION}"),
            Program(
                "kwokctl", f"{_KWOK}/cmd/kwokctl", ("--version",), rf"kwokctl version {_VERSION}"
            ),
        ),
        seconds=120,
        memory_bytes=1 * GIB,
        copies=(Copy("kwok-stages", _KWOK, "kustomize/stage"),),
    ),
    ToolSet(
        name="kubernetes",
        module=_KUBERNETES,
        programs=(
            _kubernetes("kube-apiserver"),
            _kubernetes("kube-controller-manager"),
            _kubernetes("kube-scheduler"),
            Program(
                "kubectl",
                f"{_KUBERNETES}/cmd/kubectl",
                ("version", "--client", "-o", "json"),
                r'"gitVersion": *"v?(\d+\.\d+\.\d+[^"]*)"',
            ),
        ),
        seconds=310,
        memory_bytes=2 * GIB,
        # Clients fail to parse the version of a build that was not stamped.
        stamps=tuple(
            f"{package}.{variable}"
            for package in ("k8s.io/component-base/version", "k8s.io/client-go/pkg/version")
            for variable in ("gitVersion={version}", "gitMajor={major}", "gitMinor={minor}")
        ),
    ),
    ToolSet(
        name="kueue",
        module=_KUEUE,
        programs=(
            Program("kueue", f"{_KUEUE}/cmd/kueue"),
            Program(
                "kubectl-kueue",
                f"{_KUEUE}/cmd/kueuectl",
                ("version",),
                rf"Client Version: {_VERSION}",
            ),
        ),
        seconds=190,
        memory_bytes=2 * GIB,
        stamps=("sigs.k8s.io/kueue/pkg/version.GitVersion={version}",),
        copies=(Copy("kueue-chart", _KUEUE, "charts/kueue"),),
    ),
    ToolSet(
        name="jobset",
        module=_JOBSET,
        programs=(Program("jobset", _JOBSET),),
        seconds=150,
        memory_bytes=2 * GIB,
        stamps=(f"{_JOBSET}/pkg/version.GitVersion={{version}}",),
        copies=(Copy("jobset-chart", _JOBSET, "charts/jobset"),),
    ),
    ToolSet(
        name="pulumi",
        module=_PULUMI,
        programs=(Program("pulumi", f"{_PULUMI}/cmd/pulumi", ("version",), _VERSION),),
        seconds=240,
        memory_bytes=2 * GIB,
        stamps=(f"{_PULUMI_SDK}/go/common/version.Version={{version}}",),
        copies=(
            Copy(
                "pulumi-language-python-exec",
                _PULUMI_SDK,
                "python/cmd/pulumi-language-python-exec",
            ),
        ),
    ),
    ToolSet(
        name="pulumi-kubernetes",
        module=_PROVIDER,
        programs=(Program("pulumi-resource-kubernetes", "."),),
        seconds=540,
        # Its linker was seen at 4.1 GB.
        memory_bytes=9 * GIB // 2,
        stamps=(f"{_PROVIDER}/pkg/version.Version={{bare}}",),
        embedded=tuple(
            Copy(name, _PROVIDER, f"cmd/pulumi-resource-kubernetes/{name}")
            for name in ("schema.json", "terraform-mapping.json")
        ),
    ),
)


@functools.cache
def module_versions(go_mod: Path) -> Mapping[str, str]:
    """Return the required version of every module that a go.mod names."""
    text = go_mod.read_text(encoding="utf-8")
    found = re.findall(r"^(?:require)?\s+(\S+) (v\S+)(?: //.*)?$", text, re.MULTILINE)
    return dict(found)


def version(tool_set: ToolSet) -> str:
    """Return the version that a set's programs tell, e.g. `v1.36.3`.

    Raises:
        KeyError: the set's go.mod does not require its module.
    """
    pinned = module_versions(tool_set.folder / "go.mod")[tool_set.module]
    return PROVIDER_VERSION if pinned == PROVIDER_COMMIT else pinned


def linker_flags(tool_set: ToolSet) -> str:
    """Return the `-ldflags` of a set: no debug tables, and the version where it belongs."""
    told = version(tool_set)
    bare = told.removeprefix("v")
    major, minor = bare.split(".")[:2]
    values = {"version": told, "bare": bare, "major": major, "minor": minor}
    stamps = (f"-X {stamp.format(**values)}" for stamp in tool_set.stamps)
    return " ".join(("-s", "-w", *stamps))


def go_floor() -> tuple[int, ...]:
    """Return the least version of Go that can build every set, from their `go` lines."""
    lines = (
        re.search(r"^go (\S+)$", (s.folder / "go.mod").read_text(encoding="utf-8"), re.MULTILINE)
        for s in SETS
    )
    return max(parse_version(line[1]) for line in lines if line)


def parse_version(text: str) -> tuple[int, ...]:
    """Return the numbers of a version as a tuple; a pre-release suffix is not looked at."""
    return tuple(int(n) for n in re.findall(r"\d+", re.split(r"[-+]", text, maxsplit=1)[0]))
