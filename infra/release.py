"""A controller with webhooks from its Helm chart, in the cluster or beside it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as k8s

from infra.outside import OutsideManager, answering, reach_outside
from tallyard import labels
from tallyard.spec.versions import Chart

# One works, the other takes over within seconds of its end.
REPLICAS = 2


@dataclass(frozen=True)
class Release:
    """What is installed.

    Attributes:
        name: of the release, and so the beginning of every object's name.
        namespace: made for it.
        pin: the chart.
        values: the chart's values by how many replicas its controller has.
        outside: where the controller runs beside the cluster (the lab), else None.
    """

    name: str
    namespace: str
    pin: Chart
    values: Callable[[int], Mapping[str, Any]]
    outside: OutsideManager | None


type Resources = pulumi.Output[Sequence[pulumi.Resource]]


@dataclass(frozen=True)
class Installed:
    """The chart's resources, when they are `made`, and when its webhooks answer (`ready`)."""

    made: Resources
    ready: Resources


def install(
    release: Release, opts: pulumi.ResourceOptions, *, after: Resources | None = None
) -> Installed:
    """Install a chart into a namespace of its own.

    Args:
        release: what.
        opts: the parent and the provider.
        after: what must be there before.
    """
    outside, pin = release.outside, release.pin
    namespace = k8s.core.v1.Namespace(
        release.namespace, metadata={"name": release.namespace}, opts=opts
    )
    before = pulumi.Output.from_input(after or []).apply(lambda others: [namespace, *others])
    chart = k8s.helm.v4.Chart(
        release.name,
        chart=outside.chart if outside else f"{pin.source}@{pin.digest}",
        version=None if outside else pin.version,
        namespace=release.namespace,
        values=release.values(0 if outside else REPLICAS),
        opts=pulumi.ResourceOptions.merge(
            opts,
            pulumi.ResourceOptions(
                depends_on=before,
                transforms=[
                    reach_outside(outside) if outside else leave_certificates,
                    take_fields,
                ],
            ),
        ),
    )
    made: Resources = chart.resources.apply(lambda resources: resources or [])
    return Installed(made, made.apply(lambda resources: answering(resources, outside)))


# What the API server fills in where the chart is silent, and what decides how a thing behaves. A
# field that nobody renders can be changed by hand, and no preview shows it.
_WEBHOOK = {"matchPolicy": "Equivalent", "objectSelector": {}, "timeoutSeconds": 10}
_MUTATING = {**_WEBHOOK, "reinvocationPolicy": "Never"}
_WEBHOOKS: Mapping[str, Mapping[str, Any]] = {
    "MutatingWebhookConfiguration": _MUTATING,
    "ValidatingWebhookConfiguration": _WEBHOOK,
}
_DEFAULTS: Mapping[str, Mapping[str, Any]] = {
    "Deployment": {
        "revisionHistoryLimit": 10,
        "progressDeadlineSeconds": 600,
        "minReadySeconds": 0,
    },
    "Service": {"internalTrafficPolicy": "Cluster", "sessionAffinity": "None"},
}


def take_fields(args: pulumi.ResourceTransformArgs) -> pulumi.ResourceTransformResult | None:
    """Own what a chart renders as we own what we render: a hand edit is seen and repaired.

    Under the names that Pulumi gives, though: when it changes the name, it first applies nothing
    under the old one, which the API server refuses for a definition.
    """
    kind = args.type_.rsplit(":", 1)[-1]
    if kind == "Chart":
        return None
    # What the chart rendered: plain JSON, not outputs.
    props: dict[str, Any] = dict(args.props)
    metadata = dict(props.get("metadata") or {})
    own = {labels.PATCH_FORCE: "true"}
    props["metadata"] = {**metadata, "annotations": {**(metadata.get("annotations") or {}), **own}}
    if kind in _DEFAULTS:
        props["spec"] = {**_DEFAULTS[kind], **props["spec"]}
    if kind in _WEBHOOKS:
        props["webhooks"] = [{**_WEBHOOKS[kind], **each} for each in props["webhooks"]]
    return pulumi.ResourceTransformResult(props, args.opts)


def leave_certificates(
    args: pulumi.ResourceTransformArgs,
) -> pulumi.ResourceTransformResult | None:
    """Keep nothing of what a controller writes into the Secret of its webhooks' certificate.

    A chart may bring the Secret with empty keys. Were those ours, the next `up` after a refresh
    would empty them again, and no webhook would be trusted until the controller noticed.
    """
    props: dict[str, Any] = dict(args.props)
    if args.type_ != "kubernetes:core/v1:Secret" or "data" not in props:
        return None
    # What a Secret holds is a secret to Pulumi too, so it can only be looked at later; and of
    # nothing no secret can be made.
    held = pulumi.Output.unsecret(pulumi.Output.from_input(props["data"])).apply(
        lambda data: pulumi.Output.secret(data) if any((data or {}).values()) else None
    )
    return pulumi.ResourceTransformResult({**props, "data": held}, args.opts)
