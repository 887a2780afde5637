"""Refuse a cluster that is not the stack's own, before anything is registered.

The uid of the namespace `kube-system` is as old as the cluster and never reused, so it is
the cluster's name. The first `up` keeps it in the stack's state, on the component `Cluster`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

CLUSTER_TYPE = "tallyard:infra:Cluster"


class WrongClusterError(Exception):
    """The stack's objects live in another cluster than the one the kubeconfig names."""


def uid_in(resources: Mapping[str, Mapping[str, Any]]) -> str | None:
    """Find the uid in a state, see `recorded.resources`; None before the first `up`."""
    for resource in resources.values():
        if resource["type"] == CLUSTER_TYPE:
            return str(resource["outputs"]["uid"])
    return None


def check(recorded: str | None, live: str, where: str) -> None:
    """Compare the two.

    Args:
        recorded: the uid in the state, None before the first `up`.
        live: the uid of the cluster that the kubeconfig leads to.
        where: what the kubeconfig calls it, for the message.

    Raises:
        WrongClusterError: they differ.
    """
    if recorded is None or recorded == live:
        return
    raise WrongClusterError(
        f"{where} is not this stack's cluster: its kube-system has the uid {live}, the stack's "
        f"objects live in the cluster {recorded}. Nothing was changed. Choose the right "
        "kubeconfig or context; if the cluster was built anew, start a new stack, or remove "
        "the old objects from the state by `pulumi state delete --all`."
    )
