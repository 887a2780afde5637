"""Whether the client certificate of a kubeconfig has run out.

The API server answers an expired certificate with the same 401 as an unknown one; only the
certificate itself tells the person which it is.
"""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from pathlib import Path

from lightkube.config.kubeconfig import SingleConfig


def expired_since(config: SingleConfig, now: datetime | None = None) -> str | None:
    """Return the end of the client certificate's time when it is over, as ISO text, else None."""
    pem = _client_certificate(config)
    if pem is None:
        return None
    # Imported here: it takes longer than the whole of an ordinary command.
    from cryptography.x509 import load_pem_x509_certificate  # noqa: PLC0415

    try:
        end = load_pem_x509_certificate(pem).not_valid_after_utc
    except ValueError:
        return None
    return end.isoformat() if end < (now or datetime.now(UTC)) else None


def _client_certificate(config: SingleConfig) -> bytes | None:
    user = config.user
    if user is None:
        return None
    try:
        if user.client_cert_data:
            return base64.b64decode(user.client_cert_data)
        return Path(config.abs_file(user.client_cert)).read_bytes() if user.client_cert else None
    except (OSError, ValueError):
        return None
