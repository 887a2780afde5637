"""One list of priorities becomes two kinds of object, so that they cannot differ."""

from __future__ import annotations

from collections.abc import Iterator

from tallyard.render.manifest import Manifest, manifest
from tallyard.spec.model import Platform


def priority_manifests(platform: Platform) -> Iterator[Manifest]:
    """Yield a PriorityClass and a WorkloadPriorityClass for each priority."""
    for priority in platform.priorities.values():
        for template in ("priority-class", "workload-priority-class"):
            yield manifest(
                template,
                name=priority.name,
                value=priority.value,
                description=_description(priority.name, is_preemptible=priority.preemptible),
            )


def _description(name: str, *, is_preemptible: bool) -> str:
    fate = (
        "may be taken back for the owner of its cards"
        if is_preemptible
        else "is not preempted for its priority alone"
    )
    return f"Work of priority {name}; it {fate}."
