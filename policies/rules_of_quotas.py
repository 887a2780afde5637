"""Who goes first, how much is promised, and that each project is promised something."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from fractions import Fraction
from typing import Any

from policies.finding import Finding, Text, about
from policies.planned import Planned, at, mapping, mappings
from tallyard import labels
from tallyard.render.capacity import BASE_RESOURCES
from tallyard.render.flavors import CardFlavor, all_flavors
from tallyard.render.manifest import Manifest
from tallyard.units import QuantityError, parse_cpu

_OVERCOMMIT_WHOLE = 1000
_MILLI = 1000


def priorities_ordered(planned: Planned) -> Iterator[Finding]:
    """Work that may be stopped stands below all that may not, for Kueue and for the kubelet.

    Seen: with two flavors and classes of the wrong order Kueue stopped the work that was to be
    kept.
    """
    values = {
        kind: {each.name: _value(each) for each in planned.of_kind(kind)}
        for kind in ("PriorityClass", "WorkloadPriorityClass")
    }
    places = {name: n for n, name in enumerate(planned.platform.priorities)}
    for each in planned.of_kind("WorkloadPriorityClass"):
        other, own = values["PriorityClass"].get(each.name), values[each.kind][each.name]
        if other != own:
            text = Text(
                f"Kueue's priority {each.name} is {own} and the kubelet's "
                f"{'is missing' if other is None else f'is {other}'}: make both from the spec",
                f"Kueue 的优先级 {each.name} 为 {own}，而 kubelet 的"
                f"{'不存在' if other is None else f'为 {other}'}：两者都应由规格生成",
            )
            yield about("priorities-ordered", text, each, _priority(places, each.name))
    for each in planned.of_kind("PriorityClass"):
        if each.name in places and each.object.get("preemptionPolicy") != "Never":
            text = Text(
                f"pods of priority {each.name} may make the scheduler stop others: set "
                "preemptionPolicy Never, Kueue alone stops work",
                f"优先级 {each.name} 的 Pod 会让调度器抢占他人：应设 preemptionPolicy Never，"
                "抢占只由 Kueue 进行",
            )
            yield about("priorities-ordered", text, each, _priority(places, each.name))
    yield from _above(planned, values["WorkloadPriorityClass"], places)


def _value(each: Manifest) -> int:
    """Return a priority's value; one that is not written is nothing to the API server too."""
    found = each.object.get("value")
    # What comes from Pulumi is a floating-point number, whatever it was.
    is_whole = isinstance(found, int) or (isinstance(found, float) and found.is_integer())
    return int(found) if is_whole and found is not None else 0


def _above(
    planned: Planned, values: Mapping[str, int], places: Mapping[str, int]
) -> Iterator[Finding]:
    priorities = planned.platform.priorities.values()
    kept = {p.name: values[p.name] for p in priorities if not p.preemptible and p.name in values}
    for each in planned.of_kind("WorkloadPriorityClass"):
        known = planned.platform.priorities.get(each.name)
        if known is None or not known.preemptible:
            continue
        below = sorted(name for name, value in kept.items() if value <= values[each.name])
        if below:
            text = Text(
                f"priority {each.name} may be stopped and is not below {', '.join(below)}: give "
                "it a smaller value under a new name",
                f"优先级 {each.name} 可被抢占，却不低于 {'、'.join(below)}：请以新名称给它更小的值",
            )
            yield about("priorities-ordered", text, each, _priority(places, each.name))


def _priority(places: Mapping[str, int], name: str) -> str:
    return f"priorities[{places[name]}].value" if name in places else "priorities"


def quota_within_capacity(planned: Planned) -> Iterator[Finding]:
    """The quotas of all queues and cohorts together are what is installed, at most.

    Seen: a pool of 8 cards with two tiers of 6 each; Kueue admitted 12 and 4 waited for ever
    on their hosts.
    """
    promised: Counter[tuple[str, str]] = Counter()
    largest: dict[tuple[str, str], Manifest] = {}
    # In whatever order a plan has them, the same queue is told of.
    for key, amount, each in sorted(
        _promises(planned), key=lambda each: (-each[1], each[2].kind, each[2].name)
    ):
        promised[key] += amount
        largest.setdefault(key, each)
    flavors = {f.name: f for f in all_flavors(planned.platform)}
    for (name, resource), amount in promised.items():
        flavor, subject = flavors.get(name), largest[name, resource]
        if not isinstance(flavor, CardFlavor) or resource != flavor.resource:
            # Of what a flavor has not, each lists nothing.
            if amount:
                text = Text(
                    f"{subject.name} promises {resource} of flavor {name}, which no host of the "
                    "spec has: make it from the spec",
                    f"{subject.name} 承诺了 {name} 的 {resource}，规格中没有这样的主机："
                    "应由规格生成",
                )
                yield about("quota-within-capacity", text, subject, "pools")
            continue
        cards = planned.platform.cards_installed(flavor.pool, flavor.model) * flavor.slices
        most = int(cards * Fraction(planned.platform.overcommit.cards_milli, _OVERCOMMIT_WHOLE))
        if amount > most:
            text = _too_much(subject, flavor, amount, most, cards)
            path = _grant(planned, subject, flavor)
            yield about("quota-within-capacity", text, subject, path)


def _promises(planned: Planned) -> Iterator[tuple[tuple[str, str], int, Manifest]]:
    """Yield the quotas of cards: of which flavor and resource, how much, by whom."""
    for each in planned.of_kind("ClusterQueue", "Cohort"):
        for group in mappings(each.object, "spec", "resourceGroups"):
            for flavor in mappings(group, "flavors"):
                for resource in mappings(flavor, "resources"):
                    if resource.get("name") not in BASE_RESOURCES:
                        key = (str(flavor.get("name")), str(resource.get("name")))
                        yield key, _count(resource.get("nominalQuota")), each


def _count(quota: Any) -> int:
    """Return how many cards a quota is for; a part of one is one that cannot be had."""
    try:
        return -(-parse_cpu(str(quota)) // _MILLI)
    except QuantityError:
        # Kueue's definition takes quantities only, so the API server refuses it.
        return 0


def _too_much(
    largest: Manifest, flavor: CardFlavor, amount: int, most: int, installed: int
) -> Text:
    what = f"{flavor.model} in pool {flavor.pool}"
    allowed = f"{installed} are installed"
    if most != installed:
        allowed += f", {most} may be promised"
    return Text(
        f"{amount} {what} are promised, most of them by {largest.name}, and {allowed}: promise "
        "less, or say `overcommit`",
        f"资源池 {flavor.pool} 的 {flavor.model} 共承诺 {amount}（其中 {largest.name} 最多），"
        f"已安装 {installed}，最多可承诺 {most}：请减少承诺，或写明 overcommit",
    )


def _grant(planned: Planned, queue: Manifest, flavor: CardFlavor) -> str:
    """Return the key that grants a queue its cards."""
    project = next(
        (
            project
            for project in planned.platform.projects.values()
            if queue.name == labels.cluster_queue(project.id, flavor.pool)
        ),
        None,
    )
    if project is None:
        return f"pools.{flavor.pool}"
    return f"tiers.{project.tier.name}.cards.{flavor.pool}.{flavor.model}"


def projects_granted(planned: Planned) -> Iterator[Finding]:
    """Each project's namespace has a queue, defaults for what its pods ask, and a longest time.

    Seen: a namespace that was labelled by hand; its work was stamped with nothing and waited.
    """
    queues = {each.namespace for each in planned.of_kind("LocalQueue")}
    ranges = {each.namespace for each in planned.of_kind("LimitRange")}
    table = _table(planned)
    for each, project, path in _projects(planned):
        missing = [
            words
            for is_there, words in (
                (each.name in queues, ("queue", "队列")),
                (each.name in ranges, ("defaults for its pods", "Pod 默认值")),
                (bool(at(table, project, "maxSeconds")), ("limit of time", "时限")),
            )
            if not is_there
        ]
        if missing:
            english, chinese = zip(*missing, strict=True)
            text = Text(
                f"project {project} has no {', no '.join(english)}: give it a tier in the spec",
                f"项目 {project} 没有{'、'.join(chinese)}：请在规格中给它一个等级",
            )
            yield about("projects-granted", text, each, f"{path}.tier" if path else "projects")


def projects_in_table(planned: Planned) -> Iterator[Finding]:
    """The admission policies' table knows each project, with whom its work belongs to.

    Seen: with a table of before a new project's first jobs were refused, all of them.
    """
    table = _table(planned)
    for each, project, path in _projects(planned):
        if project not in table:
            text = Text(
                f"the admission policies' table has no project {project}: make it from the spec",
                f"准入策略的表中没有项目 {project}：应由规格生成",
            )
            yield about("projects-in-table", text, each, path or "projects")
        elif not at(table, project, "users") and not at(table, project, "defaultUser"):
            place = f"{path or f'projects.{project}'}.users"
            text = Text(
                f"project {project} has no user: name one under {place}, with a login",
                f"项目 {project} 没有用户：请在 {place} 下添加，并写明登录名",
            )
            yield about("projects-in-table", text, each, path or "projects")


def _projects(planned: Planned) -> Iterator[tuple[Manifest, str, str]]:
    """Yield each namespace of a project, the project, and its key's path if the spec has one."""
    keys = {project.id: key for key, project in planned.platform.projects.items()}
    for each in planned.of_kind("Namespace"):
        project = at(each.object, "metadata", "labels", labels.PROJECT)
        if project is not None:
            key = keys.get(str(project))
            yield each, str(project), f"projects.{key}" if key else ""


def _table(planned: Planned) -> Mapping[str, Any]:
    found = planned.named(labels.PROJECT_TABLE_KIND, labels.PROJECT_TABLE)
    return mapping(found.object, "spec", "projects") if found else {}
