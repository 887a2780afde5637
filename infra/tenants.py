"""A namespace, its defaults and its members for each project."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pulumi
import pulumi_kubernetes as k8s

from infra.objects import KubernetesObject
from tallyard.render.tenancy import limit_range_manifests, namespace_manifests, role_manifests
from tallyard.spec.model import Platform


class Tenants(pulumi.ComponentResource):
    """The projects' namespaces, by name, and who may do what."""

    namespaces: Mapping[str, pulumi.Resource]

    def __init__(
        self,
        name: str,
        platform: Platform,
        provider: k8s.Provider,
        *,
        guards: Sequence[pulumi.Resource],
    ) -> None:
        """Register the namespaces, then the roles, their bindings and the defaults.

        Args:
            name: the component's name.
            platform: the spec.
            provider: the cluster's.
            guards: what must hold before anybody can submit work. It is deleted after the
                namespaces: without Kueue nobody takes its finalizers off what is in them.
        """
        super().__init__("tallyard:infra:Tenants", name)
        opts = pulumi.ResourceOptions(parent=self, provider=provider)
        self.namespaces = {
            manifest.name: KubernetesObject(
                manifest, pulumi.ResourceOptions.merge(opts, _after(guards))
            )
            for manifest in namespace_manifests(platform)
        }
        for manifest in (*role_manifests(platform), *limit_range_manifests(platform)):
            needs = [self.namespaces[manifest.namespace]] if manifest.namespace else []
            KubernetesObject(manifest, pulumi.ResourceOptions.merge(opts, _after(needs)))
        self.register_outputs({"namespaces": sorted(self.namespaces)})


def _after(resources: Sequence[pulumi.Resource]) -> pulumi.ResourceOptions:
    return pulumi.ResourceOptions(depends_on=[*resources])
