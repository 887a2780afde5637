"""That the gate in the API server stays shut."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
from collections.abc import Iterator

from policies.expressions import changed
from policies.finding import Finding, Text, about
from policies.openings import BINDING, HELD, VALIDATING, openings
from policies.planned import Planned, mapping
from tallyard import labels
from tallyard.catalog import rules as catalog
from tallyard.render.admission.policies import binding_manifests, policy_manifests


def policies_bound(planned: Planned) -> Iterator[Finding]:
    """The admission policies are there, are bound as they were, and refuse where they fail.

    Seen: a policy that failed open on an error of its own expression let everything through; a
    binding that was removed in a cleanup was missed for weeks.
    """
    rendered = {(m.kind, m.name): m.object for m in (*policy_manifests(), *binding_manifests())}
    for name, held in HELD.items():
        for kind in (held.kind, f"{held.kind}{BINDING}"):
            found = planned.all_named(kind, name)
            if not found:
                text = Text(
                    f"{kind} {name} is missing: leave it in, without it everything is let through",
                    f"缺少 {kind} {name}：请保留，缺少它一切都会放行",
                )
                yield Finding("policies-bound", text, kind, name)
            for each in found:
                right = mapping(rendered.get((kind, name)), "spec")
                for english, chinese in openings(name, held, each, right):
                    told = Text(f"{kind} {name} {english}", f"{kind} {name} {chinese}")
                    yield about("policies-bound", told, each)
    if planned.all_named(VALIDATING, labels.LOCK_POLICY):
        yield from _unasked(planned)


def locks_changed(planned: Planned) -> Iterator[Finding]:
    """Who changes an expression of the admission policies says so.

    Of two revisions without Pulumi nothing is found: both are rendered by the same code.

    Seen: a condition was made one that is never true, between hundreds of lines of an upgrade.
    """
    before = {(each.kind, each.name): each for each in planned.before}
    for name, held in HELD.items():
        old = before.get((held.kind, name))
        if old is None:
            continue
        for each in planned.all_named(held.kind, name):
            parts = changed(mapping(old.object, "spec"), mapping(each.object, "spec"))
            if parts:
                text = Text(
                    f"{each.kind} {name} decides otherwise than before in {', '.join(parts)}: "
                    "read the new expressions as what lets work in",
                    f"{each.kind} {name} 的 {'、'.join(parts)} 与之前不同："
                    "请逐一查看新的表达式，它们决定放行什么",
                )
                yield about("locks-changed", text, each)


def _unasked(planned: Planned) -> Iterator[Finding]:
    """Yield the rules that the catalog promises and no policy has."""
    policies = [p.object for name, held in HELD.items() for p in planned.all_named(held.kind, name)]
    expressions = json.dumps([mapping(policy, "spec") for policy in policies], default=str)
    for rule in catalog.RULES.values():
        # Its name is how each of its sentences ends.
        if catalog.Gate.ADMISSION in rule.gates and f"[{rule.name}]" not in expressions:
            text = Text(
                f"no admission policy has the rule {rule.name}: restore it",
                f"没有准入策略包含规则 {rule.name}：请恢复",
            )
            yield Finding("policies-bound", text, kind="AdmissionRule", object_name=rule.name)
