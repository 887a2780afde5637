"""What becomes of an object that the spec no longer asks for, or asks for anew."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Fate(StrEnum):
    """`KEPT` stays in the cluster, `PROTECTED` makes `pulumi up` refuse, `DELETED` goes."""

    KEPT = "kept"
    PROTECTED = "protected"
    DELETED = "deleted"


_FATES: Mapping[str, Fate] = {
    # A namespace takes everything in it along. A project that leaves the spec loses its
    # queues and its members; its data and its running work are for a person to end.
    "Namespace": Fate.KEPT,
    # Kueue holds these for as long as anything runs on them, and Pulumi would wait for that
    # and give up. Nothing refers to an old one any more, so it does no harm.
    "ResourceFlavor": Fate.KEPT,
    "Topology": Fate.KEPT,
    # Running work keeps the value that it started with, and Kubernetes cannot change a
    # PriorityClass. A replacement under the same name would leave the two kinds apart; another
    # value is another priority with another name.
    "PriorityClass": Fate.PROTECTED,
    "WorkloadPriorityClass": Fate.PROTECTED,
}


def fate_of(kind: str) -> Fate:
    """Return what becomes of an object of a kind."""
    return _FATES.get(kind, Fate.DELETED)
