"""Priorities, topology, flavors, cohorts and queues: Kueue's objects of the spec."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import pulumi
import pulumi_kubernetes as k8s

from infra.objects import KubernetesObject
from tallyard.render.flavors import flavor_manifests, topology_manifest
from tallyard.render.manifest import Manifest
from tallyard.render.priorities import priority_manifests
from tallyard.render.queues import (
    cluster_queue_manifests,
    cohort_manifests,
    local_queue_manifests,
)
from tallyard.spec.model import Platform


class Queues(pulumi.ComponentResource):
    """Everything that decides who may run how much of what.

    `begun` is the first object of Kueue's: what depends on it is made after Kueue, and deleted
    before it.
    """

    begun: Sequence[pulumi.Resource]

    def __init__(
        self,
        name: str,
        platform: Platform,
        provider: k8s.Provider,
        *,
        kueue_ready: pulumi.Output[Sequence[pulumi.Resource]],
    ) -> None:
        """Register what is of the whole cluster, in the order of the references.

        Args:
            name: the component's name.
            platform: the spec.
            provider: the cluster's.
            kueue_ready: resolves when Kueue's webhooks answer; before that the API server
                refuses every object of Kueue's.
        """
        super().__init__("tallyard:infra:Queues", name)
        self._platform = platform
        self._opts = pulumi.ResourceOptions(parent=self, provider=provider)
        # Kueue would take another value of its own class. It must not, where Kubernetes refuses
        # the same change of the one that belongs to it; so that one goes first.
        classes: list[KubernetesObject] = []
        for manifest in priority_manifests(platform):
            is_kubernetes = manifest.kind == "PriorityClass"
            made = self._add([manifest], kueue_ready if is_kubernetes else classes[-1:])
            classes += made
        topology = self._add([topology_manifest(platform)], kueue_ready)
        self.begun = tuple(topology)
        flavors = self._add(flavor_manifests(platform), topology)
        # A child cohort names its parent and a queue its cohort; Kueue takes them in any
        # order, but a queue is inactive until all it names is there.
        cohorts = self._add(cohort_manifests(platform), flavors)
        self._queues = {
            manifest.name: self._add([manifest], cohorts)
            for manifest in cluster_queue_manifests(platform)
        }
        self.register_outputs({"clusterQueues": list(self._queues)})

    def open_to(self, namespaces: Mapping[str, pulumi.Resource]) -> None:
        """Register the LocalQueues, by which the projects' namespaces reach the queues."""
        for manifest in local_queue_manifests(self._platform):
            queue = self._queues[manifest.object["spec"]["clusterQueue"]]
            self._add([manifest], [*queue, namespaces[str(manifest.namespace)]])

    def _add(
        self, manifests: Iterable[Manifest], after: pulumi.Input[Sequence[pulumi.Resource]]
    ) -> list[KubernetesObject]:
        opts = pulumi.ResourceOptions.merge(self._opts, pulumi.ResourceOptions(depends_on=after))
        return [KubernetesObject(manifest, opts) for manifest in manifests]
