"""Files that are made and committed: are they what is made now, and how they become so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[3]
NOTE = "<!-- Made by `python -m tallyard.cli.pages --write`; do not edit. -->"


def faults(wanted: Mapping[Path, str], checkout: Path = CHECKOUT) -> Iterator[str]:
    """Yield a sentence for each file that is not what is made.

    Args:
        wanted: What is made, by its path from the checkout.
        checkout: The folder with the files.
    """
    for file, text in wanted.items():
        path = checkout / file
        if not path.exists():
            yield f"{file} is missing"
        elif path.read_text(encoding="utf-8") != text:
            yield f"{file} is stale"


def write(wanted: Mapping[Path, str], checkout: Path = CHECKOUT) -> None:
    """Write the files."""
    for file, text in wanted.items():
        path = checkout / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
