"""What a stack's own file, `stacks/Pulumi.<stack>.yaml`, says that a review must know."""

from __future__ import annotations

from dataclasses import dataclass

import yaml

from policies.planned import mapping
from tallyard.failures import one_line


class StackFileError(Exception):
    """The text is no YAML; the error's text says why, in one line."""


@dataclass(frozen=True)
class StackFile:
    """The file's configuration.

    Attributes:
        overlay: the environment's file, from the folder of the stacks; empty where none is named.
        is_lab: whether the stack is a lab's.
    """

    overlay: str
    is_lab: bool


def stack_file(text: str) -> StackFile:
    """Read the text of a stack's file.

    Pulumi hands its configuration to programs and not to packs in Python, and `tally review` also
    looks at other revisions.

    Raises:
        StackFileError: it is no YAML.
    """
    try:
        config = mapping(yaml.safe_load(text), "config")
    except (ValueError, yaml.YAMLError) as error:
        raise StackFileError(one_line(error)) from error
    overlay = config.get("tallyard:overlay")
    lab = config.get("tallyard:lab")
    # As Pulumi's own `get_bool` takes it.
    is_lab = lab is True or lab == "true"
    return StackFile(overlay if isinstance(overlay, str) else "", is_lab)
