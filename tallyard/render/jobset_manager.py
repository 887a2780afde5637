"""How JobSet's controller is configured, and the chart's values around it.

The chart writes the configuration itself, from its values; the lab, which runs the same
controller beside the cluster, is given what the chart would write. A test compares the two.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallyard.spec.versions import Image

WEBHOOK_SERVICE = "jobset-webhook-service"
WEBHOOK_SECRET = "jobset-webhook-server-cert"  # noqa: S105 - a name, not a secret

# The chart's own, more than one controller needs; said, because they could change.
CLIENT_QPS = 500
CLIENT_BURST = 500


def configuration() -> Mapping[str, Any]:
    """Return the controller's `Configuration` (config.jobset.x-k8s.io/v1alpha1)."""
    return {
        "apiVersion": "config.jobset.x-k8s.io/v1alpha1",
        "kind": "Configuration",
        "leaderElection": {"leaderElect": True},
        "clientConnection": {"qps": CLIENT_QPS, "burst": CLIENT_BURST},
        "internalCertManagement": {
            "enable": True,
            "webhookServiceName": WEBHOOK_SERVICE,
            "webhookSecretName": WEBHOOK_SECRET,
        },
    }


def chart_values(image: Image, *, replicas: int) -> Mapping[str, Any]:
    """Return the chart's values.

    Args:
        image: the controller's; pinned by digest where it is known.
        replicas: 0 where the controller runs beside the cluster.
    """
    return {
        "image": {
            "repository": image.source,
            "tag": image.pinned_tag,
            "pullPolicy": "IfNotPresent",
        },
        "controller": {
            "replicas": replicas,
            "leaderElection": {"enable": True},
            "clientConnection": {"qps": CLIENT_QPS, "burst": CLIENT_BURST},
            "podDisruptionBudget": {"enabled": replicas > 1, "minAvailable": 1},
        },
        # Its certificates are its own, as Kueue's are.
        "certManager": {"enable": False},
    }
