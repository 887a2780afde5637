"""`tally version`."""

from __future__ import annotations

import platform
from importlib.metadata import version as installed

from tallyard.cli.output import Format, Output, document, emit, print_table
from tallyard.cli.words import words

# What decides how we meet a cluster; the rest is in the lock.
_TELLING = ("lightkube", "pulumi", "pulumi-kubernetes", "kubernetes-validate")


def version(*, output: Output = Format.TABLE) -> None:
    """Print the versions of tally and of what it works with."""
    versions = {
        "tally": installed("tallyard"),
        "python": platform.python_version(),
        **{name: installed(name) for name in _TELLING},
    }
    content = document("Version", {"versions": versions})
    emit(output, content, lambda: print_table(words("PROGRAM", "VERSION"), versions.items()))
