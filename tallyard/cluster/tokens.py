"""Whose a token is, by the API server's word."""

from __future__ import annotations

from lightkube.generic_resource import GenericGlobalResource, create_api_info

from tallyard.cluster.client import Connection


class TokenReview(GenericGlobalResource):
    """A question to the API server; nothing is stored of it."""

    _api_info = create_api_info("authentication.k8s.io", "v1", "TokenReview", "tokenreviews")


def login_of(connection: Connection, token: str) -> str:
    """Return the login that a token proves; empty where it proves none.

    Raises:
        ClusterError: The server cannot be asked.
    """
    asked = {
        "apiVersion": "authentication.k8s.io/v1",
        "kind": "TokenReview",
        # Only a request is called so; nothing is stored.
        "metadata": {"name": "account"},
        "spec": {"token": token},
    }
    status = connection.create(TokenReview, asked).get("status") or {}
    user = status.get("user") or {}
    return str(user.get("username") or "") if status.get("authenticated") else ""
