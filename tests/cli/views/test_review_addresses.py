"""Where servers are stays out of what everybody may read; what only looks like it stays in."""

from __future__ import annotations

import pytest

from tallyard.cli.views.review_addresses import without_addresses


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            "context prod, https://10.0.0.1:6443 is not this stack's cluster: its kube-system",
            "context prod, (address) is not this stack's cluster: its kube-system",
        ),
        ("https://10.0.0.1:6443: no answer.", "(address): no answer."),
        ('Get "https://api.prod.corp/version?x=1": EOF', 'Get "(address)": EOF'),
        ("无法连接 https://api.prod.corp:6443。", "无法连接 (address)。"),
        ("dial tcp 10.0.0.1:6443: i/o timeout", "dial tcp (address): i/o timeout"),
        ("valid for 10.96.0.1, not 192.168.3.4.", "valid for (address), not (address)."),
        ("dial tcp [fd00::1]:6443: refused", "dial tcp (address): refused"),
        ("from fd00:1::2 to ::1", "from (address) to (address)"),
        ("server api.prod.corp:6443 refused", "server (address) refused"),
        ("localhost:6443: connection refused", "(address): connection refused"),
        (
            "lookup api.prod.corp on 10.0.0.53:53: no such host",
            "lookup (address) on (address): no such host",
        ),
        (
            "HTTPSConnectionPool(host='api.prod.corp', port=6443)",
            "HTTPSConnectionPool(host='(address)', port=6443)",
        ),
        ("postgres://user:pw@db.corp/x", "(address)"),
    ],
)
def test_an_address_is_one_fixed_word(said: str, shown: str) -> None:
    assert without_addresses(said) == shown


@pytest.mark.parametrize(
    "said",
    [
        "stacks/platform.yaml:22: queue vision-training goes away",
        "platform.yaml:22:7 and __main__.py:78",
        "urn:pulumi:prod::tallyard::kubernetes:core/v1:Namespace::nlp",
        "at 2026-11-30T08:00:00Z, 08:00 and 08:00:15",
        "registry.example.com/kueue:v0.17.0 and docker.io/nginx:1.27",
        "repository@sha256:1234567890abcdef",
        "kueue.x-k8s.io/v1beta2 of a::b 0.17.0",
        "rpc error: code = 14 desc = [objects-replaced]",
        "PriorityClass training (value: 1000 → 2000)",
    ],
)
def test_what_only_looks_like_an_address_stays(said: str) -> None:
    assert without_addresses(said) == said
