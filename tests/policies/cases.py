"""The cases of the review's rules (`tests/data/review/rules`): a shipped plan with one thing changed.

A case changes what a person writes (`edit`), or the objects that there will be, or those that
there are (`before`): some are added, some removed, and of some a field is set or dropped.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from lab.folder import CHECKOUT
from policies.planned import Planned
from tallyard.render.controllers import (
    SpecFile,
    access_manifests,
    deployment_manifests,
    namespace_manifest,
    spec_manifest,
)
from tallyard.render.kueue_manager import configuration
from tallyard.render.manifest import Manifest
from tallyard.render.platform import render
from tallyard.spec.load import load
from tallyard.spec.versions import read_versions

DATA = CHECKOUT / "tests" / "data" / "review" / "rules"
STACKS = CHECKOUT / "stacks"
DIGEST = f"sha256:{'0' * 64}"
# Before any date of a case.
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)
_FILES = ("platform.yaml", "versions.yaml")


@dataclass(frozen=True)
class Case:
    """A plan.

    Attributes:
        rule: The rule that it is about.
        kind: `allowed` or `denied`.
        what: In words, what is special.
        stack: The shipped stack that it begins with.
        edit: By file of `stacks`, pairs of what stands there and what is to stand there.
        change: By object (`Kind/name`, `Kind/namespace/name`) and JSON pointer, a value.
        drop: By object, JSON pointers to what is not there.
        remove: Objects that are not there.
        add: Objects that are there too.
        before: The last four, for what there is.
        says: The sentences without the rule's name.
        at: The place of the first finding, `file:line`.
    """

    rule: str
    kind: str
    what: str
    stack: str = "local"
    edit: Mapping[str, list[list[str]]] = field(default_factory=dict)
    change: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    drop: Mapping[str, list[str]] = field(default_factory=dict)
    remove: list[str] = field(default_factory=list)
    add: list[Mapping[str, Any]] = field(default_factory=list)
    before: Mapping[str, Any] = field(default_factory=dict)
    says: list[str] = field(default_factory=list)
    at: str = ""

    def planned(self, folder: Path) -> Planned:
        """Return the plan; the spec's files are written into a folder where they are edited."""
        shipped = shipped_plan(self.stack)
        edited = _plan(self.stack, folder, self.edit) if self.edit else shipped
        parts = {part: getattr(self, part) for part in ("change", "drop", "remove", "add")}
        return Planned(
            before=_changed(shipped.before, **self.before),
            after=_changed(edited.after, **parts),
            platform=edited.platform,
            versions=edited.versions,
            is_lab=edited.is_lab,
            texts=edited.texts,
        )

    def __str__(self) -> str:
        return f"{self.rule}: {self.kind}: {self.what}"


def cases() -> tuple[Case, ...]:
    """Return the cases of all rules."""
    return tuple(
        Case(rule=file.stem, kind=kind, **case)
        for file in sorted(DATA.glob("*.yaml"))
        for kind, told in yaml.safe_load(file.read_text()).items()
        for case in told
    )


@cache
def shipped_plan(stack: str) -> Planned:
    """Return a plan of a shipped stack in which nothing changes."""
    return _plan(stack, STACKS, {})


def _plan(stack: str, folder: Path, edits: Mapping[str, list[list[str]]]) -> Planned:
    """Return a plan in which all is there already."""
    own = f"Pulumi.{stack}.yaml"
    if folder != STACKS:
        for name in (*_FILES, f"{stack}.yaml", own):
            text = (STACKS / name).read_text()
            for old, new in edits.get(name, ()):
                assert text.count(old) == 1, f"{name}: {old!r} stands {text.count(old)} times"
                text = text.replace(old, new)
            (folder / name).write_text(text)
    loaded = load(folder / f"{stack}.yaml", NOW)
    assert loaded.platform is not None, loaded.problems
    base, overlay = (SpecFile(file.name, loaded.texts[file]) for file in loaded.files)
    image = f"registry.example.com/tallyard/controllers@{DIGEST}"
    objects = (
        *render(loaded.platform),
        namespace_manifest(),
        *access_manifests(),
        spec_manifest(overlay, base),
        *(deployment_manifests(image) if stack == "prod" else ()),
        *_of_charts(json.dumps(configuration(loaded.platform))),
    )
    return Planned(
        before=objects,
        after=objects,
        platform=loaded.platform,
        versions=read_versions(folder / "versions.yaml"),
        is_lab=stack == "local",
        texts={**loaded.texts, folder / own: (folder / own).read_text()},
    )


def _of_charts(configuration: str) -> Iterable[Manifest]:
    """Yield of the charts' objects those that look like what a rule is after."""
    webhooks = yaml.safe_load((DATA.parent / "kueue-webhooks.yaml").read_text())
    for system, name in (("kueue-system", "kueue"), ("jobset-system", "jobset")):
        place = {"namespace": system}
        yield _object("Namespace", {"name": system})
        yield _object("Secret", {**place, "name": f"{name}-webhook-server-cert"})
        data = {"controller_manager_config.yaml": configuration}
        yield _object("ConfigMap", {**place, "name": f"{name}-manager-config"}, data=data)
        for verb in ("Mutating", "Validating"):
            kind = f"{verb}WebhookConfiguration"
            metadata = {"name": f"{name}-{verb.lower()}-webhook-configuration"}
            if name == "kueue":
                # Its chart writes that, though such an object has none.
                metadata |= place
            yield _object(kind, metadata, webhooks=webhooks[kind] if name == "kueue" else [])


def _object(kind: str, metadata: Mapping[str, str], **content: Any) -> Manifest:
    return Manifest({"apiVersion": "v1", "kind": kind, "metadata": metadata, **content})


def _changed(
    manifests: Iterable[Manifest],
    change: Mapping[str, Mapping[str, Any]] | None = None,
    drop: Mapping[str, list[str]] | None = None,
    remove: Iterable[str] = (),
    add: Iterable[Mapping[str, Any]] = (),
) -> tuple[Manifest, ...]:
    objects = {_name(each): each.object for each in manifests}
    for name, fields in (change or {}).items():
        objects[name] = deepcopy(objects[name])
        for pointer, value in fields.items():
            _set(objects[name], pointer, value)
    for name, pointers in (drop or {}).items():
        objects[name] = deepcopy(objects[name])
        for pointer in pointers:
            _drop(objects[name], pointer)
    for name in remove:
        del objects[name]
    return (*map(Manifest, objects.values()), *map(Manifest, add))


def _name(each: Manifest) -> str:
    return "/".join(filter(None, (each.kind, each.namespace, each.name)))


def _set(content: Any, pointer: str, value: Any) -> None:
    parent, key = _parent(content, pointer)
    if key == "-":
        parent.append(value)
    else:
        parent[key] = value


def _drop(content: Any, pointer: str) -> None:
    parent, key = _parent(content, pointer)
    del parent[key]


def _parent(content: Any, pointer: str) -> tuple[Any, Any]:
    """Return what a JSON pointer (RFC 6901) leads into, and the key in it."""
    *steps, last = (step.replace("~1", "/").replace("~0", "~") for step in pointer.split("/")[1:])
    for step in steps:
        content = content[int(step) if isinstance(content, list) else step]
    return content, int(last) if isinstance(content, list) and last != "-" else last
