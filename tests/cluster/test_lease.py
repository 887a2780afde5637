"""Who holds a lease: decided by what each has seen change, never by two machines' clocks."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any, cast

from hypothesis import given
from hypothesis import strategies as st

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.lease import Claim, Sight, attempt, give_back

AT = datetime(2026, 12, 1, 8, 0, tzinfo=UTC)
A = Claim("system", "controllers", "a", 12)
B = Claim("system", "controllers", "b", 12)


@dataclass
class _Server:
    """One Lease with optimistic concurrency, as the API server has it."""

    lease: dict[str, Any] | None = None
    writes: list[str] = field(default_factory=list)

    def get(self, _kind: type, _name: str, _namespace: str) -> Mapping[str, Any]:
        if self.lease is None:
            raise ClusterError(Fault.NOT_FOUND, "here", name="Lease")
        return copy.deepcopy(self.lease)

    def create(self, _kind: type, item: Mapping[str, Any]) -> Mapping[str, Any]:
        if self.lease is not None:
            raise ClusterError(Fault.CONFLICT, "here", name="Lease")
        return self._keep(item, 1)

    def replace(self, _kind: type, item: Mapping[str, Any]) -> Mapping[str, Any]:
        assert self.lease is not None
        version = self.lease["metadata"]["resourceVersion"]
        if item["metadata"]["resourceVersion"] != version:
            raise ClusterError(Fault.CONFLICT, "here", name="Lease")
        return self._keep(item, int(version) + 1)

    def _keep(self, item: Mapping[str, Any], version: int) -> Mapping[str, Any]:
        kept = copy.deepcopy(dict(item))
        kept["metadata"]["resourceVersion"] = str(version)
        self.lease = kept
        self.writes.append(kept["spec"]["holderIdentity"])
        return copy.deepcopy(kept)


def _try(
    server: _Server, claim: Claim, seen: Sight | None, now: float
) -> tuple[bool, Sight | None]:
    return attempt(cast("Connection", server), claim, seen, now, AT)


def test_the_first_takes_it_and_the_second_waits() -> None:
    server = _Server()
    assert _try(server, A, None, 0)[0]
    holds, seen = _try(server, B, None, 0)
    assert not holds
    assert seen is not None
    assert seen.holder == "a"
    assert server.lease is not None
    assert server.lease["spec"]["leaseDurationSeconds"] == 12


def test_the_holder_renews_and_keeps_it() -> None:
    server, seen, other = _Server(), None, None
    for now in range(0, 60, 2):
        holds, seen = _try(server, A, seen, now)
        assert holds
        taken, other = _try(server, B, other, now + 1)
        assert not taken
    assert set(server.writes) == {"a"}


def test_a_holder_that_is_silent_loses_it_after_as_long_as_it_said() -> None:
    server = _Server()
    _try(server, A, None, 0)
    _, seen = _try(server, B, None, 100)  # its own clock, which began elsewhere
    for now in (102, 106, 111.9, 112):
        holds, seen = _try(server, B, seen, now)
        assert not holds
    holds, seen = _try(server, B, seen, 112.1)
    assert holds
    assert server.lease is not None
    assert server.lease["spec"]["leaseTransitions"] == 1
    assert not _try(server, A, None, 0)[0]


def test_of_two_who_take_it_at_once_one_gets_it() -> None:
    """Both have read the same version."""
    server = _Server()
    _try(server, A, None, 0)
    assert server.lease is not None
    stale = copy.deepcopy(server.lease)
    old = Sight("1", "a", 12, since=-100)
    assert _try(server, B, old, 0)[0]

    class Late(_Server):
        def get(self, *_: object) -> Mapping[str, Any]:
            return copy.deepcopy(stale)

    late = Late(server.lease)
    third = Claim("system", "controllers", "c", 12)
    assert not _try(late, third, old, 0)[0]
    assert late.lease is not None
    assert late.lease["spec"]["holderIdentity"] == "b"


def test_who_gives_it_back_frees_it_at_once_and_gives_nothing_of_others_back() -> None:
    server = _Server()
    _try(server, A, None, 0)
    give_back(cast("Connection", server), B)
    assert not _try(server, B, None, 0)[0]
    give_back(cast("Connection", server), A)
    assert _try(server, B, None, 0)[0]


STEPS = st.lists(
    st.tuples(st.sampled_from("ab"), st.floats(0.1, 20), st.booleans()), min_size=1, max_size=40
)


@given(steps=STEPS)
def test_two_never_hold_it_at_once_whatever_the_pauses(
    steps: list[tuple[str, float, bool]],
) -> None:
    """Each acts for 8 of the 12 seconds after an attempt began; some requests take 3 seconds."""
    server = _Server()
    claims, seen, acts_until = {"a": A, "b": B}, {"a": None, "b": None}, {"a": -1.0, "b": -1.0}
    sights: dict[str, Sight | None] = dict(seen)
    now = 0.0
    for who, pause, is_slow in steps:
        now += pause
        begun = now
        holds, sights[who] = _try(server, claims[who], sights[who], begun)
        now += 3 if is_slow else 0
        acts_until[who] = begun + 8 if holds else -1.0
        assert sum(until > now for until in acts_until.values()) <= 1
