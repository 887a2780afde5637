"""Which cluster this is, whatever its address or name: the uid of a namespace that never goes."""

from __future__ import annotations

from tallyard.cluster.client import Connection
from tallyard.cluster.kinds import Namespace


def cluster_uid(client: Connection) -> str:
    """Return the uid of the namespace kube-system, which a cluster keeps all its life.

    Raises:
        ClusterError: When the server cannot be asked or refuses.
    """
    return str(client.get(Namespace, "kube-system")["metadata"]["uid"])
