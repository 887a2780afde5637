"""A stretch of watching ends by itself, and loses nothing that the next list would not show."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from tallyard.cluster.client import connect
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.kinds import ConfigMap, Node
from tallyard.cluster.watch import Changed, Listed, Seen, stretch
from tests.cluster.conftest import ApiServer, refusal

NODES = "/api/v1/nodes"


def _node(name: str, version: str = "1") -> dict[str, object]:
    return {
        "kind": "Node",
        "apiVersion": "v1",
        "metadata": {"name": name, "resourceVersion": version},
    }


@pytest.fixture
def watched(
    api_server: ApiServer, kubeconfig: Callable[..., Path]
) -> Callable[[float], list[Seen]]:
    def watched(seconds: float) -> list[Seen]:
        with connect(path=str(kubeconfig(api_server.url))) as connection:
            return list(stretch(connection, Node, seconds_max=seconds))

    return watched


def test_the_list_comes_first_then_the_changes_then_silence_ends_it(
    api_server: ApiServer, watched: Callable[[float], list[Seen]]
) -> None:
    api_server.answers[NODES] = [_node("a"), _node("b")]
    api_server.changes = [("MODIFIED", _node("a", "2")), ("DELETED", _node("b", "3"))]
    begun = time.monotonic()
    first, changed, gone = watched(1.0)
    assert isinstance(first, Listed)
    assert [item["metadata"]["name"] for item in first.items] == ["a", "b"]
    assert isinstance(changed, Changed)
    assert (changed.item["metadata"]["resourceVersion"], changed.is_gone) == ("2", False)
    assert isinstance(gone, Changed)
    assert gone.is_gone
    assert 0.5 <= time.monotonic() - begun < 5


def test_a_server_that_is_never_silent_is_listed_again_too(
    api_server: ApiServer, watched: Callable[[float], list[Seen]]
) -> None:
    api_server.answers[NODES] = [_node("a")]
    api_server.changes = [("MODIFIED", _node("a", str(n))) for n in range(1000)]
    api_server.delay_seconds = 0.02
    begun = time.monotonic()
    seen = watched(0.5)
    assert time.monotonic() - begun < 5
    assert 1 < len(seen) < 1000


def test_a_silence_that_sets_in_late_does_not_make_it_longer(
    api_server: ApiServer, watched: Callable[[float], list[Seen]]
) -> None:
    """The last change comes before the half of the time is over."""
    api_server.answers[NODES] = [_node("a")]
    api_server.changes = [("MODIFIED", _node("a", str(n))) for n in range(6)]
    api_server.delay_seconds = 0.2
    begun = time.monotonic()
    seen = watched(4.0)
    assert time.monotonic() - begun < 5
    assert len(seen) == 7


def test_after_a_list_that_took_all_the_time_nothing_is_watched(
    api_server: ApiServer, watched: Callable[[float], list[Seen]]
) -> None:
    api_server.answers[NODES] = [_node("a")]
    api_server.delay_seconds = 0.3
    (only,) = watched(0.2)
    assert isinstance(only, Listed)


def test_a_version_that_the_server_no_longer_knows_is_told(
    api_server: ApiServer, watched: Callable[[float], list[Seen]]
) -> None:
    api_server.answers[NODES] = [_node("a")]
    api_server.changes = [("ERROR", refusal(410, "too old resource version"))]
    with pytest.raises(ClusterError, match="too old resource version"):
        watched(1.0)


def test_one_object_is_asked_for_by_its_name_alone(
    api_server: ApiServer, kubeconfig: Callable[..., Path]
) -> None:
    """Whoever may read no other one may list and watch in no other way."""
    path = "/api/v1/namespaces/system/configmaps"
    api_server.answers[path] = []
    with connect(path=str(kubeconfig(api_server.url))) as connection:
        list(stretch(connection, ConfigMap, seconds_max=0.2, namespace="system", name="platform"))
    assert [asked[1] for asked in api_server.asked] == [path, path]
    assert {json.dumps(asked[2]["fieldSelector"]) for asked in api_server.asked} == {
        '["metadata.name=platform"]'
    }
    assert "watch" in api_server.asked[1][2]
