"""Certificates: the authorities of the cluster and of the webhooks, and what they sign.

Pure functions from names to PEM; who writes them where is said elsewhere.
"""

from __future__ import annotations

import datetime as dt
import ipaddress
from dataclasses import dataclass

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID

from lab.ports import LOOPBACK

CLUSTER_AUTHORITY = "tallyard-lab-ca"
# What kwokctl would make itself, if it did not find the files.
ADMIN_LOGIN = "kwok-admin"
ADMIN_GROUP = "system:masters"
_API_SERVER_NAMES = (
    "localhost",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
)
VALIDITY = dt.timedelta(days=730)
RENEWED_BEFORE = dt.timedelta(days=120)
# Clocks of one machine agree, but a virtual one's may jump back after a pause.
_BACKDATED = dt.timedelta(days=1)
_BITS = 2048


@dataclass(frozen=True)
class Pair:
    """A certificate and its key, both PEM; the key is PKCS#1."""

    certificate: bytes
    key: bytes


@dataclass(frozen=True)
class Server:
    """An authority and the pair of the server that it vouches for."""

    authority: Pair
    server: Pair

    def files(self, server: str) -> dict[str, bytes]:
        """Return them by file name: `ca.crt`, `ca.key`, and the server's under its name."""
        return {
            "ca.crt": self.authority.certificate,
            "ca.key": self.authority.key,
            f"{server}.crt": self.server.certificate,
            f"{server}.key": self.server.key,
        }


@dataclass(frozen=True)
class Webhook:
    """The names in the certificates of webhooks: the authority's two, and the Service's host."""

    authority: str
    organization: str
    service: str


def cluster(now: dt.datetime) -> Server:
    """Make the cluster's authority, and the pair that kwokctl gives to all components.

    It serves the API server, and is the client certificate of an administrator.
    """
    authority = _authority(now, CLUSTER_AUTHORITY)
    key = _new_key()
    builder = (
        _begin(_name(ADMIN_LOGIN, ADMIN_GROUP), key, now)
        .add_extension(_alternatives(*_API_SERVER_NAMES), critical=False)
        .add_extension(
            x509.ExtendedKeyUsage(
                [ExtendedKeyUsageOID.SERVER_AUTH, ExtendedKeyUsageOID.CLIENT_AUTH]
            ),
            critical=False,
        )
    )
    return Server(authority, _signed(builder, key, authority))


def webhook(named: Webhook, now: dt.datetime) -> Server:
    """Make an authority and a server certificate for webhooks on this machine."""
    authority = _authority(now, named.authority, named.organization)
    key = _new_key()
    builder = (
        _begin(_name(named.service), key, now)
        .add_extension(_alternatives(named.service, "localhost"), critical=False)
        .add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
    )
    return Server(authority, _signed(builder, key, authority))


def client(login: str, groups: tuple[str, ...], authority: Pair, now: dt.datetime) -> Pair:
    """Make a client certificate; the API server reads the login and the groups from it.

    Args:
        login: the user's name as the API server will see it, at most 64 characters (a
            limit of X.509's common name).
        groups: the user's groups.
        authority: the cluster's own authority.
        now: the time of issue.
    """
    key = _new_key()
    builder = _begin(_name(login, *groups), key, now).add_extension(
        x509.ExtendedKeyUsage([ExtendedKeyUsageOID.CLIENT_AUTH]), critical=False
    )
    return _signed(builder, key, authority)


def is_fresh(certificate: bytes, now: dt.datetime) -> bool:
    """Say whether a certificate can be read and need not be renewed yet."""
    try:
        ends = x509.load_pem_x509_certificate(certificate).not_valid_after_utc
    except ValueError:
        return False
    return ends - now > RENEWED_BEFORE


def _authority(now: dt.datetime, common: str, *organizations: str) -> Pair:
    key = _new_key()
    name = _name(common, *organizations)
    usage = x509.KeyUsage(
        digital_signature=True,
        key_encipherment=True,
        key_cert_sign=True,
        content_commitment=False,
        data_encipherment=False,
        key_agreement=False,
        crl_sign=False,
        encipher_only=False,
        decipher_only=False,
    )
    builder = (
        _begin(name, key, now)
        .issuer_name(name)
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .add_extension(usage, critical=True)
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(common)]), critical=False)
    )
    return _pair(builder.sign(key, hashes.SHA256()), key)


def _alternatives(*names: str) -> x509.SubjectAlternativeName:
    loopback = x509.IPAddress(ipaddress.ip_address(LOOPBACK))
    return x509.SubjectAlternativeName([*(x509.DNSName(name) for name in names), loopback])


def _begin(name: x509.Name, key: rsa.RSAPrivateKey, now: dt.datetime) -> x509.CertificateBuilder:
    return (
        x509.CertificateBuilder()
        .subject_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - _BACKDATED)
        .not_valid_after(now + VALIDITY)
        .add_extension(x509.SubjectKeyIdentifier.from_public_key(key.public_key()), critical=False)
    )


def _signed(builder: x509.CertificateBuilder, key: rsa.RSAPrivateKey, authority: Pair) -> Pair:
    issuer = x509.load_pem_x509_certificate(authority.certificate)
    issuer_key = serialization.load_pem_private_key(authority.key, password=None)
    if not isinstance(issuer_key, rsa.RSAPrivateKey):
        raise TypeError("the authority's key is not an RSA key")
    # Python from 3.13 on refuses a chain whose certificates do not name their keys.
    identifier = issuer.extensions.get_extension_for_class(x509.SubjectKeyIdentifier).value
    builder = builder.issuer_name(issuer.subject).add_extension(
        x509.AuthorityKeyIdentifier.from_issuer_subject_key_identifier(identifier),
        critical=False,
    )
    return _pair(builder.sign(issuer_key, hashes.SHA256()), key)


def _name(common: str, *organizations: str) -> x509.Name:
    return x509.Name(
        [
            *(x509.NameAttribute(NameOID.ORGANIZATION_NAME, o) for o in organizations),
            x509.NameAttribute(NameOID.COMMON_NAME, common),
        ]
    )


def _new_key() -> rsa.RSAPrivateKey:
    return rsa.generate_private_key(public_exponent=65537, key_size=_BITS)


def _pair(certificate: x509.Certificate, key: rsa.RSAPrivateKey) -> Pair:
    return Pair(
        certificate.public_bytes(serialization.Encoding.PEM),
        key.private_bytes(
            serialization.Encoding.PEM,
            serialization.PrivateFormat.TraditionalOpenSSL,
            serialization.NoEncryption(),
        ),
    )
