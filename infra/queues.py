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
    """Everything that decides who may run how much of what."""

    def __init__(
        self,
        name: str,
        platform: Platform,
        provider: k8s.Provider,
        *,
        namespaces: Mapping[str, pulumi.Resource],
        kueue_ready: pulumi.Output[Sequence[pulumi.Resource]],
    ) -> None:
        """Register the objects in the order of their references.

        Args:
            name: the component's name.
            platform: the spec.
            provider: the cluster's.
            namespaces: the projects' namespaces, which the LocalQueues live in.
            kueue_ready: resolves when Kueue's webhooks answer; before that the API server
                refuses every object of Kueue's.
        """
        super().__init__("tallyard:infra:Queues", name)
        opts = pulumi.ResourceOptions(parent=self, provider=provider)

        def add(
            manifests: Iterable[Manifest], after: pulumi.Input[Sequence[pulumi.Resource]]
        ) -> list[KubernetesObject]:
            whole = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=after))
            return [KubernetesObject(manifest, whole) for manifest in manifests]

        add(priority_manifests(platform), kueue_ready)
        topology = add([topology_manifest(platform)], kueue_ready)
        flavors = add(flavor_manifests(platform), topology)
        # A child cohort names its parent and a queue its cohort; Kueue takes them in any
        # order, but a queue is inactive until all it names is there.
        cohorts = add(cohort_manifests(platform), flavors)
        queues = add(cluster_queue_manifests(platform), cohorts)
        for manifest in local_queue_manifests(platform):
            add([manifest], [*queues, namespaces[str(manifest.namespace)]])
        self.register_outputs(
            {"clusterQueues": [str(m.name) for m in cluster_queue_manifests(platform)]}
        )
