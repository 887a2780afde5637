from __future__ import annotations

from typing import Any

import pulumi

from infra.release import leave_certificates

EMPTY = {"ca.crt": "", "ca.key": "", "tls.crt": "", "tls.key": ""}


def _transformed(type_: str, props: dict[str, Any]) -> Any:
    args = pulumi.ResourceTransformArgs(
        custom=True, type_=type_, name="x", props=props, opts=pulumi.ResourceOptions()
    )
    result = leave_certificates(args)
    return result.props if result else None


def test_the_empty_keys_of_a_certificate_are_left_to_the_controller_that_fills_them() -> None:
    props = {"metadata": {"name": "jobset-webhook-server-cert"}, "data": dict(EMPTY)}
    assert _transformed("kubernetes:core/v1:Secret", props) == {"metadata": props["metadata"]}


def test_a_secret_with_content_and_every_other_kind_stay_as_they_are() -> None:
    full = {"metadata": {"name": "x"}, "data": {**EMPTY, "token": "eA=="}}
    assert _transformed("kubernetes:core/v1:Secret", full) is None
    assert _transformed("kubernetes:core/v1:ConfigMap", {"data": {"key": ""}}) is None
