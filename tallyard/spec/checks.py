"""What must hold between the keys of a spec; each check yields the problems it finds.

References stand in `resolve.py`; the checks here skip what they cannot find, so that one
fault is told once. A check of sums runs only where nothing was cut from its sections.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallyard.spec import host_checks, pool_checks, project_checks, quota_checks
from tallyard.spec.draft import Draft
from tallyard.spec.problem import Problem

CHECKS = (*pool_checks.CHECKS, *host_checks.CHECKS, *quota_checks.CHECKS, *project_checks.CHECKS)


def problems(draft: Draft) -> Iterator[Problem]:
    """Yield every fault in the meaning of the draft, in no order."""
    for check in CHECKS:
        yield from check(draft)
