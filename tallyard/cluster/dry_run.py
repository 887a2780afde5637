"""Ask the API server whether it would take our objects, without keeping them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from lightkube.generic_resource import (
    GenericGlobalResource,
    GenericNamespacedResource,
    create_api_info,
)

from tallyard import labels
from tallyard.cluster.client import Connection
from tallyard.cluster.faults import ClusterError, Fault

# What says that the server was asked and answered no; everything else ends the run.
_ANSWERS = frozenset({Fault.REFUSED, Fault.NOT_FOUND, Fault.NO_SUCH_KIND, Fault.FORBIDDEN})
# A webhook that denies answers 403 too; this is what RBAC says, and it says it of each object.
_NO_RIGHT = "cannot patch resource"
_PLURALS_WITH_ES = ("s", "x", "ch")


@dataclass(frozen=True)
class Refusal:
    """An object that the server would not take, and why."""

    kind: str
    name: str
    namespace: str | None
    why: str


def server_dry_run(objects: Iterable[Mapping[str, Any]], client: Connection) -> tuple[Refusal, ...]:
    """Apply each object with `dryRun=All` and return the refusals, in the objects' order.

    An object in a namespace that is itself among the objects and not there yet cannot be
    tried; the server's "namespace not found" is not held against it.

    Raises:
        ClusterError: When the server cannot be asked at all, or the caller may not apply.
    """
    pending = tuple(objects)
    coming = {o["metadata"]["name"] for o in pending if o["kind"] == "Namespace"}
    refusals = (_try(item, client, coming) for item in pending)
    return tuple(refusal for refusal in refusals if refusal is not None)


def _try(item: Mapping[str, Any], client: Connection, coming: set[str]) -> Refusal | None:
    meta = item["metadata"]
    try:
        client.apply_dry(_resource(item), labels.FIELD_MANAGER)
    except ClusterError as error:
        why = error.parts().why
        if error.fault not in _ANSWERS or _NO_RIGHT in why:
            raise
        if meta.get("namespace") in coming and f'namespaces "{meta["namespace"]}" not found' in why:
            return None
        return Refusal(str(item["kind"]), meta["name"], meta.get("namespace"), why)
    return None


def _resource(item: Mapping[str, Any]) -> Any:
    group, _, version = str(item["apiVersion"]).rpartition("/")
    kind = str(item["kind"])
    info = create_api_info(group, version, kind, _plural(kind))
    base = GenericNamespacedResource if item["metadata"].get("namespace") else GenericGlobalResource
    return type(kind, (base,), {"_api_info": info})(item)


def _plural(kind: str) -> str:
    """Return the name in the URL; the kinds that we render all follow these two rules."""
    lower = kind.lower()
    if lower.endswith("y"):
        return f"{lower[:-1]}ies"
    return f"{lower}es" if lower.endswith(_PLURALS_WITH_ES) else f"{lower}s"
