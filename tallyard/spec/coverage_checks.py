"""Checks of what pods get and queues count: what no queue covers would wait for ever."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator

from tallyard.spec import resolve
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
    domains = frozenset(each.partition("/")[0] for each in cards)
    prefixes = frozenset(keys.uncounted)
    lengths = {len(prefix) for prefix in prefixes}
    for resource in keys.defaults.resources:
        steps = ("defaults", "resources", resource)
        if resource in cards:
            yield draft.problem_at_key("SPEC517", *steps, found=resource, other=cards[resource])
        elif not any(resource[:length] in prefixes for length in lengths):
            usual = _prefix(resource, domains)
            yield draft.problem_at_key("SPEC515", *steps, found=resource, usual=usual)


def _prefix(resource: str, counted: frozenset[str]) -> str:
    """Return the plugin's domain, or the whole name where the domain has what quotas count."""
    domain = resource.partition("/")[0]
    return resource if domain in counted else f"{domain}/"


def excluded(draft: Draft) -> Iterator[Problem]:
    """What a quota counts is not taken out of counting."""
    # In order, so that what begins with a prefix stands where the prefix would.
    counted = sorted((*COUNTED, *_cards(draft)))
    for index, prefix in enumerate(draft.platform.keys.uncounted):
        hit = counted[at] if (at := bisect_left(counted, prefix)) < len(counted) else ""
        if hit.startswith(prefix):
            yield draft.problem("SPEC516", "uncounted", index, found=prefix, name=hit)


def _cards(draft: Draft) -> dict[str, str]:
    """Return the resources of the cards and of their slices, each with the first of its models."""
    found: dict[str, str] = {}
    for model, resources in resolve.offered(draft).items():
        for resource in resources:
            found.setdefault(resource, model)
    return found


CHECKS = (covered, excluded)
