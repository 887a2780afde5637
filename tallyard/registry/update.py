"""What a lookup means for the pins, and the pins' text with new digests. Pure.

The text is edited where the digests stand and nowhere else. A YAML library that writes the
document anew (ruamel.yaml's round trip was tried) drops a comment above `---`, changes
indentation and line ends; a reviewer of a new digest should see that one line.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import yaml

from tallyard.registry import reference
from tallyard.registry.manifest import Artifact
from tallyard.registry.reference import Reference
from tallyard.spec.versions import UNVERIFIED, Versions, VersionsError


class Change(StrEnum):
    """What a looked-up digest is to the pin that is there."""

    SAME = "same"
    FILLED = "filled"
    MOVED = "moved"


@dataclass(frozen=True)
class Pin:
    """One entry of `versions.yaml`; `path` is as a person writes it, e.g. `charts.kueue`."""

    path: str
    artifact: Artifact
    source: str
    version: str
    digest: str

    def reference(self) -> Reference:
        """Return what is looked up.

        Raises:
            SourceError: When source and version do not name one tag of one repository.
        """
        parse = reference.chart if self.artifact is Artifact.CHART else reference.image
        return parse(self.source, self.version)

    def change(self, found: str) -> Change:
        """Return what a looked-up digest means for this pin.

        A verified digest that differs is a tag that moved: somebody published other content
        under the same version. That is never a mere update.
        """
        if found == self.digest:
            return Change.SAME
        return Change.FILLED if self.digest == UNVERIFIED else Change.MOVED


def pins(versions: Versions) -> tuple[Pin, ...]:
    """Return every pin that has a digest, in the file's order, charts first."""
    charts = (
        Pin(f"charts.{name}", Artifact.CHART, pin.source, pin.version, pin.digest)
        for name, pin in versions.charts.items()
    )
    images = (
        Pin(f"images.{name}", Artifact.IMAGE, pin.source, pin.version, pin.digest)
        for name, pin in versions.images.items()
    )
    return (*charts, *images)


def rewrite(text: str, digests: Mapping[str, str]) -> str:
    """Return the file's text with new digests and every other character as it was.

    Args:
        text: The text of `versions.yaml`.
        digests: The new digest by the path of its pin, e.g. `charts.kueue`.

    Raises:
        VersionsError: When a digest is not written out at its pin (an alias, a merge key),
            so that it cannot be changed without changing something else.
    """
    nodes = [(_digest_node(text, path), digest) for path, digest in digests.items()]
    new = text
    # From the end to the beginning, so that the places before stay right.
    for node, digest in sorted(nodes, key=lambda n: n[0].start_mark.index, reverse=True):
        new = new[: node.start_mark.index] + digest + new[node.end_mark.index :]
    if _loaded(new) != _expected(text, digests):
        raise VersionsError(
            "a digest stands behind an alias or an anchor, so changing one pin would change "
            "another: write each pin's digest out"
        )
    return new


def line(text: str, path: str, key: str) -> int | None:
    """Return the line, counted from 1, of a pin's key; None where it is not written out."""
    node = _node(text, path, key)
    return None if node is None else int(node.start_mark.line) + 1


def _digest_node(text: str, path: str) -> yaml.ScalarNode:
    node = _node(text, path, "digest")
    if node is None:
        raise VersionsError(f"{path}.digest is not written out at its pin: write it there")
    return node


def _loaded(text: str) -> object:
    try:
        return yaml.safe_load(text)
    except yaml.YAMLError:
        return None


def _expected(text: str, digests: Mapping[str, str]) -> Mapping[str, Any]:
    data: dict[str, Any] = yaml.safe_load(text)
    for path, digest in digests.items():
        section, _, name = path.partition(".")
        # New mappings all the way: two pins behind one anchor are one object here.
        data[section] = data[section] | {name: data[section][name] | {"digest": digest}}
    return data


def _node(text: str, path: str, key: str) -> yaml.ScalarNode | None:
    section, _, name = path.partition(".")
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    for word in (section, name, key):
        node = next(_values(node, word), None)
    return node if isinstance(node, yaml.ScalarNode) else None


def _values(node: yaml.Node | None, key: str) -> Iterator[yaml.Node]:
    if isinstance(node, yaml.MappingNode):
        # A key that stands twice counts where it stands last, as in the loaded data.
        yield from (value for name, value in reversed(node.value) if name.value == key)
