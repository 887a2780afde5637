"""How Kueue's manager is configured, and the chart's values around it.

Prod gives the configuration to the chart; the lab gives the same one to a manager that it
runs beside the cluster, with its own ports. Written out are the fields that we decide and
those whose default changed between Kueue's versions.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from tallyard import labels
from tallyard.catalog.feature_gates import KUEUE_FEATURE_GATES
from tallyard.spec.model import Gangs, Platform, Retention
from tallyard.spec.versions import Image

WEBHOOK_SERVICE = "kueue-webhook-service"
WEBHOOK_SECRET = "kueue-webhook-server-cert"  # noqa: S105 - a name, not a secret

# What people may submit. JobSet's controller starts when its CRD appears.
FRAMEWORKS = (
    "batch/job",
    "deployment",
    f"{labels.JOBSET_GROUP}/jobset",
    "pod",
    "statefulset",
)

# Kueue 0.17 ships 50 and 100, which makes its own client the bottleneck at 50 pods a
# second; later versions ship these.
CLIENT_QPS = 300
CLIENT_BURST = 500

# The longest pause before another turn, Kueue's own default: after an hour the fault of a
# registry or a file system is mended, or it is not the platform's.
REQUEUE_SECONDS_MAX = 3600


def configuration(platform: Platform) -> Mapping[str, Any]:
    """Return the manager's `Configuration` (config.kueue.x-k8s.io/v1beta2)."""
    uncounted = list(platform.uncounted)
    return {
        "apiVersion": "config.kueue.x-k8s.io/v1beta2",
        "kind": "Configuration",
        "namespace": labels.KUEUE_NAMESPACE,
        "health": {"healthProbeBindAddress": ":8081"},
        "metrics": {"bindAddress": ":8443", "enableClusterQueueResources": True},
        "webhook": {"port": 9443},
        "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
        "clientConnection": {"qps": CLIENT_QPS, "burst": CLIENT_BURST},
        "internalCertManagement": {
            "enable": True,
            "webhookServiceName": WEBHOOK_SERVICE,
            "webhookSecretName": WEBHOOK_SECRET,
        },
        # Work in a project's namespace without a queue is held, not run free; everything
        # else in the cluster (system namespaces, the manager itself) is none of Kueue's
        # business and must start while Kueue is down.
        "manageJobsWithoutQueueName": True,
        "managedJobsNamespaceSelector": {
            "matchExpressions": [{"key": labels.PROJECT, "operator": "Exists"}]
        },
        "integrations": {
            "frameworks": list(FRAMEWORKS),
            "labelKeysToCopy": [labels.PROJECT, labels.USER],
        },
        # What a pod asks for and no queue covers would make its workload wait for ever.
        **({"resources": {"excludeResourcePrefixes": uncounted}} if uncounted else {}),
        "waitForPodsReady": _wait_for_pods_ready(platform.gangs),
        "objectRetentionPolicies": {"workloads": _retention(platform.retention)},
        "featureGates": {name: gate.is_on for name, gate in KUEUE_FEATURE_GATES.items()},
        "fairSharing": {
            "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"]
        },
    }


def _wait_for_pods_ready(gangs: Gangs) -> Mapping[str, Any]:
    """Return how long admitted work may be without all its pods, and what happens then.

    Nothing else frees the cards of work that cannot start: a Job whose pods nobody can make
    holds its quota for ever.
    """
    start = f"{gangs.start_seconds_max}s"
    return {
        "timeout": start,
        # A replacement for a pod that failed needs what the first one needed.
        "recoveryTimeout": start,
        # True would let one slow image hold up every other admission of the cluster.
        "blockAdmission": False,
        "requeuingStrategy": {
            # Whoever did not start stands behind those that waited meanwhile.
            "timestamp": "Eviction",
            "backoffLimitCount": gangs.requeues,
            "backoffBaseSeconds": gangs.requeue_seconds,
            "backoffMaxSeconds": max(gangs.requeue_seconds, REQUEUE_SECONDS_MAX),
        },
    }


def _retention(retention: Retention) -> Mapping[str, str]:
    return {
        "afterFinished": f"{retention.finished_seconds}s",
        # This one removes the Job too, and nothing else would: it is suspended, so its own
        # ttlSecondsAfterFinished never begins.
        "afterDeactivatedByKueue": f"{retention.stopped_seconds}s",
    }


def chart_values(image: Image, platform: Platform, *, replicas: int) -> Mapping[str, Any]:
    """Return the chart's values.

    Args:
        image: the manager's; pinned by digest where it is known.
        platform: as in `configuration`.
        replicas: 0 where the manager runs beside the cluster.
    """
    return {
        "controllerManager": {
            "replicas": replicas,
            "manager": {
                "image": {
                    "repository": image.source,
                    "tag": image.pinned_tag,
                    "pullPolicy": "IfNotPresent",
                }
            },
            "podDisruptionBudget": {"enabled": replicas > 1, "minAvailable": 1},
        },
        "managerConfig": {
            "controllerManagerConfigYaml": yaml.safe_dump(
                dict(configuration(platform)), sort_keys=False
            )
        },
    }
