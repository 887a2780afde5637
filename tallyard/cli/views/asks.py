"""What a workload asks for, in cards of a model or in vCPU. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass

from tallyard import labels, units
from tallyard.cluster.conditions import Object
from tallyard.cluster.pod_requests import requests


@dataclass(frozen=True)
class Ask:
    """Cards of one model, and vCPU in thousandths.

    `model` is None while the workload names none and has not been given one.
    """

    cards: int
    model: str | None
    resource: str | None
    cpu_millis: int

    def text(self, lang: str) -> str:
        """Return `2 x A800-SXM4-80GB`, or `4 vCPU` without cards."""
        if self.cards:
            name = card_name(self.model, self.resource, lang) if self.model else self.resource
            return f"{self.cards} x {name}"
        return f"{units.vcpu(self.cpu_millis)} vCPU"


def ask_of(
    workload: Object, model_of_flavor: Mapping[str, str], counted: Collection[str] = ()
) -> Ask:
    """Return what all pods of a workload ask for together.

    Args:
        workload: Kueue's Workload.
        model_of_flavor: The card model of each flavor, by the flavor's name.
        counted: The resources that the queues count, where they are known: other devices
            (an RDMA adapter) have a domain in their names too, and are no cards.
    """
    cards, cpu_millis, resource, model = 0, 0, None, None
    for pod_set, count in _pod_sets(workload):
        spec = pod_set["template"]["spec"]
        for name, amount in requests(spec).items():
            if name == units.CPU:
                cpu_millis += count * amount
            elif is_card(name) and (not counted or name in counted):
                cards += count * amount
                resource = name
        model = model or _given_model(workload, model_of_flavor) or _named_model(spec)
    return Ask(cards, model, resource, cpu_millis)


def per_pod(workload: Object) -> Mapping[str, int]:
    """Return the most that one pod of a workload asks of each resource; cpu in thousandths."""
    most: dict[str, int] = {}
    for pod_set, _ in _pod_sets(workload):
        for name, amount in requests(pod_set["template"]["spec"]).items():
            most[name] = max(most.get(name, 0), amount)
    return most


def asked_model(workload: Object) -> str:
    """Return the model of card that a workload names itself; empty where it names none."""
    named = (_named_model(pod_set["template"]["spec"]) for pod_set, _ in _pod_sets(workload))
    return next((model for model in named if model), "")


def card_name(model: str, resource: str | None, lang: str) -> str:
    """Return what people call a unit of a resource: `A800-SXM4-80GB`, or `RTX-4090 slice`."""
    if not labels.is_sliced(resource or ""):
        return model
    return {"en": f"{model} slice", "zh": f"{model} 切片"}[lang]


def is_card(resource: str) -> bool:
    """Return whether a resource is counted in cards: those of a vendor have its domain."""
    return "/" in resource and not resource.startswith(("hugepages-", "kubernetes.io/"))


def _pod_sets(workload: Object) -> Iterator[tuple[Object, int]]:
    given = {a["name"]: a for a in _assignments(workload)}
    for pod_set in workload["spec"].get("podSets") or ():
        # Partial admission gives fewer pods than were asked for.
        count = given.get(pod_set.get("name"), {}).get("count", pod_set.get("count", 1))
        yield pod_set, int(count)


def _assignments(workload: Object) -> tuple[Object, ...]:
    admission = (workload.get("status") or {}).get("admission") or {}
    return tuple(admission.get("podSetAssignments") or ())


def _given_model(workload: Object, model_of_flavor: Mapping[str, str]) -> str | None:
    for assignment in _assignments(workload):
        for resource, flavor in (assignment.get("flavors") or {}).items():
            if is_card(resource) and flavor in model_of_flavor:
                return model_of_flavor[flavor]
    return None


def _named_model(spec: Object) -> str | None:
    selector = spec.get("nodeSelector") or {}
    named = selector.get(labels.GPU_MODEL) or selector.get(labels.NODE_MODEL)
    return str(named) if named else None
