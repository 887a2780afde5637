"""How much of everything goes with a number of cards.

A queue's quota is counted in cards; what else its pods need (vCPU, memory, disk, pods) is
the hosts' share per card, so that cards never wait for memory and memory never for cards.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tallyard.spec.model import Node, Platform
from tallyard.units import format_bytes, format_cpu

# The kubelet's default for --max-pods; a host takes no more, whatever the quota says.
PODS_PER_HOST = 110
# Disk is covered only so that a request for it does not make work inadmissible. What fits is
# decided by each host's own disk, which Kueue's topology and the scheduler look at; 100 TiB is
# more than a host has, so that the quota never decides.
STORAGE_BYTES_PER_HOST = 100 * 2**40

CPU = "cpu"
MEMORY = "memory"
STORAGE = "ephemeral-storage"
PODS = "pods"
BASE_RESOURCES = (CPU, MEMORY, STORAGE, PODS)


@dataclass(frozen=True)
class Amount:
    """An amount of the resources that every pod needs. Memory and storage in bytes."""

    milli_cpu: int = 0
    memory: int = 0
    storage: int = 0
    pods: int = 0

    def times(self, factor: int) -> Amount:
        """Return the amount taken `factor` times."""
        return Amount(
            self.milli_cpu * factor,
            self.memory * factor,
            self.storage * factor,
            self.pods * factor,
        )

    def quantities(self) -> Mapping[str, str]:
        """Return the amount as Kubernetes quantities by resource name."""
        return {
            CPU: format_cpu(self.milli_cpu),
            MEMORY: format_bytes(self.memory),
            STORAGE: format_bytes(self.storage),
            PODS: str(self.pods),
        }


def per_card(platform: Platform, pool: str, model: str) -> Amount:
    """Return what goes with one card: the smallest share of each among the hosts of the model.

    A pool without such hosts gives nothing; the spec's checks have refused it before.
    """
    # Most hosts are alike, and this is asked for every queue.
    nodes = {(n.cpu, n.memory_bytes, n.cards): n for n in platform.nodes_of(pool, model)}
    shares = [_share(node) for node in nodes.values()]
    if not shares:
        return Amount()
    return Amount(
        milli_cpu=min(share.milli_cpu for share in shares),
        memory=min(share.memory for share in shares),
        storage=min(share.storage for share in shares),
        pods=min(share.pods for share in shares),
    )


def of_hosts(nodes: tuple[Node, ...]) -> Amount:
    """Return what hosts have together."""
    return Amount(
        milli_cpu=sum(node.cpu for node in nodes) * 1000,
        memory=sum(node.memory_bytes for node in nodes),
        storage=STORAGE_BYTES_PER_HOST * len(nodes),
        pods=PODS_PER_HOST * len(nodes),
    )


def _share(node: Node) -> Amount:
    return Amount(
        milli_cpu=node.cpu * 1000 // node.cards,
        memory=node.memory_bytes // node.cards,
        storage=STORAGE_BYTES_PER_HOST // node.cards,
        pods=max(1, PODS_PER_HOST // node.cards),
    )
