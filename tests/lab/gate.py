"""What an API server with the admission policies says to a request, asked over HTTP.

One process for each of a thousand requests, as with kubectl, would take minutes.
"""

from __future__ import annotations

import base64
import json
import ssl
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx2
import yaml

# A login that may do everything, so that what refuses is the policies alone.
_GROUP = "system:masters"
_PLURALS: Mapping[str, tuple[str, str]] = {
    "Job": ("/apis/batch/v1", "jobs"),
    "CronJob": ("/apis/batch/v1", "cronjobs"),
    "Deployment": ("/apis/apps/v1", "deployments"),
    "StatefulSet": ("/apis/apps/v1", "statefulsets"),
    "JobSet": ("/apis/jobset.x-k8s.io/v1alpha2", "jobsets"),
    "Pod": ("/api/v1", "pods"),
}
# Neither quota nor anything else says this of a request that a policy's mistake ended.
FAILURES = ("resulted in error", "failed to ", "budget exceeded", "no such key", "panic")


@dataclass(frozen=True)
class Verdict:
    """The object that the server would store, or the reason for which it refuses."""

    stored: Mapping[str, Any] | None
    reason: str = ""

    @property
    def is_allowed(self) -> bool:
        """Say whether the request was let in."""
        return self.stored is not None


@dataclass(frozen=True)
class Gate:
    """A connection as the administrator, who speaks for others."""

    client: httpx2.Client

    def create(
        self,
        content: Mapping[str, Any],
        login: str,
        namespace: str,
        *,
        groups: Sequence[str] = (_GROUP,),
        dry: bool = True,
    ) -> Verdict:
        """Ask for an object to be created; without `dry` it is."""
        path, plural = _PLURALS[content["kind"]]
        where = f"{path}/namespaces/{namespace}/{plural}"
        return self._ask("POST", where, content, login, groups, dry=dry)

    def change(
        self, content: Mapping[str, Any], change: Mapping[str, Any], login: str, namespace: str
    ) -> Verdict:
        """Ask for a stored object to be changed by a merge patch; it is not kept."""
        path, plural = _PLURALS[content["kind"]]
        where = f"{path}/namespaces/{namespace}/{plural}/{content['metadata']['name']}"
        return self._ask("PATCH", where, change, login, (_GROUP,), dry=True)

    def _ask(
        self,
        verb: str,
        path: str,
        content: Mapping[str, Any],
        login: str,
        groups: Sequence[str],
        *,
        dry: bool,
    ) -> Verdict:
        form = "merge-patch+json" if verb == "PATCH" else "json"
        answer = self.client.request(
            verb,
            path,
            params={"dryRun": "All"} if dry else {},
            content=json.dumps(content),
            headers=[
                ("Content-Type", f"application/{form}"),
                ("Impersonate-User", login),
                *(("Impersonate-Group", group) for group in groups),
            ],
        )
        body = answer.json()
        if answer.is_success:
            return Verdict(body)
        return Verdict(None, f"{answer.status_code} {body['message']}")


@contextmanager
def gate_of(kubeconfig: Path) -> Iterator[Gate]:
    """Connect as the administrator of a kubeconfig."""
    config = yaml.safe_load(kubeconfig.read_text())
    cluster, user = config["clusters"][0]["cluster"], config["users"][0]["user"]
    context = ssl.create_default_context(cadata=_decoded(cluster["certificate-authority-data"]))
    with tempfile.NamedTemporaryFile("w", suffix=".pem") as pair:
        pair.write(_decoded(user["client-certificate-data"]))
        pair.write(_decoded(user["client-key-data"]))
        pair.flush()
        context.load_cert_chain(pair.name)
    with httpx2.Client(
        base_url=cluster["server"], verify=context, timeout=60, trust_env=False
    ) as client:
        yield Gate(client)


def merged(base: Any, change: Any) -> Any:
    """Return a JSON merge patch's result (RFC 7386): lists are replaced, null removes."""
    if not isinstance(change, dict):
        return change
    before = base if isinstance(base, dict) else {}
    after = {**before, **{k: merged(before.get(k), v) for k, v in change.items()}}
    return {key: value for key, value in after.items() if change.get(key, value) is not None}


def _decoded(text: str) -> str:
    return base64.b64decode(text).decode()
