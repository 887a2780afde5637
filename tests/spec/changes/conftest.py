"""The small spec of `tests/data/spec/diff`, changed; and what a difference holds, at a glance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from tallyard.spec.changes.change import (
    Change,
    Lasting,
)
from tallyard.spec.changes.projects import ProjectChange
from tallyard.spec.changes.whole import Changes
from tallyard.spec.load import load
from tallyard.spec.model import Period, Platform
from tests.spec.specs import DATA, changed

PLATFORM = (DATA / "diff" / "platform.yaml").read_text()
LOCAL = (DATA / "diff" / "local.yaml").read_text()
NOW = datetime(2026, 12, 1, tzinfo=UTC)

type Load = Callable[..., Platform]


@pytest.fixture
def loaded(tmp_path: Path) -> Load:
    """Load the small spec with some texts replaced."""

    def platform(*replaced: tuple[str, str], local: tuple[tuple[str, str], ...] = ()) -> Platform:
        for name, text, pairs in (("platform", PLATFORM, replaced), ("local", LOCAL, local)):
            for old, new in pairs:
                text = changed(text, old, new)  # noqa: PLW2901 - one replacement after another
            (tmp_path / f"{name}.yaml").write_text(text)
        found = load(tmp_path / "local.yaml", NOW)
        assert found.platform is not None, found.problems
        return found.platform

    return platform


def project_of(found: Changes, key: str) -> ProjectChange:
    (project,) = (each for each in found.projects if each.key == key)
    return project


def of_a_month(hours: int) -> Lasting:
    return Lasting(hours, Period.MONTH, Fraction())


def facts_of(changes: tuple[Change, ...]) -> Mapping[str, tuple[Any, Any, Any]]:
    """Return before, after and delta by the fact and what it is about."""
    return {
        " ".join((each.fact, *(name for _, name in each.about))): (
            each.before,
            each.after,
            each.delta,
        )
        for each in changes
    }


OVERRIDE = (
    "vision: {tier: bronze,",
    (
        "vision: {tier: bronze, overrides: [{cards: {training: {A100: 4}}, borrow: {training: 3}, "
        "core-hours: 100000/month, max-time: 12h, until: UNTIL, reason: a paper}],"
    ),
)


def override_until(until: str) -> tuple[str, str]:
    return OVERRIDE[0], OVERRIDE[1].replace("UNTIL", until)


# More than there is, so that a grant may be large and a pool may lose a host.
PROMISED = ("\ntiers", "\novercommit: {cards: 1.5, core-hours: 3}\ntiers")


KEY = "  vision: {tier: bronze, users: {zhao.min: {}}}"
