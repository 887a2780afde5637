"""What would be deleted, and what would be deleted and made again."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from policies.finding import Finding, Text
from policies.planned import Planned, at
from tallyard import labels
from tallyard.render.fates import Fate, fate_of
from tallyard.render.immutable import FieldChange, Removed, Replaced, removed, replaced
from tallyard.render.manifest import Manifest
from tallyard.spec.model import Project

# What work stands on. Of the others a replacement is noticed by nobody. A queue, a cohort or a
# namespace has no field that is immutable, but can be known to Pulumi by another URN.
_STOOD_ON = frozenset(
    {
        *("ClusterQueue", "LocalQueue", "Cohort", "ResourceFlavor", "Topology"),
        *("Namespace", "PersistentVolumeClaim", "PriorityClass", "WorkloadPriorityClass"),
        "CustomResourceDefinition",
    }
)
# Of a value: what tells two apart, and leaves a sentence one that can be read.
_LETTERS_MAX = 120


def objects_replaced(planned: Planned) -> Iterator[Finding]:
    """Nothing that work stands on is deleted and made again under its name.

    Seen: the new object was made first and then deleted under the old one's name; a project had
    no queue until somebody noticed.
    """
    for each in replaced(planned.before, planned.after, moved=planned.moved):
        if each.kind in _STOOD_ON:
            changes = ", ".join(_change(field) for field in each.fields)
            text = _text(each)(_name(each), changes)
            yield _found("objects-replaced", text, each, _path(planned, each))


def _text(each: Replaced) -> Callable[[str, str], Text]:
    if each.is_moved:
        return _moved
    return _protected if fate_of(each.kind) is Fate.PROTECTED else _unchangeable


def _protected(name: str, changes: str) -> Text:
    return Text(
        f"{name} cannot be changed ({changes}), and `pulumi up` refuses to delete it: give the "
        "new one a new name",
        f"{name} 不可修改（{changes}），且 `pulumi up` 拒绝删除它：请给新对象起新名称",
    )


def _unchangeable(name: str, changes: str) -> Text:
    return Text(
        f"{name} cannot be changed ({changes}) and would be deleted and made again: give the new "
        "one a new name, or waive this rule for it",
        f"{name} 不可修改（{changes}），将被删除并重建：请给新对象起新名称，或为它豁免本规则",
    )


def _moved(name: str, changes: str) -> Text:
    return Text(
        f"{name} would have another URN ({changes}): Pulumi makes it by the new one and then "
        "deletes it by the old one, and it is the same object. Leave its apiVersion, its name in "
        "the program and its parents, or name the old URN as an alias, or waive this rule for it",
        f"{name} 的 URN 将改变（{changes}）：Pulumi 会以新 URN 创建，再以旧 URN 删除，而两者是同一"
        "对象。请保留其 apiVersion、在程序中的名称和父级，或把旧 URN 写为别名，或为它豁免本规则",
    )


def queues_removed(planned: Planned) -> Iterator[Finding]:
    """Who takes a queue away has seen to what runs and waits in it.

    Seen: queues that were half deleted for days, since a job of theirs ran on.
    """
    gone = removed(planned.before, planned.after)
    queues = {each.name for each in gone if each.kind == "ClusterQueue"}
    for each in gone:
        if each.kind == "ClusterQueue":
            namespace = _namespace_of(planned, each)
            text = Text(
                f"queue {each.name} goes away, and is half deleted until its last job has ended: "
                f"{_first(namespace).english}",
                f"队列 {each.name} 将被删除，在最后一个作业结束之前会停在删除中："
                f"{_first(namespace).chinese}",
            )
            yield _found("queues-removed", text, each, _tier(planned, namespace))
        elif each.kind == "LocalQueue" and _served_by(planned, each) not in queues:
            namespace = each.namespace or ""
            text = Text(
                f"queue {namespace}/{each.name} goes away, and what waits in it waits for "
                f"ever: {_first(namespace).english}",
                f"队列 {namespace}/{each.name} 将被删除，其中等待的作业会永远等待："
                f"{_first(namespace).chinese}",
            )
            yield _found("queues-removed", text, each, _tier(planned, namespace))


def _first(namespace: str) -> Text:
    project = f" -p {namespace}" if namespace else ""
    return Text(
        f"let its jobs end first, `tally jobs{project}` shows them",
        f"请先让其中的作业结束，用 `tally jobs{project}` 查看",
    )


def _namespace_of(planned: Planned, queue: Removed) -> str:
    """Return the namespace whose LocalQueue a ClusterQueue serves; empty where it serves none."""
    served = (
        each.namespace
        for each in planned.before
        if each.kind == "LocalQueue" and at(each.object, "spec", "clusterQueue") == queue.name
    )
    return next(served, None) or ""


def _tier(planned: Planned, namespace: str) -> str:
    """Return the key by which a project that stays has lost a queue; of one that goes the list."""
    projects = planned.platform.projects.items()
    stays = (key for key, project in projects if project.namespace == namespace)
    key = next(stays, None)
    return f"projects.{key}.tier" if key else "projects"


def _served_by(planned: Planned, queue: Removed) -> Any:
    """Return the ClusterQueue of a LocalQueue that goes away."""
    key = (queue.kind, queue.namespace, queue.name)
    return next(at(e.object, "spec", "clusterQueue") for e in planned.before if _key(e) == key)


def _key(each: Manifest) -> tuple[str, str | None, str]:
    return each.kind, each.namespace, each.name


def _found(name: str, text: Text, each: Replaced | Removed, path: str) -> Finding:
    return Finding(name, text, each.kind, each.name, each.namespace, path)


def _name(each: Replaced) -> str:
    place = f"{each.namespace}/" if each.namespace else ""
    return f"{each.kind} {place}{each.name}"


def _change(field: FieldChange) -> str:
    return f"{field.field}: {_shown(field.before)} → {_shown(field.after)}"


def _shown(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= _LETTERS_MAX else f"{text[:_LETTERS_MAX]}…"


def _path(planned: Planned, each: Replaced) -> str:
    """Return the key of the spec that such an object comes from."""
    if each.kind in ("PriorityClass", "WorkloadPriorityClass"):
        places = list(planned.platform.priorities)
        return f"priorities[{places.index(each.name)}].value" if each.name in places else ""
    if each.kind == "Topology":
        return "topology"
    if each.kind == "ResourceFlavor":
        return _pool(planned, each.name)
    project = next(
        (
            key
            for key, project in planned.platform.projects.items()
            if project.namespace in (each.namespace, each.name)
            or (each.kind == "ClusterQueue" and each.name in _queues(planned, project))
        ),
        None,
    )
    return f"projects.{project}" if project else ""


def _queues(planned: Planned, project: Project) -> Iterator[str]:
    for pool in planned.platform.pools:
        yield labels.cluster_queue(project.id, pool)


def _pool(planned: Planned, flavor: str) -> str:
    """Return the key of a flavor's pool; one pool's name can begin another's."""
    fitting = [pool for pool in planned.platform.pools if flavor.startswith(f"{pool}-")]
    return f"pools.{max(fitting, key=len)}" if fitting else "pools"
