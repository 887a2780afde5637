"""Whose work a command is about."""

from __future__ import annotations

import pytest

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


def test_a_named_project_is_its_namespace_and_nothing_is_asked(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    assert _scope(api_server, kubeconfig, "nlp") == ("nlp",)
    assert _scope(api_server, kubeconfig, everything=True) == (ALL_NAMESPACES,)
    assert _scope(api_server, kubeconfig, namespace="vision") == ("vision",)
    assert api_server.asked == []


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
