from __future__ import annotations

import hashlib
import json

import pytest

from tallyard.registry import manifest
from tallyard.registry.faults import Fault, RegistryError
from tallyard.registry.manifest import Artifact
from tests.registry.fake import INDEX, MANIFEST, image_index
from tests.registry.fake import manifest as chart_manifest

WHERE = "registry.example.com/app:v1"


def _digest(
    body: bytes,
    content_type: str,
    artifact: Artifact = Artifact.IMAGE,
    claimed: str | None = None,
) -> str:
    return manifest.digest(WHERE, artifact, body, content_type=content_type, claimed=claimed)


def _fault(body: bytes, content_type: str, artifact: Artifact = Artifact.IMAGE) -> Fault:
    with pytest.raises(RegistryError) as caught:
        _digest(body, content_type, artifact)
    assert caught.value.where == WHERE
    return caught.value.fault


def test_the_digest_is_the_sha256_of_the_bytes_as_they_came() -> None:
    body = b'{\n "schemaVersion":2 }'
    assert _digest(body, INDEX) == f"sha256:{hashlib.sha256(body).hexdigest()}"


def test_a_content_type_may_carry_parameters() -> None:
    content = image_index()
    assert _digest(content.body, f"{INDEX}; charset=utf-8") == content.digest


def test_a_claimed_digest_that_is_the_contents_own_passes() -> None:
    content = image_index()
    assert _digest(content.body, INDEX, claimed=content.digest) == content.digest


def test_a_claimed_digest_of_other_content_is_refused_and_both_are_shown() -> None:
    content, other = image_index("one"), image_index("two")
    with pytest.raises(RegistryError) as caught:
        _digest(content.body, INDEX, claimed=other.digest)
    assert caught.value.fault is Fault.WRONG_DIGEST
    assert content.digest in str(caught.value)
    assert other.digest in str(caught.value)


def test_a_login_page_with_the_status_ok_is_not_pinned() -> None:
    assert _fault(b"<html>please log in</html>", "text/html") is Fault.NOT_A_MANIFEST
    assert _fault(b"<html>please log in</html>", INDEX) is Fault.NOT_A_MANIFEST


@pytest.mark.parametrize(
    "body", [b"", b"[]", b"{}", b'{"schemaVersion": 1}', b"\xff\xfe", b"[" * 100_000]
)
def test_json_that_is_no_manifest_is_refused(body: bytes) -> None:
    assert _fault(body, INDEX) is Fault.NOT_A_MANIFEST


@pytest.mark.parametrize("content_type", ["", "text/html", "application/json", f"x{INDEX}"])
def test_a_manifest_that_did_not_come_as_one_is_refused(content_type: str) -> None:
    assert _digest(b'{"schemaVersion": 2}', INDEX)
    assert _fault(b'{"schemaVersion": 2}', content_type) is Fault.NOT_A_MANIFEST


def test_the_old_signed_form_of_manifest_is_refused() -> None:
    old = "application/vnd.docker.distribution.manifest.v1+prettyjws"
    assert _fault(b'{"schemaVersion": 1}', old) is Fault.NOT_A_MANIFEST


def test_content_that_calls_itself_something_else_than_it_came_as_is_refused() -> None:
    assert _fault(image_index().body, MANIFEST) is Fault.NOT_A_MANIFEST


def test_a_chart_has_the_config_of_a_chart() -> None:
    content = chart_manifest()
    assert _digest(content.body, MANIFEST, Artifact.CHART) == content.digest


def test_an_image_in_a_charts_place_is_refused() -> None:
    image = chart_manifest(config="application/vnd.oci.image.config.v1+json")
    assert _fault(image.body, MANIFEST, Artifact.CHART) is Fault.NOT_A_CHART
    assert _fault(image_index().body, INDEX, Artifact.CHART) is Fault.NOT_A_CHART
    odd = json.dumps({"schemaVersion": 2, "config": "text"}).encode()
    assert _fault(odd, MANIFEST, Artifact.CHART) is Fault.NOT_A_CHART
