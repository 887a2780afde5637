"""A rendered manifest becomes a Pulumi resource."""

from __future__ import annotations

import pulumi

from tallyard.render.manifest import Manifest


class KubernetesObject(pulumi.CustomResource):
    """An object exactly as it was rendered, under its own name without a random suffix.

    The SDK's typed classes would translate it to Python and back, and its untyped one knows
    only `spec`, which a WorkloadPriorityClass does not have. The type's token is the one
    they use, so policies and the state see no difference.
    """

    def __init__(self, manifest: Manifest, opts: pulumi.ResourceOptions) -> None:
        """Register the object as `kind/namespace/name`."""
        parts = (manifest.kind.lower(), manifest.namespace, manifest.name)
        super().__init__(
            _token(manifest),
            "/".join(part for part in parts if part),
            dict(manifest.object),
            opts,
        )


def _token(manifest: Manifest) -> str:
    version = str(manifest.object["apiVersion"])
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest.kind}"
