"""A ledger with a cluster's grant and one project's."""

from __future__ import annotations

import pytest

from tests.ledger.ledgers import H, InMemory, Ledger


@pytest.fixture
def empty() -> Ledger:
    """A ledger in which nothing was ever done."""
    return Ledger(InMemory())


@pytest.fixture
def ledger(empty: Ledger) -> Ledger:
    """1,000 core-hours of the cluster, 100 of nlp, of which li.wei may use all, chen.yu half."""
    empty.grant_cluster(1000 * H)
    empty.grant("nlp", 100 * H, {"li.wei": 100, "chen.yu": 50})
    return empty
