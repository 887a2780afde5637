"""JobSet itself: its namespace, its chart with the CRD, and the moment its webhooks answer."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.outside import OutsideManager
from infra.release import Release, Resources, install
from tallyard import labels
from tallyard.render.jobset_manager import chart_values
from tallyard.spec.versions import Versions


class JobSet(pulumi.ComponentResource):
    """Sets of Jobs that start and end together.

    `made` resolves when its definition is there, `ready` when its webhooks answer.
    """

    made: Resources
    ready: Resources

    def __init__(
        self,
        name: str,
        provider: k8s.Provider,
        *,
        versions: Versions,
        outside: OutsideManager | None,
    ) -> None:
        """Install the chart.

        Args:
            name: the component's name.
            provider: the cluster's.
            versions: the pins.
            outside: where the controller runs beside the cluster (the lab), else None.
        """
        super().__init__("tallyard:infra:JobSet", name)
        pin = versions.charts["jobset"]
        installed = install(
            Release(
                "jobset",
                labels.JOBSET_NAMESPACE,
                pin,
                lambda replicas: chart_values(versions.images["jobset"], replicas=replicas),
                outside,
            ),
            pulumi.ResourceOptions(parent=self, provider=provider),
        )
        self.made, self.ready = installed.made, installed.ready
        self.register_outputs({"version": pin.version})
