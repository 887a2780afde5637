"""The program that `pulumi up` runs: what happens, in order. No rule lives here."""

from __future__ import annotations

import pulumi

from infra import ending, hand_edits, identity, recorded, settings
from infra.admission import Admission
from infra.cluster import Cluster
from infra.controllers import Controllers, ImageError, required_image
from infra.jobset import JobSet
from infra.kueue import Kueue
from infra.queues import Queues
from infra.spec import SpecError, spec_of
from infra.tenants import Tenants
from infra.versions import deployed_versions
from tallyard.cluster.client import connect
from tallyard.cluster.drain import look
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.identity import cluster_uid
from tallyard.render.controllers import SpecTooLargeError, spec_manifest
from tallyard.render.kept import kept_objects
from tallyard.spec.versions import VersionsError


def main() -> None:
    """Register the platform."""
    told = settings.read()
    platform, files = spec_of(told.overlay)
    versions = deployed_versions(told)
    image = None if told.outside else required_image(told.controllers_image)

    with connect(context=told.kube_context) as live:
        uid = cluster_uid(live)
        state = recorded.resources()
        identity.check(identity.uid_in(state), uid, live.where)
        if told.is_ending:
            deployed = spec_manifest(files.overlay, files.base).object["data"]
            ending.check(look(live, kept_objects(platform)), pulumi.get_stack(), deployed)
            pulumi.log.warn(ending.notice(platform))
            ending.let_everything_go()
        else:
            hand_edits.take_back_all(live, recorded.applied_objects(state))

    cluster = Cluster("cluster", uid=uid, context=told.kube_context)
    Controllers("controllers", files, cluster.provider, image=image)
    jobset = JobSet(
        "jobset", cluster.provider, versions=versions, outside=told.outside.get("jobset")
    )
    kueue = Kueue(
        "kueue",
        platform,
        cluster.provider,
        versions=versions,
        outside=told.outside.get("kueue"),
        jobset_made=jobset.made,
    )
    admission = Admission("admission", platform, cluster.provider)
    queues = Queues("queues", platform, cluster.provider, kueue_ready=kueue.ready)
    guards = (*admission.bindings, *queues.begun)
    tenants = Tenants("tenants", platform, cluster.provider, guards=guards)
    queues.open_to(tenants.namespaces)
    pulumi.export("cluster", uid)
    pulumi.export("platform", platform.name)


try:
    main()
except ClusterError as error:
    told = error.parts()
    raise pulumi.RunError(f"{told.where}: {told.what}: {told.why}. {told.todo}.") from None
except (
    settings.SettingsError,
    ImageError,
    SpecTooLargeError,
    SpecError,
    VersionsError,
    identity.WrongClusterError,
    ending.NotDrainedError,
) as error:
    # Pulumi prints this one's text and no traceback.
    raise pulumi.RunError(str(error)) from None
