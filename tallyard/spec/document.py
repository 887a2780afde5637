"""How the spec's two files look; a description stands on every key.

The JSON Schema (`schema.py`), `tally spec explain` (`explain.py`), the reference page and the
checks of shape (`shape.py`) all come from these models. The kinds of value are `fields.py`'s,
the mappings for pools, projects and core-hours are in `keys_of_*.py`; what the values mean
together is `checks.py`'s.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field

from tallyard.spec.fields import (
    CARDS_PER_HOST_MAX,
    Cpu,
    DnsLabel,
    Factor,
    HostRange,
    LabelValue,
    Quantity,
    Registry,
    Resource,
    ResourcePrefix,
    Share,
    Spoken,
    Zone,
    key,
)
from tallyard.spec.keys import Keys
from tallyard.spec.keys_of_core_hours import FreezeKeys, PriceKeys
from tallyard.spec.keys_of_pools import AcceleratorKeys, PoolKeys, PriorityKeys
from tallyard.spec.keys_of_projects import ProjectKeys, TierKeys
from tallyard.spec.keys_of_waivers import WaiverKeys
from tallyard.spec.keys_of_work import GangKeys, RetentionKeys

API_VERSION = "tallyard.dev/v1"


class MetadataKeys(Keys):
    """Names the platform."""

    name: DnsLabel = key("What the platform is called.")


class PerCardKeys(Keys):
    """What a request gets for each of its cards."""

    cpu: Cpu = key("vCPU for each card.")
    memory: Quantity = key("Memory for each card, e.g. 4Gi.")


class EnvironmentDefaultsKeys(Keys):
    """The defaults that may differ between environments."""

    registry: Registry | None = key(
        "The registry of images that name none, e.g. registry.example.com/team.",
        effect="It is put before such an image's name.",
        per_environment=True,
        default=None,
    )


class DefaultsKeys(EnvironmentDefaultsKeys):
    """What a request that names nothing gets."""

    per_card: PerCardKeys = key(
        "What it gets for each card.",
        effect="The requests of a container with cards that names none, and its limit of memory; "
        "for a slice its part.",
        alias="per-card",
    )
    ephemeral_storage: Quantity = key(
        "The local disk that a container gets, e.g. 20Gi.",
        effect="The request of a container that names none.",
        alias="ephemeral-storage",
    )
    resources: dict[Resource, Annotated[int, Field(ge=1, le=1_000)]] = key(
        "Resources of other device plugins that each pod gets, e.g. {rdma/hca: 1}.",
        effect="Each of them must be named in `uncounted`: no queue has a quota of it.",
        enforced=False,
        origin="a pod gets nothing that it did not ask for",
        default={},
    )


class HostsKeys(Keys):
    """Hosts of one kind."""

    hosts: HostRange = key("A host, or a range of them: a100-[00-03].", effect="Node names.")
    pool: DnsLabel = key(
        "The pool that the hosts belong to; cpu is the built-in pool of hosts without cards.",
        effect="The node's label and taint.",
    )
    model: LabelValue | None = key("The accelerator in the hosts.", default=None)
    cards: Annotated[int, Field(ge=1, le=CARDS_PER_HOST_MAX)] | None = key(
        "How many cards each host has.", default=None
    )
    links: Literal["nvswitch", "nvlink", "pcie"] | None = key(
        "How the cards of a host are linked; hosts of one model in one pool are alike.",
        effect="What placement inside a host is judged by.",
        enforced=False,
        default=None,
    )
    cpu: Cpu = key("vCPU that a host can give to work.")
    memory: Quantity = key("Memory that a host can give to work, e.g. 1Ti.")
    block: HostRange = key(
        "The network block, or a range over which the racks are shared out.",
        effect="The widest level of placement.",
    )
    rack: HostRange = key(
        "The rack, or a range over which the hosts are shared out in order: r[0-1].",
        effect="The level of placement between block and host.",
    )


class OvercommitKeys(Keys):
    """How much more is promised than there is."""

    cards: Factor = key(
        "Granted cards for each installed one, 1 to 10.",
        effect="Quotas may add up to more than what is installed; then not all can run at once.",
        origin="what is promised is there",
        default=1,
    )
    core_hours: Factor = key(
        "Granted core-hours for each one that the cards can give, 1 to 10.",
        effect="Grants may add up to more than the cards can give.",
        origin="what is promised is there",
        alias="core-hours",
        default=1,
    )


def _overcommit(**rest: Any) -> Any:
    """Describe a key that both files have; so do the next ones."""
    return key("How much more is promised than there is.", per_environment=True, **rest)


def _availability(**rest: Any) -> Any:
    return key(
        "The part of all hours in which a card can be expected to work.",
        effect="What the cards can give is counted with it.",
        per_environment=True,
        **rest,
    )


def _gangs(**rest: Any) -> Any:
    return key("How long admitted work may take to start.", per_environment=True, **rest)


def _retention(**rest: Any) -> Any:
    return key("How long what has ended is kept.", per_environment=True, **rest)


def _waivers() -> Any:
    return key(
        "Exceptions from the rules that a change is reviewed by; those of both files hold.",
        effect="What the rule finds there is told, with the reason, and stops nothing.",
        origin="every rule holds",
        per_environment=True,
        default=(),
    )


class PlatformKeys(Keys):
    """What is the same in every environment."""

    api_version: Literal["tallyard.dev/v1"] = key("The form of this file.", alias="apiVersion")
    kind: Literal["Platform"] = key("What this file describes.")
    metadata: MetadataKeys = key("Names the platform.")
    time_zone: Zone = key(
        "In which days and months are counted, e.g. Asia/Shanghai.",
        effect="When a period of core-hours begins, and when a day of an override ends.",
        origin="the same everywhere",
        alias="time-zone",
        default="UTC",
    )
    price: PriceKeys = key(
        "What work costs, in core-hours: one is one vCPU and 1 GiB for one hour."
        " What a card costs is its accelerator's `rate`.",
        default=PriceKeys(),
    )
    accelerators: dict[LabelValue, AcceleratorKeys] = key(
        "The models of card.", filled="minProperties", effect="Labels that users select on."
    )
    topology: tuple[Literal["block", "rack", "host"], ...] = key(
        "The levels at which work is kept together, widest first, down to the host.",
        effect="The Topology of every flavor.",
        filled="minItems",
    )
    priorities: tuple[PriorityKeys, ...] = key("The priorities of work.", filled="minItems")
    pools: dict[DnsLabel, PoolKeys] = key(
        "Kinds of work and where they run.",
        filled="minProperties",
        effect="A cohort each, and a queue in each project that is granted it.",
    )
    freeze: FreezeKeys = key("How core-hours are frozen before work runs.", default=FreezeKeys())
    defaults: DefaultsKeys = key("What a request that names nothing gets.")
    uncounted: tuple[ResourcePrefix, ...] = key(
        "Beginnings of the names of resources that no queue counts, e.g. rdma/.",
        effect="Kueue's excludeResourcePrefixes: asking for them never makes work wait.",
        origin="what a pod asks for and no queue counts would wait for ever",
        default=(),
    )
    overcommit: OvercommitKeys = _overcommit(default=OvercommitKeys())
    availability: Share = _availability(
        origin="rule of thumb: failures, upgrades and gaps between jobs take a tenth", default="90%"
    )
    gangs: GangKeys = _gangs(default=GangKeys())
    retention: RetentionKeys = _retention(default=RetentionKeys())
    tiers: dict[DnsLabel, TierKeys] = key("Classes of quota.", filled="minProperties")
    projects: dict[Spoken, ProjectKeys] = key("The teams.", filled="minProperties")
    waivers: tuple[WaiverKeys, ...] = _waivers()


class OverlayKeys(Keys):
    """What differs between environments. A key that the platform's file says too counts from here."""

    base: str = key(
        "The platform's file, seen from this file's folder.",
        min_length=1,
        max_length=1_000,
        per_environment=True,
    )
    nodes: tuple[HostsKeys, ...] = key(
        "The hosts of the environment.",
        effect="Labels, taints and quotas.",
        per_environment=True,
        filled="minItems",
    )
    defaults: EnvironmentDefaultsKeys | None = key(
        "The defaults that may differ between environments.", per_environment=True, default=None
    )
    overcommit: OvercommitKeys | None = _overcommit(default=None)
    availability: Share | None = _availability(default=None)
    gangs: GangKeys | None = _gangs(default=None)
    retention: RetentionKeys | None = _retention(default=None)
    waivers: tuple[WaiverKeys, ...] = _waivers()
