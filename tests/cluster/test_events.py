"""One Event for one sentence about one object."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from tallyard.cluster.client import connect
from tallyard.cluster.events import MESSAGE_LENGTH_MAX, Kind, Told, tell
from tallyard.cluster.faults import ClusterError
from tests.cluster.conftest import ApiServer, refusal

AT = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
NODE = {"apiVersion": "v1", "kind": "Node", "metadata": {"name": "a100-00", "uid": "u"}}
POSTED = "/api/v1/namespaces/default/events"


def _told(message: str = "why", about: Mapping[str, Any] = NODE) -> Told:
    return Told(about, Kind.WARNING, "HostHeld", message)


@pytest.fixture
def say(api_server: ApiServer, kubeconfig: Callable[..., Path]) -> Callable[[Told], None]:
    def say(told: Told) -> None:
        with connect(path=str(kubeconfig(api_server.url))) as connection:
            tell(connection, told, "controllers", AT)

    return say


def test_an_event_about_a_node_lives_in_the_default_namespace(
    api_server: ApiServer, say: Callable[[Told], None]
) -> None:
    say(_told())
    ((verb, path, _),) = api_server.asked
    assert (verb, path) == ("POST", POSTED)
    (sent,) = api_server.sent
    assert sent["involvedObject"] == {
        "apiVersion": "v1",
        "kind": "Node",
        "name": "a100-00",
        "uid": "u",
    }
    assert (sent["type"], sent["reason"], sent["message"]) == ("Warning", "HostHeld", "why")
    assert sent["source"]["component"] == "tallyard.dev/controllers"


def test_the_same_sentence_is_counted_and_another_one_is_another_event(
    api_server: ApiServer, say: Callable[[Told], None]
) -> None:
    say(_told())
    name = api_server.sent[0]["metadata"]["name"]
    api_server.answers[POSTED] = refusal(409, "already exists", name=name)
    api_server.answers[f"{POSTED}/{name}"] = {**api_server.sent[0], "count": 4}
    say(_told())
    assert [verb for verb, *_ in api_server.asked[1:]] == ["POST", "PATCH", "PATCH"]
    assert api_server.sent[-1] == {"count": 5}
    del api_server.answers[POSTED]
    say(_told("another"))
    assert api_server.sent[-1]["metadata"]["name"] != name


def test_a_sentence_that_is_too_long_is_cut(
    api_server: ApiServer, say: Callable[[Told], None]
) -> None:
    say(_told("x" * 5000))
    assert len(api_server.sent[0]["message"]) == MESSAGE_LENGTH_MAX
    assert api_server.sent[0]["message"].endswith("x…")


def test_a_name_of_any_length_gives_a_name_that_the_api_server_takes(
    api_server: ApiServer, say: Callable[[Told], None]
) -> None:
    long = {**NODE, "metadata": {"name": f"{'a' * 199}.{'b' * 53}", "uid": "u"}}
    say(_told(about=long))
    name = api_server.sent[0]["metadata"]["name"]
    assert len(name) <= 253
    assert ".." not in name


def test_another_refusal_is_raised(api_server: ApiServer, say: Callable[[Told], None]) -> None:
    api_server.answers[POSTED] = refusal(403, "forbidden")
    with pytest.raises(ClusterError):
        say(_told())
