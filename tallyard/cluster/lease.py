"""Who of several replicas is at work: a Lease, and what each makes of it.

The clocks of two machines may differ, so nobody compares the times in the record with its own:
a holder has lost it when the record has not changed for as long as it says. Deciding is pure;
`attempt` does one round of reading and writing.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import Lease
from tallyard.labels import FIELD_MANAGER


@dataclass(frozen=True)
class Claim:
    """Whose lease it is about: its place, who asks, and how long a holder may be silent."""

    namespace: str
    name: str
    identity: str
    seconds: int


@dataclass(frozen=True)
class Sight:
    """The record as it was last seen, and since when (monotonic seconds) it has not changed."""

    version: str
    holder: str
    seconds: float
    since: float

    def is_free(self, claim: Claim, now: float) -> bool:
        """Return whether the claimant may write itself into the record."""
        is_mine_or_nobodys = self.holder in {"", claim.identity}
        return is_mine_or_nobodys or now - self.since > self.seconds


def sight(lease: Mapping[str, Any], before: Sight | None, now: float) -> Sight:
    """Return what is seen of a record now, compared with what was seen of it before."""
    spec = lease.get("spec") or {}
    version = str(lease["metadata"]["resourceVersion"])
    is_new = before is None or before.version != version
    return Sight(
        version=version,
        holder=str(spec.get("holderIdentity") or ""),
        seconds=float(spec.get("leaseDurationSeconds") or 0),
        since=now if is_new or before is None else before.since,
    )


def attempt(
    connection: Connection, claim: Claim, before: Sight | None, now: float, at: datetime
) -> tuple[bool, Sight | None]:
    """Take the lease or renew it, if that is possible now.

    Args:
        connection: The cluster.
        claim: What is asked for.
        before: What the last attempt has seen.
        now: Monotonic seconds.
        at: The time of day, which is written for people only.

    Returns:
        Whether the claimant holds it from `now` on, and what was seen.

    Raises:
        ClusterError: The server cannot be asked or refuses.
    """
    try:
        lease = connection.get(Lease, claim.name, claim.namespace)
    except ClusterError as error:
        if error.fault is not Fault.NOT_FOUND:
            raise
        return _written(connection, _record(claim, at, None), before, now, is_new=True)
    seen = sight(lease, before, now)
    if not seen.is_free(claim, now):
        return False, seen
    return _written(connection, _record(claim, at, lease), seen, now, is_new=False)


def give_back(connection: Connection, claim: Claim) -> None:
    """Free the lease at once, if it is the claimant's.

    Raises:
        ClusterError: The server cannot be asked or refuses; the lease runs out by itself.
    """
    lease = connection.get(Lease, claim.name, claim.namespace)
    if (lease.get("spec") or {}).get("holderIdentity") == claim.identity:
        spec = {**lease["spec"], "holderIdentity": "", "leaseDurationSeconds": 1}
        connection.replace(Lease, {**lease, "spec": spec})


def _written(
    connection: Connection,
    record: Mapping[str, Any],
    seen: Sight | None,
    now: float,
    *,
    is_new: bool,
) -> tuple[bool, Sight | None]:
    try:
        write = connection.create if is_new else connection.replace
        return True, sight(write(Lease, record), seen, now)
    except ClusterError as error:
        if error.fault is not Fault.CONFLICT:
            raise
        return False, seen  # somebody was faster


def _record(claim: Claim, at: datetime, before: Mapping[str, Any] | None) -> dict[str, Any]:
    spec = dict((before or {}).get("spec") or {})
    moment = at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
    if spec.get("holderIdentity") != claim.identity:
        changes = int(spec.get("leaseTransitions") or 0)
        spec |= {"acquireTime": moment, "leaseTransitions": changes + (before is not None)}
    spec |= {
        "holderIdentity": claim.identity,
        "leaseDurationSeconds": claim.seconds,
        "renewTime": moment,
    }
    new = {
        "name": claim.name,
        "namespace": claim.namespace,
        "labels": {"app.kubernetes.io/managed-by": FIELD_MANAGER},
    }
    metadata = before["metadata"] if before else new
    return {
        "apiVersion": "coordination.k8s.io/v1",
        "kind": "Lease",
        "metadata": metadata,
        "spec": spec,
    }
