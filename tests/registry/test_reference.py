from __future__ import annotations

import pytest

from tallyard.registry import reference
from tallyard.registry.reference import Reference, SourceError


def test_an_image_is_read_as_host_repository_and_tag() -> None:
    found = reference.image("registry.example.com/kueue/kueue", "v0.17.0")
    assert found == Reference("registry.example.com", "kueue/kueue", "v0.17.0")
    assert str(found) == "registry.example.com/kueue/kueue:v0.17.0"


def test_a_chart_is_read_without_its_scheme() -> None:
    found = reference.chart("oci://registry.example.com/kueue/charts/kueue", "0.17.0")
    assert found == Reference("registry.example.com", "kueue/charts/kueue", "0.17.0")


def test_the_plus_of_a_charts_version_is_an_underscore_in_the_tag() -> None:
    found = reference.chart("oci://registry.example.com/charts/app", "1.2.3-rc.1+build.5")
    assert found.tag == "1.2.3-rc.1_build.5"


def test_a_plus_is_not_translated_for_an_image() -> None:
    with pytest.raises(SourceError, match='"v1\\+2" is no version'):
        reference.image("registry.example.com/app", "v1+2")


@pytest.mark.parametrize("host", ["registry.example.com", "registry:5000", "10.0.0.1:5000"])
def test_a_registry_elsewhere_is_asked_over_https(host: str) -> None:
    found = reference.image(f"{host}/app", "v1")
    assert found.manifest_url == f"https://{host}/v2/app/manifests/v1"


@pytest.mark.parametrize(
    "host", ["localhost", "localhost:5000", "127.0.0.1", "127.0.0.9:5000", "[::1]", "[::1]:5000"]
)
def test_only_a_registry_on_this_machine_is_asked_over_plain_http(host: str) -> None:
    found = reference.image(f"{host}/app", "v1")
    assert found.manifest_url == f"http://{host}/v2/app/manifests/v1"


def test_a_name_that_begins_like_this_machine_is_elsewhere() -> None:
    assert not reference.image("127.0.0.1.example.com/app", "v1").is_local
    assert not reference.image("localhost.example.com/app", "v1").is_local


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("kueue/kueue", "does not begin with a registry"),
        ("kueue", "does not begin with a registry"),
        ("registry.example.com", "does not begin with a registry"),
        ("registry.example.com/", "does not begin with a registry"),
        ("user@registry.example.com/app", "does not begin with a registry"),
        ("registry.example.com:99999/app", "names no port"),
        ("https://registry.example.com/app", "has a scheme"),
        ("oci://registry.example.com/app", "has a scheme"),
        ("registry.example.com/app:v1", "ends in a tag or a digest"),
        ("registry.example.com/app@sha256:00", "ends in a tag or a digest"),
        ("registry.example.com/App", "is no repository"),
        ("registry.example.com/a//b", "is no repository"),
        ("registry.example.com/../app", "is no repository"),
        ("registry.example.com/app?x=1", "is no repository"),
        ("registry.example.com/app\n", "is no repository"),
    ],
)
def test_an_images_source_that_cannot_be_looked_up_says_why(source: str, why: str) -> None:
    with pytest.raises(SourceError, match=why):
        reference.image(source, "v1")


def test_a_charts_source_must_be_in_an_oci_registry() -> None:
    with pytest.raises(SourceError, match="write oci://host/path"):
        reference.chart("https://charts.example.com/app", "1.0.0")


@pytest.mark.parametrize("version", ["", "../v1", ".v1", "v 1", "v1\n", "v" * 129])
def test_a_version_that_can_be_no_tag_is_refused(version: str) -> None:
    with pytest.raises(SourceError, match="is no version"):
        reference.image("registry.example.com/app", version)
