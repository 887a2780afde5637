"""Whose work a command is about: one project, the caller's own projects, or all of them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from difflib import get_close_matches
from typing import Any

from tallyard import labels
from tallyard.cluster import projects
from tallyard.cluster.client import ALL_NAMESPACES, Connection, Kind
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.cluster.kinds import ClusterQueue, LocalQueue
from tallyard.failures import one_line

# Each is one request of about 10 ms: so many take the ten seconds that a person waits at most.
PROJECTS_ASKED_MAX = 1000
_CHOICES_SHOWN_MAX = 8
# A DNS label: an id is a namespace's name.
_ID = re.compile(r"[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?")

type Namespaces = tuple[str, ...]


def namespaces(connection: Connection, project: str | None, *, everything: bool) -> Namespaces:
    """Return the namespaces to read; `(ALL_NAMESPACES,)` for the whole cluster.

    Without a project it is the kubeconfig's own namespace; where that names none, all that
    the caller may read.

    Args:
        connection: The cluster.
        project: A project's key or its id.
        everything: Whether all projects are meant.

    Raises:
        ClusterError: When nothing may be read, there is no such project, or the server
            cannot be asked.
    """
    if everything:
        return (ALL_NAMESPACES,)
    if project is not None:
        return (_let_in(connection, project, _named(connection, project)),)
    if connection.namespace not in (None, labels.DEFAULT_NAMESPACE):
        return (str(connection.namespace),)
    return _readable(connection)


@contextmanager
def of_platform(connection: Connection) -> Iterator[None]:
    """Tell who is refused where there is no platform that there is none.

    With the platform goes everybody's right to it, so that the server says "forbidden".

    Raises:
        ClusterError: With `Fault.NO_SUCH_KIND` then.
    """
    try:
        yield
    except ClusterError as error:
        if error.fault is not Fault.FORBIDDEN or connection.serves(labels.KUEUE_API):
            raise
        raise ClusterError(
            Fault.NO_SUCH_KIND, connection.where, name=LocalQueue.__name__
        ) from error


def read(connection: Connection, kind: Kind, scope: Namespaces) -> tuple[Mapping[str, Any], ...]:
    """Return the objects of a kind in all namespaces of the scope."""
    return tuple(item for name in scope for item in connection.list(kind, namespace=name))


def _named(connection: Connection, project: str) -> str:
    refused = ClusterError(Fault.BAD_PROJECT, connection.where, name=one_line(project))
    if not project.strip() or not project.isprintable():
        raise refused
    try:
        keys = projects.keys_by_id(connection.list(ClusterQueue))
    except ClusterError as error:
        if error.fault is not Fault.FORBIDDEN:
            raise
        # Who may not read the queues may still read a namespace: then it is called by its id.
        # It goes into the request's path, where anything else would ask for another thing.
        if not _ID.fullmatch(project):
            raise refused from error
        return labels.namespace(project)
    found = projects.id_of(project, keys)
    if found is None and "/" in project:
        raise refused
    if found is None:
        raise ClusterError(
            Fault.NO_PROJECT, connection.where, name=project, detail=_choices(project, keys)
        )
    return labels.namespace(found)


def _let_in(connection: Connection, project: str, namespace: str) -> str:
    """Return the namespace; who may not read it is told which projects are theirs."""
    try:
        connection.list(LocalQueue, namespace=namespace)
    except ClusterError as error:
        if error.fault is not Fault.FORBIDDEN:
            raise
        keys = _keys_or_none(connection)
        own = [n for n in map(labels.namespace, keys) if _may_read(connection, n)]
        if not own:
            raise
        names = ", ".join(keys[name] for name in own[:_CHOICES_SHOWN_MAX])
        raise ClusterError(Fault.NOT_YOURS, connection.where, name=project, detail=names) from error
    return namespace


def _keys_or_none(connection: Connection) -> Mapping[str, str]:
    """Return the projects, or none where they cannot all be asked."""
    try:
        keys = projects.keys_by_id(connection.list(ClusterQueue))
    except ClusterError:
        return {}
    return keys if len(keys) <= PROJECTS_ASKED_MAX else {}


def _choices(project: str, keys: Mapping[str, str]) -> str:
    names = sorted({*keys, *keys.values()})
    near = get_close_matches(project, names, n=_CHOICES_SHOWN_MAX, cutoff=0.5) or names
    return ", ".join(near[:_CHOICES_SHOWN_MAX]) or "-"


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
    keys = projects.keys_by_id(connection.list(ClusterQueue))
    if len(keys) > PROJECTS_ASKED_MAX:
        # Some would stay unasked, and a member of one of those would be told a lie.
        raise ClusterError(
            Fault.TOO_MANY_PROJECTS,
            connection.where,
            count=str(len(keys)),
            limit=str(PROJECTS_ASKED_MAX),
        )
    return tuple(labels.namespace(identity) for identity in keys)


def _may_read(connection: Connection, namespace: str) -> bool:
    try:
        connection.list(LocalQueue, namespace=namespace)
    except ClusterError as error:
        if error.fault is not Fault.FORBIDDEN:
            raise
        return False
    return True
