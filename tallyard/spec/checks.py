"""What must hold between the keys of a spec; each check yields the problems it finds.

References stand in `resolve.py`; the checks here skip what they cannot find, so that one
fault is told once. A check of sums runs only where nothing was cut from its sections.
"""

from __future__ import annotations

from collections.abc import Iterator

from tallyard.spec import (
    coverage_checks,
    grant_checks,
    host_checks,
    job_checks,
    override_checks,
    pool_checks,
    priority_checks,
    project_checks,
    quota_checks,
    request_checks,
    waiver_checks,
)
from tallyard.spec.draft import Draft
from tallyard.spec.problem import Problem

CHECKS = (
    *priority_checks.CHECKS,
    *pool_checks.CHECKS,
    *host_checks.CHECKS,
    *request_checks.CHECKS,
    *quota_checks.CHECKS,
    *grant_checks.CHECKS,
    *job_checks.CHECKS,
    *coverage_checks.CHECKS,
    *project_checks.CHECKS,
    *override_checks.CHECKS,
    *waiver_checks.CHECKS,
)


def problems(draft: Draft) -> Iterator[Problem]:
    """Yield every fault in the meaning of the draft, in no order."""
    for check in CHECKS:
        yield from check(draft)
