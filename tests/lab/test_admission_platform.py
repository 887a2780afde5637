"""The admission policies beside all else that looks at a request: roles, Kueue, JobSet, limits.

They are those of the shipped spec, as `pulumi up` has made them.
"""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from typing import Any

import pytest

from tallyard import labels
from tests.lab.admission import BASES, LOGIN, Case, at, cases
from tests.lab.gate import Gate, gate_of
from tests.running_lab import RunningLab

# Who may submit work by a role of the project; others are refused before any policy is asked.
TENANTS = {LOGIN, "chen.yu", "zhao.min"}


def _is_tenants(case: Case) -> bool:
    """Say whether a case can be tried by a tenant at once, without anything that is stored."""
    return (
        case.login in TENANTS
        and case.then is None
        and not case.unstamped
        and case.project != "ghost"
    )


DENIED = [
    c
    for c in cases("locks")
    # A login of another project has no role in this one.
    if c.kind == "denied" and _is_tenants(c) and c.rule != "user-known"
]
LET_IN = [c for c in cases("locks") if c.kind == "allowed" and _is_tenants(c)]
STAMPED = [c for c in cases("stamps") if _is_tenants(c) and not c.without]

CONTROLLERS = (
    "system:kube-controller-manager",
    *(
        labels.account_login("kube-system", f"{name}-controller")
        for name in ("job", "cronjob", "replicaset", "statefulset", "deployment")
    ),
    labels.account_login(labels.KUEUE_NAMESPACE, labels.KUEUE_ACCOUNT),
    labels.account_login(labels.JOBSET_NAMESPACE, labels.JOBSET_ACCOUNT),
)
TENANT_ACCOUNT = labels.account_login("nlp", "default")
MASTERS = ("system:masters",)


@pytest.fixture(scope="module")
def gate(full_lab: RunningLab) -> Iterator[Gate]:
    with gate_of(full_lab.folder.admin) as gate:
        yield gate


# What somebody else refuses before the locks are asked, and by which words.
OTHERS_FIRST = {
    # JobSet's webhook fills in, and the result has not the form of the schema.
    "form-whole": "is invalid: [spec.replicatedJobs",
    # Kueue's webhooks look for the owner; this one is not there.
    "owners-true": "not found",
    "scheduler-asked: denied: a pod's host": "cannot be set until all schedulingGates",
}
# Kueue writes over it what is right.
REPAIRED = "kueue-keys: denied: a service whose pods name another parent"


@pytest.mark.parametrize("case", [c for c in DENIED if str(c) != REPAIRED], ids=str)
def test_a_tenant_is_refused_with_our_sentence(gate: Gate, case: Case) -> None:
    reason = gate.create(case.content, case.login, case.project, groups=()).reason
    others = OTHERS_FIRST.get(case.rule) or OTHERS_FIRST.get(str(case))
    if others:
        assert others in reason
    else:
        assert f"[{case.rule}]" in reason
        assert case.says in reason


def test_kueue_says_itself_whose_the_pods_of_a_service_are(gate: Gate) -> None:
    (case,) = (c for c in DENIED if str(c) == REPAIRED)
    stored = gate.create(case.content, case.login, case.project, groups=()).stored
    parent = labels.PARENT_FRAMEWORK.replace("/", "~1")
    assert at(stored, f"/spec/template/metadata/annotations/{parent}") == "deployment"


@pytest.mark.parametrize("case", LET_IN, ids=str)
def test_a_tenant_is_let_in(gate: Gate, case: Case) -> None:
    verdict = gate.create(case.content, case.login, case.project, groups=())
    assert verdict.is_allowed, verdict.reason


@pytest.mark.parametrize("case", STAMPED, ids=str)
def test_what_is_filled_in_passes_all_others(gate: Gate, case: Case) -> None:
    verdict = gate.create(case.content, case.login, case.project, groups=())
    assert verdict.is_allowed, verdict.reason


@pytest.mark.parametrize("base", sorted(set(BASES) - {"admitted-job"}))
def test_each_kind_that_a_tenant_submits_has_its_project_and_user(gate: Gate, base: str) -> None:
    verdict = gate.create(deepcopy(dict(BASES[base])), LOGIN, "nlp", groups=())
    assert verdict.stored, verdict.reason
    assert at(verdict.stored, "/metadata/labels/tallyard.dev~1project") == "nlp"
    assert at(verdict.stored, "/metadata/labels/tallyard.dev~1user") == "li.wei"


def test_a_bare_pod_has_what_goes_with_its_cards_in_spite_of_the_defaults(gate: Gate) -> None:
    """The namespace's LimitRange fills a bare pod in before any policy sees it."""
    content = deepcopy(dict(BASES["pod"]))
    content["spec"]["containers"][0]["resources"] = {"limits": {"nvidia.com/gpu": 2}}
    stored = gate.create(content, LOGIN, "nlp", groups=()).stored
    resources = at(stored, "/spec/containers/0/resources")
    assert resources["limits"] == {"nvidia.com/gpu": "2", "memory": "8Gi"}
    assert (resources["requests"]["cpu"], resources["requests"]["memory"]) == ("8", "8Gi")
    assert resources["requests"]["ephemeral-storage"] == "20Gi"


def test_what_a_bare_pod_says_itself_is_kept_in_spite_of_the_defaults(gate: Gate) -> None:
    content = deepcopy(dict(BASES["pod"]))
    content["spec"]["containers"][0]["resources"] = {
        "limits": {"nvidia.com/gpu": 1},
        "requests": {"memory": "9Gi"},
    }
    stored = gate.create(content, LOGIN, "nlp", groups=()).stored
    resources = at(stored, "/spec/containers/0/resources")
    assert resources["limits"] == {"nvidia.com/gpu": "1"}
    assert (resources["requests"]["cpu"], resources["requests"]["memory"]) == ("4", "9Gi")


def _odd(kind: str) -> dict[str, Any]:
    """Return what no person may submit."""
    content = deepcopy(dict(BASES[kind]))
    pod = content["spec"] if kind == "pod" else content["spec"]["template"]["spec"]
    pod["tolerations"] = [{"key": labels.POOL_TAINT, "operator": "Exists"}]
    content["metadata"]["labels"] = {labels.QUEUE_NAME: "training"}
    # Pod Security is for everybody, and controllers make pods of what was filled in.
    pod["securityContext"] = {
        "runAsNonRoot": True,
        "runAsUser": 1000,
        "seccompProfile": {"type": "RuntimeDefault"},
    }
    pod["containers"][0]["securityContext"] = {
        "allowPrivilegeEscalation": False,
        "capabilities": {"drop": ["ALL"]},
    }
    return content


@pytest.mark.parametrize("kind", ["job", "pod"])
@pytest.mark.parametrize("login", CONTROLLERS)
def test_the_cluster_itself_is_never_refused(gate: Gate, login: str, kind: str) -> None:
    verdict = gate.create(_odd(kind), login, "nlp", groups=MASTERS)
    assert verdict.is_allowed, verdict.reason


@pytest.mark.parametrize("kind", ["job", "pod"])
@pytest.mark.parametrize(
    "login",
    [
        TENANT_ACCOUNT,
        labels.account_login("default", "job-controller"),
        labels.account_login("kube-systems", "job-controller"),
        "system:kube-controller-managers",
        "kubernetes-admin",
    ],
)
def test_nobody_passes_as_the_cluster_who_is_not(gate: Gate, login: str, kind: str) -> None:
    reason = gate.create(_odd(kind), login, "nlp", groups=MASTERS).reason
    assert "[user-known]" in reason
    assert "[taints-kept]" in reason


@pytest.mark.parametrize("space", ["kube-system", labels.KUEUE_NAMESPACE, labels.JOBSET_NAMESPACE])
def test_in_the_systems_namespaces_pods_with_cards_run(gate: Gate, space: str) -> None:
    content = _odd("pod")
    content["metadata"]["labels"] = {}
    verdict = gate.create(content, "kubernetes-admin", space, groups=MASTERS)
    assert verdict.is_allowed, verdict.reason


@pytest.mark.parametrize("space", ["default", "kube-system", labels.KUEUE_NAMESPACE])
@pytest.mark.parametrize("base", ["cpu-pod", "cpu-job", "cpu-deployment"])
def test_work_without_cards_is_nobodys_matter_elsewhere(gate: Gate, space: str, base: str) -> None:
    verdict = gate.create(deepcopy(dict(BASES[base])), "kubernetes-admin", space, groups=MASTERS)
    assert verdict.is_allowed, verdict.reason
    assert labels.USER not in (at(verdict.stored, "/metadata/labels") or {})


def test_a_daemon_elsewhere_may_tolerate_everything(gate: Gate) -> None:
    """What looks after hosts runs on all of them."""
    content = deepcopy(dict(BASES["cpu-pod"]))
    content["spec"]["tolerations"] = [{"operator": "Exists"}]
    verdict = gate.create(content, "kubernetes-admin", "default", groups=MASTERS)
    assert verdict.is_allowed, verdict.reason


_ELSEWHERE = (
    "namespace default is of no project, and cards and the hosts that have them are given through "
    "the queues of projects: submit this in the namespace of a project [cards-elsewhere]"
)


@pytest.mark.parametrize(
    "resource", ["nvidia.com/gpu", "nvidia.com/gpu.shared", "cambricon.com/mlu"]
)
@pytest.mark.parametrize("part", ["containers", "initContainers"])
def test_elsewhere_there_are_no_cards(gate: Gate, resource: str, part: str) -> None:
    content = deepcopy(dict(BASES["cpu-pod"]))
    asks = {"name": "asks", "image": "x", "resources": {"limits": {resource: 1}}}
    content["spec"].setdefault(part, []).append(asks)
    logins = ("kubernetes-admin", labels.account_login("kube-system", "job-controller"))
    for login in logins:
        assert _ELSEWHERE in gate.create(content, login, "default", groups=MASTERS).reason


def test_elsewhere_nobody_tolerates_a_pool(gate: Gate) -> None:
    content = deepcopy(dict(BASES["cpu-pod"]))
    content["spec"]["tolerations"] = [{"key": labels.POOL_TAINT, "operator": "Exists"}]
    assert _ELSEWHERE in gate.create(content, "kubernetes-admin", "default", groups=MASTERS).reason
