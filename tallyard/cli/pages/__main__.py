"""`python -m tallyard.cli.pages`: every file of the repository that is made from the code.

`--write` puts them into their places; `--check` says what is stale, missing or left over, and
which code of an error has no example.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from pathlib import Path

from tallyard.cli.pages import (
    admission_page,
    command_reference,
    error_pages,
    made,
    rules_page,
    spec_reference,
)
from tallyard.spec import schema


def schemas() -> Mapping[Path, str]:
    """Return the schemas for editors, by their paths from the checkout."""
    folder = Path("schemas")
    return {
        folder / "platform.schema.json": schema.text(schema.platform_schema()),
        folder / "overlay.schema.json": schema.text(schema.overlay_schema()),
    }


def main(arguments: list[str], checkout: Path = made.CHECKOUT) -> int:
    """Write or check, as asked; return the exit code."""
    if arguments not in (["--write"], ["--check"]):
        sys.stderr.write("python -m tallyard.cli.pages --write | --check\n")
        return 2
    pages = {
        **schemas(),
        **admission_page.files(),
        **command_reference.files(),
        **rules_page.files(),
        **spec_reference.files(),
    }
    if arguments == ["--write"]:
        made.write(pages, checkout)
        error_pages.write(checkout)
        return 0
    found = (*made.faults(pages, checkout), *error_pages.faults(checkout))
    sys.stderr.writelines(f"{fault}\n" for fault in found)
    if found:
        sys.stderr.write("They are written by: python -m tallyard.cli.pages --write\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
