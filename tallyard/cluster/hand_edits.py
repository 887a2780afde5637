"""Read the live objects of a stack, see what was added to them by hand, take it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from lightkube.generic_resource import (
    GenericGlobalResource,
    GenericNamespacedResource,
    create_api_info,
)

from tallyard.cluster.additions import Addition, additions, may_have_any, removal
from tallyard.cluster.client import ALL_NAMESPACES, Connection, Kind
from tallyard.cluster.conditions import Object
from tallyard.cluster.faults import ClusterError, Fault

# Of a kind in so few namespaces each is asked by itself: a cluster has many Deployments, and we
# have two.
_NAMESPACES_ASKED_MAX = 5


@dataclass(frozen=True)
class Added:
    """What was added to one object; `api` is its apiVersion."""

    api: str
    kind: str
    namespace: str | None
    name: str
    additions: tuple[Addition, ...]

    @property
    def title(self) -> str:
        """Return how a person finds it: `RoleBinding nlp/tallyard:member`."""
        place = f"{self.namespace}/" if self.namespace else ""
        return f"{self.kind} {place}{self.name}"

    @property
    def fields(self) -> str:
        """Return where the additions are. Their values may be anything, and are not told."""
        return ", ".join(each.field for each in self.additions)


def find(connection: Connection, applied: Iterable[Object]) -> tuple[Added, ...]:
    """Compare objects with what the API server has.

    What is not there is left out: Pulumi sees that.

    Args:
        connection: The cluster.
        applied: The objects as they were sent, each with the namespace that it is in.

    Raises:
        ClusterError: When the server cannot be asked.
    """
    by_kind: dict[tuple[str, str], dict[tuple[str | None, str], Object]] = defaultdict(dict)
    for each in filter(may_have_any, applied):
        by_kind[each["apiVersion"], each["kind"]][_key(each)] = each
    return tuple(
        Added(api, kind, *_key(live), additions=found)
        for (api, kind), objects in sorted(by_kind.items())
        for live in _live(connection, api, kind, {namespace for namespace, _ in objects})
        if (was := objects.get(_key(live))) and (found := additions(was, live))
    )


def take_back(connection: Connection, added: Added) -> None:
    """Remove what was added to one object.

    Raises:
        ClusterError: Also when somebody has changed it since it was looked at.
    """
    kind = _kind(added.api, added.kind, is_namespaced=added.namespace is not None)
    connection.amend(kind, added.name, removal(added.additions), namespace=added.namespace)


def _live(
    connection: Connection, api: str, kind: str, namespaces: set[str | None]
) -> Iterator[Object]:
    is_namespaced = None not in namespaces
    places = sorted(each for each in namespaces if each)
    if not is_namespaced:
        asked: list[str | None] = [None]
    elif len(places) > _NAMESPACES_ASKED_MAX:
        asked = [ALL_NAMESPACES]
    else:
        asked = list(places)
    type_ = _kind(api, kind, is_namespaced=is_namespaced)
    for namespace in asked:
        try:
            found = connection.list(type_, namespace=namespace)
        except ClusterError as error:
            # Its definition is gone, and with it every object of the kind.
            if error.fault is not Fault.NO_SUCH_KIND:
                raise
            continue
        # An element of a list bears no kind of its own.
        yield from ({**each, "apiVersion": api, "kind": kind} for each in found)


def _kind(api: str, kind: str, *, is_namespaced: bool) -> Kind:
    group, _, version = api.rpartition("/")
    base = GenericNamespacedResource if is_namespaced else GenericGlobalResource
    info = create_api_info(group, version, kind, _plural(kind))
    return type(kind, (base,), {"_api_info": info})


def _plural(kind: str) -> str:
    """Return the plural by the rule that Kubernetes' own clients guess it by.

    `UnsafeGuessKindToResource` in k8s.io/apimachinery.
    """
    name = kind.lower()
    if name.endswith("s"):
        return f"{name}es"
    return f"{name[:-1]}ies" if name.endswith("y") else f"{name}s"


def _key(each: Object) -> tuple[str | None, str]:
    metadata = each["metadata"]
    return metadata.get("namespace") or None, metadata["name"]
