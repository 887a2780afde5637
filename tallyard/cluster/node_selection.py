"""Whether a pod may be placed on hosts with certain labels. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallyard.cluster.conditions import Object

type Labels = Mapping[str, str]


def admits(spec: Object, labels: Labels) -> bool:
    """Return whether the node selector and the required affinity of a pod allow such hosts.

    What they say of keys that are not among `labels` is passed over, as Kueue does when it
    looks for a flavor: a flavor names some labels of its hosts, not all.

    Args:
        spec: The pod's spec.
        labels: Those that all of the hosts have.
    """
    selector = spec.get("nodeSelector") or {}
    if any(key in labels and labels[key] != value for key, value in selector.items()):
        return False
    affinity = (spec.get("affinity") or {}).get("nodeAffinity") or {}
    required = affinity.get("requiredDuringSchedulingIgnoredDuringExecution") or {}
    terms = required.get("nodeSelectorTerms")
    # One of the terms is enough; no terms at all say nothing.
    return terms is None or any(_holds(term, labels) for term in terms)


def _holds(term: Object, labels: Labels) -> bool:
    expressions = term.get("matchExpressions") or ()
    return all(_agrees(each, labels) for each in expressions if each["key"] in labels)


def _agrees(expression: Mapping[str, Any], labels: Labels) -> bool:
    found, values = labels[expression["key"]], expression.get("values") or ()
    match expression["operator"]:
        case "In":
            return found in values
        case "NotIn":
            return found not in values
        case "DoesNotExist":
            return False
        case "Gt" | "Lt" as operator:
            return _compares(operator, found, values)
        case _:
            return True


def _compares(operator: str, found: str, values: Any) -> bool:
    """Compare as Kubernetes does: whole numbers only, nothing else is larger or smaller."""
    try:
        number, bound = int(found), int(values[0])
    except (ValueError, IndexError):
        return False
    return number > bound if operator == "Gt" else number < bound
