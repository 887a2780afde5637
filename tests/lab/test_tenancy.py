"""Who may do what, asked of a real API server: every verb on every resource that it serves."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pytest

from tallyard import labels
from tests.lab import work
from tests.running_lab import RunningLab

READ = frozenset({"get", "list", "watch"})
WRITE = frozenset({"create", "delete", "deletecollection", "patch", "update"})
VERBS = READ | WRITE
ALL = VERBS
# Kubernetes gives everybody the right to ask about themselves.
EVERYBODY = {
    "selfsubjectaccessreviews.authorization.k8s.io": frozenset({"create"}),
    "selfsubjectrulesreviews.authorization.k8s.io": frozenset({"create"}),
    "selfsubjectreviews.authentication.k8s.io": frozenset({"create"}),
}
READER = {
    **EVERYBODY,
    **dict.fromkeys(
        (
            "clusterqueues.kueue.x-k8s.io",
            "cohorts.kueue.x-k8s.io",
            "resourceflavors.kueue.x-k8s.io",
            "topologies.kueue.x-k8s.io",
            "workloadpriorityclasses.kueue.x-k8s.io",
            "priorityclasses.scheduling.k8s.io",
        ),
        READ,
    ),
}
KEPT = ALL - {"deletecollection"}
MEMBER = {
    **READER,
    **dict.fromkeys(
        (
            "jobs.batch",
            "cronjobs.batch",
            "deployments.apps",
            "deployments.apps/scale",
            "statefulsets.apps",
            "statefulsets.apps/scale",
            "jobsets.jobset.x-k8s.io",
        ),
        ALL,
    ),
    **dict.fromkeys(("configmaps", "persistentvolumeclaims", "secrets", "services"), KEPT),
    # A pod is made and unmade, never changed.
    "pods": ALL - {"patch", "update"},
    "pods/exec": frozenset({"create", "get"}),
    "pods/portforward": frozenset({"create", "get"}),
    **dict.fromkeys(
        (
            "events",
            "events.events.k8s.io",
            "pods/log",
            "replicasets.apps",
            "localqueues.kueue.x-k8s.io",
            "workloads.kueue.x-k8s.io",
        ),
        READ,
    ),
}
ADMIN = {
    **MEMBER,
    "serviceaccounts": KEPT,
    "serviceaccounts/token": frozenset({"create"}),
    "rolebindings.rbac.authorization.k8s.io": KEPT,
    "limitranges": READ,
    "resourcequotas": READ,
}
LOGINS = {
    "member": ("oidc:li.wei@corp.example", ()),
    "admin": ("chen.yu", ()),
    "operator": ("someone", (labels.OPERATOR_GROUP,)),
    "reader": ("zhao.min", ()),
    "stranger": ("nobody.known", ()),
}
TABLE: Mapping[str, Mapping[str, frozenset[str]]] = {
    "member": MEMBER,
    "admin": ADMIN,
    # The member of another project.
    "reader": READER,
    "stranger": EVERYBODY,
}
_PAGE = 400
type Resource = tuple[str, bool]


@pytest.fixture(scope="module")
def served(full_lab: RunningLab) -> tuple[Resource, ...]:
    """Every resource and part of one that the server has, and whether it is in namespaces."""
    found = []
    for path, group in _paths(full_lab):
        for each in _raw(full_lab, path)["resources"]:
            name, slash, part = each["name"].partition("/")
            whole = f"{name}.{group}" if group else name
            found.append((f"{whole}{slash}{part}", bool(each["namespaced"])))
    # Of a group with two versions each resource comes twice.
    return tuple(dict.fromkeys(found))


@pytest.mark.parametrize("who", sorted(TABLE))
def test_each_role_may_do_what_the_table_says_and_nothing_else(
    who: str, full_lab: RunningLab, served: tuple[Resource, ...]
) -> None:
    names = {name for name, _ in served}
    assert len(names) > 100
    assert set(TABLE[who]) - names == set()
    expected = {(name, verb) for name, verbs in TABLE[who].items() for verb in verbs}
    assert _allowed(full_lab, who, served, "nlp") == expected


def test_an_admin_of_one_project_is_nobody_in_the_next(
    full_lab: RunningLab, served: tuple[Resource, ...]
) -> None:
    for namespace in ("vision", "kube-system"):
        allowed = _allowed(full_lab, "admin", served, namespace)
        names = {name for name, _ in allowed}
        assert names == {name for name in READER if (name, True) not in served}


def test_an_operator_reads_all_projects_and_writes_nothing(
    full_lab: RunningLab, served: tuple[Resource, ...]
) -> None:
    allowed = _allowed(full_lab, "operator", served, "nlp")
    written = {(name, verb) for name, verb in allowed if verb in WRITE}
    assert written == {(name, "create") for name in EVERYBODY}
    read = {name for name, verb in allowed if verb == "list"}
    assert {"pods", "nodes", "workloads.kueue.x-k8s.io", "jobs.batch", "limitranges"} <= read
    # What people keep secret is no operator's business.
    assert not read & {"secrets", "configmaps"}


@pytest.mark.parametrize(
    "object_",
    [
        pytest.param(
            {
                "apiVersion": labels.KUEUE_API,
                "kind": "LocalQueue",
                "metadata": {"name": "theirs", "namespace": "nlp"},
                "spec": {"clusterQueue": "vision-training"},
            },
            id="a-queue-into-another-teams-quota",
        ),
        pytest.param(
            {
                "apiVersion": "v1",
                "kind": "LimitRange",
                "metadata": {"name": "other", "namespace": "nlp"},
                "spec": {"limits": [{"type": "Container", "defaultRequest": {"cpu": "1m"}}]},
            },
            id="other-defaults",
        ),
        pytest.param(
            {
                "apiVersion": "rbac.authorization.k8s.io/v1",
                "kind": "Role",
                "metadata": {"name": "queues", "namespace": "nlp"},
                "rules": [
                    {
                        "apiGroups": [labels.KUEUE_GROUP],
                        "resources": ["localqueues"],
                        "verbs": ["create"],
                    }
                ],
            },
            id="a-role-of-their-own",
        ),
    ],
)
def test_a_projects_admin_cannot_make_what_decides_quota(
    object_: dict[str, Any], full_lab: RunningLab
) -> None:
    told = full_lab.kubectl("create", "-f", "-", objects=[object_], user="chen.yu")
    assert told.returncode != 0
    assert "forbidden" in told.stderr.lower()


@pytest.mark.parametrize(
    "change",
    [
        "kubernetes.io/metadata.name=vision",
        f"{labels.PROJECT}=vision",
        "pod-security.kubernetes.io/enforce=privileged",
    ],
)
def test_a_projects_admin_cannot_change_its_namespaces_labels(
    change: str, full_lab: RunningLab
) -> None:
    told = full_lab.kubectl("label", "--overwrite", "namespace", "nlp", change, user="chen.yu")
    assert told.returncode != 0
    assert "forbidden" in told.stderr.lower()


@pytest.mark.parametrize("role", ["cluster-admin", "edit", "admin", labels.OPERATOR_ROLE])
def test_a_projects_admin_cannot_give_what_they_do_not_have(
    role: str, full_lab: RunningLab
) -> None:
    told = full_lab.kubectl("create", "-f", "-", objects=[_binding(role)], user="chen.yu")
    assert told.returncode != 0
    assert "forbidden" in told.stderr.lower()


@pytest.fixture
def robot(full_lab: RunningLab) -> Iterator[str]:
    """A service account for a pipeline, made a member by the project's admin."""
    account = {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": "ci", "namespace": "nlp"},
    }
    made = [account, _binding(labels.MEMBER_ROLE)]
    work.submit(full_lab, *made, user="chen.yu")
    yield "system:serviceaccount:nlp:ci"
    full_lab.kubectl("delete", "-f", "-", objects=made)


def test_a_projects_admin_can_let_a_pipeline_submit(full_lab: RunningLab, robot: str) -> None:
    def may(verb: str, resource: str, namespace: str) -> bool:
        asked = ("auth", "can-i", verb, resource, "-n", namespace, "--as", robot)
        return full_lab.kubectl(*asked).returncode == 0

    assert may("create", "jobs.batch", "nlp")
    assert not may("create", "jobs.batch", "vision")
    assert not may("create", "rolebindings.rbac.authorization.k8s.io", "nlp")


@pytest.mark.parametrize("user", ["li.wei", "admin"])
def test_a_pod_that_could_leave_its_container_is_refused_whoever_makes_it(
    user: str, full_lab: RunningLab
) -> None:
    pod = _pod("leaves")
    # Both: the one without the other is no pod at all.
    rights = {"privileged": True, "allowPrivilegeEscalation": True}
    pod["spec"]["containers"][0]["securityContext"] = rights
    told = full_lab.kubectl("create", "-f", "-", objects=[pod], user=user)
    assert told.returncode != 0
    assert 'violates PodSecurity "restricted:v1.36"' in told.stderr


def test_a_container_that_asks_for_nothing_is_given_a_little_of_each(full_lab: RunningLab) -> None:
    """Disk too, which every queue covers: it would wait for ever otherwise."""
    pod = _pod("asks-nothing")
    del pod["spec"]["containers"][0]["resources"]
    work.submit(full_lab, pod, user="li.wei")
    try:
        given = full_lab.get("pod", "asks-nothing", "-n", "nlp")["spec"]["containers"][0]
        assert given["resources"]["requests"] == {
            "cpu": "1",
            "memory": "1Gi",
            "ephemeral-storage": "20Gi",
        }
        assert "limits" not in given["resources"]
        work.wait(lambda: _is_admitted(full_lab))
    finally:
        full_lab.kubectl("delete", "pod", "asks-nothing", "-n", "nlp")


def test_a_job_that_names_only_limits_is_counted_by_them(full_lab: RunningLab) -> None:
    """Its pod asks for its limits; Kueue sees the template, where the defaults come first."""
    job = work.job("limits", "elastic", 0, namespace="nlp", priority="elastic")
    spec = job["spec"]["template"]["spec"]
    spec["nodeSelector"] = {labels.NODE_POOL: labels.CPU_POOL}
    spec["containers"][0]["resources"] = {"limits": {"cpu": "500m", "memory": "16Gi"}}
    work.submit(full_lab, job, user="li.wei")
    try:
        work.wait(lambda: len(work.running(full_lab, "limits", "nlp")) == 1)
        (assigned,) = work.workload(full_lab, "limits", "nlp")["status"]["admission"][
            "podSetAssignments"
        ]
        used = assigned["resourceUsage"]
        assert (used["cpu"], used["memory"]) == ("500m", "16Gi")
    finally:
        work.remove(full_lab, job)


def test_a_container_may_ask_for_less_and_for_much_more_than_that(full_lab: RunningLab) -> None:
    for number, cpu in enumerate(("100m", "100")):
        pod = _pod(f"asks-{number}")
        requests = {"cpu": cpu, "memory": "512Mi", "ephemeral-storage": "1Ti"}
        pod["spec"]["containers"][0]["resources"] = {"requests": requests, "limits": requests}
        told = full_lab.kubectl(
            "create", "--dry-run=server", "-f", "-", objects=[pod], user="li.wei"
        )
        assert told.returncode == 0, told.stderr


def _is_admitted(lab: RunningLab) -> bool:
    return work.is_true(work.workload(lab, "asks-nothing", "nlp"), "Admitted")


def _pod(name: str) -> dict[str, Any]:
    """Return a bare pod for the CPU hosts, as a person may make it."""
    template = work.job(name, "elastic", 0, namespace="nlp", priority="elastic")["spec"]["template"]
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {
            "name": name,
            "namespace": "nlp",
            "labels": {labels.QUEUE_NAME: "elastic", labels.PRIORITY_CLASS: "elastic"},
        },
        "spec": {**template["spec"], "nodeSelector": {labels.NODE_POOL: labels.CPU_POOL}},
    }


def _binding(role: str) -> dict[str, Any]:
    return {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "RoleBinding",
        "metadata": {"name": "ci", "namespace": "nlp"},
        "roleRef": {
            "apiGroup": "rbac.authorization.k8s.io",
            "kind": "ClusterRole",
            "name": role,
        },
        "subjects": [{"kind": "ServiceAccount", "name": "ci", "namespace": "nlp"}],
    }


def _paths(lab: RunningLab) -> Iterator[tuple[str, str]]:
    yield "/api/v1", ""
    for group in _raw(lab, "/apis")["groups"]:
        for version in group["versions"]:
            yield f"/apis/{version['groupVersion']}", group["name"]


def _raw(lab: RunningLab, path: str) -> Mapping[str, Any]:
    found = lab.kubectl("get", "--raw", path)
    assert found.returncode == 0, found.stderr
    content: Mapping[str, Any] = json.loads(found.stdout)
    return content


def _allowed(
    lab: RunningLab, who: str, resources: Iterable[Resource], namespace: str
) -> set[tuple[str, str]]:
    """Return the resources and verbs that somebody is allowed."""
    asked = [
        ((name, verb), _review(who, name, verb, namespace if is_namespaced else ""))
        for name, is_namespaced in resources
        for verb in sorted(VERBS)
    ]
    allowed: set[tuple[str, str]] = set()
    for begin in range(0, len(asked), _PAGE):
        page = asked[begin : begin + _PAGE]
        told = lab.kubectl("create", "-f", "-", "-o", "json", objects=[each for _, each in page])
        assert told.returncode == 0, told.stderr
        answers = _documents(told.stdout)
        assert len(answers) == len(page)
        allowed |= {
            key
            for (key, _), answer in zip(page, answers, strict=True)
            if answer["status"].get("allowed")
        }
    return allowed


def _documents(text: str) -> list[dict[str, Any]]:
    """Return the objects that kubectl prints, one after the other."""
    decoder, found, position = json.JSONDecoder(), [], 0
    while position < len(text):
        item, position = decoder.raw_decode(text, position)
        found.append(item)
        while position < len(text) and text[position].isspace():
            position += 1
    return [each for item in found for each in item.get("items", [item])]


def _review(who: str, name: str, verb: str, namespace: str) -> dict[str, Any]:
    login, groups = LOGINS[who]
    whole, _, part = name.partition("/")
    resource, _, group = whole.partition(".")
    return {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": login,
            "groups": [*groups, "system:authenticated"],
            "resourceAttributes": {
                "verb": verb,
                "group": group,
                "resource": resource,
                "subresource": part,
                "namespace": namespace,
            },
        },
    }
