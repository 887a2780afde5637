"""What the API server would say to the manifests, said without one.

Kubernetes' own kinds are checked against its published schemas, Kueue's against the CRDs of
the pinned chart. Rules in CEL (immutability, references between fields) are not evaluated
here; a server dry run does that.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jsonschema
import kubernetes_validate
import yaml
from kubernetes_validate.utils import VersionNotSupportedError

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
    for manifest in manifests:
        if str(manifest.object["apiVersion"]).startswith(f"{labels.KUEUE_GROUP}/"):
            found += _crd_faults(manifest, crds) if crds is not None else ()
        else:
            found += _own_faults(manifest, kubernetes) if kubernetes is not None else ()
    return tuple(found)


def crd_schemas(chart: Path) -> Schemas:
    """Read the schemas of a chart's CRDs, with unknown fields forbidden.

    Args:
        chart: the chart's folder; its CRDs are templates whose schemas hold no directives.

    Raises:
        OSError: the folder cannot be read.
        LookupError: there is no CRD in it.
    """
    found: dict[tuple[str, str], Mapping[str, Any]] = {}
    for file in sorted((chart / "templates" / "crd").glob("*.yaml")):
        definition = yaml.load(_without_directives(file.read_text("utf-8")), yaml.CSafeLoader)
        spec = definition["spec"]
        for version in spec["versions"]:
            key = (f"{spec['group']}/{version['name']}", spec["names"]["kind"])
            found[key] = _closed(version["schema"]["openAPIV3Schema"])
    if not found:
        raise LookupError(f"{chart}: no CRDs in templates/crd")
    return found


def _crd_faults(manifest: Manifest, crds: Schemas) -> Iterator[Fault]:
    key = (str(manifest.object["apiVersion"]), manifest.kind)
    if key not in crds:
        yield Fault(manifest.path, "apiVersion", f"no schema for {key[0]} {key[1]} in the chart")
        return
    errors = jsonschema.Draft202012Validator(crds[key]).iter_errors(manifest.object)
    for error in sorted(errors, key=lambda e: list(map(str, e.absolute_path))):
        yield Fault(manifest.path, ".".join(map(str, error.absolute_path)), error.message)


def _own_faults(manifest: Manifest, kubernetes: str) -> Iterator[Fault]:
    minor = ".".join(kubernetes.split(".")[:2])
    try:
        with warnings.catch_warnings():
            # Not every patch release has schemas of its own; the minor's are the same API.
            warnings.simplefilter("ignore")
            kubernetes_validate.validate(dict(manifest.object), minor, strict=True)
    except kubernetes_validate.ValidationError as error:
        yield Fault(manifest.path, ".".join(map(str, error.path)), error.message)
    # A version older than all that it knows ends in an IndexError.
    except (kubernetes_validate.SchemaNotFoundError, VersionNotSupportedError, IndexError):
        kind = f"{manifest.object['apiVersion']} {manifest.kind}"
        yield Fault(manifest.path, "apiVersion", f"no schema for {kind} in Kubernetes {minor}")


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
