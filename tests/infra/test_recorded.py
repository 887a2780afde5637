from __future__ import annotations

from infra.recorded import applied_objects

SENT = {"apiVersion": "v1", "kind": "Service", "metadata": {"name": "a", "namespace": "told"}}


def test_an_object_is_as_it_was_sent_and_where_the_server_has_put_it() -> None:
    recorded = {
        "urn:1": {"type": "kubernetes:core/v1:Service", "outputs": {"__inputs": SENT, "x": 1}},
        "urn:2": {
            "type": "kubernetes:core/v1:Service",
            "outputs": {"__inputs": SENT, "metadata": {"name": "a"}, "status": {}},
        },
        "urn:3": {"type": "tallyard:infra:Cluster", "outputs": {"uid": "1"}},
    }
    assert list(applied_objects(recorded)) == [{**SENT, "metadata": {"name": "a"}}]


def test_a_stack_that_has_never_been_up_has_applied_nothing() -> None:
    assert list(applied_objects({})) == []
