"""The objects that Pulumi's state has of a stack: what is there before a plan is carried out."""

from __future__ import annotations

import json
import subprocess
from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from policies.planned import HIDDEN
from tallyard.failures import one_line
from tallyard.render.immutable import FieldChange, Key, by_name, urn_change
from tallyard.render.manifest import Manifest

# How the types begin of what Pulumi has in a cluster.
OBJECTS = "kubernetes:"
# How Pulumi marks a value that is more than JSON; the one that is kept in a state is a secret. It
# is Pulumi's own `SPECIAL_SIG_KEY`, which what runs without Pulumi cannot ask for.
SIGNATURE = "4dabf18193072939515e22adb298388d"
_SECONDS_MAX = 60


class StateError(Exception):
    """The state cannot be read; the text says why, in one line."""


@dataclass(frozen=True)
class Recorded(Manifest):
    """An object in the state, as it was last asked for.

    Attributes:
        urn: by which Pulumi knows it.
        is_retained: whether Pulumi leaves it in the cluster when its program names it no more.
    """

    urn: str = ""
    is_retained: bool = False


def recorded(stack: str, project: Path) -> tuple[Recorded, ...]:
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


def objects_in(state: Mapping[str, Any]) -> Iterator[Recorded]:
    """Yield the Kubernetes objects among the resources of an exported state.

    One that is about to be deleted after its replacement is not there any more.
    """
    for resource in (state.get("deployment") or {}).get("resources") or ():
        content = resource.get("inputs") or {}
        is_object = str(resource.get("type", "")).startswith(OBJECTS)
        if is_object and "kind" in content and not resource.get("delete"):
            is_retained = bool(resource.get("retainOnDelete"))
            yield Recorded(_plain(content), str(resource.get("urn", "")), is_retained)


def moved(
    before: Iterable[Recorded],
    after: Mapping[str, Iterable[Manifest]],
    aliases: Collection[str] = (),
) -> Mapping[Key, FieldChange]:
    """Return of which objects that stay the state has a URN that the program has no more.

    Args:
        before: what the state has.
        after: what the program asks for, by URN.
        aliases: the older URNs that the program says of what it asks for.
    """
    new: dict[Key, str] = {}
    for urn, manifests in after.items():
        new |= dict.fromkeys(by_name(manifests), urn)
    gone: dict[Key, list[str]] = defaultdict(list)
    for each in before:
        if each.urn not in after and each.urn not in aliases and not each.is_retained:
            gone[each.kind, each.namespace, each.name].append(each.urn)
    return {key: urn_change(urns[0], new[key]) for key, urns in gone.items() if key in new}


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return HIDDEN if SIGNATURE in value else {key: _plain(each) for key, each in value.items()}
    return [_plain(each) for each in value] if isinstance(value, list) else value
