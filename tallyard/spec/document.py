"""How the spec's YAML looks: one pydantic model per mapping, a description on every key.

The JSON Schema (`schema.py`), `tally spec explain` (`explain.py`) and the checks of shape
(`shape.py`) all come from these models. What the values mean together is `checks.py`'s.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field
from pydantic_core import PydanticCustomError

from tallyard import units
from tallyard.spec.hosts import RANGE_PATTERN

API_VERSION = "tallyard.dev/v1"
EFFECT = "x-tallyard-effect"
PER_ENVIRONMENT = "x-tallyard-per-environment"

# Limits of Kubernetes: RFC 1123 labels and label values have at most 63 characters.
NAME_LENGTH_MAX = 63
DNS_LABEL_PATTERN = r"^[a-z0-9]([-a-z0-9]*[a-z0-9])?$"
LABEL_VALUE_PATTERN = r"^[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
RESOURCE_PATTERN = r"^[a-z0-9]([-a-z0-9.]*[a-z0-9])?/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?$"
# What people say; one line of letters (of any script), digits and signs, no blank around it.
# No control characters, and none that cannot be seen: two names that look alike must be alike.
_UNSEEN = r"\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ue000-\uf8ff\ufeff"
SPOKEN_PATTERN = rf"^[^\s{_UNSEEN}]([^{_UNSEEN}]*[^\s{_UNSEEN}])?$"
LOGIN_PATTERN = rf"^[^\s{_UNSEEN}]+$"

# Figures above these are slips of the finger; no host or cluster has them.
CARDS_PER_HOST_MAX = 64
CARDS_MAX = 1_000_000
CPU_MAX = 4_096
WEIGHT_MAX = 1_000
# User classes may not go higher: Kubernetes keeps what is above for the system's own.
PRIORITY_MAX = 1_000_000_000
PRIORITY_MIN = -(2**31)
# Below this a quantity is almost surely a number without its unit.
QUANTITY_BYTES_MIN = 2**20


def _whole_bytes(text: str) -> str:
    try:
        amount = units.parse_bytes(text)
    except units.QuantityError as error:
        raise PydanticCustomError("quantity_inexact", "not a whole number of bytes") from error
    if amount < QUANTITY_BYTES_MIN:
        raise PydanticCustomError("quantity_small", "less than 1Mi")
    return text


def _key(
    description: str,
    *,
    effect: str = "",
    per_environment: bool = False,
    filled: str = "",
    **rest: Any,
) -> Any:
    """Describe a key. `filled` is minItems or minProperties of a section that may not be empty:
    `shape.py` checks it, so that an empty section does not hide what else is wrong."""
    extra: dict[str, Any] = {EFFECT: effect} if effect else {}
    if per_environment:
        extra[PER_ENVIRONMENT] = True
    if filled:
        extra[filled] = 1
    return Field(description=description, json_schema_extra=extra or None, **rest)


type DnsLabel = Annotated[str, Field(pattern=DNS_LABEL_PATTERN, max_length=NAME_LENGTH_MAX)]
type LabelValue = Annotated[str, Field(pattern=LABEL_VALUE_PATTERN, max_length=NAME_LENGTH_MAX)]
type Spoken = Annotated[str, Field(pattern=SPOKEN_PATTERN, max_length=NAME_LENGTH_MAX)]
type Login = Annotated[str, Field(pattern=LOGIN_PATTERN, max_length=256)]
type Resource = Annotated[str, Field(pattern=RESOURCE_PATTERN, max_length=253)]
type HostRange = Annotated[str, Field(pattern=RANGE_PATTERN, min_length=1)]
type Quantity = Annotated[str, Field(pattern=units.QUANTITY_PATTERN), AfterValidator(_whole_bytes)]
type Cards = Annotated[int, Field(ge=0, le=CARDS_MAX)]


class _Keys(BaseModel):
    """A mapping with a fixed set of keys; nothing is converted, nothing unknown accepted."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, strict=True, use_attribute_docstrings=False
    )


class MetadataKeys(_Keys):
    """Names the platform."""

    name: DnsLabel = _key("What the platform is called.")


class AcceleratorKeys(_Keys):
    """A model of card; its key is the value of the node label gpu.model."""

    vendor: DnsLabel = _key(
        "Who makes the card, in lower case.", effect="The node label gpu.vendor."
    )
    memory: Quantity = _key(
        "The memory of one card, e.g. 80Gi.", effect="The node label gpu.memory."
    )
    resource: Resource | None = _key(
        "The resource that the vendor's device plugin offers; for nvidia it is nvidia.com/gpu.",
        effect="What jobs request and what quotas count.",
        default=None,
    )


class PriorityKeys(_Keys):
    """One priority of work."""

    name: DnsLabel = _key(
        "What the priority is called.", effect="A PriorityClass and a WorkloadPriorityClass."
    )
    value: int = _key(
        "The higher goes first.",
        effect="The order in a queue, and who gives cards back to whom.",
        ge=PRIORITY_MIN,
        le=PRIORITY_MAX,
    )
    preemptible: bool = _key(
        "Whether this work can be stopped to give cards back to their owner.", default=False
    )


class PoolKeys(_Keys):
    """A kind of work and the cards it runs on."""

    models: Annotated[tuple[LabelValue, ...], Field(min_length=1)] | None = _key(
        "The accelerators of the pool; a pool that borrows takes them from its lender.",
        effect="One ResourceFlavor for each.",
        default=None,
    )
    priority: DnsLabel = _key(
        "The priority of the pool's work.", effect="The priority that its queues demand."
    )
    borrowed: Literal["keep", "reclaim"] = _key(
        "What happens to cards that a queue has borrowed when their owner wants them.",
        effect="keep: work of the same priority runs to its end; reclaim: the owner stops it.",
        default="keep",
    )
    borrows_from: DnsLabel | None = _key(
        "The pool whose idle cards this one uses; it then owns none itself.",
        effect="Its queues have a quota of nothing in the lender's cohort.",
        alias="borrows-from",
        default=None,
    )
    cpu: bool = _key(
        "Whether work without cards runs here too, on the hosts of the built-in pool cpu.",
        effect="The CPU hosts' quota stands on this pool's cohort.",
        default=False,
    )


class PerCardKeys(_Keys):
    """What a request gets for each of its cards."""

    cpu: int = _key("vCPU for each card.", ge=1, le=CPU_MAX)
    memory: Quantity = _key("Memory for each card, e.g. 4Gi.")


class DefaultsKeys(_Keys):
    """What a request that names nothing gets."""

    per_card: PerCardKeys = _key("What it gets for each card.", alias="per-card")
    ephemeral_storage: Quantity = _key(
        "The local disk that a pod gets, e.g. 20Gi.", alias="ephemeral-storage"
    )


class TierKeys(_Keys):
    """A class of quota that projects share."""

    weight: int = _key(
        "The share of idle cards that a project of the tier gets, relative to the others.",
        effect="The fair sharing weight of its ClusterQueues.",
        ge=1,
        le=WEIGHT_MAX,
    )
    cards: dict[DnsLabel, dict[LabelValue, Cards]] = _key(
        "Pool, model, number: the cards that each project of the tier owns. "
        "A pool that is not named is not granted.",
        effect="The nominal quota of the project's ClusterQueue in that pool.",
    )
    borrow: dict[DnsLabel, Cards] = _key(
        "Pool, number: the cards of each model that a queue may use beyond its own.",
        effect="The borrowing limit of the ClusterQueue.",
        default={},
    )


class UserKeys(_Keys):
    """A person; the key is a legal label value and stands in labels and books."""

    logins: Annotated[tuple[Login, ...], Field(min_length=1)] | None = _key(
        "What the API server calls the person; the key itself where none is given.",
        effect="The subjects of the RoleBinding in the project's namespace.",
        default=None,
    )


class ProjectKeys(_Keys):
    """A team; the key is what people say."""

    id: DnsLabel | None = _key(
        "The name in labels, namespace and books; it survives a rename of the key.",
        effect="The namespace, and the first part of each ClusterQueue's name.",
        default=None,
    )
    tier: DnsLabel = _key("The class of quota that the project has.")
    users: dict[LabelValue, UserKeys] = _key(
        "The people of the project.", min_length=1, effect="Who may submit into its queues."
    )


class HostsKeys(_Keys):
    """Hosts of one kind."""

    hosts: HostRange = _key("A host, or a range of them: a100-[00-03].", effect="Node names.")
    pool: DnsLabel = _key(
        "The pool that the hosts belong to; cpu is the built-in pool of hosts without cards.",
        effect="The node's label and taint.",
    )
    model: LabelValue | None = _key("The accelerator in the hosts.", default=None)
    cards: Annotated[int, Field(ge=1, le=CARDS_PER_HOST_MAX)] | None = _key(
        "How many cards each host has.", default=None
    )
    cpu: int = _key("vCPU that a host can give to work.", ge=1, le=CPU_MAX)
    memory: Quantity = _key("Memory that a host can give to work, e.g. 1Ti.")
    block: HostRange = _key(
        "The network block, or a range over which the racks are shared out.",
        effect="The widest level of placement.",
    )
    rack: HostRange = _key(
        "The rack, or a range over which the hosts are shared out in order: r[0-1].",
        effect="The level of placement between block and host.",
    )


class PlatformKeys(_Keys):
    """What is the same in every environment."""

    api_version: Literal["tallyard.dev/v1"] = _key("The form of this file.", alias="apiVersion")
    kind: Literal["Platform"] = _key("What this file describes.")
    metadata: MetadataKeys = _key("Names the platform.")
    accelerators: dict[LabelValue, AcceleratorKeys] = _key(
        "The models of card.", filled="minProperties", effect="Labels that users select on."
    )
    topology: tuple[Literal["block", "rack", "host"], ...] = _key(
        "The levels at which work is kept together, widest first, down to the host.",
        effect="The Topology of every flavor.",
        filled="minItems",
    )
    priorities: tuple[PriorityKeys, ...] = _key("The priorities of work.", filled="minItems")
    pools: dict[DnsLabel, PoolKeys] = _key(
        "Kinds of work and where they run.",
        filled="minProperties",
        effect="A cohort each, and a queue in each project that is granted it.",
    )
    defaults: DefaultsKeys = _key("What a request that names nothing gets.")
    tiers: dict[DnsLabel, TierKeys] = _key("Classes of quota.", filled="minProperties")
    projects: dict[Spoken, ProjectKeys] = _key("The teams.", filled="minProperties")


class OverlayKeys(_Keys):
    """What differs between environments."""

    base: str = _key(
        "The platform's file, seen from this file's folder.",
        min_length=1,
        max_length=1_000,
        per_environment=True,
    )
    nodes: tuple[HostsKeys, ...] = _key(
        "The hosts of the environment.",
        effect="Labels, taints and quotas.",
        per_environment=True,
        filled="minItems",
    )
