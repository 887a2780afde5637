"""Our own namespace: access, the spec for the controllers, and they themselves."""

from __future__ import annotations

import re

import pulumi
import pulumi_kubernetes as k8s

from infra.objects import KubernetesObject
from infra.spec import SpecFiles
from tallyard.render.controllers import (
    access_manifests,
    deployment_manifests,
    namespace_manifest,
    spec_manifest,
)

# A tag can be moved to another image by whoever may write to the registry.
_IMAGE = re.compile(r"[a-z0-9][a-z0-9._:/-]*@sha256:[0-9a-f]{64}")


class ImageError(Exception):
    """The stack does not say which image the controllers run from; the text says what to do."""


def required_image(found: str | None) -> str:
    """Return the image of the controllers.

    Raises:
        ImageError: None is named, or one without its digest.
    """
    if found and _IMAGE.fullmatch(found):
        return found
    what = f'"{found}" names no digest' if found else "it is not set"
    raise ImageError(
        "tallyard:controllers-image: this stack runs the controllers in the cluster, and of their "
        f"image {what}. No image is published: build it from the Containerfile, push it to your "
        "registry, and write `pulumi config set tallyard:controllers-image "
        "REPOSITORY@sha256:DIGEST` (docs/production.md)."
    )


class Controllers(pulumi.ComponentResource):
    """The system's namespace and all that is in it."""

    def __init__(
        self, name: str, files: SpecFiles, provider: k8s.Provider, *, image: str | None
    ) -> None:
        """Register the namespace, the access, the spec and, with an image, the Deployment.

        Args:
            name: the component's name.
            files: the spec as it is written.
            provider: the cluster's.
            image: None where the controllers run beside the cluster (the lab).
        """
        super().__init__("tallyard:infra:Controllers", name)
        opts = pulumi.ResourceOptions(parent=self, provider=provider)
        namespace = KubernetesObject(namespace_manifest(), opts)
        within = pulumi.ResourceOptions.merge(opts, pulumi.ResourceOptions(depends_on=[namespace]))
        needs = [KubernetesObject(manifest, within) for manifest in access_manifests()]
        needs.append(KubernetesObject(spec_manifest(files.overlay, files.base), within))
        after = pulumi.ResourceOptions.merge(within, pulumi.ResourceOptions(depends_on=needs))
        for manifest in deployment_manifests(image) if image else ():
            KubernetesObject(manifest, after)
        self.register_outputs({"image": image})
