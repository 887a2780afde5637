"""What is deployed: `stacks/versions.yaml` as frozen values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from pydantic_core import ErrorDetails

from tallyard.failures import one_line

UNVERIFIED = "unverified"
Digest = Annotated[str, Field(pattern=rf"^(?:{UNVERIFIED}|sha256:[0-9a-f]{{64}})$")]
_FOUND_SHOWN_MAX = 60
# What a key is for, told where it is missing.
_MEANING: Mapping[str, str] = {
    "kubernetes": "the API server that is tested with",
    "charts": "the Helm charts by name, {} for none",
    "images": "the container images by name, {} for none",
    "version": "the exact version",
    "floor": "the lowest version that will do",
    "reason": "why no lower version will do",
    "source": "where it is pulled from",
    "digest": f"`{UNVERIFIED}` until `make pins` has looked it up",
}


class VersionsError(Exception):
    """`versions.yaml` cannot be used as it stands.

    The text has one fault a line: file, line, the key's path, what was found, what to do.
    """


class _Pin(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")

    version: str
    floor: str
    reason: str


class Kubernetes(_Pin):
    """The API server that is tested with."""


class Chart(_Pin):
    """A Helm chart in an OCI registry."""

    source: Annotated[str, Field(pattern=r"^oci://")]
    digest: Digest


class Image(_Pin):
    """A container image; `version` is its tag."""

    source: str
    digest: Digest

    @property
    def pinned_tag(self) -> str:
        """Return the tag with the digest behind it; the tag alone while it is unverified."""
        return self.version if self.digest == UNVERIFIED else f"{self.version}@{self.digest}"


class Versions(BaseModel):
    """Everything that is deployed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    kubernetes: Kubernetes
    charts: Mapping[str, Chart]
    images: Mapping[str, Image]

    def unverified(self) -> tuple[str, ...]:
        """Return the paths of the pins whose digest nobody has looked up."""
        pins = [(f"charts.{name}", chart.digest) for name, chart in self.charts.items()]
        pins += [(f"images.{name}", image.digest) for name, image in self.images.items()]
        return tuple(f"{path}.digest" for path, digest in pins if digest == UNVERIFIED)


def read_versions(file: Path) -> Versions:
    """Read the pins.

    Raises:
        VersionsError: with every fault of the file, one a line.
    """
    return parse_versions(read_text(file), file)


def parse_versions(text: str, file: Path) -> Versions:
    """Return the pins of a text.

    Args:
        text: What stands in the file.
        file: What messages call it.

    Raises:
        VersionsError: with every fault of it, one a line.
    """
    try:
        return Versions.model_validate(yaml.safe_load(text))
    except ValidationError as error:
        faults = ((_line(text, fault["loc"]), fault) for fault in error.errors())
        lines = (
            f"{file}:{line}: {'.'.join(map(str, fault['loc'])) or '(the whole file)'}: "
            f"{_told(fault)}"
            for line, fault in sorted(faults, key=lambda each: each[0])
        )
        raise VersionsError("\n".join(lines)) from error
    # What looks like a date and is none is a bare ValueError.
    except (yaml.YAMLError, ValueError) as error:
        raise VersionsError(_no_yaml(file, error)) from error


def read_text(file: Path) -> str:
    """Return the text of the file, line ends as they are.

    Raises:
        VersionsError: When the file is not there, cannot be read or is not UTF-8.
    """
    try:
        # Bytes, because reading as text would turn line ends into ours.
        return file.read_bytes().decode("utf-8")
    except FileNotFoundError as error:
        raise VersionsError(
            f"{file}: there is no such file, and it pins all that is deployed. Run this in the "
            "repository's folder, or name the file."
        ) from error
    except OSError as error:
        raise VersionsError(
            f"{file}: cannot be read: {error.strerror}. Name a file that you may read."
        ) from error
    except UnicodeDecodeError as error:
        raise VersionsError(
            f"{file}: byte {error.start} is not UTF-8. Save the file as UTF-8."
        ) from error


def _no_yaml(file: Path, error: Exception) -> str:
    mark = error.problem_mark if isinstance(error, yaml.MarkedYAMLError) else None
    problem = error.problem if isinstance(error, yaml.MarkedYAMLError) else one_line(error)
    place = f"{file}:{mark.line + 1}" if mark else str(file)
    return f"{place}: it is not YAML: {problem}. Correct the line, or the one before it."


def _told(fault: ErrorDetails) -> str:
    """Return what was found at a place and what to do."""
    key = str(fault["loc"][-1]) if fault["loc"] else ""
    found = _shown(fault["input"])
    match fault["type"]:
        case "missing":
            return f"it is missing. Write it: {_MEANING[key]}."
        case "extra_forbidden":
            return "there is no such key. Correct its name, or delete it."
        case "string_pattern_mismatch" if key == "digest":
            return (
                f"{found} is no digest; that is sha256: and 64 digits of 0-9 and a-f. "
                f"Write `{UNVERIFIED}`, then run `make pins`."
            )
        case "string_pattern_mismatch":
            return f"{found} is not where a chart is pulled from. Write oci://HOST/PATH."
        case "string_type":
            return f"{found} is not text. Put it in quotes, or write {_MEANING.get(key, 'a name')}."
        case _:
            return f"{found} stands where keys with values belong. Write them as the others are."


def _shown(value: object) -> str:
    if isinstance(value, Mapping | list):
        return "a mapping" if isinstance(value, Mapping) else "a list"
    return "nothing" if value is None else one_line(repr(value), _FOUND_SHOWN_MAX)


def _line(text: str, steps: Sequence[Any]) -> int:
    """Return the line, counted from 1, of a key, or of the deepest one above it that is there."""
    node: yaml.Node | None = yaml.compose(text, Loader=yaml.SafeLoader)
    line = 1
    for step in steps:
        pairs = node.value if isinstance(node, yaml.MappingNode) else ()
        # A key that stands twice counts where it stands last, as in the loaded data.
        found = next((pair for pair in reversed(pairs) if pair[0].value == str(step)), None)
        if found is None:
            break
        line, node = found[0].start_mark.line + 1, found[1]
    return line
