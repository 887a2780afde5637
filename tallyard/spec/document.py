"""How the spec's YAML looks: one pydantic model per mapping, a description on every key.

The JSON Schema (`schema.py`), `tally spec explain` (`explain.py`), the reference page and the
checks of shape (`shape.py`) all come from these models. The kinds of value are `fields.py`'s;
what the values mean together is `checks.py`'s.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Discriminator, Field, Tag

from tallyard.spec.fields import (
    CARDS_PER_HOST_MAX,
    PRIORITY_MAX,
    PRIORITY_MIN,
    SLICES_MAX,
    WEIGHT_MAX,
    Burst,
    Cards,
    Charged,
    CoreHours,
    Cpu,
    DnsLabel,
    Factor,
    HostRange,
    LabelValue,
    Login,
    Moment,
    Quantity,
    Rate,
    Reason,
    Registry,
    Resource,
    ResourcePrefix,
    Share,
    ShortTime,
    Spoken,
    WorkTime,
    Zone,
    key,
)

API_VERSION = "tallyard.dev/v1"
# What pydantic puts into the place of a fault to say which form of a value it tried.
WORD = "[word]"
MAPPING = "[mapping]"


class _Keys(BaseModel):
    """A mapping with a fixed set of keys; nothing is converted, nothing unknown accepted."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=False
    )


class MetadataKeys(_Keys):
    """Names the platform."""

    name: DnsLabel = key("What the platform is called.")


class IncludesKeys(_Keys):
    """What the rate of a card covers besides the card."""

    cpu: Cpu = key("vCPU that the rate covers, for each card.")
    memory: Quantity = key("Memory that the rate covers, for each card, e.g. 64Gi.")


class AcceleratorKeys(_Keys):
    """A model of card; its key is the value of the node label gpu.model."""

    vendor: DnsLabel = key(
        "Who makes the card, in lower case.", effect="The node label gpu.vendor."
    )
    memory: Quantity = key(
        "The memory of one card, e.g. 80Gi.", effect="The node label gpu.memory."
    )
    resource: Resource | None = key(
        "The resource that the vendor's device plugin offers; for nvidia it is nvidia.com/gpu.",
        effect="What jobs request and what quotas count.",
        origin="the name that NVIDIA's device plugin uses; the others have none that is sure",
        default=None,
    )
    rate: Rate = key(
        "Core-hours for one card for one hour, with up to three decimals.",
        effect="What a job freezes and pays; what a tier's core-hours last for.",
        enforced=False,
    )
    includes: IncludesKeys | None = key(
        "The vCPU and memory that the rate covers for each card; more is paid for like CPU work.",
        effect="Only what a pod asks beyond it costs core-hours of its own.",
        enforced=False,
        origin="nothing is included unless it is said",
        default=None,
    )
    origin: Literal["measured", "rule of thumb", "vendor"] = key(
        "Where the rate comes from, so that people know what to trust.",
        effect="Shown beside the rate.",
    )


class PriorityKeys(_Keys):
    """One priority of work."""

    name: DnsLabel = key(
        "What the priority is called.", effect="A PriorityClass and a WorkloadPriorityClass."
    )
    value: int = key(
        "The higher goes first.",
        effect="The order in a queue, and who gives cards back to whom.",
        ge=PRIORITY_MIN,
        le=PRIORITY_MAX,
    )
    preemptible: bool = key(
        "Whether this work can be stopped to give cards back to their owner.",
        effect="A pool that borrows needs such a priority; an inference pool may not have one.",
        origin="work is stopped only where that is said",
        default=False,
    )


class SharingKeys(_Keys):
    """How the cards of a pool are cut."""

    time_slicing: int = key(
        "How many share one card in turns, without a wall between their memories.",
        effect="The card is offered as so many slices under a resource of their own.",
        alias="time-slicing",
        ge=2,
        le=SLICES_MAX,
    )


def _form(value: object) -> str:
    return MAPPING if isinstance(value, Mapping) else WORD


type Sharing = Annotated[
    Annotated[Literal["exclusive"], Tag(WORD)] | Annotated[SharingKeys, Tag(MAPPING)],
    Discriminator(_form),
]


class PoolKeys(_Keys):
    """A kind of work and the cards it runs on."""

    models: Annotated[tuple[LabelValue, ...], Field(min_length=1)] | None = key(
        "The accelerators of the pool; a pool that borrows takes them from its lender.",
        effect="One ResourceFlavor for each.",
        default=None,
    )
    work: Literal["batch", "inference"] = key(
        "batch runs to an end; inference serves until somebody stops it.",
        effect="Inference outranks all batch work and may have burst and scale-within.",
        origin="most pools run jobs",
        default="batch",
    )
    priority: DnsLabel = key(
        "The priority of the pool's work.", effect="The priority that its queues demand."
    )
    sharing: Sharing = key(
        "exclusive gives whole cards; {time-slicing: N} gives N slices of each.",
        effect="Quotas count cards all the same; of a sliced card all slices.",
        origin="whole cards are what training and serving at a promised speed need",
        default="exclusive",
    )
    default_model: LabelValue | None = key(
        "The model for work that names none; the first of `models` if it is not said.",
        effect="Such work waits for this model and is not moved to a dearer one.",
        enforced=False,
        alias="default-model",
        default=None,
    )
    borrowed: Literal["keep", "reclaim"] = key(
        "What happens to cards that a queue has borrowed when their owner wants them.",
        effect="keep: work of the same priority runs to its end; reclaim: the owner stops it.",
        origin="a training run that is stopped loses more than its owner gains",
        default="keep",
    )
    borrows_from: DnsLabel | None = key(
        "The pool whose idle cards this one uses; it then owns none itself.",
        effect="Its queues have a quota of nothing in the lender's cohort.",
        alias="borrows-from",
        default=None,
    )
    cpu: bool = key(
        "Whether work without cards runs here too, on the hosts of the built-in pool cpu.",
        effect="The CPU hosts' quota stands on this pool's cohort.",
        origin="one pool runs such work, and it is named",
        default=False,
    )
    termination_grace: ShortTime = key(
        "How long work may take to save itself when it is stopped, e.g. 120s.",
        effect="The bound for terminationGracePeriodSeconds of the pool's pods.",
        enforced=False,
        origin="Kubernetes' own default",
        alias="termination-grace",
        default="30s",
    )
    burst: Burst | None = key(
        "How far a queue of an inference pool may go beyond its cards, in per cent of them.",
        effect="The borrowing limit of its ClusterQueues, rounded down to whole cards.",
        origin="a reservation is what it says unless burst is given",
        default=None,
    )
    scale_within: ShortTime | None = key(
        "How soon a service of the pool is to have more replicas when its load rises.",
        effect="The bound that its scaling is configured and watched for.",
        enforced=False,
        alias="scale-within",
        default=None,
    )
    pods_per_agent: Annotated[int, Field(ge=1, le=1_000)] | None = key(
        "How many pods one agent may start in a pool that borrows.",
        effect="The bound that a request is checked against.",
        enforced=False,
        alias="pods-per-agent",
        default=None,
    )
    backoff_limit: Annotated[int, Field(ge=0, le=100)] | None = key(
        "How often a job of a pool that borrows starts again after it failed.",
        effect="The bound for backoffLimit of its jobs.",
        enforced=False,
        alias="backoff-limit",
        default=None,
    )


class PerCardKeys(_Keys):
    """What a request gets for each of its cards."""

    cpu: Cpu = key("vCPU for each card.")
    memory: Quantity = key("Memory for each card, e.g. 4Gi.")


class EnvironmentDefaultsKeys(_Keys):
    """The defaults that may differ between environments."""

    registry: Registry | None = key(
        "The registry of images that name none, e.g. registry.example.com/team.",
        effect="It is put before such an image's name.",
        enforced=False,
        per_environment=True,
        default=None,
    )


class DefaultsKeys(EnvironmentDefaultsKeys):
    """What a request that names nothing gets."""

    per_card: PerCardKeys = key(
        "What it gets for each card.",
        effect="The requests of a container that names none.",
        enforced=False,
        alias="per-card",
    )
    ephemeral_storage: Quantity = key(
        "The local disk that a pod gets, e.g. 20Gi.",
        effect="The request of a container that names none.",
        enforced=False,
        alias="ephemeral-storage",
    )
    resources: dict[Resource, Annotated[int, Field(ge=1, le=1_000)]] = key(
        "Resources of other device plugins that each pod gets, e.g. {rdma/hca: 1}.",
        effect="Each of them must be named in `uncounted`: no queue has a quota of it.",
        origin="a pod gets nothing that it did not ask for",
        default={},
    )


class TierKeys(_Keys):
    """A class of quota that projects share."""

    weight: int = key(
        "The share of idle cards that a project of the tier gets, relative to the others.",
        effect="The fair sharing weight of its ClusterQueues.",
        ge=1,
        le=WEIGHT_MAX,
    )
    core_hours: CoreHours = key(
        "The core-hours that a project gets, per day, week or month: 600000/month.",
        effect="What its jobs can freeze and are charged to.",
        enforced=False,
        alias="core-hours",
    )
    max_time: WorkTime = key(
        "The longest time limit that a job may have, e.g. 72h.",
        effect="The bound for the time limit of its jobs.",
        enforced=False,
        alias="max-time",
    )
    user_share: Share = key(
        "The part of the project's core-hours that one user may have frozen and charged.",
        effect="The limit of each user who has no `share`.",
        enforced=False,
        origin="a project shares among its people as it likes",
        alias="user-share",
        default="100%",
    )
    cards: dict[DnsLabel, dict[LabelValue, Cards]] = key(
        "Pool, model, number: the cards that each project of the tier owns. "
        "A pool that is not named is not granted.",
        effect="The nominal quota of the project's ClusterQueue in that pool.",
    )
    borrow: dict[DnsLabel, Cards] = key(
        "Pool, number: the cards of each model that a queue may use beyond its own.",
        effect="The borrowing limit of the ClusterQueue.",
        origin="a queue keeps to its own cards unless it is said",
        default={},
    )


class UserKeys(_Keys):
    """A person; the key is a legal label value and stands in labels and books."""

    logins: Annotated[tuple[Login, ...], Field(min_length=1)] | None = key(
        "What the API server calls the person; the key itself where none is given.",
        effect="The subjects of the RoleBinding in the project's namespace.",
        default=None,
    )
    share: Share | None = key(
        "The part of the project's core-hours that this user may have frozen and charged; "
        "the tier's user-share if it is not said. All shares may add up to more than 100%.",
        effect="The limit on this user's account.",
        enforced=False,
        default=None,
    )


class OverrideKeys(_Keys):
    """Other limits for one project until a moment; then its tier's hold again."""

    cards: dict[DnsLabel, dict[LabelValue, Cards]] = key(
        "Pool, model, number: the cards that replace the tier's.",
        effect="The nominal quota until then.",
        origin="what is not named stays as the tier has it",
        default={},
    )
    borrow: dict[DnsLabel, Cards] = key(
        "Pool, number: the borrowing that replaces the tier's.",
        effect="The borrowing limit until then.",
        origin="what is not named stays as the tier has it",
        default={},
    )
    core_hours: CoreHours | None = key(
        "The core-hours that replace the tier's.", alias="core-hours", default=None
    )
    max_time: WorkTime | None = key(
        "The longest time limit that replaces the tier's.", alias="max-time", default=None
    )
    until: Moment = key(
        "The last day on which it holds, or the moment at which it ends: 2026-12-31, "
        "2026-12-31T18:00, 2026-12-31T18:00+08:00.",
        effect="The next `pulumi up` after it brings the tier's limits back.",
    )
    reason: Reason = key("Why, in a few words.", effect="Shown wherever the limits are shown.")


class ProjectKeys(_Keys):
    """A team; the key is what people say."""

    id: DnsLabel | None = key(
        "The name in labels, namespace and books; it survives a rename of the key.",
        effect="The namespace, and the first part of each ClusterQueue's name.",
        default=None,
    )
    tier: DnsLabel = key("The class of quota that the project has.")
    default_user: LabelValue | None = key(
        "Who pays for what a service account or an unknown login submits; without one it is refused.",
        effect="The user's label of such work.",
        enforced=False,
        alias="default-user",
        default=None,
    )
    users: dict[LabelValue, UserKeys] = key(
        "The people of the project.", min_length=1, effect="Who may submit into its queues."
    )
    overrides: tuple[OverrideKeys, ...] = key(
        "Other limits for a time.",
        effect="They replace the tier's until they end.",
        default=(),
    )


class HostsKeys(_Keys):
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


class WaitKeys(_Keys):
    """What waiting in a queue costs."""

    charged: Charged = key(
        "The part of a job's rate that its wait costs.",
        effect="A freeze of its own beside the job's.",
        enforced=False,
        origin="rule of thumb: who holds a place pays for it as for the card",
        default="100%",
    )
    up_to: ShortTime = key(
        "The most of a wait that is charged; the rest is free.",
        effect="The most that the wait can cost, frozen before it begins.",
        enforced=False,
        origin="rule of thumb: five minutes are the user's, more is the platform's fault",
        alias="up-to",
        default="5m",
    )


class PriceKeys(_Keys):
    """What work costs; a core-hour is one vCPU and 1 GiB for one hour."""

    uneven: Literal["larger", "mean"] = key(
        "What a pod pays whose vCPU and GiB differ: the larger of the two numbers, or their mean.",
        effect="The rate of CPU work, and of what a pod asks beyond what its cards include.",
        enforced=False,
        origin="rule of thumb: who takes the larger one leaves a rest that nobody can use",
        default="larger",
    )
    wait: WaitKeys = key("What waiting costs.", default=WaitKeys())


class FastLaneKeys(_Keys):
    """Short work that may go past the cap."""

    up_to: ShortTime = key(
        "The longest time limit of work in the fast lane.",
        effect="Such work may use what is left when the queue's cap is reached.",
        enforced=False,
        origin="rule of thumb: a quarter of an hour tests a job before it runs",
        alias="up-to",
        default="15m",
    )


class FreezeKeys(_Keys):
    """How core-hours are frozen before work runs."""

    cap: Share = key(
        "The part of a project's core-hours that one queue may have frozen at once.",
        effect="A job that alone exceeds it is refused.",
        enforced=False,
        origin="rule of thumb: three queues cannot starve a fourth",
        default="30%",
    )
    fast_lane: FastLaneKeys = key(
        "Short work may go past the cap.", alias="fast-lane", default=FastLaneKeys()
    )
    max_time_default: WorkTime = key(
        "The time limit of a job that names none.",
        effect="What such a job freezes for, and when it is stopped.",
        enforced=False,
        origin="rule of thumb: half a working day",
        alias="max-time-default",
        default="4h",
    )
    window: WorkTime = key(
        "How long ahead open-ended work is frozen for, again and again.",
        effect="What a service has frozen at any time.",
        enforced=False,
        origin="rule of thumb: long enough to react, short enough not to hoard",
        default="1h",
    )
    debt_max: Charged = key(
        "How far a service may run into debt, in per cent of the project's core-hours.",
        effect="Beyond it no new work of the project starts; the service runs on.",
        enforced=False,
        origin="rule of thumb: about a day and a half of a month",
        alias="debt-max",
        default="5%",
    )


class OvercommitKeys(_Keys):
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


class PlatformKeys(_Keys):
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
    overcommit: OvercommitKeys = key(
        "How much more is promised than there is.", per_environment=True, default=OvercommitKeys()
    )
    availability: Share = key(
        "The part of all hours in which a card can be expected to work.",
        effect="What the cards can give is counted with it.",
        origin="rule of thumb: failures, upgrades and gaps between jobs take a tenth",
        per_environment=True,
        default="90%",
    )
    tiers: dict[DnsLabel, TierKeys] = key("Classes of quota.", filled="minProperties")
    projects: dict[Spoken, ProjectKeys] = key("The teams.", filled="minProperties")


class OverlayKeys(_Keys):
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
    overcommit: OvercommitKeys | None = key(
        "How much more is promised than there is.", per_environment=True, default=None
    )
    availability: Share | None = key(
        "The part of all hours in which a card can be expected to work.",
        per_environment=True,
        default=None,
    )
