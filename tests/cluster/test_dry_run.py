"""Asking the API server about objects without keeping them."""

from __future__ import annotations

from typing import Any

import pytest

from tallyard.cluster.client import connect
from tallyard.cluster.dry_run import Refusal, server_dry_run
from tallyard.cluster.faults import ClusterError, Fault
from tests.cluster.conftest import ApiServer, WriteKubeconfig, refusal

KUEUE = "/apis/kueue.x-k8s.io/v1beta2"


def _object(kind: str, name: str, api: str = "v1", namespace: str | None = None) -> dict[str, Any]:
    metadata = {"name": name} | ({"namespace": namespace} if namespace else {})
    return {"apiVersion": api, "kind": kind, "metadata": metadata}


OBJECTS = (
    _object("Namespace", "nlp"),
    _object("ClusterQueue", "nlp-training", "kueue.x-k8s.io/v1beta2"),
    _object("Topology", "cluster", "kueue.x-k8s.io/v1beta2"),
    _object("PriorityClass", "training", "scheduling.k8s.io/v1"),
    _object("LocalQueue", "training", "kueue.x-k8s.io/v1beta2", "nlp"),
)


def _refusals(server: ApiServer, kubeconfig: WriteKubeconfig) -> tuple[Refusal, ...]:
    with connect(path=str(kubeconfig(server.url))) as connection:
        return server_dry_run(OBJECTS, connection)


def test_each_object_is_applied_dry_by_our_field_manager(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    assert _refusals(api_server, kubeconfig) == ()
    assert [path for _, path, _ in api_server.asked] == [
        "/api/v1/namespaces/nlp",
        f"{KUEUE}/clusterqueues/nlp-training",
        f"{KUEUE}/topologies/cluster",
        "/apis/scheduling.k8s.io/v1/priorityclasses/training",
        f"{KUEUE}/namespaces/nlp/localqueues/training",
    ]
    for method, _, query in api_server.asked:
        assert method == "PATCH"
        assert query["dryRun"] == ["All"]
        assert query["fieldManager"] == ["tallyard"]
        assert query["force"] == ["true"]


def test_every_refusal_is_collected_with_its_reason(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers |= {
        f"{KUEUE}/clusterqueues/nlp-training": refusal(422, "spec.cohortName: Invalid value"),
        f"{KUEUE}/topologies/cluster": refusal(403, "admission webhook denied the request"),
    }
    assert _refusals(api_server, kubeconfig) == (
        Refusal(
            "ClusterQueue",
            "nlp-training",
            None,
            "ClusterQueue nlp-training: spec.cohortName: Invalid value",
        ),
        Refusal("Topology", "cluster", None, "admission webhook denied the request"),
    )


def test_a_namespace_that_is_only_coming_is_not_held_against_what_is_in_it(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers[f"{KUEUE}/namespaces/nlp/localqueues/training"] = refusal(
        404, 'namespaces "nlp" not found', name="nlp"
    )
    assert _refusals(api_server, kubeconfig) == ()


def test_a_server_that_cannot_be_asked_ends_it(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers["/api/v1/namespaces/nlp"] = refusal(401, "Unauthorized")
    with pytest.raises(ClusterError) as raised:
        _refusals(api_server, kubeconfig)
    assert raised.value.fault is Fault.UNAUTHORIZED


def test_somebody_without_the_right_is_told_so_once(
    api_server: ApiServer, kubeconfig: WriteKubeconfig
) -> None:
    api_server.answers["/api/v1/namespaces/nlp"] = refusal(
        403, 'namespaces "nlp" is forbidden: User "li.wei" cannot patch resource "namespaces"'
    )
    with pytest.raises(ClusterError) as raised:
        _refusals(api_server, kubeconfig)
    assert raised.value.fault is Fault.FORBIDDEN
