"""What the spec says of a node of the cluster: released, held back and why. Pure.

A kubelet may write some labels of its own node and what the node offers, so neither alone
decides anything: a host takes work only while all of it agrees with the spec. Running pods stay
where they are, whatever the verdict.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from tallyard import labels
from tallyard.catalog.cards_seen import card_resources, is_pci_label_of_a_card
from tallyard.controllers.hosts.reasons import Cause, Reason
from tallyard.render.flavors import card_resource
from tallyard.spec.model import Node, Platform

type Object = Mapping[str, Any]
type Taint = Mapping[str, Any]

_GPU_LABELS = "gpu."
_GPU_LABEL_KEYS = (labels.GPU_VENDOR, labels.GPU_MODEL, labels.GPU_MEMORY)


class State(StrEnum):
    """What is to be done with a host; of one that is `IGNORED`, nothing."""

    RELEASED = "released"
    HELD = "held"
    FOREIGN = "not-in-spec"
    MISSING = "missing"
    IGNORED = "ignored"


@dataclass(frozen=True)
class Verdict:
    """The state of one host and the reasons for it, none where it is released."""

    state: State
    reasons: tuple[Reason, ...] = ()

    @property
    def is_tainted(self) -> bool:
        """Return whether the host must not take new work."""
        return self.state in {State.HELD, State.FOREIGN}


def verdict_of(platform: Platform, hosts: Mapping[str, Node], node: Object) -> Verdict:
    """Return the verdict on one node of the cluster.

    Args:
        platform: The spec.
        hosts: Its hosts by name.
        node: The Node as the API has it.
    """
    host = hosts.get(node["metadata"]["name"])
    if host is None:
        reasons = tuple(_foreign(platform, node))
        return Verdict(State.FOREIGN if reasons else State.IGNORED, reasons)
    reasons = verify(platform, host, node)
    return Verdict(State.HELD if reasons else State.RELEASED, reasons)


def verify(platform: Platform, host: Node, node: Object) -> tuple[Reason, ...]:
    """Return all in which a node differs from the host that the spec describes."""
    return (
        *_labels_that_differ(platform, host, node),
        *_taints_that_differ(host, node),
        *_cards_that_differ(platform, host, node),
    )


def taints_wanted(taints: Sequence[Taint], *, is_held: bool) -> tuple[Taint, ...]:
    """Return a node's taints with or without ours; those of others stay as they are."""
    others = tuple(taint for taint in taints if taint.get("key") != labels.UNVERIFIED_TAINT)
    if not is_held:
        return others
    if is_kept_off(taints):
        return tuple(taints)
    return (*others, {"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE})


def is_kept_off(taints: Sequence[Taint]) -> bool:
    """Return whether the gate's taint is there; its value means nothing."""
    return any(
        taint.get("key") == labels.UNVERIFIED_TAINT and taint.get("effect") == labels.NO_SCHEDULE
        for taint in taints
    )


def taints_of(node: Object) -> tuple[Taint, ...]:
    """Return the taints of a node."""
    return tuple((node.get("spec") or {}).get("taints") or ())


def labels_of(node: Object) -> Mapping[str, str]:
    """Return the labels of a node."""
    found: Mapping[str, str] = node["metadata"].get("labels") or {}
    return found


def _wanted_labels(platform: Platform, host: Node) -> Mapping[str, str]:
    wanted = {
        labels.NODE_POOL: host.pool,
        labels.NODE_BLOCK: host.block,
        labels.NODE_RACK: host.rack,
    }
    if host.model is None:
        return wanted
    accelerator = platform.accelerators[host.model]
    return wanted | {
        labels.NODE_MODEL: host.model,
        labels.GPU_VENDOR: accelerator.vendor,
        labels.GPU_MODEL: host.model,
        labels.GPU_MEMORY: accelerator.memory,
    }


def _labels_that_differ(platform: Platform, host: Node, node: Object) -> Iterator[Reason]:
    found = labels_of(node)
    for key, wanted in _wanted_labels(platform, host).items():
        if key not in found:
            yield Reason(Cause.LABEL_MISSING, key, wanted=wanted)
        elif found[key] != wanted:
            yield Reason(Cause.LABEL_DIFFERS, key, found[key], wanted)
    if host.model is None:
        for key in (labels.NODE_MODEL, *_GPU_LABEL_KEYS):
            if key in found:
                yield Reason(Cause.LABEL_TOO_MUCH, key, found[key])


def _taints_that_differ(host: Node, node: Object) -> Iterator[Reason]:
    found = [taint for taint in taints_of(node) if taint.get("key") == labels.POOL_TAINT]
    wanted = f"{labels.POOL_TAINT}={host.pool}:{labels.NO_SCHEDULE}"
    told = [_taint_text(taint) for taint in found]
    if host.model is None:
        yield from (Reason(Cause.TAINT_TOO_MUCH, labels.POOL_TAINT, text) for text in told)
    elif wanted not in told:
        if not told:
            yield Reason(Cause.TAINT_MISSING, labels.POOL_TAINT, wanted=wanted)
        yield from (Reason(Cause.TAINT_DIFFERS, labels.POOL_TAINT, text, wanted) for text in told)


def _taint_text(taint: Taint) -> str:
    value = taint.get("value")
    return f"{taint['key']}{f'={value}' if value else ''}:{taint.get('effect')}"


def _cards_that_differ(platform: Platform, host: Node, node: Object) -> Iterator[Reason]:
    offered = dict(_cards_of(platform, (node.get("status") or {}).get("allocatable") or {}))
    if host.model is not None:
        own = card_resource(platform, host.pool, host.model)
        wanted = str(host.cards * platform.pools[host.pool].slices)
        if (found := offered.pop(own, "0")) != wanted:
            yield Reason(Cause.CARDS_DIFFER, own, found, wanted)
    for resource, found in offered.items():
        yield Reason(Cause.CARDS_TOO_MUCH, resource, found)


def _cards_of(platform: Platform, amounts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield each resource of cards of which there is more than nothing, in order of names."""
    known = [accelerator.resource for accelerator in platform.accelerators.values()]
    for name in card_resources(sorted(amounts), known):
        if (amount := str(amounts[name])) != "0":
            yield name, amount


def _foreign(platform: Platform, node: Object) -> Iterator[Reason]:
    """Yield what a node has that only hosts of the spec may have."""
    status = node.get("status") or {}
    # A card that is broken is in the capacity alone.
    present = dict(_cards_of(platform, status.get("capacity") or {}))
    present |= dict(_cards_of(platform, status.get("allocatable") or {}))
    reasons = [Reason(Cause.HAS_CARDS, name, amount) for name, amount in present.items()]
    for key, value in sorted(labels_of(node).items()):
        if _is_ours(key) or is_pci_label_of_a_card(key):
            reasons.append(Reason(Cause.HAS_LABEL, key, value))
    taints = taints_of(node)
    told = [taint for taint in taints if taint.get("key") == labels.POOL_TAINT]
    # Who registers so is meant to be a host of the spec. Where the gate itself has written the
    # taint it is no evidence, or the sentence would change by being written.
    if not reasons and not told and is_kept_off(taints):
        told = [{"key": labels.UNVERIFIED_TAINT, "effect": labels.NO_SCHEDULE}]
    reasons += [Reason(Cause.HAS_TAINT, str(t["key"]), _taint_text(t)) for t in told]
    if reasons:
        yield Reason(Cause.NOT_IN_SPEC)
        yield from reasons


def _is_ours(key: str) -> bool:
    return key in {labels.NODE_POOL, labels.NODE_MODEL} or key.startswith(_GPU_LABELS)
