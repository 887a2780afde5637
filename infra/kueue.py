"""Kueue itself: its namespace, its chart with the CRDs, and the moment its webhooks answer."""

from __future__ import annotations

import pulumi
import pulumi_kubernetes as k8s

from infra.outside import OutsideManager
from infra.release import Release, Resources, install
from tallyard import labels
from tallyard.render.kueue_manager import chart_values
from tallyard.spec.model import Platform
from tallyard.spec.versions import Versions


class Kueue(pulumi.ComponentResource):
    """The queueing system. `ready` resolves when its webhooks answer."""

    ready: Resources

    def __init__(
        self,
        name: str,
        platform: Platform,
        provider: k8s.Provider,
        *,
        versions: Versions,
        outside: OutsideManager | None,
        jobset_made: Resources,
    ) -> None:
        """Install the chart.

        Args:
            name: the component's name.
            platform: for what the manager's configuration takes from the spec.
            provider: the cluster's.
            versions: the pins.
            outside: where the manager runs beside the cluster (the lab), else None.
            jobset_made: resolves when JobSets are defined. Kueue notices that later too, but
                looks for it ever more rarely, up to every two minutes; a JobSet until then
                would be held by its webhook and admitted by nobody.
        """
        super().__init__("tallyard:infra:Kueue", name)
        pin = versions.charts["kueue"]
        image = versions.images["kueue"]
        installed = install(
            Release(
                "kueue",
                labels.KUEUE_NAMESPACE,
                pin,
                lambda replicas: chart_values(image, platform, replicas=replicas),
                outside,
            ),
            pulumi.ResourceOptions(parent=self, provider=provider),
            after=jobset_made,
        )
        self.ready = installed.ready
        self.register_outputs({"version": pin.version})
