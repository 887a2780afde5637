"""The lab's few words with an API server, as its administrator."""

from __future__ import annotations

import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import httpx2
import lightkube
from lightkube.codecs import from_dict
from lightkube.config.kubeconfig import KubeConfig
from lightkube.generic_resource import create_global_resource
from lightkube.models.authentication_v1 import TokenRequestSpec
from lightkube.models.authorization_v1 import ResourceAttributes, SubjectAccessReviewSpec
from lightkube.models.meta_v1 import ObjectMeta
from lightkube.resources.authorization_v1 import SubjectAccessReview
from lightkube.resources.core_v1 import (
    Node,
    NodeStatus,
    ServiceAccount,
    ServiceAccountToken,
)

from lab.errors import LabError

FIELD_MANAGER = "tallyard-lab"
_NOT_FOUND = 404
# Long enough for a busy machine, short enough to notice that nobody answers.
_ANSWER_SECONDS_MAX = 15.0
_HEALTH_SECONDS_MAX = 2.0

create_global_resource("kwok.x-k8s.io", "v1alpha1", "Stage", "stages")


@dataclass(frozen=True)
class Right:
    """What somebody may do; `resource` may name a part (`pods/log`), no namespace means all."""

    verb: str
    group: str
    resource: str
    namespace: str = ""


class Api:
    """One connection. Every method raises LabError when the server does not do as asked."""

    def __init__(self, kubeconfig: Path) -> None:
        self._client = lightkube.Client(
            config=KubeConfig.from_file(kubeconfig),
            field_manager=FIELD_MANAGER,
            timeout=httpx2.Timeout(_ANSWER_SECONDS_MAX),
            # A proxy for the outside world knows nothing of the loopback address.
            trust_env=False,
        )
        # Its overloads tell apart what here is only known when it is read.
        self._apply = cast("Callable[..., object]", self._client.apply)

    def apply(self, manifest: Mapping[str, Any]) -> None:
        """Apply one object server-side; its fields become the lab's."""
        with _told(f"apply {manifest['kind']} {manifest['metadata']['name']}"):
            self._apply(from_dict(dict(manifest)), force=True)

    def apply_node(self, manifest: Mapping[str, Any]) -> None:
        """Apply a Node with its status; a later change of the status needs its own request."""
        self.apply(manifest)
        name = manifest["metadata"]["name"]
        status = {k: manifest[k] for k in ("apiVersion", "kind", "status")}
        with _told(f"apply the status of Node {name}"):
            named = {**status, "metadata": {"name": name}}
            self._apply(NodeStatus.from_dict(named), name, force=True)

    def nodes(self, annotation: str) -> dict[str, dict[str, Any]]:
        """Return the nodes that carry an annotation, by name."""
        with _told("list Nodes"):
            return {
                str(node.metadata.name): node.to_dict()
                for node in self._client.list(Node)
                if node.metadata and annotation in (node.metadata.annotations or {})
            }

    def delete_node(self, name: str) -> None:
        """Delete a node; one that is gone already is fine."""
        with _told(f"delete Node {name}"), _unless_missing():
            self._client.delete(Node, name)

    def has_default_account(self) -> bool:
        """Say whether pods can be made: none can before the controllers made this account."""
        return bool(self.account_uid("default", "default"))

    def account_uid(self, namespace: str, name: str) -> str:
        """Return the uid of a service account; empty where there is none."""
        with _told(f"read ServiceAccount {name}"), _unless_missing():
            found = self._client.get(ServiceAccount, name, namespace=namespace)
            return str(found.metadata and found.metadata.uid)
        return ""

    def token(self, namespace: str, account: str, seconds: int) -> str:
        """Return a token by which its bearer is this service account for so many seconds."""
        with _told(f"make a token for ServiceAccount {account}"):
            wanted = ServiceAccountToken(
                metadata=ObjectMeta(),
                spec=TokenRequestSpec(audiences=[], expirationSeconds=seconds),
            )
            made = self._client.create(wanted, account, namespace=namespace)
            if made.status is None or made.status.token is None:
                raise httpx2.HTTPError("the answer has no token")
            return made.status.token

    def may(self, login: str, right: Right) -> bool:
        """Say whether somebody has a right."""
        resource, _, part = right.resource.partition("/")
        attributes = ResourceAttributes(
            verb=right.verb,
            group=right.group,
            resource=resource,
            subresource=part or None,
            namespace=right.namespace or None,
        )
        with _told(f"say whether {login} may {right.verb} {right.resource}"):
            asked = SubjectAccessReview(
                metadata=ObjectMeta(),
                spec=SubjectAccessReviewSpec(user=login, resourceAttributes=attributes),
            )
            answer = self._client.create(asked)
            return bool(answer.status and answer.status.allowed)

    def serves(self, group: str, version: str, plural: str) -> bool:
        """Say whether a kind is served; of a custom one that its definition is in force."""
        kind = create_global_resource(group, version, plural, plural)
        with _told(f"list {plural}.{group}"), _unless_missing():
            # One page of one object: a definition itself can be larger than a megabyte.
            next(iter(self._client.list(kind, chunk_size=1)), None)
            return True
        return False


def is_healthy(url: str) -> bool:
    """Say whether a health endpoint on this machine answers with success.

    Only for the loopback address: the certificate is not checked, because components make
    their own at each start.
    """
    context = ssl._create_unverified_context()  # noqa: S323, SLF001
    try:
        opener = urllib.request.build_opener(
            urllib.request.ProxyHandler({}), urllib.request.HTTPSHandler(context=context)
        )
        with opener.open(url, timeout=_HEALTH_SECONDS_MAX) as answer:
            return bool(answer.status == 200)  # noqa: PLR2004
    except (OSError, urllib.error.URLError, ValueError):
        return False


@contextmanager
def _told(what: str) -> Iterator[None]:
    try:
        yield
    except httpx2.HTTPError as error:
        raise LabError(
            f"the API server did not {what}",
            why=str(error) or type(error).__name__,
            advice="Run `tally lab status`; if a component has ended, run `up` again",
        ) from error


@contextmanager
def _unless_missing() -> Iterator[None]:
    try:
        yield
    except httpx2.HTTPStatusError as error:
        if error.response.status_code != _NOT_FOUND:
            raise
