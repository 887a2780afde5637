"""That the gate in the API server stays shut."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
from collections.abc import Iterator

from policies.expressions import changed
from policies.finding import Finding, Text, about
from policies.openings import BINDING, HELD, VALIDATING, openings
from policies.planned import Planned, mapping, texts
from policies.webhooks import WEBHOOKS, ways_past
from tallyard import labels
from tallyard.catalog import rules as catalog
from tallyard.render.admission.policies import binding_manifests, policy_manifests
from tallyard.render.admission.table import table

_POD_SECURITY = "pod-security.kubernetes.io/enforce"


def policies_bound(planned: Planned) -> Iterator[Finding]:
    """What the API server asks is there, is bound as it was, and refuses where it fails.

    That is the admission policies with their table, Pod Security, and Kueue's webhooks.

    Seen: a policy that failed open on an error of its own expression let everything through; a
    binding that was removed in a cleanup was missed for weeks.
    """
    rendered = {(m.kind, m.name): m.object for m in (*policy_manifests(), *binding_manifests())}
    for name, held in HELD.items():
        for kind in (held.kind, f"{held.kind}{BINDING}"):
            found = planned.all_named(kind, name)
            if not found:
                yield _missing(kind, name)
            for each in found:
                right = mapping(rendered.get((kind, name)), "spec")
                for english, chinese in openings(name, held, each, right):
                    told = Text(f"{kind} {name} {english}", f"{kind} {name} {chinese}")
                    yield about("policies-bound", told, each)
    if planned.all_named(VALIDATING, labels.LOCK_POLICY):
        yield from _unasked(planned)
    yield from _unknown_to_table(planned)
    yield from _out_of_sight(planned)
    yield from _past_queues(planned)


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


def _missing(kind: str, name: str) -> Finding:
    text = Text(
        f"{kind} {name} is missing: leave it in, without it everything is let through",
        f"缺少 {kind} {name}：请保留，缺少它一切都会放行",
    )
    return Finding("policies-bound", text, kind, name)


def _unknown_to_table(planned: Planned) -> Iterator[Finding]:
    """Yield what the policies take for no cards, or decide otherwise, as their table says so.

    Of the projects in it `projects-in-table` tells.
    """
    platform = planned.platform
    asked = {accelerator.resource for accelerator in platform.accelerators.values()}
    sliced = {m for pool in platform.pools.values() if pool.slices > 1 for m in pool.models}
    asked |= {labels.slice_resource(platform.accelerators[model].resource) for model in sliced}
    rendered = table(platform)
    for each in planned.all_named(labels.PROJECT_TABLE_KIND, labels.PROJECT_TABLE):
        spec = mapping(each.object, "spec")
        if missing := sorted(asked - texts(spec, "resources")):
            text = Text(
                f"{each.kind} {each.name} does not know {', '.join(missing)}, and the admission "
                "policies let through what asks for that: make it from the spec",
                f"{each.kind} {each.name} 中没有 {'、'.join(missing)}，准入策略会放行申请它们的"
                "作业：应由规格生成",
            )
            yield about("policies-bound", text, each)
        told_apart = ("projects", "resources")
        others = (part for part in rendered if part not in told_apart)
        if parts := [part for part in others if spec.get(part) != rendered[part]]:
            text = Text(
                f"{each.kind} {each.name} has other {', '.join(parts)} than the spec gives it, by "
                "which the admission policies decide: make it from the spec",
                f"{each.kind} {each.name} 的 {'、'.join(parts)} 与规格不符，准入策略会据此误判："
                "应由规格生成",
            )
            yield about("policies-bound", text, each)


def _out_of_sight(planned: Planned) -> Iterator[Finding]:
    """Yield the projects' namespaces by whose labels the API server looks at less than it must."""
    for key, project in planned.platform.projects.items():
        held = {labels.PROJECT: project.id, _POD_SECURITY: "restricted"}
        for each in planned.all_named("Namespace", project.namespace):
            found = mapping(each.object, "metadata", "labels")
            for label, right in held.items():
                if found.get(label) != right:
                    text = Text(
                        f"Namespace {each.name} is not labelled {label}={right}, by which its work "
                        "is looked at: restore the label",
                        f"Namespace {each.name} 缺少标签 {label}={right}，其中的作业不会照此检查："
                        "请恢复",
                    )
                    yield about("policies-bound", text, each, f"projects.{key}")


def _past_queues(planned: Planned) -> Iterator[Finding]:
    # Of two revisions without Pulumi's plan it is not known what the charts make.
    is_installed = any(
        (each.kind, each.name) == ("Namespace", labels.KUEUE_NAMESPACE)
        for each in (*planned.before, *planned.after)
    )
    for (kind, name), covers in WEBHOOKS.items():
        # The chart writes a namespace into it, which such an object has not.
        found = [each for each in planned.of_kind(kind) if each.name == name]
        if is_installed and not found:
            yield _missing(kind, name)
        for each in found:
            for english, chinese in ways_past(covers, each):
                told = Text(f"{kind} {name} {english}", f"{kind} {name} {chinese}")
                yield about("policies-bound", told, each)
