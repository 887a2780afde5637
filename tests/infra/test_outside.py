from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pulumi
import pytest

from infra.outside import OutsideManager, outside_manager, reach_outside

MANAGER = OutsideManager("kueue", "https://127.0.0.1:9443", "Q0E=", "/chart")


def _transformed(type_: str, props: dict[str, Any]) -> Any:
    args = SimpleNamespace(type_=type_, props=props, opts=pulumi.ResourceOptions())
    result = reach_outside(MANAGER)(args)
    return result.props if result else None


def _service_client(path: str) -> dict[str, Any]:
    return {"service": {"name": "kueue-webhook-service", "namespace": "kueue-system", "path": path}}


def test_a_webhook_is_reached_by_url_with_its_path_and_trusted_by_our_ca() -> None:
    props = {"webhooks": [{"name": "mjob.kb.io", "clientConfig": _service_client("/mutate")}]}
    kind = "kubernetes:admissionregistration.k8s.io/v1:MutatingWebhookConfiguration"
    assert _transformed(kind, props)["webhooks"][0]["clientConfig"] == {
        "url": "https://127.0.0.1:9443/mutate",
        "caBundle": "Q0E=",
    }


def test_a_crds_conversion_is_reached_the_same_way() -> None:
    webhook = {"clientConfig": _service_client("/convert")}
    props = {"spec": {"conversion": {"strategy": "Webhook", "webhook": webhook}}}
    kind = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    converted = _transformed(kind, props)["spec"]["conversion"]["webhook"]
    assert converted["clientConfig"]["url"] == "https://127.0.0.1:9443/convert"


def test_a_crd_without_conversion_and_every_other_kind_stay_as_they_are() -> None:
    crd = "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition"
    assert _transformed(crd, {"spec": {}}) == {"spec": {}}
    assert _transformed("kubernetes:apps/v1:Deployment", {"spec": {}}) is None


def test_a_service_without_anything_behind_it_is_not_waited_for() -> None:
    props = _transformed("kubernetes:core/v1:Service", {"metadata": {"name": "x"}})
    assert props["metadata"]["annotations"] == {"pulumi.com/skipAwait": "true"}


def test_where_a_manager_is_is_read_from_the_labs_file(tmp_path: Path) -> None:
    told = {
        "name": "kueue",
        "webhookURL": MANAGER.webhook_url,
        "caBundle": "Q0E=",
        "chart": "/chart",
    }
    file = tmp_path / "manager.json"
    file.write_text(json.dumps(told))
    assert outside_manager(file) == MANAGER
    file.write_text(json.dumps({"name": "kueue"}))
    with pytest.raises(KeyError, match="webhookURL"):
        outside_manager(file)
