"""A Workload of Kueue's as the ledger has to know it. Pure; it decides nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from tallyard import labels
from tallyard.cluster.conditions import Object, became_true, condition, created, is_true, owner
from tallyard.cluster.pod_requests import requests

_DEACTIVATED = "Deactivated"


@dataclass(frozen=True)
class PodSet:
    """Pods that are alike: how many are asked for and given, and what each asks.

    `requests` are vCPU in thousandths, else bytes or pieces. `given` and `flavors` (by resource)
    are None and empty until quota is reserved.
    """

    name: str
    count: int
    spec: Object
    requests: Mapping[str, int]
    given: int | None
    flavors: Mapping[str, str]

    @property
    def pods(self) -> int:
        """Return how many pods there will be, as far as that is known."""
        return self.count if self.given is None else self.given


@dataclass(frozen=True)
class Check:
    """What stands on a Workload for one admission check."""

    state: str
    message: str


@dataclass(frozen=True)
class Workload:
    """One Workload at one version.

    `limit` is the longest time that it may run, in seconds; None without one. `project` and
    `user` are empty where the admission policies have not stamped them. `admitted` is since when
    it is; `eviction` is Kueue's reason, and `evictions` are how many there were of each.
    """

    uid: str
    namespace: str
    name: str
    version: str
    made: datetime
    owner: tuple[str, str]
    project: str
    user: str
    queue: str
    limit: int | None
    is_active: bool
    is_going: bool
    finalizers: tuple[str, ...]
    pod_sets: tuple[PodSet, ...]
    checks: Mapping[str, Check]
    has_quota: bool
    admitted: datetime | None
    is_finished: bool
    eviction: str
    evictions: Mapping[str, int]

    @property
    def was_active(self) -> bool:
        """Say whether it has been let in once: one that is inactive then was stopped.

        Kueue's own word for both is `Deactivated`, which it may say of a new one or not.
        """
        return labels.SETTLE_FINALIZER in self.finalizers

    @property
    def is_kept(self) -> bool:
        """Say whether it stays until we let it go."""
        return not labels.FINALIZERS.isdisjoint(self.finalizers)

    @property
    def attempt(self) -> int:
        """Return how often it was evicted; what runs between two evictions is one attempt."""
        return sum(self.evictions.values())


def read(item: Object) -> Workload:
    """Return what a Workload of the API says.

    Raises:
        QuantityError: An amount is no quantity.
        KeyError: It lacks what every stored Workload has.
    """
    metadata, spec, status = item["metadata"], item["spec"], item.get("status") or {}
    own = metadata.get("labels") or {}
    evicted = condition(item, "Evicted")
    return Workload(
        uid=str(metadata["uid"]),
        namespace=str(metadata["namespace"]),
        name=str(metadata["name"]),
        version=str(metadata["resourceVersion"]),
        made=_made(item),
        owner=owner(item) or ("Workload", str(metadata["name"])),
        project=str(own.get(labels.PROJECT, "")),
        user=str(own.get(labels.USER, "")),
        queue=str(spec.get("queueName") or ""),
        limit=spec.get("maximumExecutionTimeSeconds"),
        is_active=bool(spec.get("active", True)),
        is_going="deletionTimestamp" in metadata,
        finalizers=tuple(metadata.get("finalizers") or ()),
        pod_sets=_pod_sets(spec, status),
        checks={
            str(check["name"]): Check(str(check["state"]), str(check.get("message", "")))
            for check in status.get("admissionChecks") or ()
        },
        has_quota=is_true(item, "QuotaReserved"),
        admitted=became_true(item, "Admitted"),
        is_finished=is_true(item, "Finished"),
        eviction=str(evicted["reason"]) if evicted and evicted["status"] == "True" else "",
        evictions=_evictions(status),
    )


def _evictions(status: Mapping[str, Any]) -> Mapping[str, int]:
    """Return how many evictions there were by reason, with what it was due to as Kueue writes it."""
    counts: dict[str, int] = {}
    for each in (status.get("schedulingStats") or {}).get("evictions") or ():
        # `Deactivated` and what it was due to stand apart here, and in one word in a condition.
        cause = each.get("underlyingCause") if each["reason"] == _DEACTIVATED else ""
        reason = f"{_DEACTIVATED}DueTo{cause}" if cause else str(each["reason"])
        counts[reason] = counts.get(reason, 0) + int(each["count"])
    return counts


def _made(item: Object) -> datetime:
    at = created(item)
    if at is None:
        raise KeyError("creationTimestamp")
    return at


def _pod_sets(spec: Mapping[str, Any], status: Mapping[str, Any]) -> tuple[PodSet, ...]:
    admission = status.get("admission") or {}
    given = {each["name"]: each for each in admission.get("podSetAssignments") or ()}
    return tuple(_pod_set(each, given.get(each["name"])) for each in spec.get("podSets") or ())


def _pod_set(item: Object, assignment: Object | None) -> PodSet:
    template = item["template"]["spec"]
    count = int(item.get("count", 1))
    return PodSet(
        name=str(item["name"]),
        count=count,
        spec=template,
        requests=requests(template),
        given=None if assignment is None else int(assignment.get("count", count)),
        flavors=dict((assignment or {}).get("flavors") or {}),
    )
