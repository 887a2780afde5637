"""What the API server does with what people submit: the table, the policies, the bindings."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.objects import KubernetesObject
from tallyard.render.admission.policies import binding_manifests, policy_manifests
from tallyard.render.admission.table import definition_manifest, table_manifest
from tallyard.spec.model import Platform


class Admission(pulumi.ComponentResource):
    """The policies. `bindings` are what makes them hold."""

    bindings: tuple[pulumi.Resource, ...]

    def __init__(self, name: str, platform: Platform, provider: k8s.Provider) -> None:
        """Register the table before the bindings: without it they refuse everything.

        Args:
            name: the component's name.
            platform: the spec.
            provider: the cluster's.
        """
        super().__init__("tallyard:infra:Admission", name)
        opts = pulumi.ResourceOptions(parent=self, provider=provider)

        def after(resources: list[pulumi.Resource]) -> pulumi.ResourceOptions:
            return pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=resources))

        definition = KubernetesObject(definition_manifest(), opts)
        table = KubernetesObject(table_manifest(platform), after([definition]))
        policies = [
            KubernetesObject(manifest, after([definition])) for manifest in policy_manifests()
        ]
        self.bindings = tuple(
            KubernetesObject(manifest, after([table, *policies]))
            for manifest in binding_manifests()
        )
        self.register_outputs({"bindings": [str(m.name) for m in binding_manifests()]})
