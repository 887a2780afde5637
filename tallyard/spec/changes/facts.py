"""What can differ, in what unit, and whether more of it is a gain: one flat table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import StrEnum


class Unit(StrEnum):
    """What kind of value a fact has, and so how it is counted and shown."""

    CARDS = "cards"
    NUMBER = "number"
    GRANT = "core-hours/period"
    LASTING = "hours/period"
    SECONDS = "seconds"
    PERCENT = "percent"
    MILLI_CORE_HOURS = "thousandths of a core-hour"
    MILLI = "thousandths"
    BYTES = "bytes"
    RANK = "priority"
    SHARING = "sharing"
    WORD = "word"
    CHOICE = "choice"
    CHOICES = "choices"
    WORDS = "words"
    YES_NO = "boolean"


class Fact(StrEnum):
    """What can differ, by the names of the spec's keys, what people feel most first."""

    CARDS = "cards"
    BORROW = "borrow"
    CORE_HOURS = "core-hours"
    LASTS = "lasts"
    MAX_TIME = "max-time"
    USER_SHARE = "user-share"
    ROLLOVER = "rollover"
    SHARE = "share"
    TIER = "tier"
    PRIORITY = "priority"
    WEIGHT = "weight"
    USER = "user"
    ADMIN = "admin"
    DEFAULT_USER = "default-user"
    RATE = "rate"
    INCLUDES_CPU = "includes.cpu"
    INCLUDES_MEMORY = "includes.memory"
    ORIGIN = "origin"
    CARD_MEMORY = "card-memory"
    VENDOR = "vendor"
    RESOURCE = "resource"
    UNEVEN = "uneven"
    WAIT_CHARGED = "wait.charged"
    WAIT_UP_TO = "wait.up-to"
    CAP = "cap"
    FAST_LANE = "fast-lane.up-to"
    MAX_TIME_DEFAULT = "max-time-default"
    WINDOW = "window"
    DEBT_MAX = "debt-max"
    START_WITHIN = "start-within"
    REQUEUES = "requeues"
    REQUEUE_AFTER = "requeue-after"
    FINISHED = "finished"
    STOPPED = "stopped"
    REGISTRY = "registry"
    CPU_PER_CARD = "per-card.cpu"
    MEMORY_PER_CARD = "per-card.memory"
    STORAGE = "ephemeral-storage"
    RESOURCES = "resources"
    VALUE = "value"
    PREEMPTIBLE = "preemptible"
    POOL_PRIORITY = "queue-priority"
    MODELS = "models"
    WORK = "work"
    SHARING = "sharing"
    DEFAULT_MODEL = "default-model"
    BORROWED = "borrowed"
    BORROWS_FROM = "borrows-from"
    RUNS_CPU_WORK = "cpu"
    GRACE = "termination-grace"
    BURST = "burst"
    SCALE_WITHIN = "scale-within"
    PODS_PER_AGENT = "pods-per-agent"
    BACKOFF_LIMIT = "backoff-limit"
    NAME = "metadata.name"
    TIME_ZONE = "time-zone"
    TOPOLOGY = "topology"
    UNCOUNTED = "uncounted"
    OVERCOMMIT_CARDS = "overcommit.cards"
    OVERCOMMIT_CORE_HOURS = "overcommit.core-hours"
    AVAILABILITY = "availability"
    CARDS_PER_HOST = "cards-per-host"
    CPU = "vcpu"
    MEMORY = "memory"
    BLOCK = "block"
    RACK = "rack"
    LINKS = "links"


# The unit, and 1 where more is a gain, -1 where more is a loss, 0 where it is neither.
KINDS: Mapping[Fact, tuple[Unit, int]] = {
    Fact.CARDS: (Unit.CARDS, 1),
    Fact.BORROW: (Unit.CARDS, 1),
    Fact.CORE_HOURS: (Unit.GRANT, 1),
    Fact.LASTS: (Unit.LASTING, 1),
    Fact.MAX_TIME: (Unit.SECONDS, 1),
    Fact.USER_SHARE: (Unit.PERCENT, 1),
    Fact.ROLLOVER: (Unit.PERCENT, 1),
    Fact.SHARE: (Unit.PERCENT, 1),
    Fact.PRIORITY: (Unit.RANK, 1),
    Fact.WEIGHT: (Unit.NUMBER, 1),
    Fact.USER: (Unit.WORDS, 0),
    Fact.ADMIN: (Unit.YES_NO, 0),
    Fact.RATE: (Unit.MILLI_CORE_HOURS, -1),
    Fact.INCLUDES_CPU: (Unit.NUMBER, 1),
    Fact.INCLUDES_MEMORY: (Unit.BYTES, 1),
    Fact.WAIT_CHARGED: (Unit.PERCENT, -1),
    Fact.WAIT_UP_TO: (Unit.SECONDS, -1),
    Fact.CAP: (Unit.PERCENT, 1),
    Fact.FAST_LANE: (Unit.SECONDS, 1),
    Fact.MAX_TIME_DEFAULT: (Unit.SECONDS, 0),
    Fact.WINDOW: (Unit.SECONDS, 0),
    Fact.DEBT_MAX: (Unit.PERCENT, 1),
    Fact.START_WITHIN: (Unit.SECONDS, 0),
    Fact.REQUEUES: (Unit.NUMBER, 0),
    Fact.REQUEUE_AFTER: (Unit.SECONDS, 0),
    Fact.FINISHED: (Unit.SECONDS, 0),
    Fact.STOPPED: (Unit.SECONDS, 0),
    Fact.CPU_PER_CARD: (Unit.NUMBER, 0),
    Fact.MEMORY_PER_CARD: (Unit.BYTES, 0),
    Fact.STORAGE: (Unit.BYTES, 0),
    Fact.RESOURCES: (Unit.NUMBER, 0),
    Fact.VALUE: (Unit.NUMBER, 0),
    Fact.PREEMPTIBLE: (Unit.YES_NO, 0),
    Fact.MODELS: (Unit.WORDS, 0),
    Fact.SHARING: (Unit.SHARING, 0),
    Fact.RUNS_CPU_WORK: (Unit.YES_NO, 0),
    Fact.GRACE: (Unit.SECONDS, 1),
    Fact.BURST: (Unit.PERCENT, 1),
    Fact.SCALE_WITHIN: (Unit.SECONDS, -1),
    Fact.PODS_PER_AGENT: (Unit.NUMBER, 1),
    Fact.BACKOFF_LIMIT: (Unit.NUMBER, 1),
    Fact.TOPOLOGY: (Unit.CHOICES, 0),
    Fact.ORIGIN: (Unit.CHOICE, 0),
    Fact.UNEVEN: (Unit.CHOICE, 0),
    Fact.WORK: (Unit.CHOICE, 0),
    Fact.BORROWED: (Unit.CHOICE, 0),
    Fact.UNCOUNTED: (Unit.WORDS, 0),
    Fact.OVERCOMMIT_CARDS: (Unit.MILLI, 0),
    Fact.OVERCOMMIT_CORE_HOURS: (Unit.MILLI, 0),
    Fact.AVAILABILITY: (Unit.PERCENT, 0),
    Fact.CARDS_PER_HOST: (Unit.CARDS, 1),
    Fact.CPU: (Unit.NUMBER, 1),
    Fact.MEMORY: (Unit.BYTES, 1),
}
# All others are names.
NAME: tuple[Unit, int] = (Unit.WORD, 0)
