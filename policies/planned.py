"""What a review looks at: all objects before and after, the spec, the pins and their texts."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from tallyard.render.immutable import FieldChange, Key
from tallyard.render.manifest import Manifest
from tallyard.spec.model import Platform
from tallyard.spec.versions import Versions

# Stands for a value that is kept encrypted.
HIDDEN = "[secret]"
_NAMELESS = "(unnamed)"
_LIST = "List"


@dataclass(frozen=True)
class Planned:
    """A plan.

    Lists of objects are looked at one by one, and what has no name is given one, so that each
    of `before` and `after` has a kind and a name.

    Attributes:
        before: the objects that are there, as they were last asked for.
        after: the objects that will be there.
        platform: the spec.
        versions: what is deployed.
        is_lab: whether it is a lab's, which pulls no images.
        texts: the files that a person writes, for what may not stand in them.
        moved: what Pulumi would know by another URN, see `render.immutable.replaced`; None where
            no state is known.
    """

    before: tuple[Manifest, ...]
    after: tuple[Manifest, ...]
    platform: Platform
    versions: Versions
    is_lab: bool
    texts: Mapping[Path, str] = field(default_factory=dict)
    moved: Mapping[Key, FieldChange] | None = None

    def __post_init__(self) -> None:
        """Take lists apart and leave out what is no object."""
        object.__setattr__(self, "before", tuple(_each(self.before)))
        object.__setattr__(self, "after", tuple(_each(self.after)))

    def of_kind(self, *kinds: str) -> Iterator[Manifest]:
        """Yield the objects of some kinds that will be there."""
        return (each for each in self.after if each.kind in kinds)

    @cached_property
    def _named(self) -> Mapping[tuple[str, str, str | None], list[Manifest]]:
        found = defaultdict(list)
        for each in self.after:
            found[each.kind, each.name, each.namespace].append(each)
        return found

    def all_named(self, kind: str, name: str, namespace: str | None = None) -> list[Manifest]:
        """Return what will be there under a name: a plan can have an object twice."""
        return list(self._named.get((kind, name, namespace), ()))

    def named(self, kind: str, name: str, namespace: str | None = None) -> Manifest | None:
        """Return one object that will be there, or None."""
        return next(iter(self.all_named(kind, name, namespace)), None)


def at(content: Any, *steps: str) -> Any:
    """Return a field; None where it, or what it is in, is not there."""
    found = content
    for step in steps:
        if not isinstance(found, Mapping):
            return None
        found = found.get(step)
    return found


def items(content: Any, *steps: str) -> list[Any]:
    """Return a list; an empty one where there is none."""
    found = at(content, *steps)
    return list(found) if isinstance(found, Sequence) and not isinstance(found, str) else []


def mappings(content: Any, *steps: str) -> list[Mapping[str, Any]]:
    """Return those members of a list that are mappings."""
    return [each for each in items(content, *steps) if isinstance(each, Mapping)]


def mapping(content: Any, *steps: str) -> Mapping[str, Any]:
    """Return a mapping; an empty one where there is none."""
    found = at(content, *steps)
    return found if isinstance(found, Mapping) else {}


def texts(content: Any, *steps: str) -> frozenset[str]:
    """Return the members of a list as texts."""
    return frozenset(map(str, items(content, *steps)))


def _each(manifests: Iterable[Manifest]) -> Iterator[Manifest]:
    for each in manifests:
        yield from objects(each.object)


def objects(content: Any) -> Iterator[Manifest]:
    """Yield an object, or those of a list; nothing where it has no kind."""
    kind = at(content, "kind")
    if not isinstance(kind, str) or not kind:
        return
    if kind.endswith(_LIST) and isinstance(content.get("items"), Sequence):
        # Members of a list of one kind need not say it again.
        shared = {"apiVersion": content.get("apiVersion"), "kind": kind.removesuffix(_LIST)}
        for member in mappings(content, "items"):
            yield from objects({**shared, **member})
        return
    metadata = mapping(content, "metadata")
    name = metadata.get("name") or metadata.get("generateName") or _NAMELESS
    if metadata.get("name") == name:
        yield Manifest(content)
    else:
        yield Manifest({**content, "metadata": {**metadata, "name": str(name)}})
