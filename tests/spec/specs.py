"""The small valid spec of `tests/data/spec/valid`, and a way to load a variation of it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from tallyard.spec.load import Loaded, load

DATA = Path(__file__).parents[1] / "data" / "spec"
STACKS = Path(__file__).parents[2] / "stacks"
PLATFORM = (DATA / "valid" / "platform.yaml").read_text()
LOCAL = (DATA / "valid" / "local.yaml").read_text()
# The overrides of the broken specs end some months later, or ended before.
NOW = datetime(2026, 9, 1, 12, tzinfo=UTC)


# A waiver ends within a year of now, wherever a test cannot say when that is.
_SOON = datetime.now(UTC) + timedelta(days=300)
SOON = _SOON.date().isoformat()


def load_texts(
    folder: Path,
    platform: str | bytes = PLATFORM,
    local: str | bytes = LOCAL,
    now: datetime = NOW,
) -> Loaded:
    """Write the two files into a folder and load the environment as it is at a moment."""
    for name, text in (("platform.yaml", platform), ("local.yaml", local)):
        (folder / name).write_bytes(text if isinstance(text, bytes) else text.encode())
    return load(folder / "local.yaml", now)


def dated(text: str) -> str:
    """Return what is printed of a waiver until `SOON` as it is kept: as of the end of 2100."""
    after = (_SOON + timedelta(days=1)).date().isoformat()
    return text.replace(SOON, "2100-12-31").replace(after, "2101-01-01")


def changed(text: str, old: str, new: str) -> str:
    """Replace the one place where `old` stands."""
    assert text.count(old) == 1, f"{old!r} stands {text.count(old)} times"
    return text.replace(old, new)
