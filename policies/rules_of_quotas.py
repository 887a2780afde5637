"""Who goes first, and that each project is promised something."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policies.finding import Finding, Text, about
from policies.planned import Planned, at, mapping
from tallyard import labels
from tallyard.render.manifest import Manifest


def priorities_ordered(planned: Planned) -> Iterator[Finding]:
    """Work that may be stopped stands below all that may not, for Kueue and for the kubelet.

    What names no priority has none of them.

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
        if each.object.get("globalDefault"):
            text = Text(
                f"priority {each.name} is that of every pod which names none, of whatever "
                "namespace: set globalDefault false",
                f"优先级 {each.name} 会成为所有未写明优先级的 Pod 的优先级："
                "应设 globalDefault false",
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
