"""Registries on this machine, and certificates for one that speaks https."""

from __future__ import annotations

import datetime as dt
import ipaddress
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from tallyard.registry.client import Limits
from tests.registry.fake import FakeRegistry


@pytest.fixture
def registry() -> Iterator[FakeRegistry]:
    """Serve an empty registry."""
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def mirror() -> Iterator[FakeRegistry]:
    """Serve a second one; another port is another origin."""
    with FakeRegistry() as running:
        yield running


@pytest.fixture
def limits() -> Limits:
    """Return limits that need no patience."""
    return Limits(connect_seconds=5, read_seconds=5, lookup_seconds=10, pause_seconds=0.01)


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    """Write a certificate for 127.0.0.1 that signs itself, with its key, as one PEM file."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "a registry under test")])
    now = dt.datetime.now(dt.UTC)
    address = x509.IPAddress(ipaddress.ip_address("127.0.0.1"))
    made = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(hours=1))
        .not_valid_after(now + dt.timedelta(hours=1))
        .add_extension(x509.SubjectAlternativeName([address]), critical=False)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
        .sign(key, hashes.SHA256())
    )
    file = tmp_path / "certificate.pem"
    file.write_bytes(
        made.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.PKCS8,
            serialization.NoEncryption(),
        )
    )
    return file


@pytest.fixture
def secure_registry(certificate: Path) -> Iterator[FakeRegistry]:
    """Serve a registry over https with that certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate)
    with FakeRegistry(context) as running:
        yield running
