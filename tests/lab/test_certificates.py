"""Certificates in the form that Kueue keeps, the API server reads and Python trusts."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.x509.oid import NameOID
from cryptography.x509.verification import PolicyBuilder, Store

from lab import certificates
from lab.certificates import Server
from lab.kueue_manager import KIND

NOW = dt.datetime(2026, 6, 1, tzinfo=dt.UTC)
# Kueue looks this far ahead and replaces what will not be valid then.
LOOK_AHEAD = dt.timedelta(days=90)
KUEUE = KIND.webhook


@pytest.fixture(scope="module")
def webhook() -> Server:
    return certificates.webhook(KUEUE, NOW)


@pytest.fixture(scope="module")
def cluster() -> Server:
    return certificates.cluster(NOW)


def _parse(content: bytes) -> x509.Certificate:
    return x509.load_pem_x509_certificate(content)


def _names(certificate: x509.Certificate) -> x509.SubjectAlternativeName:
    return certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value


def test_kueue_finds_its_own_form_under_its_own_names(webhook: Server) -> None:
    files = webhook.files("tls")
    assert set(files) == {"ca.crt", "ca.key", "tls.crt", "tls.key"}
    for key in ("ca.key", "tls.key"):
        assert files[key].startswith(b"-----BEGIN RSA PRIVATE KEY-----")
    assert _names(_parse(files["ca.crt"])).get_values_for_type(x509.DNSName) == ["kueue-ca"]
    leaf = _names(_parse(files["tls.crt"]))
    service = "kueue-webhook-service.kueue-system.svc"
    assert service in leaf.get_values_for_type(x509.DNSName)
    assert leaf.get_values_for_type(x509.IPAddress) == [ipaddress.ip_address("127.0.0.1")]


@pytest.mark.parametrize("at", [NOW, NOW + LOOK_AHEAD])
def test_the_servers_are_trusted_now_and_as_far_as_kueue_looks_ahead(
    webhook: Server, cluster: Server, at: dt.datetime
) -> None:
    for made, name in ((webhook, KUEUE.service), (cluster, "kubernetes.default.svc")):
        store = Store([_parse(made.authority.certificate)])
        verifier = PolicyBuilder().store(store).time(at).build_server_verifier(x509.DNSName(name))
        assert verifier.verify(_parse(made.server.certificate), [])


def test_the_keys_belong_to_the_certificates(webhook: Server, tmp_path: Path) -> None:
    for name, content in webhook.files("tls").items():
        (tmp_path / name).write_bytes(content)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "tls.key")
    with pytest.raises(ssl.SSLError):
        context.load_cert_chain(tmp_path / "tls.crt", tmp_path / "ca.key")


def test_a_client_is_who_its_certificate_says(cluster: Server) -> None:
    groups = ("tallyard:operators", "night-shift")
    pair = certificates.client("oidc:li.wei@corp.example", groups, cluster.authority, NOW)
    subject = _parse(pair.certificate).subject
    common = subject.get_attributes_for_oid(NameOID.COMMON_NAME)
    organizations = subject.get_attributes_for_oid(NameOID.ORGANIZATION_NAME)
    assert [a.value for a in common] == ["oidc:li.wei@corp.example"]
    assert tuple(a.value for a in organizations) == groups
    store = Store([_parse(cluster.authority.certificate)])
    with pytest.raises(x509.verification.VerificationError):
        # Not a server's: nobody can pose as the API server with it.
        PolicyBuilder().store(store).time(NOW).build_server_verifier(
            x509.DNSName("kubernetes")
        ).verify(_parse(pair.certificate), [])


def test_a_certificate_is_renewed_before_kueue_would_replace_it(webhook: Server) -> None:
    leaf = webhook.server.certificate
    ends = NOW + certificates.VALIDITY
    assert certificates.is_fresh(leaf, NOW)
    assert not certificates.is_fresh(leaf, ends - LOOK_AHEAD)
    assert not certificates.is_fresh(b"not a certificate", NOW)
