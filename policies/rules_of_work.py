"""What a plan runs by itself, beside the queues."""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from policies.finding import Finding, Text, about
from policies.planned import Planned, at, mapping, mappings, texts
from policies.rules_of_supply import pods
from tallyard import labels

# What the API server looks at in a pod that is made; the third kind is put into one that runs.
_CONTAINERS = ("initContainers", "containers")


def cards_elsewhere(planned: Planned) -> Iterator[Finding]:
    """What is in no project's namespace asks for no cards and for none of their hosts.

    The API server refuses such pods (`elsewhere_policy`), and not what makes them: a Deployment
    was taken, and nobody noticed that it had no pods.
    """
    spared = set(labels.SYSTEM_NAMESPACES) | {
        each.name
        for each in planned.of_kind("Namespace")
        if at(each.object, "metadata", "labels", labels.PROJECT) is not None
    }
    resources = _resources(planned)
    for each in planned.after:
        namespace = each.namespace or labels.DEFAULT_NAMESPACE
        if namespace in spared:
            continue
        asked = sorted({what for pod in pods(each.object) for what in _asked(pod, resources)})
        if asked:
            text = Text(
                f"{each.kind} {namespace}/{each.name} is of no project and asks for "
                f"{', '.join(asked)}: submit it in the namespace of a project, through its queue",
                f"{each.kind} {namespace}/{each.name} 不属于任何项目，却申请 {'、'.join(asked)}："
                "请在项目的命名空间中通过队列提交",
            )
            yield about("cards-elsewhere", text, each)


def _resources(planned: Planned) -> frozenset[str]:
    """Return by what cards are asked for: what the admission policies' table says of it."""
    table = planned.named(labels.PROJECT_TABLE_KIND, labels.PROJECT_TABLE)
    return texts(table.object, "spec", "resources") if table else frozenset()


def _asked(pod: Mapping[str, Any], resources: frozenset[str]) -> Iterator[str]:
    for part in _CONTAINERS:
        for container in mappings(pod, part):
            for kind in ("limits", "requests"):
                yield from resources & mapping(container, "resources", kind).keys()
    if any(each.get("key") == labels.POOL_TAINT for each in mappings(pod, "tolerations")):
        yield f"a toleration of {labels.POOL_TAINT}"
