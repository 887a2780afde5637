"""The whole platform as manifests, in the order in which they can be applied."""

from __future__ import annotations

from tallyard.render.admission.policies import binding_manifests, policy_manifests
from tallyard.render.admission.table import definition_manifest, table_manifest
from tallyard.render.flavors import flavor_manifests, topology_manifest
from tallyard.render.manifest import Manifest
from tallyard.render.priorities import priority_manifests
from tallyard.render.queues import (
    cluster_queue_manifests,
    cohort_manifests,
    local_queue_manifests,
)
from tallyard.render.tenancy import limit_range_manifests, namespace_manifests, role_manifests
from tallyard.spec.model import Platform


def render(platform: Platform) -> tuple[Manifest, ...]:
    """Return every object that the spec asks for. Same spec, same bytes."""
    return (
        definition_manifest(),
        table_manifest(platform),
        *policy_manifests(),
        *binding_manifests(),
        *namespace_manifests(platform),
        *role_manifests(platform),
        *limit_range_manifests(platform),
        *priority_manifests(platform),
        topology_manifest(platform),
        *flavor_manifests(platform),
        *cohort_manifests(platform),
        *cluster_queue_manifests(platform),
        *local_queue_manifests(platform),
    )
