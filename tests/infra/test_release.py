from __future__ import annotations

import asyncio
from typing import Any

import pulumi

from infra.release import leave_certificates, take_fields
from tallyard import labels

EMPTY = {"ca.crt": "", "ca.key": "", "tls.crt": "", "tls.key": ""}


def _transformed(type_: str, props: dict[str, Any]) -> Any:
    args = pulumi.ResourceTransformArgs(
        custom=True, type_=type_, name="x", props=props, opts=pulumi.ResourceOptions()
    )
    result = leave_certificates(args)
    return result.props if result else None


def _data(content: dict[str, str]) -> Any:
    """Return what is kept of a Secret's content, which Pulumi hands over as an output."""

    async def kept() -> Any:
        props = {"metadata": {"name": "x"}, "data": pulumi.Output.secret(content)}
        result = _transformed("kubernetes:core/v1:Secret", props)
        assert result["metadata"] == props["metadata"]
        data = await result["data"].future()
        assert await result["data"].is_secret() is (data is not None)
        return data

    return asyncio.run(kept())


def test_the_empty_keys_of_a_certificate_are_left_to_the_controller_that_fills_them() -> None:
    assert _data(EMPTY) is None


def test_a_secret_with_content_stays_as_it_is() -> None:
    full = {**EMPTY, "token": "eA=="}
    assert _data(full) == full


def test_a_secret_without_data_and_every_other_kind_stay_as_they_are() -> None:
    assert _transformed("kubernetes:core/v1:Secret", {"metadata": {"name": "x"}}) is None
    assert _transformed("kubernetes:core/v1:ConfigMap", {"data": {"key": ""}}) is None


def _taken(type_: str, props: dict[str, Any]) -> Any:
    args = pulumi.ResourceTransformArgs(
        custom=True, type_=type_, name="x", props=props, opts=pulumi.ResourceOptions()
    )
    result = take_fields(args)
    return result.props if result else None


def test_a_field_that_somebody_changed_is_taken_back_from_them() -> None:
    metadata: dict[str, Any] = {"name": "x", "annotations": {"helm.sh/hook": "none"}}
    props = _taken("kubernetes:rbac.authorization.k8s.io/v1:Role", {"metadata": metadata})
    assert props["metadata"]["annotations"] == {"helm.sh/hook": "none", labels.PATCH_FORCE: "true"}
    assert labels.PATCH_FORCE not in metadata["annotations"]


def test_what_decides_about_a_webhook_is_written_out_and_the_charts_own_word_stands() -> None:
    kind = "kubernetes:admissionregistration.k8s.io/v1:ValidatingWebhookConfiguration"
    webhooks = [{"name": "a", "timeoutSeconds": 3}, {"name": "b"}]
    props = _taken(kind, {"metadata": {"name": "x"}, "webhooks": webhooks})
    assert [each["matchPolicy"] for each in props["webhooks"]] == ["Equivalent", "Equivalent"]
    assert [each["timeoutSeconds"] for each in props["webhooks"]] == [3, 10]


def test_the_chart_itself_is_no_object() -> None:
    assert _taken("kubernetes:helm.sh/v4:Chart", {"chart": "kueue"}) is None
