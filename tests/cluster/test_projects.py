"""What a person calls a project, and what a cluster calls it."""

from __future__ import annotations

from typing import Any

from tallyard import labels
from tallyard.cluster.projects import id_of, keys_by_id


def _queue(identity: str | None, key: str | None) -> dict[str, Any]:
    return {
        "metadata": {
            "name": "q",
            **({"labels": {labels.PROJECT: identity}} if identity else {}),
            **({"annotations": {labels.PROJECT_KEY: key}} if key else {}),
        }
    }


def test_each_project_has_one_key_whichever_of_its_queues_tells_it() -> None:
    queues = [_queue("p7", None), _queue("p7", "speech"), _queue("p7", None), _queue("a", None)]
    assert list(keys_by_id(queues).items()) == [("a", "a"), ("p7", "speech")]


def test_queues_that_are_not_ours_name_no_project() -> None:
    assert keys_by_id([_queue(None, "speech")]) == {}


def test_a_key_counts_before_an_id() -> None:
    keys = {"p7": "speech", "speech": "sound"}
    assert [id_of(name, keys) for name in ("speech", "p7", "sound", "x")] == [
        *("p7", "p7", "speech", None),
    ]
