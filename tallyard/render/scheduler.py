"""How the scheduler packs: onto the fullest host that still fits.

The default spreads, and a few one-card pods on each host leave no room for a job of eight.
Filling hosts keeps whole ones free; cards weigh most, because they are what runs out.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from tallyard.spec.model import Platform

_CARD_WEIGHT = 5
_BASE_WEIGHT = 1


def configuration(platform: Platform) -> Mapping[str, Any]:
    """Return a `KubeSchedulerConfiguration` (kubescheduler.config.k8s.io/v1)."""
    card_resources = sorted({a.resource for a in platform.accelerators.values()})
    weights = [
        {"name": "cpu", "weight": _BASE_WEIGHT},
        {"name": "memory", "weight": _BASE_WEIGHT},
        *({"name": resource, "weight": _CARD_WEIGHT} for resource in card_resources),
    ]
    strategy = {"type": "MostAllocated", "resources": weights}
    return {
        "apiVersion": "kubescheduler.config.k8s.io/v1",
        "kind": "KubeSchedulerConfiguration",
        "profiles": [
            {
                "schedulerName": "default-scheduler",
                "plugins": {
                    # Evens out cpu against memory, which works against filling a host.
                    "score": {"disabled": [{"name": "NodeResourcesBalancedAllocation"}]}
                },
                "pluginConfig": [
                    {
                        "name": "NodeResourcesFit",
                        "args": {
                            "apiVersion": "kubescheduler.config.k8s.io/v1",
                            "kind": "NodeResourcesFitArgs",
                            "scoringStrategy": strategy,
                        },
                    }
                ],
            }
        ],
    }
