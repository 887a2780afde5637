"""The cases of the admission policies (`tests/data/admission`) and where they are tried.

Each set of policies that a test makes is bound to namespaces with a label of its own, so that
several are tried on one API server at once: the policies as they are shipped, and twice with a
switch at each rule. A request names in an annotation the rule to be without.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

from tallyard import labels
from tallyard.render.admission import cel
from tallyard.render.admission.locks import FIRST, LOCKS
from tallyard.render.admission.policies import (
    lock_binding,
    lock_policy,
    stamp_binding,
    stamp_policy,
)
from tallyard.render.admission.stamps import STAMPS
from tallyard.render.admission.table import definition_manifest, table_manifest
from tallyard.render.manifest import Manifest
from tallyard.render.priorities import priority_manifests
from tallyard.spec.model import Platform
from tests.lab.gate import Gate, gate_of, merged
from tests.running_lab import RunningLab, counted

DATA = Path(__file__).resolve().parents[1] / "data" / "admission"
POLICY_LABEL = "test.tallyard.dev/policy"
WITHOUT, UNSTAMPED = "test.tallyard.dev/without", "test.tallyard.dev/unstamped"
LOGIN = "oidc:li.wei@corp.example"

# As shipped; with switches; with switches, and nothing is refused.
WHOLE, LOCKED, STAMPED = "whole", "locked", "stamped"
# On two cores and beside other tests.
_HOLDS_SECONDS_MAX = 240
# One that the spec does not name is among them.
PROJECTS = ("nlp", "vision", "ghost")


@dataclass(frozen=True)
class Case:
    """A request. `change` is merged into a base; `then` into what was stored, as an update.

    Attributes:
        rule: The lock or stamp that it is about.
        kind: `allowed` or `denied`, `stamped` or `left`.
        what: In words, what is special.
        base: A key of `bases.yaml`.
        login: Who submits.
        changer: Who makes the update, if somebody else.
        containers: How many copies of its container the pod has, if not one.
        labels: How many labels of its own the object has.
        without: The lock whose absence is tried.
        unstamped: The stamp whose absence is tried.
        says: A piece of the sentence.
        stored: What the stored object has, by JSON pointer.
    """

    rule: str
    kind: str
    what: str
    base: str
    change: Mapping[str, Any] = field(default_factory=dict)
    then: Mapping[str, Any] | None = None
    login: str = LOGIN
    changer: str = ""
    project: str = "nlp"
    says: str = ""
    stored: Mapping[str, Any] = field(default_factory=dict)
    containers: int = 0
    labels: int = 0
    without: str = ""
    unstamped: str = ""

    @property
    def content(self) -> dict[str, Any]:
        """Return the object that is sent."""
        content: dict[str, Any] = deepcopy(merged(BASES[self.base], dict(self.change)))
        if self.containers:
            pod = content["spec"].get("template", content)["spec"]
            (one,) = pod["containers"]
            pod["containers"] = [{**one, "name": f"c{n}"} for n in range(self.containers)]
        for number in range(self.labels):
            content["metadata"]["labels"][f"label-{number}"] = ""
        for key, rule in ((WITHOUT, self.without), (UNSTAMPED, self.unstamped)):
            if rule:
                content["metadata"].setdefault("annotations", {})[key] = rule
        return content

    def __str__(self) -> str:
        return f"{self.rule}: {self.kind}: {self.what}"


BASES: Mapping[str, Mapping[str, Any]] = yaml.safe_load((DATA / "bases.yaml").read_text())


def cases(folder: str) -> tuple[Case, ...]:
    """Return the cases of all rules of a folder, `locks` or `stamps`."""
    return tuple(
        Case(rule=file.stem, kind=kind, **case)
        for file in sorted((DATA / folder).glob("*.yaml"))
        for kind, told in yaml.safe_load(file.read_text()).items()
        for case in told
    )


def namespaces() -> list[dict[str, Any]]:
    """Return a namespace for each set of policies and project, with production's Pod Security."""
    return [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {
                "name": f"{kind}-{project}",
                "labels": {
                    POLICY_LABEL: kind,
                    labels.PROJECT: project,
                    # Where nothing is refused nothing is refused by it either.
                    f"pod-security.kubernetes.io/{'audit' if kind == STAMPED else 'enforce'}": (
                        "restricted"
                    ),
                },
            },
        }
        for kind in (WHOLE, LOCKED, STAMPED)
        for project in PROJECTS
    ]


def policies() -> tuple[Manifest, ...]:
    """Return the policies and their bindings: a rule that a request is without is not there."""
    stamps = [replace(s, patches=_unless(UNSTAMPED, s.name, s.patches)) for s in STAMPS]
    locks = [replace(k, faults=_unless(WITHOUT, k.name, k.faults)) for k in LOCKS]
    first = [replace(k, faults=_unless(WITHOUT, k.name, k.faults)) for k in FIRST]
    return (
        stamp_policy(name=WHOLE),
        lock_policy(name=WHOLE),
        stamp_policy(stamps, STAMPED),
        lock_policy(locks, LOCKED, first=first),
        stamp_binding(WHOLE, _selector(WHOLE)),
        lock_binding(WHOLE, _selector(WHOLE)),
        stamp_binding(STAMPED, _selector(STAMPED, LOCKED)),
        lock_binding(LOCKED, _selector(LOCKED)),
    )


def _unless(key: str, rule: str, does: str) -> str:
    named = cel.annotation("object.metadata", key)
    return cel.where(f"{named}.orValue('') != {cel.text(rule)}", f"({does})")


def _selector(*names: str) -> list[dict[str, Any]]:
    return [{"key": POLICY_LABEL, "operator": "In", "values": list(names)}]


def at(content: Any, pointer: str) -> Any:
    """Return what stands at a JSON pointer (RFC 6901); None where nothing does."""
    for step in pointer.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        try:
            content = content[int(key)] if isinstance(content, list) else content[key]
        except (LookupError, ValueError, TypeError):
            return None
    return content


@contextmanager
def gate_with_policies(lab: RunningLab, platform: Platform, job_sets: Path) -> Iterator[Gate]:
    """Ask at a bare control plane in which all of the above holds; it stays there.

    Several workers may do this, one after another; what they apply is the same.

    Args:
        lab: a bare control plane.
        platform: the spec.
        job_sets: the folder with JobSet's definition.
    """
    with counted(lab.base / "admission.lock", 0):
        _make(lab, platform, job_sets)
    with gate_of(lab.folder.admin) as gate:
        _wait_until_they_hold(gate)
        yield gate


def _make(lab: RunningLab, platform: Platform, job_sets: Path) -> None:
    definitions = [yaml.safe_load(file.read_text()) for file in job_sets.glob("*.yaml")]
    assert definitions
    definitions.append(dict(definition_manifest().object))
    _apply(lab, definitions)
    names = [f"crd/{definition['metadata']['name']}" for definition in definitions]
    deadline = time.monotonic() + _HOLDS_SECONDS_MAX
    # kubectl gives up on what has no conditions yet.
    while lab.kubectl("wait", "--for=condition=Established", *names).returncode != 0:
        assert time.monotonic() < deadline, f"not established: {names}"
        time.sleep(0.2)
    classes = [dict(m.object) for m in priority_manifests(platform) if m.kind == "PriorityClass"]
    _apply(lab, [dict(table_manifest(platform).object), *classes, *namespaces()])
    # The API server compiles each before it answers, and kubectl waits for a minute.
    for policy in policies():
        _apply(lab, [dict(policy.object)])


def _apply(lab: RunningLab, objects: list[dict[str, Any]]) -> None:
    made = lab.kubectl("apply", "--server-side", "-f", "-", objects=objects)
    assert made.returncode == 0, made.stderr


def _wait_until_they_hold(gate: Gate) -> None:
    """Wait until work is stamped and broken work is refused in each namespace."""
    work = deepcopy(BASES["job-set"])
    broken = merged(BASES["job"], {"spec": {"template": {"spec": {"nodeName": "a100-00"}}}})
    logins = {"vision": "zhao.min"}
    deadline = time.monotonic() + _HOLDS_SECONDS_MAX
    for space in namespaces():
        name = space["metadata"]["name"]
        policies, project = name.split("-")
        login = logins.get(project, LOGIN)

        def holds(name: str = name, policies: str = policies, login: str = login) -> bool:
            refused = gate.create(broken, login, name)
            if policies != STAMPED:
                return " [" in refused.reason
            stored = gate.create(work, login, name).stored or {}
            return labels.LOGIN in stored.get("metadata", {}).get("annotations", {})

        while not holds():
            assert time.monotonic() < deadline, f"no policy holds in {name}"
            time.sleep(0.2)
