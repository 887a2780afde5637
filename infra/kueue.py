"""Kueue itself: its namespace, its chart with the CRDs, and the moment its webhooks answer."""

from __future__ import annotations

import asyncio
import base64
import http.client
import ssl
import time
from collections.abc import Callable, Sequence
from typing import Any
from urllib.parse import urlsplit

import pulumi
import pulumi_kubernetes as k8s

from infra.settings import OutsideManager
from tallyard import labels
from tallyard.render.kueue_manager import chart_values
from tallyard.spec.model import Platform
from tallyard.spec.versions import Versions

# A manager that has not come up after this long has not started; its log says why.
_WEBHOOK_WAIT_SECONDS_MAX = 180
_REPLICAS = 2


class Kueue(pulumi.ComponentResource):
    """The queueing system. `ready` resolves when its webhooks answer."""

    ready: pulumi.Output[Sequence[pulumi.Resource]]

    def __init__(
        self,
        name: str,
        platform: Platform,
        provider: k8s.Provider,
        *,
        versions: Versions,
        outside_manager: OutsideManager | None,
    ) -> None:
        """Install the chart.

        Args:
            name: the component's name.
            platform: for what no queue counts.
            provider: the cluster's.
            versions: the pins.
            outside_manager: where the manager runs beside the cluster (the lab), else None.
        """
        super().__init__("tallyard:infra:Kueue", name)
        opts = pulumi.ResourceOptions(parent=self, provider=provider)
        namespace = k8s.core.v1.Namespace(
            labels.KUEUE_NAMESPACE, metadata={"name": labels.KUEUE_NAMESPACE}, opts=opts
        )
        pin = versions.charts["kueue"]
        chart = k8s.helm.v4.Chart(
            # The name of the release, and so the beginning of every object's name.
            "kueue",
            chart=outside_manager.chart if outside_manager else f"{pin.source}@{pin.digest}",
            version=None if outside_manager else pin.version,
            namespace=labels.KUEUE_NAMESPACE,
            values=chart_values(
                versions.images["kueue"],
                replicas=0 if outside_manager else _REPLICAS,
                uncounted=platform.uncounted,
            ),
            opts=pulumi.ResourceOptions.merge(
                opts,
                pulumi.ResourceOptions(
                    depends_on=[namespace],
                    transforms=[_reach_outside(outside_manager)] if outside_manager else None,
                ),
            ),
        )
        self.ready = chart.resources.apply(lambda made: _answering(made or [], outside_manager))
        self.register_outputs({"version": pin.version})


async def _answering(
    resources: Sequence[pulumi.Resource], manager: OutsideManager | None
) -> Sequence[pulumi.Resource]:
    """Return the chart's resources once the webhooks answer.

    In a cluster the chart is ready when the Deployment is, and that waits for the webhooks. A
    manager outside is no resource of the chart's, so it is asked itself.
    """
    if manager and not pulumi.runtime.is_dry_run():
        await asyncio.to_thread(_wait_for_webhook, manager)
    return resources


def _wait_for_webhook(manager: OutsideManager) -> None:
    address = urlsplit(manager.webhook_url)
    trust = ssl.create_default_context(cadata=base64.b64decode(manager.ca_bundle).decode())
    deadline = time.monotonic() + _WEBHOOK_WAIT_SECONDS_MAX
    while True:
        connection = http.client.HTTPSConnection(
            str(address.hostname), address.port, timeout=2, context=trust
        )
        try:
            connection.request("GET", "/")
            connection.getresponse()
        except OSError as error:
            if time.monotonic() > deadline:
                raise pulumi.RunError(
                    f"Kueue's webhooks did not answer at {manager.webhook_url} within "
                    f"{_WEBHOOK_WAIT_SECONDS_MAX} s ({error}). Look at the manager's log "
                    "(`tally lab logs kueue`), then run the same command again."
                ) from error
            time.sleep(0.2)
        else:
            return
        finally:
            connection.close()


def _reach_outside(manager: OutsideManager) -> Callable[..., Any]:
    """Return a transform by which the API server finds webhooks outside the cluster."""

    def transform(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
        # What the chart rendered: plain JSON, not outputs.
        props: dict[str, Any] = dict(args.props)
        kind = args.type_.rsplit(":", 1)[-1]
        if kind in ("MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"):
            for webhook in props["webhooks"]:
                _redirect(webhook["clientConfig"], manager)
        elif kind == "CustomResourceDefinition":
            conversion = props["spec"].get("conversion", {})
            if "webhook" in conversion:
                _redirect(conversion["webhook"]["clientConfig"], manager)
        elif kind == "Service":
            # Nothing stands behind the chart's Services here; waiting for endpoints would
            # take as long as its timeout.
            annotations = props["metadata"].setdefault("annotations", {})
            annotations["pulumi.com/skipAwait"] = "true"
        else:
            return None
        return pulumi.ResourceTransformResult(props, args.opts)

    return transform


def _redirect(client_config: dict[str, Any], manager: OutsideManager) -> None:
    path = client_config.pop("service")["path"]
    client_config["url"] = f"{manager.webhook_url}{path}"
    client_config["caBundle"] = manager.ca_bundle
