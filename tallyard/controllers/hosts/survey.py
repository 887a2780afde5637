"""All hosts at once: those of the spec, and those that look like some and are not in it. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from tallyard.controllers.hosts.reasons import Cause, Reason
from tallyard.controllers.hosts.verdict import (
    Object,
    State,
    Verdict,
    is_kept_off,
    taints_of,
    verdict_of,
)
from tallyard.spec.model import Node, Platform


@dataclass(frozen=True)
class Host:
    """One host: what it is in the spec, what is to be done with it, and what the gate has done.

    `spec` is None for one that is not in the spec. `is_kept_off` is None where the cluster has
    no such node.
    """

    name: str
    spec: Node | None
    verdict: Verdict
    is_kept_off: bool | None

    @property
    def is_as_gated(self) -> bool:
        """Return whether the gate has done what the spec asks for."""
        return self.is_kept_off is None or self.is_kept_off == self.verdict.is_tainted


def survey(platform: Platform, nodes: Iterable[Object]) -> tuple[Host, ...]:
    """Return the hosts of the spec in its order, then the others by name."""
    hosts = hosts_by_name(platform)
    seen = {str(node["metadata"]["name"]): node for node in nodes}
    foreign = sorted(seen.keys() - hosts.keys())
    return tuple(_hosts(platform, hosts, seen, (*hosts, *foreign)))


def hosts_by_name(platform: Platform) -> Mapping[str, Node]:
    """Return the hosts of the spec by name."""
    return {node.name: node for node in platform.nodes}


def _hosts(
    platform: Platform,
    hosts: Mapping[str, Node],
    seen: Mapping[str, Object],
    names: Iterable[str],
) -> Iterator[Host]:
    for name in names:
        if name not in seen:
            missing = Verdict(State.MISSING, (Reason(Cause.NOT_IN_CLUSTER),))
            yield Host(name, hosts[name], missing, None)
            continue
        verdict = verdict_of(platform, hosts, seen[name])
        if verdict.state is not State.IGNORED:
            yield Host(name, hosts.get(name), verdict, is_kept_off(taints_of(seen[name])))
