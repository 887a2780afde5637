"""The kinds we read, all as plain mappings.

lightkube has typed classes for the built-in ones, but their import alone takes longer than
a `tally queue` may; as mappings they look like the YAML that everybody knows.
"""

from __future__ import annotations

from lightkube.core.resource import (
    ApiInfo,
    GlobalResource,
    NamespacedResource,
    api_info,
)
from lightkube.generic_resource import (
    GenericGlobalResource,
    GenericGlobalStatus,
    GenericNamespacedResource,
    GenericNamespacedStatus,
    create_api_info,
)

from tallyard.labels import (
    CORE_HOURS_KIND,
    CORE_HOURS_PLURAL,
    DOMAIN,
    KUEUE_GROUP,
    KUEUE_VERSION,
    PROJECT_TABLE_KIND,
    PROJECT_TABLES,
)


def _status_of(kind: type[GlobalResource | NamespacedResource]) -> ApiInfo:
    whole = api_info(kind)
    return ApiInfo(
        resource=whole.resource,
        parent=whole.resource,
        plural=whole.plural,
        verbs=["get", "patch", "put"],
        action="status",
    )


class Namespace(GenericGlobalResource):
    """A namespace."""

    _api_info = create_api_info("", "v1", "Namespace", "namespaces")


class Node(GenericGlobalResource):
    """A node."""

    _api_info = create_api_info("", "v1", "Node", "nodes")


class Pod(GenericNamespacedResource):
    """A pod."""

    _api_info = create_api_info("", "v1", "Pod", "pods")


class Event(GenericNamespacedResource):
    """An event of the core API."""

    _api_info = create_api_info("", "v1", "Event", "events")


class ConfigMap(GenericNamespacedResource):
    """A map of texts."""

    _api_info = create_api_info("", "v1", "ConfigMap", "configmaps")


class Lease(GenericNamespacedResource):
    """Who of several is at work."""

    _api_info = create_api_info("coordination.k8s.io", "v1", "Lease", "leases")


class Job(GenericNamespacedResource):
    """A batch Job."""

    _api_info = create_api_info("batch", "v1", "Job", "jobs")


class ClusterQueue(GenericGlobalResource):
    """Kueue's ClusterQueue."""

    _api_info = create_api_info(KUEUE_GROUP, KUEUE_VERSION, "ClusterQueue", "clusterqueues")


class Cohort(GenericGlobalResource):
    """Kueue's Cohort."""

    _api_info = create_api_info(KUEUE_GROUP, KUEUE_VERSION, "Cohort", "cohorts")


class ResourceFlavor(GenericGlobalResource):
    """Kueue's ResourceFlavor."""

    _api_info = create_api_info(KUEUE_GROUP, KUEUE_VERSION, "ResourceFlavor", "resourceflavors")


class LocalQueue(GenericNamespacedResource):
    """Kueue's LocalQueue."""

    _api_info = create_api_info(KUEUE_GROUP, KUEUE_VERSION, "LocalQueue", "localqueues")


class Workload(GenericNamespacedResource):
    """Kueue's Workload."""

    _api_info = create_api_info(KUEUE_GROUP, KUEUE_VERSION, "Workload", "workloads")


class ProjectTable(GenericGlobalResource):
    """Our own table, which the admission policies look into."""

    _api_info = create_api_info(DOMAIN, "v1", PROJECT_TABLE_KIND, PROJECT_TABLES)


class ProjectTableStatus(GenericGlobalStatus):
    """What the policies know of the ledger, which the controllers write."""

    _api_info = _status_of(ProjectTable)


class CoreHours(GenericNamespacedResource):
    """Our own object with the core-hours of a project."""

    _api_info = create_api_info(DOMAIN, "v1", CORE_HOURS_KIND, CORE_HOURS_PLURAL)


class CoreHoursStatus(GenericNamespacedStatus):
    """Its figures, which the controllers write."""

    _api_info = _status_of(CoreHours)


class WorkloadStatus(GenericNamespacedStatus):
    """The status of a Workload, which is written apart from the rest."""

    _api_info = _status_of(Workload)


class AdmissionCheck(GenericGlobalResource):
    """Kueue's AdmissionCheck."""

    _api_info = create_api_info(KUEUE_GROUP, KUEUE_VERSION, "AdmissionCheck", "admissionchecks")


class AdmissionCheckStatus(GenericGlobalStatus):
    """The status of an AdmissionCheck."""

    _api_info = _status_of(AdmissionCheck)
