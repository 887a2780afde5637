"""The objects that Pulumi's state has of a stack: what is there before a plan is carried out."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from policies.planned import HIDDEN
from tallyard.failures import one_line
from tallyard.render.manifest import Manifest

_SECONDS_MAX = 60
_OBJECTS = "kubernetes:"
# How Pulumi marks a value in its state that is more than JSON; the one that is kept is a secret.
_SIGNATURE = "4dabf18193072939515e22adb298388d"


class StateError(Exception):
    """The state cannot be read; the text says why, in one line."""


def recorded(stack: str, project: Path) -> tuple[Manifest, ...]:
    """Return the Kubernetes objects in a stack's state, as they were last asked for.

    Nothing is decrypted: what is secret comes as a placeholder.

    Args:
        stack: its name.
        project: the folder of Pulumi.yaml.

    Raises:
        StateError: Pulumi does not answer, or has no such stack.
    """
    command = ("pulumi", "stack", "export", "--stack", stack, "--cwd", str(project))
    try:
        done = subprocess.run(
            command, capture_output=True, timeout=_SECONDS_MAX, check=True, text=True
        )
        return tuple(objects_in(json.loads(done.stdout)))
    except FileNotFoundError as error:
        raise StateError("there is no program `pulumi` on the PATH") from error
    except subprocess.CalledProcessError as error:
        told = one_line(error.stderr.strip()) or f"it ended with {error.returncode}"
        raise StateError(f"`pulumi stack export`: {told}") from error
    except subprocess.TimeoutExpired as error:
        raise StateError(f"`pulumi stack export` did not end within {_SECONDS_MAX} s") from error
    except (OSError, ValueError) as error:
        raise StateError(f"`pulumi stack export`: {one_line(str(error))}") from error


def objects_in(state: Mapping[str, Any]) -> Iterator[Manifest]:
    """Yield the Kubernetes objects among the resources of an exported state.

    One that is about to be deleted after its replacement is not there any more.
    """
    for resource in (state.get("deployment") or {}).get("resources") or ():
        content = resource.get("inputs") or {}
        is_object = str(resource.get("type", "")).startswith(_OBJECTS)
        if is_object and "kind" in content and not resource.get("delete"):
            yield Manifest(_plain(content))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        if _SIGNATURE in value:
            return HIDDEN
        return {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
