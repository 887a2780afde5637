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

    @property
    def is_error(self) -> bool:
        """Whether the platform is withheld; a warning only tells."""
        return self.code not in WARNINGS


# Nothing that these say stops work that would otherwise run.
WARNINGS: frozenset[str] = frozenset(
    {
        *("SPEC315", "SPEC327", "SPEC328", "SPEC412", "SPEC418"),
        *("SPEC505", "SPEC506", "SPEC508", "SPEC509", "SPEC510", "SPEC513", "SPEC520"),
        *("SPEC609", "SPEC612", "SPEC615"),
        "SPEC701",
    }
)
