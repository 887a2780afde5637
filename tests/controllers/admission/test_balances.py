"""A project is told what it has, and the policies what may be frozen."""

from __future__ import annotations

from tallyard.ledger.commands import Adjust
from tallyard.ledger.store.store import Done
from tests.controllers.admission.keeping import (
    Cluster,
    Replica,
)
from tests.ledger.ledgers import H


def test_a_project_is_told_what_it_has_and_only_when_that_has_changed(
    cluster: Cluster, replica: Replica
) -> None:
    replica.round()
    (granted,) = {each["granted"] for each in cluster.figures["nlp"]}
    nothing = {"used": "0.00", "frozen": "0.00", "owed": "0.00", "burnRate": "0.00"}
    assert cluster.figures["nlp"] == [nothing | {"granted": granted, "available": granted}]
    replica.round(20)
    assert len(cluster.figures["nlp"]) == 1

    cluster.add("train")
    replica.round(1)
    begun = replica.now[0]
    replica.pod("train", "Running", begun)
    replica.round(20)
    assert cluster.figures["nlp"][1:] == [
        nothing
        | {
            "granted": granted,
            "frozen": "25.00",
            "available": f"{float(granted) - 25:.2f}",
            "burnRate": "12.00",
        }
    ]
    assert len(cluster.figures["vision"]) == 1


def test_the_policies_are_told_what_a_queue_may_freeze_after_a_top_up(
    cluster: Cluster, replica: Replica
) -> None:
    replica.round()
    # The whole grant: the spec of these tests has no cap to speak of.
    assert cluster.caps == [{"nlp": 600_000, "vision": 30_000}]
    more = Adjust(key="more", project="nlp", grant="2026-11", amount=H + 1, reason="test")
    assert isinstance(replica.store.do([more])[0], Done)
    replica.round(20)
    assert cluster.caps[1:] == [{"nlp": 600_002, "vision": 30_000}]
    replica.round(20)
    assert len(cluster.caps) == 2


def test_a_project_of_which_nothing_can_be_told_yet_holds_up_nobody(
    cluster: Cluster, replica: Replica
) -> None:
    cluster.without_figures = {"nlp"}
    cluster.add("train")
    replica.round()
    assert "train: let in" in cluster.written
    assert set(cluster.figures) == {"vision"}
    cluster.without_figures = set()
    replica.round(20)
    assert len(cluster.figures["nlp"]) == 1
