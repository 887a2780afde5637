"""The projects of a cluster by id and by key, from its ClusterQueues. Pure.

Labels and namespaces have the id, which never changes; people say the key. Every member may
read the ClusterQueues, and each of them carries both.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tallyard import labels
from tallyard.cluster.conditions import Object


def keys_by_id(cluster_queues: Iterable[Object]) -> Mapping[str, str]:
    """Return the key of each project by its id, in the order of the ids.

    A queue that does not tell the key stands for a project that is called by its id.
    """
    found: dict[str, str] = {}
    for queue in cluster_queues:
        meta = queue["metadata"]
        if identity := (meta.get("labels") or {}).get(labels.PROJECT):
            key = (meta.get("annotations") or {}).get(labels.PROJECT_KEY)
            found[identity] = str(key or found.get(identity, identity))
    return dict(sorted(found.items()))


def id_of(name: str, keys: Mapping[str, str]) -> str | None:
    """Return the id of the project that a person means by a key or an id; None for no project.

    Where one project's id is another's key, the key counts: it is what people say.

    Args:
        name: What was typed.
        keys: As from `keys_by_id`.
    """
    by_key = {key: identity for identity, key in keys.items()}
    return by_key.get(name) or (name if name in keys else None)
