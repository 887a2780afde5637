"""How each part of the process opens connections: from a kubeconfig, or as the pod's account."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager

from tallyard.cluster import kubeconfig
from tallyard.cluster.client import Connection, opened

# Opens a connection whose requests may take so many seconds.
type Open = Callable[[float], AbstractContextManager[Connection]]


def opener(path: str | None) -> Open:
    """Return what opens connections.

    Args:
        path: A kubeconfig; None within the cluster.
    """

    @contextmanager
    def open_(seconds: float) -> Iterator[Connection]:
        config = kubeconfig.choose(None, path) if path else kubeconfig.in_cluster()
        with opened(config, seconds) as connection:
            yield connection

    return open_
