"""In which ways Kueue's own webhooks can let work past its queues.

What must hold is written here once more, as in `openings.py`: the webhooks come from a chart, and
what it is given can turn each of them off.
"""

# Chinese punctuation is full-width.
# ruff: noqa: RUF001

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from policies.finding import Text
from policies.openings import NOT_SYSTEM, Asked, is_covered, unlooked
from policies.planned import items, mapping, mappings, texts
from tallyard import labels
from tallyard.render.manifest import Manifest

_MADE = ("CREATE",)
_WRITTEN = ("CREATE", "UPDATE")


def _asked(
    operations: tuple[str, ...], group: str, version: str, *resources: str
) -> frozenset[Asked]:
    return frozenset((o, group, version, r) for o in operations for r in resources)


_SERVICES = _asked(_WRITTEN, "apps", "v1", "deployments", "statefulsets")
# By the configuration's kind and name. The one puts work into its queue and holds it there, the
# other keeps it there.
WEBHOOKS: Mapping[tuple[str, str], frozenset[Asked]] = {
    ("MutatingWebhookConfiguration", "kueue-mutating-webhook-configuration"): (
        _asked(_MADE, "", "v1", "pods")
        | _asked(_MADE, "batch", "v1", "jobs")
        | _asked(_MADE, labels.JOBSET_GROUP, labels.JOBSET_VERSION, "jobsets")
        | _SERVICES
    ),
    ("ValidatingWebhookConfiguration", "kueue-validating-webhook-configuration"): (
        _asked(_WRITTEN, "", "v1", "pods")
        | _asked(_WRITTEN, "batch", "v1", "jobs")
        | _asked(_WRITTEN, labels.JOBSET_GROUP, labels.JOBSET_VERSION, "jobsets")
        | _asked(_WRITTEN, labels.KUEUE_GROUP, labels.KUEUE_VERSION, "workloads", "clusterqueues")
        | _SERVICES
    ),
}
# Each of them leaves the projects' namespaces in.
_SELECTED = frozenset({(labels.PROJECT, "Exists", ()), NOT_SYSTEM})


def ways_past(covers: frozenset[Asked], found: Manifest) -> Iterator[Text]:
    """Yield each way in which a configuration's webhooks let work past the queues."""
    webhooks = mappings(found.object, "webhooks")
    yield from unlooked(covers, [rule for each in webhooks for rule in mappings(each, "rules")])
    open_ones: dict[Text, list[str]] = defaultdict(list)
    for each in webhooks:
        # Of the others, which are for what nobody can submit, none matters.
        if any(is_covered(wanted, mappings(each, "rules")) for wanted in covers):
            for text in _openings(each):
                open_ones[text].append(str(each.get("name")))
    for text, names in open_ones.items():
        yield Text(f"{text.english} in {', '.join(names)}", f"{text.chinese}（{'、'.join(names)}）")


def _openings(webhook: Mapping[str, Any]) -> Iterator[Text]:
    # The API server's own default is to refuse.
    if webhook.get("failurePolicy", "Fail") != "Fail":
        yield Text(
            "lets through what it fails on: set failurePolicy Fail",
            "出错时会放行：应设 failurePolicy Fail",
        )
    selector = mapping(webhook, "namespaceSelector")
    found = {
        (str(e.get("key")), str(e.get("operator")), tuple(sorted(texts(e, "values"))))
        for e in mappings(selector, "matchExpressions")
    }
    narrowed = (
        ("namespaceSelector", bool(found - _SELECTED or mapping(selector, "matchLabels"))),
        ("objectSelector", any(mapping(webhook, "objectSelector").values())),
        ("matchConditions", bool(items(webhook, "matchConditions"))),
        ("matchPolicy Exact", webhook.get("matchPolicy") == "Exact"),
    )
    for part, is_there in narrowed:
        if is_there:
            yield Text(
                f"leaves work out by {part}: restore it", f"通过 {part} 放过部分作业：请恢复"
            )
