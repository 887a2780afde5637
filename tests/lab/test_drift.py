"""A hand edit of every kind of managed object is seen by a preview and repaired by an `up`.

All of them at once, so that one preview and one `up` tell. `OWNED` fields are those that the spec
or a chart decides; `DEFAULTED` ones those that the API server would fill in by itself if nobody
rendered them, and that a hand edit could therefore change unseen. `ADDED` is what stands where
nothing was written: another element of a list, a restriction that opens a policy's gate. Pulumi
sees none of that; the program does, and an edit's field there is where the addition goes.
"""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import pytest

from lab.toolchain.ensure import Toolchain
from tallyard import labels
from tallyard.spec.model import Platform
from tests.running_lab import RunningLab

KUEUE = labels.KUEUE_NAMESPACE
OURS = f"metadata/labels/{labels.MANAGED_BY.replace('/', '~1')}"
# Of these every field that can be changed is owned, or is none that a server fills in.
WITHOUT_DEFAULTS = {
    "ClusterRole",
    "ClusterRoleBinding",
    "ConfigMap",
    "LimitRange",
    "Namespace",
    "PriorityClass",
    "ProjectTable",
    "ResourceFlavor",
    "Role",
    "RoleBinding",
    "Topology",
    "WorkloadPriorityClass",
}


@dataclass(frozen=True)
class Edit:
    """One field of one object, by its JSON pointer without the first slash, and another value."""

    kind: str
    name: str
    field: str
    value: Any
    namespace: str = ""

    def __str__(self) -> str:
        """Return it as a person reads it."""
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name} {self.field}"


def _mine(kind: str, name: str, namespace: str = "") -> Edit:
    """Return an edit of the label by which an object is ours: of what else is immutable."""
    return Edit(kind, name, OURS, "somebody", namespace)


SUBJECT = {"apiGroup": "rbac.authorization.k8s.io", "kind": "User", "name": "mallory"}
RULE = {"apiGroups": [""], "resources": ["secrets"], "verbs": ["get"]}
MUTATING, VALIDATING = (
    f"kueue-{kind}-webhook-configuration" for kind in ("mutating", "validating")
)
MANAGER = "kueue-controller-manager"
OWNED = (
    Edit("Namespace", "nlp", "metadata/labels/pod-security.kubernetes.io~1enforce", "privileged"),
    Edit("LimitRange", "container-defaults", "spec/limits/0/defaultRequest/cpu", "7", "nlp"),
    Edit("ClusterRole", labels.MEMBER_ROLE, "rules/0", RULE),
    Edit("ClusterRoleBinding", labels.OPERATOR_ROLE, "subjects/0", SUBJECT),
    Edit("RoleBinding", labels.MEMBER_ROLE, "subjects/0", SUBJECT, "nlp"),
    _mine("ServiceAccount", labels.CONTROLLERS, labels.SYSTEM_NAMESPACE),
    Edit("ConfigMap", labels.SPEC_CONFIG, "data/local.yaml", "{}", labels.SYSTEM_NAMESPACE),
    Edit("CustomResourceDefinition", "projecttables.tallyard.dev", "spec/names/singular", "tab"),
    Edit("ProjectTable", labels.PROJECT_TABLE, "spec/registry", "registry.example.org"),
    Edit("MutatingAdmissionPolicy", labels.STAMP_POLICY, "spec/failurePolicy", "Ignore"),
    Edit("MutatingAdmissionPolicyBinding", labels.STAMP_POLICY, "spec/paramRef/name", "other"),
    Edit("ValidatingAdmissionPolicy", labels.LOCK_POLICY, "spec/failurePolicy", "Ignore"),
    Edit(
        "ValidatingAdmissionPolicyBinding",
        labels.LOCK_POLICY,
        "spec/paramRef/parameterNotFoundAction",
        "Allow",
    ),
    Edit("PriorityClass", "training", "description", "edited"),
    Edit("WorkloadPriorityClass", "training", "value", 5),
    Edit("Cohort", "training", "spec/parentName", "elsewhere"),
    Edit("ClusterQueue", "nlp-training", "spec/fairSharing/weight", "9"),
    _mine("LocalQueue", "training", "nlp"),
    _mine("Topology", "cluster-"),
    Edit("ResourceFlavor", "training-a100-", f"metadata/annotations/{labels.DOMAIN}~1rate", "0"),
    Edit("Deployment", MANAGER, "spec/template/spec/containers/0/image", "x:1", KUEUE),
    Edit("Service", "kueue-webhook-service", "spec/ports/0/targetPort", 1, KUEUE),
    Edit("Role", "kueue-leader-election-role", "rules/0", RULE, KUEUE),
    Edit("ClusterRole", "kueue-manager-role", "rules/0", RULE),
    Edit("ConfigMap", "kueue-manager-config", "data/controller_manager_config.yaml", "", KUEUE),
    Edit("CustomResourceDefinition", "cohorts.kueue.x-k8s.io", "spec/names/singular", "co"),
    Edit("MutatingWebhookConfiguration", MUTATING, "webhooks/0/failurePolicy", "Ignore"),
    Edit("ValidatingWebhookConfiguration", VALIDATING, "webhooks/0/failurePolicy", "Ignore"),
)
DEFAULTED = (
    Edit(
        "ServiceAccount",
        labels.NODE_LABELLER,
        "automountServiceAccountToken",
        True,
        labels.SYSTEM_NAMESPACE,
    ),
    Edit("CustomResourceDefinition", "projecttables.tallyard.dev", "spec/names/listKind", "Tabs"),
    Edit(
        "MutatingAdmissionPolicy", labels.STAMP_POLICY, "spec/matchConstraints/matchPolicy", "Exact"
    ),
    Edit(
        "MutatingAdmissionPolicyBinding",
        labels.STAMP_POLICY,
        "spec/matchResources/matchPolicy",
        "Exact",
    ),
    Edit(
        "ValidatingAdmissionPolicy",
        labels.ELSEWHERE_POLICY,
        "spec/matchConstraints/matchPolicy",
        "Exact",
    ),
    Edit(
        "ValidatingAdmissionPolicyBinding",
        labels.ELSEWHERE_POLICY,
        "spec/matchResources/matchPolicy",
        "Exact",
    ),
    Edit("Cohort", "domestic", "spec/fairSharing/weight", "9"),
    Edit("ClusterQueue", "vision-training", "spec/queueingStrategy", "StrictFIFO"),
    Edit("LocalQueue", "training", "spec/stopPolicy", "Hold", "vision"),
    Edit(
        "Deployment", "jobset-controller", "spec/revisionHistoryLimit", 1, labels.JOBSET_NAMESPACE
    ),
    Edit(
        "Service",
        "jobset-webhook-service",
        "spec/sessionAffinity",
        "ClientIP",
        labels.JOBSET_NAMESPACE,
    ),
    Edit("MutatingWebhookConfiguration", MUTATING, "webhooks/1/matchPolicy", "Exact"),
    Edit("ValidatingWebhookConfiguration", VALIDATING, "webhooks/1/matchPolicy", "Exact"),
)
_HOLE = {"name": "hole", "expression": "false"}
_PODS = {
    "apiGroups": [""],
    "apiVersions": ["v1"],
    "operations": ["*"],
    "resources": ["pods"],
    "scope": "*",
}
_CONSTRAINTS = "spec/matchConstraints"
ADDED = (
    Edit("RoleBinding", labels.MEMBER_ROLE, "subjects/1", SUBJECT, "vision"),
    Edit("ClusterRoleBinding", "kueue-manager-rolebinding", "subjects/0", SUBJECT),
    Edit("ClusterRole", labels.OPERATOR_ROLE, "rules/0/verbs/0", "delete"),
    Edit("ClusterRole", "kueue-manager-role", "rules/1", RULE),
    Edit("Role", "kueue-leader-election-role", "rules/2", RULE, KUEUE),
    Edit(
        "ValidatingAdmissionPolicy",
        labels.LOCK_POLICY,
        f"{_CONSTRAINTS}/excludeResourceRules",
        [_PODS],
    ),
    Edit("ValidatingAdmissionPolicy", labels.ELSEWHERE_POLICY, "spec/matchConditions", [_HOLE]),
    Edit(
        "ValidatingAdmissionPolicyBinding",
        labels.ELSEWHERE_POLICY,
        "spec/matchResources/objectSelector/matchLabels",
        {"watched": "yes"},
    ),
    Edit("MutatingAdmissionPolicy", labels.STAMP_POLICY, "spec/matchConditions/0", _HOLE),
    Edit(
        "ValidatingAdmissionPolicyBinding",
        labels.LOCK_POLICY,
        "spec/matchResources/excludeResourceRules",
        [_PODS],
    ),
    Edit("ValidatingWebhookConfiguration", VALIDATING, "webhooks/0/matchConditions", [_HOLE]),
    Edit("MutatingWebhookConfiguration", MUTATING, "webhooks/0/rules/1", _PODS),
    Edit("PriorityClass", "inference", "globalDefault", True),
    Edit(
        "LimitRange",
        "container-defaults",
        "spec/limits/1",
        {"type": "PersistentVolumeClaim", "max": {"storage": "1Gi"}},
        "vision",
    ),
    Edit(
        "Deployment", MANAGER, "spec/template/spec/containers/0/args/1", "--zap-log-level=9", KUEUE
    ),
)


@dataclass(frozen=True)
class Story:
    """What an `up` found and did about the edits; values are by the edit's text."""

    edits: tuple[Edit, ...]
    before: Mapping[str, Any]
    edited: Mapping[str, Any]
    seen: subprocess.CompletedProcess[str]
    repaired: subprocess.CompletedProcess[str]
    after: Mapping[str, Any]


@pytest.fixture(scope="module")
def lab(
    tmp_path_factory: pytest.TempPathFactory, platform: Platform, toolchain: Toolchain
) -> Iterator[RunningLab]:
    """A lab whose administrator works by hand."""
    running = RunningLab(tmp_path_factory.mktemp("drift"), "drift", platform, toolchain)
    try:
        running.up(None)
        yield running
    finally:
        running.down()


@pytest.fixture(scope="module")
def story(lab: RunningLab) -> Story:
    """Edit everything by hand, preview, `up`."""
    edits = tuple(_found(lab, edit) for edit in (*OWNED, *DEFAULTED, *ADDED))
    before = _values(lab, edits)
    for edit in edits:
        change = [{"op": "replace", "path": f"/{edit.field}", "value": edit.value}]
        if edit in ADDED or before[str(edit)] is None:
            change[0]["op"] = "add"
        done = lab.kubectl("patch", *_place(edit), "--type=json", "-p", json.dumps(change))
        assert done.returncode == 0, f"{edit}: {done.stderr}"
    edited = _values(lab, edits)
    seen = lab.pulumi("preview", "--refresh", "--run-program", "--json")
    repaired = lab.pulumi("up", "--yes", "--skip-preview", "--refresh", "--run-program")
    return Story(edits, before, edited, seen, repaired, _values(lab, edits))


def test_every_kind_in_the_state_is_among_the_edits(lab: RunningLab) -> None:
    resources = json.loads(lab.pulumi("stack", "export").stdout)["deployment"]["resources"]
    kinds = {r["type"].rpartition(":")[2] for r in resources if r["type"].startswith("kubernetes:")}
    kinds.discard("Chart")
    assert kinds == {edit.kind for edit in OWNED}
    assert kinds == {edit.kind for edit in DEFAULTED} | WITHOUT_DEFAULTS


def test_the_edits_are_made(story: Story) -> None:
    assert len(story.edited) == len(OWNED) + len(DEFAULTED) + len(ADDED)
    for edit in story.edits:
        assert story.edited[str(edit)] == edit.value, edit
    assert [e for e, value in story.edited.items() if value == story.before[e]] == []


def test_a_preview_shows_every_edited_object(story: Story) -> None:
    assert story.seen.returncode == 0, story.seen.stdout + story.seen.stderr
    steps = json.loads(story.seen.stdout)["steps"]
    changed = {step["urn"]: step for step in steps if step["op"] not in {"same", "refresh"}}
    pulumis = [edit for edit in story.edits if edit not in ADDED]
    unseen = [str(edit) for edit in pulumis if not any(_is_of(u, edit) for u in changed)]
    assert not unseen
    assert {step["op"] for step in changed.values()} == {"update"}


def test_a_preview_warns_of_every_addition_and_changes_nothing(story: Story) -> None:
    told = [
        each["message"]
        for each in json.loads(story.seen.stdout)["diagnostics"]
        if each["severity"] == "warning"
    ]
    for edit in ADDED:
        place = f"{edit.namespace}/" if edit.namespace else ""
        (line,) = [each for each in told if f"{edit.kind} {place}{edit.name}: " in each]
        assert f" {_read(edit.field)} " in line.replace(",", " "), line
        assert "`pulumi up` takes it out" in line
    assert len(told) == len(ADDED)
    # Told twice: as it happens, and at the end.
    taken = re.findall(r"(?m)^.*was added by hand, and is taken out", story.repaired.stdout)
    assert len({each.rpartition("warning: ")[2] for each in taken}) == len(ADDED)


def _read(pointer: str) -> str:
    """Return a JSON pointer as a message has it."""
    return re.sub(r"/(\d+)", r"[\1]", pointer).replace("/", ".")


def test_an_up_repairs_every_edited_field(story: Story) -> None:
    assert story.repaired.returncode == 0, story.repaired.stdout + story.repaired.stderr
    left = [edit for edit, value in story.after.items() if value != story.before[edit]]
    assert not left


def test_a_further_preview_has_nothing_to_show(lab: RunningLab, story: Story) -> None:
    assert story.repaired.returncode == 0
    done = lab.pulumi("preview", "--refresh", "--run-program", "--expect-no-changes")
    assert done.returncode == 0, done.stdout + done.stderr


def _found(lab: RunningLab, edit: Edit) -> Edit:
    """Return an edit whose name, where it ends in a dash, is the whole name with its hash."""
    if not edit.name.endswith("-"):
        return edit
    names = [each["metadata"]["name"] for each in lab.get(edit.kind)["items"]]
    (name,) = [each for each in names if each.startswith(edit.name)]
    return Edit(edit.kind, name, edit.field, edit.value, edit.namespace)


def _values(lab: RunningLab, edits: Iterable[Edit]) -> Mapping[str, Any]:
    return {str(edit): _at(lab.get(*_place(edit)), edit.field) for edit in edits}


def _place(edit: Edit) -> tuple[str, ...]:
    return edit.kind, edit.name, *(("-n", edit.namespace) if edit.namespace else ())


def _at(found: Any, field: str) -> Any:
    for step in field.split("/"):
        key = step.replace("~1", "/")
        if isinstance(found, list):
            found = found[int(key)] if int(key) < len(found) else None
        else:
            found = found.get(key)
        if found is None:
            return None
    return found


def _is_of(urn: str, edit: Edit) -> bool:
    """Say whether a URN is that of an edited object, rendered by us or by a chart.

    Ours are named `kind/namespace/name`, a chart's `chart:namespace/name`, both without the
    namespace for what has none; the name of a role of ours has a colon.
    """
    _, _, type_, name = urn.split("::")
    place = f"{edit.namespace}/" if edit.namespace else ""
    # Kueue's chart writes a namespace to its webhook configurations, which have none.
    if edit.kind.endswith("WebhookConfiguration"):
        place = f"{KUEUE}/"
    ends = (f"{edit.kind.lower()}/{place}{edit.name}", f":{place}{edit.name}", f":{edit.name}")
    return type_.endswith(f":{edit.kind}") and name.endswith(ends)
