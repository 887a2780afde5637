"""Who acts, by a clock that the test turns: no lapse stays untold, and no two act at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, cast

import pytest

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.lease import Claim
from tallyard.controllers.election import (
    ACTS_SECONDS,
    LEASE_SECONDS,
    REQUEST_SECONDS_MAX,
    Election,
)

CLAIM = Claim("system", "controllers", "one", LEASE_SECONDS)


@dataclass
class _Server:
    """One Lease, and a clock that goes on while an answer is awaited."""

    now: float = 0.0
    lease: dict[str, Any] | None = None
    takes_seconds: float = 0.0
    version: int = 0
    told: list[bool] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.election = Election(self._open, CLAIM, self.told.append, lambda: self.now)

    @contextmanager
    def _open(self, _: float) -> Iterator[Connection]:
        yield cast("Connection", self)

    def renew(self, at: float, takes_seconds: float = 0.0) -> None:
        self.now, self.takes_seconds = at, takes_seconds
        self.election.renew(cast("Connection", self))

    def get(self, _kind: type, _name: str, _namespace: str) -> Mapping[str, Any]:
        self.now += self.takes_seconds
        if self.takes_seconds >= REQUEST_SECONDS_MAX:
            raise ClusterError(Fault.TIMEOUT, "here", detail="no answer")
        if self.lease is None:
            raise ClusterError(Fault.NOT_FOUND, "here", name="Lease")
        return self.lease

    def create(self, _kind: type, item: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._keep(item)

    def replace(self, _kind: type, item: Mapping[str, Any]) -> Mapping[str, Any]:
        return self._keep(item)

    def _keep(self, item: Mapping[str, Any]) -> Mapping[str, Any]:
        self.version += 1
        meta = {**item["metadata"], "resourceVersion": str(self.version)}
        self.lease = {**item, "metadata": meta}
        return self.lease


def test_who_has_renewed_acts_for_a_while_that_begins_before_the_request() -> None:
    server = _Server()
    server.renew(0.0, takes_seconds=1.0)
    assert server.election.is_leading()
    server.now = ACTS_SECONDS - 0.1
    assert server.election.is_leading()
    server.now = ACTS_SECONDS
    assert not server.election.is_leading()


def test_a_lapse_that_has_ended_when_somebody_looks_is_told_all_the_same() -> None:
    """One request is not answered, the next one is so late that nobody acted for a second."""
    server = _Server()
    server.renew(0.0)
    with pytest.raises(ClusterError):
        server.renew(4.5, takes_seconds=REQUEST_SECONDS_MAX)
    assert server.now == 7.5
    assert server.election.is_leading()
    server.renew(7.9, takes_seconds=1.1)
    assert server.now > ACTS_SECONDS
    assert server.election.is_leading()
    assert server.told == [True, False, True]


def test_renewals_in_time_are_told_once() -> None:
    server = _Server()
    for second in range(0, 60, 6):
        server.renew(float(second), takes_seconds=1.0)
    assert server.told == [True]


def test_whoever_acts_is_done_before_another_one_may_begin() -> None:
    assert ACTS_SECONDS + REQUEST_SECONDS_MAX < LEASE_SECONDS
