"""What one pod asks for, as the scheduler and Kueue count it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from tallyard import units
from tallyard.cluster.conditions import Object

type Amounts = dict[str, int]

_ALWAYS = "Always"


def requests(spec: Object) -> Mapping[str, int]:
    """Return what a pod of this spec asks of each resource.

    All containers run side by side, with those of the init containers that go on beside them
    (`restartPolicy: Always`); the other init containers run one after another before them, so
    the largest of these counts where it is more. What the pod as a whole asks for goes before
    the sum, and its overhead is on top. Kubernetes counts so: "Resource sharing within
    containers" and "Pod-level resource specification" in its documentation.

    Returns:
        vCPU in thousandths, memory and storage in bytes, devices in whole ones.

    Raises:
        QuantityError: An amount is no quantity; no API server takes such a pod.
    """
    beside: Amounts = {}
    before: Amounts = {}
    for container in spec.get("initContainers") or ():
        asked = _asked(container)
        if container.get("restartPolicy") == _ALWAYS:
            beside = _sum(beside, asked)
            before = _larger(before, beside)
        else:
            before = _larger(before, _sum(beside, asked))
    together = beside
    for container in spec.get("containers") or ():
        together = _sum(together, _asked(container))
    whole = _larger(together, before) | _asked(spec)
    return _sum(whole, _counted(spec.get("overhead") or {}))


def _asked(holder: Object) -> Amounts:
    """Return the requests of a container, or of a pod; a limit alone is a request too."""
    resources = holder.get("resources") or {}
    return _counted({**(resources.get("limits") or {}), **(resources.get("requests") or {})})


def _counted(amounts: Mapping[str, object]) -> Amounts:
    return {name: units.parse_amount(name, str(amount)) for name, amount in amounts.items()}


def _sum(one: Amounts, other: Amounts) -> Amounts:
    return {name: one.get(name, 0) + other.get(name, 0) for name in _names(one, other)}


def _larger(one: Amounts, other: Amounts) -> Amounts:
    return {name: max(one.get(name, 0), other.get(name, 0)) for name in _names(one, other)}


def _names(*amounts: Amounts) -> Iterable[str]:
    return dict.fromkeys(name for each in amounts for name in each)
