"""The nearest valid name, for people who mistyped one."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

# Below this likeness a suggestion confuses more than it helps.
_LIKENESS_MIN = 0.6
# People shorten the long names of cards: A80 for A800-SXM4-80GB.
_BEGINNING_MIN = 2
# Comparing is quadratic in the length; no name of the spec is longer.
_LENGTH_MAX = 100


def nearest(name: str, valid: Iterable[str]) -> str:
    """Return the valid name that is most like the given one or begins so, or an empty text."""
    by_fold = {candidate.casefold(): candidate for candidate in valid}
    wanted = name.casefold()[:_LENGTH_MAX]
    if wanted in by_fold:
        return by_fold[wanted]
    longer = [candidate for candidate in by_fold if candidate.startswith(wanted)]
    if longer and len(wanted) >= _BEGINNING_MIN:
        return by_fold[min(longer, key=len)]
    found = difflib.get_close_matches(wanted, by_fold, n=1, cutoff=_LIKENESS_MIN)
    return by_fold[found[0]] if found else ""
