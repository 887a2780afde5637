"""The cluster that the stack belongs to, and the provider that reaches it."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.identity import CLUSTER_TYPE


class Cluster(pulumi.ComponentResource):
    """Keeps the cluster's identity in the state and holds its provider."""

    uid: str
    provider: k8s.Provider

    def __init__(self, name: str, *, uid: str, context: str | None) -> None:
        """Record the uid first, so that even an `up` that fails later has kept it."""
        super().__init__(CLUSTER_TYPE, name)
        self.uid = uid
        self.register_outputs({"uid": uid})
        self.provider = k8s.Provider(
            name,
            # Empty, and found as kubectl finds it. Left out, the SDK would take KUBECONFIG for
            # one file, which it need not be, and keep it in the state.
            kubeconfig="",
            context=context,
            # Only another cluster replaces the provider, not another path or port to it.
            cluster_identifier=uid,
            enable_server_side_apply=True,
            # Otherwise another content is another object: the spec's ConfigMap would be deleted
            # and made anew at every change of the spec, and the controllers without it meanwhile.
            enable_config_map_mutable=True,
            enable_secret_mutable=True,
            opts=pulumi.ResourceOptions(parent=self),
        )
