"""`tally completion`."""

from __future__ import annotations

from typing import Literal

from tallyard.cli.output import print_line


def completion(shell: Literal["bash", "zsh", "fish"], /) -> None:
    """Print the completion script of a shell.

    Args:
        shell: The shell: bash, zsh or fish.
    """
    from tallyard.cli.application import build  # noqa: PLC0415

    print_line(build().generate_completion(shell=shell))
