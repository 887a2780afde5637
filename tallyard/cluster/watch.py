"""Everything of one kind as it is, and then each change of it, as a bounded stretch of time.

A watch that is cut off by the network says nothing for ever, and one that was away may have
missed a deletion. So a stretch ends by itself within a given time, and the next one begins with a
whole list again, on a new connection.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import httpx2
from lightkube.operators import exists

from tallyard.cluster.client import PAGE, Connection, Kind, explained


@dataclass(frozen=True)
class Listed:
    """All objects that there are now; every other one is gone."""

    items: tuple[Mapping[str, Any], ...]


@dataclass(frozen=True)
class Changed:
    """One object that was made or changed, or that `is_gone`."""

    item: Mapping[str, Any]
    is_gone: bool


type Seen = Listed | Changed


def stretch(
    connection: Connection,
    kind: Kind,
    *,
    seconds_max: float,
    namespace: str | None = None,
    name: str | None = None,
    having: str | None = None,
) -> Iterator[Seen]:
    """Yield the list, then its changes, and end within a time.

    What is left after the list is halved: it ends at the first change after the one half, or
    when nothing has come for as long as the other. For silence can be bounded only before a
    watch begins, and may set in at any moment.

    Args:
        connection: One of its own: it cannot be used for anything else afterwards.
        kind: The kind.
        seconds_max: From the begin of the list to the end; a list that takes longer than this
            is not cut off, and nothing is watched after it.
        namespace: None for a cluster-wide kind.
        name: Only the object of this name, which is also the only one that may be forbidden.
        having: Only objects with this label, whatever its value.

    Raises:
        ClusterError: The server cannot be asked or refuses.
    """
    scope: dict[str, Any] = {"namespace": namespace}
    if name is not None:
        scope["fields"] = {"metadata.name": name}
    if having is not None:
        scope["labels"] = {having: exists()}
    deadline = time.monotonic() + seconds_max
    with explained(connection.where, kind.__name__, connection.client):
        found: Any = connection.client.list(kind, chunk_size=PAGE, **scope)
        items = tuple(item.to_dict() for item in found)
    yield Listed(items)
    silence = (deadline - time.monotonic()) / 2
    if silence <= 0:
        return
    # lightkube lets a watch be silent for ever, and has no option for that.
    connection.client._client._watch_timeout.read = silence  # noqa: SLF001
    with explained(connection.where, kind.__name__, connection.client):
        version = found.resourceVersion
        changes: Any = connection.client.watch(kind, resource_version=version, **scope)
        try:
            for verb, item in changes:
                yield Changed(item.to_dict(), verb == "DELETED")
                if time.monotonic() > deadline - silence:
                    return
        except httpx2.ReadTimeout:
            return  # the silence that ends a stretch
