"""The meaning of the spec: frozen values, all references resolved.

Everything to the right (rendering, Pulumi, the lab, the CLI) reads these and nothing else.
How the YAML looks is the business of `document.py`; how it becomes this, of `resolve.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fractions import Fraction
from functools import cached_property

from tallyard import labels
from tallyard.spec.waiver import Waiver


class Level(StrEnum):
    """Levels of the physical topology, widest first, as the spec names them."""

    BLOCK = "block"
    RACK = "rack"
    HOST = "host"


class Borrowed(StrEnum):
    """What happens to cards that a queue of the pool has borrowed when the owner returns."""

    KEEP = "keep"
    RECLAIM = "reclaim"


class Work(StrEnum):
    """What runs in a pool: work that ends by itself, or services that are never done."""

    BATCH = "batch"
    INFERENCE = "inference"


class Uneven(StrEnum):
    """What a pod pays whose vCPU and GiB differ."""

    LARGER = "larger"
    MEAN = "mean"


class Period(StrEnum):
    """How often a project gets its core-hours."""

    DAY = "day"
    WEEK = "week"
    MONTH = "month"

    @property
    def hours(self) -> Fraction:
        """Return its length in hours; of a month, that of a twelfth of 365.25 days."""
        return {
            Period.DAY: Fraction(24),
            Period.WEEK: Fraction(168),
            Period.MONTH: Fraction(1461, 2),
        }[self]


@dataclass(frozen=True)
class Accelerator:
    """A model of card.

    `memory` is the spec's text (it is a label value), e.g. `80Gi`. `rate_milli` is what one
    card costs for one hour, in thousandths of a core-hour; it covers `includes_cpu` vCPU and
    `includes_memory_bytes` for each card. `origin` says where the rate comes from.
    """

    name: str
    vendor: str
    memory: str
    memory_bytes: int
    resource: str
    rate_milli: int
    includes_cpu: int
    includes_memory_bytes: int
    origin: str


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
    A card gives `slices` of itself; 1 is the whole card. `default_model` is for work that
    names none. `burst` is in per cent of a queue's cards.
    """

    name: str
    models: tuple[str, ...]
    work: Work
    priority: Priority
    slices: int
    default_model: str
    borrowed: Borrowed
    borrows_from: str | None
    cpu: bool
    termination_grace_seconds: int
    burst: int | None
    scale_within_seconds: int | None
    pods_per_agent: int | None
    backoff_limit: int | None

    @property
    def cohort(self) -> str:
        """Return the cohort that the pool's queues belong to."""
        return self.borrows_from or self.name

    def borrow_limit(self, cards: int, usual: int) -> int:
        """Return how many cards a queue may use beyond its own.

        Args:
            cards: Those it owns.
            usual: What a tier or an override says; the pool's burst goes before it, in whole
                cards, so that the limit is never more than what was said.
        """
        return usual if self.burst is None else cards * self.burst // 100


@dataclass(frozen=True)
class CoreHours:
    """A grant: whole core-hours for each period."""

    amount: int
    period: Period

    @property
    def per_hour(self) -> Fraction:
        """Return the core-hours that it is for each hour, by which grants are compared."""
        return self.amount / self.period.hours

    def __str__(self) -> str:
        return f"{self.amount}/{self.period}"


def core_hours_a_month(rate_milli: int, availability: int) -> Fraction:
    """Return the core-hours that cards can give in a month.

    Args:
        rate_milli: What they cost together for one hour, in thousandths of a core-hour.
        availability: The per cent of all hours in which a card works.
    """
    return Fraction(rate_milli * availability, 1000 * 100) * Period.MONTH.hours


@dataclass(frozen=True)
class Limits:
    """What a project may use.

    `cards[pool][model]` is the nominal quota in cards; `borrow[pool]` is how many cards of
    each model a queue may borrow beyond it. A pool that is not in `cards` is not granted.
    `user_share` and `rollover` are in per cent of the core-hours.
    """

    cards: Mapping[str, Mapping[str, int]]
    borrow: Mapping[str, int]
    core_hours: CoreHours
    max_time_seconds: int
    user_share: int
    rollover: int


@dataclass(frozen=True)
class Tier:
    """A named class of quota that projects share."""

    name: str
    weight: int
    limits: Limits


@dataclass(frozen=True)
class Override:
    """Other limits for one project, as far as they are named, before the moment `until`."""

    cards: Mapping[str, Mapping[str, int]]
    borrow: Mapping[str, int]
    core_hours: CoreHours | None
    max_time_seconds: int | None
    until: datetime
    reason: str


@dataclass(frozen=True)
class User:
    """A person.

    `name` is the spec's own (a legal label value), `logins` are what the API server calls
    them. `share` is in per cent of the project's core-hours. `is_admin` says that the person
    looks after the project.
    """

    name: str
    logins: tuple[str, ...]
    share: int
    is_admin: bool = False


@dataclass(frozen=True)
class Project:
    """A team. `key` is what people say; `id` is in labels, namespaces and books.

    `limits` are the tier's with the overrides that were in force when the spec was read.
    """

    key: str
    id: str
    tier: Tier
    users: tuple[User, ...]
    default_user: str | None
    overrides: tuple[Override, ...]
    limits: Limits

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
    links: str | None


@dataclass(frozen=True)
class Defaults:
    """What a request that names nothing gets, per card where it says so."""

    cpu_per_card: int
    memory_per_card: str
    ephemeral_storage: str
    registry: str | None
    resources: Mapping[str, int]


@dataclass(frozen=True)
class Price:
    """What work costs beside its cards' rates. `wait_charged` is in per cent of a job's rate."""

    uneven: Uneven
    wait_charged: int
    wait_seconds_max: int


@dataclass(frozen=True)
class Freeze:
    """How core-hours are frozen before work runs; `cap` and `debt_max` in per cent of a grant."""

    cap: int
    fast_lane_seconds: int
    max_time_default_seconds: int
    window_seconds: int
    debt_max: int


@dataclass(frozen=True)
class Overcommit:
    """How much more is promised than there is, in thousandths: 1000 promises what there is."""

    cards_milli: int
    core_hours_milli: int


@dataclass(frozen=True)
class Gangs:
    """How admitted work starts: whole within a time, or again after a pause, or never.

    `requeue_seconds` is the first pause; each is twice as long as the one before it.
    """

    start_seconds_max: int
    requeues: int
    requeue_seconds: int


@dataclass(frozen=True)
class Retention:
    """How long what has ended is kept: what succeeded or failed, and what was stopped for good."""

    finished_seconds: int
    stopped_seconds: int


@dataclass(frozen=True)
class Platform:
    """One platform in one environment, as it is at one moment.

    `uncounted` are beginnings of resource names; `availability` is in per cent of all hours.
    `waivers` are those that are in force.
    """

    name: str
    time_zone: str
    price: Price
    accelerators: Mapping[str, Accelerator]
    topology: tuple[Level, ...]
    priorities: Mapping[str, Priority]
    pools: Mapping[str, Pool]
    tiers: Mapping[str, Tier]
    projects: Mapping[str, Project]
    nodes: tuple[Node, ...]
    freeze: Freeze
    defaults: Defaults
    uncounted: tuple[str, ...]
    overcommit: Overcommit
    availability: int
    gangs: Gangs
    retention: Retention
    waivers: tuple[Waiver, ...]

    def nodes_of(self, pool: str, model: str | None) -> tuple[Node, ...]:
        """Return the hosts of one model in one pool (`None`: hosts without cards)."""
        return self._nodes_of.get((pool, model), ())

    @cached_property
    def _nodes_of(self) -> Mapping[tuple[str, str | None], tuple[Node, ...]]:
        """The hosts by pool and model: every queue asks for them again."""
        found: dict[tuple[str, str | None], list[Node]] = {}
        for node in self.nodes:
            found.setdefault((node.pool, node.model), []).append(node)
        return {place: tuple(nodes) for place, nodes in found.items()}

    def pools_of(self, project: Project) -> tuple[Pool, ...]:
        """Return the pools in which a project has a queue: those it is granted cards in, and
        the borrowing ones."""
        return tuple(
            pool
            for pool in self.pools.values()
            if pool.borrows_from is not None or pool.name in project.limits.cards
        )

    def borrow_limit(self, project: Project, pool: str, model: str) -> int:
        """Return how many cards of a model a project's queue may use beyond its own."""
        cards = project.limits.cards.get(pool, {}).get(model, 0)
        return self.pools[pool].borrow_limit(cards, project.limits.borrow.get(pool, 0))

    def cards_installed(self, pool: str, model: str) -> int:
        """Return how many cards of a model the pool's hosts have together."""
        return sum(node.cards for node in self.nodes_of(pool, model))

    def cards_granted(self, pool: str, model: str) -> int:
        """Return how many cards of a model in a pool the projects are granted together."""
        return sum(
            project.limits.cards.get(pool, {}).get(model, 0) for project in self.projects.values()
        )
