"""Checks of what pods get and queues count: what no queue covers would wait for ever."""

from __future__ import annotations

from collections.abc import Iterator

from tallyard import labels
from tallyard.catalog import vendors
from tallyard.spec.document import SharingKeys
from tallyard.spec.draft import Draft
from tallyard.spec.problem import Problem

# What every queue covers for every pod, whatever its cards.
COUNTED = ("cpu", "memory", "ephemeral-storage", "pods")


def covered(draft: Draft) -> Iterator[Problem]:
    """Each resource that a pod gets by itself is counted by its queue, or by none."""
    if not draft.is_sound("uncounted", "accelerators", "pools"):
        return
    keys = draft.platform.keys
    cards = _cards(draft)
    for resource in keys.defaults.resources:
        steps = ("defaults", "resources", resource)
        if resource in cards:
            yield draft.problem_at_key("SPEC517", *steps, found=resource, other=cards[resource])
        elif not resource.startswith(keys.uncounted):
            yield draft.problem_at_key(
                "SPEC515", *steps, found=resource, usual=_prefix(resource, (*COUNTED, *cards))
            )


def _prefix(resource: str, counted: tuple[str, ...]) -> str:
    """Return the plugin's domain, or the whole name where the domain has what quotas count."""
    domain = f"{resource.partition('/')[0]}/"
    return resource if any(each.startswith(domain) for each in counted) else domain


def excluded(draft: Draft) -> Iterator[Problem]:
    """What a quota counts is not taken out of counting."""
    counted = (*COUNTED, *_cards(draft))
    for index, prefix in enumerate(draft.platform.keys.uncounted):
        hit = next((resource for resource in counted if resource.startswith(prefix)), None)
        if hit is not None:
            yield draft.problem("SPEC516", "uncounted", index, found=prefix, name=hit)


def _cards(draft: Draft) -> dict[str, str]:
    """Return the resources of the cards and of their slices, each with the first of its models."""
    keys = draft.platform.keys
    sliced = {
        model
        for pool in keys.pools.values()
        if isinstance(pool.sharing, SharingKeys)
        for model in pool.models or ()
    }
    found: dict[str, str] = {}
    for name, card in keys.accelerators.items():
        resource = card.resource or vendors.DEFAULT_RESOURCE.get(card.vendor)
        if resource is None:
            continue  # told as missing
        found.setdefault(resource, name)
        if name in sliced:
            found.setdefault(labels.slice_resource(resource), name)
    return found


CHECKS = (covered, excluded)
