"""A controller that runs beside the cluster and not in it: the lab's Kueue and JobSet.

The same chart is installed, with no replicas; its webhooks are reached by URL.
"""

from __future__ import annotations

import asyncio
import base64
import http.client
import json
import ssl
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pulumi

# A manager that has not come up after this long has not started; its log says why.
_WEBHOOK_WAIT_SECONDS_MAX = 180


@dataclass(frozen=True)
class OutsideManager:
    """Where one is.

    `name` is what the lab calls it, `webhook_url` where the API server finds its webhooks,
    `ca_bundle` (base64 PEM) what they are trusted by, `chart` the folder of the chart to
    install.
    """

    name: str
    webhook_url: str
    ca_bundle: str
    chart: str


def outside_manager(file: Path) -> OutsideManager:
    """Read what the lab tells of a manager.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is not JSON.
        LookupError: it lacks a key.
        TypeError: it is not a mapping.
    """
    told = json.loads(file.read_text(encoding="utf-8"))
    return OutsideManager(
        name=told["name"],
        webhook_url=told["webhookURL"],
        ca_bundle=told["caBundle"],
        chart=told["chart"],
    )


async def answering(
    resources: Sequence[pulumi.Resource], manager: OutsideManager | None
) -> Sequence[pulumi.Resource]:
    """Return a chart's resources once its webhooks answer.

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
                    f"The webhooks of {manager.name} did not answer at {manager.webhook_url} "
                    f"within {_WEBHOOK_WAIT_SECONDS_MAX} s ({error}). Look at its log "
                    f"(`tally lab logs {manager.name}`), then run the same command again."
                ) from error
            time.sleep(0.2)
        else:
            return
        finally:
            connection.close()


def reach_outside(manager: OutsideManager) -> Callable[..., Any]:
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
