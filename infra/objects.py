"""A rendered manifest becomes a Pulumi resource."""

from __future__ import annotations

from collections.abc import Mapping

import pulumi

from tallyard.render.fates import Fate, fate_of
from tallyard.render.manifest import Manifest

_FATES: Mapping[Fate, pulumi.ResourceOptions] = {
    Fate.KEPT: pulumi.ResourceOptions(retain_on_delete=True),
    Fate.PROTECTED: pulumi.ResourceOptions(protect=True),
    Fate.DELETED: pulumi.ResourceOptions(),
}
# What the API server refuses to change, and Pulumi would only learn in the middle of `up`: as a
# replacement of a protected object it is refused before anything is done.
_REPLACED = {"PriorityClass": ["value", "preemptionPolicy"]}


class KubernetesObject(pulumi.CustomResource):
    """An object exactly as it was rendered, under its own name without a random suffix.

    The SDK's typed classes would translate it to Python and back, and its untyped one knows
    only `spec`, which a WorkloadPriorityClass does not have. The type's token is the one
    they use, so policies and the state see no difference.
    """

    def __init__(self, manifest: Manifest, opts: pulumi.ResourceOptions) -> None:
        """Register the object as `kind/namespace/name`."""
        fate = pulumi.ResourceOptions.merge(
            _FATES[fate_of(manifest.kind)],
            pulumi.ResourceOptions(replace_on_changes=_REPLACED.get(manifest.kind)),
        )
        parts = (manifest.kind.lower(), manifest.namespace, manifest.name)
        super().__init__(
            _token(manifest),
            "/".join(part for part in parts if part),
            dict(manifest.object),
            pulumi.ResourceOptions.merge(opts, fate),
        )


def _token(manifest: Manifest) -> str:
    version = str(manifest.object["apiVersion"])
    return f"kubernetes:{version if '/' in version else f'core/{version}'}:{manifest.kind}"
