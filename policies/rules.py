"""All rules of the review, in the order in which they are told, and what is waived of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

from policies import (
    rules_of_access,
    rules_of_capacity,
    rules_of_changes,
    rules_of_grants,
    rules_of_quotas,
    rules_of_secrets,
    rules_of_supply,
    rules_of_tenants,
    rules_of_work,
)
from policies.finding import Finding
from policies.planned import Planned
from tallyard.spec.waiver import Waiver

RULES: Mapping[str, Callable[[Planned], Iterable[Finding]]] = {
    "objects-replaced": rules_of_changes.objects_replaced,
    "queues-removed": rules_of_changes.queues_removed,
    "priorities-ordered": rules_of_quotas.priorities_ordered,
    "quota-within-capacity": rules_of_capacity.quota_within_capacity,
    "grants-kept": rules_of_grants.grants_kept,
    "projects-granted": rules_of_quotas.projects_granted,
    "projects-in-table": rules_of_quotas.projects_in_table,
    "policies-bound": rules_of_access.policies_bound,
    "locks-changed": rules_of_access.locks_changed,
    "tenants-fenced": rules_of_tenants.tenants_fenced,
    "cards-elsewhere": rules_of_work.cards_elsewhere,
    "images-pinned": rules_of_supply.images_pinned,
    "pins-verified": rules_of_supply.pins_verified,
    "secrets-hidden": rules_of_secrets.secrets_hidden,
}


@dataclass(frozen=True)
class Verdict:
    """What was found: `open` counts, each of `waived` is covered by an entry in the spec."""

    open: tuple[Finding, ...]
    waived: tuple[tuple[Finding, Waiver], ...]


def review(planned: Planned, rules: Iterable[str] = RULES) -> Verdict:
    """Ask rules, and set aside what the spec waives."""
    found = [finding for name in rules for finding in RULES[name](planned)]
    held = [(finding, _waiver(planned, finding)) for finding in found]
    return Verdict(
        tuple(finding for finding, waiver in held if waiver is None),
        tuple((finding, waiver) for finding, waiver in held if waiver is not None),
    )


def _waiver(planned: Planned, finding: Finding) -> Waiver | None:
    return next(
        (
            waiver
            for waiver in planned.platform.waivers
            if waiver.covers(finding.name, finding.kind, finding.namespace, finding.object_name)
        ),
        None,
    )
