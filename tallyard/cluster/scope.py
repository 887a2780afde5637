"""Whose work a command is about: one project, the caller's own projects, or all of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallyard import labels
from tallyard.cluster.client import ALL_NAMESPACES, Connection, Kind
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import ClusterQueue, LocalQueue

# Asking each namespace in turn is for the few projects of one person, not for a large cluster.
_PROJECTS_ASKED = 40

type Namespaces = tuple[str, ...]


def namespaces(connection: Connection, project: str | None, *, everything: bool) -> Namespaces:
    """Return the namespaces to read; `(ALL_NAMESPACES,)` for the whole cluster.

    Without a project it is the kubeconfig's own namespace; where that names none, all that
    the caller may read.

    Raises:
        ClusterError: When nothing may be read, or the server cannot be asked.
    """
    if everything:
        return (ALL_NAMESPACES,)
    if project is not None:
        return (labels.namespace(project),)
    if connection.namespace not in (None, "default"):
        return (str(connection.namespace),)
    return _readable(connection)


def read(connection: Connection, kind: Kind, scope: Namespaces) -> tuple[Mapping[str, Any], ...]:
    """Return the objects of a kind in all namespaces of the scope."""
    return tuple(item for name in scope for item in connection.list(kind, namespace=name))


def _readable(connection: Connection) -> Namespaces:
    try:
        connection.list(LocalQueue, namespace=ALL_NAMESPACES)
    except ClusterError as error:
        if error.fault is not Fault.FORBIDDEN:
            raise
        own = tuple(name for name in _candidates(connection) if _may_read(connection, name))
        if not own:
            raise
        return own
    return (ALL_NAMESPACES,)


def _candidates(connection: Connection) -> Namespaces:
    """Return the namespaces of the projects, which every user may learn from the queues."""
    projects = {
        queue["metadata"].get("labels", {}).get(labels.PROJECT)
        for queue in connection.list(ClusterQueue)
    }
    return tuple(sorted(labels.namespace(p) for p in projects if p))[:_PROJECTS_ASKED]


def _may_read(connection: Connection, namespace: str) -> bool:
    try:
        connection.list(LocalQueue, namespace=namespace)
    except ClusterError as error:
        if error.fault is not Fault.FORBIDDEN:
            raise
        return False
    return True
