"""What the API server would say to the manifests, said without one.

Kubernetes' own kinds are checked against its published schemas, Kueue's against the CRDs of
the pinned chart. Rules in CEL (immutability, references between fields) are not evaluated
here; a server dry run does that.
"""

from __future__ import annotations

import copy
import importlib.resources
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import jsonschema_rs
import kubernetes_validate
import yaml

from tallyard import labels
from tallyard.render.manifest import Manifest


@dataclass(frozen=True)
class Fault:
    """A field of a manifest that its API would refuse, or drop in silence."""

    manifest: str
    path: str
    message: str

    def __str__(self) -> str:
        """Return one line for a person."""
        return f"{self.manifest}: {self.path or '(whole object)'}: {self.message}"


type Validator = jsonschema_rs.Draft202012Validator
type Schemas = Mapping[tuple[str, str], Mapping[str, Any]]


def check(
    manifests: Iterable[Manifest], *, crds: Schemas | None, kubernetes: str | None
) -> tuple[Fault, ...]:
    """Return every fault of every manifest.

    Args:
        manifests: what was rendered.
        crds: schemas by (apiVersion, kind), from `crd_schemas`; None leaves Kueue's kinds out.
        kubernetes: the API server's version, e.g. `1.36.3`; None leaves its own kinds out.
    """
    found: list[Fault] = []
    manifests = tuple(manifests)
    own = _defined(m.object for m in manifests if m.kind == "CustomResourceDefinition")
    validators = {
        key: jsonschema_rs.Draft202012Validator(dict(schema))
        for key, schema in {**(crds or {}), **own}.items()
    }
    minor = ".".join(kubernetes.split(".")[:2]) if kubernetes is not None else ""
    for manifest in manifests:
        api_version = str(manifest.object["apiVersion"])
        if api_version.startswith(f"{labels.KUEUE_GROUP}/"):
            if crds is not None:
                validator = validators.get((api_version, manifest.kind))
                found += _faults(manifest, validator, "the chart")
        elif api_version == labels.API:
            validator = validators.get((api_version, manifest.kind))
            found += _faults(manifest, validator, "the manifests")
        elif kubernetes is not None:
            validator = _own_validator(manifest.kind, api_version, minor)
            found += _faults(manifest, validator, f"Kubernetes {minor}")
    return tuple(found)


def crd_schemas(chart: Path) -> Schemas:
    """Read the schemas of a chart's CRDs, with unknown fields forbidden.

    Args:
        chart: the chart's folder; its CRDs are templates whose schemas hold no directives.

    Raises:
        OSError: the folder cannot be read.
        LookupError: there is no CRD in it.
    """
    found = _defined(
        yaml.load(_without_directives(file.read_text("utf-8")), yaml.CSafeLoader)
        for file in sorted((chart / "templates" / "crd").glob("*.yaml"))
    )
    if not found:
        raise LookupError(f"{chart}: no CRDs in templates/crd")
    return found


def _defined(definitions: Iterable[Mapping[str, Any]]) -> Schemas:
    """Return the schemas of custom resources by their definitions."""
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for definition in definitions:
        spec = definition["spec"]
        for version in spec["versions"]:
            key = (f"{spec['group']}/{version['name']}", spec["names"]["kind"])
            found[key] = _closed(version["schema"]["openAPIV3Schema"])
    return found


def _faults(manifest: Manifest, validator: Validator | None, where: str) -> Iterator[Fault]:
    if validator is None:
        kind = f"{manifest.object['apiVersion']} {manifest.kind}"
        yield Fault(manifest.path, "apiVersion", f"no schema for {kind} in {where}")
        return
    errors = validator.iter_errors(dict(manifest.object))
    for error in sorted(errors, key=lambda each: list(map(str, each.instance_path))):
        yield Fault(manifest.path, ".".join(map(str, error.instance_path)), error.message)


@cache
def _own_validator(kind: str, api_version: str, minor: str) -> Validator | None:
    """Return the validator of one of Kubernetes' own kinds; None where there is no schema.

    The schemas are those that kubernetes-validate brings; its own `validate` reads them anew
    for each object, which takes seconds where there are a thousand.
    """
    folder = _schema_folder(minor)
    if folder is None:
        return None
    group, _, version = api_version.rpartition("/")
    name = f"{group.partition('.')[0]}-{version}" if group else version
    file = folder / f"{kind.lower()}-{name}.json"
    if not file.is_file():
        return None
    return jsonschema_rs.Draft202012Validator(
        json.loads(file.read_text("utf-8")), registry=_definitions(minor)
    )


@cache
def _schema_folder(minor: str) -> Traversable | None:
    """Return the schemas of a minor version with unknown fields forbidden.

    Not every patch release has schemas of its own; the minor's are the same API.
    """
    schemas = importlib.resources.files(kubernetes_validate) / "kubernetes-json-schema"
    found = [
        folder
        for folder in schemas.iterdir()
        if folder.name.startswith(f"v{minor}.") and folder.name.endswith("-local-strict")
    ]
    return max(found, key=lambda folder: folder.name, default=None)


@cache
def _definitions(minor: str) -> jsonschema_rs.Registry:
    """Return what the schemas of a minor version refer to."""
    folder = _schema_folder(minor)
    assert folder is not None  # noqa: S101 - a schema of it has been read
    content = json.loads((folder / "_definitions.json").read_text("utf-8"))
    return jsonschema_rs.Registry([(content["$id"], content)])


def _without_directives(text: str) -> str:
    """Drop Helm's lines; in a CRD they only concern labels and the conversion webhook's name."""
    kept = []
    inside = False
    for line in text.splitlines():
        starts, ends = "{{" in line, "}}" in line
        if not inside and not starts:
            kept.append(line)
        inside = (inside or starts) and not ends
    return "\n".join(kept)


def _closed(schema: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema with every object closed to keys that it does not name.

    The API server would drop such a key and report success.
    """
    closed = copy.deepcopy(dict(schema))
    _close(closed)
    # The server knows these three of every object; the CRD's schema only says `object`.
    closed["properties"]["metadata"] = {"type": "object"}
    return closed


def _close(node: Any) -> None:
    if isinstance(node, list):
        for item in node:
            _close(item)
    if not isinstance(node, dict):
        return
    is_open = node.get("x-kubernetes-preserve-unknown-fields", False)
    if "properties" in node and "additionalProperties" not in node and not is_open:
        node["additionalProperties"] = False
    for value in node.values():
        _close(value)
