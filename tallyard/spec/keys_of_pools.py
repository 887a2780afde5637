"""Accelerators, priorities and pools: what work runs on, and who goes first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from tallyard.spec.fields import (
    PRIORITY_MAX,
    PRIORITY_MIN,
    SLICES_MAX,
    Burst,
    Cpu,
    DnsLabel,
    LabelValue,
    Quantity,
    Rate,
    Resource,
    ShortTime,
    key,
)
from tallyard.spec.keys import Keys

# What pydantic puts into the place of a fault to say which form of a value it tried.
WORD = "[word]"
MAPPING = "[mapping]"


class IncludesKeys(Keys):
    """What the rate of a card covers besides the card."""

    cpu: Cpu = key("vCPU that the rate covers, for each card.")
    memory: Quantity = key("Memory that the rate covers, for each card, e.g. 64Gi.")


class AcceleratorKeys(Keys):
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


class PriorityKeys(Keys):
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


class SharingKeys(Keys):
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


class PoolKeys(Keys):
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
        effect="terminationGracePeriodSeconds of the pool's pods, where more or nothing is said.",
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
        effect="Work with the label tallyard.dev/agent that asks for more pods at once is refused.",
        alias="pods-per-agent",
        default=None,
    )
    backoff_limit: Annotated[int, Field(ge=0, le=100)] | None = key(
        "How often a job of a pool that borrows starts again after it failed.",
        effect="backoffLimit of its jobs, where more or nothing is said.",
        alias="backoff-limit",
        default=None,
    )
