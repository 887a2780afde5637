"""Whose work a command is about."""

from __future__ import annotations

from typing import Any

import pytest

from tallyard import labels
from tallyard.cluster import scope
from tallyard.cluster.client import ALL_NAMESPACES, connect
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.scope import Namespaces, namespaces
from tests.cluster.conftest import ApiServer, WriteKubeconfig, refusal

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"
FORBIDDEN = refusal(403, "localqueues.kueue.x-k8s.io is forbidden")


def _scope(
    server: ApiServer,
    kubeconfig: WriteKubeconfig,
    project: str | None = None,
    *,
    everything: bool = False,
    namespace: str | None = None,
) -> Namespaces:
    with connect(path=str(kubeconfig(server.url, namespace=namespace))) as connection:
        return namespaces(connection, project, everything=everything)


def _queue(identity: str, key: str | None = None, pool: str = "training") -> dict[str, Any]:
    meta: dict[str, Any] = {"name": f"{identity}-{pool}", "labels": {labels.PROJECT: identity}}
    return {"metadata": meta | ({"annotations": {labels.PROJECT_KEY: key}} if key else {})}


def test_all_or_the_namespace_of_the_context_is_taken_and_nothing_is_asked(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    assert _scope(api_server, kubeconfig, everything=True) == (ALL_NAMESPACES,)
    assert _scope(api_server, kubeconfig, namespace="vision") == ("vision",)
    assert api_server.asked == []


@pytest.mark.parametrize(
    ("said", "namespace"),
    [("language", "nlp"), ("nlp", "nlp"), ("vision", "vision"), ("speech", "s2"), ("s2", "s1")],
)
def test_a_project_is_named_by_its_key_or_its_id(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, said: str, namespace: str
) -> None:
    """`s2` is the id of speech and the key of another one: people say keys."""
    api_server.answers[f"{KUEUE}/clusterqueues"] = [
        *(_queue("nlp", "language"), _queue("nlp", "language", "elastic"), _queue("vision")),
        *(_queue("s2", "speech"), _queue("s1", "s2")),
    ]
    api_server.answers[f"{KUEUE}/namespaces/{namespace}/localqueues"] = []
    assert _scope(api_server, kubeconfig, said) == (namespace,)


def test_who_names_a_project_of_others_is_told_their_own(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers |= {
        f"{KUEUE}/clusterqueues": [_queue("nlp", "language"), _queue("vision")],
        f"{KUEUE}/namespaces/nlp/localqueues": [],
        f"{KUEUE}/namespaces/vision/localqueues": FORBIDDEN,
    }
    with pytest.raises(ClusterError) as raised:
        _scope(api_server, kubeconfig, "vision")
    parts = raised.value.parts()
    assert raised.value.fault is Fault.NOT_YOURS
    assert (parts.what, parts.why) == ("the project vision is not yours", "you may read: language")


def test_a_project_that_does_not_exist_is_told_with_the_nearest_ones(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers[f"{KUEUE}/clusterqueues"] = [_queue("nlp", "language"), _queue("vision")]
    with pytest.raises(ClusterError) as raised:
        _scope(api_server, kubeconfig, "vison")
    parts = raised.value.parts()
    assert raised.value.fault is Fault.NO_PROJECT
    assert ('"vison"' in parts.what, parts.why.split(": ")[1]) == (True, "vision")


def test_who_may_not_read_the_queues_names_the_project_by_its_id(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers[f"{KUEUE}/clusterqueues"] = FORBIDDEN
    api_server.answers[f"{KUEUE}/namespaces/nlp/localqueues"] = []
    assert _scope(api_server, kubeconfig, "nlp") == ("nlp",)


def test_a_member_of_the_last_of_many_projects_is_let_in(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    names = [f"p{number:03}" for number in range(120)]
    api_server.answers |= {f"{KUEUE}/localqueues": FORBIDDEN, f"{KUEUE}/clusterqueues": []}
    api_server.answers[f"{KUEUE}/clusterqueues"] = [_queue(name) for name in reversed(names)]
    for name in names:
        last = name == names[-1]
        api_server.answers[f"{KUEUE}/namespaces/{name}/localqueues"] = [] if last else FORBIDDEN
    assert _scope(api_server, kubeconfig) == (names[-1],)


def test_too_many_projects_are_refused_with_a_way_out_and_none_is_left_out_in_silence(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    queues = [_queue(f"p{number}") for number in range(scope.PROJECTS_ASKED_MAX + 1)]
    api_server.answers |= {f"{KUEUE}/localqueues": FORBIDDEN, f"{KUEUE}/clusterqueues": queues}
    with pytest.raises(ClusterError) as raised:
        _scope(api_server, kubeconfig)
    parts = raised.value.parts()
    assert raised.value.fault is Fault.TOO_MANY_PROJECTS
    assert str(len(queues)) in parts.why
    assert "-p" in parts.todo


def test_an_operator_sees_everything(api_server: ApiServer, kubeconfig: WriteKubeconfig) -> None:
    api_server.answers[f"{KUEUE}/localqueues"] = []
    assert _scope(api_server, kubeconfig) == (ALL_NAMESPACES,)


def test_a_user_sees_the_projects_that_let_them_in(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    """li.wei is in nlp; the ClusterQueues, which everybody may read, name the projects."""
    api_server.answers |= {
        f"{KUEUE}/localqueues": FORBIDDEN,
        f"{KUEUE}/clusterqueues": [
            {"metadata": {"name": f"{p}-{q}", "labels": {"tallyard.dev/project": p}}}
            for p in ("nlp", "vision")
            for q in ("training", "elastic")
        ],
        f"{KUEUE}/namespaces/nlp/localqueues": [],
        f"{KUEUE}/namespaces/vision/localqueues": FORBIDDEN,
    }
    assert _scope(api_server, kubeconfig) == ("nlp",)


def test_somebody_who_may_see_nothing_is_told_so(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers |= {f"{KUEUE}/localqueues": FORBIDDEN, f"{KUEUE}/clusterqueues": []}
    with pytest.raises(ClusterError) as raised:
        _scope(api_server, kubeconfig)
    assert raised.value.fault is Fault.FORBIDDEN
    assert "-p" in raised.value.parts().todo


@pytest.mark.parametrize("said", ["", "  ", "a\nb", "../x", "nlp/pods"])
@pytest.mark.parametrize("may_read", [True, False])
def test_what_names_no_project_is_refused_and_asks_for_nothing_else(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, said: str, *, may_read: bool
) -> None:
    queues = f"{KUEUE}/clusterqueues"
    api_server.answers[queues] = [_queue("nlp", "language")] if may_read else FORBIDDEN
    with pytest.raises(ClusterError) as caught:
        _scope(api_server, kubeconfig, said)
    assert caught.value.fault is Fault.BAD_PROJECT
    assert {path for _, path, _ in api_server.asked} <= {queues}


def test_a_key_with_a_stroke_is_a_name_where_a_project_has_it(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers[f"{KUEUE}/clusterqueues"] = [_queue("s1", "speech/tts")]
    api_server.answers[f"{KUEUE}/namespaces/s1/localqueues"] = []
    assert _scope(api_server, kubeconfig, "speech/tts") == ("s1",)


@pytest.mark.parametrize(
    ("is_there", "fault"), [(False, Fault.NO_SUCH_KIND), (True, Fault.FORBIDDEN)]
)
def test_who_is_refused_where_there_is_no_platform_is_told_that_there_is_none(
    api_server: ApiServer, kubeconfig: WriteKubeconfig, fault: Fault, *, is_there: bool
) -> None:
    """After `pulumi destroy`, as somebody who is not the administrator."""
    api_server.answers |= {
        f"{KUEUE}/localqueues": FORBIDDEN,
        f"{KUEUE}/clusterqueues": refusal(403, "clusterqueues.kueue.x-k8s.io is forbidden"),
    }
    if is_there:
        api_server.answers[KUEUE] = {"kind": "APIResourceList"}
    with (
        connect(path=str(kubeconfig(api_server.url))) as connection,
        pytest.raises(ClusterError) as caught,
        scope.of_platform(connection),
    ):
        namespaces(connection, None, everything=False)
    assert caught.value.fault is fault
