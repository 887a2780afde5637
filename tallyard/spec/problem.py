"""A problem with the spec: where, what, why, what to do. Data only; printing is the CLI's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, order=True)
class Location:
    """A place in a file; line and column count from 1."""

    file: Path
    line: int
    column: int


@dataclass(frozen=True)
class Problem:
    """One fault. `code` picks the text in the table of messages, `values` fill it in.

    `path` is the key's path as a person writes it, e.g. `tiers.gold.cards.training`.
    """

    code: str
    location: Location
    path: str
    values: Mapping[str, object] = field(default_factory=dict)
    is_error: bool = True
