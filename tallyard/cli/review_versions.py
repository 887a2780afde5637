"""Which pins of `stacks/versions.yaml` differ between two sides. Pure."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from tallyard.spec.versions import UNVERIFIED, Versions

_ALGORITHM = "sha256:"
_DIGITS_SHOWN = 12


@dataclass(frozen=True)
class PinText:
    """What is pinned; `source` and `digest` are empty for what is not pulled."""

    version: str
    source: str = ""
    digest: str = ""


@dataclass(frozen=True)
class VersionChange:
    """A pin that differs, e.g. `images.kueue`; a side is None where there is none."""

    pin: str
    before: PinText | None
    after: PinText | None


def version_changes(before: Versions | None, after: Versions | None) -> tuple[VersionChange, ...]:
    """Return the pins that differ; none where the file of a side is not known."""
    if before is None or after is None:
        return ()
    old, new = dict(_pins(before)), dict(_pins(after))
    return tuple(
        VersionChange(pin, old.get(pin), new.get(pin))
        for pin in {**old, **new}
        if old.get(pin) != new.get(pin)
    )


def shown_pins(change: VersionChange) -> tuple[str | None, str | None]:
    """Return both sides as short as they can be told apart; None where there is none."""
    before, after = change.before, change.after
    if before is None or after is None:
        return _whole(before), _whole(after)
    parts = [(before.version, after.version)]
    if before.source != after.source:
        parts.append((before.source, after.source))
    if before.digest != after.digest:
        parts.append((_short(before.digest), _short(after.digest)))
    return " ".join(old for old, _ in parts), " ".join(new for _, new in parts)


def _whole(pin: PinText | None) -> str | None:
    if pin is None:
        return None
    return " ".join(filter(None, (pin.version, pin.source, _short(pin.digest))))


def _short(digest: str) -> str:
    if digest in {"", UNVERIFIED}:
        return digest
    return digest[: len(_ALGORITHM) + _DIGITS_SHOWN]


def _pins(versions: Versions) -> Iterator[tuple[str, PinText]]:
    yield "kubernetes", PinText(versions.kubernetes.version)
    for name, chart in versions.charts.items():
        yield f"charts.{name}", PinText(chart.version, chart.source, chart.digest)
    for name, image in versions.images.items():
        yield f"images.{name}", PinText(image.version, image.source, image.digest)
