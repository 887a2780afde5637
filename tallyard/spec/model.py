"""The meaning of the spec: frozen values, all references resolved.

Everything to the right (rendering, Pulumi, the lab, the CLI) reads these and nothing else.
How the YAML looks is the business of `document.py`; how it becomes this, of `resolve.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from tallyard import labels


class Level(StrEnum):
    """Levels of the physical topology, widest first, as the spec names them."""

    BLOCK = "block"
    RACK = "rack"
    HOST = "host"


class Borrowed(StrEnum):
    """What happens to cards that a queue of the pool has borrowed when the owner returns."""

    KEEP = "keep"
    RECLAIM = "reclaim"


@dataclass(frozen=True)
class Accelerator:
    """A model of card. `memory` is the spec's text (it is a label value), e.g. `80Gi`."""

    name: str
    vendor: str
    memory: str
    memory_bytes: int
    resource: str


@dataclass(frozen=True)
class Priority:
    """One priority; it becomes a PriorityClass and a WorkloadPriorityClass of this name."""

    name: str
    value: int
    preemptible: bool


@dataclass(frozen=True)
class Pool:
    """A kind of work and the hosts it runs on.

    A pool with `borrows_from` owns no cards: its queues live in that pool's cohort with a
    quota of nothing. `cpu` says that it also runs the work without cards, on the CPU hosts.
    """

    name: str
    models: tuple[str, ...]
    priority: Priority
    borrowed: Borrowed
    borrows_from: str | None
    cpu: bool

    @property
    def cohort(self) -> str:
        """Return the cohort that the pool's queues belong to."""
        return self.borrows_from or self.name


@dataclass(frozen=True)
class Tier:
    """A named class of quota that projects share.

    `cards[pool][model]` is the nominal quota in cards; `borrow[pool]` is how many cards of
    each model a queue may borrow beyond it. A pool that is not in `cards` is not granted.
    """

    name: str
    weight: int
    cards: Mapping[str, Mapping[str, int]]
    borrow: Mapping[str, int]


@dataclass(frozen=True)
class User:
    """A person. `name` is the spec's own (a legal label value), `logins` are what the API
    server calls them."""

    name: str
    logins: tuple[str, ...]


@dataclass(frozen=True)
class Project:
    """A team. `key` is what people say; `id` is in labels, namespaces and books."""

    key: str
    id: str
    tier: Tier
    users: tuple[User, ...]

    @property
    def namespace(self) -> str:
        """Return the project's namespace."""
        return labels.namespace(self.id)


@dataclass(frozen=True)
class Node:
    """A host. `cpu` and `memory_bytes` are what it can allocate; `model` is None on a CPU host."""

    name: str
    pool: str
    model: str | None
    cards: int
    cpu: int
    memory: str
    memory_bytes: int
    block: str
    rack: str


@dataclass(frozen=True)
class Defaults:
    """What a request that names nothing gets, per card where it says so."""

    cpu_per_card: int
    memory_per_card: str
    ephemeral_storage: str


@dataclass(frozen=True)
class Platform:
    """One platform in one environment."""

    name: str
    accelerators: Mapping[str, Accelerator]
    topology: tuple[Level, ...]
    priorities: Mapping[str, Priority]
    pools: Mapping[str, Pool]
    tiers: Mapping[str, Tier]
    projects: Mapping[str, Project]
    nodes: tuple[Node, ...]
    defaults: Defaults

    def nodes_of(self, pool: str, model: str | None) -> tuple[Node, ...]:
        """Return the hosts of one model in one pool (`None`: hosts without cards)."""
        return tuple(n for n in self.nodes if n.pool == pool and n.model == model)

    def cards_installed(self, pool: str, model: str) -> int:
        """Return how many cards of a model the pool's hosts have together."""
        return sum(node.cards for node in self.nodes_of(pool, model))

    def cards_granted(self, pool: str, model: str) -> int:
        """Return how many cards of a model in a pool the projects' tiers grant together."""
        return sum(
            project.tier.cards.get(pool, {}).get(model, 0) for project in self.projects.values()
        )
