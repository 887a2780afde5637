"""What is told of variations of the small valid spec, for the tests of the checks."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from tallyard.spec.model import Platform
from tests.spec.specs import LOCAL, NOW, PLATFORM, changed, load_texts


def varied(text: str, *pairs: tuple[str, str]) -> str:
    """Replace the one place where each of the first texts stands."""
    for old, new in pairs:
        text = changed(text, old, new)
    return text


def told(
    folder: Path, platform: str = PLATFORM, local: str = LOCAL, now: datetime = NOW
) -> list[tuple[str, str]]:
    """Return the codes that are told, each with the path of its place."""
    problems = load_texts(folder, platform, local, now).problems
    return [(problem.code, problem.path) for problem in problems]


def values(
    folder: Path, platform: str = PLATFORM, local: str = LOCAL, now: datetime = NOW
) -> dict[str, object]:
    """Return the values of the only problem that is told."""
    (problem,) = load_texts(folder, platform, local, now).problems
    return dict(problem.values)


def loaded(
    folder: Path, platform: str = PLATFORM, local: str = LOCAL, now: datetime = NOW
) -> Platform:
    """Return the platform of a spec of which nothing is told."""
    found = load_texts(folder, platform, local, now)
    assert found.problems == ()
    assert found.platform is not None
    return found.platform


_NLP = "chen.yu: {}}}"


def with_override(override: str, platform: str = PLATFORM) -> str:
    """Give the project nlp, whose tier is gold, overrides."""
    return changed(platform, _NLP, f"{_NLP[:-1]}, overrides: [{override}]}}")


# The cards of the pool domestic serve: they may go beyond what is reserved, and must be soon.
INFERENCE = varied(
    PLATFORM,
    (
        "  - {name: training, value: 1000}",
        "  - {name: inference, value: 10000}\n  - {name: training, value: 1000}",
    ),
    (
        "[BI-V150], priority: training",
        "[BI-V150], work: inference, priority: inference, burst: 50%, scale-within: 30s",
    ),
)
