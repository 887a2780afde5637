from __future__ import annotations

import dataclasses
import socket
import ssl
import time
from pathlib import Path

import pytest

from tallyard.registry import reference
from tallyard.registry.client import Limits, RegistryClient
from tallyard.registry.faults import Fault, RegistryError
from tallyard.registry.manifest import Artifact
from tallyard.registry.reference import Reference
from tests.registry.fake import TOKEN_PATH, Answer, FakeRegistry, image_index, manifest

PATH = "/v2/team/app/manifests/v1"


def _app(registry: FakeRegistry) -> Reference:
    return reference.image(f"{registry.host}/team/app", "v1")


def _digest(registry: FakeRegistry, limits: Limits, tls: ssl.SSLContext | None = None) -> str:
    with RegistryClient(limits, tls) as client:
        return client.digest(_app(registry), Artifact.IMAGE)


def _error(
    registry: FakeRegistry, limits: Limits, tls: ssl.SSLContext | None = None
) -> RegistryError:
    with pytest.raises(RegistryError) as caught:
        _digest(registry, limits, tls)
    assert caught.value.where == f"{registry.host}/team/app:v1"
    return caught.value


def test_the_digest_of_what_a_tag_names_is_computed_from_the_content(
    registry: FakeRegistry, limits: Limits
) -> None:
    content = registry.put("team/app", "v1", image_index())
    registry.sends_digest = False
    assert _digest(registry, limits) == content.digest
    assert len(registry.requests) == 1


def test_every_form_of_manifest_is_accepted_and_none_compressed(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.put("team/app", "v1", image_index())
    _digest(registry, limits)
    headers = registry.asked(PATH)[0].headers
    assert headers["accept"].split(", ") == [
        "application/vnd.oci.image.index.v1+json",
        "application/vnd.docker.distribution.manifest.list.v2+json",
        "application/vnd.oci.image.manifest.v1+json",
        "application/vnd.docker.distribution.manifest.v2+json",
    ]
    assert headers["accept-encoding"] == "identity"


def test_a_chart_is_looked_up_by_its_version(registry: FakeRegistry, limits: Limits) -> None:
    content = registry.put("charts/app", "1.0.0_build.1", manifest())
    chart = reference.chart(f"oci://{registry.host}/charts/app", "1.0.0+build.1")
    with RegistryClient(limits) as client:
        assert client.digest(chart, Artifact.CHART) == content.digest


def test_a_token_for_everybody_is_fetched_where_the_registry_asks_for_one(
    registry: FakeRegistry, limits: Limits
) -> None:
    content = registry.put("team/app", "v1", image_index())
    registry.demands = "for-everybody"
    assert _digest(registry, limits) == content.digest
    first, second = registry.asked(PATH)
    assert "authorization" not in first.headers
    assert second.headers["authorization"] == "Bearer for-everybody"
    (token,) = registry.asked(TOKEN_PATH)
    assert token.query == {"service": ["fake"], "scope": ["repository:team/app:pull"]}
    assert "authorization" not in token.headers


def test_a_realm_that_has_a_query_of_its_own_keeps_it(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.put("team/app", "v1", image_index())
    registry.demands = "t"
    registry.realm = f"{registry.url}{TOKEN_PATH}?account=anonymous"
    _digest(registry, limits)
    assert registry.asked(TOKEN_PATH)[0].query["account"] == ["anonymous"]
    assert registry.asked(TOKEN_PATH)[0].query["service"] == ["fake"]


def test_a_token_that_is_not_enough_is_denied_after_one_more_try(
    registry: FakeRegistry, mirror: FakeRegistry, limits: Limits
) -> None:
    """The token service gives a token that the registry does not take."""
    registry.demands, mirror.demands = "wanted", "another"
    registry.realm = f"{mirror.url}{TOKEN_PATH}"
    error = _error(registry, limits)
    assert error.fault is Fault.DENIED
    assert "401, UNAUTHORIZED: log in" in error.detail
    assert len(registry.asked(PATH)) == 2


def test_a_registry_that_wants_a_login_is_denied(registry: FakeRegistry, limits: Limits) -> None:
    registry.instead.append(Answer(401, {"WWW-Authenticate": 'Basic realm="x"'}))
    assert _error(registry, limits).fault is Fault.DENIED
    registry.instead.append(Answer(403))
    assert _error(registry, limits).fault is Fault.DENIED


@pytest.mark.parametrize(
    "body", [b"no json", b"[]", b"{}", b'{"token": 5}', b'{"token": "a\\r\\nX-Evil: 1"}']
)
def test_an_answer_without_a_token_that_can_be_sent_is_refused(
    body: bytes, registry: FakeRegistry, mirror: FakeRegistry, limits: Limits
) -> None:
    registry.demands = "wanted"
    registry.realm = f"{mirror.url}{TOKEN_PATH}"
    mirror.instead.append(Answer(200, body=body))
    error = _error(registry, limits)
    assert error.fault is Fault.REFUSED
    assert "no token that can be used" in error.detail
    assert len(registry.asked(PATH)) == 1


@pytest.mark.parametrize(
    "realm", ["http://registry.example.com/token", "nowhere:token", "https://[::1", "x" * 40_000]
)
def test_a_realm_where_we_do_not_go_is_an_error(
    realm: str, registry: FakeRegistry, limits: Limits
) -> None:
    challenge = f'Bearer realm="{realm}",service="{"s" * 40_000}"'
    registry.instead.append(Answer(401, {"WWW-Authenticate": challenge}))
    assert _error(registry, limits).fault is Fault.REDIRECT
    assert len(registry.requests) == 1


def test_a_token_service_that_is_not_there_is_not_a_missing_version(
    registry: FakeRegistry, mirror: FakeRegistry, limits: Limits
) -> None:
    registry.demands = "wanted"
    registry.realm = f"{mirror.url}/nothing/here"
    error = _error(registry, limits)
    assert error.fault is Fault.REFUSED
    assert "asked for a token" in error.detail


def test_a_redirect_to_another_host_is_followed_without_the_token(
    registry: FakeRegistry, mirror: FakeRegistry, limits: Limits
) -> None:
    registry.demands = "for-everybody"
    registry.mirror = mirror.url
    content = mirror.put("team/app", "v1", image_index())
    assert _digest(registry, limits) == content.digest
    (at_mirror,) = mirror.asked(PATH)
    assert "authorization" not in at_mirror.headers
    assert "accept" in at_mirror.headers


def test_a_mirror_may_ask_for_a_token_of_its_own(
    registry: FakeRegistry, mirror: FakeRegistry, limits: Limits
) -> None:
    registry.demands, mirror.demands = "first", "second"
    registry.mirror = mirror.url
    content = mirror.put("team/app", "v1", image_index())
    assert _digest(registry, limits) == content.digest
    shown = [request.headers.get("authorization") for request in mirror.asked(PATH)]
    assert shown == [None, "Bearer second"]


def test_a_circle_of_redirects_ends(registry: FakeRegistry, limits: Limits) -> None:
    registry.mirror = registry.url
    assert _error(registry, limits).fault is Fault.REDIRECT
    assert len(registry.requests) == limits.hops


@pytest.mark.parametrize(
    "location",
    [
        "http://registry.example.com/x",
        "ftp://127.0.0.1/x",
        "file:///etc/hosts",
        "http://[::1",
        "https://",
        # A label of a host's name has at most 63 characters; no resolver is asked.
        f"https://{'x' * 64}.example.com/x",
    ],
)
def test_a_redirect_to_plain_http_elsewhere_or_to_no_web_address_is_not_followed(
    location: str, registry: FakeRegistry, limits: Limits
) -> None:
    registry.instead.append(Answer(302, {"Location": location}))
    assert _error(registry, limits).fault is Fault.REDIRECT


def test_a_relative_redirect_stays_on_the_host_and_keeps_the_token(
    registry: FakeRegistry, limits: Limits
) -> None:
    content = registry.put("team/app", "v2", image_index())
    registry.demands = "t"
    challenge = f'Bearer realm="{registry.url}{TOKEN_PATH}"'
    registry.instead.extend(
        [
            Answer(401, {"WWW-Authenticate": challenge}),
            Answer(200, body=b'{"token": "t"}'),
            Answer(308, {"Location": "v2"}),
        ]
    )
    assert _digest(registry, limits) == content.digest
    assert len(registry.asked(TOKEN_PATH)) == 1


def test_a_digest_that_the_content_does_not_have_is_refused(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.put("team/app", "v1", image_index("one"))
    registry.claimed = image_index("two").digest
    assert _error(registry, limits).fault is Fault.WRONG_DIGEST
    assert len(registry.requests) == 1


def test_a_version_that_is_not_there_is_said_to_be_missing_at_once(
    registry: FakeRegistry, limits: Limits
) -> None:
    error = _error(registry, limits)
    assert error.fault is Fault.NOT_FOUND
    assert "404, MANIFEST_UNKNOWN: manifest unknown" in error.detail
    assert len(registry.requests) == 1


def test_a_fault_of_the_servers_is_tried_again(registry: FakeRegistry, limits: Limits) -> None:
    content = registry.put("team/app", "v1", image_index())
    registry.instead.extend([Answer(503), Answer(500)])
    assert _digest(registry, limits) == content.digest


def test_a_fault_of_the_servers_that_stays_is_an_error_after_three_attempts(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.instead.extend([Answer(502)] * 9)
    error = _error(registry, limits)
    assert error.fault is Fault.SERVER
    assert len(registry.requests) == limits.attempts == 3


def test_a_busy_registry_is_given_the_time_it_asks_for(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.put("team/app", "v1", image_index())
    registry.instead.append(Answer(429, {"Retry-After": "1"}))
    start = time.monotonic()
    _digest(registry, limits)
    assert time.monotonic() - start >= 1


def test_a_wait_beyond_the_time_for_a_lookup_is_left_to_the_person(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.instead.append(Answer(429, {"Retry-After": "3600"}))
    error = _error(registry, limits)
    assert error.fault is Fault.BUSY
    assert "wait 3600 s" in error.detail
    assert len(registry.requests) == 1


def test_a_silent_registry_is_a_timeout(registry: FakeRegistry, limits: Limits) -> None:
    registry.hang = True
    error = _error(registry, dataclasses.replace(limits, read_seconds=0.2))
    assert error.fault is Fault.TIMEOUT
    assert len(registry.requests) == 1


def test_a_trickle_of_bytes_does_not_hold_us_beyond_the_time_for_a_lookup(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.put("team/app", "v1", image_index())
    registry.trickle_seconds = 0.05
    start = time.monotonic()
    error = _error(registry, dataclasses.replace(limits, lookup_seconds=0.5))
    assert error.fault is Fault.TIMEOUT
    assert time.monotonic() - start < 5


def test_a_body_beyond_the_size_of_a_manifest_is_not_read_on(
    registry: FakeRegistry, limits: Limits
) -> None:
    content = registry.put("team/app", "v1", image_index("x" * 5000))
    error = _error(registry, dataclasses.replace(limits, body_bytes=len(content.body) - 1))
    assert error.fault is Fault.TOO_LARGE
    fitting = dataclasses.replace(limits, body_bytes=len(content.body))
    assert _digest(registry, fitting) == content.digest


def test_a_body_that_breaks_off_is_not_taken_for_the_whole(
    registry: FakeRegistry, limits: Limits
) -> None:
    registry.instead.extend([Answer(200, {"Content-Length": "500"}, b"{")] * 3)
    assert _error(registry, limits).fault is Fault.BROKEN


def test_a_port_where_nothing_listens_is_unreachable(limits: Limits) -> None:
    with socket.socket() as taken:
        # Bound and not listening: nobody else can open the port, and nobody answers.
        taken.bind(("127.0.0.1", 0))
        nobody = reference.image(f"127.0.0.1:{taken.getsockname()[1]}/team/app", "v1")
        with RegistryClient(limits) as client, pytest.raises(RegistryError) as caught:
            client.digest(nobody, Artifact.IMAGE)
    assert caught.value.fault is Fault.UNREACHABLE
    assert "refused" in caught.value.detail


def test_a_certificate_that_nobody_vouches_for_is_not_accepted(
    registry: FakeRegistry, secure_registry: FakeRegistry, limits: Limits
) -> None:
    registry.mirror = secure_registry.url
    error = _error(registry, limits)
    assert error.fault is Fault.TLS
    assert "self-signed certificate" in error.detail
    assert secure_registry.requests == []


def test_a_certificate_of_a_trusted_authority_is_accepted(
    registry: FakeRegistry, secure_registry: FakeRegistry, certificate: Path, limits: Limits
) -> None:
    registry.mirror = secure_registry.url
    content = secure_registry.put("team/app", "v1", image_index())
    trusting = ssl.create_default_context(cafile=certificate)
    assert _digest(registry, limits, trusting) == content.digest


def test_a_server_that_speaks_plain_http_where_https_is_due_is_a_fault_of_tls(
    registry: FakeRegistry, mirror: FakeRegistry, limits: Limits
) -> None:
    registry.mirror = f"https://{mirror.host}"
    assert _error(registry, limits).fault is Fault.TLS


def test_a_proxy_of_the_environment_is_not_asked_for_this_machine(
    registry: FakeRegistry,
    mirror: FakeRegistry,
    limits: Limits,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("HTTP_PROXY", mirror.url)
    monkeypatch.setenv("ALL_PROXY", mirror.url)
    monkeypatch.delenv("NO_PROXY", raising=False)
    monkeypatch.delenv("no_proxy", raising=False)
    content = registry.put("team/app", "v1", image_index())
    assert _digest(registry, limits) == content.digest
    assert mirror.requests == []


@pytest.mark.parametrize(
    ("variable", "value"),
    [("SSL_CERT_FILE", "/nowhere/at/all.pem"), ("HTTPS_PROXY", "gopher://127.0.0.1:1")],
)
def test_settings_of_the_environment_that_cannot_be_used_are_named(
    variable: str, value: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, value)
    with pytest.raises(RegistryError) as caught:
        RegistryClient()
    assert caught.value.fault is Fault.ENVIRONMENT
    assert variable in caught.value.todo


def test_what_a_registry_says_cannot_steer_the_terminal(
    registry: FakeRegistry, limits: Limits
) -> None:
    body = b'{"errors": [{"code": "X", "message": "\\u001b[2Jgone\\nnext line"}]}'
    registry.instead.append(Answer(400, body=body))
    error = _error(registry, limits)
    assert error.fault is Fault.REFUSED
    assert "X: [2Jgone next line" in error.detail
    assert str(error).isprintable()
