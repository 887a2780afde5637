"""An exception from a rule of the review."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase


@dataclass(frozen=True)
class Waiver:
    """An exception from one rule of the review, before the moment `until`.

    `objects` are patterns of `Kind/name` or `Kind/namespace/name`, whose parts are compared one
    by one. `path` is the entry's in its file,
    e.g. `waivers[0]`, and `is_of_environment` says which file that is; both are no part of what
    it says.
    """

    rule: str
    objects: tuple[str, ...]
    reason: str
    until: datetime
    path: str = field(compare=False)
    is_of_environment: bool = field(default=False, compare=False)

    def covers(self, rule: str, kind: str, namespace: str | None, name: str) -> bool:
        """Return whether the rule is waived for an object.

        Args:
            rule: The rule's name.
            kind: The object's kind, e.g. `ClusterQueue`.
            namespace: Its namespace; None (or an empty text) where it is in none.
            name: Its name.
        """
        if rule != self.rule:
            return False
        parts = (kind, namespace, name) if namespace else (kind, name)
        return any(_fits(each, parts) for each in self.objects)


def _fits(pattern: str, parts: tuple[str, ...]) -> bool:
    """Return whether a pattern has as many parts, and each of them is as it says."""
    wanted = pattern.split("/")
    return len(wanted) == len(parts) and all(map(fnmatchcase, parts, wanted))
