"""What a rule has found."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import NamedTuple

from tallyard.catalog.rules import RULES, Rule
from tallyard.render.manifest import Manifest
from tallyard.spec.problem import Location


class Source(StrEnum):
    """In which file the key stands that a finding comes from."""

    SPEC = "spec"
    VERSIONS = "versions"


class Text(NamedTuple):
    """What was found and what to do, without the rule's name."""

    english: str
    chinese: str


@dataclass(frozen=True)
class Finding:
    """One finding.

    Attributes:
        name: the rule's, see `tallyard.catalog.rules`.
        text: what was found and what to do.
        kind: the object's kind; of what is no object a word for what it is (`Pin`, `Setting`,
            `AdmissionRule`), so that a waiver can name it.
        object_name: the object's name.
        namespace: the object's namespace.
        path: the key that it comes from, as messages about the spec write it; empty where no
            key of a person's says it.
        source: the file in which that key stands.
        location: where exactly, if the rule knows it.
    """

    name: str
    text: Text
    kind: str
    object_name: str
    namespace: str | None = None
    path: str = ""
    source: Source = Source.SPEC
    location: Location | None = None

    @property
    def rule(self) -> Rule:
        """Return the rule."""
        return RULES[self.name]

    @property
    def subject(self) -> str:
        """Return the object as `Kind/namespace/name`."""
        return "/".join(filter(None, (self.kind, self.namespace, self.object_name)))

    def sentence(self, lang: str) -> str:
        """Return the whole message in a language: what, what to do, the rule."""
        text = self.text.chinese if lang == "zh" else self.text.english
        return f"{text} [{self.name}]"


def about(
    name: str,
    text: Text,
    subject: Manifest,
    path: str = "",
    source: Source = Source.SPEC,
) -> Finding:
    """Return a finding about an object."""
    return Finding(name, text, subject.kind, subject.name, subject.namespace, path, source)
