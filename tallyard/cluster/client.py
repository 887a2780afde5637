"""The one place that opens a connection to an API server.

Everything is read as plain mappings. Whatever fails becomes one `ClusterError` with what to
do about it; nothing of lightkube's or httpx's is raised to a caller.
"""

from __future__ import annotations

import ssl
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec
from lightkube import Client
from lightkube.config.kubeconfig import SingleConfig
from lightkube.core.exceptions import ApiError, ConfigError
from lightkube.core.resource import (
    GlobalResource,
    GlobalSubResource,
    NamespacedResource,
    NamespacedResourceG,
    api_info,
)
from lightkube.types import PatchType

from tallyard.cluster import faults, kubeconfig
from tallyard.cluster.certificate import expired_since
from tallyard.cluster.faults import ClusterError, Fault
from tallyard.failures import causes, one_line

ALL_NAMESPACES = "*"
# A person waits for a table; the API server answers a list of thousands in under a second.
TIMEOUT_SECONDS = 10.0
# One page of a list; keeps the answer of a large cluster from being one huge response.
PAGE = 500

_NO_API_SERVER = (
    "what listens there did not answer like an API server; check the address of the kubeconfig, "
    "also whether it begins with https"
)

type Kind = type[GlobalResource | NamespacedResource]


@dataclass(frozen=True)
class Connection:
    """An open connection; `namespace` is the context's own, None when it names none."""

    client: Client
    context: str
    server: str
    namespace: str | None

    @property
    def where(self) -> str:
        """Return how a person recognises this connection."""
        return f"context {self.context}, {self.server}"

    def list(
        self,
        kind: Kind,
        namespace: str | None = None,
        labels: Mapping[str, str] | None = None,
        fields: Mapping[str, str] | None = None,
    ) -> tuple[Mapping[str, Any], ...]:
        """Return every object of a kind, in one namespace or in `ALL_NAMESPACES`.

        Raises:
            ClusterError: When the server cannot be asked or refuses.
        """
        with explained(self.where, kind.__name__, self.client):
            found = self.client.list(
                kind,  # type: ignore[type-var]
                namespace=namespace,
                chunk_size=PAGE,
                labels=dict(labels) if labels else None,
                fields=dict(fields) if fields else None,
            )
            return tuple(_mapping(item) for item in found)

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Mapping[str, Any]:
        """Return one object.

        Raises:
            ClusterError: Also with `Fault.NOT_FOUND` when it is not there.
        """
        with explained(self.where, f"{kind.__name__} {name}", self.client):
            if namespace is None:
                return _mapping(self.client.get(kind, name))
            return _mapping(self.client.get(kind, name, namespace=namespace))  # type: ignore[type-var]

    def serves(self, api: str) -> bool:
        """Say whether the server knows a group and version, e.g. `batch/v1`; anybody may ask.

        Raises:
            ClusterError: When the server cannot be asked.
        """
        with explained(self.where, api, self.client):
            # lightkube asks for objects only.
            answer = self.client._client._client.get(f"/apis/{api}")  # noqa: SLF001
            return bool(answer.status_code != httpx2.codes.NOT_FOUND)

    def apply_dry(self, item: Any, field_manager: str) -> None:
        """Send an object by server-side apply without keeping it.

        Raises:
            ClusterError: When the server refuses the object or cannot be asked.
        """
        name = f"{api_info(item).resource.kind} {item.metadata.name}"
        with explained(self.where, name, self.client):
            self.client.apply(item, field_manager=field_manager, force=True, dry_run=True)

    def apply_status(
        self, kind: type[GlobalSubResource | NamespacedResourceG], item: Mapping[str, Any], by: str
    ) -> Mapping[str, Any]:
        """Write some fields of an object's status by server-side apply, whoever has them now.

        Args:
            kind: The kind of the status.
            item: The object's name, and the fields; with `metadata.resourceVersion` only that
                version is written.
            by: The field manager; what it has written before and is not there is taken away.

        Returns:
            The object whole.

        Raises:
            ClusterError: Also with `Fault.CONFLICT` when it is another version by now.
        """
        meta = item["metadata"]
        with explained(self.where, f"{item['kind']} {meta['name']}", self.client):
            made: Any = kind
            where = {"namespace": meta["namespace"]} if "namespace" in meta else {}
            sent = made.from_dict(dict(item))
            applied = self.client.apply(sent, meta["name"], field_manager=by, force=True, **where)
            return _mapping(applied)

    def create(self, kind: Kind, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Make a new object and return it.

        Raises:
            ClusterError: Also with `Fault.CONFLICT` when one of its name is there.
        """
        with explained(self.where, f"{kind.__name__} {item['metadata']['name']}", self.client):
            return _mapping(self.client.create(_resource(kind, item)))

    def replace(self, kind: Kind, item: Mapping[str, Any]) -> Mapping[str, Any]:
        """Put an object in place of the one of its resourceVersion and return it.

        Raises:
            ClusterError: Also with `Fault.CONFLICT` when somebody was faster.
        """
        with explained(self.where, f"{kind.__name__} {item['metadata']['name']}", self.client):
            return _mapping(self.client.replace(_resource(kind, item)))

    def merge(
        self, kind: Kind, name: str, change: Mapping[str, Any], namespace: str | None = None
    ) -> Mapping[str, Any]:
        """Change some fields of an object (RFC 7396) and return it whole.

        Args:
            kind: Its kind.
            name: Its name.
            change: The fields; with `metadata.resourceVersion` only that version is changed.
            namespace: None for a cluster-wide kind.

        Raises:
            ClusterError: Also with `Fault.CONFLICT` when it is another version by now.
        """
        with explained(self.where, f"{kind.__name__} {name}", self.client):
            where = {} if namespace is None else {"namespace": namespace}
            changed = self.client.patch(  # type: ignore[call-overload]
                kind, name, dict(change), patch_type=PatchType.MERGE, **where
            )
            return _mapping(changed)

    def amend(
        self,
        kind: Kind,
        name: str,
        change: Sequence[Mapping[str, Any]],
        namespace: str | None = None,
    ) -> None:
        """Change an object by a JSON patch (RFC 6902): all of its steps, or none.

        Raises:
            ClusterError: Also when a `test` of the patch does not hold any more.
        """
        with explained(self.where, f"{kind.__name__} {name}", self.client):
            where = {} if namespace is None else {"namespace": namespace}
            self.client.patch(  # type: ignore[call-overload]
                kind, name, list(change), patch_type=PatchType.JSON, **where
            )

    def close(self) -> None:
        """Give the sockets back."""
        self.client.close()


@contextmanager
def connect(
    context: str | None = None,
    path: str | None = None,
    timeout_seconds: float = TIMEOUT_SECONDS,
) -> Iterator[Connection]:
    """Open the connection that the kubeconfig names, and close it afterwards.

    Args:
        context: A context's name; None takes the kubeconfig's current one.
        path: A kubeconfig; None takes KUBECONFIG, else `~/.kube/config`.
        timeout_seconds: How long one request may take.

    Raises:
        ClusterError: When the kubeconfig cannot be used. No request is made yet.
    """
    with opened(kubeconfig.choose(context, path), timeout_seconds) as connection:
        yield connection


@contextmanager
def opened(config: SingleConfig, timeout_seconds: float = TIMEOUT_SECONDS) -> Iterator[Connection]:
    """Open the connection of one context, and close it afterwards.

    Raises:
        ClusterError: When the context cannot be used. No request is made yet.
    """
    server = config.cluster.server
    try:
        client = Client(
            config=config,
            timeout=httpx2.Timeout(timeout_seconds),
            # As kubectl: a proxy of the environment is never asked for this very machine.
            trust_env=not _is_local(server),
        )
    except (ConfigError, OSError, ssl.SSLError, ValueError) as error:
        raise ClusterError(
            Fault.BAD_KUBECONFIG, f"context {config.context_name}", detail=one_line(error)
        ) from error
    connection = Connection(client, config.context_name, server, config.context.namespace)
    try:
        yield connection
    finally:
        connection.close()


def _is_local(server: str) -> bool:
    host = urlsplit(server).hostname or ""
    return host in {"localhost", "::1"} or host.startswith("127.")


def _resource(kind: Kind, item: Mapping[str, Any]) -> Any:
    # Every kind of `kinds.py` has it; lightkube declares it further down.
    made: Any = kind
    return made.from_dict(dict(item))


def _mapping(item: Any) -> Mapping[str, Any]:
    plain: Mapping[str, Any] = item.to_dict()
    return plain


@contextmanager
def explained(where: str, asked: str, client: Client) -> Iterator[None]:
    """Turn whatever a request raises into a ClusterError; `asked` is what it was for."""
    try:
        yield
    except ApiError as error:
        raise _from_status(error, where, asked, client) from error
    except httpx2.TimeoutException as error:
        raise ClusterError(
            Fault.TIMEOUT, where, detail=f"no answer to {asked} within the time limit"
        ) from error
    except httpx2.HTTPStatusError as error:
        code = error.response.status_code
        raise ClusterError(_refusal(code), where, detail=f"{asked}: HTTP {code}") from error
    except httpx2.HTTPError as error:
        raise _from_connection(error, where) from error
    except (msgspec.MsgspecError, LookupError, AttributeError, TypeError) as error:
        # lightkube takes the form of an answer for granted; a page of a proxy, or of a server
        # that wants TLS and is asked without, has none of it.
        raise ClusterError(Fault.UNREACHABLE, where, detail=_NO_API_SERVER) from error
    except (ConfigError, OSError, ValueError) as error:
        raise ClusterError(Fault.BAD_KUBECONFIG, where, detail=one_line(error)) from error


def _from_status(error: ApiError, where: str, asked: str, client: Client) -> ClusterError:
    status = error.status
    detail = one_line(status.message or status.reason or "no reason given")
    if status.code == httpx2.codes.UNAUTHORIZED:
        since = expired_since(client.config)
        if since:
            return ClusterError(Fault.EXPIRED, where, detail=f"it was valid until {since}")
        return ClusterError(Fault.UNAUTHORIZED, where)
    if status.code == httpx2.codes.FORBIDDEN:
        return ClusterError(Fault.FORBIDDEN, where, detail=detail)
    if status.code == httpx2.codes.CONFLICT:
        return ClusterError(Fault.CONFLICT, where, name=asked, detail=detail)
    if status.code == httpx2.codes.NOT_FOUND:
        # A path that the server has no resource for names no object in its answer.
        named = status.details is not None and bool(status.details.name)
        fault = Fault.NOT_FOUND if named else Fault.NO_SUCH_KIND
        return ClusterError(fault, where, name=asked, detail=detail)
    return ClusterError(_refusal(status.code), where, detail=f"{asked}: {detail}")


def _refusal(code: int | None) -> Fault:
    """Return whether the server said no to this request, or can do none at the moment."""
    is_busy = code == httpx2.codes.TOO_MANY_REQUESTS
    fails = code is not None and httpx2.codes.is_server_error(code)
    return Fault.SERVER_FAILED if is_busy or fails else Fault.REFUSED


def _from_connection(error: httpx2.HTTPError, where: str) -> ClusterError:
    chain = list(causes(error))
    for cause in chain:
        if isinstance(cause, ssl.SSLCertVerificationError):
            return ClusterError(Fault.SERVER_CERTIFICATE, where, detail=cause.verify_message)
    if any(isinstance(c, ssl.SSLError) and "ALERT" in str(c).upper() for c in chain):
        return ClusterError(Fault.UNAUTHORIZED, where)
    detail = one_line(error) or type(error).__name__
    if any(isinstance(cause, ConnectionRefusedError) for cause in chain):
        detail = "nothing listens at this address (connection refused)"
    return ClusterError(Fault.UNREACHABLE, where, detail=detail)


__all__ = ["ALL_NAMESPACES", "ClusterError", "Connection", "Fault", "connect", "faults"]
