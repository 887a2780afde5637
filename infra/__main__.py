"""The program that `pulumi up` runs: what happens, in order. No rule lives here."""

from __future__ import annotations

import pulumi

from infra import identity, settings
from infra.cluster import Cluster
from infra.kueue import Kueue
from infra.queues import Queues
from infra.spec import SpecError, platform_of
from infra.tenants import Tenants
from infra.versions import deployed_versions
from tallyard.cluster.client import connect
from tallyard.cluster.faults import ClusterError
from tallyard.cluster.identity import cluster_uid
from tallyard.spec.versions import VersionsError


def main() -> None:
    """Register the platform."""
    told = settings.read()
    platform = platform_of(told.overlay)
    versions = deployed_versions(told)

    with connect(context=told.kube_context) as live:
        uid = cluster_uid(live)
        identity.check(identity.recorded_uid(), uid, live.where)

    cluster = Cluster("cluster", uid=uid, context=told.kube_context)
    kueue = Kueue(
        "kueue", platform, cluster.provider, versions=versions, outside_manager=told.outside_manager
    )
    tenants = Tenants("tenants", platform, cluster.provider)
    Queues(
        "queues",
        platform,
        cluster.provider,
        namespaces=tenants.namespaces,
        kueue_ready=kueue.ready,
    )
    pulumi.export("cluster", uid)
    pulumi.export("platform", platform.name)


try:
    main()
except ClusterError as error:
    told = error.parts()
    raise pulumi.RunError(f"{told.where}: {told.what}: {told.why}. {told.todo}.") from None
except (
    settings.SettingsError,
    SpecError,
    VersionsError,
    identity.WrongClusterError,
) as error:
    # Pulumi prints this one's text and no traceback.
    raise pulumi.RunError(str(error)) from None
