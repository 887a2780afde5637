"""Which warnings a change of the spec brings."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from tallyard.spec.problem import Problem

# Where something stands in a list changes with what stands before it.
_INDEX = re.compile(r"\[\d+\]")


def new_warnings(before: Iterable[Problem], after: Iterable[Problem]) -> tuple[Problem, ...]:
    """Return the warnings of the side after that the side before did not have.

    A warning is the same where its code and its key are; as many as there were of one are old.
    """
    old = Counter(map(_key, before))
    found = []
    for problem in after:
        key = _key(problem)
        if old[key]:
            old[key] -= 1
        elif not problem.is_error:
            found.append(problem)
    return tuple(found)


def _key(problem: Problem) -> tuple[str, str]:
    return problem.code, _INDEX.sub("[]", problem.path)
